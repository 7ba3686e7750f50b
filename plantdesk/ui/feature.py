"""The base of the features of the window, and the context that the window gives them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QStatusBar

from plantdesk.domain.edits import Applied, Edit
from plantdesk.domain.errors import PlantDeskError, prevents_changes
from plantdesk.domain.history import Change
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import FORM, PlantRow
from plantdesk.domain.texts import Text
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.held_keys import HeldKeys
from plantdesk.ui.menus import Key, Menus, key_text
from plantdesk.ui.page import Page
from plantdesk.ui.preferences import Preferences
from plantdesk.ui.texts import translated
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.undo_stack import UndoStack
from plantdesk.ui.widgets.messages import MessageLine


@dataclass
class WindowContext:
    """The parts of the window that features share: they add commands to `menus`, panes and bars to `page`."""

    theme: Theme
    bridge: Bridge
    preferences: Preferences
    page: Page
    menus: Menus
    status_bar: QStatusBar
    #: The message line under the form.
    message: MessageLine
    #: A feature that changes plants pushes its changes here.
    undo_stack: UndoStack
    #: The location of the store, which may not be open.
    location: StoreLocation
    #: Holds the keys that are typed while a command queries the store.
    keys: HeldKeys = field(init=False)

    def __post_init__(self) -> None:
        self.keys = HeldKeys(self.page)

    def follow_change(
        self,
        receiver: QObject,
        change: Future[Applied],
        done: Callable[[Applied], object],
        failed: Callable[[Exception], object],
    ) -> None:
        """Follow a change like `Bridge.follow`, and let Undo wait for it; `done` must push it to `undo_stack`."""
        self.bridge.follow(receiver, change, done, failed)
        self.undo_stack.wait_for(change)

    def report_change(self, change: Change, text: str) -> None:
        """Push a change to the undo stack, and report it in the toast with an Undo button."""
        self.undo_stack.push(change)
        undo = self.undo_stack.make_undo_action(change)
        self.page.toast.show_message(text, undo, key=key_text(Key.Undo))


class OpenStore(NamedTuple):
    """The store that the window shows, and its queries, which run on the thread `window-worker`."""

    store: PlantStore
    queries: StoreQueries


class ShownPlants(Protocol):
    """The interface by which other features use the table of plants."""

    @property
    def search_text(self) -> str:
        """The search text of the shown plants; empty for all plants."""

    @property
    def shown_count(self) -> int:
        """The number of rows of the table; 0 while they are not counted yet."""

    def selected_ids(self) -> array[int]:
        """Return the ids of the plants in the selected rows, from top to bottom."""

    def row(self, plant_id: int) -> PlantRow | None:
        """Return the loaded row of a plant, with long texts cut; None if it is not loaded."""

    def focus_table(self) -> None:
        """Move the focus to the table."""

    def clear_selection(self) -> None:
        """Select no row, and move the focus to the table."""


class Feature(QObject):
    """A part of the window with its commands. It is made before the first paint, so its constructor must be fast."""

    #: The work in `running_text` has ended, or the last unsaved plant is saved.
    close_unblocked = Signal()
    #: `save_view` has something to save.
    view_changed = Signal()

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context.page)
        self.context = context
        #: The store between `set_store` and `release_store`.
        self.opened: OpenStore | None = None
        self._store_commands: list[QAction] = []
        self._running_text = ""

    @property
    def running_text(self) -> str:
        """A sentence about the work that closing the window now would cancel; empty if none runs."""
        return self._running_text

    def set_running_text(self, text: str) -> None:
        """Set `running_text`; an empty one emits `close_unblocked`."""
        self._running_text = text
        if not text:
            self.close_unblocked.emit()

    def remember_unsaved(self) -> str:
        """Write unsaved input to disk for the next start; return a sentence about it, empty if there is none."""
        return ""

    def save_view(self) -> None:
        """Save the view of the open store for the next start; called one second after `view_changed`."""

    def set_up(self) -> None:
        """Finish the setup: called when all features exist, before the content is shown."""

    def set_store(self, opened: OpenStore) -> None:
        """Begin to use a store that was opened. Overrides call this first."""
        self.opened = opened
        self._enable_commands()

    def show_no_store(self, reason: PlantDeskError) -> None:
        """Show that no store could be opened, and why."""

    def release_store(self) -> None:
        """Stop using the store: when this returns, nothing of the feature may read it."""
        self.opened = None
        self._enable_commands()

    def enable_with_store(self, *commands: QAction) -> None:
        """Enable `commands` while a store is open, and disable them otherwise, from now on."""
        self._store_commands += commands
        self._enable_commands()

    def _enable_commands(self) -> None:
        for command in self._store_commands:
            command.setEnabled(self.opened is not None)

    def handle_escape(self) -> bool:
        """Handle Escape; return False to let the next feature handle it."""
        return False


class PlantChanges(QObject):
    """Applies edits to the store, and reports the result in the toast."""

    def __init__(self, context: WindowContext, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context

    def may_change(self, store: PlantStore) -> bool:
        """Return whether plants can be changed now; if not, show the reason in the toast."""
        error = store.change_error
        if error is not None and prevents_changes(error):
            self._context.page.toast.show_error(error)
            return False
        return True

    def apply(
        self,
        store: PlantStore,
        edits: Sequence[Edit],
        text: Text,
        done: Callable[[Change | None], object] | None = None,
        progress: str = "",
        show: Callable[[tuple[int, ...]], object] | None = None,
    ) -> None:
        """Apply `edits` as one change, and report it by `text`; its `count` is the number of plants.

        `done` gets the change, or None if no plant was changed. `show` gets the ids of the plants that were skipped.
        """
        if not self.may_change(store):
            return
        self._context.page.toast.show_progress(progress or self.tr("Changing plants…"))

        def report(applied: Applied) -> None:
            change = applied.change
            message = self.tr("There was nothing to change.")
            message = message if change is None else translated(text.filled(count=change.plants))
            if applied.skipped and show is not None:
                self._report_skipped(applied, message, partial(show, applied.skipped_ids))
            elif change is None:
                self._context.page.toast.show_message(message)
            else:
                self._context.report_change(change, message)
            if done is not None:
                done(change)

        self._context.follow_change(self, store.apply(edits, FORM), report, self._context.page.toast.show_error)

    def _report_skipped(self, applied: Applied, message: str, show: Callable[[], object]) -> None:
        """Report a change that has skipped plants which others have changed meanwhile."""
        text = Text(
            "{made} {count:,} had changed meanwhile and stay as they are.",
            one="{made} 1 had changed meanwhile and stays as it is.",
        )
        actions = [(self.tr("Show"), show)]
        if applied.change is not None:
            self._context.undo_stack.push(applied.change)
            actions.append(self._context.undo_stack.make_undo_action(applied.change))
        key = key_text(Key.Undo) if applied.change is not None else ""
        toast = self._context.page.toast
        toast.show_message(translated(text.filled(made=message, count=applied.skipped)), *actions, key=key)
