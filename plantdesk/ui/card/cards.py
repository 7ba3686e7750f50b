"""The card of one plant, with its note and history, and the card of several plants, with a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any, NamedTuple

from PySide6.QtCore import QCoreApplication, QLocale, QObject, QPoint, QRect, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLayout, QPushButton, QStyle, QVBoxLayout, QWidget
from typing_extensions import override

from plantdesk.domain.history import Change, ChangeKind, PlantChange
from plantdesk.domain.records import PlantRow, Source, SourceKind, now_ms
from plantdesk.domain.texts import Text, plants_text
from plantdesk.ui.card.note import NoteEdit
from plantdesk.ui.qt import STRETCH, add_layout, fill, make_separator_line, mirrored
from plantdesk.ui.texts import (
    is_visible,
    long_time,
    one_line,
    quoted,
    short_date,
    short_time,
    source_text,
    tag_text,
    translate,
    translated,
)
from plantdesk.ui.theme.metrics import EDGE, ICON_BUTTON, XS, L, M, S, with_tabular_digits
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.buttons import CloseButton, OneClickButton
from plantdesk.ui.widgets.containers import ScrollArea
from plantdesk.ui.widgets.painting import Icon, TagPill
from plantdesk.ui.widgets.plain_text import PlainLabel, set_disabled_reason, set_tool_tip

_FIELDS = ("name", "tag", "note")
_ICONS = {"name": "pencil", "tag": "tag", "note": "sticky-note"}
#: Milliseconds between two changes of a note that are shown as one: a note is saved while the user types it.
_MERGED_NOTE_CHANGES_MS = 600_000
#: Lines of the history that are shown before “Show all” is pressed.
_SHOWN_LINES = 6
#: Characters of a name that are shown.
_MAX_NAME_LENGTH = 400
#: The most tags and sources in a summary.
_MAX_TAGS = 6
_MAX_SOURCES = 3


class HistoryLine(NamedTuple):
    """A line of a plant's history. `restored`: the values of the fields after its Undo; None: it has no Undo."""

    icon: str
    text: str
    details: str
    change: Change | None
    restored: dict[str, Any] | None


class _HistoryStep(NamedTuple):
    """A change, and the plant before and after it; `before` is None if the change added the plant."""

    change: Change
    before: PlantRow | None
    after: PlantRow

    @property
    def changed_fields(self) -> list[str]:
        """The names of the fields that the change has given another value."""
        if self.before is None:
            return []
        return [field for field in _FIELDS if getattr(self.before, field) != getattr(self.after, field)]


def make_history_lines(row: PlantRow, changes: Sequence[PlantChange]) -> list[HistoryLine]:
    """Return the lines of a plant's history, newest first; the last line says how the plant was added."""
    steps = _merge_steps(row, changes)
    lines = [_make_history_line(row, step) for step in steps if step.before is not None]
    return [*lines, _make_added_line(row)]


def added_text(source: Source) -> str:
    """Return how a plant was added, for a sentence such as “Added in the form”."""
    texts = {
        SourceKind.FORM: translate("PlantHistory", "in the form"),
        SourceKind.COMMAND: translate("PlantHistory", "on the command line"),
        SourceKind.IMPORT: translate("PlantHistory", "by the import {name}"),
        SourceKind.TOKEN: translate("PlantHistory", "by {name}"),
    }
    return texts.get(source.kind, translate("PlantHistory", "by {name}")).format(name=source_text(source))


def _merge_steps(row: PlantRow, changes: Sequence[PlantChange]) -> list[_HistoryStep]:
    """Return each change with the plant before and after it; consecutive changes of the note become one."""
    steps: list[_HistoryStep] = []
    after = row
    for change, before in changes:
        step = _HistoryStep(change, before, after)
        if steps and _is_continued_note(steps[-1], step):
            steps[-1] = steps[-1]._replace(before=before)
        else:
            steps.append(step)
        if before is None:
            break
        after = before
    return steps


def _is_continued_note(newer: _HistoryStep, older: _HistoryStep) -> bool:
    is_close = newer.change.made_at - older.change.made_at < _MERGED_NOTE_CHANGES_MS
    authors = {(step.change.source, step.change.desk) for step in (newer, older)}
    return is_close and newer.changed_fields == older.changed_fields == ["note"] and len(authors) == 1


