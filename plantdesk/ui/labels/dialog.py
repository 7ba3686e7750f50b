"""The dialog that prints labels: the sheet, the content, and the preview of a page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QLocale, QPoint, QRect, QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QMouseEvent, QPageSize, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QCheckBox,
    QDoubleSpinBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from plantdesk.domain.records import PlantRow
from plantdesk.domain.texts import Text, plants_text
from plantdesk.ui.labels.painting import (
    FIELDS,
    PAPERS,
    SHEETS,
    LabelContent,
    LabelJob,
    Sheet,
    fit_page,
    paint_page,
    to_painter_units,
)
from plantdesk.ui.qt import STRETCH, fill, set_properties
from plantdesk.ui.texts import translated
from plantdesk.ui.theme.metrics import XL, XS, L, M, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.containers import ScrollArea
from plantdesk.ui.widgets.dialog import ButtonRole, Dialog
from plantdesk.ui.widgets.fields import ComboBox, LineEdit, add_labelled, make_spin_box
from plantdesk.ui.widgets.messages import MessageLine, Tone
from plantdesk.ui.widgets.plain_text import PlainLabel

_PAGE_MARGIN = 12
_LABEL_RADIUS = 150
#: The colours of paper, which is white in every theme.
_OUTLINE_COLOR = QColor("#cfd4cb")
_USED_COLOR = QColor("#e9ece6")
_USED_TEXT_COLOR = QColor("#5c6658")
#: For text of 13 px.
_WIDTH = 840
_HEIGHT = 690
_LEFT_WIDTH = 284
_MESSAGE_WIDTH = 200
_MAX_COPIES = 999
#: The limits of a custom sheet: labels in a row or column, and lengths and the least side of a label in millimetres.
_MAX_COUNT = 60
_MAX_MM = 500.0
_MIN_LABEL_MM = 5
_MIN_CHOICE_WIDTH = 120


class PagePreview(QFrame):
    """The preview of a page of labels. A click on a label makes it the first one that is printed."""

    #: (number) A label was clicked; its number on the page counts from 0.
    label_clicked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._job: LabelJob | None = None
        self._page = 0
        self.setProperty("card", "inset")
        self.setMinimumSize(200, 160)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(self.tr("Preview of the page"))

    def show_page(self, job: LabelJob, page: int) -> None:
        """Show a page of `job`, by its number from 0."""
        self._job = job
        self._page = page
        self.update()

    def _page_rect(self, job: LabelJob) -> QRect:
        size = job.sheet.page_size.scaled(
            self.width() - 2 * _PAGE_MARGIN, self.height() - 2 * _PAGE_MARGIN, Qt.AspectRatioMode.KeepAspectRatio
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
        area = self._page_rect(self._job)
        painter.fillRect(area, QColor("white"))
        fit_page(painter, self._job.sheet, area)
        self._paint_outlines(painter, self._job)
        paint_page(painter, self._job, self._page)
        painter.end()

    def _paint_outlines(self, painter: QPainter, job: LabelJob) -> None:
        for number in range(job.sheet.label_count):
            is_used = self._page == 0 and number < job.start
            painter.setPen(QPen(_OUTLINE_COLOR, 30))
            painter.setBrush(_USED_COLOR if is_used else Qt.BrushStyle.NoBrush)
            rect = to_painter_units(job.sheet.label_rect(number))
            painter.drawRoundedRect(rect, _LABEL_RADIUS, _LABEL_RADIUS)
            if is_used:
                font = painter.font()
                font.setPixelSize(min(350, rect.height() // 2))
                painter.setFont(font)
                painter.setPen(_USED_TEXT_COLOR)
                painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, self.tr("used"))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._job is None:
            return
        area = self._page_rect(self._job)
        sheet = self._job.sheet
        scale = sheet.page_size.width() / max(area.width(), 1)
        position = (event.position() - area.topLeft().toPointF()) * scale  # in millimetres
        for number in range(sheet.label_count):
            if sheet.label_rect(number).contains(position):
                self.label_clicked.emit(number)


class LabelDialog(Dialog):
    """The dialog in which the user chooses sheet and content of the labels, and prints them or saves a PDF."""

    #: (job) Print the labels.
    print_requested = Signal(object)
    #: (job) Write the labels to a PDF file.
    pdf_requested = Signal(object)

    def __init__(
        self, theme: Theme, plants: Sequence[PlantRow], sheet: int, line: str, parent: QWidget | None = None
    ) -> None:
        """Show the labels of `plants`; `sheet` is the index of the sheet in the list, `line` the user's own line."""
        super().__init__(self.tr("Print labels"), parent)
        self._theme = theme
        self._plants = plants
        self._shown_page = 0
        self._sheet_choice = SheetChoice()
        self._start_box = self._make_number_box()
        self._copies_box = self._make_number_box()
        self._copies_box.setMaximum(_MAX_COPIES)
        texts = (self.tr("Name"), self.tr("Tag"), self.tr("ID"), self.tr("QR code of the ID"), self.tr("Note"))
        self._content_checks = [QCheckBox(text) for text in texts]
        for check, is_checked in zip(self._content_checks, LabelContent(), strict=False):
            check.setChecked(bool(is_checked))
        self._line_edit = LineEdit()
        self._line_edit.setText(line)
        self._preview = PagePreview()
        self._previous_button = QPushButton(self.tr("Previous page"))
        self._next_button = QPushButton(self.tr("Next page"))
        self._page_buttons = QHBoxLayout()
        self._message = MessageLine(theme)
        self._print_button = self.add_primary(self.tr("&Print…"), lambda: self.print_requested.emit(self.job))
        self._pdf_button = self.buttons.addButton(self.tr("&Save as PDF…"), ButtonRole.ActionRole)
        self.buttons.addButton(self.tr("Cancel"), ButtonRole.RejectRole)
        self._sheet_choice.choose(sheet)
        self._lay_out()
        self._connect()
        self._show_job()

    @property
    def sheet_index(self) -> int:
        """The index of the chosen sheet in the list of sheets."""
        return self._sheet_choice.field.currentIndex()

    @property
    def line(self) -> str:
        """The line that the user has typed for each label, with fields such as {name}."""
        return self._line_edit.text()

    @property
    def job(self) -> LabelJob:
        """The labels that the fields describe; a new object at each call."""
        name, tag, plant_id, qr, note = (check.isChecked() for check in self._content_checks)
        content = LabelContent(name, tag, plant_id, qr, note, self.line)
        start = self._start_box.value() - 1
        copies = self._copies_box.value()
        return LabelJob(self._sheet_choice.sheet, self._plants, content, start, copies)

    def show_failure(self, text: str) -> None:
        """Show in the message line why printing or saving has failed."""
        self._message.show_message(Tone.ERROR, text)

    @Slot()
    def _show_job(self) -> None:
        """Show pages and preview of the described job, or why it cannot be printed; enable the buttons."""
        self._start_box.setMaximum(self._sheet_choice.sheet.label_count)
        job = self.job
        self._shown_page = max(0, min(self._shown_page, job.pages - 1))
        self._preview.show_page(job, self._shown_page)
        for button, is_possible in (
            (self._previous_button, self._shown_page > 0),
            (self._next_button, self._shown_page < job.pages - 1),
        ):
            button.setEnabled(is_possible)
            button.setVisible(job.pages > 1)
        for button in (self._pdf_button, self._print_button):
            button.setEnabled(job.sheet.fits_page and any(job.content))
        plants = plants_text(len(self._plants))
        sheets = translated(
            Text("{plants} on {count:,} sheets", one="{plants} on 1 sheet", count=job.pages, plants=plants)
        )
        self._message.show_message(Tone.HINT, sheets)
        unknown_field = job.content.unknown_field
        set_properties(self._line_edit, invalid=bool(unknown_field))
        if unknown_field:
            text = self.tr("{field} is not known. The line may have {name}, {tag}, {id} and {note}.")
            names = {field: f"{{{field}}}" for field in FIELDS}
            self._message.show_message(Tone.WARNING, text.format(field=unknown_field, **names))
        if not job.sheet.fits_page:
            self._message.show_message(Tone.WARNING, self.tr("These labels do not fit on the page."))

    @Slot(int)
    def _on_label_clicked(self, number: int) -> None:
        if self._shown_page == 0:
            self._start_box.setValue(number + 1)

    def _turn_pages(self, pages: int) -> None:
        self._shown_page += pages
        self._show_job()

    def _connect(self) -> None:
        self._sheet_choice.changed.connect(self._show_job)
        for box in (self._start_box, self._copies_box):
            box.valueChanged.connect(self._show_job)
        for check in self._content_checks:
            check.toggled.connect(self._show_job)
        self._line_edit.textChanged.connect(self._show_job)
        self._preview.label_clicked.connect(self._on_label_clicked)
        self._previous_button.clicked.connect(partial(self._turn_pages, -1))
        self._next_button.clicked.connect(partial(self._turn_pages, 1))
        self._pdf_button.clicked.connect(lambda: self.pdf_requested.emit(self.job))

    def _make_number_box(self) -> QSpinBox:
        box = make_spin_box(QSpinBox)
        box.setMinimum(1)
        box.setMinimumWidth(70)
        return box

    def _make_choices(self) -> QWidget:
        """Return the column of all fields: sheet, first label, copies, and content of a label."""
        content = QWidget()
        grid = QGridLayout()
        grid.setColumnStretch(0, 1)
        boxes = (
            (self.tr("Start at label (or click one)"), self._start_box),
            (self.tr("Copies of each"), self._copies_box),
        )
        add_labelled(grid, boxes, wrapped=True)
        fill(
            QVBoxLayout(content),
            PlainLabel(self.tr("Sheet"), role="caption", buddy=self._sheet_choice.field),
            self._sheet_choice,
            S,
            grid,
            S,
            PlainLabel(self.tr("On each label"), role="caption"),
            *self._content_checks,
            PlainLabel(
                self.tr("Own line, with {name}, {tag}, {id} or {note}"),
                role="caption",
                wrapped=True,
                buddy=self._line_edit,
            ),
            self._line_edit,
            STRETCH,
            margins=(0, 0, M, 0),
            spacing=S,
        )
        return content

    def _make_preview_part(self) -> QVBoxLayout:
        for button in (self._previous_button, self._next_button):
            button.setProperty("small", "true")
        fill(self._page_buttons, STRETCH, self._previous_button, self._next_button, STRETCH)
        return fill(QVBoxLayout(), (self._preview, 1), self._page_buttons, spacing=S)

    def _lay_out(self) -> None:
        area = ScrollArea(self._make_choices(), horizontal=False)
        area.setFixedWidth(self._theme.metrics.scaled(_LEFT_WIDTH) + XL)
        body = fill(QHBoxLayout(), area, (self._make_preview_part(), 1), spacing=L)
        scaled = self._theme.metrics.scaled
        self._message.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)  # a long text is wrapped
        self._message.setMinimumWidth(scaled(_MESSAGE_WIDTH))
        bottom = fill(QHBoxLayout(), (self._message, 1), self.buttons, spacing=S)
        self.break_rows(self._page_buttons, bottom)
        fill(QVBoxLayout(self), (body, 1), bottom, margins=(XL, L, XL, L), spacing=M)
        self.resize_to_fit(QSize(scaled(_WIDTH), scaled(_HEIGHT)))


