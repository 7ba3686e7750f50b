"""What the features of the window have in common, and what the window offers them."""

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
    """What a feature works with. It adds its commands to `menus`, panes and bars to `page`, states to `status_bar`."""

    theme: Theme
    bridge: Bridge
    preferences: Preferences
    page: Page
    menus: Menus
    status_bar: QStatusBar
    #: The line under the form, for the outcome of a command.
    message: MessageLine
    #: What the window has changed; a feature that changes plants pushes its changes.
    undo_stack: UndoStack
    #: Where the store is, open or not.
    location: StoreLocation
    #: Holds what is typed until a command knows what it is for.
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
        """Do the same as `Bridge.follow` for a change of plants that `done` pushes. Undo waits for it."""
        self.bridge.follow(receiver, change, done, failed)
        self.undo_stack.wait_for(change)

    def report_change(self, change: Change, text: str) -> None:
        """Report a change of the window together with its undo, and add it to the undo stack."""
        self.undo_stack.push(change)
        undo = self.undo_stack.undo_action(change)
        self.page.toast.show_message(text, undo, key=key_text(Key.Undo))


class OpenStore(NamedTuple):
    """A store that the window shows, and its queries on the thread of the short tasks."""

    store: PlantStore
    queries: StoreQueries


class ShownPlants(Protocol):
    """The table of plants, as other features use it."""

    @property
    def search_text(self) -> str:
        """The text of the search whose result the table shows; empty for all plants."""

    @property
    def shown_count(self) -> int:
        """The number of plants that the table shows."""

    def selected_ids(self) -> array[int]:
        """Return the ids of the selected rows."""

    def row(self, plant_id: int) -> PlantRow | None:
        """Return what the table has of a plant, with long texts cut; None if it is not loaded."""

    def focus_table(self) -> None:
        """Move the focus to the table."""

    def clear_selection(self) -> None:
        """Select no row."""


class Feature(QObject):
    """A part of the window, made quickly before the window is shown.

    `settled`: what `running` describes has ended, or all plants are saved. `view_changed`: `save_view` has something to
    save.
    """

    settled = Signal()
    view_changed = Signal()

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context.page)
        self.context = context
        #: The store between `set_store` and `release_store`.
        self.opened: OpenStore | None = None
        self._store_commands: list[QAction] = []
        self._running = ""

    @property
    def running(self) -> str:
        """A sentence that says what closing the window now would cancel; empty: nothing."""
        return self._running

    def set_running(self, text: str) -> None:
        """Set what `running` returns."""
        self._running = text
        if not text:
            self.settled.emit()

    def keep_unsaved(self) -> str:
        """Remember what is not in the store for the next start. Return a sentence that says what; empty: nothing."""
        return ""

    def save_view(self) -> None:
        """Remember what the next start shows of the open store; called a moment after `view_changed`."""

    def complete(self) -> None:
        """Build the rest, when all features are made, and before the content is shown."""

    def set_store(self, opened: OpenStore) -> None:
        """Work with a store that was opened."""
        self.opened = opened
        self._enable_commands()

    def show_no_store(self, reason: PlantDeskError) -> None:
        """Show that no store is open, or do nothing until there is one."""

    def release_store(self) -> None:
        """End the use of the store: it is closed next."""
        self.opened = None
        self._enable_commands()

    def enable_with_store(self, *commands: QAction) -> None:
        """Enable commands only while a store is open."""
        self._store_commands += commands
        self._enable_commands()

    def _enable_commands(self) -> None:
        for command in self._store_commands:
            command.setEnabled(self.opened is not None)

    def step_back(self) -> bool:
        """Do what Escape does here; return False if there is nothing to do."""
        return False


class PlantChanges(QObject):
    """Applies edits to the store, and shows the outcome in the toast."""

    def __init__(self, context: WindowContext, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context

    def may_change(self, store: PlantStore) -> bool:
        """Return whether plants can be changed now; if they cannot, show why."""
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
        """Make one change of `edits`; `text` reports it, and gets the number of plants as `count`.

        `done` gets the change after it was made, or None if it changed no plant. `show` shows plants by their ids:
        those that were left as they are.
        """
        if not self.may_change(store):
            return
        self._context.page.toast.show_progress(progress or self.tr("Changing plants…"))

        def report(applied: Applied) -> None:
            change = applied.change
            made = self.tr("There was nothing to change.")
            made = made if change is None else translated(text.filled(count=change.plants))
            if applied.skipped and show is not None:
                self._report_skipped(applied, made, partial(show, applied.skipped_ids))
            elif change is None:
                self._context.page.toast.show_message(made)
            else:
                self._context.report_change(change, made)
            if done is not None:
                done(change)

        self._context.follow_change(self, store.apply(edits, FORM), report, self._context.page.toast.show_error)

    def _report_skipped(self, applied: Applied, made: str, show: Callable[[], object]) -> None:
        """Report a change that has left plants as they are, since somebody else had changed them meanwhile."""
        text = Text(
            "{made} {count:,} had changed meanwhile and stay as they are.",
            one="{made} 1 had changed meanwhile and stays as it is.",
        )
        actions = [(self.tr("Show"), show)]
        if applied.change is not None:
            self._context.undo_stack.push(applied.change)
            actions.append(self._context.undo_stack.undo_action(applied.change))
        key = key_text(Key.Undo) if applied.change is not None else ""
        toast = self._context.page.toast
        toast.show_message(translated(text.filled(made=made, count=applied.skipped)), *actions, key=key)