def _make_history_line(row: PlantRow, step: _HistoryStep) -> HistoryLine:
    before = step.before
    changed = step.changed_fields
    details = [short_time(step.change.made_at)]
    if step.change.source.kind is not SourceKind.FORM:
        details.append(added_text(step.change.source))
    if step.change.desk:
        details.append(one_line(step.change.desk))
    details += filter(None, [_previous_text(field, before) for field in changed])
    is_unchanged_since = all(getattr(row, field) == getattr(step.after, field) for field in changed)
    can_undo = bool(changed) and is_unchanged_since
    restored = {field: getattr(before, field) for field in changed} if can_undo else None
    icon = _ICONS[changed[0]] if len(changed) == 1 else "pencil"
    return HistoryLine(icon, _step_text(step, changed), " · ".join(details), step.change, restored)


def _step_text(step: _HistoryStep, changed: list[str]) -> str:
    """Return what a change did to a plant, such as “Tag set to kitchen”."""
    if step.change.kind is ChangeKind.RESTORE:
        return translate("PlantHistory", "Restored from a backup")
    if len(changed) != 1:
        return translate("PlantHistory", "Changed")
    before = getattr(step.before, changed[0])
    after = getattr(step.after, changed[0])
    match changed[0]:
        case "name":
            return translate("PlantHistory", "Name changed")
        case "tag":
            return (
                translate("PlantHistory", "Tag removed")
                if after is None
                else translate("PlantHistory", "Tag set to {tag}").format(tag=tag_text(after))
            )
    if before is None:
        return translate("PlantHistory", "Note written")
    return translate("PlantHistory", "Note removed") if after is None else translate("PlantHistory", "Note changed")


def _previous_text(field: str, before: PlantRow | None) -> str:
    if before is None or field == "note":
        return ""
    if field == "name":
        return translate("PlantHistory", "was {name}").format(name=quoted(before.name))
    return (
        translate("PlantHistory", "had no tag")
        if before.tag is None
        else translate("PlantHistory", "was {tag}").format(tag=tag_text(before.tag))
    )


def _make_added_line(row: PlantRow) -> HistoryLine:
    text = translate("PlantHistory", "Added {by}").format(by=added_text(row.source))
    return HistoryLine("plus", text, short_time(row.added_at), None, {})


class CardRequests(QObject):
    """Signals of the buttons of both cards: a command for the selected plants, or to close the card."""

    tag = Signal()
    replace = Signal()
    labels = Signal()
    copy = Signal()
    export = Signal()
    delete = Signal()
    select_none = Signal()
    close = Signal()


class CardFrame(QWidget):
    """The base of a card: a scrolling column of sections, a row of buttons, and a close button."""

    def __init__(self, theme: Theme, requests: CardRequests) -> None:
        super().__init__()
        self._theme = theme
        self._close_button = CloseButton(theme, self.tr("Close the card"), "muted")
        self._close_button.setParent(self)  # in no layout, so that it is last in the tab order
        self._close_button.clicked.connect(requests.close)
        content = QWidget()
        self.column = fill(QVBoxLayout(content), margins=(EDGE, M + 2, EDGE, M), spacing=0)
        self.buttons = QHBoxLayout()
        bottom = fill(QVBoxLayout(), make_separator_line(), self.buttons, margins=(EDGE, 0, EDGE, M + 2), spacing=M)
        fill(QVBoxLayout(self), (ScrollArea(content, horizontal=False), 1), bottom, margins=0, spacing=0)
        self._close_button.raise_()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        size = self._close_button.sizeHint()
        rect = QRect(QPoint(self.width() - EDGE - size.width() + XS, M), size)  # its icon ends at the edge
        self._close_button.setGeometry(QStyle.visualRect(self.layoutDirection(), self.rect(), rect))

    def add_top_row(self) -> QHBoxLayout:
        """Add a row to the column, level with the close button, and return it."""
        row = fill(QHBoxLayout(), margins=mirrored(self, 0, 0, ICON_BUTTON, 0))
        row.addStrut(ICON_BUTTON)
        add_layout(self.column, row)
        return row

    def add_section(self, title: str, content: QWidget | QLayout) -> PlainLabel:
        """Add `content` under a title, and return the label of the title."""
        label = PlainLabel(title, role="caption", buddy=content if isinstance(content, QWidget) else None)
        fill(self.column, L, label, XS, content)
        return label