class SheetChoice(QWidget):
    """A combo box of known sheets. Its last entry shows fields, in which the user describes another sheet."""

    #: Another sheet was chosen.
    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        #: The combo box of the sheets, for the label that is its buddy.
        self.field = ComboBox(self.tr("Sheet"))
        self.field.setMinimumWidth(_MIN_CHOICE_WIDTH)  # narrower than its longest text
        for sheet in SHEETS:
            size = f"{_mm_text(sheet.width)} × {_mm_text(sheet.height)} mm"
            text = self.tr("{page}, {count} labels, {size}")
            page, _, _ = QPageSize.name(sheet.page).partition(" ")
            self.field.addItem(text.format(page=page, count=sheet.label_count, size=size))
        self.field.addItem(self.tr("Custom size"))
        self._names_label = PlainLabel(tone="muted", wrapped=True)
        self._custom_fields = QWidget()
        papers = [(QPageSize.name(paper), paper.value) for paper in PAPERS]
        self._page_box = ComboBox(self.tr("Page"), papers)
        #: The boxes of the custom size, by the names of the fields of `Sheet`.
        self._size_boxes: dict[str, QSpinBox | QDoubleSpinBox] = {}
        self._lay_out()
        self._fill_custom_fields(SHEETS[0])
        self._show_chosen()
        self.field.currentIndexChanged.connect(self._show_chosen)
        self._page_box.currentIndexChanged.connect(self.changed)

    @property
    def sheet(self) -> Sheet:
        """The chosen sheet, or the one that the fields of the custom size describe."""
        if self.field.currentIndex() < len(SHEETS):
            return SHEETS[self.field.currentIndex()]
        values: dict[str, Any] = {field: box.value() for field, box in self._size_boxes.items()}
        return Sheet("", QPageSize.PageSizeId(self._page_box.currentData()), **values)

    def choose(self, index: int) -> None:
        """Choose a sheet by its index in the list, the first one if there is none."""
        self.field.setCurrentIndex(index if 0 <= index < self.field.count() else 0)

    def _show_chosen(self) -> None:
        is_custom = self.field.currentIndex() == len(SHEETS)
        self._custom_fields.setVisible(is_custom)
        self._names_label.setVisible(not is_custom)
        if not is_custom:
            self._names_label.setText(self.tr("{names} and alike").format(names=self.sheet.name))
            self._fill_custom_fields(self.sheet)
        self.changed.emit()

    def _fill_custom_fields(self, sheet: Sheet) -> None:
        """Copy the sizes of a sheet to the fields of the custom size, as a start for the user."""
        self._page_box.setCurrentIndex(self._page_box.findData(sheet.page.value))
        for field, box in self._size_boxes.items():
            with QSignalBlocker(box):
                box.setValue(getattr(sheet, field))

    def _make_count_box(self) -> QSpinBox:
        box = make_spin_box(QSpinBox)
        box.setRange(1, _MAX_COUNT)
        box.valueChanged.connect(self.changed)
        return box

    def _make_length_box(self, minimum: float = 0) -> QDoubleSpinBox:
        box = make_spin_box(QDoubleSpinBox)
        box.setRange(minimum, _MAX_MM)
        box.setDecimals(2)
        box.setSuffix(" mm")
        box.valueChanged.connect(self.changed)
        return box

    def _lay_out(self) -> None:
        counts = {"columns": self.tr("Columns"), "rows": self.tr("Rows")}
        sides = {"width": self.tr("Width"), "height": self.tr("Height")}
        margins = {"left": self.tr("Left margin"), "top": self.tr("Top margin")}
        gaps = {"column_gap": self.tr("Column gap"), "row_gap": self.tr("Row gap")}
        self._size_boxes |= {field: self._make_count_box() for field in counts}
        self._size_boxes |= {field: self._make_length_box(_MIN_LABEL_MM) for field in sides}
        self._size_boxes |= {field: self._make_length_box() for field in margins | gaps}
        texts = (self.tr("Page"), *(counts | sides | margins | gaps).values())
        grid = QGridLayout(self._custom_fields)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(XS)
        add_labelled(grid, zip(texts, (self._page_box, *self._size_boxes.values()), strict=True))
        fill(QVBoxLayout(self), self.field, self._names_label, self._custom_fields, margins=0, spacing=S)


def _mm_text(length: float) -> str:
    return QLocale().toString(float(length), "g", 4)
