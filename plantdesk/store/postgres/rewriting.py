"""Other texts for a set of plants by a rule, which is computed in Python: PostgreSQL has no folding.

The new texts are collected in a temporary table of a connection of their own, and written as a large change is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.domain.edits import Applied
from plantdesk.domain.overrides import override
from plantdesk.domain.rewriting import rewritten
from plantdesk.store.events import Position
from plantdesk.store.postgres.changes import PAGE, check_storable, extent_of, finish, keep_images, rewrite
from plantdesk.store.postgres.conditions import condition_of
from plantdesk.store.postgres.connections import execute
from plantdesk.store.postgres.large_changes import LargeChange, state_of

if TYPE_CHECKING:
    from plantdesk.domain.edits import Rewrite
    from plantdesk.domain.records import Source
    from plantdesk.domain.selections import Selection
    from plantdesk.store.postgres.connections import Connection, Transaction
    from plantdesk.store.postgres.transactions import Transactions
    from plantdesk.store.postgres.writer import Writer

_TABLES = """
    CREATE TEMP TABLE rewritten (id bigint PRIMARY KEY, name text COLLATE "C", tag text COLLATE "C",
                                 note text COLLATE "C", folded text COLLATE "C");
    CREATE TEMP TABLE touched (id bigint PRIMARY KEY)"""
_CHOOSE = "CREATE TEMP TABLE chosen AS SELECT plant.id FROM plant WHERE {condition}"
_ROWS = """SELECT plant.id, name, tag, note FROM plant JOIN chosen ON chosen.id = plant.id
           WHERE plant.id > %s ORDER BY plant.id LIMIT %s"""
_COPY = "COPY rewritten (id, name, tag, note, folded) FROM STDIN"
_TOUCH = """INSERT INTO touched SELECT id FROM plant WHERE seq > %(seq)s
            UNION SELECT plant_id FROM before_image WHERE change > %(change)s AND change <> %(own)s"""
#: Plants that were changed, not added, since the position of an edit.
_SKIPPED = """SELECT id FROM rewritten WHERE id IN (SELECT id FROM touched)
              AND id IN (SELECT plant_id FROM before_image WHERE change > %(change)s)"""
_IS_WRITTEN = "plant.id IN (SELECT id FROM rewritten) AND NOT EXISTS (SELECT FROM touched WHERE touched.id = plant.id)"
_UPDATE = """UPDATE plant SET name = new.name, tag = new.tag, note = new.note, folded = new.folded, change = %s
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
        condition = condition_of(self._edit.plants)
        execute(connection, _CHOOSE.format(condition=condition.sql), condition.values)
        connection.execute("ANALYZE chosen")
        last = -(2**63)
        while rows := execute(connection, _ROWS, (last, PAGE)).fetchall():
            last = rows[-1][0]
            found = list(rewritten(self._edit.rule, rows, self._edit.leave))
            check_storable(*(text for _, *texts in found for text in texts))
            with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
                for row in found:
                    copy.write_row(row)
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
