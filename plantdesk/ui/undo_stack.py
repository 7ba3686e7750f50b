"""The undo stack: changes of plants by this window that can be undone and redone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, NamedTuple

from PySide6.QtCore import QObject, Signal

from plantdesk.domain.edits import Applied, Delete, Undone
from plantdesk.domain.errors import EditConflictError, StoreError, UndoConflictError
from plantdesk.domain.history import Change, ChangeKind, make_title
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import FORM, PlantRow
from plantdesk.domain.texts import Text
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.widgets.messages import MessageAction

#: The most requests that wait for the running step: a held key makes many.
_MAX_REQUESTS = 100


class AddedPlant(NamedTuple):
    """A plant that the window has added. It is no change of the history; undoing it deletes the plant."""

    row: PlantRow

    @property
    def plain_title(self) -> Text:
        """The title of the step in the text of the Undo command."""
        return make_title(ChangeKind.INSERT, {"name": self.row.name}, 1)


class DiscardedPlants(NamedTuple):
    """Unsaved plants that the user has discarded. `restore` lists them again; this cannot be redone."""

    plain_title: Text
    restore: Callable[[], object]


#: What can be undone or redone.
Step = Change | AddedPlant | DiscardedPlants


class UndoStack(QObject):
    """Undoes and redoes in the store, one step after the other; each makes a change of the history. GUI thread only.

    Requests during a step, or while a change of the window is saved, run after it.
    """

    #: `next_undo` or `next_redo` has changed.
    changed = Signal()
    #: (is_redo) A step runs; it takes seconds for a million plants.
    started = Signal(bool)
    #: (undone) The step is done.
    undone = Signal(object)
    #: (error) The step has failed. It stays on its stack only if it may succeed later.
    failed = Signal(object)

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._store: PlantStore | None = None
        self._undoable: list[Step] = []
        self._redoable: list[Step] = []
        self.is_busy = False
        #: Changes of the window that are being saved; an undo that is requested meanwhile undoes the last one.
        self._pending_changes: set[Future[Any]] = set()
        self._requests: deque[Callable[[], None]] = deque(maxlen=_MAX_REQUESTS)

    @property
    def is_pending(self) -> bool:
        """Whether `undo` and `redo` are delayed, as a step runs or a change is being saved."""
        return self.is_busy or bool(self._pending_changes)

    @property
    def next_undo(self) -> Step | None:
        """The step that `undo` undoes; None if there is none, or while a step runs."""
        return self._undoable[-1] if self._undoable and not self.is_busy else None

    @property
    def next_redo(self) -> Step | None:
        """The step that `redo` redoes; None if there is none, or while a step runs."""
        return self._redoable[-1] if self._redoable and not self.is_busy else None

    def set_store(self, store: PlantStore | None) -> None:
        """Use another store, and clear the stack."""
        self._store = store
        self._undoable.clear()
        self._redoable.clear()
        self.is_busy = False
        self._pending_changes.clear()
        self._requests.clear()
        self.changed.emit()

    def wait_for(self, change: Future[Any]) -> None:
        """Delay `undo` and `redo` until `change` is done. Call this after the `Bridge.follow` that pushes it."""
        self._pending_changes.add(change)
        self._bridge.follow(self, change, partial(self._on_change_done, change), partial(self._on_change_done, change))

    def _on_change_done(self, change: Future[Any], outcome: object) -> None:
        self._pending_changes.discard(change)
        if isinstance(outcome, Exception):
            self._requests.clear()  # the user did not mean the change before it
        self._run_next_request()

    def _run_next_request(self) -> None:
        if self._requests and not self.is_pending:
            request = self._requests.popleft()
            request()

    def push(self, step: Step) -> None:
        """Add a step that the window has made; nothing can be redone after it."""
        self._undoable.append(step)
        self._redoable.clear()
        self.changed.emit()

    def undo(self, step: Step | None = None) -> None:
        """Undo `step`, by default the latest one; do nothing if it is not on the stack any more."""
        if step is None and self.is_pending:
            self._requests.append(self.undo)
            return
        step = self.next_undo if step is None else step
        if step is not None and self.contains(step):
            self._start(step, self._undoable, self._redoable)

    def make_undo_action(self, step: Step) -> MessageAction:
        """Return label and slot of an Undo button for a step."""
        return self.tr("Undo"), partial(self.undo, step)

    def remove(self, step: Step) -> None:
        """Remove a step that another window or computer has undone."""
        if self.contains(step) and not self.is_busy:
            self._undoable.remove(step)
            self.changed.emit()

    def contains(self, step: Step) -> bool:
        """Return whether the step can be undone: the window has made it, and not undone it."""
        return step in self._undoable

    def revert(self, step: Step) -> None:
        """Undo any change of the history, also of other windows; if it is an undo itself, this is a redo."""
        for source, target in ((self._undoable, self._redoable), (self._redoable, self._undoable)):
            own_step = next((other for other in source if _step_key(other) == _step_key(step)), None)
            if own_step is not None:
                self._start(own_step, source, target)
                return
        is_undo = isinstance(step, Change) and step.kind is ChangeKind.UNDO
        target = self._undoable if is_undo else self._redoable
        self._start(step, [step], target)

    def redo(self) -> None:
        """Redo the step that was undone last, now or after the steps and changes that run."""
        if self.is_pending:
            self._requests.append(self.redo)
        elif self.next_redo is not None:
            self._start(self.next_redo, self._redoable, self._undoable)

    def _start(self, step: Step, source: list[Step], target: list[Step]) -> None:
        """Undo `step`, a member of `source`, in the store, and push its inverse to `target`; one at a time."""
        if isinstance(step, DiscardedPlants):
            source.remove(step)
            step.restore()
            self.changed.emit()
            return
        if self._store is None or self.is_busy:
            return
        self.is_busy = True
        source.remove(step)
        self.changed.emit()
        is_redo = target is self._undoable
        self.started.emit(is_redo)
        store = self._store

        def finish(undone: Undone) -> None:
            if store is self._store:
                self.is_busy = False
                target.append(undone.change)
                self.changed.emit()
                self.undone.emit(undone)
                self._run_next_request()

        def fail(error: Exception) -> None:
            if store is self._store:
                self.is_busy = False
                self._requests.clear()
                if isinstance(error, StoreError) and not error.may_have_committed:
                    source.append(step)  # the store may be able to undo it later
                self.changed.emit()
                self.failed.emit(_with_step_title(error, step, is_redo=is_redo))

        self._bridge.follow(self, _undo_in_store(store, step), finish, fail)


def _with_step_title(error: Exception, step: Step, *, is_redo: bool) -> Exception:
    """Return `error`; for an added plant, a conflict that names the plant: the store's names the deletion."""
    if isinstance(step, Change) or not isinstance(error, EditConflictError | UndoConflictError):
        return error
    return UndoConflictError(step.plain_title, 1, is_redo=is_redo)


def _step_key(step: Step) -> int | Step:
    """Return the number of a change in the history; an added plant has none, and is its own key."""
    return step.number if isinstance(step, Change) else step


def _undo_in_store(store: PlantStore, step: Change | AddedPlant) -> Future[Undone]:
    """Undo a change in the store; an added plant is deleted, unless it was changed since."""
    if not isinstance(step, AddedPlant):
        return store.undo(step, FORM)
    result: Future[Undone] = Future()

    def on_deleted(deleted: Future[Applied]) -> None:
        error = deleted.exception()
        if error is not None:
            result.set_exception(error)
        elif (change := deleted.result().change) is not None:
            result.set_result(Undone(change, 0))

    delete = Delete(step.row.id, step.row.version, step.row.name, undoes_addition=True)
    store.apply([delete], FORM).add_done_callback(on_deleted)
    return result
