"""Sheets of labels, in millimetres, as their makers publish them, and how labels are painted on them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import segno
from PySide6.QtCore import (
    QBuffer,
    QCoreApplication,
    QIODevice,
    QLocale,
    QMarginsF,
    QRect,
    QRectF,
    QSignalBlocker,
    QSizeF,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QPagedPaintDevice,
    QPageLayout,
    QPageSize,
    QPainter,
    QPdfWriter,
)
from PySide6.QtWidgets import QDoubleSpinBox, QGridLayout, QSpinBox, QVBoxLayout, QWidget

from plantdesk.domain.addresses import address_of
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.records import PlantRow
from plantdesk.domain.texts import Text
from plantdesk.transfer.files import open_target
from plantdesk.ui.qt import fill
from plantdesk.ui.texts import one_line
from plantdesk.ui.theme.metrics import XS, S
from plantdesk.ui.widgets.fields import ComboBox, add_labelled, spin_box
from plantdesk.ui.widgets.plain_text import PlainLabel

#: Millimetres by which a page may be too small: makers round inches.
_TOLERANCE = 0.5
_A4, _LETTER = QPageSize.PageSizeId.A4, QPageSize.PageSizeId.Letter
_MAX_COUNT, _MAX_MM = 60, 500.0
#: Fields for the sizes of a sheet of another maker, and the least width of the choice.
_SIZES, _MIN_WIDTH = 6, 120
#: Units of the painter in a millimetre.
UNIT = 100
#: The sizes of the name, from the largest to the smallest, and of the other lines; 100 is 2.8 points.
_NAME_SIZES = (420, 370, 330, 290, 260, 230, 200, 175)
_LINE_SIZES = (300, 260, 230, 200, 175)
#: As fractions of a label: the most of its width that the QR code takes, and the padding.
_MAX_QR, _PADDING = 0.45, 0.07
#: Characters of a text that may fit on a label.
_LONGEST = 400
_WRAPPED = Qt.TextFlag.TextWordWrap
#: The height in which each text fits.
_ENDLESS = 1_000_000
#: The fields that the line of the user may contain, in braces.
FIELDS = ("name", "tag", "id", "note")
_FIELDS = re.compile(rf"\{{({'|'.join(FIELDS)})\}}")
_BRACES = re.compile(r"\{[^{}]*\}")
#: The resolution of a PDF.
_DPI = 600


class Sheet(NamedTuple):
    """A page with labels in rows: their number, the size of one, the margins of the page, and the gaps between them."""

    name: str
    page: QPageSize.PageSizeId
    columns: int
    rows: int
    width: float
    height: float
    left: float
    top: float
    column_gap: float = 0
    row_gap: float = 0

    @property
    def labels(self) -> int:
        """The number of labels on a page."""
        return self.columns * self.rows

    @property
    def page_size(self) -> QSizeF:
        """The size of the page."""
        return QPageSize.size(self.page, QPageSize.Unit.Millimeter)

    @property
    def fits(self) -> bool:
        """Whether all labels are on the page."""
        last, size = self.label(self.labels - 1), self.page_size
        return last.right() <= size.width() + _TOLERANCE and last.bottom() <= size.height() + _TOLERANCE

    def label(self, number: int) -> QRectF:
        """Return the rectangle of a label on its page; `number` counts from 0, row by row."""
        row, column = divmod(number, self.columns)
        x = self.left + column * (self.width + self.column_gap)
        y = self.top + row * (self.height + self.row_gap)
        return QRectF(x, y, self.width, self.height)


SHEETS = (
    Sheet("Avery L7160, Herma 4200", _A4, 3, 7, 63.5, 38.1, 7.25, 15.15, 2.5),
    Sheet("Avery L7159", _A4, 3, 8, 63.5, 33.9, 7.25, 12.9, 2.5),
    Sheet("Avery L7163", _A4, 2, 7, 99.1, 38.1, 4.65, 15.15, 2.5),
    Sheet("Avery L7651", _A4, 5, 13, 38.1, 21.2, 4.75, 10.7, 2.5),
    Sheet("Avery L4731", _A4, 7, 27, 25.4, 10, 8.5, 13.5, 2.54),
    Sheet("Avery 5160, 8160", _LETTER, 3, 10, 66.675, 25.4, 4.7625, 12.7, 3.175),
    Sheet("Avery 5163, 8163", _LETTER, 2, 5, 101.6, 50.8, 3.96875, 12.7, 4.7625),
    Sheet("Avery 5167, 8167", _LETTER, 4, 20, 44.45, 12.7, 7.14375, 12.7, 7.62),
)


class SheetChoice(QWidget):
    """`changed`: the user has chosen another sheet, or another size."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        #: The field for the sheet; it is to be the buddy of a label.
        self.field = ComboBox(self.tr("Sheet"))
        self.field.setMinimumWidth(_MIN_WIDTH)  # narrower than its longest text if the text is large
        for sheet in SHEETS:
            size = f"{_in_mm(sheet.width)} × {_in_mm(sheet.height)} mm"
            text = self.tr("{page}, {count} labels, {size}")
            page = QPageSize.name(sheet.page).split(" ")[0]
            self.field.addItem(text.format(page=page, count=sheet.labels, size=size))
        self.field.addItem(self.tr("Custom size"))
        self._names = PlainLabel(tone="muted", wrapped=True)
        self._custom = QWidget()
        papers = [(QPageSize.name(paper), paper.value) for paper in (_A4, _LETTER)]
        self._page = ComboBox(self.tr("Page"), papers)
        self._counts = [self._count() for _ in range(2)]
        self._lengths = [self._length() for _ in range(_SIZES)]
        self._lay_out()
        self._fill(SHEETS[0])
        self._on_chosen()
        self.field.currentIndexChanged.connect(self._on_chosen)
        self._page.currentIndexChanged.connect(self.changed)

    @property
    def sheet(self) -> Sheet:
        """The chosen sheet."""
        if self.field.currentIndex() < len(SHEETS):
            return SHEETS[self.field.currentIndex()]
        columns, rows = (each.value() for each in self._counts)
        lengths = [each.value() for each in self._lengths]
        return Sheet("", QPageSize.PageSizeId(self._page.currentData()), columns, rows, *lengths)

    def choose(self, index: int) -> None:
        """Choose a sheet by its index in the list."""
        self.field.setCurrentIndex(index if 0 <= index < self.field.count() else 0)

    def _on_chosen(self) -> None:
        is_custom = self.field.currentIndex() == len(SHEETS)
        self._custom.setVisible(is_custom)
        self._names.setVisible(not is_custom)
        if not is_custom:
            self._names.setText(self.tr("{names} and alike").format(names=self.sheet.name))
            self._fill(self.sheet)
        self.changed.emit()

    def _fill(self, sheet: Sheet) -> None:
        """Let custom sizes start with those of the sheet that was chosen before."""
        self._page.setCurrentIndex(self._page.findData(sheet.page.value))
        for count, number in zip(self._counts, (sheet.columns, sheet.rows), strict=True):
            with QSignalBlocker(count):
                count.setValue(number)
        sizes = (sheet.width, sheet.height, sheet.left, sheet.top, sheet.column_gap, sheet.row_gap)
        for length, size in zip(self._lengths, sizes, strict=True):
            with QSignalBlocker(length):
                length.setValue(size)

    def _count(self) -> QSpinBox:
        box = spin_box(QSpinBox)
        box.setRange(1, _MAX_COUNT)
        box.valueChanged.connect(self.changed)
        return box

    def _length(self) -> QDoubleSpinBox:
        box = spin_box(QDoubleSpinBox)
        box.setRange(0, _MAX_MM)
        box.setDecimals(2)
        box.setSuffix(" mm")
        box.valueChanged.connect(self.changed)
        return box

    def _lay_out(self) -> None:
        self._lengths[0].setMinimum(5)
        self._lengths[1].setMinimum(5)
        boxes = (
            (self.tr("Page"), self._page),
            (self.tr("Columns"), self._counts[0]),
            (self.tr("Rows"), self._counts[1]),
            (self.tr("Width"), self._lengths[0]),
            (self.tr("Height"), self._lengths[1]),
            (self.tr("Left margin"), self._lengths[2]),
            (self.tr("Top margin"), self._lengths[3]),
            (self.tr("Column gap"), self._lengths[4]),
            (self.tr("Row gap"), self._lengths[5]),
        )
        grid = QGridLayout(self._custom)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(XS)
        add_labelled(grid, boxes)
        fill(QVBoxLayout(self), self.field, self._names, self._custom, margins=0, spacing=S)


