"""Adds, changes and imports plants in a file.

A group of plants is added by one statement as a rule: Python's sqlite3 releases the GIL at every step of a statement,
and waits to get it back; `executemany` steps once per row. The rows of an import are collected in a file beside the
store, which the writer attaches at the end.
"""

from __future__ import annotations

import errno
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa
from typing_extensions import override

from plantdesk.domain.edits import Applied
from plantdesk.domain.errors import PlantDeskError, StoreReadOnlyError, TokenRefusedError, TokenUsedUpError
from plantdesk.domain.folding import fold_plant
from plantdesk.domain.models import NewPlant
from plantdesk.domain.protocols import Outcome
from plantdesk.domain.records import PlantRow, Source, now_ms
from plantdesk.platform.atomic_files import temporary_file
from plantdesk.store.base import AddResult, WriterThread, outcome_for_taken_id
from plantdesk.store.change_writer import LARGE_CHANGE, ChangeSize, ChangeWriter
from plantdesk.store.imports import StaleError, StoreImport
from plantdesk.store.models import BEFORE_IMAGE, PLANT, STORE
from plantdesk.store.rows import FIRST_UNCOUNTED_ID, read_rows
from plantdesk.store.sqlite.connections import transaction, translate_errors
from plantdesk.store.sqlite.counters import read_counters
from plantdesk.store.sqlite.database import insert_sql, runner_of
from plantdesk.store.sqlite.files.store_file import StoreFile
from plantdesk.store.undo import UNDONE, VERSION_BEFORE

#: The most plants that one statement inserts.
_ROWS_PER_INSERT = 500
#: Characters of a row on average, above which each is inserted by a statement of its own.
_MAX_AVERAGE_LENGTH = 1000
_INSERT_TARGET = "plant (id, name, tag, seq, added_at, source_id, searched_name, searched_tag)"
_COLUMN_COUNT = 8
_LARGEST_SEQ = sa.select(sa.func.coalesce(sa.func.max(PLANT.c.seq), 0)).scalar_subquery()
_COUNT = sa.select(sa.func.count()).select_from(PLANT)
_KEEP_SEQ = sa.update(STORE).where(STORE.c.last_seq < _LARGEST_SEQ).values(last_seq=_LARGEST_SEQ)


def add_group(
    connection: sqlite3.Connection,
    entries: Sequence[tuple[NewPlant, Source]],
    *,
    token_refusal: PlantDeskError | None = None,
) -> AddResult:
    """Add the plants of `entries`, each with its own outcome, within the caller's write transaction.

    `token_refusal` is the outcome of every new plant of a token, which is then not added. Raises sqlite3.Error.
    """
    now = now_ms()
    sources = {source for _, source in entries if source.token_id is not None}
    valid_tokens = _read_valid_tokens(connection, sources, now)
    plants_by_id = _read_plants(connection, {plant.id for plant, _ in entries})
    first_seq = read_counters(connection).seq + 1
    outcomes: list[Outcome] = []
    added: list[PlantRow] = []
    added_by: Counter[Source] = Counter()
    for plant, source in entries:
        row = plants_by_id.get(plant.id)
        if source.token_id is not None and source not in valid_tokens:
            outcomes.append(TokenRefusedError())
        elif row is not None:
            outcomes.append(outcome_for_taken_id(row, plant, source))
        elif (refusal := _find_refusal(valid_tokens.get(source), added_by[source], token_refusal)) is not None:
            outcomes.append(refusal)
        else:
            row = PlantRow(plant.id, plant.name, plant.tag, now, source, version=-first_seq - len(added))
            plants_by_id[plant.id] = row
            added.append(row)
            outcomes.append(row)
            added_by[source] += 1
    _insert(connection, added)
    uses = [(added_by[source], now, source.token_id) for source in valid_tokens]
    connection.executemany("UPDATE token SET plants_added = plants_added + ?, last_used_at = ? WHERE id = ?", uses)
    return AddResult(outcomes, tuple(added))


def _read_plants(connection: sqlite3.Connection, ids: Collection[int]) -> dict[int, PlantRow]:
    """Return the plants with these ids. Most ids are new, so the index is asked first, and often no row is read."""
    sql = "SELECT id FROM plant WHERE id IN (SELECT value FROM json_each(?))"
    ids_in_use = [plant_id for (plant_id,) in connection.execute(sql, (json.dumps([*ids]),))]
    return read_rows(runner_of(connection), ids_in_use) if ids_in_use else {}


class _Token(NamedTuple):
    """The numbers of plants that a token has added, and that it may add in all (None: any number)."""

    plants_added: int
    max_plants: int | None


def _find_refusal(token: _Token | None, added: int, token_refusal: PlantDeskError | None) -> PlantDeskError | None:
    """Return the refusal of a token's next plant after `added` ones of this group; None if it may add the plant."""
    if token is None:
        return None
    if token.max_plants is not None and token.plants_added + added >= token.max_plants:
        return TokenUsedUpError(token.max_plants)
    return token_refusal


def _read_valid_tokens(connection: sqlite3.Connection, sources: Collection[Source], now: int) -> dict[Source, _Token]:
    """Return the valid tokens by source. They are checked again, as the file may have been replaced meanwhile."""
    sql = """SELECT plants_added, max_plants FROM token
             WHERE id = ? AND source_id = ? AND digest IS coalesce(?, digest)
             AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
             AND source_id IN (SELECT id FROM source)"""
    values = ((source, (source.token_id, source.id, source.digest, now)) for source in sources)
    rows = ((source, connection.execute(sql, bound).fetchone()) for source, bound in values)
    return {source: _Token(*row) for source, row in rows if row is not None}


