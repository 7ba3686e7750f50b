"""The pages that find and merge similar plants and similar tags."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import closing
from functools import partial

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from plantdesk.domain.duplicates import KeepRule, PlantGroups, intentional_groups
from plantdesk.domain.edits import MergeTags
from plantdesk.domain.protocols import PlantReader
from plantdesk.domain.tags import (
    SimilarityOptions,
    SimilarTag,
    ancestors,
    renamed,
    renamed_ancestors,
    similar_groups,
    similar_to,
)
from plantdesk.domain.texts import LISTED, Text, joined, plants_text
from plantdesk.ui.background import Task
from plantdesk.ui.cleanup.dialog import CleanUpPage
from plantdesk.ui.cleanup.duplicate_table import DuplicateModel, DuplicateTable
from plantdesk.ui.feature import OpenStore, WindowContext
from plantdesk.ui.qt import STRETCH, fill
from plantdesk.ui.texts import error_text, tag_text, translated
from plantdesk.ui.theme.metrics import L, M, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.containers import ScrollArea
from plantdesk.ui.widgets.fields import ComboBox
from plantdesk.ui.widgets.painting import TagPill
from plantdesk.ui.widgets.plain_text import PlainLabel, announce

#: For text of 13 px; a longer tag is elided if there is too little room.
_PILL_WIDTH = 220
#: Groups that are shown at once: each has its own widgets.
_MAX_GROUPS = 100


class DuplicatesPage(CleanUpPage):
    """The page that lists groups of similar plants; the user ticks those to merge, and chooses what to keep."""

    #: (edit, count) Apply an edit that removes `count` plants.
    merge_requested = Signal(object, int)

    def __init__(self, context: WindowContext, opened: OpenStore) -> None:
        super().__init__(self.tr("Duplicates"))
        self._context = context
        self._opened = opened
        self._task: Task | None = None
        #: The listed groups, and the numbers of those that are not merged unless the user wants it.
        self._result: tuple[PlantGroups, set[int]] | None = None
        self._model = DuplicateModel(opened.queries, self)
        self._list = DuplicateTable(self._model, context.theme)
        self._card = self._list.make_frame()
        alike = ((self.tr("name and tag"), True), (self.tr("name"), False))
        self._alike_box = ComboBox(self.tr("Alike in"), alike)
        keep = (
            (self.tr("the lowest ID"), KeepRule.LOWEST_ID),
            (self.tr("the newest"), KeepRule.NEWEST),
            (self.tr("the one with the longest note"), KeepRule.LONGEST_NOTE),
        )
        self._keep_box = ComboBox(self.tr("Keep"), keep)
        self._count_label = PlainLabel(tone="muted")
        self._all_button = QPushButton()
        self._all_button.setProperty("variant", "link")
        self._empty_label = PlainLabel(tone="muted", alignment=Qt.AlignmentFlag.AlignCenter, wrapped=True)
        self._lay_out()
        self._connect()
        self._show_counts()

    def _lay_out(self) -> None:
        alike, keep = (PlainLabel(box.accessibleName(), buddy=box) for box in (self._alike_box, self._keep_box))
        first = fill(QHBoxLayout(), alike, self._alike_box, STRETCH, spacing=M)
        second = fill(QHBoxLayout(), keep, self._keep_box, STRETCH, spacing=M)
        fields = fill(QHBoxLayout(), first, (second, 1), spacing=L + M)
        self.rows = [fields]
        counts = fill(QHBoxLayout(), self._count_label, STRETCH, self._all_button, spacing=M)
        self._stack = QStackedLayout()
        for page in (self._empty_label, self._card):
            self._stack.addWidget(page)
        fill(QVBoxLayout(self), fields, counts, (self._stack, 1), margins=0, spacing=S)

    def _connect(self) -> None:
        self._alike_box.currentIndexChanged.connect(self.start)
        model = self._model
        keep_box = self._keep_box
        keep_box.currentIndexChanged.connect(lambda: model.set_keep_rule(KeepRule(keep_box.currentData())))
        self._all_button.clicked.connect(lambda: model.set_all_merged(is_merged=not model.merged_count))
        model.changed.connect(self._show_counts)

    @override
    @Slot()
    def start(self) -> None:
        self._result = None
        self._show_text(self.tr("Looking for plants that are alike…"))
        self._model.set_groups(PlantGroups.of([]))
        self.reload()

    @override
    def reload(self) -> None:
        """Search on a thread of its own: it takes seconds for a million plants, and would delay other queries."""
        self.cancel()
        by_tag = bool(self._alike_box.currentData())
        store = self._opened.store

        def find_duplicates(task: Task) -> tuple[PlantGroups, set[int]]:
            with closing(store.reader()) as reader, task.interrupted_by(reader.interrupt):
                groups = reader.duplicates(by_tag=by_tag)
                excluded = intentional_groups(groups, reader.rows)
                first_excluded = len(groups.sizes) - len(excluded)
                return groups.with_last(excluded), {*range(first_excluded, len(groups.sizes))}

        self._task = self._context.bridge.long_tasks.run(self, find_duplicates, self._on_found, self._on_failed)

    @property
    @override
    def is_reading(self) -> bool:
        return self._task is not None

    def _on_found(self, result: tuple[PlantGroups, set[int]]) -> None:
        self._task = None
        if result == self._result:
            self._show_counts()
            return
        self._result = groups, excluded = result
        self._model.set_groups(groups, excluded)
        if not groups.sizes:
            self._show_text(self.tr("No two plants are alike."))
            return
        self._stack.setCurrentWidget(self._card)
        announce(self, self._count_label.text())

    def _on_failed(self, error: Exception) -> None:
        self._task = self._result = None
        self._show_text(error_text(error))

    def _show_text(self, text: str) -> None:
        self._empty_label.setText(text)
        self._stack.setCurrentWidget(self._empty_label)

    @override
    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    @Slot()
    def _show_counts(self) -> None:
        """Show how many groups and plants there are, and what the merge keeps and removes."""
        model = self._model
        groups = Text("{count:,} groups", one="1 group", count=model.group_count)
        plants = Text("{plants:,} plants in {groups}", plants=model.plant_count, groups=groups)
        self._count_label.setText(translated(plants) if model.group_count else "")
        self._all_button.setVisible(bool(model.group_count))
        self._all_button.setText(self.tr("Choose none") if model.merged_count else self.tr("Choose all"))
        merge = Text("Merge {count:,} plants", one="Merge 1 plant", count=model.removed_count)
        kept = Text("{count:,} are kept, with all notes.", one="1 is kept, with all notes.", count=model.merged_count)
        removed = Text(
            "{count:,} go; Ctrl+Z brings them back.", one="1 goes; Ctrl+Z brings it back.", count=model.removed_count
        )
        if model.removed_count:
            self.show_state(translated(merge), f"{translated(kept)} {translated(removed)}", can_apply=True)
        else:
            self.show_state(self.tr("Merge"), "", can_apply=False)

    @override
    def apply(self) -> None:
        self.merge_requested.emit(self._model.make_edit(), self._model.removed_count)
        super().apply()


class TagGroup(QFrame):
    """A group of similar tags. The kept tag, which the user chooses, replaces the ticked ones."""

    #: The user has ticked other tags, or keeps another one.
    changed = Signal()

    def __init__(self, theme: Theme, group: dict[str, int]) -> None:
        super().__init__()
        self._theme = theme
        self._group = group
        self.setProperty("card", "true")
        self._all_check = QCheckBox(self.tr("Keep"))
        self._all_check.clicked.connect(self._tick_all)
        self._kept_box = ComboBox(self.tr("Keep"), [(tag_text(tag), tag) for tag in group])
        self._kept_box.currentIndexChanged.connect(self._show_others)
        self._kept_box.setMinimumWidth(theme.metrics.scaled(_PILL_WIDTH) // 2)  # for long tags
        self._count_label = PlainLabel(tone="muted", wrapped=True)
        self._takes_label = PlainLabel(role="strong")
        parts = (self._all_check, self._kept_box, self._count_label, STRETCH, self._takes_label)
        top = fill(QHBoxLayout(), *parts, spacing=M)
        self._lines = QWidget()
        self._others: list[tuple[QCheckBox, SimilarTag]] = []
        self._layout = fill(QVBoxLayout(self), top, self._lines, margins=(M, S, M, S), spacing=S)
        self._show_others()

    @property
    def kept_tag(self) -> str:
        """The tag that the user has chosen to replace the ticked ones."""
        return str(self._kept_box.currentData())

    @property
    def ticks(self) -> dict[str, bool]:
        """Whether the other tags of the group are ticked, by tag."""
        return {other.tag: check.isChecked() for check, other in self._others}

    @property
    def new_tags(self) -> dict[str, str]:
        """The kept tag for each ticked tag."""
        return {tag: self.kept_tag for tag, is_ticked in self.ticks.items() if is_ticked}

    @property
    def plant_count(self) -> int:
        """The number of plants with a ticked tag, which get the kept tag."""
        return sum(other.plants for check, other in self._others if check.isChecked())

    def restore(self, kept_tags: Collection[str], ticks: Mapping[str, bool]) -> None:
        """Restore the choices of an earlier group: the kept tag, and the ticks by tag."""
        for tag in self._group:
            if tag in kept_tags:
                self._kept_box.setCurrentIndex(self._kept_box.findData(tag))
        for check, other in self._others:
            check.setChecked(ticks.get(other.tag, check.isChecked()))

    def show_results(self, new_tags: Mapping[str, str]) -> None:
        """Show the names that the tags will have: tags above them may be renamed by `new_tags`."""
        for index, tag in enumerate(self._group):
            self._kept_box.setItemText(index, tag_text(renamed_ancestors(tag, new_tags)))

    @Slot()
    def _show_others(self) -> None:
        """Replace the lines of the tags that are not kept, as the user has chosen the kept one."""
        kept = self.kept_tag
        lines = QWidget()
        grid = QGridLayout(lines)
        grid.setContentsMargins(L + S, 0, 0, 0)
        grid.setHorizontalSpacing(M)
        grid.setColumnStretch(2, 1)
        self._others = []
        for row, other in enumerate(similar_to(kept, self._group)):
            self._others.append((self._add_line(grid, row, other), other))
        self._layout.replaceWidget(self._lines, lines)
        self._lines.deleteLater()
        self._lines = lines
        self._count_label.setText(translated(plants_text(self._group[kept])))
        self._on_ticked()

    def _add_line(self, grid: QGridLayout, row: int, other: SimilarTag) -> QCheckBox:
        """Add the line of a tag: check box, pill, and how it differs; return the check box."""
        check = QCheckBox()
        pill = TagPill(self._theme)
        pill.set_tag(other.tag)
        pill.setMinimumWidth(min(pill.sizeHint().width(), self._theme.metrics.scaled(_PILL_WIDTH)))
        reason = translated(joined(other.differs, LISTED)) if other.differs else ""
        count = translated(plants_text(other.plants))
        check.setAccessibleName(", ".join((tag_text(other.tag), count, reason)))
        check.setChecked(not other.is_intended)
        check.toggled.connect(self._on_ticked)
        details = PlainLabel(" · ".join(filter(None, (count, reason))), wrapped=True)
        parts = (check, pill, details)
        for column, part in enumerate(parts):
            grid.addWidget(part, row, column, Qt.AlignmentFlag.AlignVCenter)
        return check

    @Slot(bool)
    def _tick_all(self, on: bool) -> None:
        for check, _ in self._others:
            check.setChecked(on)

    @Slot()
    def _on_ticked(self) -> None:
        self._all_check.setChecked(bool(self.new_tags))
        takes = Text("takes {count:,} plants", one="takes 1 plant", count=self.plant_count)
        self._takes_label.setText(translated(takes) if self.new_tags else "")
        self.changed.emit()


class TagsPage(CleanUpPage):
    """The page that lists groups of similar tags; the user chooses which tag replaces which ones."""

    #: (edits) Merge these tags.
    merge_requested = Signal(object)

    def __init__(self, context: WindowContext, opened: OpenStore) -> None:
        super().__init__(self.tr("Tags"))
        self._context = context
        self._opened = opened
        self._groups: list[TagGroup] = []
        self._tags: dict[str, int] = {}
        #: The listed groups; None before the first result.
        self._listed_groups: list[dict[str, int]] | None = None
        texts = (self.tr("&case and accents"), self.tr("&blanks"), self.tr("&one letter"))
        self._likeness_checks = [QCheckBox(text) for text in texts]
        for box in self._likeness_checks:
            box.setChecked(True)
            box.toggled.connect(self.start)
        self._count_label = PlainLabel(tone="muted")
        self._results = QWidget()  # replaced by each result, while the content of the scroll area stays
        content = QWidget()
        self._content = fill(QVBoxLayout(content), self._results, margins=0)
        self._scroll = ScrollArea(content, horizontal=False)
        boxes = fill(QHBoxLayout(), PlainLabel(self.tr("Alike in")), *self._likeness_checks, STRETCH, spacing=M)
        fields = fill(QHBoxLayout(), (boxes, 1), self._count_label, spacing=M)
        self.rows = [fields, boxes]
        fill(QVBoxLayout(self), fields, (self._scroll, 1), margins=0, spacing=M)
        self._show_counts()

    @override
    @Slot()
    def start(self) -> None:
        likeness = SimilarityOptions(*(box.isChecked() for box in self._likeness_checks))
        self._opened.queries.run(self, partial(_find_similar_tags, likeness=likeness), self._on_found)

    def _on_found(self, result: tuple[dict[str, int], list[dict[str, int]]]) -> None:
        """Replace the groups if they have changed; the choices of the user in known groups stay."""
        self._tags, groups = result
        if groups == self._listed_groups:
            self._show_counts()
            return
        self._listed_groups = groups
        results = QWidget()
        self._groups = self._make_groups(groups[:_MAX_GROUPS])
        layout = fill(QVBoxLayout(results), *self._groups, margins=0, spacing=S)
        if not groups:
            layout.addWidget(PlainLabel(self.tr("No tag looks like another one."), tone="muted"))
        layout.addStretch(1)
        self._content.replaceWidget(self._results, results)
        self._results.hide()  # moves the focus to the next widget
        self._results.deleteLater()
        self._results = results
        members = {tag for group in groups for tag in group}
        alike_count = sum(not members.isdisjoint([tag, *ancestors(tag)]) for tag in self._tags)
        text = Text("{alike:,} of {count:,} tags look like others", alike=alike_count, count=len(self._tags))
        self._count_label.setText(translated(text) if groups else "")
        self._show_counts()

    def _make_groups(self, groups: list[dict[str, int]]) -> list[TagGroup]:
        kept_tags = {group.kept_tag for group in self._groups}
        ticks = {tag: is_ticked for group in self._groups for tag, is_ticked in group.ticks.items()}
        widgets = [TagGroup(self._context.theme, group) for group in groups]
        for widget in widgets:
            widget.restore(kept_tags, ticks)
            widget.changed.connect(self._show_counts)
        return widgets

    @Slot()
    def _show_counts(self) -> None:
        """Show on button and summary what merging the ticked tags changes, and their new names."""
        new_tags = self._new_tags
        for group in self._groups:
            group.show_results(new_tags)
        tags = [tag for edit in self._make_edits() for tag in edit.tags]
        merge = Text("Merge {count:,} tags", one="Merge 1 tag", count=len(tags))
        plants = Text(
            "{count:,} plants get another tag. One change; Ctrl+Z takes it back.",
            one="1 plant gets another tag. One change; Ctrl+Z takes it back.",
            count=sum(map(self._tags.__getitem__, tags)),
        )
        if tags:
            self.show_state(translated(merge), translated(plants), can_apply=True)
        else:
            self.show_state(self.tr("Merge"), "", can_apply=False)

    @property
    def _new_tags(self) -> dict[str, str]:
        return {tag: new for group in self._groups for tag, new in group.new_tags.items()}

    def _make_edits(self) -> list[MergeTags]:
        """Return one edit for each tag that replaces ticked ones."""
        new_tags = self._new_tags
        merged: dict[str, list[str]] = {}
        for tag in self._tags:
            new = renamed(tag, new_tags)
            if new != tag:
                merged.setdefault(new, []).append(tag)
        return [MergeTags(tuple(tags), new) for new, tags in merged.items()]

    @override
    def apply(self) -> None:
        self.merge_requested.emit(self._make_edits())
        super().apply()


def _find_similar_tags(
    reader: PlantReader, _task: Task, likeness: SimilarityOptions
) -> tuple[dict[str, int], list[dict[str, int]]]:
    tags = reader.tag_counts()
    return tags, similar_groups(tags, likeness)
