"""The preview of a rewrite rule: reads the texts that it would change, and lists them with check marks."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
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
from plantdesk.ui.widgets.painting import lay_out_line
from plantdesk.ui.widgets.plain_table import CellDelegate, PlainTable, RowModel

#: Texts that are listed; the others are counted.
MAX_LISTED = 1000
#: The most characters of a text that are shown.
_MAX_SHOWN_LENGTH = 300
#: If more characters than this precede the first match, only the last _SHOWN_BEFORE_MATCH of them are shown.
_MAX_BEFORE_MATCH = 60
_SHOWN_BEFORE_MATCH = 20
#: Seconds until the matches found so far are reported.
_FIRST_REPORT_SECONDS = 0.3
#: The role under which the delegate gets the ChangedText itself.
ROW_ROLE = Qt.ItemDataRole.UserRole
_CHECKED = Qt.CheckState.Checked
_UNCHECKED = Qt.CheckState.Unchecked


class Segment(NamedTuple):
    """A part of a text as it is shown: `kind` is “same”, “old” or “new”."""

    kind: str
    text: str


class ChangedText(NamedTuple):
    """A name or note that would change. `is_blank`: the new name would have no letter, so it is not changed."""

    id: int
    field: str
    segments: tuple[Segment, ...]
    match_count: int
    is_blank: bool

    @property
    def key(self) -> tuple[int, str]:
        """The id of the plant and the name of the field, which identify the text."""
        return self.id, self.field

    def text(self, *, after: bool) -> str:
        """Return the shown text, after or before the change; long texts are cut."""
        return "".join(part for kind, part in self.segments if kind != ("old" if after else "new"))


@dataclass(frozen=True)
class TextChanges:
    """The first texts that a rule would change, and counts of all of them.

    `since` is the position of the events at which the texts were read.
    """

    since: str = ""
    rows: tuple[ChangedText, ...] = ()
    match_count: int = 0
    changed_plants: int = 0
    searched_plants: int = 0
    is_complete: bool = False


class TickedCounts(NamedTuple):
    """The numbers of ticked matches, of plants with ticked texts, and of listed texts without a tick."""

    matches: int
    plants: int
    unticked: int


def read_preview(store: PlantStore, rule: RewriteRule, plants: Selection, task: Task) -> TextChanges:
    """Return the preview of a rule for a set of plants, and report its rows while they are read.

    Raises InterruptedError, StoreError, InvalidPatternError and InvalidPlantError.
    """
    rule.check()
    with closing(store.reader()) as reader, task.interrupted_by(reader.interrupt):
        since = reader.events(None).position
        rows: list[ChangedText] = []
        match_count = changed_plants = searched_plants = 0
        next_report_at = time.monotonic() + _FIRST_REPORT_SECONDS
        for row in reader.selected(plants):
            searched_plants += 1
            is_listed = len(rows) < MAX_LISTED
            changed = [*_find_changed_texts(rule, row, is_listed=is_listed)]
            if is_listed:
                rows += changed
            match_count += sum(text.match_count for text in changed if not text.is_blank)
            if any(not text.is_blank for text in changed):
                changed_plants += 1
            if time.monotonic() > next_report_at:
                task.raise_if_cancelled()
                task.report(TextChanges(since, tuple(rows)))
                next_report_at = float("inf") if len(rows) >= MAX_LISTED else time.monotonic() + 1
    return TextChanges(since, tuple(rows), match_count, changed_plants, searched_plants, is_complete=True)


def _find_changed_texts(rule: RewriteRule, row: PlantRow, *, is_listed: bool) -> Iterator[ChangedText]:
    for field in FIELDS:
        text = str(getattr(row, field) or "")
        places = rule.replacements(field, text)
        if places:
            after = apply_replacements(field, text, places)
            segments = tuple(_make_segments(text, places)) if is_listed else ()
            yield ChangedText(row.id, field, segments, len(places), field == "name" and is_blank(after))


def _make_segments(text: str, places: list[Replacement]) -> Iterator[Segment]:
    """Yield the shown segments of a text: from its start, or shortly before the first match."""
    first_match = places[0].start
    is_far = first_match > _MAX_BEFORE_MATCH or "\n" in text[:first_match]
    start = max(0, first_match - _SHOWN_BEFORE_MATCH) if is_far else 0
    end = start + _MAX_SHOWN_LENGTH
    if start:
        yield Segment("same", "… ")
    position = start
    for place in places:
        if place.start >= end:
            break
        yield Segment("same", text[position : place.start])
        yield Segment("old", text[place.start : min(place.end, end)])
        yield Segment("new", place.new[:_MAX_SHOWN_LENGTH])
        position = place.end
    if position < len(text):
        yield Segment("same", text[position:end] + ("…" if end < len(text) else ""))


def field_text(field: str) -> str:
    """Return the translated name of a field, “Name” or “Note”."""
    return translate("ChangedTexts", "Name") if field == "name" else translate("ChangedTexts", "Note")


class ChangedTexts(RowModel[ChangedText]):
    """The model of the texts that a rule changes. Each has a check mark: ticked texts are changed."""

    #: Other texts are ticked.
    ticks_changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__((self.tr("ID"), self.tr("In"), self.tr("Change", "a heading")), parent)
        #: The counts of the texts that are not listed.
        self._unlisted = TickedCounts(0, 0, 0)
        #: Whether texts are ticked unless they are among the exceptions; this decides about unlisted texts.
        self._ticks_all = True
        self._exceptions: set[tuple[int, str]] = set()

    def show(self, preview: TextChanges) -> None:
        """List the texts of a preview; the model is reset only if they are other texts than before."""
        has_same_keys = [row.key for row in preview.rows] == [row.key for row in self.rows]
        listed = [row for row in preview.rows if not row.is_blank]
        matches = preview.match_count - sum(row.match_count for row in listed)
        plants = preview.changed_plants - len({row.id for row in listed})
        self._unlisted = TickedCounts(matches, plants, 0)
        if has_same_keys:
            self.rows = [*preview.rows]
            self.report_changed()
        else:
            self.set_rows(preview.rows)

    def tick_all(self, *, ticked: bool) -> None:
        """Tick all texts, or none, including the unlisted ones."""
        self._ticks_all = ticked
        self._exceptions.clear()
        self._emit_ticks_changed()

    def toggle(self, index: Index) -> None:
        """Tick the text of a row, or clear its tick."""
        row = self.rows[index.row()]
        if not row.is_blank:
            self._exceptions ^= {row.key}
            self._emit_ticks_changed()

    def is_ticked(self, row: ChangedText) -> bool:
        """Return whether a text is ticked, and so will be changed."""
        is_exception = row.key in self._exceptions
        return not row.is_blank and self._ticks_all is not is_exception

    @property
    def check_state(self) -> Qt.CheckState:
        """Whether all texts are ticked, some, or none, including the unlisted ones."""
        states = {self.is_ticked(row) for row in self.rows if not row.is_blank}
        if self._unlisted.matches or self._unlisted.plants:
            states.add(self._ticks_all)
        if len(states) > 1:
            return Qt.CheckState.PartiallyChecked
        return _CHECKED if True in states else _UNCHECKED

    @property
    def counts(self) -> TickedCounts:
        """The counts of ticked matches and plants, also unlisted ones, and of texts without a tick."""
        ticked = [row for row in self.rows if self.is_ticked(row)]
        matches = sum(row.match_count for row in ticked)
        plants = len({row.id for row in ticked})
        if self._ticks_all:
            matches += self._unlisted.matches
            plants += self._unlisted.plants
        return TickedCounts(matches, plants, len(self.rows) - len(ticked))

    @property
    def ticked_ids(self) -> list[int] | None:
        """The ids of the plants with ticked texts; None if unlisted texts are ticked as well."""
        return None if self._ticks_all else sorted({row.id for row in self.rows if self.is_ticked(row)})

    @property
    def unticked_keys(self) -> Collection[tuple[int, str]]:
        """The ids and fields of the listed texts without a tick."""
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
                return self._spoken_text(row)
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

    def unchanged_reason(self, row: ChangedText) -> str:
        """Return why a text is not changed; empty if it is ticked."""
        if row.is_blank:
            return self.tr("would have no name")
        return "" if self.is_ticked(row) else self.tr("stays")

    def _spoken_text(self, row: ChangedText) -> str:
        before = one_line(row.text(after=False))
        after = one_line(row.text(after=True))
        reason = self.unchanged_reason(row)
        changed = self.tr("{id}, {field}: {before} becomes {after}")
        unchanged = self.tr("{id}, {field}: {before}, {reason}")
        template = unchanged if reason else changed
        return template.format(id=row.id, field=field_text(row.field), before=before, after=after, reason=reason)

    def _emit_ticks_changed(self) -> None:
        self.report_changed()
        self.ticks_changed.emit()


class ChangedTextTable(PlainTable):
    """The table of the texts that a rule changes. Space ticks a text; F2 or a double click shows its plant."""

    #: (id) F2 was pressed, or a row double-clicked: show its plant.
    plant_requested = Signal(object)

    def __init__(self, texts: ChangedTexts, theme: Theme) -> None:
        super().__init__(theme, translate("ChangedTexts", "What will change"), [""] * texts.columnCount(), wide=2)
        self.setModel(texts)
        self._texts = texts
        self.setItemDelegateForColumn(2, _TextDelegate(texts, theme, self))
        self.doubleClicked.connect(self._request_plant)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        if event.key() == Qt.Key.Key_Space and index.isValid():
            self._texts.toggle(index)
        elif event.key() == Qt.Key.Key_F2 and index.isValid():
            self._request_plant(index)
        else:
            super().keyPressEvent(event)

    def _request_plant(self, index: QModelIndex) -> None:
        self.plant_requested.emit(index.data(ROW_ROLE).id)


class _TextDelegate(CellDelegate):
    """Paints removed text struck out and new text bold; if a text is not changed, it paints the reason."""

    def __init__(self, texts: ChangedTexts, theme: Theme, table: PlainTable) -> None:
        super().__init__(table)
        self._texts = texts
        self._theme = theme

    @override
    def paint_text(self, painter: QPainter, cell: QStyleOptionViewItem, rect: QRect, index: Index) -> None:
        text = ""
        formats = []
        for part, text_format in self._make_parts(index.data(ROW_ROLE), cell.font):
            format_range = QTextLayout.FormatRange()
            format_range.start = len(text)
            format_range.length = len(part)
            format_range.format = text_format
            formats.append(format_range)
            text += part
        elided = QFontMetrics(cell.font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        layout = lay_out_line(elided, formats, cell.font, cell.direction, rect.width())
        painter.setClipRect(rect)
        height = QFontMetricsF(cell.font).height()  # as QPainter.drawText does; that of the layout is rounded up
        top = rect.top() + (rect.height() - height) / 2
        layout.draw(painter, QPointF(rect.left(), top))

    def _make_parts(self, row: ChangedText, font: QFont) -> list[tuple[str, QTextCharFormat]]:
        reason = self._texts.unchanged_reason(row)
        if reason:
            before = one_line(row.text(after=False))
            return [(f"{before} ", self._make_format(font, "text")), (f"· {reason}", self._make_format(font, "muted"))]
        formats = {"same": self._make_format(font, "text"), "old": self._make_format(font, "error", "error_bg")}
        formats["old"].setFontStrikeOut(True)
        formats["new"] = self._make_format(font, "ok", "ok_bg")
        formats["new"].setFontWeight(QFont.Weight.DemiBold)
        return [(shown_text(segment), formats[segment.kind]) for segment in row.segments]

    def _make_format(self, font: QFont, color: str, background: str = "") -> QTextCharFormat:
        text_format = QTextCharFormat()
        text_format.setFont(font)
        text_format.setForeground(self._theme.colors.color(color))
        if background:
            text_format.setBackground(self._theme.colors.color(background))
        return text_format


def shown_text(segment: Segment) -> str:
    """Return a segment on one line, with visible marks for the blanks of a changed segment that has only blanks."""
    text = one_line(segment.text)
    if segment.kind == "same" or text.strip():
        return text
    return text.replace(" ", "␣").replace("\u00a0", "␣")
