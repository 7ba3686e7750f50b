"""What the columns must have room for: the widest id, and whether plants have several sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from plantdesk.domain.protocols import PlantReader
    from plantdesk.domain.records import Changes
    from plantdesk.ui.background import Task
    from plantdesk.ui.store_queries import StoreQueries


class _Found(NamedTuple):
    """The smallest and the largest id, and the sources of plants: all of them, or two."""

    ids: tuple[int, ...]
    sources: frozenset[int]


class TableContents(QObject):
    """Knows the contents of the store without reading its plants. Plants that are removed are still counted.

    `changed`: `widest_id` or `had_sources` is another one. `second_source`: plants come from a second source now.
    """

    changed = Signal()
    second_source = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._queries: StoreQueries | None = None
        self._sources: frozenset[int] = frozenset()
        self._is_read = False
        self.widest_id = ""
        #: Whether plants had more than one source when the store was opened.
        self.had_sources = False

    def set_store(self, queries: StoreQueries | None) -> None:
        """Read the contents of another store; None: forget them."""
        self._queries = queries
        self._sources = frozenset()
        self.widest_id, self.had_sources, self._is_read = "", False, False
        self._read()

    def apply(self, changes: Changes) -> None:
        """Take over what a commit added."""
        if changes.needs_reload:
            self._read()
        added = (*changes.added, *changes.updated)
        if added:
            self._add([row.id for row in added], {row.source.id for row in added})

    def _read(self) -> None:
        if self._queries is not None:
            self._queries.ask(self, _find, self._on_found)

    def _on_found(self, found: _Found) -> None:
        if not self._is_read:
            self._is_read = True
            self._sources |= found.sources
            self.had_sources = len(self._sources) > 1
            self.changed.emit()
        self._add(list(found.ids), set(found.sources))

    def _add(self, ids: list[int], sources: set[int]) -> None:
        before, number = self.widest_id, len(self._sources)
        self._sources |= sources
        self.widest_id = max((self.widest_id, *(str(plant_id) for plant_id in ids)), key=len)
        if self.widest_id != before:
            self.changed.emit()
        if self._is_read and number == 1 < len(self._sources):
            self.second_source.emit()


def _find(reader: PlantReader, _task: Task) -> _Found:
    from plantdesk.domain.views import Order, View

    ends = (next(reader.ids(View(order=Order.ID, descending=descending)), ()) for descending in (False, True))
    return _Found(tuple(plant_id for ids in ends for plant_id in ids[:1]), frozenset(reader.two_sources()))
