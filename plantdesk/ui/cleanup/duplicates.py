"""The page that finds plants that are alike, and merges them."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStackedLayout, QVBoxLayout
from typing_extensions import override

from plantdesk.domain.duplicates import Kept, PlantGroups, intended
from plantdesk.domain.errors import Text
from plantdesk.ui.cleanup.dialog import CleanUpPage
from plantdesk.ui.cleanup.duplicate_list import DuplicateList, DuplicateModel
from plantdesk.ui.qt import STRETCH, fill
from plantdesk.ui.texts import error_text, shown
from plantdesk.ui.theme.metrics import L, M, S
from plantdesk.ui.widgets.fields import ComboBox
from plantdesk.ui.widgets.plain_text import PlainLabel, announce

if TYPE_CHECKING:
    from plantdesk.ui.background import Task
    from plantdesk.ui.feature import OpenStore, WindowContext


class DuplicatesPage(CleanUpPage):
    """Searches in the background. `merge_requested(edit, plants)`: these are to go."""

    merge_requested = Signal(object, int)

    def __init__(self, context: WindowContext, opened: OpenStore) -> None:
        super().__init__(self.tr("Duplicates"))
        self._context, self._opened = context, opened
        self._task: Task | None = None
        self._model = DuplicateModel(opened.queries, self)
        self._list = DuplicateList(self._model, context.theme)
        self._alike_box = ComboBox(self.tr("Alike in"))
        for text, by_tag in ((self.tr("name and tag"), True), (self.tr("name"), False)):
            self._alike_box.addItem(text, by_tag)
        self._keep_box = ComboBox(self.tr("Keep"))
        for text, keep in (
            (self.tr("the lowest ID"), Kept.LOWEST_ID),
            (self.tr("the newest"), Kept.NEWEST),
            (self.tr("the one with the longest note"), Kept.LONGEST_NOTE),
        ):
            self._keep_box.addItem(text, keep)
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
        for page in (self._empty_label, self._list):
            self._pages.addWidget(page)
        fill(QVBoxLayout(self), fields, counts, (self._pages, 1), margins=0, spacing=S)

    def _connect(self) -> None:
        self._alike_box.currentIndexChanged.connect(self.start)
        self._keep_box.currentIndexChanged.connect(self._on_keep_changed)
        self._all_button.clicked.connect(self._on_all_clicked)
        self._model.changed.connect(self._show_counts)

    @override
    @Slot()
    def start(self) -> None:
        self._show_text(self.tr("Looking for plants that are alike…"))
        self._model.set_groups(PlantGroups.of([]))
        self.reload()

    @override
    def reload(self) -> None:
        """Search on a thread of its own: a million plants take seconds, and the list must not wait."""
        self.cancel()
        by_tag = bool(self._alike_box.currentData())
        store = self._opened.store

        def find(task: Task) -> tuple[PlantGroups, set[int]]:
            with closing(store.reader()) as reader, task.interrupted_by(reader.interrupt):
                groups = reader.duplicates(by_tag=by_tag)
                return groups, intended(groups, reader.rows)

        self._task = self._context.bridge.long_tasks.ask(self, find, self._on_found, self._on_failed)

    def _on_found(self, found: tuple[PlantGroups, set[int]]) -> None:
        self._task = None
        groups, left = found
        self._model.set_groups(groups, left)
        if not groups.sizes:
            self._show_text(self.tr("No two plants are alike."))
            return
        self._pages.setCurrentWidget(self._list)
        announce(self, self._count_label.text())

    def _on_failed(self, error: Exception) -> None:
        self._task = None
        self._show_text(error_text(error))

    def _show_text(self, text: str) -> None:
        self._empty_label.setText(text)
        self._pages.setCurrentWidget(self._empty_label)

    @override
    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    @Slot()
    def _on_keep_changed(self) -> None:
        self._model.set_keep(Kept(self._keep_box.currentData()))

    @Slot()
    def _on_all_clicked(self) -> None:
        self._model.set_all(is_merged=not self._model.kept)

    @Slot()
    def _show_counts(self) -> None:
        model = self._model
        groups = Text("{count:,} groups", one="1 group", count=model.group_count)
        plants = Text("{plants:,} plants in {groups}", plants=model.plants, groups=groups)
        self._count_label.setText(shown(plants) if model.group_count else "")
        self._all_button.setVisible(bool(model.group_count))
        self._all_button.setText(self.tr("Choose none") if model.kept else self.tr("Choose all"))
        merge = Text("Merge {count:,} plants", one="Merge 1 plant", count=model.going)
        kept = Text("{count:,} are kept, with all notes.", one="1 is kept, with all notes.", count=model.kept)
        going = Text("{count:,} go; Ctrl+Z brings them back.", one="1 goes; Ctrl+Z brings it back.", count=model.going)
        if model.going:
            self.show_state(shown(merge), f"{shown(kept)} {shown(going)}", can_apply=True)
        else:
            self.show_state(self.tr("Merge"), "", can_apply=False)

    @override
    def apply(self) -> None:
        self.merge_requested.emit(self._model.edit(), self._model.going)
        super().apply()