def _in_mm(length: float) -> str:
    return QLocale().toString(float(length), "g", 4)


class PrintError(PlantDeskError):
    """A printer cannot be used."""

    text = Text("The printer or its file cannot be used. Choose another one.")


class Content(NamedTuple):
    """What is on each label. In the `line` of the user, `{name}`, `{tag}`, `{id}` and `{note}` become the plant's."""

    name: bool = True
    tag: bool = True
    id: bool = True
    qr: bool = True
    note: bool = False
    line: str = ""

    @property
    def unknown_field(self) -> str:
        """The first unknown field of the line, with its braces; empty if there is none."""
        return next((each for each in _BRACES.findall(self.line) if not _FIELDS.fullmatch(each)), "")

    def line_of(self, plant: PlantRow) -> str:
        """Return the line of the user, filled for a plant."""

        def value(field: re.Match[str]) -> str:
            found = getattr(plant, field[1])
            return "" if found is None else str(found)[:_LONGEST]

        return _FIELDS.sub(value, self.line).strip()


class Job(NamedTuple):
    """The labels to print: `start` is the position of the first one on its page, from 0."""

    sheet: Sheet
    plants: Sequence[PlantRow]
    content: Content
    start: int = 0
    copies: int = 1

    @property
    def pages(self) -> int:
        """The number of pages."""
        return -(-(self.start + len(self.plants) * self.copies) // self.sheet.labels)

    def plant(self, page: int, number: int) -> PlantRow | None:
        """Return the plant of a label of a page, or None for an empty one."""
        place = page * self.sheet.labels + number - self.start
        return self.plants[place // self.copies] if 0 <= place < len(self.plants) * self.copies else None


def fit_page(painter: QPainter, sheet: Sheet, area: QRect) -> None:
    """Scale the painter so that the page fills `area` of the device."""
    size = sheet.page_size
    painter.setWindow(0, 0, round(size.width() * UNIT), round(size.height() * UNIT))
    painter.setViewport(area)


def paint_page(painter: QPainter, job: Job, page: int) -> None:
    """Paint the labels of a page."""
    for number in range(job.sheet.labels):
        plant = job.plant(page, number)
        if plant is not None:
            paint_label(painter, scaled(job.sheet.label(number)), plant, job.content)


def scaled(rect: QRectF) -> QRect:
    """Return a rectangle in hundredths of a millimetre."""
    return QRectF(rect.x() * UNIT, rect.y() * UNIT, rect.width() * UNIT, rect.height() * UNIT).toRect()


def paint_label(painter: QPainter, rect: QRect, plant: PlantRow, content: Content) -> None:
    """Paint one label into a rectangle."""
    padding = round(min(rect.width(), rect.height()) * _PADDING) + UNIT // 2
    inner = rect.adjusted(padding, padding, -padding, -padding)
    painter.save()
    painter.setClipRect(rect)
    painter.setPen(QColor("black"))
    if content.qr:
        side = min(inner.height(), round(inner.width() * _MAX_QR))
        _paint_code(painter, QRect(inner.right() - side, inner.center().y() - side // 2, side, side), plant.id)
        inner.setRight(inner.right() - side - padding)
    lines = [content.line_of(plant), plant.tag if content.tag else None, str(plant.id) if content.id else None]
    text = [plant.name if content.name else None, plant.note if content.note else None]
    texts = [one_line(each[:_LONGEST]) for each in text if each]
    reserved = sum(_used(_set_font(painter, _NAME_SIZES[3], bold=True), inner, each).height() for each in texts[:1])
    bottom = _paint_lines(painter, inner, [one_line(line) for line in lines if line], reserved)
    inner.setBottom(bottom)
    _paint_texts(painter, inner, texts)
    painter.restore()


@lru_cache(maxsize=256)
def _code(plant_id: int) -> tuple[bytearray, ...]:
    return tuple(segno.make(address_of(plant_id), error="m", micro=False).matrix)


def _paint_code(painter: QPainter, rect: QRect, plant_id: int) -> None:
    """Paint a QR code in whole units, so that no gaps show in it."""
    matrix = _code(plant_id)
    size = rect.width() // len(matrix)
    if not size:
        return
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)  # or lines show between the modules
    left, top = rect.x() + (rect.width() - size * len(matrix)), rect.y() + (rect.height() - size * len(matrix)) // 2
    for y, row in enumerate(matrix):
        for x, is_dark in enumerate(row):
            if is_dark:
                painter.fillRect(left + x * size, top + y * size, size, size, QColor("black"))
    painter.restore()


def _paint_lines(painter: QPainter, rect: QRect, lines: Sequence[str], reserved: int) -> int:
    """Paint short lines at the bottom, wrapped if more than `reserved` is left; return the top of the first one."""
    bottom = rect.bottom()
    for number, line in reversed(list(enumerate(lines))):
        size = next((each for each in _LINE_SIZES if each * 6 <= rect.height()), _LINE_SIZES[-1])
        metrics = _set_font(painter, size)
        used, room = _used(metrics, rect, line), bottom - rect.top() - reserved - number * metrics.height()
        has_room = used.width() <= rect.width() and used.height() <= room
        height = used.height() if has_room else metrics.height()
        if bottom - height < rect.top() - UNIT:
            break
        text = line if has_room else metrics.elidedText(line, Qt.TextElideMode.ElideRight, rect.width())
        place = QRect(rect.x(), bottom - height, rect.width(), height)
        painter.drawText(place, (_WRAPPED if has_room else 0) | Qt.AlignmentFlag.AlignLeading, text)
        bottom = place.top()
    return bottom


def _paint_texts(painter: QPainter, rect: QRect, texts: Sequence[str]) -> None:
    """Paint the name, bold, and the note below it, each as large as fits."""
    for number, text in enumerate(texts):
        is_name = number == 0
        sizes = _NAME_SIZES if is_name else _LINE_SIZES
        height = next(
            (each for size in sizes if (each := _height(painter, size, text, rect, bold=is_name))), rect.height()
        )
        painter.drawText(rect, _WRAPPED | Qt.AlignmentFlag.AlignTop, _fitted(text, painter.fontMetrics(), rect))
        rect = rect.adjusted(0, height, 0, 0)


def _height(painter: QPainter, size: int, text: str, rect: QRect, *, bold: bool) -> int:
    """Set the size of the font, and return the height of a text; 0 if there is no room for it."""
    used = _used(_set_font(painter, size, bold=bold), rect, text)
    return used.height() if used.height() <= rect.height() and used.width() <= rect.width() else 0


def _used(metrics: QFontMetrics, rect: QRect, text: str) -> QRect:
    return metrics.boundingRect(QRect(0, 0, rect.width(), _ENDLESS), _WRAPPED, text)


def _fitted(text: str, metrics: QFontMetrics, rect: QRect) -> str:
    """Return as much of a text as fits, with an ellipsis if it is cut."""
    if _used(metrics, rect, text).height() <= rect.height():  # also if its last letters take less than an ellipsis
        return text
    low, high = 0, len(text) - 1
    while low < high:
        middle = (low + high + 1) // 2
        used = _used(metrics, rect, text[:middle].rstrip() + "…")
        low, high = (middle, high) if used.height() <= rect.height() else (low, middle - 1)
    return text[:low].rstrip() + "…" if low else ""


def _set_font(painter: QPainter, size: int, *, bold: bool = False) -> QFontMetrics:
    font = QFont(painter.font())
    font.setPixelSize(size)
    font.setWeight(QFont.Weight.Bold if bold else QFont.Weight.Normal)
    painter.setFont(font)
    return painter.fontMetrics()


def paint_job(device: QPagedPaintDevice, job: Job, area: QRect) -> None:
    """Paint all pages on a printer or PDF file, whose page is `area`. Raises PrintError."""
    painter = QPainter()
    if not painter.begin(device):
        raise PrintError
    fit_page(painter, job.sheet, area)
    for page in range(job.pages):
        if page:
            device.newPage()
        paint_page(painter, job, page)
    painter.end()


def write_pdf(file: Path, job: Job) -> None:
    """Write the pages of labels to a PDF file. Raises PlantDeskError for a database, and OSError."""
    _fonts = QGuiApplication.instance() or QGuiApplication(["plantdesk"])  # the command line has none yet
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(_DPI)
    writer.setPageLayout(page_layout(job))
    writer.setCreator("PlantDesk")
    writer.setTitle(QCoreApplication.translate("LabelPdf", "Plant labels"))
    layout = writer.pageLayout()
    paint_job(writer, job, QRect(layout.fullRectPixels(_DPI)))
    buffer.close()
    with open_target(file) as stream:
        stream.write(buffer.data().data())


def page_layout(job: Job) -> QPageLayout:
    """Return the page of a sheet, without margins."""
    layout = QPageLayout(QPageSize(job.sheet.page), QPageLayout.Orientation.Portrait, QMarginsF())
    layout.setMode(QPageLayout.Mode.FullPageMode)
    return layout
