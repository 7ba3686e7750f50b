"""Search bar and table of the plants, or a page instead of the table when it has no rows."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QStackedLayout, QVBoxLayout, QWidget

from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import Changes, PlantRow
from plantdesk.transfer.formats import Format
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.event_loop import Midnight
from plantdesk.ui.plants.search_bar import SearchBar
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.clipboard import RowCopier
from plantdesk.ui.plants.table.model import PlantModel
from plantdesk.ui.plants.table.row_order import RowsState
from plantdesk.ui.plants.table.view import PlantTableView
from plantdesk.ui.qt import STRETCH, fill, mirrored
from plantdesk.ui.texts import error_text
from plantdesk.ui.theme.metrics import EDGE, M, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.containers import SCROLL_BAR_WIDTH, ScrollArea
from plantdesk.ui.widgets.painting import StatePage
from plantdesk.ui.widgets.plain_text import PlainLabel, announce

#: The indent of the table, whose texts have a margin of their own.
_TABLE_INDENT = EDGE - M
#: Milliseconds after the last key until the count is announced to screen readers.
_ANNOUNCE_AFTER_MS = 600


class WelcomePage(StatePage):
    """The page that replaces the table of an empty store. Each of its buttons emits a signal."""

    undo_requested = Signal()
    samples_requested = Signal()
    import_requested = Signal()
    access_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "sprout", "accent", self.tr("No plants yet"))
        self.set_text(
            self.tr("Type a name above and press Enter. You can also drop a file here, or paste rows of a table.")
        )
        #: Shown while there is something to undo.
        self.undo_button = self.add_button(self.tr("Undo"))
        self.undo_button.hide()
        self._samples_button = self.add_button(self.tr("Add 20 sample plants"))
        self.undo_button.clicked.connect(self.undo_requested)
        self._samples_button.clicked.connect(self.samples_requested)
        self.add_button(self.tr("Import…")).clicked.connect(self.import_requested)
        access_button = QPushButton(self.tr("API access…"))
        access_button.setProperty("variant", "quiet")
        access_button.clicked.connect(self.access_requested)
        programs_label = PlainLabel(self.tr("Programs on this computer can add plants, too:"), tone="muted")
        self.add_line(fill(QHBoxLayout(), STRETCH, programs_label, access_button, STRETCH, spacing=S))

    def show_store(self, *, had_plants: bool, offers_samples: bool) -> None:
        """Show whether there were plants before, and whether sample plants can be added."""
        self.set_title(self.tr("No plants any more") if had_plants else self.tr("No plants yet"))
        self._samples_button.setVisible(offers_samples)


class PlantBrowser(QFrame):
    """The search bar above the table of plants, or above a page if the table has no rows."""

    #: (row) The search does not find the plant of `reveal_added`.
    added_hidden = Signal(object)
    #: The first rows, or the reason why there are none, are on the screen.
    plants_shown = Signal()
    #: (is_shown) The page of an empty store was shown or hidden; it may offer samples (`offers_samples`).
    welcome_shown = Signal(bool)

    def __init__(self, theme: Theme, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("pane", "list")
        self._theme = theme
        self.copier = RowCopier(bridge, self)
        self._revealed: PlantRow | None = None
        self.offers_samples = self._had_plants = False
        self._ids_to_select: Sequence[int] = ()
        self.model = PlantModel(bridge, self)
        self.search_bar = SearchBar(theme, self)
        self.search_field = self.search_bar.field
        self.table = PlantTableView(self.model, theme, self)
        self._make_pages()
        self._announce_timer = QTimer(self, singleShot=True, interval=_ANNOUNCE_AFTER_MS)
        self._midnight = Midnight(self)
        self._lay_out()
        self._connect()

    def needed_width(self) -> int:
        """Return the least width, in pixels, at which there is enough room for the names."""
        return self.table.columns.needed_width() + _TABLE_INDENT + SCROLL_BAR_WIDTH

    def set_store(self, store: PlantStore) -> None:
        """Show the plants of `store`, and stop reading another one."""
        self.release_store()
        self._had_plants = False
        self.copier.store = store
        self.model.set_store(store)

    def release_store(self) -> None:
        """Stop reading the store, before it is closed. May be called twice."""
        self.model.close()
        self.copier.close()

    def apply(self, changes: Changes) -> None:
        """Update the rows after a commit, mark new ones, and select those that `select_soon` waits for."""
        self.model.apply(changes)
        if changes.added and self.model.rows.is_complete:
            self.table.background.mark(row.id for row in reversed(changes.added))
        ids = frozenset(self._ids_to_select)
        if ids and (changes.needs_reload or any(row.id in ids for row in (*changes.added, *changes.updated))):
            self.table.keeper.select(self._ids_to_select)
            self._ids_to_select = ()

    @Slot(object)
    def select_soon(self, plant_ids: Sequence[int]) -> None:
        """Select plants when the rows show the commit that has added or changed them."""
        self._ids_to_select = plant_ids

    @Slot(object)
    def reveal_added(self, row: PlantRow) -> None:
        """Scroll to an added plant, without changing the search; `added_hidden` if it has no row."""
        self._revealed = row
        if not self._show_revealed() and self.model.query.text:
            self.model.refresh()  # which tells whether the search finds it

    @Slot(object)
    def show_plant(self, plant_id: int, *, takes_focus: bool = True) -> None:
        """Select a plant, and scroll to it; clear the search if it does not find the plant."""
        if takes_focus:
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)
        is_found = self.table.keeper.go_to_plant(plant_id)
        if not is_found or self.model.rows.state is RowsState.LOADING:  # the rows may be those of an earlier search
            self.search_bar.clear()

    def set_order(self, order: str) -> None:
        """Sort by the column with this order name: times and IDs descending, other columns ascending."""
        column = next(column for column in Column if column.order == order)
        is_descending = column in {Column.ADDED, Column.ID}
        self.table.sortByColumn(column, Qt.SortOrder.DescendingOrder if is_descending else Qt.SortOrder.AscendingOrder)

    def copy_selection(self, file_format: Format | None = None) -> None:
        """Copy the selected rows in the background, in a file format; None: as cells for a spreadsheet."""
        if ids := self.table.selected_ids():
            self.copier.copy(ids, file_format)

    @Slot()
    def _on_page_changed(self) -> None:
        self.welcome_shown.emit(self._pages.currentWidget() is self._welcome_area)

    @Slot(str)
    def _on_search_changed(self, text: str) -> None:
        self._revealed = None
        self.model.show(self.model.query._replace(text=text))
        self._announce_timer.start()

    @Slot()
    def _on_state_changed(self) -> None:
        """Show the state of the rows; emit `added_hidden` if the search misses an added plant."""
        model = self.model
        rows = model.rows
        if rows.state is RowsState.LOADING:  # the rows are those of the previous query
            self.search_field.set_searching(is_searching=True)
            return
        self.search_bar.set_count(len(rows.ids) if rows.is_complete else None, rows.total)
        if rows.is_complete:
            self.search_field.set_searching(is_searching=False)
        self._show_state()
        revealed = self._revealed
        if revealed is not None and not self._show_revealed() and rows.is_current and model.query.text:
            self._revealed = None
            self.added_hidden.emit(revealed)

    @Slot()
    def _on_announce_due(self) -> None:
        if not self.model.rows.is_complete:
            self._announce_timer.start()
        elif self.search_field.hasFocus():
            text = self.search_bar.count_text() if self.model.rowCount() else self.tr("No plants match")
            announce(self.search_field, text)

    @Slot(object)
    def _on_failed(self, error: Exception) -> None:
        self._failed_page.set_text(error_text(error))
        self.search_field.set_searching(is_searching=False)
        self._show_state()

    @Slot()
    def _on_clear_clicked(self) -> None:
        self.search_field.setFocus()
        self.search_bar.clear()

    def _make_pages(self) -> None:
        #: The page that replaces the table while the store is empty.
        self.welcome = WelcomePage(self._theme)
        self._welcome_area = ScrollArea(self.welcome, horizontal=False)
        self._no_match_page = StatePage(self._theme, "search-x", "muted", self.tr("No plants match"))
        self._no_match_page.add_button(self.tr("Show all plants")).clicked.connect(self._on_clear_clicked)
        self._failed_page = StatePage(self._theme, "circle-alert", "error", self.tr("The plants cannot be shown"))
        self._failed_page.add_button(self.tr("Try again"), "refresh-cw").clicked.connect(self.model.retry)

    def _lay_out(self) -> None:
        self._pages = QStackedLayout()
        self._pages.currentChanged.connect(self._on_page_changed)
        # In a layout of its own: a stacked layout has no margins.
        pages = fill(QVBoxLayout(), self._pages, margins=mirrored(self, _TABLE_INDENT, 0, 0, 0))
        # Before its pages are added: the first one is shown, and must not be a window.
        fill(QVBoxLayout(self), self.search_bar, (pages, 1), margins=0, spacing=0)
        for page in (self.table, self._no_match_page, self._failed_page, self._welcome_area):
            self._pages.addWidget(page)

    def _connect(self) -> None:
        self.search_bar.changed.connect(self._on_search_changed)
        self.search_bar.top_requested.connect(self.table.jump_to_top)
        self.table.keeper.unseen_changed.connect(self.search_bar.set_new_plants)
        self._midnight.passed.connect(self.model.reload_if_relative)
        self.search_field.down_pressed.connect(self.table.go_to_first_row)
        self.model.state_changed.connect(self._on_state_changed)
        self.model.dataChanged.connect(self._notify_shown)  # a page was read
        self.model.failed.connect(self._on_failed)
        self.table.copy_requested.connect(self.copy_selection)
        self._announce_timer.timeout.connect(self._on_announce_due)

    @Slot()
    def _notify_shown(self) -> None:
        QTimer.singleShot(0, self, self.plants_shown.emit)  # after the paint

    def _show_revealed(self) -> bool:
        """Scroll to the plant of `reveal_added` if it has a row; return whether it has."""
        row = self.model.rows.row_of(self._revealed.id) if self._revealed is not None else None
        if row is None or self._revealed is None:
            return False
        self.table.background.mark([self._revealed.id])
        self.table.scrollTo(self.model.index(row, 0))
        self._revealed = None
        return True

    def _show_state(self) -> None:
        """Show the table, or a page with the reason why it has no rows; not for `RowsState.LOADING`."""
        rows = self.model.rows
        had_focus = self.table.hasFocus()
        if rows.state is RowsState.FAILED:
            self._pages.setCurrentWidget(self._failed_page)
        elif rows.ids:
            self._had_plants = True
            self._pages.setCurrentWidget(self.table)
        elif rows.is_complete:
            if self.model.query.text:
                self._no_match_page.set_text(self.search_bar.no_match_reason())
                self._pages.setCurrentWidget(self._no_match_page)
            else:
                self.welcome.show_store(had_plants=self._had_plants, offers_samples=self.offers_samples)
                self._pages.setCurrentWidget(self._welcome_area)
            if had_focus:  # else Qt focuses a button of the page, which the next key may press
                self.search_field.setFocus()
                # Clears the field's undo history, so that Ctrl+Z undoes the change of plants.
                self.search_field.setText(self.search_field.text())
        if (rows.is_complete or rows.state is RowsState.FAILED) and self._pages.currentWidget() is not self.table:
            self._notify_shown()