def _insert(connection: sqlite3.Connection, rows: Sequence[PlantRow]) -> None:
    """Insert rows together; large ones one by one, as each prepared statement of sqlite3 keeps its last values."""
    length = sum(len(row.name) + len(row.tag or "") for row in rows)
    rows_per_insert = 1 if length > _MAX_AVERAGE_LENGTH * len(rows) else _ROWS_PER_INSERT
    for start in range(0, len(rows), rows_per_insert):
        values: list[object] = []
        for row in rows[start : start + rows_per_insert]:
            values += (row.id, row.name, row.tag, -row.version, row.added_at, row.source.id)
            values += fold_plant(row.name, row.tag)[:2]
        connection.execute(insert_sql(_INSERT_TARGET, _COLUMN_COUNT, len(values) // _COLUMN_COUNT), values)


class SqliteChangeWriter(ChangeWriter):
    """Writes one change in a file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        runner = runner_of(connection)
        runner.run(_KEEP_SEQ)  # no `seq` of a plant that the change deletes is used again
        super().__init__(runner, read_counters(connection).change + 1)
        self._connection = connection

    @property
    @override
    def last_seq(self) -> int:
        return read_counters(self._connection).seq

    @override
    def reserve_seqs(self, count: int = 1) -> int:
        """Return the next number; the rows themselves reserve it."""
        return self.last_seq + 1

    @override
    def finish_and_reserve_ids(self, size: ChangeSize, largest_id: sa.ScalarSelect[int]) -> sa.Update:
        last = sa.func.min(sa.func.max(STORE.c.last_id, sa.func.coalesce(largest_id, 0)), FIRST_UNCOUNTED_ID - 1)
        return sa.update(STORE).values(last_id=last)

    @override
    def delete(self, condition: sa.ColumnElement[bool]) -> None:
        """Delete plants. If these are all, leave out the condition: SQLite then frees whole pages."""
        count = self.runner.run(self.images_insert(condition, deletes=True)).rowcount
        is_all = count > LARGE_CHANGE and count == self.runner.run(_COUNT).scalar_one()
        self.runner.run(sa.delete(PLANT) if is_all else sa.delete(PLANT).where(condition))

    @override
    def prepare_restoring(self, undone: int, revived: sa.Select[Any]) -> None:
        """Give the plants that come back a new `seq` if another plant has theirs, as after a restore."""
        taken = revived.where(sa.exists().where(PLANT.c.seq == UNDONE.c.seq, PLANT.c.id != UNDONE.c.plant_id))
        if not self.runner.run(sa.select(taken.exists())).scalar_one():
            return
        place = sa.func.row_number().over(order_by=UNDONE.c.seq).label("place")
        moved = taken.with_only_columns(UNDONE.c.plant_id, place).subquery()
        image = BEFORE_IMAGE.c
        move = sa.update(BEFORE_IMAGE).values(seq=moved.c.place + self.last_seq)
        self.runner.run(move.where(image.change == undone, image.plant_id == moved.c.plant_id))
        is_own = (image.change == self.number) & (image.plant_id == UNDONE.c.plant_id)
        self.runner.run(sa.update(BEFORE_IMAGE).values(after=VERSION_BEFORE).where(is_own, UNDONE.c.change == undone))


class SqliteImport(StoreImport):
    """An import into a SQLite store."""

    def __init__(self, file: StoreFile, writer: WriterThread) -> None:
        """Open a connection with a new file for the import's tables. Raises StoreError and OSError."""
        self._writer = writer
        with ExitStack() as stack, translate_errors():
            connection, self._temporary = _connect_with_import_file(file, stack)
            super().__init__(runner_of(connection))
            self._stack = stack.pop_all()

    @override
    def close(self) -> None:
        self._stack.close()

    @override
    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with translate_errors(), transaction(self._runner.driver, mode="DEFERRED"):
            yield

    @override
    def _write(self, step: Callable[[ChangeWriter], Applied]) -> Applied:
        """Run the step on the writer thread; on Ctrl+C cancel it, but return its result if it was committed."""

        def action(writer: ChangeWriter) -> Applied:
            with self._interruptible(writer.runner.driver):
                return step(writer)

        written = self._writer.submit(action, attached=self._temporary)
        try:
            return written.result()
        except sqlite3.IntegrityError as error:
            raise StaleError from error
        except KeyboardInterrupt:
            self.cancel()
            try:
                return written.result()  # it may have been committed already
            except InterruptedError:
                raise KeyboardInterrupt from None


def _connect_with_import_file(file: StoreFile, stack: ExitStack) -> tuple[sqlite3.Connection, Path]:
    """Connect to the store; attach a new file as `other`, which `stack` removes. Raises StoreError and OSError."""
    with translate_errors():
        try:
            temporary = stack.enter_context(temporary_file(file.path))
        except OSError as error:
            if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
                raise StoreReadOnlyError from error
            raise
        connection = file.connect()
        stack.callback(connection.close)
        connection.execute("ATTACH ? AS other", (temporary.as_uri(),))
        for pragma in ("page_size = 32768", "journal_mode = OFF", "synchronous = OFF"):
            connection.execute(f"PRAGMA other.{pragma}")
    return connection, temporary
