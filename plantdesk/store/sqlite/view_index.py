"""Indexes for searches and sorts of many plants, in temporary files: the store contains nothing of them.

They hold a snapshot of the plants. A query adds what has changed since: plants with a later sequence number, and those
with before-images of later changes. So an index may lag behind, be missing or be damaged: the results are the same,
only slower. A thread of its own builds them when the store has been idle for a moment, and again when too much has
changed. No commit waits for them.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.domain.errors import StoreError
from plantdesk.domain.views import Order
from plantdesk.store.sqlite import text_index
from plantdesk.store.sqlite.conditions import SORTED, sorted_ids
from plantdesk.store.sqlite.connections import transaction, translate_errors
from plantdesk.store.sqlite.history import is_pruned_since, last_number
from plantdesk.store.sqlite.order_file import opened
from plantdesk.store.sqlite.row_reads import last_seq

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from plantdesk.domain.records import Changes
    from plantdesk.store.sqlite.files.store_file import StoreFile
    from plantdesk.store.sqlite.order_file import OrderFile
    from plantdesk.store.sqlite.text_index import Letters

_log = logging.getLogger(__name__)

#: Plants from which an index is built; fewer are searched and sorted in 20 ms without one.
MIN_PLANTS = 20_000
#: Plants that may have changed since the index was built.
MAX_CHANGED = 2_000
#: Seconds without a change before an index is built.
_QUIET = 1.0
#: Seconds after which one is built although the store keeps changing.
_MAX_LAG = 30.0
_CHUNK = 10_000
#: Instructions of SQLite's virtual machine between two checks for `close`: some milliseconds.
_PROGRESS_STEPS = 100_000
#: Seconds between two chunks of an order or pages of letters, in which GUI and API get the GIL.
_PAUSE = 0.002


class Indexed(NamedTuple):
    """A built index: the snapshot that it holds, and its files."""

    #: Of the store's file, and of `ViewIndex.drop`.
    generation: int
    epoch: object
    seq: int
    change: int
    #: The database with the tables of `text_index` and `letter_index`.
    texts: Path
    letters: Letters | None
    orders: dict[Order, Path]
    #: The plants in the files of the orders.
    plants: int
    #: Plants with a tag: the first ones in the order of tags.
    tagged: int
    #: Removes the files.
    remove: Callable[[], None]

    def is_known(self, connection: sqlite3.Connection) -> bool:
        """Whether the changes since the snapshot are known, and few. Raises sqlite3.Error."""
        return self.changed(connection) is not None

    def changed(self, connection: sqlite3.Connection) -> set[int] | None:
        """Return the ids of the plants changed since the snapshot; None where not all are known, or they are too many.

        Raises sqlite3.Error.
        """
        added = connection.execute("SELECT id FROM plant WHERE seq > ? LIMIT ?", (self.seq, MAX_CHANGED + 1)).fetchall()
        sql = "SELECT plant_id FROM before_image WHERE change > ? LIMIT ?"
        before = connection.execute(sql, (self.change, MAX_CHANGED + 1)).fetchall()
        if max(len(added), len(before)) > MAX_CHANGED or is_pruned_since(connection, self.change):
            return None
        return {plant_id for (plant_id,) in (*added, *before)}

    def opened_order(self, order: Order, *, descending: bool) -> AbstractContextManager[OrderFile]:
        """Open the ids in an order; plants without a tag are the last ones by tag, both ways. Raises OSError."""
        split = self.tagged if order is Order.TAG else self.plants
        return opened(self.orders[order], self.plants, split if descending else None)


class ViewIndex:
    """Builds the indexes of a store from `start` to `close`. `indexed` is None while there are none."""

    def __init__(self, file: StoreFile, min_plants: int = MIN_PLANTS) -> None:
        self._file = file
        self._min_plants = min_plants
        self._built: Indexed | None = None
        self._file_epoch = file.epoch
        self._epoch = object()
        self._wake = threading.Event()
        self._closing = False
        self._is_outdated = True
        self._thread: threading.Thread | None = None

    @property
    def indexed(self) -> Indexed | None:
        """The index of the file that is open now."""
        built, current = self._built, (self._file.generation, self._epoch)
        return built if built is not None and (built.generation, built.epoch) == current else None

    def start(self) -> None:
        """Start the thread. May be called again."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="view-index", daemon=True)
            self._thread.start()

    def changed(self, _changes: Changes) -> None:
        """Note a commit. On the writer thread."""
        if self._file_epoch != self._file.epoch:
            self._file_epoch = self._file.epoch
            self.drop()  # what has changed is not known
        self._is_outdated = True
        if not self._wake.is_set():
            self._wake.set()

    def drop(self) -> None:
        """Discard the index and build it again. Any thread."""
        self._epoch = object()
        self._is_outdated = True
        self._wake.set()

    def close(self) -> None:
        """End the thread and remove the files. May be called again."""
        self._closing = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
        self._replace(None)

    # --- on the index thread ---

    def _run(self) -> None:
        while self._wait_until_quiet():
            try:
                self.build()
            except InterruptedError:  # by `close`
                pass
            except (sqlite3.Error, StoreError, OSError) as error:
                _log.info("The plants could not be indexed: %s", error)

    def _wait_until_quiet(self) -> bool:
        """Wait until the index is outdated and the store is idle; return False after `close`."""
        until = time.monotonic() + _MAX_LAG
        while not self._closing:
            is_changing = self._wake.wait(_QUIET if self._is_outdated else None)
            self._wake.clear()
            if self._is_outdated and not (is_changing and time.monotonic() < until):
                break
        self._is_outdated = False
        return not self._closing

    def build(self) -> None:
        """Build the index, unless it is recent or there are few plants, in the calling thread.

        Raises StoreError, sqlite3.Error, OSError, and InterruptedError after `close`.
        """
        from plantdesk.store.sqlite.files.index_folder import index_folder

        epoch, generation = self._epoch, self._file.generation
        with ExitStack() as stack:
            with translate_errors(), closing(self._file.connect()) as connection:
                connection.set_progress_handler(lambda: self._closing, _PROGRESS_STEPS)  # true ends the statement
                (plants,) = connection.execute("SELECT count(*) FROM plant").fetchone()
                if plants < self._min_plants or self._is_recent(connection):
                    return
                folder = stack.enter_context(index_folder())
                texts = folder / "texts.db"
                connection.execute("ATTACH ? AS made", (str(texts),))
                connection.execute("PRAGMA made.journal_mode = OFF")
                connection.execute("PRAGMA made.synchronous = OFF")
                for sql in (text_index.CREATE_TABLE, *text_index.CREATE_TABLES):
                    connection.execute(sql.format("made"))
                with transaction(connection, mode="DEFERRED"):  # one snapshot
                    seq, change = last_seq(connection), last_number(connection)
                    text_index.write_words(connection, "made")
                    letters = text_index.write_letters(connection, "made", self._pause)
                    counted, tagged = connection.execute("SELECT count(*), count(tag) FROM plant").fetchone()
                    orders = {order: self._write(connection, order, folder / order) for order in SORTED}
            remove = stack.pop_all().close
        self._replace(Indexed(generation, epoch, seq, change, texts, letters, orders, counted, tagged, remove))

    def _replace(self, built: Indexed | None) -> None:
        before, self._built = self._built, built
        if before is not None:
            before.remove()

    def _is_recent(self, connection: sqlite3.Connection) -> bool:
        if self.indexed is None:
            return False
        changed = self.indexed.changed(connection)
        return changed is not None and len(changed) < MAX_CHANGED // 2

    def _write(self, connection: sqlite3.Connection, order: Order, path: Path) -> Path:
        with path.open("wb") as file:
            for chunk in sorted_ids(connection, order, _CHUNK):
                chunk.tofile(file)
                self._pause()
        return path

    def _pause(self) -> None:
        """Let other threads have the GIL. Raises InterruptedError after `close`."""
        time.sleep(_PAUSE)
        if self._closing:
            raise InterruptedError
