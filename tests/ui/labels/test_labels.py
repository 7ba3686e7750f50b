"""Labels: the pages as they are painted, and the dialog as it is used."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import segno
from PySide6.QtCore import QLocale, QRect, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QLineEdit, QSpinBox, QToolButton
from pytestqt.qtbot import QtBot
from typing_extensions import override

from plantdesk.domain.records import FORM, PlantRow, Source
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.feature import OpenStore, WindowContext
from plantdesk.ui.labels.dialog import LabelDialog, PagePreview
from plantdesk.ui.labels.feature import LabelsFeature
from plantdesk.ui.labels.painting import (
    SHEETS,
    UNITS_PER_MM,
    LabelContent,
    LabelJob,
    Sheet,
    fit_page,
    paint_label,
    paint_page,
    to_painter_units,
)
from plantdesk.ui.plants.table.view import PlantTableView
from plantdesk.ui.widgets.dialog import FileDialog
from plantdesk.ui.widgets.messages import MessageLine, Tone
from plantdesk.ui.workspace import Workspace
from tests.support.waiting import SECONDS
from tests.support.window_driver import Table, WindowDriver
from tests.ui.conftest import Adder, open_store

_PER_MM = 10


def plant(plant_id: int, name: str = "Aster", tag: str | None = "bed 4") -> PlantRow:
    return PlantRow(plant_id, name, tag, 0, Source(FORM.id, FORM.kind, ""), None, 0)


def painted(job: LabelJob, page: int = 0) -> QImage:
    """Paint a page, ten pixels a millimetre."""
    size = job.sheet.page_size
    image = QImage(round(size.width() * _PER_MM), round(size.height() * _PER_MM), QImage.Format.Format_Grayscale8)
    image.fill(QColor("white"))
    painter = QPainter(image)
    fit_page(painter, job.sheet, image.rect())
    paint_page(painter, job, page)
    painter.end()
    return image


def on_image(sheet: Sheet, number: int) -> QRect:
    rect = to_painter_units(sheet.label_rect(number))
    factor = _PER_MM / UNITS_PER_MM
    return QRect(*(round(each * factor) for each in (rect.x(), rect.y(), rect.width(), rect.height())))


def is_blank(image: QImage, rect: QRect) -> bool:
    part = image.copy(rect)
    blank = QImage(part.size(), part.format())
    blank.fill(QColor("white"))
    return part == blank


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_sheets_fit_on_their_pages_and_labels_do_not_overlap(sheet: Sheet) -> None:
    assert sheet.fits_page
    places = [sheet.label_rect(number) for number in range(sheet.label_count)]
    assert not any(
        first.intersected(second).width() > 0.01 and first.intersected(second).height() > 0.01
        for at, first in enumerate(places)
        for second in places[at + 1 :]
    )


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
@pytest.mark.parametrize("name", ["Aster", "x" * 1000, "two\nlines and many words " * 20, "\u202eHTML <b>&amp;"])
def test_a_label_stays_in_its_place(sheet: Sheet, name: str) -> None:
    start = sheet.label_count // 2
    image = painted(LabelJob(sheet, [plant(2**63 - 1, name, name)], LabelContent(note=True), start))
    assert not is_blank(image, on_image(sheet, start))
    painter = QPainter(image)
    painter.fillRect(on_image(sheet, start).adjusted(-1, -1, 1, 1), QColor("white"))
    painter.end()
    assert is_blank(image, image.rect())


@pytest.mark.usefixtures("qapp")
def test_the_code_of_a_label_is_that_of_its_id() -> None:
    sheet = SHEETS[0]
    image = painted(LabelJob(sheet, [plant(8428)], LabelContent(name=False, tag=False, id=False)))
    label = image.copy(on_image(sheet, 0))
    dark = [(x, y) for y in range(label.height()) for x in range(label.width()) if label.pixelColor(x, y).value() < 128]
    left, top = min(x for x, _ in dark), min(y for _, y in dark)
    matrix = segno.make("plantdesk:8428", error="m", micro=False).matrix
    side = (max(x for x, _ in dark) - left + 1) / len(matrix)
    for y, row in enumerate(matrix):
        for x, is_dark in enumerate(row):
            found = label.pixelColor(round(left + (x + 0.5) * side), round(top + (y + 0.5) * side)).value() < 128
            assert found == bool(is_dark)


@pytest.mark.usefixtures("qapp")
def test_copies_go_on_from_the_first_label_to_the_next_page() -> None:
    sheet = SHEETS[0]
    job = LabelJob(sheet, [plant(1), plant(2)], LabelContent(), start=sheet.label_count - 1, copies=2)
    assert job.pages == 2
    found = [job.plant_at(page, number) for page in range(2) for number in range(sheet.label_count)]
    assert [each.id for each in found if each is not None] == [1, 1, 2, 2]
    assert found[sheet.label_count - 1] is not None
    assert is_blank(painted(job), on_image(sheet, 0))
    assert not is_blank(painted(job, 1), on_image(sheet, 2))
    assert is_blank(painted(job, 1), on_image(sheet, 3))


# --- the dialog ---


class LabelDriver(WindowDriver):
    """The window, and the dialog once it is open."""

    def __init__(self, qtbot: QtBot, context: WindowContext, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(qtbot, context.page)
        self.table = Table()
        self.feature = LabelsFeature(context, self.table)
        self._monkeypatch = monkeypatch

    def open(self, *ids: int) -> WindowDriver:
        self.table.selected = list(ids)
        self.qtbot.keyClick(self.window, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier)
        self.until(lambda: bool(self.widget.findChildren(LabelDialog)))
        return WindowDriver(self.qtbot, self.the(LabelDialog))

    def save(self, dialog: WindowDriver, file: Path) -> None:
        self._monkeypatch.setattr(FileDialog, "get_save_file", lambda *_, **_options: str(file))
        dialog.button("Save as PDF…").click()


@pytest.fixture
def user(
    qtbot: QtBot, context: WindowContext, store: SqliteStore, queries: StoreQueries, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LabelDriver]:
    user = LabelDriver(qtbot, context, monkeypatch)
    user.feature.set_store(OpenStore(store, queries))
    yield user
    user.feature.release_store()


def test_labels_are_saved_as_a_pdf_and_opened(
    user: LabelDriver, add: Adder, tmp_path: Path, opened_files: list[str]
) -> None:
    add("Aster", "Ivy", "Rose", tag="bed 4")
    dialog = user.open(3, 1)
    assert "2 plants on 1 sheet" in dialog.the(MessageLine).text
    dialog.the(QSpinBox, "Copies of each").setValue(12)
    assert "2 plants on 2 sheets" in dialog.the(MessageLine).text
    dialog.button("Next page").click()
    dialog.the(QCheckBox, "Tag").click()
    user.save(dialog, tmp_path / "labels.pdf")
    user.until(lambda: "labels.pdf" in user.toast.text)
    assert (tmp_path / "labels.pdf").read_bytes().startswith(b"%PDF-")
    user.button("Open").click()
    assert opened_files == [str(tmp_path / "labels.pdf")]


def test_a_click_on_a_label_is_the_start_and_sizes_that_do_not_fit_are_not_printed(
    user: LabelDriver, add: Adder
) -> None:
    add("Aster")
    dialog = user.open(1)
    page = dialog.the(PagePreview)
    user.qtbot.mouseClick(page, Qt.MouseButton.LeftButton, pos=page.rect().center())
    assert dialog.the(QSpinBox, "Start at label (or click one)").value() == 11  # the middle of 3 × 7
    sheets = dialog.the(QComboBox, "Sheet")
    sheets.setFocus()
    user.qtbot.keyClick(sheets, Qt.Key.Key_End)
    assert dialog.button("Print…").isEnabled()
    dialog.the(QDoubleSpinBox, "Width").setValue(90)
    assert "do not fit" in dialog.the(MessageLine).text
    assert not dialog.button("Print…").isEnabled()
    dialog.the(QSpinBox, "Columns").setValue(2)
    assert dialog.button("Print…").isEnabled()


def test_sizes_are_written_as_the_region_does(user: LabelDriver, add: Adder) -> None:
    add("Aster")
    QLocale.setDefault(QLocale("de_DE"))  # until the end of the test
    assert "63,5 × 38,1 mm" in user.open(1).the(QComboBox, "Sheet").currentText()


def test_the_own_line_has_the_values_of_each_plant() -> None:
    content = LabelContent(line="{id}: {name} ({tag}){note} {other}")
    assert content.line_of(plant(7)) == "7: Aster (bed 4) {other}"
    assert content.line_of(plant(8, "{id} {tag}", None)) == "8: {id} {tag} () {other}"
    assert LabelContent(line=" {tag} ").line_of(plant(8, tag=None)) == ""


@pytest.mark.usefixtures("qapp")
def test_a_long_line_is_wrapped_where_there_is_room_and_the_name_is_whole() -> None:
    texts: list[str] = []

    class Painter(QPainter):
        @override
        def drawText(self, *arguments: object) -> None:  # type: ignore[override]
            texts.append(str(arguments[-1]))

    name, line = "Crocosmia × crocosmiiflora ‘Emily McKenzie’", "Bought in spring 2026 from the nursery hill"
    for each, is_whole in ((name, True), ("Aster", True), (f"{name} " * 8, False)):
        image = QImage(10, 10, QImage.Format.Format_RGB32)
        texts.clear()
        painter = Painter(image)
        paint_label(painter, QRect(0, 0, 9000, 4500), plant(42, each), LabelContent(line=line))
        painter.end()
        assert (line in texts) is is_whole, texts
        assert each in texts or not is_whole


def test_a_label_may_have_the_own_line_alone() -> None:
    sheet, nothing = SHEETS[0], LabelContent(name=False, tag=False, id=False, qr=False)
    assert is_blank(painted(LabelJob(sheet, [plant(1)], nothing)), on_image(sheet, 0))
    assert not is_blank(painted(LabelJob(sheet, [plant(1)], nothing._replace(line="{name}"))), on_image(sheet, 0))


def test_the_own_line_is_typed_and_remembered_as_is_the_sheet(user: LabelDriver, add: Adder) -> None:
    add("Aster")
    dialog = user.open(1)
    sheets = dialog.the(QComboBox, "Sheet")
    sheets.setFocus()
    user.qtbot.keyClick(sheets, Qt.Key.Key_Down)
    chosen = sheets.currentText()
    for box in ("Name", "Tag", "ID", "QR code of the ID"):
        dialog.the(QCheckBox, box).click()
    assert not dialog.button("Print…").isEnabled()
    line = dialog.field("Own line, with {name}, {tag}, {id} or {note}")
    dialog.type(line, "Bought {note}")
    assert dialog.button("Print…").isEnabled()
    dialog.type(line, "Bought {nam} {id}")
    assert "{nam} is not known. The line may have {name}, {tag}, {id} and {note}." in dialog.texts()
    assert line.property("invalid") == "true"
    dialog.type(line, "Bought {note}")
    assert line.property("invalid") == "false"
    dialog.button("Cancel").click()
    user.until(lambda: not user.widget.findChildren(LabelDialog))
    user.activate()
    dialog = user.open(1)
    assert dialog.field("Own line, with {name}, {tag}, {id} or {note}").text() == "Bought {note}"
    assert dialog.the(QComboBox, "Sheet").currentText() == chosen


def test_labels_replace_no_database_and_are_not_written_into_nothing(
    user: LabelDriver, add: Adder, store: SqliteStore
) -> None:
    add("Aster")
    dialog = user.open(1)
    for file in (store.path.parent / "missing" / "labels.pdf", store.path):
        dialog.the(MessageLine).clear()
        user.save(dialog, file)
        assert dialog.the(MessageLine).tone is Tone.ERROR
    assert store.path.read_bytes().startswith(b"SQLite format 3")


@pytest.mark.skipif(sys.platform != "linux", reason="the dialog of the system")
def test_labels_are_printed(user: LabelDriver, add: Adder, tmp_path: Path) -> None:
    from PySide6.QtPrintSupport import QPrintDialog

    add("Aster")
    dialog = user.open(1)
    dialog.button("Print…").click()
    printing = WindowDriver(user.qtbot, dialog.the(QPrintDialog))
    assert printing.the(QToolButton, "fileBrowser").isHidden(), "a file dialog of Qt reads each file that it shows"
    printing.the(QLineEdit, "filename").setText(str(tmp_path / "printed.pdf"))
    printing.button("Print").click()
    user.until((tmp_path / "printed.pdf").exists)
    user.until(lambda: not user.widget.findChildren(LabelDialog))


def test_without_a_selection_there_is_a_message_until_there_is_one(
    qtbot: QtBot, bare: Workspace, store: SqliteStore
) -> None:
    store.add(new_plant({"id": 1, "name": "Fern"}), FORM).result(SECONDS)
    open_store(bare, store)
    user = WindowDriver(qtbot, bare.window())
    table = user.the(PlantTableView)
    user.until(lambda: table.model().rowCount() == 1)
    user.choose("File", "Print labels…")
    user.until(lambda: user.toast.text == "Select the plants that get a label.")
    assert not user.widget.findChildren(LabelDialog)
    table.selectRow(0)
    user.until(lambda: not user.toast.isVisible())
