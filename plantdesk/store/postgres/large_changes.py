"""Changes of many plants: all rows are written without the lock on `state`, so that all desks add plants meanwhile.

It is taken for the last step. Where somebody else has made a change by then, all is written once more, in the end under
the lock. The texts of a rewriting are computed in Python, since PostgreSQL has no folding, and collected in a temporary
table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from typing_extensions import override

from plantdesk.domain.edits import Applied, DeleteAll, MergePlants, MergeTags, RenameTag, SetTag, Undone
from plantdesk.domain.errors import NothingToUndoError, StoreBusyError
from plantdesk.domain.rewriting import rewritten
from plantdesk.store.conditions import condition_of
from plantdesk.store.events import Position
from plantdesk.store.history import TEXTS, text_columns, undo_target
from plantdesk.store.postgres.changes import (
    PAGE,
    ChangeEntry,
    apply,
    apply_edit,
    check_storable,
    extent_of,
    finish,
    keep_images,
    record,
    replace_tags,
    rewrite,
    take_back,
    undo,
)
from plantdesk.store.postgres.connections import LONG, Transaction, execute, translate_errors
from plantdesk.store.postgres.database import runner

if TYPE_CHECKING:
    from plantdesk.domain.edits import Edit, Rewrite
    from plantdesk.domain.history import Change
    from plantdesk.domain.records import Source
    from plantdesk.domain.selections import Selection
    from plantdesk.store.postgres.connections import Connection
    from plantdesk.store.postgres.transactions import Transactions
    from plantdesk.store.postgres.writer import Writer

    SetEdit = SetTag | DeleteAll | RenameTag | MergeTags | MergePlants

_Result = TypeVar("_Result")

#: How often all is written without the lock.
_MAX_TRIES = 3


class StaleError(Exception):
    """Somebody else has made a change meanwhile."""


class _NeedsLockError(Exception):
    """The change needs new sequence numbers, which only the lock gives."""


class LargeChange(ABC, Generic[_Result]):
    """One change on a connection of its own. Belongs to one thread, which it blocks."""

    def __init__(self, transactions: Transactions, writer: Writer, source: Source) -> None:
        """`transactions` have a connection for this change alone."""
        self._transactions, self._writer, self._source = transactions, writer, source
        self._number = self._seq = 0
        self._extent: Sequence[Any] = ()

    def run(self) -> _Result:
        """Make the change. Raises what it raises under the lock, and StoreError."""
        connection = self._transactions.open()
        try:
            with self._transactions.watched():
                return self._run(connection)
        finally:
            connection.close()
            self._writer.poll()

    def _run(self, connection: Connection) -> _Result:
        connection.limit = LONG
        with translate_errors():
            # Another desk that changes these plants holds the lock on `state`: shorter than the server's
            # deadlock_timeout, so that it is this one that gives way.
            connection.execute("SET statement_timeout = '1h'; SET lock_timeout = '300ms'")
            self._compute(connection)
        with suppress(_NeedsLockError):
            for _ in range(_MAX_TRIES):
                with suppress(StaleError, StoreBusyError):
                    return self._transactions.write(self._finish_unless_stale, before=self._write_ahead)
        with translate_errors():
            connection.execute("SET lock_timeout = '5s'")
        return self._transactions.write(self._at_once)

    def _compute(self, connection: Connection) -> None:
        """Prepare, in transactions of its own."""

    @abstractmethod
    def _write(self, transaction: Transaction) -> None:
        """Write all rows of the change of the next number, in a transaction that does not hold the lock."""

    @abstractmethod
    def _finish(self, transaction: Transaction) -> _Result:
        """Make the entry of the change, under the lock."""

    @abstractmethod
    def _at_once(self, transaction: Transaction) -> _Result:
        """Make the change under the lock."""

    def _write_ahead(self, connection: Connection) -> None:
        self._seq, change = state_of(connection)
        self._number = change + 1
        self._write(Transaction(connection, self._seq, change, ""))
        self._extent = extent_of(connection, self._number)

    def _finish_unless_stale(self, transaction: Transaction) -> _Result:
        if transaction.last_change + 1 != self._number:
            raise StaleError
        return self._finish(transaction)


class LargeEdit(LargeChange[Applied]):
    """An edit of a set of plants."""

    def __init__(self, transactions: Transactions, writer: Writer, edit: SetEdit, source: Source) -> None:
        super().__init__(transactions, writer, source)
        self._edit = edit

    @override
    def _write(self, transaction: Transaction) -> None:
        apply_edit(transaction, self._number, self._edit, self._source)

    @override
    def _finish(self, transaction: Transaction) -> Applied:
        if transaction.last_seq != self._seq:
            self._extend(transaction)
        return Applied(finish(transaction, [self._edit], self._source, self._extent))

    @override
    def _at_once(self, transaction: Transaction) -> Applied:
        return apply(transaction, [self._edit], self._source)

    def _extend(self, transaction: Transaction) -> None:
        """Change the plants as well that were added meanwhile."""
        connection, edit = transaction.connection, self._edit
        rows = execute(connection, "SELECT id FROM plant WHERE seq > %s AND change <> %s", (self._seq, self._number))
        added = {plant_id for (plant_id,) in rows}
        match edit:
            case SetTag():
                apply_edit(transaction, self._number, edit._replace(plants=edit.plants.among(added)), self._source)
            case DeleteAll():
                others = DeleteAll(edit.plants.among(added))
                apply_edit(transaction, self._number, others, self._source)
            case RenameTag() | MergeTags():
                replace_tags(connection, self._number, edit, added)
            case MergePlants():
                return
        plants, size, growth, name = self._extent
        more = extent_of(connection, self._number, added)
        self._extent = plants + more[0], size + more[1], growth + more[2], name or more[3]


class LargeUndo(LargeChange[Undone]):
    """An undo or redo of a change."""

    def __init__(self, transactions: Transactions, writer: Writer, undone: Change, source: Source) -> None:
        super().__init__(transactions, writer, source)
        self._undone = undone

    @override
    def _write(self, transaction: Transaction) -> None:
        connection = transaction.connection
        undone = undo_target(runner(connection), self._undone)
        try:
            self._outcome = take_back(connection, undone, self._number, _need_lock)
        except NothingToUndoError as error:  # perhaps as somebody else adds a plant with the id of one that returns
            raise StaleError from error

    @override
    def _finish(self, transaction: Transaction) -> Undone:
        kind, parameters = self._undone.taken_back()
        entry = ChangeEntry(self._source, kind, parameters, self._undone.number)
        return Undone(record(transaction, entry, self._extent), *self._outcome)

    @override
    def _at_once(self, transaction: Transaction) -> Undone:
        return undo(transaction, undo_target(runner(transaction.connection), self._undone), self._source)


def _need_lock(_count: int) -> int:
    """Plants return under new ids, as others have theirs."""
    raise _NeedsLockError


def may_be_large(edit: Edit) -> bool:
    """Whether an edit may change very many plants."""
    match edit:
        case SetTag() | DeleteAll():
            return edit.plants.ids is None or len(edit.plants.ids) > PAGE
        case MergePlants():
            return len(edit.groups.ids) > PAGE
    return isinstance(edit, RenameTag | MergeTags)


def is_large_store(transaction: Transaction) -> bool:
    """Whether a set of plants may have very many."""
    (plants,) = execute(transaction.connection, "SELECT plants FROM state").fetchone() or (0,)
    return bool(plants > PAGE)


def state_of(connection: Connection) -> tuple[int, int]:
    """Return the last `seq` and the last change. Raises psycopg.Error."""
    seq, change = execute(connection, "SELECT last_seq, last_change FROM state").fetchone() or (0, 0)
    return seq, change


_TABLES = f"""
    CREATE TEMP TABLE rewritten (id bigint PRIMARY KEY, {", ".join(f'{each} text COLLATE "C"' for each in TEXTS)});
    CREATE TEMP TABLE touched (id bigint PRIMARY KEY)"""
_CHOOSE = "CREATE TEMP TABLE chosen AS SELECT plant.id FROM plant WHERE {condition}"
_ROWS = """SELECT plant.id, name, tag, note FROM plant JOIN chosen ON chosen.id = plant.id
           WHERE plant.id > %s ORDER BY plant.id LIMIT %s"""
_COPY = f"COPY rewritten (id, {', '.join(TEXTS)}) FROM STDIN"
_TOUCH = """INSERT INTO touched SELECT id FROM plant WHERE seq > %(seq)s
            UNION SELECT plant_id FROM before_image WHERE change > %(change)s AND change <> %(own)s"""
#: Plants that were changed, not added, since the position of an edit.
_SKIPPED = """SELECT id FROM rewritten WHERE id IN (SELECT id FROM touched)
              AND id IN (SELECT plant_id FROM before_image WHERE change > %(change)s)"""
_IS_WRITTEN = "plant.id IN (SELECT id FROM rewritten) AND NOT EXISTS (SELECT FROM touched WHERE touched.id = plant.id)"
_UPDATE = f"""UPDATE plant SET {", ".join(f"{each} = new.{each}" for each in TEXTS)}, change = %s
             FROM rewritten AS new
             WHERE plant.id = new.id AND NOT EXISTS (SELECT FROM touched WHERE touched.id = plant.id)"""


class Rewriting(LargeChange[Applied]):
    """One Rewrite as a change of its own. Belongs to one thread, which it blocks."""

    def __init__(self, transactions: Transactions, writer: Writer, edit: Rewrite, source: Source) -> None:
        super().__init__(transactions, writer, source)
        self._edit = edit
        self._skipped: set[int] = set()

    @override
    def _compute(self, connection: Connection) -> None:
        """Compute the texts. Raises InvalidPlantError, InvalidPatternError, UnknownPositionError, NulRefusedError."""
        with connection.transaction():
            self._fill(connection)

    def _fill(self, connection: Connection) -> None:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        seq, change = state_of(connection)
        self._state = {"seq": seq, "change": change}
        connection.execute(_TABLES.encode())
        database = runner(connection).database
        condition, values = database.compiled(condition_of(self._edit.plants, database))
        execute(connection, _CHOOSE.format(condition=condition), values)
        connection.execute("ANALYZE chosen")
        last = -(2**63)
        while rows := execute(connection, _ROWS, (last, PAGE)).fetchall():
            last = rows[-1][0]
            found = list(rewritten(self._edit.rule, rows, self._edit.leave))
            check_storable(*(text for _, *texts in found for text in texts))
            with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
                for plant_id, name, tag, note in found:
                    copy.write_row((plant_id, *text_columns(name, tag, note)))
        if self._edit.since is not None:
            position = Position.parse(self._edit.since)
            self._find_touched(connection, {"seq": position.seq, "change": position.change})
            connection.execute("DELETE FROM rewritten WHERE id IN (SELECT id FROM touched)")
        connection.execute("ANALYZE rewritten")

    def _find_touched(self, connection: Connection, state: dict[str, int]) -> bool:
        """Find which plants were added or changed since a state; return whether there are any."""
        connection.execute("TRUNCATE touched")
        is_touched = execute(connection, _TOUCH, {**state, "own": self._number}).rowcount > 0
        if is_touched and self._edit.since is not None:
            self._skipped |= {plant_id for (plant_id,) in execute(connection, _SKIPPED, state)}
        return is_touched

    @override
    def _write(self, transaction: Transaction) -> None:
        connection = transaction.connection
        self._find_touched(connection, self._state)
        keep_images(connection, self._number, _IS_WRITTEN)
        execute(connection, _UPDATE, (self._number,))

    @override
    def _finish(self, transaction: Transaction) -> Applied:
        connection = transaction.connection
        if self._edit.since is None and self._find_touched(connection, self._state):
            rewrite(connection, self._number, self._edit._replace(plants=self._touched(connection)))
            self._extent = extent_of(connection, self._number)
        change = finish(transaction, [self._edit], self._source, self._extent)
        return Applied.without(self._skipped, change)

    @override
    def _at_once(self, transaction: Transaction) -> Applied:
        self._write_ahead(transaction.connection)
        return self._finish(transaction)

    def _touched(self, connection: Connection) -> Selection:
        """Return those plants of the edit that were added or changed since its computation."""
        ids = {plant_id for (plant_id,) in execute(connection, "SELECT id FROM touched")}
        return self._edit.plants.among(ids)
