"""The changes of plants that this window has made: each is reported with its undo, and can be undone and redone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, NamedTuple

from PySide6.QtCore import QObject, Signal

from plantdesk.domain.edits import Applied, Delete, Undone
from plantdesk.domain.errors import EditConflictError, StoreError, UndoConflictError
from plantdesk.domain.history import Change, ChangeKind, title
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import FORM, PlantRow
from plantdesk.domain.texts import Text
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.widgets.messages import MessageAction

#: The most steps that wait for the running one; a held key requests more.
_MAX_WAITING = 100


class AddedPlant(NamedTuple):
    """A plant that was added. Adding makes no change; taken back, the plant is deleted."""

    row: PlantRow

    @property
    def plain_title(self) -> Text:
        """What Undo takes back."""
        return title(ChangeKind.INSERT, {"name": self.row.name}, 1)


class Discarded(NamedTuple):
    """Unsaved plants that were discarded: `put_back` lists them again. It cannot be redone."""

    plain_title: Text
    put_back: Callable[[], object]


#: What can be undone or redone.
Step = Change | AddedPlant | Discarded


class UndoStack(QObject):
    """Undoes in the store, so that each step is a change of the history. Belongs to the GUI thread.

    What is requested while a step or a change of the window is running comes after it. `changed`: the next steps
    are others. `begun(is_redo)`: a step has begun, which takes seconds for a million plants. `undone(undone)`: a
    step was made. `failed(error)`: it failed, and is dropped unless the store could not save it at the moment.
    """

    changed = Signal()
    begun = Signal(bool)
    undone = Signal(object)
    failed = Signal(object)

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._store: PlantStore | None = None
        self._done: list[Step] = []
        self._taken_back: list[Step] = []
        self.is_busy = False
        #: Changes of the window that are not made yet. An undo right after one refers to it.
        self._awaited: set[Future[Any]] = set()
        self._waiting: deque[Callable[[], None]] = deque(maxlen=_MAX_WAITING)

    @property
    def is_pending(self) -> bool:
        """Whether `undo` and `redo` wait."""
        return self.is_busy or bool(self._awaited)

    @property
    def next_undo(self) -> Step | None:
        """The step that `undo` takes back."""
        return self._done[-1] if self._done and not self.is_busy else None

    @property
    def next_redo(self) -> Step | None:
        """The undo that `redo` takes back."""
        return self._taken_back[-1] if self._taken_back and not self.is_busy else None

    def set_store(self, store: PlantStore | None) -> None:
        """Forget all changes, and work with another store."""
        self._store = store
        self._done.clear()
        self._taken_back.clear()
        self.is_busy = False
        self._awaited.clear()
        self._waiting.clear()
        self.changed.emit()

    def wait_for(self, change: Future[Any]) -> None:
        """Let `undo` wait for a change of the window. Call it after the `Bridge.follow` that pushes the change."""
        self._awaited.add(change)
        self._bridge.follow(self, change, partial(self._on_made, change), partial(self._on_made, change))

    def _on_made(self, change: Future[Any], outcome: object) -> None:
        self._awaited.discard(change)
        if isinstance(outcome, Exception):
            self._waiting.clear()  # the user did not mean to take back the change before it
        self._go_on()

    def _go_on(self) -> None:
        if self._waiting and not self.is_pending:
            self._waiting.popleft()()

    def push(self, change: Step) -> None:
        """Add what the window has done."""
        self._done.append(change)
        self._taken_back.clear()
        self.changed.emit()

    def undo(self, change: Step | None = None) -> None:
        """Take back a change, by default the latest; do nothing if it was taken back already."""
        if change is None and self.is_pending:
            self._waiting.append(self.undo)
            return
        change = self.next_undo if change is None else change
        if change is not None and self.has_done(change):
            self._take_back(change, self._done, self._taken_back)

    def undo_action(self, change: Step) -> MessageAction:
        """Return the button that takes back a change of the window."""
        return self.tr("Undo"), partial(self.undo, change)

    def forget(self, change: Step) -> None:
        """Drop what somebody else has taken back."""
        if self.has_done(change) and not self.is_busy:
            self._done.remove(change)
            self.changed.emit()

    def has_done(self, change: Step) -> bool:
        """Return whether the window has done this and not taken it back."""
        return change in self._done

    def take_back(self, change: Step) -> None:
        """Take back any change of the history, also one that the window has not made; an undo is redone."""
        for source, target in ((self._done, self._taken_back), (self._taken_back, self._done)):
            step = next((each for each in source if _identity(each) == _identity(change)), None)
            if step is not None:
                self._take_back(step, source, target)
                return
        is_undo = isinstance(change, Change) and change.kind is ChangeKind.UNDO
        target = self._done if is_undo else self._taken_back
        self._take_back(change, [change], target)

    def redo(self) -> None:
        """Take back the latest undo."""
        if self.is_pending:
            self._waiting.append(self.redo)
        elif self.next_redo is not None:
            self._take_back(self.next_redo, self._taken_back, self._done)

    def _take_back(self, change: Step, source: list[Step], target: list[Step]) -> None:
        if isinstance(change, Discarded):
            source.remove(change)
            change.put_back()
            self.changed.emit()
            return
        if self._store is None or self.is_busy:
            return
        self.is_busy = True
        source.remove(change)
        self.changed.emit()
        is_redo = target is self._done
        self.begun.emit(is_redo)
        store = self._store

        def finish(undone: Undone) -> None:
            if store is self._store:
                self.is_busy = False
                target.append(undone.change)
                self.changed.emit()
                self.undone.emit(undone)
                self._go_on()

        def fail(error: Exception) -> None:
            if store is self._store:
                self.is_busy = False
                self._waiting.clear()
                if isinstance(error, StoreError) and not error.may_have_committed:
                    source.append(change)  # the store may be able to take it back later
                self.changed.emit()
                self.failed.emit(_titled(error, change, is_redo=is_redo))

        self._bridge.follow(self, _start_undo(store, change), finish, fail)


def _titled(error: Exception, step: Step, *, is_redo: bool) -> Exception:
    """Return a refusal with the title of the step. For an added plant the store would name the deletion."""
    if isinstance(step, Change) or not isinstance(error, EditConflictError | UndoConflictError):
        return error
    return UndoConflictError(step.plain_title, 1, is_redo=is_redo)


def _identity(step: Step) -> int | Step:
    """Return the number of a step in the history, or the step itself for an added plant, which has none."""
    return step.number if isinstance(step, Change) else step


def _start_undo(store: PlantStore, step: Change | AddedPlant) -> Future[Undone]:
    """Take back a step in the store."""
    if not isinstance(step, AddedPlant):
        return store.undo(step, FORM)
    undone: Future[Undone] = Future()

    def pass_on(deleted: Future[Applied]) -> None:
        error = deleted.exception()
        if error is not None:
            undone.set_exception(error)
        elif (change := deleted.result().change) is not None:
            undone.set_result(Undone(change, 0))

    delete = Delete(step.row.id, step.row.version, step.row.name, undoes_addition=True)
    store.apply([delete], FORM).add_done_callback(pass_on)
    return undone
