"""The model of the table, for a million rows: `data()` reads nothing from the store.

The order of the rows is one array of ids (8 MB per million); the rows themselves are read in pages into a cache. Cells
of a row that is not there yet show "…".
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt, QTimer, Signal, Slot
from typing_extensions import override

from plantdesk.domain.search import parse_search
from plantdesk.ui.plants.table.cells import PENDING, Column, cell_text, column_title, spoken_text, tool_tip
from plantdesk.ui.plants.table.live_order import LiveOrder, Query, view_of
from plantdesk.ui.plants.table.queries import PageCache, rows_of

if TYPE_CHECKING:
    from plantdesk.domain.protocols import PlantStore
    from plantdesk.domain.records import Changes, PlantRow
    from plantdesk.ui.bridge import Bridge
    from plantdesk.ui.qt import Index

#: The role under which a delegate gets the PlantRow itself, None while it is not there.
PLANT_ROLE = Qt.ItemDataRole.UserRole

_ROW_FLAGS = (  # constant: Qt asks three times for each cell that it paints
    Qt.ItemFlag.ItemIsSelectable
    | Qt.ItemFlag.ItemIsEnabled
    | Qt.ItemFlag.ItemIsDragEnabled
    | Qt.ItemFlag.ItemNeverHasChildren
)
_ALIGNMENT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_PREFETCH_ROWS = 100
_MAX_PAGE = 2000
_MAX_PAINTED = 500
#: After a page could not be read, until the rows on the screen are asked for again.
_RETRY_DELAY_MS = 2000


class PlantModel(QAbstractTableModel):
    """The plants of a store that a query finds. Belongs to the GUI thread; store errors are signalled, never raised.

    `busy_changed`: another query was requested, or its first rows are there. `rows_replaced(retained_rows,
    same_query)`: all rows were replaced; `retained_rows` are the rows of the retained ids.
    `retained_rows_found(retained_rows)`: the same of rows that were loaded later. `removing(first, last)`: these rows
    are removed next, also to be inserted elsewhere. `count_changed`: `rowCount()`, `total` or `complete` changed.
    `rows_added(ids)`: added plants are in the rows now. `checked(plant_id, found)` answers `check`,
    `name_found(plant_id)` answers `find_name`.
    """

    busy_changed = Signal(bool)
    rows_replaced = Signal(object, bool)
    retained_rows_found = Signal(object)
    rows_added = Signal(object)
    removing = Signal(int, int)
    checked = Signal(object, bool)
    name_found = Signal(object)
    count_changed = Signal()
    failed = Signal(object)

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        #: The query that was requested last; the rows may still be those of the previous one.
        self.query = Query()
        self._order: LiveOrder | None = None
        self._cache: PageCache | None = None
        self._retained: Callable[[], frozenset[int]] = frozenset
        self._draft: PlantRow | None = None
        self._missing: set[int] = set()
        self._painted: dict[int, int] = {}  # the rows of plants, as they were when last painted
        self._page_timer = QTimer(self, singleShot=True, interval=0)
        self._page_timer.timeout.connect(self._ask_for_page)
        self._retry_timer = QTimer(self, singleShot=True, interval=_RETRY_DELAY_MS)
        self._retry_timer.timeout.connect(self._repaint_all)

    @property
    def shown_query(self) -> Query:
        """The query of the rows."""
        return self.query if self._order is None else self._order.shown_query

    @property
    def total(self) -> int | None:
        """The number of plants in the store, None until it is known."""
        return self._order.total if self._order is not None else None

    @property
    def complete(self) -> bool:
        """Whether all rows of the query are loaded, so that their number is known."""
        return self._order is not None and self._order.complete

    @property
    def is_current(self) -> bool:
        """Whether all rows are loaded, and nothing is known to have changed since."""
        return self._order is not None and self._order.is_current

    @property
    def busy(self) -> bool:
        """Whether the rows are still those of the previous query."""
        return self._order is not None and self._order.busy

    @property
    def failed_to_load(self) -> bool:
        """Whether the query failed, so that the rows are another query's or incomplete."""
        return self._order is not None and self._order.failed_to_load

    def set_store(self, store: PlantStore) -> None:
        """Show the plants of `store`."""
        self.close()
        self.beginResetModel()
        self._cache = PageCache(self._bridge, store, self)
        self._cache.loaded.connect(self._repaint_all)
        self._cache.checked.connect(self.checked)
        self._cache.found.connect(self.name_found)
        self._cache.failed.connect(self._on_page_failed)
        self._order = LiveOrder(self._bridge, store, self._retained, self)
        self.endResetModel()
        self._follow(self._order)
        self._order.load(self.query)

    def keep(self, retained: Callable[[], frozenset[int]]) -> None:
        """Call `retained` before each query for the ids whose rows are to be reported; to be set before the store."""
        self._retained = retained

    def show(self, query: Query) -> None:
        """Show the rows of another query; the previous rows stay until the first new ones are there."""
        if query == self.query:
            return
        self.query = query
        if self._order is not None:
            self._order.load(query)
            self.count_changed.emit()

    @Slot()
    def reload_if_relative(self) -> None:
        """Compare the rows with the store if another day means other plants: the date has changed."""
        if self._order is not None and parse_search(self.query.text).depends_on_today:
            self._order.refresh_later()
        self._repaint_all()  # times of today are shown as yesterday's

    def retry(self) -> None:
        """Repeat now what failed; by itself this happens every two seconds."""
        if self._order is not None:
            self._order.retry()
            self._repaint_all()

    def apply(self, changes: Changes) -> None:
        """Show what a commit changed."""
        if self._order is None or self._cache is None:
            return
        if changes.needs_reload:
            self._cache.expire()
            self._repaint_all()  # what is painted is asked for
            self._order.refresh_later()
        if changes.added:
            self._cache.put(changes.added)
            self._order.add([row.id for row in changes.added])
            self.count_changed.emit()
        if changes.updated or changes.removed:
            self._cache.put(changes.updated)
            self._order.update([row.id for row in changes.updated], changes.removed, self.row_of)
            self._repaint([row.id for row in changes.updated])

    def show_draft(self, row: PlantRow | None) -> None:
        """Show a plant as it is being edited; None: as the store has it, once it was read again."""
        before, self._draft = self._draft, row
        if self._cache is not None and before is not None:
            self._cache.put([before])
            self._cache.expire(before.id)
        self._repaint([each.id for each in (before, row) if each is not None])

    def check(self, plant_id: int) -> None:
        """Check whether the current search finds a plant."""
        if self._cache is not None:
            self._cache.check(plant_id, self.query.text)

    @Slot(str)
    def find_name(self, start: str) -> None:
        """Find the first of the rows whose name begins with `start`."""
        if self._cache is not None:
            self._cache.find(view_of(self.query), start)

    def close(self) -> None:
        """End the threads, before the store is closed, and forget the rows."""
        if self._order is None or self._cache is None:
            return
        self._order.close()
        self._cache.close()
        self.beginResetModel()
        self._order = self._cache = None
        self.endResetModel()

    def read(self, first: int, last: int) -> None:
        """Ask for rows that will be painted, so that most are loaded then."""
        cache = self._cache
        missing = [each for each in self.ids_between(first, last) if cache is not None and cache.is_missing(each)]
        if cache is not None and missing:
            cache.ask(missing)
        else:
            self._repaint_all()

    def id_at(self, row: int) -> int:
        """Return the id of the plant in a row."""
        return self._ids()[row]

    def ids_between(self, first: int, last: int) -> array[int]:
        """Return the ids of the rows from `first` to `last`, both included."""
        return self._ids()[first : last + 1]

    def row_of(self, plant_id: int) -> int | None:
        """Return the row of a plant, None when it is not loaded. Takes 10 ms at a million rows unless painted."""
        painted = self._painted_row(plant_id)
        try:
            return self._ids().index(plant_id) if painted is None else painted
        except ValueError:
            return None

    def loaded_row(self, plant_id: int) -> PlantRow | None:
        """Return what is loaded of a plant, long texts cut."""
        return self._cache.row(plant_id) if self._cache is not None else None

    def rows_of(self, plant_ids: Collection[int]) -> dict[int, int]:
        """Return the rows of those plants that are loaded. Takes 70 ms at a million rows."""
        return rows_of(frozenset(plant_ids), self._ids())

    @override
    def rowCount(self, parent: Index | None = None) -> int:
        inner = parent is not None and parent.isValid()
        return 0 if inner or self._order is None else len(self._order.ids)

    @override
    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(Column)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or role not in _ROLES:
            return None
        column = Column(index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _ALIGNMENT
        row = self._row(index.row())
        if role == PLANT_ROLE:
            return row
        return _TEXTS[role](row, column) if row is not None else PENDING

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        return _ROW_FLAGS if index.isValid() else Qt.ItemFlag.NoItemFlags

    @override
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(Column):
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _ALIGNMENT
        return column_title(Column(section)) if role == Qt.ItemDataRole.DisplayRole else None

    @override
    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        descending = order is Qt.SortOrder.DescendingOrder
        self.show(self.query._replace(column=Column(column), descending=descending))

    @Slot()
    def _ask_for_page(self) -> None:
        """Ask for the rows that were painted without being loaded, and for those around them."""
        missing, self._missing = sorted(self._missing), set()
        if self._cache is None or not missing:
            return
        ids, cache = self._ids(), self._cache
        rows: Iterable[int] = range(max(missing[0] - _PREFETCH_ROWS, 0), min(missing[-1] + _PREFETCH_ROWS, len(ids)))
        if missing[-1] - missing[0] > _MAX_PAGE:  # not one screen: single rows are read here and there
            rows = [row for row in missing[:_MAX_PAGE] if row < len(ids)]
        cache.ask([ids[row] for row in rows if cache.is_missing(ids[row])])

    @Slot(object)
    def _on_page_failed(self, error: Exception) -> None:
        self._retry_timer.start()
        self.failed.emit(error)

    @Slot()
    def _repaint_all(self) -> None:
        rows = self.rowCount()
        if rows:
            self.dataChanged.emit(self.index(0, 0), self.index(rows - 1, len(Column) - 1))

    @Slot()
    def _on_replacing(self) -> None:
        self.beginResetModel()
        self._missing.clear()

    @Slot(object, bool)
    def _on_replaced(self, retained_rows: dict[int, int], same_query: bool) -> None:
        self.endResetModel()
        self.rows_replaced.emit(retained_rows, same_query)

    @Slot(int, int)
    def _on_inserting(self, first: int, last: int) -> None:
        self.beginInsertRows(QModelIndex(), first, last)

    @Slot(int, int)
    def _on_removing(self, first: int, last: int) -> None:
        self.removing.emit(first, last)
        self.beginRemoveRows(QModelIndex(), first, last)

    def _repaint(self, plant_ids: list[int]) -> None:
        """Paint the rows of changed plants, where they are painted; all rows take 10 ms."""
        for row in map(self._painted_row, plant_ids):
            if row is not None:
                self.dataChanged.emit(self.index(row, 0), self.index(row, len(Column) - 1))

    def _painted_row(self, plant_id: int) -> int | None:
        row, ids = self._painted.get(plant_id), self._ids()
        return row if row is not None and row < len(ids) and ids[row] == plant_id else None

    def _follow(self, order: LiveOrder) -> None:
        order.replacing.connect(self._on_replacing)
        order.replaced.connect(self._on_replaced)
        order.inserting.connect(self._on_inserting)
        order.inserted.connect(self.endInsertRows)
        order.removing.connect(self._on_removing)
        order.removed.connect(self.endRemoveRows)
        order.retained_rows_found.connect(self.retained_rows_found)
        order.rows_added.connect(self.rows_added)
        order.busy_changed.connect(self.busy_changed)
        order.count_changed.connect(self.count_changed)
        order.failed.connect(self.failed)

    def _ids(self) -> array[int]:
        return self._order.ids if self._order is not None else array("q")

    def _row(self, row: int) -> PlantRow | None:
        """Return what is known of a row, and note it when the store has to be asked."""
        if self._cache is None:
            return None
        plant_id = self._ids()[row]
        self._painted.pop(plant_id, None)  # so that it counts as the newest
        self._painted[plant_id] = row
        if len(self._painted) > _MAX_PAINTED:
            del self._painted[next(iter(self._painted))]
        if self._cache.is_missing(plant_id):
            self._missing.add(row)
            if not self._page_timer.isActive():
                self._page_timer.start()
        is_draft = self._draft is not None and self._draft.id == plant_id
        return self._draft if is_draft else self._cache.row(plant_id)


_TEXTS: dict[int, Callable[[PlantRow, Column], str | None]] = {
    Qt.ItemDataRole.DisplayRole: cell_text,
    Qt.ItemDataRole.ToolTipRole: tool_tip,
    Qt.ItemDataRole.AccessibleTextRole: spoken_text,
}
_ROLES = {*_TEXTS, PLANT_ROLE, Qt.ItemDataRole.TextAlignmentRole}
