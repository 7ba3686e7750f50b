"""What the settings remember of the plants in the window: unsaved plants, and the view of each store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from plantdesk.ui.plants.outbox import from_json
from plantdesk.ui.texts import error_text

if TYPE_CHECKING:
    from plantdesk.domain.locations import StoreLocation
    from plantdesk.ui.plants.add_queue import AddQueue
    from plantdesk.ui.plants.browser import PlantBrowser
    from plantdesk.ui.plants.form import PlantForm
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


class RememberedView:
    """Shows the view of a store, before the store is open, and saves it when it has changed."""

    def __init__(self, preferences: Preferences, form: PlantForm, browser: PlantBrowser) -> None:
        self._preferences, self._form, self._browser = preferences, form, browser
        self._store_key: str | None = None

    def show(self, location: StoreLocation) -> None:
        """Show columns, order, search and pin, and the room for IDs, unless this store was shown last."""
        if location.key == self._store_key:
            return
        self._store_key = location.key
        values, browser = self._preferences.of_store(location.key), self._browser
        browser.table.restore(values)
        self._form.make_room(browser.table.columns.widest_id)
        browser.search_bar.restore(values)
        if values.get("pinned") is True:
            self._form.tag_field.set_pinned(pinned=True)

    def save(self) -> None:
        """Remember the view of the store."""
        if self._store_key is not None:
            table, search_bar = self._browser.table, self._browser.search_bar
            self._preferences.change_store(
                self._store_key,
                **table.as_json(),
                **search_bar.as_json(),
                pinned=self._form.tag_field.is_pinned,
            )
