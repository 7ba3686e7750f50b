"""What the columns must have room for: the widest id, and whether plants have several sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from plantdesk.records import Changes
    from plantdesk.store import PlantReader
    from plantdesk.ui.background import Task
    from plantdesk.ui.store_queries import StoreQueries


class _Found(NamedTuple):
    """The smallest and the largest id, and the sources of plants: all of them, or two."""

    ids: tuple[int, ...]
    sources: frozenset[int]


class TableContents(QObject):
    """Knows the contents of the store without reading its plants. Plants that are removed are still counted.

    `changed`: `widest_id` or `has_sources` is another one.
    """

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._queries: StoreQueries | None = None
        self._sources: frozenset[int] = frozenset()
        self.widest_id = ""

    @property
    def has_sources(self) -> bool:
        """Whether plants have more than one source."""
        return len(self._sources) > 1

    def set_store(self, queries: StoreQueries | None) -> None:
        """Read the contents of another store; None: forget them."""
        self._queries = queries
        self._sources = frozenset()
        self.widest_id = ""
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
        self._add(list(found.ids), set(found.sources))

    def _add(self, ids: list[int], sources: set[int]) -> None:
        before = self.widest_id, self.has_sources
        self._sources |= sources
        self.widest_id = max((self.widest_id, *(str(plant_id) for plant_id in ids)), key=len)
        if (self.widest_id, self.has_sources) != before:
            self.changed.emit()


def _find(reader: PlantReader, _task: Task) -> _Found:
    from plantdesk.store import Order, View

    ends = (next(reader.ids(View(order=Order.ID, descending=descending)), ()) for descending in (False, True))
    return _Found(tuple(plant_id for ids in ends for plant_id in ids[:1]), frozenset(reader.two_sources()))
