"""Indexes for searches and sorts of many plants, in files of their own: the store contains nothing of them.

They hold a snapshot of the plants. A query adds what has changed since: plants with a later sequence number, and those
with before-images of later changes. So an index may lag behind, be missing or be damaged: the results are the same,
only slower. A thread of its own builds them when the store has been idle for a moment, adds plants to a copy of them
when many were added, and builds them again when too many were changed. No commit waits for them. They are kept for the
next start where the `IndexNote` of the store can show that each change since is recorded.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from plantdesk import __version__
from plantdesk.domain.errors import StoreError
from plantdesk.domain.history import ChangeKind
from plantdesk.domain.values import NamedTuple
from plantdesk.domain.views import Order
from plantdesk.store.sqlite import text_index
from plantdesk.store.sqlite.conditions import SORTED, sorted_ids
from plantdesk.store.sqlite.connections import transaction, translate_errors
from plantdesk.store.sqlite.counts import count_plants, restored_counts, stored_counts
from plantdesk.store.sqlite.history import is_pruned_since, last_number
from plantdesk.store.sqlite.order_file import opened
from plantdesk.store.sqlite.row_reads import last_seq

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from plantdesk.domain.records import Changes
    from plantdesk.domain.views import Counts
    from plantdesk.store.sqlite.files.store_file import StoreFile
    from plantdesk.store.sqlite.index_note import IndexNote
    from plantdesk.store.sqlite.order_file import OrderFile
    from plantdesk.store.sqlite.text_index import Letters

_log = logging.getLogger(__name__)

#: Plants from which an index is built; fewer are searched and sorted in 20 ms without one.
MIN_PLANTS = 20_000
#: Plants that may have changed since the index was built, or have been added since the orders were sorted.
MAX_CHANGED = 2_000
#: The fraction of the plants that may have been added since their texts were indexed: searches compare each of them.
_MAX_ADDED = 0.25
#: Seconds without a change before an index is built.
_QUIET = 1.0
#: Seconds after which one is built although the store keeps changing.
_MAX_LAG = 30.0
_CHUNK = 10_000
#: Instructions of SQLite's virtual machine between two checks for `close`: some milliseconds.
_PROGRESS_STEPS = 100_000
#: Seconds between two chunks of an order or pages of letters, in which GUI and API get the GIL.
_PAUSE = 0.002
#: That of adding as well: a window begins with it, and SQLite takes ten times as long.
_ORDERS = (*SORTED, Order.ADDED)
#: Of the files; another PlantDesk builds its own.
_VERSION = f"{__version__} 2"
#: The files of a built index: its description, and the tables of `text_index`.
_DESCRIPTION, _TEXTS = "index.json", "texts.db"


#: An import gives new sequence numbers to the plants that it adds, which need no look at each before-image.
_EDITED = f"""SELECT DISTINCT plant_id FROM before_image WHERE change > :since AND change <= :until AND (seq IS NOT NULL
              OR change NOT IN (SELECT number FROM change WHERE number > :since AND kind = '{ChangeKind.IMPORT}'))
              LIMIT :limit"""


class Edits:
    """The plants that changes have touched after one, each of which is read once. For any thread."""

    def __init__(self, change: int) -> None:
        self._known = (change, frozenset[int]())

    def read(self, connection: sqlite3.Connection) -> frozenset[int] | None:
        """Return their ids, also of changes after the snapshot; None where they are too many. Raises sqlite3.Error."""
        change, ids = self._known
        if (now := last_number(connection)) > change:
            late = _few(connection, _EDITED, {"since": change, "until": now})
            if late is None or len(ids | late) > MAX_CHANGED:
                return None
            ids |= late
            self._known = (now, ids)
        return ids


class Indexed(NamedTuple):
    """A built index: the snapshot that it holds, and its files."""

    #: Of the store's file, and of `ViewIndex.drop`.
    generation: int
    epoch: object
    #: The last sequence number in the texts, and in the orders; the last change in both.
    seq: int
    sorted_seq: int
    change: int
    edits: Edits
    #: The database with the tables of `text_index`.
    texts: Path
    letters: Letters | None
    #: Empty before they are sorted.
    orders: dict[Order, Path]
    #: The plants in the files of the orders.
    plants: int
    #: Plants with a tag: the first ones in the order of tags.
    tagged: int
    counts: Counts | None
    #: Checksums of the files that were not read yet, by name.
    unchecked: dict[str, int]
    #: Gives up the files, and removes them unless they are kept for the next start.
    release: Callable[[], None]

    def edited(self, connection: sqlite3.Connection) -> frozenset[int] | None:
        """Return the ids of the plants changed since the snapshot; None where not all are known, or they are too many.

        Plants that were added are not among them. Raises sqlite3.Error.
        """
        (seq,) = connection.execute("SELECT coalesce(max(seq), 0) FROM plant").fetchone()
        if seq - self.seq > max(MAX_CHANGED, _MAX_ADDED * self.seq) or is_pruned_since(connection, self.change):
            return None
        return self.edits.read(connection)

    def changed(self, connection: sqlite3.Connection) -> frozenset[int] | None:
        """Return the ids of the plants changed or added since they were sorted; None as `edited`.

        Raises sqlite3.Error.
        """
        edited = self.edited(connection)
        sql = "SELECT id FROM plant WHERE seq > :since LIMIT :limit"
        added = _few(connection, sql, {"since": self.sorted_seq})
        return None if edited is None or added is None else edited | added

    def checked(self, path: Path) -> Path:
        """Return the path of one of the files, whose content is right. Raises OSError."""
        from plantdesk.store.sqlite.files.index_folder import checksum

        known = self.unchecked.get(path.name)
        if known is not None:
            if checksum(path) != known:
                message = f"{path.name} is damaged"
                raise OSError(message)
            self.unchecked.pop(path.name, None)
        return path

    def opened_order(self, order: Order, *, descending: bool) -> AbstractContextManager[OrderFile]:
        """Open the ids in an order; plants without a tag are the last ones by tag, both ways. Raises OSError."""
        split = self.tagged if order is Order.TAG else self.plants
        return opened(self.checked(self.orders[order]), self.plants, split if descending else None)


def _few(connection: sqlite3.Connection, sql: str, values: dict[str, int]) -> frozenset[int] | None:
    rows = connection.execute(sql, {**values, "limit": MAX_CHANGED + 1}).fetchall()
    return frozenset(plant_id for (plant_id,) in rows) if len(rows) <= MAX_CHANGED else None


class ViewIndex:
    """Builds the indexes of a store from `start` to `close`. `indexed` is None while there are none."""

    def __init__(self, file: StoreFile, note: IndexNote | None = None, *, min_plants: int | None = None) -> None:
        """Without a `note` the files are temporary."""
        self._file, self._note = file, note
        self._min_plants = MIN_PLANTS if min_plants is None else min_plants
        self._built: Indexed | None = None
        self._file_epoch = file.epoch
        self._epoch = object()
        self._wake = threading.Event()
        self._closing = False
        self._is_outdated, self._is_urgent = True, False
        self._outdated_at = self._changed_at = time.monotonic()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    @property
    def indexed(self) -> Indexed | None:
        """The index of the file that is open now."""
        built, current = self._built, (self._file.generation, self._epoch)
        return built if built is not None and (built.generation, built.epoch) == current else None

    def start(self) -> None:
        """Use the index that was kept, and start the thread. May be called again."""
        if self._thread is None:
            self._try(self.adopt)
            thread = threading.Thread(target=self._run, name="view-index", daemon=True)
            with self._starting:
                if not self._closing:
                    thread.start()
                    self._thread = thread

    def changed(self, changes: Changes) -> None:
        """Note a commit. On the writer thread."""
        if self._file_epoch != self._file.epoch:
            self._file_epoch = self._file.epoch
            self.drop()  # what has changed is not known
        self._note_change(is_urgent=changes.needs_reload and bool(changes.added))

    def drop(self) -> None:
        """Discard the index and build it again. Any thread."""
        self._epoch = object()
        self._note_change()

    def _note_change(self, *, is_urgent: bool = False) -> None:
        """Let the thread build the index. It is not woken by each of many commits: that takes a tenth of their time."""
        self._changed_at = time.monotonic()
        if not self._is_outdated:
            self._outdated_at = self._changed_at
        elif not is_urgent:
            return
        self._is_outdated = True
        self._is_urgent |= is_urgent
        self._wake.set()

    def stop(self) -> None:
        """End the thread. May be called again."""
        with self._starting:
            self._closing = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join()

    def close(self) -> None:
        """End the thread and give up the files. May be called again."""
        self.stop()
        self._replace(None)

    # --- on the index thread ---

    def _run(self) -> None:
        while self._wait_until_quiet():
            self._try(self.build)

    def _try(self, step: Callable[[], object]) -> None:
        try:
            step()
        except InterruptedError:  # by `close`
            pass
        except (sqlite3.Error, StoreError, OSError) as error:
            _log.info("The plants could not be indexed: %s", error)

    def _wait_until_quiet(self) -> bool:
        """Wait until the index is outdated and the store is idle, or many were added; return False after `close`."""
        while not self._closing and not self._is_urgent:
            rest = min(self._changed_at + _QUIET, self._outdated_at + _MAX_LAG) - time.monotonic()
            if self._is_outdated and rest <= 0:
                break
            self._wake.wait(rest if self._is_outdated else None)
            self._wake.clear()
        self._is_outdated = self._is_urgent = False
        return not self._closing

    def adopt(self) -> None:
        """Use the index that was kept, if there is one. Raises OSError."""
        from plantdesk.store.sqlite.files.index_folder import locked_folder

        epoch, generation = self._epoch, self._file.generation
        folder = self._note.folder if self._note is not None else None
        if folder is None:
            return
        with ExitStack() as stack:
            stack.enter_context(locked_folder(folder))
            found = _read(folder, self._file.epoch)
            if found is not None:
                found = found._replace(generation=generation, epoch=epoch, release=stack.pop_all().close)
                self._replace(found)

    def build(self) -> None:
        """Build the index, unless it is recent or there are few plants, in the calling thread.

        Where most plants are in the one that there is, the others are added to a copy of it. Searches can use the texts
        while the orders are sorted. Raises StoreError, sqlite3.Error, OSError, and InterruptedError after `close`.
        """
        from plantdesk.store.sqlite.files.index_folder import index_folder, write_sealed

        before, epoch, generation, file_epoch = self._built, self._epoch, self._file.generation, self._file.epoch
        with ExitStack() as files, translate_errors(), closing(self._file.connect()) as connection:
            connection.set_progress_handler(lambda: self._closing, _PROGRESS_STEPS)  # true ends the statement
            (plants,) = connection.execute("SELECT count(*) FROM plant").fetchone()
            if plants < self._min_plants or self._is_recent(connection):
                return
            folder = files.enter_context(index_folder() if self._note is None else self._note.new_folder())
            try:
                built = self._write_texts(connection, folder)._replace(generation=generation, epoch=epoch)
                self._built = built
                built = self._sort(connection, folder, built)
                built = built._replace(counts=count_plants(connection, built.counts, file_epoch))
                write_sealed(folder / _DESCRIPTION, _description(built))
            except BaseException:
                self._built = before
                raise
            built = built._replace(release=files.pop_all().close)
        self._built = before
        self._replace(built)
        if self._note is not None:
            self._note.offer(folder, generation, file_epoch)

    def _write_texts(self, connection: sqlite3.Connection, folder: Path) -> Indexed:
        """Return an index of all plants, whose orders are those of the index before, if any."""
        known, texts = self.indexed, folder / _TEXTS
        if known is not None and not _has_most(known, connection):
            known = None
        if known is not None:
            shutil.copyfile(known.checked(known.texts), texts)
        connection.execute("ATTACH ? AS made", (str(texts),))
        connection.execute("PRAGMA made.journal_mode = OFF")
        connection.execute("PRAGMA made.synchronous = OFF")
        with transaction(connection, mode="DEFERRED"):  # one snapshot
            seq = last_seq(connection)
            if known is None:
                for sql in (text_index.CREATE_TABLE, *text_index.CREATE_TABLES):
                    connection.execute(sql.format("made"))
                change = last_number(connection)
                known = Indexed(0, None, 0, 0, change, Edits(change), texts, None, {}, 0, 0, None, {}, _release)
                letters = text_index.write_letters(connection, "made", self._pause)
            else:
                letters = known.letters and text_index.add_letters(
                    connection, "made", self._pause, known.letters, known.seq
                )
            text_index.write_words(connection, "made", known.seq)
        return known._replace(seq=seq, texts=texts, letters=letters)

    def _sort(self, connection: sqlite3.Connection, folder: Path, built: Indexed) -> Indexed:
        with transaction(connection, mode="DEFERRED"):  # one snapshot
            seq = last_seq(connection)
            counted, tagged = connection.execute("SELECT count(*), count(tag) FROM plant").fetchone()
            orders = {order: self._write(connection, order, folder / order) for order in _ORDERS}
        return built._replace(sorted_seq=seq, orders=orders, plants=counted, tagged=tagged)

    def _replace(self, built: Indexed | None) -> None:
        before, self._built = self._built, built
        if before is not None:
            before.release()

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


def _has_most(index: Indexed, connection: sqlite3.Connection) -> bool:
    edited = index.edited(connection)
    return edited is not None and len(edited) < MAX_CHANGED // 2


def _release() -> None:
    """Leave the files to the index that replaces this one."""


def _description(built: Indexed) -> dict[str, object]:
    """Return what `_read` needs, as JSON: with checksums, since nothing was flushed to the disk."""
    from plantdesk.store.sqlite.files.index_folder import checksum

    letters = built.letters and [[*each] for each in built.letters]
    numbers = [built.seq, built.sorted_seq, built.change, built.plants, built.tagged]
    checks = {path.name: checksum(path) for path in (built.texts, *built.orders.values())}
    counts = built.counts and stored_counts(built.counts)
    return {"version": _VERSION, "numbers": numbers, "letters": letters, "checks": checks, "counts": counts}


def _read(folder: Path, file_epoch: int) -> Indexed | None:
    """Return the index in a folder; None where it is of another version or damaged. Raises OSError."""
    from plantdesk.store.sqlite.files.index_folder import read_sealed
    from plantdesk.store.sqlite.text_index import Letters

    found = read_sealed(folder / _DESCRIPTION)
    if found is None or found["version"] != _VERSION:
        return None
    seq, sorted_seq, change, plants, tagged = found["numbers"]
    letters = found["letters"] and Letters(*map(frozenset, found["letters"]))
    counts = found["counts"] and restored_counts(found["counts"], file_epoch)
    snapshot = (seq, sorted_seq, change, Edits(change))
    files = (folder / _TEXTS, letters, {order: folder / order for order in _ORDERS})
    return Indexed(0, None, *snapshot, *files, plants, tagged, counts, found["checks"], _release)
