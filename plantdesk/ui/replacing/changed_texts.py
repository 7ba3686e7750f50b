"""The list of texts that would change: each with a check mark, what is left out and what comes instead of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QStyle, QStyledItemDelegate
from typing_extensions import override

from plantdesk.ui.replacing.preview import MAX_BEFORE
from plantdesk.ui.texts import one_line, translate
from plantdesk.ui.theme.metrics import XS, L, M, S, tabular
from plantdesk.ui.widgets.painting import draw_line, paint_row

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from PySide6.QtCore import QObject
    from PySide6.QtGui import QKeyEvent, QMouseEvent
    from PySide6.QtWidgets import QStyleOptionViewItem

    from plantdesk.ui.qt import Index
    from plantdesk.ui.replacing.preview import ChangedText, Preview, Segment
    from plantdesk.ui.theme.theme import Theme

#: The role under which the delegate gets the ChangedText itself.
ROW_ROLE = Qt.ItemDataRole.UserRole
_CHECKED, _UNCHECKED = Qt.CheckState.Checked, Qt.CheckState.Unchecked


def field_text(field: str) -> str:
    """Return the name of a field for users."""
    return translate("ChangedTexts", "Name") if field == "name" else translate("ChangedTexts", "Note")


class ChangedTexts(QAbstractListModel):
    """The texts of a preview, and which of them are to stay. `marks_changed`: the user has ticked or cleared some."""

    marks_changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._rows: tuple[ChangedText, ...] = ()
        self._others = 0, 0
        #: Whether the rows are those of an older input.
        self.is_outdated = False
        #: Whether texts are ticked unless they are in `_marked`, also those that are not listed.
        self._ticks_all = True
        self._marked: set[tuple[int, str]] = set()

    def show(self, preview: Preview) -> None:
        """Show other rows; where they are of the same texts, only what has changed in them."""
        is_same = [row.key for row in preview.rows] == [row.key for row in self._rows]
        if not is_same:
            self.beginResetModel()
        self._rows, self.is_outdated = preview.rows, False
        shown = [row for row in preview.rows if not row.is_blank]
        self._others = (
            preview.places - sum(row.places for row in shown),
            preview.changed - len({row.id for row in shown}),
        )
        if not is_same:
            self.endResetModel()
        else:
            self._report_rows()

    def set_outdated(self) -> None:
        """Show the rows in grey until others are read."""
        if not self.is_outdated:
            self.is_outdated = True
            self._report_rows()

    def tick_all(self, *, ticked: bool) -> None:
        """Tick all texts, or none, also those that are not listed."""
        self._ticks_all = ticked
        self._marked.clear()
        self._report()

    def toggle(self, index: Index) -> None:
        """Tick a text, or clear its mark."""
        if self.flags(index) & Qt.ItemFlag.ItemIsUserCheckable:
            self._marked ^= {self._rows[index.row()].key}
            self._report()

    def is_ticked(self, row: ChangedText) -> bool:
        """Whether a text is to be changed."""
        return not row.is_blank and self._ticks_all is not (row.key in self._marked)

    @property
    def state(self) -> Qt.CheckState:
        """Whether all texts are ticked, some, or none."""
        states = {self.is_ticked(row) for row in self._rows if not row.is_blank}
        if self._others != (0, 0):
            states.add(self._ticks_all)
        return Qt.CheckState.PartiallyChecked if len(states) > 1 else _CHECKED if True in states else _UNCHECKED

    @property
    def counts(self) -> tuple[int, int, int]:
        """The places that are ticked, the plants that they are in, and the texts that are left out."""
        ticked = [row for row in self._rows if self.is_ticked(row)]
        places, plants = self._others if self._ticks_all else (0, 0)
        return (
            places + sum(row.places for row in ticked),
            plants + len({row.id for row in ticked}),
            len(self._rows) - len(ticked),
        )

    @property
    def only(self) -> list[int] | None:
        """The ids of the plants that are to be changed; None where those that are not listed are among them."""
        return None if self._ticks_all else sorted({row.id for row in self._rows if self.is_ticked(row)})

    @property
    def left(self) -> Collection[tuple[int, str]]:
        """The ids and fields that stay as they are."""
        return frozenset(row.key for row in self._rows if not self.is_ticked(row))

    @override
    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self._rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return one_line(row.text(after=self.is_ticked(row)))
            case Qt.ItemDataRole.CheckStateRole:
                return _CHECKED if self.is_ticked(row) else _UNCHECKED
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._spoken(row)
            case _:
                return row if role == ROW_ROLE else None

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags if self._rows[index.row()].is_blank else flags | Qt.ItemFlag.ItemIsUserCheckable

    def end_text(self, row: ChangedText) -> str:
        """Return why a text stays; empty where it is changed."""
        if row.is_blank:
            return self.tr("would have no name")
        return "" if self.is_ticked(row) else self.tr("stays")

    def _spoken(self, row: ChangedText) -> str:
        before, after = one_line(row.text(after=False)), one_line(row.text(after=True))
        text = self.tr("{id}, {field}: {before}, {reason}") if self.end_text(row) else ""
        text = text or self.tr("{id}, {field}: {before} becomes {after}")
        values = {"id": row.id, "field": field_text(row.field), "before": before, "after": after}
        return text.format(**values, reason=self.end_text(row))

    def _report(self) -> None:
        self._report_rows()
        self.marks_changed.emit()

    def _report_rows(self) -> None:
        if self._rows:
            self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1))


class ChangedTextView(QListView):
    """Space, or a click on the check mark, ticks a text. `plant_requested(id)`: F2 or a double click on it."""

    plant_requested = Signal(object)

    def __init__(self, texts: ChangedTexts, theme: Theme) -> None:
        super().__init__()
        self._texts = texts
        self._delegate = _TextDelegate(texts, theme, self)
        self._pressed = -1
        self.setModel(texts)
        self.setItemDelegate(self._delegate)
        self.setAccessibleName(self.tr("What will change"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformItemSizes(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        self.setProperty("pane", "changes")
        texts.modelReset.connect(self._delegate.measure)

    def starts(self) -> tuple[int, int, int]:
        """Return where check mark, ID and field begin, and where the text does, from the leading edge."""
        return self._delegate.starts()[:3]

    @property
    def text_start(self) -> int:
        """Where the texts begin, from the leading edge."""
        return self._delegate.starts()[3]

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        if event.key() == Qt.Key.Key_Space and index.isValid():
            self._texts.toggle(index)
        elif event.key() == Qt.Key.Key_F2 and index.isValid():
            self.plant_requested.emit(index.data(ROW_ROLE).id)
        else:
            super().keyPressEvent(event)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self._pressed = self._check_at(event) if event.button() is Qt.MouseButton.LeftButton else -1

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        pressed, self._pressed = self._pressed, -1
        if pressed >= 0 and pressed == self._check_at(event):
            self._texts.toggle(self._texts.index(pressed))

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        self._pressed = self._check_at(event)
        if index.isValid() and self._pressed < 0:
            self.plant_requested.emit(index.data(ROW_ROLE).id)

    def _check_at(self, event: QMouseEvent) -> int:
        """Return the row whose check mark is under the pointer; -1 where there is none."""
        position = event.position().toPoint()
        index = self.indexAt(position)
        area = QRect(self.visualRect(index))
        area.setWidth(self._delegate.starts()[1])
        area = QStyle.visualRect(self.layoutDirection(), self.visualRect(index), area)
        return index.row() if index.isValid() and area.contains(position) else -1


_BOX = 20


class _TextDelegate(QStyledItemDelegate):
    """Paints a row. Everything is laid out from the leading edge, so that it mirrors."""

    def __init__(self, texts: ChangedTexts, theme: Theme, view: QListView) -> None:
        super().__init__(view)
        self._texts, self._theme, self._view = texts, theme, view
        self._digits = 4

    @Slot()
    def measure(self) -> None:
        """Give the IDs the room that the widest one needs."""
        ids = (self._texts.index(row).data(ROW_ROLE).id for row in range(self._texts.rowCount()))
        self._digits = max((len(str(each)) for each in ids), default=4)

    def starts(self) -> tuple[int, int, int, int]:
        """Return where check mark, ID, field and text begin."""
        metrics = QFontMetrics(tabular(self._theme.font()))
        check, box = M, self._theme.metrics.scaled(_BOX)
        number = check + box + M
        field = number + metrics.horizontalAdvance("0" * max(self._digits, 3)) + L + S
        widest = max(metrics.horizontalAdvance(field_text(each)) for each in ("name", "note"))
        return check, number, field, field + widest + L

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(100, self._theme.metrics.row)

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: ChangedText = index.data(ROW_ROLE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_row(painter, self._theme, option, has_line=index.row() + 1 < self._texts.rowCount())
        check, number, field, text = self.starts()
        self._paint_check(painter, option, check, row)
        painter.setFont(tabular(self._theme.font()))
        painter.setPen(self._theme.colors.color("text_2"))
        for start, end, shown in ((number, field, str(row.id)), (field, text, field_text(row.field))):
            draw_line(painter, self._part(option, start, end), shown, option.direction)
        self._paint_text(painter, option, text, row)
        painter.restore()

    def _part(self, option: QStyleOptionViewItem, start: int, end: int) -> QRect:
        """Return the part of a row between two distances from its leading edge."""
        rect = option.rect
        part = QRect(rect.left() + start, rect.top(), end - start, rect.height())
        return QStyle.visualRect(option.direction, rect, part)

    def _paint_check(self, painter: QPainter, option: QStyleOptionViewItem, start: int, row: ChangedText) -> None:
        box, ticked = self._theme.metrics.scaled(_BOX), self._texts.is_ticked(row)
        rect = self._part(option, start, start + box)
        rect.setTop(rect.center().y() - box // 2 + 1)
        rect.setHeight(box)
        colors = self._theme.colors
        painter.setPen(colors.color("accent" if ticked else "line" if row.is_blank else "border"))
        painter.setBrush(colors.color("accent" if ticked else "surface"))
        painter.drawRoundedRect(rect.toRectF().adjusted(0.5, 0.5, -0.5, -0.5), XS, XS)
        if ticked:
            size = box - XS
            pixmap = self._theme.icons.pixmap("check", "on_accent", size, self._view.devicePixelRatioF())
            place = QRect(0, 0, size, size)
            place.moveCenter(rect.center())
            painter.drawPixmap(place, pixmap)

    def _paint_text(self, painter: QPainter, option: QStyleOptionViewItem, start: int, row: ChangedText) -> None:
        end = option.rect.width() - L
        if shown := self._texts.end_text(row):
            width = painter.fontMetrics().horizontalAdvance(shown)
            draw_line(painter, self._part(option, end - width - 1, end), shown, option.direction)
            text = one_line(row.text(after=False))
            draw_line(painter, self._part(option, start, end - width - L), text, option.direction)
            return
        for segment in self._shortened(row.segments, end - start):
            if start < end:
                start = self._paint_segment(painter, option, start, end, segment)

    def _shortened(self, segments: Sequence[Segment], width: int) -> Sequence[Segment]:
        """Return the segments from shortly before the first change, where that would be beyond the row's end."""
        bold = QFont(self._theme.font())
        bold.setWeight(QFont.Weight.DemiBold)
        first, *others = segments
        needed = sum(map(QFontMetrics(bold).horizontalAdvance, map(shown_text, segments[:3])))
        if first.kind != "same" or len(first.text) <= MAX_BEFORE or needed <= width:
            return segments
        return [first._replace(text="… " + first.text[-MAX_BEFORE:]), *others]

    def _paint_segment(
        self, painter: QPainter, option: QStyleOptionViewItem, start: int, end: int, segment: Segment
    ) -> int:
        """Paint a part of a text, and return where the next one begins."""
        kind, text = segment.kind, shown_text(segment)
        if not text:
            return start
        font, colors = QFont(self._theme.font()), self._theme.colors
        gap = 0 if kind == "same" else 2
        if kind != "same":
            font.setWeight(QFont.Weight.DemiBold)
            font.setStrikeOut(kind == "old")
        painter.setFont(font)
        width = min(painter.fontMetrics().horizontalAdvance(text), end - start - 2 * gap)
        rect = self._part(option, start + gap, start + gap + width + 1)
        if kind != "same" and not self._texts.is_outdated:
            height = painter.fontMetrics().height() + 2
            area = QRect(rect.left() - gap, rect.center().y() - height // 2, width + 2 * gap, height + 1)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.color("error_bg" if kind == "old" else "ok_bg"))
            painter.drawRoundedRect(area, 3, 3)
        color = {"same": "text", "old": "error", "new": "ok"}[kind]
        painter.setPen(colors.color("text_2" if self._texts.is_outdated else color))
        draw_line(painter, rect, text, option.direction)
        return start + width + 2 * gap


def shown_text(segment: Segment) -> str:
    """Return a segment on one line; blanks alone, which change, are marked."""
    text = one_line(segment.text)
    return text.replace(" ", "␣").replace("\u00a0", "␣") if segment.kind != "same" and not text.strip() else text