def make_button(text: str, theme: Theme | None = None, icon: str = "", *, name: str = "") -> QPushButton:
    """Return a button of a card; a click does not move the focus. `name` is its accessible name and tooltip."""
    button = OneClickButton(text)
    button.setAccessibleName(name)
    set_tool_tip(button, name)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    if theme is not None and icon:
        theme.icons.put_on(button, icon)
    return button


def delete_widgets(layout: QLayout, widgets: list[QWidget]) -> None:
    """Delete `widgets` from their layout, without `takeAt`, which confuses PySide (`add_layout`); empty the list."""
    for widget in widgets:
        layout.removeWidget(widget)
        widget.hide()
        widget.deleteLater()
    widgets.clear()


class PlantCard(CardFrame):
    """The card of one plant: details and history. The user edits the note, undoes changes, prints and deletes."""

    #: (line) The Undo button of a line of the history was clicked.
    undo_requested = Signal(object)

    def __init__(self, theme: Theme, requests: CardRequests) -> None:
        super().__init__(theme, requests)
        self._history_lines: list[HistoryLine] = []
        self._undo_buttons: list[QPushButton] = []
        self._undo_reason = ""
        self._shows_all = False
        self._plant_id: int | None = None
        self._tag_pill = TagPill(theme)
        self._id_label = PlainLabel(tone="muted")
        self._id_label.setFont(with_tabular_digits(self._id_label.font()))
        self._id_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._name_label = PlainLabel(role="title", wrapped=True)
        self._name_label.setMinimumWidth(1)  # a long word is cut instead of widening the card
        self.note_edit = NoteEdit()
        self.note_edit.setReadOnly(True)
        self._added_label = PlainLabel(wrapped=True)
        self._by_label = PlainLabel(tone="muted", wrapped=True)
        self._history_widgets: list[QWidget] = []
        self._history_layout = fill(QVBoxLayout(), spacing=S + 2)
        self._label_button = make_button(self.tr("Label…"), theme, "printer", name=self.tr("Print label…"))
        self._label_button.clicked.connect(requests.labels)
        self._delete_button = make_button(self.tr("Delete"), theme, "trash-2")
        self._delete_button.clicked.connect(requests.delete)
        self._lay_out()
        for part in (self._label_button, self._delete_button):
            part.setEnabled(False)  # until there is a plant
        self._tag_pill.hide()
        theme.changed.connect(self._show_lines)

    def show_plant(self, row: PlantRow, changes: Sequence[PlantChange]) -> None:
        """Show the details and the history of a plant; its note is shown by `NoteDrafts`."""
        if row.id != self._plant_id:
            self._plant_id = row.id
            self._shows_all = False
        self._label_button.setEnabled(True)
        self._tag_pill.setVisible(row.tag is not None)
        self._tag_pill.set_tag(row.tag or "")
        self._id_label.setText(self.tr("ID {id}").format(id=row.id))
        name = one_line(row.name[:_MAX_NAME_LENGTH])
        self._name_label.setText(name if is_visible(name) else self.tr("(blank name)"))
        self._added_label.setText(long_time(row.added_at))
        self._by_label.setText(added_text(row.source))
        set_tool_tip(self._by_label, source_text(row.source))
        lines = make_history_lines(row, changes)
        if lines != self._history_lines:
            self._history_lines = lines
            self._show_lines()

    def set_editable(self, reason: str, *, keep_note: bool = False) -> None:
        """Enable editing, or disable it with `reason` as tooltip; with `keep_note` the note stays editable."""
        self.note_edit.setReadOnly(bool(reason) and not keep_note)
        self._undo_reason = reason
        for button in (self._delete_button, *self._undo_buttons):
            set_disabled_reason(button, reason)

    def _lay_out(self) -> None:
        fill(self.add_top_row(), self._tag_pill, self._id_label, STRETCH, spacing=S + 2)
        fill(self.column, S, self._name_label)
        self.add_section(self.tr("Note"), self.note_edit)
        self.add_section(self.tr("Added"), fill(QVBoxLayout(), self._added_label, self._by_label, spacing=0))
        self.add_section(self.tr("History"), self._history_layout)
        self.column.addStretch()
        fill(self.buttons, self._label_button, STRETCH, self._delete_button)

    @Slot()
    def _show_lines(self) -> None:
        """Replace the widgets of the history by those of the first lines, or of all."""
        delete_widgets(self._history_layout, self._history_widgets)
        self._undo_buttons.clear()
        lines = self._history_lines if self._shows_all else self._history_lines[:_SHOWN_LINES]
        for line in lines:
            self._history_widgets.append(self._make_history_widget(line))
            self._history_layout.addWidget(self._history_widgets[-1])
        if len(lines) < len(self._history_lines):
            button = make_button(self.tr("Show all"))
            button.setProperty("variant", "link")
            button.clicked.connect(self._show_all_lines)
            self._history_widgets.append(button)
            self._history_layout.addWidget(button, alignment=Qt.AlignmentFlag.AlignLeading)

    def _make_history_widget(self, line: HistoryLine) -> QWidget:
        widget = QWidget()
        texts = fill(QVBoxLayout(), spacing=0)
        details = PlainLabel(line.details, role="detail", wrapped=True)
        if line.change is not None:
            set_tool_tip(details, long_time(line.change.made_at))
        for label in (PlainLabel(line.text, wrapped=True), details):
            label.setMinimumWidth(1)
            texts.addWidget(label)
        icon = Icon(self._theme, line.icon, "muted")
        undo = [] if line.restored is None else [self._make_undo_button(line)]
        icon_on_top = icon, Qt.AlignmentFlag.AlignTop
        fill(QHBoxLayout(widget), icon_on_top, (texts, 1), *undo, margins=0, spacing=S + 2)
        return widget

    def _make_undo_button(self, line: HistoryLine) -> QPushButton:
        button = make_button(self.tr("Undo"))
        button.setProperty("variant", "link")
        button.setAccessibleName(self.tr("Undo: {what}").format(what=line.text))
        set_disabled_reason(button, self._undo_reason)
        button.clicked.connect(partial(self.undo_requested.emit, line))
        self._undo_buttons.append(button)
        return button

    @Slot()
    def _show_all_lines(self) -> None:
        self._shows_all = True
        self._show_lines()


