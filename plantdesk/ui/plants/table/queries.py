"""What the table reads: the order of the rows on its own thread, and recently used rows by id."""

from __future__ import annotations

import logging
from array import array
from collections import deque
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Signal

from plantdesk.domain.protocols import FindsRows
from plantdesk.domain.search import parse_search
from plantdesk.ui.background import StoreQueries

if TYPE_CHECKING:
    from plantdesk.domain.protocols import PlantReader, PlantStore
    from plantdesk.domain.records import PlantRow
    from plantdesk.domain.views import InsertionPoint, View
    from plantdesk.ui.background import Task
    from plantdesk.ui.bridge import Bridge


_log = logging.getLogger(__name__)

#: More ids are found by comparing each of the list.
_MAX_SEARCHED = 10
_BYTES = 8


def rows_of(requested: frozenset[int], ids: array[int]) -> dict[int, int]:
    """Return the positions of those of `requested` that are in `ids`.

    A search of bytes takes 1 to 4 ms for each in a million, comparing each id 40 to 70, in which no other thread runs.
    """
    if len(requested) > _MAX_SEARCHED:
        return {plant_id: row for row, plant_id in enumerate(ids) if plant_id in requested}
    data = ids.tobytes()
    found = {plant_id: _row_of(plant_id, data) for plant_id in requested}
    return {plant_id: row for plant_id, row in found.items() if row is not None}


def _row_of(plant_id: int, data: bytes) -> int | None:
    pattern = array("q", [plant_id]).tobytes()
    at = data.find(pattern)
    while at >= 0 and at % _BYTES:  # the end of one id and the beginning of the next
        at = data.find(pattern, at + 1)
    return at // _BYTES if at >= 0 else None


#: How far a row is searched for after a difference, and the largest number of edits.
_MAX_DISTANCE = 2048
_MAX_EDITS = 128


class Edit(NamedTuple):
    """At `row` of the old list, `removed` rows are removed and the ids `inserted` are inserted."""

    row: int
    removed: int
    inserted: array[int]


def id_list_diff(old: array[int], new: array[int]) -> list[Edit] | None:
    """Return the edits in ascending order of rows.

    None when the lists differ in too many places, or when a row moved: the selection loses a row that is removed and
    inserted again.
    """
    edits: list[Edit] = []
    row = at = 0
    while len(edits) <= _MAX_EDITS:
        same = _same(old, row, new, at)
        row, at = row + same, at + same
        if row == len(old) or at == len(new):
            edits += _rest(old, row, new, at)
            return None if _moves(old, edits) else edits
        removed, inserted = _difference(old, row, new, at)
        edits.append(Edit(row, removed, new[at : at + inserted]))
        row, at = row + removed, at + inserted
    return None


def _moves(old: array[int], edits: list[Edit]) -> bool:
    removed = {plant_id for edit in edits for plant_id in old[edit.row : edit.row + edit.removed]}
    return not removed.isdisjoint(plant_id for edit in edits for plant_id in edit.inserted)


