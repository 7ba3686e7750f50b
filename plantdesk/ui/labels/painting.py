"""Sheets of labels, and painting labels on a screen, a printer or a PDF file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import segno
from PySide6.QtCore import (
    QBuffer,
    QCoreApplication,
    QIODevice,
    QMarginsF,
    QRect,
    QRectF,
    QSizeF,
    Qt,
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

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.plant_urls import url_of
from plantdesk.domain.records import PlantRow
from plantdesk.domain.texts import Text
from plantdesk.transfer.files import open_target
from plantdesk.ui.texts import one_line

#: Millimetres by which labels may exceed the page: their makers round inches.
_TOLERANCE_MM = 0.5
_A4 = QPageSize.PageSizeId.A4
_LETTER = QPageSize.PageSizeId.Letter
#: The sizes of pages.
PAPERS = (_A4, _LETTER)
#: Units of the painter per millimetre.
UNITS_PER_MM = 100
#: Font sizes of the name and of other texts, in units of the painter, the largest first; 100 are 2.8 points.
_NAME_SIZES = (420, 370, 330, 290, 260, 230, 200, 175)
_LINE_SIZES = (300, 260, 230, 200, 175)
#: The font size of the name for which the lines below it leave room.
_RESERVED_NAME_SIZE = 290
#: The largest side of the QR code, and the padding, as fractions of a label.
_MAX_QR_FRACTION = 0.45
_PADDING_FRACTION = 0.07
#: Characters of a text that are painted at most.
_MAX_TEXT_LENGTH = 400
_WRAPPED = Qt.TextFlag.TextWordWrap
#: A height in which each text fits.
_UNLIMITED_HEIGHT = 1_000_000
#: The fields that the user's own line may contain, in braces.
FIELDS = ("name", "tag", "id", "note")
_KNOWN_FIELD = re.compile(rf"\{{({'|'.join(FIELDS)})\}}")
_FIELD_IN_BRACES = re.compile(r"\{[^{}]*\}")
_PDF_DPI = 600


@dataclass(frozen=True)
class Sheet:
    """A page with labels in rows and columns. All lengths are in millimetres, as the maker publishes them."""

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
    def label_count(self) -> int:
        """The number of labels on a page."""
        return self.columns * self.rows

    @property
    def page_size(self) -> QSizeF:
        """The size of the page in millimetres."""
        return QPageSize.size(self.page, QPageSize.Unit.Millimeter)

    @property
    def fits_page(self) -> bool:
        """Whether all labels are within the page, with a tolerance for rounded inches."""
        last_rect = self.label_rect(self.label_count - 1)
        size = self.page_size
        return last_rect.right() <= size.width() + _TOLERANCE_MM and last_rect.bottom() <= size.height() + _TOLERANCE_MM

    def label_rect(self, number: int) -> QRectF:
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


class PrintError(PlantDeskError):
    """The printer, or the file that it prints to, cannot be used."""

    text = Text("The printer or its file cannot be used. Choose another one.")


class LabelContent(NamedTuple):
    """The content of a label. Fields in braces in `line`, the user's own text, are replaced by the plant's values."""

    name: bool = True
    tag: bool = True
    id: bool = True
    qr: bool = True
    note: bool = False
    line: str = ""

    @property
    def unknown_field(self) -> str:
        """The first unknown field of the line, with its braces, or an empty text."""
        return next((field for field in _FIELD_IN_BRACES.findall(self.line) if not _KNOWN_FIELD.fullmatch(field)), "")

    def line_of(self, plant: PlantRow) -> str:
        """Return the user's own line, filled in for a plant."""

        def fill_field(field: re.Match[str]) -> str:
            content = getattr(plant, field[1])
            return "" if content is None else str(content)[:_MAX_TEXT_LENGTH]

        return _KNOWN_FIELD.sub(fill_field, self.line).strip()