class Summary(NamedTuple):
    """The ranges of ids and times of several plants, and how many have each tag and source, most frequent first."""

    first_id: int
    last_id: int
    tags: Sequence[tuple[str | None, int]]
    first_added_at: int
    last_added_at: int
    sources: Sequence[tuple[Source, int]]


def summarize(rows: Collection[PlantRow]) -> Summary:
    """Return the summary of `rows`, of which there must be one at least."""
    ids = [row.id for row in rows]
    times = [row.added_at for row in rows]
    tags = Counter(row.tag for row in rows)
    sources = Counter(row.source for row in rows)
    return Summary(min(ids), max(ids), tags.most_common(), min(times), max(times), sources.most_common())


class SelectionCard(CardFrame):
    """The card of several selected plants: a summary, and buttons with the commands for all of them."""

    def __init__(self, theme: Theme, requests: CardRequests) -> None:
        super().__init__(theme, requests)
        self._title_label = PlainLabel(role="title", wrapped=True)
        self._ids_label = PlainLabel(tone="muted", wrapped=True)
        self._ids_label.setFont(with_tabular_digits(self._ids_label.font()))
        self._tag_widgets: list[QWidget] = []
        self._tags_grid = QGridLayout()
        self._tags_grid.setHorizontalSpacing(S + 2)
        self._tags_grid.setVerticalSpacing(S - 2)
        self._tags_grid.setColumnStretch(1, 1)
        self._added_label = PlainLabel(wrapped=True)
        self._sources_label = PlainLabel(tone="muted", wrapped=True)
        commands = (
            (self.tr("Change tag…"), "tag", requests.tag),
            (self.tr("Find and replace…"), "replace", requests.replace),
            (self.tr("Print labels…"), "printer", requests.labels),
            (self.tr("Copy"), "copy", requests.copy),
            (self.tr("Export…"), "file-down", requests.export),
        )
        self.commands = [make_button(text, theme, icon) for text, icon, _ in commands]
        self._tag_button, self._replace_button, *_ = self.commands
        for button, (*_, command) in zip(self.commands, commands, strict=True):
            button.setProperty("variant", "command")
            button.clicked.connect(command)
        self._none_button = make_button(self.tr("Select none"))
        self._none_button.clicked.connect(requests.select_none)
        self._delete_button = make_button(self.tr("Delete"))
        self._delete_button.clicked.connect(requests.delete)
        self._lay_out()

    def show_count(self, count: int) -> None:
        """Show the number of plants in title and buttons, and no summary until `show_summary` is called."""
        self._title_label.setText(translated(plants_text(count)))
        name = translated(Text("Delete {count:,} plants", one="Delete 1 plant", count=count))
        self._delete_button.setAccessibleName(name)
        set_tool_tip(self._delete_button, name)
        self._commands_title.setText(translated(Text("Do with all {count:,}", one="Do with it", count=count)))
        self.show_summary(None)

    def show_summary(self, summary: Summary | None) -> None:
        """Show a summary, or hide its parts (None) if it is not read."""
        delete_widgets(self._tags_grid, self._tag_widgets)
        parts = (self._ids_label, self._tags_title, self._added_title, self._added_label, self._sources_label)
        for part in parts:
            part.setVisible(summary is not None)
        if summary is None:
            return
        ids_text = self.tr("IDs {first} to {last}")
        self._ids_label.setText(ids_text.format(first=summary.first_id, last=summary.last_id))
        self._show_tags(summary)
        self._added_label.setText(_time_range_text(summary.first_added_at, summary.last_added_at))
        counts = [f"{QLocale().toString(count)} {added_text(source)}" for source, count in summary.sources]
        self._sources_label.setText(", ".join(counts[:_MAX_SOURCES]) + (" …" if len(counts) > _MAX_SOURCES else ""))

    def set_editable(self, reason: str) -> None:
        """Enable the buttons that change plants, or disable them if there is a `reason`."""
        for button in (self._tag_button, self._replace_button):
            set_disabled_reason(button, reason)
        self._delete_button.setEnabled(not reason)  # the button has a tooltip of its own

    def _show_tags(self, summary: Summary) -> None:
        for row, (tag, count) in enumerate(summary.tags[:_MAX_TAGS]):
            tag_label = TagPill(self._theme) if tag is not None else PlainLabel(self.tr("No tag"), tone="muted")
            if isinstance(tag_label, TagPill):
                tag_label.set_tag(tag or "")
            self._add_tag_widget(tag_label, row, 0)
            count_label = PlainLabel(QLocale().toString(count), tone="muted")
            name = tag_text(tag) if tag is not None else self.tr("No tag")
            count_label.setAccessibleName(f"{name}: {QLocale().toString(count)}")
            self._add_tag_widget(count_label, row, 1)
        hidden_count = len(summary.tags) - _MAX_TAGS
        if hidden_count > 0:
            self._add_tag_widget(PlainLabel(f"+{hidden_count}", tone="muted"), _MAX_TAGS, 0)

    def _add_tag_widget(self, widget: QWidget, row: int, column: int) -> None:
        self._tag_widgets.append(widget)
        self._tags_grid.addWidget(widget, row, column)

    def _lay_out(self) -> None:
        self.add_top_row().addWidget(PlainLabel(self.tr("Selection"), role="caption"))
        fill(self.column, S, self._title_label, self._ids_label)
        self._tags_title = self.add_section(self.tr("Tags"), self._tags_grid)
        self._added_title = self.add_section(self.tr("Added", "several plants"), self._added_label)
        self.column.addWidget(self._sources_label)
        self._commands_title = self.add_section("", self.commands[0])
        fill(self.column, *self.commands[1:], STRETCH)
        fill(self.buttons, self._none_button, STRETCH, self._delete_button)


def _time_range_text(first: int, last: int) -> str:
    """Return the text of a range of times, with the day only once if it is the same."""
    oldest = long_time(first)
    newest = long_time(last)
    if oldest == newest:
        return oldest
    if short_date(first) == short_date(last):
        newest = short_time(last) if short_date(last) == short_date(now_ms()) else newest
    return QCoreApplication.translate("SelectionCard", "{first} to {last}").format(first=oldest, last=newest)