def _same(old: array[int], row: int, new: array[int], at: int) -> int:
    """Return the number of equal ids from here on; whole blocks are compared at once."""
    most = min(len(old) - row, len(new) - at)
    equal, step = 0, 1024
    while equal < most:
        step = min(step, most - equal)
        if old[row + equal : row + equal + step] == new[at + equal : at + equal + step]:
            equal += step
            step *= 2
        elif step == 1:
            break
        else:
            step = max(1, step // 2)
    return equal


def _difference(old: array[int], row: int, new: array[int], at: int) -> tuple[int, int]:
    """Return how many rows are removed and inserted here, by the nearer common id."""
    inserted = _distance(new, at, old[row])
    removed = _distance(old, row, new[at])
    if inserted is None and removed is None:
        return 1, 1
    if removed is None or (inserted is not None and inserted <= removed):
        return 0, inserted or 0
    return removed, 0


def _distance(ids: array[int], start: int, requested: int) -> int | None:
    try:
        return ids.index(requested, start, start + _MAX_DISTANCE) - start
    except ValueError:
        return None


def _rest(old: array[int], row: int, new: array[int], at: int) -> list[Edit]:
    if row == len(old) and at == len(new):
        return []
    return [Edit(row, len(old) - row, new[at:])]


#: Ids that differ in these bits are known to be different: those of a million plants, as a rule.
_COMPARED_BITS = 2**21 - 1


class _Listing:
    """The ids that a reader lists for a view. An id that it has listed already, which is a defect, is left out.

    A byte for each value of some bits tells whether an id may be there already. A set of a million ids takes 70 MB.
    """

    def __init__(self) -> None:
        self.ids = array("q")
        self._taken = bytearray(_COMPARED_BITS + 1)

    def new(self, ids: array[int]) -> array[int]:
        """Return the ids that were not listed yet, and list them."""
        taken, maybe_listed = self._taken, set[int]()
        for plant_id in ids:
            bits = plant_id & _COMPARED_BITS
            if taken[bits]:
                maybe_listed.add(plant_id)
            taken[bits] = 1
        new = self._without_listed(ids, maybe_listed) if maybe_listed else ids
        self.ids += new
        return new

    def _without_listed(self, ids: array[int], maybe_listed: set[int]) -> array[int]:
        listed, new = {plant_id for plant_id in self.ids if plant_id in maybe_listed}, array("q")
        for plant_id in ids:
            if plant_id not in listed:
                new.append(plant_id)
                if plant_id in maybe_listed:
                    listed.add(plant_id)
        if len(new) < len(ids):
            _log.error("The store listed plants of a view twice: %d", len(ids) - len(new))
        return new


class Chunk(NamedTuple):
    """A part of the order: its ids from row `start` on, and the rows of the retained ids among them."""

    start: int
    ids: array[int]
    retained_rows: dict[int, int]


class Refreshed(NamedTuple):
    """The order as it is now: as edits of the previous one, or whole (None) when there are too many."""

    edits: list[Edit] | None
    ids: array[int]
    retained_rows: dict[int, int]
    total: int


def load_order(reader: PlantReader, task: Task, view: View, retained: frozenset[int]) -> int:
    """Report the order of a view in chunks; return the number of plants in the store."""
    listing = _Listing()
    for chunk in reader.ids(view):
        if task.cancelled:
            raise InterruptedError
        start, ids = len(listing.ids), listing.new(chunk)
        task.report(Chunk(start, ids, {plant_id: start + row for plant_id, row in rows_of(retained, ids).items()}))
    return len(listing.ids) if view.plants.is_everything else reader.count()


def refresh_order(reader: PlantReader, task: Task, view: View, retained: frozenset[int], old: array[int]) -> Refreshed:
    """Compare the order of a view with `old`, which must not change meanwhile."""
    listing = _Listing()
    for chunk in reader.ids(view):
        if task.cancelled:
            raise InterruptedError
        listing.new(chunk)
    ids = listing.ids
    edits = id_list_diff(old, ids)
    retained_rows = rows_of(retained, ids) if edits is None else {}
    total = len(ids) if view.plants.is_everything else reader.count()
    return Refreshed(edits, ids, retained_rows, total)


def matching_ids(reader: PlantReader, _task: Task, view: View, ids: Sequence[int]) -> list[int]:
    """Return those of `ids` that are in a view, in the same sequence."""
    found = reader.matching(ids, view)
    return [plant_id for plant_id in ids if plant_id in found]


def insertion_points_of(
    reader: PlantReader, _task: Task, view: View, ids: Sequence[int], known: array[int]
) -> list[InsertionPoint] | None:
    """Return where those of `ids` that are in a view belong among `known`; None: the view has to be read again."""
    points = reader.insertion_points(ids, view, known) if isinstance(reader, FindsRows) else None
    new = {point.id: point for point in points or ()}
    if points and (len(new) < len(points) or rows_of(frozenset(new), known)):
        _log.error("The store gave rows to plants that are listed already")
        return None
    return points


_MAX_ROWS = 8000
#: Characters; a name may be a megabyte long, a cell and its tooltip show no more than this.
MAX_TEXT = 600
#: While the user drags the scroll bar, only the newest pages are worth reading.
_MAX_WAITING = 6


class PageCache(QObject):
    """Rows by id. Belongs to the GUI thread.

    `loaded`: requested rows are loaded. `checked(plant_id, found)` answers `check`, `found(plant_id)` answers `find`.
    """

    loaded = Signal()
    checked = Signal(object, bool)
    found = Signal(object)
    failed = Signal(object)

    def __init__(self, bridge: Bridge, store: PlantStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: dict[int, PlantRow | None] = {}
        self._expired: set[int] = set()
        self._waiting: deque[Sequence[int]] = deque(maxlen=_MAX_WAITING)
        #: Pages that are being read, the rows that became known since the first was asked for, and whether all expired.
        self._reading = 0
        self._known: set[int] = set()
        self._is_outdated = False
        self._finding: Task | None = None
        self._worker = bridge.worker("plant-pages")
        self._queries = StoreQueries(self._worker, store)

    def row(self, plant_id: int) -> PlantRow | None:
        """Return a row if it is loaded, its texts shortened; an expired one until it is read again."""
        return self._rows.get(plant_id)

    def is_missing(self, plant_id: int) -> bool:
        """Whether the row has to be read. A row that the store no longer has counts as loaded."""
        return plant_id not in self._rows or plant_id in self._expired

    def ask(self, ids: Sequence[int]) -> None:
        """Read the rows of `ids` in the background. When too many pages wait, the oldest are dropped."""
        self._waiting.append(ids)
        self._reading += 1
        self._queries.ask(self, self._read, self._on_read, self._on_failed)

    def check(self, plant_id: int, text: str) -> None:
        """Check whether a search for `text` finds a plant."""

        def matches(reader: PlantReader, _task: Task) -> bool:
            from plantdesk.domain.views import View

            return bool(reader.matching([plant_id], View(parse_search(text))))

        self._queries.ask(self, matches, lambda found: self.checked.emit(plant_id, found), self.failed.emit)

    def find(self, view: View, start: str) -> None:
        """Find the first plant of a view whose name begins with `start`, instead of what was searched before."""

        def first(reader: PlantReader, _task: Task) -> int | None:
            return reader.first_with_name(view, start)

        if self._finding is not None:
            self._finding.cancel()
        self._finding = self._queries.ask(self, first, self._on_found, self.failed.emit)

    def put(self, rows: Iterable[PlantRow]) -> None:
        """Store rows that are known already."""
        for row in rows:
            self._set(row.id, _cut(row))
            if self._reading:
                self._known.add(row.id)
        self._trim()

    def expire(self, plant_id: int | None = None) -> None:
        """Read a row, by default every one, again when it is next needed: it may have changed."""
        if plant_id is None:
            self._expired |= self._rows.keys()
            self._is_outdated = self._reading > 0
        else:
            self._expired.add(plant_id)
            if self._reading:
                self._known.add(plant_id)

    def close(self) -> None:
        """Cancel the queries and end the thread; no signal follows."""
        self._queries.close()
        self._worker.close()

    def _read(self, reader: PlantReader, _task: Task) -> dict[int, PlantRow | None]:
        """Read the newest page that waits; on the thread of the pages."""
        try:
            ids = self._waiting.pop()
        except IndexError:  # the page was dropped, its query was not
            return {}
        rows = reader.rows_cut(ids, MAX_TEXT)
        return {plant_id: _cut(rows[plant_id]) if plant_id in rows else None for plant_id in ids}

    def _on_found(self, plant_id: int | None) -> None:
        if plant_id is not None:
            self.found.emit(plant_id)

    def _on_read(self, rows: dict[int, PlantRow | None]) -> None:
        """Store a page; what became known or expired while it was read may be newer than the page."""
        for plant_id, row in rows.items():
            if plant_id not in self._known:
                self._set(plant_id, row)
                if self._is_outdated:
                    self._expired.add(plant_id)
        self._end_reading()
        self._trim()
        if rows:
            self.loaded.emit()

    def _on_failed(self, error: Exception) -> None:
        self._end_reading()
        self.failed.emit(error)

    def _end_reading(self) -> None:
        self._reading -= 1
        if not self._reading:
            self._known.clear()
            self._is_outdated = False

    def _set(self, plant_id: int, row: PlantRow | None) -> None:
        self._rows.pop(plant_id, None)  # so that it counts as the newest
        self._rows[plant_id] = row
        self._expired.discard(plant_id)

    def _trim(self) -> None:
        """Remove the rows that were read first."""
        while len(self._rows) > _MAX_ROWS:
            plant_id = next(iter(self._rows))
            del self._rows[plant_id]
            self._expired.discard(plant_id)


def _cut(row: PlantRow) -> PlantRow:
    tag = row.tag[:MAX_TEXT] if row.tag is not None else None
    return row._replace(name=row.name[:MAX_TEXT], tag=tag, note=None)
