"""What a rule would change: read in the background, and the table of its first texts, each with a check mark."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import closing
from typing import Any, NamedTuple

from PySide6.QtCore import QModelIndex, QObject, QPointF, QRect, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QFontMetricsF, QKeyEvent, QPainter, QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QStyleOptionViewItem
from typing_extensions import override

from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import PlantRow
from plantdesk.domain.rewriting import FIELDS, Replacement, RewriteRule, apply_replacements
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import is_blank
from plantdesk.ui.background import Task
from plantdesk.ui.qt import Index
from plantdesk.ui.texts import one_line, translate
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.painting import line_layout
from plantdesk.ui.widgets.plain_table import CellDelegate, PlainTable, RowModel

#: Texts that are listed; the others are counted.
MAX_LISTED = 1000
#: Characters of a text that are shown, how many may precede its first match, and how many are kept if more do.
_MAX_SHOWN, _MAX_BEFORE, _BEFORE = 300, 60, 20
#: Seconds after which the first matches are shown, though not all are counted.
_FIRST_SECONDS = 0.3
#: The role under which the delegate gets the ChangedText itself.
ROW_ROLE = Qt.ItemDataRole.UserRole
_CHECKED, _UNCHECKED = Qt.CheckState.Checked, Qt.CheckState.Unchecked


class Segment(NamedTuple):
    """A part of a text as it is shown: `kind` is “same”, “old” or “new”."""

    kind: str
    text: str


class ChangedText(NamedTuple):
    """A name or note that would change. `is_blank`: the name would have no letter, so it stays."""

    id: int
    field: str
    segments: tuple[Segment, ...]
    places: int
    is_blank: bool

    @property
    def key(self) -> tuple[int, str]:
        """What identifies it."""
        return self.id, self.field

    def text(self, *, after: bool) -> str:
        """Return it as it would be, or as it is."""
        return "".join(part for kind, part in self.segments if kind != ("old" if after else "new"))


class Preview(NamedTuple):
    """The listed texts that would change, and the numbers of all matches and of the plants that have them.

    `since` is the position of the events at which this was read.
    """

    since: str = ""
    rows: tuple[ChangedText, ...] = ()
    places: int = 0
    changed: int = 0
    plants: int = 0
    is_complete: bool = False


def read_preview(store: PlantStore, rule: RewriteRule, plants: Selection, task: Task) -> Preview:
    """Return the preview of a rule for a set of plants; before that, report its first part.

    Raises InterruptedError, StoreError, InvalidPatternError and InvalidPlantError.
    """
    rule.check()
    with closing(store.reader()) as reader, task.interrupted_by(reader.interrupt):
        since = reader.events(None).position
        rows: list[ChangedText] = []
        places = changed = count = 0
        report_at = time.monotonic() + _FIRST_SECONDS
        for row in reader.selected(plants):
            count += 1
            found = [*_changed_texts(rule, row, is_listed=len(rows) < MAX_LISTED)]
            rows += found if len(rows) < MAX_LISTED else []
            places += sum(each.places for each in found if not each.is_blank)
            changed += any(not each.is_blank for each in found)
            if time.monotonic() > report_at:
                if task.cancelled:
                    raise InterruptedError
                task.report(Preview(since, tuple(rows)))
                report_at = float("inf") if len(rows) >= MAX_LISTED else time.monotonic() + 1
    return Preview(since, tuple(rows), places, changed, count, is_complete=True)


def _changed_texts(rule: RewriteRule, row: PlantRow, *, is_listed: bool) -> Iterator[ChangedText]:
    for field in FIELDS:
        text = str(getattr(row, field) or "")
        places = rule.replacements(field, text)
        if places:
            after = apply_replacements(field, text, places)
            segments = tuple(_segments(text, places)) if is_listed else ()
            yield ChangedText(row.id, field, segments, len(places), field == "name" and is_blank(after))


def _segments(text: str, places: list[Replacement]) -> Iterator[Segment]:
    """Yield the visible segments of a text: those around its first match if that is far from the start."""
    start = places[0].start - _BEFORE if places[0].start > _MAX_BEFORE or "\n" in text[: places[0].start] else 0
    start = max(0, start)
    end = start + _MAX_SHOWN
    if start:
        yield Segment("same", "… ")
    at = start
    for place in places:
        if place.start >= end:
            break
        yield Segment("same", text[at : place.start])
        yield Segment("old", text[place.start : min(place.end, end)])
        yield Segment("new", place.new[:_MAX_SHOWN])
        at = place.end
    if at < len(text):
        yield Segment("same", text[at:end] + ("…" if end < len(text) else ""))


def field_text(field: str) -> str:
    """Return the name of a field for users."""
    return translate("ChangedTexts", "Name") if field == "name" else translate("ChangedTexts", "Note")


class ChangedTexts(RowModel[ChangedText]):
    """The texts of a preview, and which of them stay. `marks_changed`: the user has ticked or cleared some."""

    marks_changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__((self.tr("ID"), self.tr("In"), self.tr("Change", "a heading")), parent)
        self._others = 0, 0
        #: Whether texts are ticked unless they are in `_marked`, including those that are not listed.
        self._ticks_all = True
        self._marked: set[tuple[int, str]] = set()

    def show(self, preview: Preview) -> None:
        """Show other rows; if they are of the same texts, update only what has changed in them."""
        is_same = [row.key for row in preview.rows] == [row.key for row in self.rows]
        shown = [row for row in preview.rows if not row.is_blank]
        self._others = (
            preview.places - sum(row.places for row in shown),
            preview.changed - len({row.id for row in shown}),
        )
        if is_same:
            self.rows = [*preview.rows]
            self.report_changed()
        else:
            self.set_rows(preview.rows)

    def tick_all(self, *, ticked: bool) -> None:
        """Tick all texts, or none, including those that are not listed."""
        self._ticks_all = ticked
        self._marked.clear()
        self._report()

    def toggle(self, index: Index) -> None:
        """Tick the text of a row, or clear its mark."""
        row = self.rows[index.row()]
        if not row.is_blank:
            self._marked ^= {row.key}
            self._report()

    def is_ticked(self, row: ChangedText) -> bool:
        """Return whether a text is to be changed."""
        return not row.is_blank and self._ticks_all is not (row.key in self._marked)

    @property
    def state(self) -> Qt.CheckState:
        """Whether all texts are ticked, some, or none."""
        states = {self.is_ticked(row) for row in self.rows if not row.is_blank}
        if self._others != (0, 0):
            states.add(self._ticks_all)
        if len(states) > 1:
            return Qt.CheckState.PartiallyChecked
        return _CHECKED if True in states else _UNCHECKED

    @property
    def counts(self) -> tuple[int, int, int]:
        """The numbers of ticked matches, of plants with ticked texts, and of listed texts that are left out."""
        ticked = [row for row in self.rows if self.is_ticked(row)]
        places, plants = self._others if self._ticks_all else (0, 0)
        return (
            places + sum(row.places for row in ticked),
            plants + len({row.id for row in ticked}),
            len(self.rows) - len(ticked),
        )

    @property
    def only(self) -> list[int] | None:
        """The ids of the plants that are to be changed; None if unlisted texts are ticked as well."""
        return None if self._ticks_all else sorted({row.id for row in self.rows if self.is_ticked(row)})

    @property
    def left(self) -> Collection[tuple[int, str]]:
        """The ids and fields that stay as they are."""
        return frozenset(row.key for row in self.rows if not self.is_ticked(row))

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                text = one_line(row.text(after=self.is_ticked(row)))
                return (str(row.id), field_text(row.field), text)[index.column()]
            case Qt.ItemDataRole.CheckStateRole if index.column() == 0 and not row.is_blank:
                return _CHECKED if self.is_ticked(row) else _UNCHECKED
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._spoken(row)
            case _:
                return row if role == ROW_ROLE else None

    @override
    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role == Qt.ItemDataRole.CheckStateRole:
            self.toggle(index)
        return role == Qt.ItemDataRole.CheckStateRole

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsUserCheckable

    def end_text(self, row: ChangedText) -> str:
        """Return why a text stays; empty if it is changed."""
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
        self.report_changed()
        self.marks_changed.emit()


class ChangedTextTable(PlainTable):
    """Space ticks the text of a row. `plant_requested(id)`: F2 or a double click on it."""

    plant_requested = Signal(object)

    def __init__(self, texts: ChangedTexts, theme: Theme) -> None:
        super().__init__(theme, translate("ChangedTexts", "What will change"), [""] * texts.columnCount(), wide=2)
        self.setModel(texts)
        self._texts = texts
        self.setItemDelegateForColumn(2, _TextDelegate(texts, theme, self))
        self.doubleClicked.connect(self._request)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        if event.key() == Qt.Key.Key_Space and index.isValid():
            self._texts.toggle(index)
        elif event.key() == Qt.Key.Key_F2 and index.isValid():
            self._request(index)
        else:
            super().keyPressEvent(event)

    def _request(self, index: QModelIndex) -> None:
        self.plant_requested.emit(index.data(ROW_ROLE).id)


class _TextDelegate(CellDelegate):
    """Paints removed text struck out, new text bold, and the reason if a text stays."""

    def __init__(self, texts: ChangedTexts, theme: Theme, table: PlainTable) -> None:
        super().__init__(table)
        self._texts, self._theme = texts, theme

    @override
    def paint_text(self, painter: QPainter, cell: QStyleOptionViewItem, rect: QRect, index: Index) -> None:
        text, formats = "", []
        for part, text_format in self._parts(index.data(ROW_ROLE), cell.font):
            found = QTextLayout.FormatRange()
            found.start, found.length, found.format = len(text), len(part), text_format
            formats.append(found)
            text += part
        shown = QFontMetrics(cell.font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        layout = line_layout(shown, formats, cell.font, cell.direction, rect.width())
        painter.setClipRect(rect)
        height = QFontMetricsF(cell.font).height()  # as QPainter.drawText does; that of the layout is rounded up
        top = rect.top() + (rect.height() - height) / 2
        layout.draw(painter, QPointF(rect.left(), top))

    def _parts(self, row: ChangedText, font: QFont) -> list[tuple[str, QTextCharFormat]]:
        if reason := self._texts.end_text(row):
            before = one_line(row.text(after=False))
            return [(f"{before} ", self._format(font, "text")), (f"· {reason}", self._format(font, "text_2"))]
        formats = {"same": self._format(font, "text"), "old": self._format(font, "error", "error_bg")}
        formats["old"].setFontStrikeOut(True)
        formats["new"] = self._format(font, "ok", "ok_bg")
        formats["new"].setFontWeight(QFont.Weight.DemiBold)
        return [(shown_text(each), formats[each.kind]) for each in row.segments]

    def _format(self, font: QFont, color: str, background: str = "") -> QTextCharFormat:
        made = QTextCharFormat()
        made.setFont(font)
        made.setForeground(self._theme.colors.color(color))
        if background:
            made.setBackground(self._theme.colors.color(background))
        return made


def shown_text(segment: Segment) -> str:
    """Return a segment on one line. If it changes and is blank, its blanks are marked."""
    text = one_line(segment.text)
    return text.replace(" ", "␣").replace("\u00a0", "␣") if segment.kind != "same" and not text.strip() else text
