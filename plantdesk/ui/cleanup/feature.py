"""The commands of the clean-up dialog, and the changes that its pages request."""

from __future__ import annotations

from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit
from shiboken6 import isValid
from typing_extensions import override

from plantdesk.domain.duplicates import unmerged_text
from plantdesk.domain.edits import Applied, MergePlants, MergeTags, Rewrite
from plantdesk.domain.records import FORM
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import Contains, Selection
from plantdesk.domain.texts import Text
from plantdesk.ui.feature import Feature, OpenStore, PlantChanges, ShownPlants, WindowContext
from plantdesk.ui.menus import Section
from plantdesk.ui.qt import bring_to_front, close_window
from plantdesk.ui.texts import translated

if TYPE_CHECKING:
    from plantdesk.ui.cleanup.dialog import CleanUpDialog
    from plantdesk.ui.cleanup.rewriting import RewritingPage

#: The most characters of a selected text that becomes the text to search.
_MAX_FIND_LENGTH = 200


class PageNumber(IntEnum):
    """The numbers of the pages of the dialog; they are the indexes of the tabs."""

    DUPLICATES = 0
    TAGS = 1
    TEXTS = 2


class CleanUpFeature(Feature):
    """The commands that open the clean-up dialog at a page, or raise it."""

    #: (ids) Show these plants.
    plants_requested = Signal(object)

    def __init__(self, context: WindowContext, plants: ShownPlants) -> None:
        super().__init__(context)
        self._plants = plants
        self._dialog: CleanUpDialog | None = None
        self._rewriting_page: RewritingPage | None = None
        self._changes = PlantChanges(context, self)
        add = context.menus.add
        make_opener = self._make_opener
        self.enable_with_store(
            add(Section.TOOLS_PLANTS, self.tr("&Clean up…"), make_opener(PageNumber.DUPLICATES)),
            add(Section.TOOLS_PLANTS, self.tr("Find &duplicates…"), make_opener(PageNumber.DUPLICATES), in_menu=False),
            add(Section.TOOLS_PLANTS, self.tr("Tidy up &tags…"), make_opener(PageNumber.TAGS), in_menu=False),
            add(Section.EDIT_FIND, self.tr("Find and replac&e…"), make_opener(PageNumber.TEXTS), "Ctrl+R"),
        )

    @override
    def release_store(self) -> None:
        super().release_store()
        close_window(self._dialog)
        self._dialog = None

    def open_dialog(self, page: PageNumber = PageNumber.TEXTS) -> None:
        """Open or raise the dialog at a page, or show why plants cannot be changed now."""
        if self.opened is None or not self._changes.may_change(self.opened.store):
            return
        if self._dialog is None or not isValid(self._dialog):
            self._dialog = self._make_dialog(self.opened)
        elif self._rewriting_page is not None:
            self._rewriting_page.set_scopes(self._make_scopes())
        self._dialog.show_page(page)
        bring_to_front(self._dialog)

    def _make_opener(self, page: PageNumber) -> partial[None]:
        return partial(self.open_dialog, page)

    def _make_dialog(self, opened: OpenStore) -> CleanUpDialog:
        """Create the dialog with its three pages; also sets `_rewriting_page`."""
        from plantdesk.ui.cleanup.dialog import CleanUpDialog
        from plantdesk.ui.cleanup.pages import DuplicatesPage, TagsPage
        from plantdesk.ui.cleanup.rewriting import RewritingPage

        text = self._find_start_text()
        duplicates = DuplicatesPage(self.context, opened)
        tags = TagsPage(self.context, opened)
        duplicates.merge_requested.connect(self._merge)
        tags.merge_requested.connect(self._merge_tags)
        rewriting = self._rewriting_page = RewritingPage(self.context, opened.store, self._make_scopes(), text)
        rewriting.edit_requested.connect(self._rewrite)
        rewriting.plant_requested.connect(self._show_plant)
        dialog = CleanUpDialog(self.context, [duplicates, tags, rewriting])
        dialog.refreshed.connect(self._show_count)
        return dialog

    @Slot(object, int)
    def _merge(self, edit: MergePlants, plants: int) -> None:
        if self.opened is None:
            return
        toast = self.context.page.toast
        toast.show_progress(self.tr("Merging plants…"))
        merging = self.opened.store.apply([edit], FORM)
        self.context.follow_change(self, merging, partial(self._on_merged, plants), toast.show_error)

    def _on_merged(self, requested: int, applied: Applied) -> None:
        """Report how many plants were merged, and how many were not because they have changed meanwhile."""
        merged = 0 if applied.change is None else int(applied.change.parameters["merged"])
        text = translated(Text("Merged {count:,} plants.", one="Merged 1 plant.", count=merged)) if merged else ""
        if merged < requested:
            text = f"{text} {translated(unmerged_text(requested - merged))}".strip()
        if applied.change is None:
            self.context.page.toast.show_problem(text)
        else:
            self.context.report_change(applied.change, text)

    @Slot(object)
    def _merge_tags(self, edits: list[MergeTags]) -> None:
        if self.opened is not None:
            text = Text("{count:,} plants got another tag.", one="1 plant got another tag.")
            self._changes.apply(self.opened.store, edits, text)

    def _make_scopes(self) -> list[tuple[str, Selection]]:
        """Return the sets of plants that a rule may change, each with its label, the default first."""
        ids = self._plants.selected_ids()
        count = self._plants.shown_count
        text = self._plants.search_text
        plants = Text("In all {count:,} plants", one="In the only plant", count=count)
        matching = Text("In all {count:,} shown", one="In the plant shown", count=count)
        label = translated(matching if text else plants)
        shown_scope = label if count else self.tr("In all plants"), parse_search(text)  # 0: not counted yet
        if not ids:
            return [shown_scope]
        selected_text = Text("In {count:,} selected plants", one="In the selected plant", count=len(ids))
        selected = translated(selected_text), Selection(ids=ids)
        return [shown_scope, selected] if len(ids) == 1 else [selected, shown_scope]

    @Slot()
    def _show_count(self) -> None:
        if self._rewriting_page is not None:
            self._rewriting_page.show_count(next(text for text, plants in self._make_scopes() if plants.ids is None))

    def _find_start_text(self) -> str:
        """Return the text to search at first: the selected one, or a search of one word."""
        focused = QApplication.focusWidget()
        text = ""
        if isinstance(focused, QLineEdit):
            text = focused.selectedText()
        elif isinstance(focused, QPlainTextEdit):
            text = focused.textCursor().selectedText()
        if text and len(text) <= _MAX_FIND_LENGTH:
            return text
        match parse_search(self._plants.search_text).groups:
            case ((Contains(text=word, in_note=False),),):
                return word
            case _:
                return ""

    @Slot(object)
    def _show_plant(self, plant_id: int) -> None:
        self.plants_requested.emit((plant_id,))
        self.context.page.activateWindow()

    @Slot(object, int)
    def _rewrite(self, edit: Rewrite, count: int) -> None:
        if self.opened is None:
            return
        self._plants.focus_table()  # in a field, Ctrl+Z would undo typing instead of this change
        text = Text("Changed {count:,} plants.", one="Changed 1 plant.")
        if edit.rule.find:
            text = Text("Replaced in {count:,} plants.", one="Replaced in 1 plant.")
        progress = translated(Text("Changing {count:,} plants…", one="Changing 1 plant…", count=count))
        self._changes.apply(self.opened.store, [edit], text, progress=progress, show=self.plants_requested.emit)
