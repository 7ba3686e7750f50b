"""What can be done with a tag of the sidebar: rename, merge, colour, remove. Each change of plants is one undo."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QMenu, QWidget

from plantdesk.domain.edits import MergeTags, RenameTag
from plantdesk.domain.errors import InvalidPlantError, Text
from plantdesk.domain.history import ChangeKind
from plantdesk.domain.tags import is_in_branch, moved, tops
from plantdesk.ui.feature import PlantChanges
from plantdesk.ui.texts import quoted, shown
from plantdesk.ui.theme.colors import HUES, dot_color
from plantdesk.ui.theme.metrics import ICON
from plantdesk.ui.widgets.dialog import ButtonRole, MessageBox

if TYPE_CHECKING:
    from plantdesk.domain.edits import Undone
    from plantdesk.domain.history import Change
    from plantdesk.domain.protocols import PlantStore
    from plantdesk.ui.feature import WindowContext


class TagCommands(QObject):
    """Changes tags on all their plants.

    `renaming(tags, new)`: their plants are about to get another tag. `renamed(old, new)`: a tag has another name; None:
    it is removed.
    """

    renaming = Signal(object, str)
    renamed = Signal(str, object)

    def __init__(self, context: WindowContext, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._changes = PlantChanges(context, self)
        self._renames: dict[int, tuple[str, str]] = {}
        context.undo_stack.undone.connect(self._on_undone)

    def rename(self, store: PlantStore, tag: str, new: str, counts: Mapping[str | None, int]) -> None:
        """Give the plants of a branch of tags another one; if other plants have that already, ask first."""
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
        branch = [each for each in counts if each is not None and is_in_branch(each, tag)]
        targets = {moved(each, tag, new) for each in branch}
        taken = sum(count for each, count in counts.items() if each in targets and each not in branch)
        edit = RenameTag(tag, new, branch=branch not in ([], [tag]))
        if taken:
            plants = sum(counts[each] for each in branch)
            self._ask(store, edit if edit.branch else MergeTags((tag,), new), [tag], new, (plants, taken))
        else:
            self._set(store, edit, [tag], new)

    def merge(self, store: PlantStore, tags: Sequence[str], into: str, counts: Mapping[str | None, int]) -> None:
        """Ask whether to give the plants of `tags` the tag `into`, and do so as one change."""
        plants = sum(counts[tag] for tag in tags)
        self._ask(store, MergeTags(tuple(tags), into), tags, into, (plants, counts.get(into, 0)))

    def _ask(
        self,
        store: PlantStore,
        edit: RenameTag | MergeTags,
        tags: Sequence[str],
        into: str,
        plants: tuple[int, int],
    ) -> None:
        """Ask whether to give so many plants a tag that others have already."""
        old = ", ".join(map(quoted, tags))
        template = Text(
            "Change the tag of {count:,} plants from {old} to {new}?",
            one="Change the tag of 1 plant from {old} to {new}?",
        )
        text = shown(template.filled(count=plants[0], old=old, new=quoted(into)))
        gone = self.tr("Afterwards {old} is no longer a tag. This can be undone.")
        if len(tags) > 1:
            gone = self.tr("Afterwards {old} are no longer tags. This can be undone.")
        known = Text("{count:,} plants have the tag {new} already.", one="1 plant has the tag {new} already.")
        details = f"{shown(known.filled(count=plants[1], new=quoted(into)))} {gone.format(old=old)}"
        box = MessageBox(self._context.theme, self.tr("Merge tags"), text, details, self._context.page)
        box.set_icon("merge", "accent")
        button = box.add_button(self.tr("&Merge"))
        button.clicked.connect(partial(self._set, store, edit, tags, into))
        box.add_button(self.tr("Cancel"), ButtonRole.RejectRole)
        button.setFocus()  # it can be undone
        box.open()

    def forget_colors(self, tags: Collection[str | None]) -> None:
        """Forget the colours of tags that no plant has; for when a store is opened, as an undo brings tags back."""
        chosen = self._context.theme.tags.chosen
        there = {*tags, *(top for tag in tags if tag for top in tops(tag))}
        kept = {tag: hue for tag, hue in chosen.items() if tag in there}
        if len(kept) < len(chosen):
            self._set_colors(kept)

    def remove(self, store: PlantStore, tag: str, *, branch: bool) -> None:
        """Remove a tag from its plants, with all below it where it is a branch."""
        self._changes.apply(
            store,
            [RenameTag(tag, None, branch)],
            Text(
                "Removed the tag {tag} from {count:,} plants.",
                one="Removed the tag {tag} from 1 plant.",
                tag=quoted(tag),
            ),
            lambda _change: self.renamed.emit(tag, None),
        )

    def color_menu(self, tag: str, parent: QWidget) -> QMenu:
        """Return a menu of the twelve colours, in which that of the tag is checked."""
        menu = QMenu(self.tr("&Colour"), parent)
        chosen = self._context.theme.tags.chosen
        for hue in range(len(HUES)):
            action = menu.addAction(self._dot(hue), self._color_name(hue), partial(self._choose_color, tag, hue))
            action.setCheckable(True)
            action.setChecked(chosen.get(tag) == hue)
        menu.addSeparator()
        action = menu.addAction(self.tr("&Automatic"), partial(self._choose_color, tag, None))
        action.setCheckable(True)
        action.setChecked(tag not in chosen)
        return menu

    def _set(self, store: PlantStore, edit: RenameTag | MergeTags, tags: Sequence[str], new: str) -> None:
        text = Text("{count:,} plants have the tag {new} now.", one="1 plant has the tag {new} now.")
        if isinstance(edit, MergeTags) or edit.branch:
            text = Text(
                "Changed the tag of {count:,} plants from {old} to {new}.",
                one="Changed the tag of 1 plant from {old} to {new}.",
                old=", ".join(map(quoted, tags)),
            )
        self.renaming.emit(tags, new)
        self._changes.apply(store, [edit], text.filled(new=quoted(new)), partial(self._on_renamed, tags, new))

    def _on_renamed(self, tags: Sequence[str], new: str, change: Change | None) -> None:
        if change is None:
            one = self.tr("No plant has the tag {tag} any more, so it was not renamed to {new}.")
            many = self.tr("No plant has the tags {tag} any more, so they were not merged into {new}.")
            gone = one if len(tags) == 1 else many
            text = gone.format(tag=", ".join(map(quoted, tags)), new=quoted(new))
            self._context.page.toast.show_problem(text)
            return
        if change.kind is not ChangeKind.MERGE:
            self._renames[change.number] = tags[0], new
        chosen = self._context.theme.tags.chosen
        after = {moved(each, tag, new) or "": hue for tag in reversed(tags) for each, hue in chosen.items()}
        if len(after | chosen) > len(chosen):
            self._set_colors(after | chosen)
        for tag in tags:
            self.renamed.emit(tag, new)

    @Slot(object)
    def _on_undone(self, undone: Undone) -> None:
        """Let the filters follow where a new name was taken back, or given again."""
        rename = self._renames.get(undone.change.undoes or 0)
        if rename is not None:
            tag, new = rename
            self._renames[undone.change.number] = new, tag
            self.renamed.emit(new, tag)

    def _choose_color(self, tag: str, hue: int | None) -> None:
        tags = self._context.theme.tags
        others = {each: value for each, value in tags.chosen.items() if each != tag}
        self._set_colors(others if hue is None else {**others, tag: hue})

    def _set_colors(self, chosen: dict[str, int]) -> None:
        self._context.theme.tags.set_chosen(chosen)
        self._context.preferences.change_store(self._context.location.key, hues=chosen)

    def _dot(self, hue: int) -> QIcon:
        pixmap = QPixmap(ICON, ICON)
        pixmap.fill(QColor(0, 0, 0, 0))
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(0, 0, 0, 0))
        painter.setBrush(dot_color(hue, self._context.theme.colors))
        painter.drawEllipse(2, 2, ICON - 4, ICON - 4)
        painter.end()
        return QIcon(pixmap)

    def _color_name(self, hue: int) -> str:
        names = (
            self.tr("Red"),
            self.tr("Orange"),
            self.tr("Yellow"),
            self.tr("Lime"),
            self.tr("Green"),
            self.tr("Mint"),
            self.tr("Turquoise"),
            self.tr("Sky blue"),
            self.tr("Blue"),
            self.tr("Violet"),
            self.tr("Purple"),
            self.tr("Pink"),
        )
        return names[hue]


def hues_from_json(value: object) -> dict[str, int]:
    """Return the chosen hues in a JSON object; whatever is not valid in it is left out."""
    items = value.items() if isinstance(value, dict) else ()
    return {tag: hue for tag, hue in items if type(hue) is int and 0 <= hue < len(HUES)}
