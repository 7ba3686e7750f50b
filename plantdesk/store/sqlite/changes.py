"""Adding, changing and importing plants in a file.

A group of plants is added by one statement as a rule, however many these are: Python's sqlite3 releases the GIL at
every step of a statement and then waits to have it back (`executemany` steps once per row as well). The rows of an
import are collected in a file beside the store, which the writer attaches at the end.
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
from plantdesk.domain.folding import searched_texts
from plantdesk.domain.models import NewPlant
from plantdesk.domain.protocols import Outcome
from plantdesk.domain.records import PlantRow, Source, now_ms
from plantdesk.platform.atomic_files import temporary_file
from plantdesk.store.base import AddResult, WriterThread, outcome_of_taken
from plantdesk.store.change_writer import LARGE_CHANGE, ChangeSize, ChangeWriter
from plantdesk.store.imports import StaleError, StoreImport
from plantdesk.store.models import BEFORE_IMAGE, PLANT, STORE
from plantdesk.store.rows import FIRST_UNCOUNTED_ID, rows_by_id
from plantdesk.store.sqlite.connections import transaction, translate_errors
from plantdesk.store.sqlite.counters import read_counters
from plantdesk.store.sqlite.database import insert_of, runner_of
from plantdesk.store.sqlite.files.store_file import StoreFile
from plantdesk.store.undo import UNDONE, VERSION_BEFORE

#: Plants in one statement.
_AT_ONCE = 500
#: Characters of a row on average, above which each is inserted by a statement of its own.
_MAX_TEXT = 1000
_TABLE = "plant (id, name, tag, seq, added_at, source_id, searched_name, searched_tag)"
_COLUMNS = 8
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
    valid = _valid_tokens(connection, sources, now)
    known = _known_plants(connection, {plant.id for plant, _ in entries})
    first = read_counters(connection).seq + 1
    outcomes: list[Outcome] = []
    added: list[PlantRow] = []
    added_by: Counter[Source] = Counter()
    for plant, source in entries:
        row = known.get(plant.id)
        if source.token_id is not None and source not in valid:
            outcomes.append(TokenRefusedError())
        elif row is not None:
            outcomes.append(outcome_of_taken(row, plant, source))
        elif (refusal := _refusal(valid.get(source), added_by[source], token_refusal)) is not None:
            outcomes.append(refusal)
        else:
            row = known[plant.id] = PlantRow(plant.id, plant.name, plant.tag, now, source, version=-first - len(added))
            added.append(row)
            outcomes.append(row)
            added_by[source] += 1
    _insert(connection, added)
    used = [(added_by[source], now, source.token_id) for source in valid]
    connection.executemany("UPDATE token SET plants_added = plants_added + ?, last_used_at = ? WHERE id = ?", used)
    return AddResult(outcomes, tuple(added))


def _known_plants(connection: sqlite3.Connection, ids: Collection[int]) -> dict[int, PlantRow]:
    """Return the plants that have one of the ids: none as a rule, so that no row has to be read."""
    sql = "SELECT id FROM plant WHERE id IN (SELECT value FROM json_each(?))"
    ids_in_use = [plant_id for (plant_id,) in connection.execute(sql, (json.dumps([*ids]),))]
    return rows_by_id(runner_of(connection), ids_in_use) if ids_in_use else {}


class _Token(NamedTuple):
    """The number of plants that a token has added, and may add; None: any number."""

    plants_added: int
    max_plants: int | None


def _refusal(token: _Token | None, added: int, of_tokens: PlantDeskError | None) -> PlantDeskError | None:
    """Return why a source, which has `added` plants in this group, may add no more; None if it may."""
    if token is None:
        return None
    if token.max_plants is not None and token.plants_added + added >= token.max_plants:
        return TokenUsedUpError(token.max_plants)
    return of_tokens


def _valid_tokens(connection: sqlite3.Connection, sources: Collection[Source], now: int) -> dict[Source, _Token]:
    """Return the sources that have a valid token in this file; they may have been looked up in another one before."""
    sql = """SELECT plants_added, max_plants FROM token
             WHERE id = ? AND source_id = ? AND digest IS coalesce(?, digest)
             AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
             AND source_id IN (SELECT id FROM source)"""
    rows = (
        (source, connection.execute(sql, (source.token_id, source.id, source.digest, now)).fetchone())
        for source in sources
    )
    return {source: _Token(*row) for source, row in rows if row is not None}


def _insert(connection: sqlite3.Connection, rows: Sequence[PlantRow]) -> None:
    """Insert rows together; large ones one by one, as each prepared statement of sqlite3 keeps its last values."""
    length = sum(len(row.name) + len(row.tag or "") for row in rows)
    at_once = 1 if length > _MAX_TEXT * len(rows) else _AT_ONCE
    for start in range(0, len(rows), at_once):
        values: list[object] = []
        for row in rows[start : start + at_once]:
            values += (row.id, row.name, row.tag, -row.version, row.added_at, row.source.id)
            values += searched_texts(row.name, row.tag)[:2]
        connection.execute(insert_of(_TABLE, _COLUMNS, len(values) // _COLUMNS), values)


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
    def next_seq(self, count: int = 1) -> int:
        return self.last_seq + 1

    @override
    def finish_statement(self, size: ChangeSize, largest_id: sa.ScalarSelect[int]) -> sa.Update:
        last = sa.func.min(sa.func.max(STORE.c.last_id, sa.func.coalesce(largest_id, 0)), FIRST_UNCOUNTED_ID - 1)
        return sa.update(STORE).values(last_id=last)

    @override
    def delete(self, condition: sa.ColumnElement[bool]) -> None:
        """Delete the plants of a condition. If these are all, omit the condition: SQLite then frees whole pages."""
        count = self.runner.run(self.images(condition, deletes=True)).rowcount
        is_all = count > LARGE_CHANGE and count == self.runner.run(_COUNT).scalar_one()
        self.runner.run(sa.delete(PLANT) if is_all else sa.delete(PLANT).where(condition))

    @override
    def prepare_restoring(self, undone: int, back: sa.Select[Any]) -> None:
        """Give plants a new sequence number if theirs is taken, which a restored backup may cause."""
        taken = back.where(sa.exists().where(PLANT.c.seq == UNDONE.c.seq, PLANT.c.id != UNDONE.c.plant_id))
        if not self.runner.run(sa.select(taken.exists())).scalar_one():
            return
        place = sa.func.row_number().over(order_by=UNDONE.c.seq).label("place")
        moved = taken.with_only_columns(UNDONE.c.plant_id, place).subquery()
        image = BEFORE_IMAGE.c
        at_end = sa.update(BEFORE_IMAGE).values(seq=moved.c.place + self.last_seq)
        self.runner.run(at_end.where(image.change == undone, image.plant_id == moved.c.plant_id))
        is_own = (image.change == self.number) & (image.plant_id == UNDONE.c.plant_id)
        self.runner.run(sa.update(BEFORE_IMAGE).values(after=VERSION_BEFORE).where(is_own, UNDONE.c.change == undone))


class SqliteImport(StoreImport):
    """An import into a SQLite store."""

    def __init__(self, file: StoreFile, writer: WriterThread) -> None:
        """Begin. Raises StoreError and OSError."""
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
    """Return a connection to the store and a new file, which it has as `other`; `stack` removes the file.

    Raises StoreError and OSError.
    """
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
