"""The pages that find plants and tags that are alike, and merge them."""

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
    """Searches in the background. `merge_requested(edit, plants)`: merge; so many plants are removed."""

    merge_requested = Signal(object, int)

    def __init__(self, context: WindowContext, opened: OpenStore) -> None:
        super().__init__(self.tr("Duplicates"))
        self._context, self._opened = context, opened
        self._task: Task | None = None
        #: What is listed, and which groups are not to be merged.
        self._found: tuple[PlantGroups, set[int]] | None = None
        self._model = DuplicateModel(opened.queries, self)
        self._list = DuplicateTable(self._model, context.theme)
        self._card = self._list.framed()
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
        self._pages = QStackedLayout()
        for page in (self._empty_label, self._card):
            self._pages.addWidget(page)
        fill(QVBoxLayout(self), fields, counts, (self._pages, 1), margins=0, spacing=S)

    def _connect(self) -> None:
        self._alike_box.currentIndexChanged.connect(self.start)
        self._keep_box.currentIndexChanged.connect(lambda: self._model.set_keep(KeepRule(self._keep_box.currentData())))
        self._all_button.clicked.connect(lambda: self._model.set_all(is_merged=not self._model.merged_count))
        self._model.changed.connect(self._show_counts)

    @override
    @Slot()
    def start(self) -> None:
        self._found = None
        self._show_text(self.tr("Looking for plants that are alike…"))
        self._model.set_groups(PlantGroups.of([]))
        self.reload()

    @override
    def reload(self) -> None:
        """Search on a thread of its own: this takes seconds for a million plants, and the list must not wait."""
        self.cancel()
        by_tag = bool(self._alike_box.currentData())
        store = self._opened.store

        def find(task: Task) -> tuple[PlantGroups, set[int]]:
            with closing(store.reader()) as reader, task.interrupted_by(reader.interrupt):
                groups = reader.duplicates(by_tag=by_tag)
                left = intentional_groups(groups, reader.rows)
                return groups.with_last(left), {*range(len(groups.sizes) - len(left), len(groups.sizes))}

        self._task = self._context.bridge.long_tasks.ask(self, find, self._on_found, self._on_failed)

    @property
    @override
    def is_reading(self) -> bool:
        return self._task is not None

    def _on_found(self, found: tuple[PlantGroups, set[int]]) -> None:
        self._task = None
        if found == self._found:
            self._show_counts()
            return
        self._found = groups, left = found
        self._model.set_groups(groups, left)
        if not groups.sizes:
            self._show_text(self.tr("No two plants are alike."))
            return
        self._pages.setCurrentWidget(self._card)
        announce(self, self._count_label.text())

    def _on_failed(self, error: Exception) -> None:
        self._task = self._found = None
        self._show_text(error_text(error))

    def _show_text(self, text: str) -> None:
        self._empty_label.setText(text)
        self._pages.setCurrentWidget(self._empty_label)

    @override
    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    @Slot()
    def _show_counts(self) -> None:
        model = self._model
        groups = Text("{count:,} groups", one="1 group", count=model.group_count)
        plants = Text("{plants:,} plants in {groups}", plants=model.plants, groups=groups)
        self._count_label.setText(translated(plants) if model.group_count else "")
        self._all_button.setVisible(bool(model.group_count))
        self._all_button.setText(self.tr("Choose none") if model.merged_count else self.tr("Choose all"))
        merge = Text("Merge {count:,} plants", one="Merge 1 plant", count=model.removed_count)
        kept = Text("{count:,} are kept, with all notes.", one="1 is kept, with all notes.", count=model.merged_count)
        going = Text(
            "{count:,} go; Ctrl+Z brings them back.", one="1 goes; Ctrl+Z brings it back.", count=model.removed_count
        )
        if model.removed_count:
            self.show_state(translated(merge), f"{translated(kept)} {translated(going)}", can_apply=True)
        else:
            self.show_state(self.tr("Merge"), "", can_apply=False)

    @override
    def apply(self) -> None:
        self.merge_requested.emit(self._model.edit(), self._model.removed_count)
        super().apply()


