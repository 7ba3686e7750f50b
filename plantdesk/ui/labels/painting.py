"""Paints labels: on a printer, in a PDF file or on the screen. All lengths are in hundredths of a millimetre."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import segno
from PySide6.QtCore import QBuffer, QCoreApplication, QIODevice, QMarginsF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QGuiApplication, QPageLayout, QPageSize, QPainter, QPdfWriter

from plantdesk.domain.addresses import address_of
from plantdesk.domain.errors import PlantDeskError, Text
from plantdesk.transfer.files import opened_target
from plantdesk.ui.texts import one_line

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtGui import QPagedPaintDevice

    from plantdesk.domain.records import PlantRow
    from plantdesk.ui.labels.sheets import Sheet


UNIT = 100
#: The sizes of the name, from the largest to the smallest, and those of the other lines; 100 is 2.8 points.
_NAME_SIZES = (420, 370, 330, 290, 260, 230, 200, 175)
_LINE_SIZES = (300, 260, 230, 200, 175)
#: Shares of a label: the most that the QR code takes of its width, and the padding.
_MAX_QR, _PADDING = 0.45, 0.07
#: Characters of a text that a label may have room for.
_LONGEST = 400
_WRAPPED = Qt.TextFlag.TextWordWrap
_ENDLESS = 1_000_000


class PrintError(PlantDeskError):
    """A printer cannot be used."""

    text = Text("The printer or its file cannot be used. Choose another one.")


#: What the line of the user may have, in braces.
FIELDS = ("name", "tag", "id", "note")
_FIELDS = re.compile(rf"\{{({'|'.join(FIELDS)})\}}")
_BRACES = re.compile(r"\{[^{}]*\}")


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
        """The first field of the line that is none, with its braces; empty where there is none."""
        return next((each for each in _BRACES.findall(self.line) if not _FIELDS.fullmatch(each)), "")

    def line_of(self, plant: PlantRow) -> str:
        """Return the line of the user for a plant."""

        def value(field: re.Match[str]) -> str:
            found = getattr(plant, field[1])
            return "" if found is None else str(found)[:_LONGEST]

        return _FIELDS.sub(value, self.line).strip()


class Job(NamedTuple):
    """The labels to print: `start` is the place of the first one on its page, from 0."""

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
    """Let the page fill `area` of the device."""
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
    """Return a place in hundredths of a millimetre."""
    return QRectF(rect.x() * UNIT, rect.y() * UNIT, rect.width() * UNIT, rect.height() * UNIT).toRect()


def paint_label(painter: QPainter, rect: QRect, plant: PlantRow, content: Content) -> None:
    """Paint one label into a place."""
    padding = round(min(rect.width(), rect.height()) * _PADDING) + UNIT // 2
    inner = rect.adjusted(padding, padding, -padding, -padding)
    painter.save()
    painter.setClipRect(rect)
    painter.setPen(QColor("black"))
    if content.qr:
        side = min(inner.height(), round(inner.width() * _MAX_QR))
        _paint_code(painter, QRect(inner.right() - side, inner.center().y() - side // 2, side, side), plant.id)
        inner.setRight(inner.right() - side - padding)
    lines = [content.line_of(plant)] + [plant.tag or ""] * content.tag + [str(plant.id)] * content.id
    text = [plant.name] * content.name + [plant.note or ""] * content.note
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
    """Paint a QR code in whole units, so that no line runs through it."""
    matrix = _code(plant_id)
    size = rect.width() // len(matrix)
    if not size:
        return
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)  # else lines show between the modules
    left, top = rect.x() + (rect.width() - size * len(matrix)), rect.y() + (rect.height() - size * len(matrix)) // 2
    for y, row in enumerate(matrix):
        for x, is_dark in enumerate(row):
            if is_dark:
                painter.fillRect(left + x * size, top + y * size, size, size, QColor("black"))
    painter.restore()


def _paint_lines(painter: QPainter, rect: QRect, lines: Sequence[str], reserved: int) -> int:
    """Paint short lines at the bottom, wrapped where more than `reserved` is left, and return where they begin."""
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
    """Paint the name, bold, and the note below it, as large as there is room for."""
    for number, text in enumerate(texts):
        is_name = number == 0
        sizes = _NAME_SIZES if is_name else _LINE_SIZES
        height = next(
            (each for size in sizes if (each := _height(painter, size, text, rect, bold=is_name))), rect.height()
        )
        painter.drawText(rect, _WRAPPED | Qt.AlignmentFlag.AlignTop, _fitted(text, painter.fontMetrics(), rect))
        rect = rect.adjusted(0, height, 0, 0)


def _height(painter: QPainter, size: int, text: str, rect: QRect, *, bold: bool) -> int:
    """Set the size of the font, and return the height of a text, 0 where there is no room for it."""
    used = _used(_set_font(painter, size, bold=bold), rect, text)
    return used.height() if used.height() <= rect.height() and used.width() <= rect.width() else 0


def _used(metrics: QFontMetrics, rect: QRect, text: str) -> QRect:
    return metrics.boundingRect(QRect(0, 0, rect.width(), _ENDLESS), _WRAPPED, text)


def _fitted(text: str, metrics: QFontMetrics, rect: QRect) -> str:
    """Return as much of a text as there is room for, with an ellipsis where that is not all."""
    if _used(metrics, rect, text).height() <= rect.height():  # also where its last letters take less than an ellipsis
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


_DPI = 600


def write_pdf(file: Path, job: Job) -> None:
    """Write the pages of labels to a PDF file. Raises PlantDeskError for a database, and OSError."""
    _fonts = QGuiApplication.instance() or QGuiApplication(["plantdesk"])  # a command has none yet
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
    with opened_target(file) as stream:
        stream.write(buffer.data().data())


def page_layout(job: Job) -> QPageLayout:
    """Return the page of a sheet, without margins."""
    layout = QPageLayout(QPageSize(job.sheet.page), QPageLayout.Orientation.Portrait, QMarginsF())
    layout.setMode(QPageLayout.Mode.FullPageMode)
    return layout
