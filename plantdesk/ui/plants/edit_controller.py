"""Edits name and tag of a plant in the cells of its row, as one change that can be undone."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QObject, QStringListModel, Slot

from plantdesk.domain.edits import Applied, Edit, Update, edited
from plantdesk.domain.errors import EditConflictError, IdTakenError, InvalidPlantError, prevents_changes
from plantdesk.domain.records import FORM, PlantRow
from plantdesk.domain.tags import tag_from_input
from plantdesk.ui.feature import Feature
from plantdesk.ui.plants.table.cells import EDITABLE, Column
from plantdesk.ui.plants.table.view import PlantTableView
from plantdesk.ui.qt import set_properties
from plantdesk.ui.questions import ConflictQuestion, insert_again
from plantdesk.ui.texts import error_text, quoted
from plantdesk.ui.widgets.fields import MAX_LENGTH
from plantdesk.ui.widgets.offers import TagCompleter

#: Characters of a name or tag in a question: both versions must be visible where they differ.
_MAX_QUOTED = 200


class _Draft(NamedTuple):
    """An edit in progress: `row` is the plant as the user saw it, `mine` is the user's version of it."""

    row: PlantRow
    mine: PlantRow

    def text(self, column: Column) -> str:
        """Return the edited text of a cell: the name, or the tag."""
        return self.mine.name if column is Column.NAME else self.mine.tag or ""

    def with_text(self, column: Column, text: str) -> _Draft:
        """Return a draft in which a cell, the name or the tag, has another text."""
        changed = {"name": text.strip()} if column is Column.NAME else {"tag": tag_from_input(text) or None}
        return self._replace(mine=self.mine._replace(**changed))

    def make_update(self, row: PlantRow) -> Update:
        """Return the edit that changes name and tag of `row` to those of the draft. Raises InvalidPlantError."""
        return edited(row, name=self.mine.name, tag=self.mine.tag)