class TagGroup(QFrame):
    """A group of tags: one is kept and replaces those that are ticked. `changed`: another choice was made."""

    changed = Signal()

    def __init__(self, theme: Theme, group: dict[str, int]) -> None:
        super().__init__()
        self._theme, self._group = theme, group
        self.setProperty("card", "true")
        self._check = QCheckBox(self.tr("Keep"))
        self._check.clicked.connect(self._tick_all)
        self._box = ComboBox(self.tr("Keep"), [(tag_text(tag), tag) for tag in group])
        self._box.currentIndexChanged.connect(self._show_others)
        self._box.setMinimumWidth(theme.metrics.scaled(_PILL_WIDTH) // 2)  # for long tags
        self._count_label = PlainLabel(tone="muted", wrapped=True)
        self._takes_label = PlainLabel(role="strong")
        top = fill(QHBoxLayout(), self._check, self._box, self._count_label, STRETCH, self._takes_label, spacing=M)
        self._lines = QWidget()
        self._others: list[tuple[QCheckBox, SimilarTag]] = []
        self._layout = fill(QVBoxLayout(self), top, self._lines, margins=(M, S, M, S), spacing=S)
        self._show_others()

    @property
    def kept_tag(self) -> str:
        """The tag that replaces the others."""
        return str(self._box.currentData())

    @property
    def ticks(self) -> dict[str, bool]:
        """Whether each of the other tags is ticked."""
        return {other.tag: check.isChecked() for check, other in self._others}

    @property
    def names(self) -> dict[str, str]:
        """The new name of each ticked tag and of those below it."""
        return {tag: self.kept_tag for tag, is_ticked in self.ticks.items() if is_ticked}

    @property
    def plants(self) -> int:
        """The number of plants that get another tag."""
        return sum(other.plants for check, other in self._others if check.isChecked())

    def restore(self, kept: Collection[str], ticks: Mapping[str, bool]) -> None:
        """Keep the tag that was kept before, if it is there, and tick those that were ticked."""
        for tag in self._group:
            if tag in kept:
                self._box.setCurrentIndex(self._box.findData(tag))
        for check, other in self._others:
            check.setChecked(ticks.get(other.tag, check.isChecked()))

    def show_results(self, names: Mapping[str, str]) -> None:
        """Show the name that each tag would have if it was kept, when the tags above it are renamed by `names`."""
        for at, tag in enumerate(self._group):
            self._box.setItemText(at, tag_text(renamed_ancestors(tag, names)))

    @Slot()
    def _show_others(self) -> None:
        kept = self.kept_tag
        lines = QWidget()
        grid = QGridLayout(lines)
        grid.setContentsMargins(L + S, 0, 0, 0)
        grid.setHorizontalSpacing(M)
        grid.setColumnStretch(2, 1)
        self._others = []
        for row, other in enumerate(similar_to(kept, self._group)):
            self._others.append((self._line(grid, row, other), other))
        self._layout.replaceWidget(self._lines, lines)
        self._lines.deleteLater()
        self._lines = lines
        self._count_label.setText(translated(plants_text(self._group[kept])))
        self._on_ticked()

    def _line(self, grid: QGridLayout, row: int, other: SimilarTag) -> QCheckBox:
        check, pill = QCheckBox(), TagPill(self._theme)
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
        self._check.setChecked(bool(self.names))
        takes = Text("takes {count:,} plants", one="takes 1 plant", count=self.plants)
        self._takes_label.setText(translated(takes) if self.names else "")
        self.changed.emit()


class TagsPage(CleanUpPage):
    """`merge_requested(edits)`: these tags are to be merged."""

    merge_requested = Signal(object)

    def __init__(self, context: WindowContext, opened: OpenStore) -> None:
        super().__init__(self.tr("Tags"))
        self._context, self._opened = context, opened
        self._groups: list[TagGroup] = []
        self._tags: dict[str, int] = {}
        #: What is listed.
        self._alike: list[dict[str, int]] | None = None
        texts = (self.tr("&case and accents"), self.tr("&blanks"), self.tr("&one letter"))
        self._boxes = [QCheckBox(text) for text in texts]
        for box in self._boxes:
            box.setChecked(True)
            box.toggled.connect(self.start)
        self._count_label = PlainLabel(tone="muted")
        self._found = QWidget()  # what was found, in a widget that stays in the scroll area
        content = QWidget()
        self._content = fill(QVBoxLayout(content), self._found, margins=0)
        self._scroll = ScrollArea(content, horizontal=False)
        boxes = fill(QHBoxLayout(), PlainLabel(self.tr("Alike in")), *self._boxes, STRETCH, spacing=M)
        fields = fill(QHBoxLayout(), (boxes, 1), self._count_label, spacing=M)
        self.rows = [fields, boxes]
        fill(QVBoxLayout(self), fields, (self._scroll, 1), margins=0, spacing=M)
        self._show_counts()

    @override
    @Slot()
    def start(self) -> None:
        options = SimilarityOptions(*(box.isChecked() for box in self._boxes))
        self._opened.queries.ask(self, partial(_find, options=options), self._on_found)

    def _on_found(self, found: tuple[dict[str, int], list[dict[str, int]]]) -> None:
        self._tags, groups = found
        if groups == self._alike:
            self._show_counts()
            return
        self._alike = groups
        results = QWidget()
        self._groups = self._made(groups[:_MAX_GROUPS])
        layout = fill(QVBoxLayout(results), *self._groups, margins=0, spacing=S)
        if not groups:
            layout.addWidget(PlainLabel(self.tr("No tag looks like another one."), tone="muted"))
        layout.addStretch(1)
        self._content.replaceWidget(self._found, results)
        self._found.hide()  # the focus goes to what follows it
        self._found.deleteLater()
        self._found = results
        members = {tag for group in groups for tag in group}
        alike = sum(not members.isdisjoint([tag, *ancestors(tag)]) for tag in self._tags)
        text = Text("{alike:,} of {count:,} tags look like others", alike=alike, count=len(self._tags))
        self._count_label.setText(translated(text) if groups else "")
        self._show_counts()

    def _made(self, groups: list[dict[str, int]]) -> list[TagGroup]:
        """Return a widget for each group, with the marks of the present ones."""
        kept = {group.kept_tag for group in self._groups}
        ticks = {tag: is_ticked for group in self._groups for tag, is_ticked in group.ticks.items()}
        made = [TagGroup(self._context.theme, group) for group in groups]
        for group in made:
            group.restore(kept, ticks)
            group.changed.connect(self._show_counts)
        return made

    @Slot()
    def _show_counts(self) -> None:
        names = self._names
        for group in self._groups:
            group.show_results(names)
        tags = [tag for edit in self._edits() for tag in edit.tags]
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
    def _names(self) -> dict[str, str]:
        return {tag: new for group in self._groups for tag, new in group.names.items()}

    def _edits(self) -> list[MergeTags]:
        """Return the edits that rename tags by `names`: one merge for each new name."""
        names = self._names
        merged: dict[str, list[str]] = {}
        for tag in self._tags if names else ():
            if (new := renamed(tag, names)) != tag:
                merged.setdefault(new, []).append(tag)
        return [MergeTags(tuple(tags), new) for new, tags in merged.items()]

    @override
    def apply(self) -> None:
        self.merge_requested.emit(self._edits())
        super().apply()


def _find(reader: PlantReader, _task: Task, options: SimilarityOptions) -> tuple[dict[str, int], list[dict[str, int]]]:
    """Return the tags with their numbers of plants, and the groups of those that are alike."""
    tags = reader.tag_counts()
    return tags, similar_groups(tags, options)
