"""What the kinds of store with a writer thread have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import cached_property
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from plantdesk.domain.errors import PlantDeskError, StoreError
from plantdesk.domain.listeners import Listeners
from plantdesk.domain.protocols import PlantStore
from plantdesk.store.changes import add_as_next, make_change
from plantdesk.store.rows import stored_source
from plantdesk.store.tokens import StoreTokens
from plantdesk.store.undo import redo, undo

if TYPE_CHECKING:
    from plantdesk.domain.edits import Applied, Edit, Undone
    from plantdesk.domain.history import Change
    from plantdesk.domain.models import NewPlant, Plant
    from plantdesk.domain.records import Changes, PlantRow, Source
    from plantdesk.store.reader import StoreReader
    from plantdesk.store.write_queue import Done, Entries, WriterThread


class WrittenStore(PlantStore):
    """An open store. A kind sets `_writer` and lets it notify both lists of listeners."""

    _writer: WriterThread

    def __init__(self) -> None:
        self._listeners: Listeners[Changes] = Listeners()
        self._health_listeners: Listeners[StoreError | None] = Listeners()

    @property
    @override
    def write_error(self) -> StoreError | None:
        return self._writer.write_error

    @property
    @override
    def change_error(self) -> StoreError | None:
        return self.write_error

    @cached_property
    @override
    def tokens(self) -> StoreTokens:
        return StoreTokens(self._writer.submit, self.reader, self.subscribe)

    @abstractmethod
    @override
    def reader(self) -> StoreReader: ...

    @override
    def add(self, plant: NewPlant, source: Source) -> Future[PlantRow]:
        added: Future[PlantRow] = running_future()

        def resolve(outcomes: Sequence[PlantRow | PlantDeskError]) -> None:
            (outcome,) = outcomes
            if isinstance(outcome, PlantDeskError):
                added.set_exception(outcome)
            else:
                added.set_result(outcome)

        self.add_each([(plant, source)], resolve)
        return added

    @override
    def add_each(self, entries: Entries, done: Done) -> None:
        self._writer.add(entries, done)

    @override
    def add_as_next(self, fields: Plant, source: Source) -> Future[PlantRow]:
        return self._writer.submit(lambda writer: add_as_next(writer, fields, source))

    @override
    def apply(self, edits: Sequence[Edit], source: Source) -> Future[Applied]:
        return self._writer.submit(lambda writer: make_change(writer, edits, stored_source(writer.runner, source)))

    @override
    def undo(self, change: Change | int | None, source: Source) -> Future[Undone]:
        return self._writer.submit(lambda writer: undo(writer, change, stored_source(writer.runner, source)))

    @override
    def redo(self, source: Source) -> Future[Undone]:
        return self._writer.submit(lambda writer: redo(writer, source))

    @override
    def subscribe(self, listener: Callable[[Changes], None]) -> Callable[[], None]:
        return self._listeners.add(listener)

    @override
    def subscribe_health(self, listener: Callable[[StoreError | None], None]) -> Callable[[], None]:
        unsubscribe = self._health_listeners.add(listener)
        known = None
        while (error := self.write_error) is not known:  # the writer may have called the listener meanwhile
            listener(error)
            known = error
        return unsubscribe


def running_future() -> Future[Any]:
    """Return a Future that cannot be cancelled."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()
    return future


class UnreachedStore:
    """A ServedStore on a server that does not answer yet: each request gets the reason. Also its own `tokens`."""

    def __init__(self, reason: PlantDeskError) -> None:
        self._reason = reason

    @property
    def tokens(self) -> UnreachedStore:
        """The tokens; none of them can be looked up."""
        return self

    def checker(self) -> UnreachedStore:
        """Return the lookup of tokens, which is this object."""
        return self

    def source(self, token: str) -> Source:  # noqa: ARG002  nobody knows it
        """Raise the reason."""
        raise self._reason.with_traceback(None)

    def used(self, source: Source) -> Future[None]:  # noqa: ARG002  nobody got in
        """Fail with the reason."""
        failed: Future[None] = Future()
        failed.set_exception(self._reason)
        return failed

    def add_each(self, entries: Entries, done: Done) -> None:
        """Fail with the reason."""
        done([self._reason] * len(entries))

    def close(self) -> None:
        """Nothing is open."""
