"""What is typed and not saved, which is remembered for each store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from plantdesk.ui.plants.outbox import from_json
from plantdesk.ui.texts import error_text

if TYPE_CHECKING:
    from plantdesk.domain.locations import StoreLocation
    from plantdesk.ui.plants.add_queue import AddQueue
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
