"""The commands of a tag in the sidebar: rename, merge, remove. Each is one change of the history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from plantdesk.domain.edits import MergeTags, RenameTag, Undone
from plantdesk.domain.errors import InvalidPlantError
from plantdesk.domain.history import Change, ChangeKind
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.tags import is_in_branch, renamed_with_branch
from plantdesk.domain.texts import Text
from plantdesk.ui.feature import PlantChanges, WindowContext
from plantdesk.ui.sidebar.entries import SidebarEntry
from plantdesk.ui.texts import quoted, translated
from plantdesk.ui.widgets.dialog import ButtonRole, MessageBox


class TagCommands(PlantChanges):
    """Renames, merges and removes tags for all their plants, after a question before two tags become one."""

    #: (old, new) A tag was renamed, or removed (None).
    renamed = Signal(str, object)

    def __init__(self, context: WindowContext, parent: QObject) -> None:
        super().__init__(context, parent)
        self.store: PlantStore | None = None
        #: The numbers of plants by tag, sorted by tag.
        self.counts: Mapping[str, int] = {}
        #: The old and the new tag, by the number of the change.
        self._renames: dict[int, tuple[str, str]] = {}
        context.undo_stack.undone.connect(self._on_undone)

    @Slot(str, str)
    def rename(self, tag: str, new: str) -> None:
        """Rename a tag and the tags below it; ask first if other plants have the new tag already."""
        if new == tag:
            return
        from plantdesk.domain.validation import plant_fields

        try:
            plant_fields({"name": "", "tag": new})
        except InvalidPlantError as error:
            self._context.page.toast.show_error(error)
            return
        if not new:
            self._context.page.toast.show_problem(self.tr("Give the tag a name, or remove it."))
            return
        branch = self._tags_in_branch(tag)
        targets = {renamed_with_branch(branch_tag, tag, new) for branch_tag in branch}
        plants_with_new = sum(count for other, count in self.counts.items() if other in targets and other not in branch)
        edit = RenameTag(tag, new, includes_branch=branch not in ([], [tag]))
        if plants_with_new:
            self._ask_to_merge(edit if edit.includes_branch else MergeTags((tag,), new), tag, new, plants_with_new)
        else:
            self._rename_unasked(edit, tag, new)

    def remove(self, entry: SidebarEntry) -> None:
        """Remove a tag, and the tags below it, from all plants."""
        tag = entry.tag or ""
        text = Text(
            "Removed the tag {tag} from {count:,} plants.", one="Removed the tag {tag} from 1 plant.", tag=quoted(tag)
        )
        self._apply(RenameTag(tag, None, bool(entry.children)), text, lambda _change: self.renamed.emit(tag, None))

    def _tags_in_branch(self, tag: str) -> list[str]:
        return [other for other in self.counts if is_in_branch(other, tag)]

    def _ask_to_merge(self, edit: RenameTag | MergeTags, tag: str, new: str, plants_with_new: int) -> None:
        """Ask whether to give the plants of a tag another one that other plants have already."""
        names = {"old": quoted(tag), "new": quoted(new)}
        question = Text(
            "Change the tag of {count:,} plants from {old} to {new}?",
            one="Change the tag of 1 plant from {old} to {new}?",
        )
        known = Text("{count:,} plants have the tag {new} already.", one="1 plant has the tag {new} already.")
        gone = self.tr("Afterwards {old} is no longer a tag. This can be undone.").format(**names)
        details = f"{translated(known.filled(count=plants_with_new, **names))} {gone}"
        plants = sum(self.counts[branch_tag] for branch_tag in self._tags_in_branch(tag))
        text = translated(question.filled(count=plants, **names))
        box = MessageBox(self._context.theme, self.tr("Merge tags"), text, details, self._context.page)
        box.set_icon("merge", "accent")
        button = box.add_button(self.tr("&Merge"))
        button.clicked.connect(partial(self._rename_unasked, edit, tag, new))
        box.add_button(self.tr("Cancel"), ButtonRole.RejectRole)
        button.setFocus()  # it can be undone
        box.open()

    def _rename_unasked(self, edit: RenameTag | MergeTags, tag: str, new: str) -> None:
        text = Text("{count:,} plants have the tag {new} now.", one="1 plant has the tag {new} now.")
        if isinstance(edit, MergeTags) or edit.includes_branch:
            text = Text(
                "Changed the tag of {count:,} plants from {old} to {new}.",
                one="Changed the tag of 1 plant from {old} to {new}.",
                old=quoted(tag),
            )
        self._apply(edit, text.filled(new=quoted(new)), partial(self._on_renamed, tag, new))

    def _apply(self, edit: RenameTag | MergeTags, text: Text, done: Callable[[Change | None], object]) -> None:
        if self.store is not None:
            self.apply(self.store, [edit], text, done)

    def _on_renamed(self, tag: str, new: str, change: Change | None) -> None:
        if change is None:
            gone = self.tr("No plant has the tag {tag} any more, so it was not renamed to {new}.")
            self._context.page.toast.show_problem(gone.format(tag=quoted(tag), new=quoted(new)))
            return
        if change.kind is not ChangeKind.MERGE:
            self._renames[change.number] = tag, new
        self.renamed.emit(tag, new)

    @Slot(object)
    def _on_undone(self, undone: Undone) -> None:
        rename = self._renames.get(undone.change.undoes or 0)
        if rename is not None:
            tag, new = rename
            self._renames[undone.change.number] = new, tag
            self.renamed.emit(new, tag)
