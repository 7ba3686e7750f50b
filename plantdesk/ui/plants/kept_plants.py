"""Keeps on disk what is typed and not saved, for the next start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from plantdesk.ui.plants.outbox import from_json
from plantdesk.ui.texts import error_text

if TYPE_CHECKING:
    from plantdesk.domain.locations import StoreLocation
    from plantdesk.ui.plants.add_queue import AddQueue
    from plantdesk.ui.plants.form import PlantForm
    from plantdesk.ui.preferences import Preferences

#: Milliseconds from a key until what is typed is kept; more keys do not delay it.
SETTLED = 500


class KeptPlants(QObject):
    """Keeps the outbox at each change, and the form soon after a key. `kept`: it has done so."""

    kept = Signal()

    def __init__(self, preferences: Preferences, form: PlantForm, queue: AddQueue, parent: QObject) -> None:
        super().__init__(parent)
        self._preferences, self._form, self._queue = preferences, form, queue
        self._store_key: str | None = None
        self._settling = QTimer(self, singleShot=True, interval=SETTLED)
        self._settling.timeout.connect(self.keep)
        form.changed.connect(self._keep_soon)
        queue.changed.connect(self.keep)

    def restore(self, location: StoreLocation) -> None:
        """Restore what an earlier window could not save in this store, and its form; those of this window go along.

        What only waited is sent; the user adds the rest. What was sent is forgotten where the store has it.
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
        """Write what is not saved, or may not be, and what is typed, if it has changed."""
        if self._store_key is not None:
            outbox, draft = self._queue.outbox, self._form.draft()
            edited = [] if outbox.edited is None or draft else [outbox.edited]
            submissions = [each.as_json(error_text) for each in [*edited, *outbox.submissions]]
            known = self._preferences.of_store(self._store_key)
            if submissions or draft or known.get("unsaved") or known.get("draft"):
                self._preferences.change_store(self._store_key, unsaved=submissions, draft=draft)
        self.kept.emit()

    @Slot()
    def _keep_soon(self) -> None:
        if not self._settling.isActive():
            self._settling.start()
