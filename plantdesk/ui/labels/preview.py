"""A page of labels on the screen, and one label about as large as it is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from plantdesk.ui.labels.painting import UNIT, fit_page, paint_label, paint_page, scaled
from plantdesk.ui.qt import override

if TYPE_CHECKING:
    from PySide6.QtGui import QMouseEvent, QPaintEvent

    from plantdesk.ui.labels.painting import Job

_MARGIN = 12
_RADIUS = 150
#: On paper, which is white in every theme.
_OUTLINE, _USED, _USED_TEXT = QColor("#cfd4cb"), QColor("#e9ece6"), QColor("#5c6658")
_MM_PER_INCH = 25.4
_LABEL_SIZE = QSize(250, 150)


class PagePreview(QFrame):
    """`label_clicked(number)`: the user has clicked a label of the page, from 0."""

    label_clicked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._job: Job | None = None
        self._page = 0
        self.setProperty("card", "inset")
        self.setMinimumSize(200, 160)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(self.tr("Preview of the page"))

    def show_page(self, job: Job, page: int) -> None:
        """Show a page."""
        self._job, self._page = job, page
        self.update()

    def _area(self, job: Job) -> QRect:
        """Return where the page is on the widget."""
        size = job.sheet.page_size.scaled(
            self.width() - 2 * _MARGIN, self.height() - 2 * _MARGIN, Qt.AspectRatioMode.KeepAspectRatio
        )
        area = QRect(QPoint(0, 0), size.toSize())
        area.moveCenter(self.rect().center())
        return area

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._job is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = self._area(self._job)
        painter.fillRect(area, QColor("white"))
        fit_page(painter, self._job.sheet, area)
        self._paint_outlines(painter, self._job)
        paint_page(painter, self._job, self._page)
        painter.end()

    def _paint_outlines(self, painter: QPainter, job: Job) -> None:
        for number in range(job.sheet.labels):
            is_used = self._page == 0 and number < job.start
            painter.setPen(QPen(_OUTLINE, 30))
            painter.setBrush(_USED if is_used else Qt.BrushStyle.NoBrush)
            rect = scaled(job.sheet.label(number))
            painter.drawRoundedRect(rect, _RADIUS, _RADIUS)
            if is_used:
                font = painter.font()
                font.setPixelSize(min(350, rect.height() // 2))
                painter.setFont(font)
                painter.setPen(_USED_TEXT)
                painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, self.tr("used"))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._job is None:
            return
        area, sheet = self._area(self._job), self._job.sheet
        scale = sheet.page_size.width() / max(area.width(), 1)
        place = (event.position() - area.topLeft().toPointF()) * scale
        for number in range(sheet.labels):
            if sheet.label(number).contains(place):
                self.label_clicked.emit(number)


class LabelPreview(QWidget):
    """Shows the first label."""

    def __init__(self) -> None:
        super().__init__()
        self._job: Job | None = None
        self.setFixedSize(_LABEL_SIZE)
        self.setAccessibleName(self.tr("Preview of one label"))

    def show_label(self, job: Job) -> None:
        """Show the first label of a job."""
        self._job = job
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._job is None or not self._job.plants:
            return
        sheet = self._job.sheet
        scale = min(
            self.logicalDpiX() / _MM_PER_INCH, (self.width() - 2) / sheet.width, (self.height() - 2) / sheet.height
        )
        area = QRect(0, 0, round(sheet.width * scale), round(sheet.height * scale))
        area.moveCenter(self.rect().center())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setWindow(0, 0, round(sheet.width * UNIT), round(sheet.height * UNIT))
        painter.setViewport(area)
        painter.setBrush(QColor("white"))
        painter.setPen(QPen(_OUTLINE, 20))
        rect = QRect(0, 0, round(sheet.width * UNIT), round(sheet.height * UNIT))
        painter.drawRoundedRect(rect, _RADIUS, _RADIUS)
        paint_label(painter, rect, self._job.plants[0], self._job.content)
        painter.end()
