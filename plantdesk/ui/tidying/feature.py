"""The commands that merge plants and tags that are alike."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from shiboken6 import isValid
from typing_extensions import override

from plantdesk.domain.errors import Text
from plantdesk.domain.records import FORM
from plantdesk.ui.feature import Feature, PlantChanges
from plantdesk.ui.menus import Section
from plantdesk.ui.texts import shown

if TYPE_CHECKING:
    from plantdesk.domain.edits import Applied, MergePlants, MergeTags
    from plantdesk.ui.feature import OpenStore, WindowContext
    from plantdesk.ui.widgets.dialog import Dialog


class Tidying(Feature):
    """Opens one of its dialogs at a time."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._opened: OpenStore | None = None
        self._dialog: Dialog | None = None
        self._changes = PlantChanges(context, self)
        add = partial(context.menus.add, Section.TOOLS_PLANTS)
        self._actions = [
            add(self.tr("&Find duplicates…"), self.find_duplicates),
            add(self.tr("Tidy up &tags…"), self.tidy_tags),
        ]
        self._enable(False)

    @override
    def set_store(self, opened: OpenStore) -> None:
        self._close()
        self._opened = opened
        self._enable(True)

    @override
    def release_store(self) -> None:
        self._close()
        self._opened = None
        self._enable(False)

    @Slot()
    def find_duplicates(self) -> None:
        """Open the dialog that finds plants that are alike."""
        if self._opened is None or not self._changes.may_change(self._opened.store):
            return
        from plantdesk.ui.tidying.duplicates_dialog import DuplicatesDialog

        self._close()
        dialog = DuplicatesDialog(self.context, self._opened, self.context.page)
        dialog.merge_requested.connect(self._merge)
        self._show(dialog)

    @Slot()
    def tidy_tags(self) -> None:
        """Open the dialog that finds tags that look like others."""
        if self._opened is None or not self._changes.may_change(self._opened.store):
            return
        from plantdesk.ui.tidying.tags_dialog import TagsDialog

        self._close()
        dialog = TagsDialog(self.context, self._opened, self.context.page)
        dialog.merge_requested.connect(self._merge_tags)
        self._show(dialog)

    @Slot(object)
    def _merge_tags(self, edits: list[MergeTags]) -> None:
        if self._opened is not None:
            text = Text("{count:,} plants got another tag.", one="1 plant got another tag.")
            self._changes.apply(self._opened.store, edits, text)

    def _show(self, dialog: Dialog) -> None:
        self._dialog = dialog
        dialog.show()

    def _close(self) -> None:
        if self._dialog is not None and isValid(self._dialog):
            self._dialog.close()
        self._dialog = None

    def _enable(self, is_enabled: bool) -> None:
        for action in self._actions:
            action.setEnabled(is_enabled)

    @Slot(object, int)
    def _merge(self, edit: MergePlants, plants: int) -> None:
        if self._opened is None:
            return
        toast = self.context.page.toast
        toast.show_progress(self.tr("Merging plants…"))
        merging = self._opened.store.apply([edit], FORM)
        self.context.follow_change(self, merging, partial(self._on_merged, plants), toast.show_error)

    def _on_merged(self, requested: int, applied: Applied) -> None:
        """Report how many plants went, and how many groups stay because something else has changed them."""
        merged = 0 if applied.change is None else int(applied.change.parameters["merged"])
        text = shown(Text("Merged {count:,} plants.", one="Merged 1 plant.", count=merged)) if merged else ""
        if merged < requested:
            left = Text(
                "{count:,} plants stay: they have changed meanwhile, or their notes are too long together.",
                one="1 plant stays: it has changed meanwhile, or the notes are too long together.",
                count=requested - merged,
            )
            text = f"{text} {shown(left)}".strip()
        if applied.change is None:
            self.context.page.toast.show_problem(text)
        else:
            self.context.report_change(applied.change, text)
