"""Reads a store in a file: ids in chunks, and all that `store/reader` reads.

Search and sort are SQL over the whole table. They take up to a second for a million plants; a newer query interrupts
them. The first rows come from a query of their own, which need not sort the others.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar

from typing_extensions import override

from plantdesk.domain.errors import StoreDamagedError
from plantdesk.domain.records import Desk
from plantdesk.domain.selections import Order, Selection, View
from plantdesk.store.conditions import ordering
from plantdesk.store.database import Runner
from plantdesk.store.models import PLANT
from plantdesk.store.reader import CHUNK, FIRST_CHUNK, StoreReader
from plantdesk.store.sqlite.connections import add_functions, translate_errors
from plantdesk.store.sqlite.connections import snapshot as read_snapshot
from plantdesk.store.sqlite.counters import read_counters
from plantdesk.store.sqlite.database import DATABASE, runner_of
from plantdesk.store.sqlite.files.store_file import StoreFile

_Result = TypeVar("_Result")

#: About as many characters an id and a comma have, to divide a text of ids into chunks.
_CHARACTERS_PER_ID = 8
#: Plants among which the first chunk of a search is looked for, newest first: 40 ms.
_NEWEST_PLANTS = 20_000


class SqliteReader(StoreReader):
    """A reader with a connection of its own."""

    database = DATABASE

    def __init__(self, file: StoreFile, on_damage: Callable[[StoreDamagedError], object] | None = None) -> None:
        self._file = file
        self._on_damage = on_damage
        self._swap_lock = threading.Lock()
        with translate_errors():
            self._open()

    @override
    def ids(self, view: View) -> Iterator[array[int]]:
        with self._query_runner(snapshot=True) as runner:
            # If not all plants match, the index of `seq` would read each row of the file separately.
            by_index = view.plants.is_everything or view.order is Order.ID
            in_order = self._ids(view.plants).order_by(*ordering(view, self.database, by_index=by_index))
            if not by_index and view.order is Order.ADDED and view.descending:
                first = self._read_newest_ids(runner, view.plants)
                has_all = False
            else:  # with LIMIT SQLite sorts no more rows than it returns
                first = [*runner.run(in_order.limit(FIRST_CHUNK)).scalars()]
                has_all = len(first) < FIRST_CHUNK
            if first:
                yield array("q", first)
            statement = self.database.compile_statement(in_order)
            for chunk in () if has_all else read_ids(self._connection, *statement, CHUNK):
                if new_ids := chunk[len(first) :]:
                    yield new_ids
                first = []

    def _read_newest_ids(self, runner: Runner, plants: Selection) -> list[int]:
        """Return the first chunk of a search, newest first; empty if the newest plants do not fill it."""
        newest = PLANT.c.seq > read_counters(self._connection).seq - _NEWEST_PLANTS
        ids = [*runner.run(self._ids(plants, newest).order_by(PLANT.c.seq.desc()).limit(FIRST_CHUNK)).scalars()]
        return ids if len(ids) == FIRST_CHUNK else []

    @override
    def active_desks(self) -> list[Desk]:
        return []

    @override
    def interrupt(self) -> None:
        with self._swap_lock, suppress(sqlite3.ProgrammingError):  # it is closed
            self._connection.interrupt()

    @override
    def close(self) -> None:
        with self._swap_lock:
            self._connection.close()

    @override
    def ask(self, query: Callable[[Runner], _Result], *, snapshot: bool = False) -> _Result:
        with self._query_runner(snapshot=snapshot) as runner:
            return query(runner)

    @contextmanager
    def _query_runner(self, *, snapshot: bool = False) -> Iterator[Runner]:
        """Yield a Runner for the file that the writer has open now; connect anew if it is another one."""
        try:
            with translate_errors():
                if self._generation != self._file.generation:
                    with self._swap_lock:
                        old = self._connection
                        self._open()
                        old.close()
                with read_snapshot(self._connection) if snapshot else nullcontext():
                    yield runner_of(self._connection)
        except StoreDamagedError as error:
            if self._on_damage is not None:
                self._on_damage(error)
            raise

    def _open(self) -> None:
        generation = self._file.generation
        self._connection = self._file.connect()  # if it fails, nothing changes
        add_functions(self._connection)
        self._generation = generation


class StandaloneSqliteReader(SqliteReader):
    """A reader that opens the file itself. It does not notice that another file has taken its place."""

    def __init__(self, path: Path) -> None:
        """Open the store at `path` as `SqliteStore` does, but without a writer. Raises StoreError."""
        file = StoreFile(path)
        try:
            file.refuse_outdated()
            super().__init__(file)
        except BaseException:
            file.close()
            raise

    @override
    def close(self) -> None:
        super().close()
        self._file.close()


def read_ids(connection: sqlite3.Connection, sql: str, values: dict[str, Any], size: int) -> Iterator[array[int]]:
    """Yield the ids that a statement selects, in its order, in chunks of about `size`. Raises sqlite3.Error.

    SQLite joins them in one text: a step of the statement for each releases the interpreter's lock each time, so that
    100,000 take 0.1 s more while another thread, such as that of the window, is busy.
    """
    (ids,) = connection.execute(  # a text would be copied once more to be decoded
        f"SELECT CAST(coalesce(group_concat(id), '') AS BLOB) FROM ({sql})", values
    ).fetchone()
    start = 0
    while start < len(ids):
        end = ids.find(b",", start + _CHARACTERS_PER_ID * size)
        end = len(ids) if end < 0 else end
        yield array("q", json.loads(b"[%b]" % ids[start:end]))
        start = end + 1