class EditController(QObject):
    """Edits one plant at a time. Tab moves from name to tag, Enter saves both, Escape discards the edit.

    If others have changed the plant since the user saw it, a bar asks which version to keep.
    """

    def __init__(self, plants: Feature, table: PlantTableView, tags: QStringListModel) -> None:
        super().__init__(table)
        self._plants = plants
        self._context = context = plants.context
        self._toast = context.page.toast
        self._error_text: str | None = None
        self._table = table
        self._editor = table.editor
        self._completer = TagCompleter(tags, table)
        self._draft: _Draft | None = None
        self._column = Column.NAME
        self._initial_text = ""
        self._is_saving = False
        self._next_column: Column | None = None
        changed = self.tr("{name} was changed elsewhere while you were editing it")
        deleted = self.tr("{name} was deleted elsewhere while you were editing it")
        self._question = ConflictQuestion(context, changed, deleted, self)
        table.edit_requested.connect(self.start)
        self._editor.accepted.connect(self._on_accepted)
        self._editor.rejected.connect(self._on_rejected)
        self._editor.focus_lost.connect(self._on_focus_lost)
        self._editor.tab_pressed.connect(self._on_tab_pressed)
        self._editor.textEdited.connect(self._on_edited)
        self._question.answered.connect(table.setFocus)

    def end(self) -> None:
        """Save the edit and close the editor, before the store is released."""
        self._on_focus_lost()
        self._close()
        self._context.keys.drop()

    @Slot(int)
    def start(self, column: int) -> None:
        """Begin to edit a cell of the current row, now or after the plant that is being saved."""
        plant_id = self._table.current_id()
        opened = self._plants.opened
        if opened is None or plant_id is None:
            return
        if self._draft is not None:
            self._next_column = Column(column) if self._is_saving else None
            if self._is_saving:
                self._context.keys.hold()
        elif (error := opened.store.change_error) is not None and prevents_changes(error):
            self._toast.show_error(error)
            self._context.keys.drop()
        else:
            self._context.keys.hold()
            done = partial(self._on_read, Column(column))
            opened.queries.run(
                self, lambda reader, _task: reader.plant(plant_id), done, lambda _error: self._context.keys.drop()
            )

    def _on_read(self, column: Column, row: PlantRow | None) -> None:
        if row is None or row.id != self._table.current_id() or self._draft is not None:
            self._context.keys.drop()
            return
        self._draft = _Draft(row, row)
        self._open_editor(column)
        self._context.keys.release()

    def _open_editor(self, column: Column) -> None:
        """Show the editor with the text of a cell of the draft, or a message if it is too long."""
        if self._draft is None:
            return
        text = self._draft.text(column)
        if len(text) > MAX_LENGTH:
            self._close()
            self._context.keys.drop()
            problem = self.tr("This text is too long to be edited here. “plantdesk edit” can edit it.")
            self._toast.show_problem(problem)
            return
        self._column = column
        name = self.tr("Name of plant {id}") if column is Column.NAME else self.tr("Tag of plant {id}")
        self._editor.setAccessibleName(name.format(id=self._draft.row.id))
        self._editor.setCompleter(self._completer if column is Column.TAG else None)  # type: ignore[arg-type]
        self._editor.setText(text)
        self._initial_text = self._editor.text()
        set_properties(self._editor, invalid=False)
        self._table.open_editor(column)
        self._editor.selectAll()

    def _close(self) -> None:
        self._draft = None
        self._is_saving = False
        self._editor.setReadOnly(False)
        self._table.close_editor()

    def _accept_cell(self) -> bool:
        """Take the text of the editor into the draft; if it is invalid, show why and return False."""
        from plantdesk.domain.validation import check_name

        if self._draft is None or self._is_saving:
            return False
        if self._editor.text() != self._initial_text:
            self._draft = self._draft.with_text(self._column, self._editor.text())
        try:
            self._draft.make_update(self._draft.row)
            if self._draft.mine.name != self._draft.row.name:
                check_name(self._draft.mine.name)
        except InvalidPlantError as error:
            self._show_error(error_text(error))
            return False
        self._table.show_draft(self._draft.mine)
        return True

    def _show_error(self, text: str) -> None:
        set_properties(self._editor, invalid=True)
        self._error_text = text
        self._toast.show_problem(text)

    @Slot()
    def _on_edited(self) -> None:
        set_properties(self._editor, invalid=False)
        self._toast.withdraw(self._error_text or "")

    @Slot()
    def _on_accepted(self) -> None:
        if self._accept_cell() and self._draft is not None:
            self._save(self._draft)

    @Slot(bool)
    def _on_tab_pressed(self, is_forward: bool) -> None:
        if not self._accept_cell():
            return
        index = EDITABLE.index(self._column) + (1 if is_forward else -1)
        if 0 <= index < len(EDITABLE) and not self._table.isColumnHidden(EDITABLE[index]):
            self._open_editor(EDITABLE[index])
        else:
            self._on_accepted()

    @Slot()
    def _on_rejected(self) -> None:
        if not self._is_saving:
            self._close()
            self._on_edited()

    @Slot()
    def _on_focus_lost(self) -> None:
        """Save the edit if its text is valid, else discard it."""
        if self._draft is None or self._is_saving:
            return
        if self._accept_cell():
            self._on_accepted()
        else:
            self._on_rejected()

    def _save(self, draft: _Draft) -> None:
        update = draft.make_update(draft.row)
        if (update.name, update.tag) == (draft.row.name, draft.row.tag):
            self._close()
            return
        self._is_saving = True
        self._editor.setReadOnly(True)
        self._apply(update, draft)

    def _apply(self, edit: Edit, draft: _Draft) -> None:
        if (opened := self._plants.opened) is not None:
            future = opened.store.apply([edit], FORM)
            done = partial(self._on_saved, draft)
            failed = partial(self._on_failed, draft)
            self._context.follow_change(self, future, done, failed)

    def _on_saved(self, draft: _Draft, applied: Applied) -> None:
        """Report the change, scroll to its row, and edit the cell that was requested meanwhile."""
        self._close_draft(draft)
        change = applied.change
        if change is not None:
            old = draft.row.name
            new = draft.mine.name
            is_renamed = old != new and draft.mine.tag == draft.row.tag
            text = self.tr("Renamed {old} to {new}.") if is_renamed else self.tr("Changed {old}.")
            self._context.report_change(change, text.format(old=quoted(old), new=quoted(new)))
            self._table.keeper.keep_visible(draft.row.id)
        column = self._next_column
        self._next_column = None
        if column is not None:
            self.start(column)

    def _on_failed(self, draft: _Draft, error: Exception) -> None:
        self._context.keys.drop()
        if isinstance(error, EditConflictError | IdTakenError):  # the latter if it is back before it is added again
            self._close_draft(draft)
            self._compare(draft)
            return
        self._is_saving = False
        self._next_column = None
        self._editor.setReadOnly(False)
        self._toast.show_error(error)

    def _close_draft(self, draft: _Draft) -> None:
        """Close the editor, unless it edits another plant by now."""
        if self._draft is draft:
            self._close()

    def _compare(self, draft: _Draft) -> None:
        if (opened := self._plants.opened) is not None:
            mine = self._format_own_version(draft)
            self._question.read(opened.queries, draft.row, mine, partial(self._on_compared, draft))

    def _on_compared(self, draft: _Draft, current: PlantRow | None) -> None:
        """Save if only the note has changed elsewhere; ask if the user's version and theirs differ."""
        if current is None:
            self._ask_about_deleted(draft)
            return
        mine = draft.make_update(current)
        newer = draft._replace(row=current)
        if (current.name, current.tag) == (draft.row.name, draft.row.tag):  # only the note has changed
            self._apply(mine, newer)
        elif (current.name, current.tag) != (mine.name, mine.tag):
            theirs = self._format_version(current.name, current.tag)
            keep = partial(self._apply, mine, newer)
            self._question.ask_about_changed(draft.row, self._format_own_version(draft), theirs, keep)

    def _ask_about_deleted(self, draft: _Draft) -> None:
        add = partial(self._apply, insert_again(draft.make_update(draft.row)), draft)
        self._question.ask_about_deleted(draft.row, self._format_own_version(draft), add)

    def _format_own_version(self, draft: _Draft) -> str:
        edit = draft.make_update(draft.row)
        return self._format_version(edit.name, edit.tag)

    def _format_version(self, name: str, tag: str | None) -> str:
        tag_part = self.tr("no tag") if tag is None else self.tr("tag {tag}").format(tag=quoted(tag, _MAX_QUOTED))
        return f"{quoted(name, _MAX_QUOTED)}, {tag_part}"
