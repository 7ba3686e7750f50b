"""The commands and menus for the selected plants, and the commands of the View menu for form and table."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial

from PySide6.QtCore import QCoreApplication, QObject, QPoint, QStringListModel, Qt, Signal, Slot
from PySide6.QtWidgets import QMenu

from plantdesk.domain.edits import DeleteAll, SetTag
from plantdesk.domain.errors import prevents_changes
from plantdesk.domain.protocols import PlantReader
from plantdesk.domain.records import PlantRow
from plantdesk.domain.selections import AddedBy, AddedOn, HasTag, Selection, Term
from plantdesk.domain.texts import Text
from plantdesk.transfer.formats import Format
from plantdesk.ui.background import Task
from plantdesk.ui.feature import Feature, PlantChanges, WindowContext
from plantdesk.ui.menus import Section, check_choice
from plantdesk.ui.plants.browser import PlantBrowser
from plantdesk.ui.plants.edit_controller import EditController
from plantdesk.ui.plants.form_fields import MAX_QUANTITY, TagField
from plantdesk.ui.plants.outbox import EnteredPlant
from plantdesk.ui.plants.table.cells import Column, column_title
from plantdesk.ui.plants.table.columns import SIZED_COLUMNS
from plantdesk.ui.plants.table.model import MAX_TEXT, PLANT_ROLE
from plantdesk.ui.plants.table.view import PlantTableView
from plantdesk.ui.questions import TagDialog
from plantdesk.ui.texts import quoted, source_text, tag_text, translated
from plantdesk.ui.widgets.dialog import ButtonRole, MessageBox

#: Plants that are deleted without a question.
_MAX_UNCONFIRMED_DELETIONS = 10_000


def _add_filters(menu: QMenu, table: PlantTableView, choose: Callable[[Term], object]) -> None:
    """Add commands such as “Show only this day” for the current row to a menu; `choose` gets the filter."""
    row: PlantRow | None = table.currentIndex().data(PLANT_ROLE)
    if row is None:
        return
    source = row.source
    text = QCoreApplication.translate("RowFilters", "Show only {filter}")
    filters: list[tuple[str, Term]] = []
    if row.tag is not None and len(row.tag) < MAX_TEXT:  # not shortened
        filters.append((text.format(filter=quoted(tag_text(row.tag), 40)), HasTag.exactly(row.tag)))
    filters.append((text.format(filter=quoted(source_text(source), 40)), AddedBy(source.kind, source.label)))
    day = datetime.fromtimestamp(row.added_at / 1000).date()  # noqa: DTZ006 - the local day
    filters.append((QCoreApplication.translate("RowFilters", "Show only this day"), AddedOn(day, day)))
    for name, term in filters:
        menu.addAction(name.replace("&", "&&"), partial(choose, term))


class SelectionCommands(QObject):
    """The commands that edit, tag, copy and delete the selected plants; their texts have the number."""

    #: (entries) Add plants like the selected ones.
    copies_requested = Signal(object)

    def __init__(self, plants: Feature, browser: PlantBrowser, editing: EditController, tags: QStringListModel) -> None:
        """Add the commands to the menus, for the selection of `browser`; `tags` are offered as completions."""
        super().__init__(browser)
        context = plants.context
        self._plants = plants
        self._context = context
        self._browser = browser
        self._editing = editing
        self._tags = tags
        self._changes = PlantChanges(context, self)
        #: Called before plants are copied; returns the notes that were typed, by the IDs of their plants.
        self.save_notes: Callable[[], Mapping[int, str]] = dict
        self._is_copying = False
        add = context.menus.add
        self._edit_name = add(Section.EDIT_PLANTS, "", partial(editing.start, Column.NAME), "F2")
        self._edit_tag = add(Section.EDIT_PLANTS, "", self.change_tag, "Ctrl+T")
        self._duplicate = add(Section.EDIT_PLANTS, "", self.duplicate, "Ctrl+D")
        self._delete = add(Section.EDIT_PLANTS, "", self.delete, "Del")
        self._delete.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        for action in (self._delete, self._duplicate):  # afterwards the next plant, or the copy, is selected
            action.setAutoRepeat(False)
        copies = ((self.tr("Copy as C&SV"), Format.CSV), (self.tr("Copy as &JSON"), Format.JSON))
        self._copy_actions = [
            add(Section.EDIT_COPIES, text, partial(browser.copy_selection, file_format), in_menu=False)
            for text, file_format in copies
        ]
        self.show_selection(0)
        context.bridge.health_changed.connect(self._on_health_changed)
        browser.table.selection_count_changed.connect(self.show_selection)
        browser.table.keeper.selected.connect(self.end_copying)
        browser.table.menu_requested.connect(self._open_row_menu)
        browser.table.addAction(self._delete)  # its key works only there

    @Slot(QPoint)
    def _open_row_menu(self, position: QPoint) -> None:
        browser = self._browser
        edits = Section.EDIT_PLANTS, Section.EDIT_CLIPBOARD, Section.EDIT_COPIES
        sections = *edits, Section.FILE_EXPORT, Section.EDIT_HISTORY
        menu = self._context.menus.make_context_menu(browser.table, *sections)
        _add_filters(menu, browser.table, partial(browser.search_bar.choose, add=False))
        menu.popup(position)

    @Slot(int)
    def show_selection(self, count: int) -> None:
        """Name the commands for `count` selected plants, and enable them if there are some."""
        edit_name = self.tr("Edit na&me") if count <= 1 else self.tr("Edit na&me of the current plant")
        self._edit_name.setText(edit_name)
        number = max(count, 1)
        self._edit_tag.setText(translated(Text("Change ta&g of {count:,} plants…", one="Edit ta&g", count=number)))
        self._duplicate.setText(translated(Text("Dup&licate {count:,} plants", one="Dup&licate plant", count=number)))
        self._delete.setText(translated(Text("&Delete {count:,} plants", one="&Delete plant", count=number)))
        opened = self._plants.opened
        may_change = opened is None or not prevents_changes(opened.store.change_error)
        for action in (self._edit_name, self._edit_tag, self._delete):
            action.setEnabled(count > 0 and may_change)
        self._duplicate.setEnabled(0 < count <= MAX_QUANTITY)
        for action in self._copy_actions:
            action.setEnabled(count > 0)

    @Slot()
    def _on_health_changed(self) -> None:
        self.show_selection(self._browser.table.selected_count())

    @Slot()
    def duplicate(self) -> None:
        """Copy the selected plants with notes to the next free IDs; hold keys until these are selected."""
        if self._plants.opened is not None:
            self._is_copying = True
            self._context.keys.hold()
            read = partial(_read_copies, ids=self._browser.table.selected_ids(), notes=self.save_notes())
            self._plants.opened.queries.run(self, read, self.copies_requested.emit, self._on_not_copied)

    def _on_not_copied(self, error: Exception) -> None:
        self.end_copying()
        self._context.page.toast.show_error(error)

    @Slot()
    @Slot(bool)
    def end_copying(self, is_found: bool = False) -> None:  # noqa: FBT002  a slot
        """Release the held keys if the copies have been selected (`is_found`); else drop them."""
        if self._is_copying:
            self._is_copying = False
            if is_found:
                self._context.keys.release()
            else:
                self._context.keys.drop_commands()

    @Slot()
    def delete(self) -> None:
        """Delete the selected plants, after a question if they are very many."""
        ids = self._browser.table.selected_ids()
        if len(ids) <= _MAX_UNCONFIRMED_DELETIONS:
            self._delete_plants(ids)
            return
        text = translated(Text("Delete {count:,} plants?", count=len(ids)))
        box = MessageBox(
            self._context.theme, self.tr("Delete plants"), text, self.tr("This can be undone."), self._context.page
        )
        box.set_icon("trash-2", "warning")
        box.add_button(self.tr("&Delete")).clicked.connect(partial(self._delete_plants, ids))
        box.add_button(self.tr("Cancel"), ButtonRole.RejectRole)
        box.open()

    def _delete_plants(self, ids: array[int]) -> None:
        opened = self._plants.opened
        if opened is not None and ids and self._changes.may_change(opened.store):
            self._browser.table.keeper.select_next()
            text = Text("Deleted {count:,} plants.", one="Deleted 1 plant.")
            progress = translated(Text("Deleting {count:,} plants…", one="Deleting 1 plant…", count=len(ids)))
            self._changes.apply(opened.store, [DeleteAll(Selection(ids=ids))], text, progress=progress)

    @Slot(object)
    def set_tag(self, tag: str | None) -> None:
        """Give the selected plants a tag, or none."""
        opened = self._plants.opened
        if opened is not None and (ids := self._browser.table.selected_ids()):
            text = Text("Removed the tags of {count:,} plants.", one="Removed the tag of 1 plant.")
            if tag is not None:
                text = Text("Gave {count:,} plants the tag {tag}.", one="Gave 1 plant the tag {tag}.", tag=quoted(tag))
            progress = translated(Text("Changing {count:,} plants…", one="Changing 1 plant…", count=len(ids)))
            self._changes.apply(opened.store, [SetTag(Selection(ids=ids), tag)], text, progress=progress)

    def change_tag(self) -> None:
        """Edit the tag of the selected plant, or ask for one tag for all selected plants."""
        count = self._browser.table.selected_count()
        if count <= 1:
            self._editing.start(Column.TAG)
            return
        change = translated(Text("&Change tag of {count:,} plants", one="&Change tag of 1 plant", count=count))
        label = translated(Text("Tag of {count:,} plants", one="Tag of 1 plant", count=count))
        texts = self.tr("Change tag"), label, change
        dialog = TagDialog(self._context.theme, texts, self._tags, self._context.page)
        dialog.add_removal(
            translated(Text("&Remove tags of {count:,} plants", one="&Remove tag of 1 plant", count=count))
        )
        dialog.chosen.connect(self.set_tag)
        dialog.open()


def _read_copies(reader: PlantReader, _task: Task, ids: array[int], notes: Mapping[int, str]) -> list[EnteredPlant]:
    rows = sorted(reader.rows(ids).values(), key=lambda row: row.id)
    return [EnteredPlant(row.name, row.tag, None, notes.get(row.id, row.note or "") or None) for row in rows]


class ViewCommands(QObject):
    """The commands of the View menu for form and table: order, columns, compact rows, keeping the tag."""

    def __init__(self, context: WindowContext, browser: PlantBrowser, tag_field: TagField) -> None:
        super().__init__(browser)
        self._context = context
        self._browser = browser
        menus = context.menus
        choices = (
            *((self.tr("Ne&west first"), "added"), (self.tr("By &name"), "name"), (self.tr("By &ID"), "id")),
            *((self.tr("By &tag"), "tag"), (self.tr("By &origin"), "source")),
        )
        self.orders = menus.add_choices(Section.VIEW_ORDER, self.tr("Sort"), choices, browser.set_order, in_menu=False)
        check_choice(self.orders, "added")
        switch = partial(menus.add_switch, Section.VIEW_PLANTS, in_menu=False)
        self.compact_command = switch(self.tr("&Compact rows"), lambda on: browser.table.set_compact(compact=on))
        text = self.tr("&Keep tag for the next plant")
        self.keep_tag_command = switch(text, lambda on: tag_field.set_pinned(pinned=on))
        tag_field.pinned.connect(self.keep_tag_command.setChecked)
        titles = map(column_title, SIZED_COLUMNS)
        columns = menus.add_switches(Section.VIEW_COLUMNS, self.tr("Col&umns"), titles, self._on_columns_chosen)
        self._columns = dict(zip(SIZED_COLUMNS, columns, strict=True))
        for action in self._columns.values():
            action.setChecked(True)
        text = self.tr("New &plants (top of the list)")
        menus.add(Section.VIEW_PLANTS, text, browser.table.jump_to_top, "Ctrl+Home")
        header = browser.table.horizontalHeader()
        header.sortIndicatorChanged.connect(lambda section: check_choice(self.orders, Column(section).order))
        header.customContextMenuRequested.connect(self._open_header_menu)

    def check_commands(self) -> None:
        """Set the check marks of columns and compact rows to the present state of the table."""
        self.compact_command.setChecked(self._browser.table.is_compact)
        for column, action in self._columns.items():
            action.setChecked(column not in self._browser.table.columns.hidden)

    @Slot()
    def _on_columns_chosen(self) -> None:
        for column, action in self._columns.items():
            self._browser.table.columns.set_shown(column, shown=action.isChecked())

    @Slot(QPoint)
    def _open_header_menu(self, position: QPoint) -> None:
        header = self._browser.table.horizontalHeader()
        menu = self._context.menus.make_context_menu(header, Section.VIEW_ORDER, Section.VIEW_COLUMNS)
        menu.popup(header.mapToGlobal(position))