class LabelJob(NamedTuple):
    """The labels to print. `start` is the number of the first label on its page, from 0; `copies` are of each plant."""

    sheet: Sheet
    plants: Sequence[PlantRow]
    content: LabelContent
    start: int = 0
    copies: int = 1

    @property
    def pages(self) -> int:
        """The number of pages, with the labels before `start` that stay empty."""
        return -(-(self.start + len(self.plants) * self.copies) // self.sheet.label_count)

    def plant_at(self, page: int, number: int) -> PlantRow | None:
        """Return the plant of a label, or None if it stays empty; `page` and `number` count from 0."""
        index = page * self.sheet.label_count + number - self.start
        return self.plants[index // self.copies] if 0 <= index < len(self.plants) * self.copies else None


def fit_page(painter: QPainter, sheet: Sheet, area: QRect) -> None:
    """Scale the painter so that the page fills `area` of the device."""
    size = sheet.page_size
    painter.setWindow(0, 0, round(size.width() * UNITS_PER_MM), round(size.height() * UNITS_PER_MM))
    painter.setViewport(area)


def paint_page(painter: QPainter, job: LabelJob, page: int) -> None:
    """Paint the labels of a page; `fit_page` must have scaled the painter."""
    for number in range(job.sheet.label_count):
        plant = job.plant_at(page, number)
        if plant is not None:
            paint_label(painter, to_painter_units(job.sheet.label_rect(number)), plant, job.content)


def to_painter_units(rect: QRectF) -> QRect:
    """Return a rectangle, given in millimetres, in units of the painter."""
    return QRectF(
        rect.x() * UNITS_PER_MM, rect.y() * UNITS_PER_MM, rect.width() * UNITS_PER_MM, rect.height() * UNITS_PER_MM
    ).toRect()


def paint_label(painter: QPainter, rect: QRect, plant: PlantRow, content: LabelContent) -> None:
    """Paint one label into `rect`, in units of the painter, as `content` says."""
    padding = round(min(rect.width(), rect.height()) * _PADDING_FRACTION) + UNITS_PER_MM // 2
    inner = rect.adjusted(padding, padding, -padding, -padding)
    painter.save()
    painter.setClipRect(rect)
    painter.setPen(QColor("black"))
    if content.qr:
        side = min(inner.height(), round(inner.width() * _MAX_QR_FRACTION))
        _paint_qr_code(painter, QRect(inner.right() - side, inner.center().y() - side // 2, side, side), plant.id)
        inner.setRight(inner.right() - side - padding)
    lines = [content.line_of(plant), plant.tag if content.tag else None, str(plant.id) if content.id else None]
    name = plant.name if content.name else ""
    note = (plant.note or "") if content.note else ""
    texts = [one_line(text[:_MAX_TEXT_LENGTH]) for text in (name, note) if text]
    reserved = 0
    if texts:
        reserved = _measure_text(_set_font(painter, _RESERVED_NAME_SIZE, bold=True), inner, texts[0]).height()
    bottom = _paint_lines(painter, inner, [one_line(line) for line in lines if line], reserved)
    inner.setBottom(bottom)
    _paint_texts(painter, inner, texts)
    painter.restore()


@lru_cache(maxsize=256)
def _make_qr_matrix(plant_id: int) -> tuple[bytearray, ...]:
    return tuple(segno.make(url_of(plant_id), error="m", micro=False).matrix)


def _paint_qr_code(painter: QPainter, rect: QRect, plant_id: int) -> None:
    """Paint a QR code, each module in whole units, so that there are no gaps between them."""
    matrix = _make_qr_matrix(plant_id)
    size = rect.width() // len(matrix)
    if not size:
        return
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)  # else lines show between the modules
    left = rect.x() + (rect.width() - size * len(matrix))
    top = rect.y() + (rect.height() - size * len(matrix)) // 2
    for y, row in enumerate(matrix):
        for x, is_dark in enumerate(row):
            if is_dark:
                painter.fillRect(left + x * size, top + y * size, size, size, QColor("black"))
    painter.restore()


def _paint_lines(painter: QPainter, rect: QRect, lines: Sequence[str], reserved: int) -> int:
    """Paint lines at the bottom, below a free height of `reserved` for the name; return the top of the first one."""
    bottom = rect.bottom()
    for lines_above, line in reversed(list(enumerate(lines))):
        size = next((size for size in _LINE_SIZES if size * 6 <= rect.height()), _LINE_SIZES[-1])
        metrics = _set_font(painter, size)
        text_rect = _measure_text(metrics, rect, line)
        room = bottom - rect.top() - reserved - lines_above * metrics.height()
        has_room = text_rect.width() <= rect.width() and text_rect.height() <= room
        height = text_rect.height() if has_room else metrics.height()
        if bottom - height < rect.top() - UNITS_PER_MM:
            break
        text = line if has_room else metrics.elidedText(line, Qt.TextElideMode.ElideRight, rect.width())
        line_rect = QRect(rect.x(), bottom - height, rect.width(), height)
        painter.drawText(line_rect, (_WRAPPED if has_room else 0) | Qt.AlignmentFlag.AlignLeading, text)
        bottom = line_rect.top()
    return bottom


def _paint_texts(painter: QPainter, rect: QRect, texts: Sequence[str]) -> None:
    """Paint the first text in bold, and the second one below it, each as large as it fits."""
    for number, text in enumerate(texts):
        height = _set_largest_font(painter, text, rect, is_first=number == 0)
        painter.drawText(rect, _WRAPPED | Qt.AlignmentFlag.AlignTop, _shorten_to_fit(text, painter.fontMetrics(), rect))
        rect = rect.adjusted(0, height, 0, 0)


def _set_largest_font(painter: QPainter, text: str, rect: QRect, *, is_first: bool) -> int:
    """Set the largest font in which a text fits, or the smallest one; return the height of the text in `rect`."""
    for size in _NAME_SIZES if is_first else _LINE_SIZES:
        text_rect = _measure_text(_set_font(painter, size, bold=is_first), rect, text)
        if text_rect.height() <= rect.height() and text_rect.width() <= rect.width():
            return text_rect.height()
    return rect.height()


def _measure_text(metrics: QFontMetrics, rect: QRect, text: str) -> QRect:
    return metrics.boundingRect(QRect(0, 0, rect.width(), _UNLIMITED_HEIGHT), _WRAPPED, text)


def _shorten_to_fit(text: str, metrics: QFontMetrics, rect: QRect) -> str:
    """Return the longest beginning of a text that fits, with an ellipsis if it is cut; found by bisection."""
    if _measure_text(metrics, rect, text).height() <= rect.height():
        return text
    low = 0
    high = len(text) - 1
    while low < high:
        middle = (low + high + 1) // 2
        text_rect = _measure_text(metrics, rect, text[:middle].rstrip() + "…")
        low, high = (middle, high) if text_rect.height() <= rect.height() else (low, middle - 1)
    return text[:low].rstrip() + "…" if low else ""


def _set_font(painter: QPainter, size: int, *, bold: bool = False) -> QFontMetrics:
    font = QFont(painter.font())
    font.setPixelSize(size)
    font.setWeight(QFont.Weight.Bold if bold else QFont.Weight.Normal)
    painter.setFont(font)
    return painter.fontMetrics()


def paint_job(device: QPagedPaintDevice, job: LabelJob, area: QRect) -> None:
    """Paint all pages on a device, whose page is `area` in device pixels. Raises PrintError."""
    painter = QPainter()
    if not painter.begin(device):
        raise PrintError
    fit_page(painter, job.sheet, area)
    for page in range(job.pages):
        if page:
            device.newPage()
        paint_page(painter, job, page)
    painter.end()


def write_pdf(file: Path, job: LabelJob) -> None:
    """Write the labels to a PDF file. Raises OSError, and PlantDeskError if `file` is a database."""
    _app = QGuiApplication.instance() or QGuiApplication(["plantdesk"])  # for the fonts, on the command line
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(_PDF_DPI)
    writer.setPageLayout(make_page_layout(job))
    writer.setCreator("PlantDesk")
    writer.setTitle(QCoreApplication.translate("LabelPdf", "Plant labels"))
    layout = writer.pageLayout()
    paint_job(writer, job, QRect(layout.fullRectPixels(_PDF_DPI)))
    buffer.close()
    with open_target(file) as stream:
        stream.write(buffer.data().data())


def make_page_layout(job: LabelJob) -> QPageLayout:
    """Return the layout of the page of a sheet, without margins."""
    layout = QPageLayout(QPageSize(job.sheet.page), QPageLayout.Orientation.Portrait, QMarginsF())
    layout.setMode(QPageLayout.Mode.FullPageMode)
    return layout
