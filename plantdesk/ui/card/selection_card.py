"""The card of several plants: how many, their tags, when they were added, and what can be done with all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QCoreApplication, QLocale
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QGridLayout

from plantdesk.domain.errors import Text
from plantdesk.domain.records import now_ms
from plantdesk.ui.card.plant_card import added_text
from plantdesk.ui.card.sections import CardFrame, CommandButton, YieldingButton, empty, text_button
from plantdesk.ui.menus import Key
from plantdesk.ui.qt import STRETCH, fill
from plantdesk.ui.texts import date, long_time, short_time, shown, tag_text
from plantdesk.ui.theme.metrics import S, tabular
from plantdesk.ui.widgets.painting import TagPill
from plantdesk.ui.widgets.plain_text import PlainLabel, allow

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from plantdesk.domain.records import PlantRow, Source
    from plantdesk.ui.card.sections import CardRequests
    from plantdesk.ui.theme.theme import Theme

#: Lines of tags and of sources.
_MAX_TAGS, _MAX_SOURCES = 6, 3


class Summary(NamedTuple):
    """What several plants have in common. Times are in milliseconds since 1970, UTC."""

    ids: tuple[int, int]
    tags: Sequence[tuple[str | None, int]]
    added: tuple[int, int]
    sources: Sequence[tuple[Source, int]]


def summary_of(rows: Collection[PlantRow]) -> Summary:
    """Return the summary of plants, of which there is at least one."""
    ids, times = [row.id for row in rows], [row.added_at for row in rows]
    tags, sources = Counter(row.tag for row in rows), Counter(row.source for row in rows)
    return Summary((min(ids), max(ids)), tags.most_common(), (min(times), max(times)), sources.most_common())


class SelectionCard(CardFrame):
    """Shows the summary that it is given, and the commands for all of the plants."""

    def __init__(self, theme: Theme, requests: CardRequests) -> None:
        super().__init__(theme, requests)
        self._title_label = PlainLabel(role="title", wrapped=True)
        self._ids_label = PlainLabel(tone="muted", wrapped=True)
        self._ids_label.setFont(tabular(self._ids_label.font()))
        self._tag_widgets: list[QWidget] = []
        self._tags = QGridLayout()
        self._tags.setHorizontalSpacing(S + 2)
        self._tags.setVerticalSpacing(S - 2)
        self._tags.setColumnStretch(1, 1)
        self._added_label = PlainLabel(wrapped=True)
        self._sources_label = PlainLabel(tone="muted", wrapped=True)
        commands = (
            (self.tr("Change tag…"), "tag", QKeySequence("Ctrl+T"), requests.tag),
            (self.tr("Find and replace…"), "replace", QKeySequence("Ctrl+R"), requests.replace),
            (self.tr("Print labels…"), "printer", QKeySequence("Ctrl+P"), requests.labels),
            (self.tr("Copy"), "copy", QKeySequence(Key.Copy), requests.copy),
            (self.tr("Export…"), "file-down", QKeySequence("Ctrl+E"), requests.export),
        )
        self.commands = [CommandButton(theme, text, icon, key) for text, icon, key, _ in commands]
        for button, (*_, command) in zip(self.commands, commands, strict=True):
            button.clicked.connect(command)
        self._none_button = text_button(self.tr("Select none"))
        self._none_button.clicked.connect(requests.select_none)
        self._delete_button = YieldingButton(theme, self.tr("Delete"), "trash-2", short=self.tr("Delete"))
        self._delete_button.clicked.connect(requests.delete)
        self._lay_out()

    def show_count(self, count: int) -> None:
        """Show the number of plants; what they have in common is not known yet."""
        self._title_label.setText(shown(Text("{count:,} plants", one="1 plant", count=count)))
        self._delete_button.set_text(shown(Text("Delete {count:,} plants", one="Delete 1 plant", count=count)))
        self._commands_title.setText(shown(Text("Do with all {count:,}", one="Do with it", count=count)))
        self.show_summary(None)

    def show_summary(self, summary: Summary | None) -> None:
        """Show what the plants have in common; None: they are too many to be read."""
        empty(self._tags, self._tag_widgets)
        parts = (self._ids_label, self._tags_title, self._added_title, self._added_label, self._sources_label)
        for part in parts:
            part.setVisible(summary is not None)
        if summary is None:
            return
        first, last = summary.ids
        self._ids_label.setText(self.tr("IDs {first} to {last}").format(first=first, last=last))
        self._show_tags(summary)
        self._added_label.setText(_span(*summary.added))
        counts = [f"{QLocale().toString(count)} {added_text(source)}" for source, count in summary.sources]
        self._sources_label.setText(", ".join(counts[:_MAX_SOURCES]) + (" …" if len(counts) > _MAX_SOURCES else ""))

    def set_editable(self, reason: str) -> None:
        """Allow changes, or none for a reason."""
        for button in self.commands[:2]:
            allow(button, reason)
        self._delete_button.setEnabled(not reason)  # it has a tooltip of its own where it is narrow

    def _show_tags(self, summary: Summary) -> None:
        for line, (tag, count) in enumerate(summary.tags[:_MAX_TAGS]):
            shown = TagPill(self._theme) if tag is not None else PlainLabel(self.tr("No tag"), tone="muted")
            if isinstance(shown, TagPill):
                shown.set_tag(tag or "")
            self._add_tag_widget(shown, line, 0)
            number = PlainLabel(QLocale().toString(count), tone="muted")
            name = tag_text(tag) if tag is not None else self.tr("No tag")
            number.setAccessibleName(f"{name}: {QLocale().toString(count)}")
            self._add_tag_widget(number, line, 1)
        more = len(summary.tags) - _MAX_TAGS
        if more > 0:
            self._add_tag_widget(PlainLabel(f"+{more}", tone="muted"), _MAX_TAGS, 0)

    def _add_tag_widget(self, widget: QWidget, row: int, column: int) -> None:
        self._tag_widgets.append(widget)
        self._tags.addWidget(widget, row, column)

    def _lay_out(self) -> None:
        self.top_row().addWidget(PlainLabel(self.tr("Selection"), role="caption"))
        fill(self.column, S, self._title_label, self._ids_label)
        self._tags_title = self.add_section(self.tr("Tags"), self._tags)
        self._added_title = self.add_section(self.tr("Added", "several plants"), self._added_label)
        self.column.addWidget(self._sources_label)
        self._commands_title = self.add_section("", self.commands[0])
        fill(self.column, *self.commands[1:], STRETCH)
        fill(self.buttons, self._none_button, STRETCH, self._delete_button)


def _span(first: int, last: int) -> str:
    """Return the times from `first` to `last`, the day only once where it is the same."""
    oldest, newest = long_time(first), long_time(last)
    if oldest == newest:
        return oldest
    if date(first) == date(last):
        newest = short_time(last) if date(last) == date(now_ms()) else newest
    return QCoreApplication.translate("SelectionCard", "{first} to {last}").format(first=oldest, last=newest)
