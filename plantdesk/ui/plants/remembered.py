"""What the settings remember of the plants in the window: unsaved plants, and the view of each store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from plantdesk.ui.plants.outbox import from_json
from plantdesk.ui.plants.table.columns import layout_from_json
from plantdesk.ui.texts import error_text

if TYPE_CHECKING:
    from plantdesk.domain.locations import StoreLocation
    from plantdesk.ui.plants.add_queue import AddQueue
    from plantdesk.ui.plants.browser import PlantBrowser
    from plantdesk.ui.plants.form import PlantForm
    from plantdesk.ui.plants.table.columns import TableLayout
    from plantdesk.ui.preferences import Preferences


class KeptPlants(QObject):
    """Saves the outbox at each change, and the form soon after a key. `kept`: it has saved."""

    kept = Signal()

    def __init__(self, preferences: Preferences, form: PlantForm, queue: AddQueue, parent: QObject) -> None:
        super().__init__(parent)
        self._preferences, self._form, self._queue = preferences, form, queue
        self._store_key: str | None = None
        form.settled.connect(self.keep)
        queue.changed.connect(self.keep)

    def restore(self, location: StoreLocation) -> None:
        """Restore the form and unsaved plants of an earlier window of this store; this window's own move to it as well.

        What only waited is sent; the user adds the rest. What was sent is dropped if the store has it.
        """
        if location.key == self._store_key:
            return
        before, self._store_key = self._store_key, location.key
        remembered = self._preferences.of_store(location.key)
        unsaved = remembered.get("unsaved")
        found = [from_json(each) for each in (unsaved if isinstance(unsaved, list) else [])]
        draft = from_json({"texts": remembered.get("draft"), "plants": [], "reason": ""})
        if draft is not None and self._form.is_empty:
            self._form.restore(draft.texts)
        else:
            found.append(draft)
        self._queue.submit(*(each for each in found if each is not None))
        if before is not None:
            self._preferences.change_store(before, unsaved=[], draft=[])

    @Slot()
    def keep(self) -> None:
        """If they have changed, write what is typed and the plants that are unsaved or in doubt."""
        if self._store_key is not None:
            outbox, draft = self._queue.outbox, self._form.draft()
            edited = [] if outbox.edited is None or draft else [outbox.edited]
            submissions = [each.as_json(error_text) for each in [*edited, *outbox.submissions]]
            known = self._preferences.of_store(self._store_key)
            if submissions or draft or known.get("unsaved") or known.get("draft"):
                self._preferences.change_store(self._store_key, unsaved=submissions, draft=draft)
        self.kept.emit()


#: The characters of the longest id.
_LONGEST_ID = 20


class RememberedView:
    """Restores the view of a store when it is opened, and saves it when it has changed, until the store is closed."""

    def __init__(self, preferences: Preferences, form: PlantForm) -> None:
        self._preferences = preferences
        self._form = form
        self._restored: str | None = None
        self._last_search = ""

    def show_layout(self, location: StoreLocation, browser: PlantBrowser) -> TableLayout:
        """Show columns, order and search, and the room for IDs, before the store is open; return the layout."""
        values = self._preferences.of_store(location.key)
        layout = layout_from_json(values)
        browser.table.set_table_layout(layout)
        widest_id, has_sources = values.get("widest_id"), values.get("sources") is True
        if isinstance(widest_id, str):
            self._form.make_room(widest_id[:_LONGEST_ID])
            browser.table.columns.set_contents(widest_id[:_LONGEST_ID], has_sources=has_sources)
        browser.search_bar.restore(values)
        self._last_search = browser.search_bar.text
        return layout

    def restore(self, location: StoreLocation, browser: PlantBrowser) -> TableLayout:
        """Show the plants as they were, unless a search was typed already; return the layout."""
        self._restored = location.key
        values = self._preferences.of_store(location.key)
        layout = layout_from_json(values)
        browser.table.set_table_layout(layout)
        is_new = values.get("search", "") != self._last_search  # else what Ctrl+F selected would be deselected
        if is_new and browser.search_bar.text == self._last_search:
            browser.search_bar.restore(values)
        if values.get("pinned") is True:
            self._form.tag_field.set_pinned(pinned=True)
        return layout

    def save(self, browser: PlantBrowser) -> None:
        """Remember the view of the open store."""
        if self._restored is not None:
            self._last_search = browser.search_bar.text
            self._preferences.change_store(
                self._restored,
                **browser.table.table_layout().as_json(),
                **browser.search_bar.as_json(),
                widest_id=browser.table.columns.widest_id,
                sources=browser.table.columns.has_sources,
                pinned=self._form.tag_field.is_pinned,
            )

    def close(self) -> None:
        """Save nothing until another store is open."""
        self._restored = None
