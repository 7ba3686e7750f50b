"""The commands that act on the selected plants, and those of a row's context menu that filter by it."""

from __future__ import annotations

import sys
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, Slot

from plantdesk.domain.errors import Text
from plantdesk.domain.selections import AddedBy, AddedOn, HasTag, Selection
from plantdesk.ui.feature import PlantChanges
from plantdesk.ui.filters import filter_icon
from plantdesk.ui.menus import Key, Section
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.model import PLANT_ROLE
from plantdesk.ui.plants.table.queries import MAX_TEXT
from plantdesk.ui.texts import quoted, shown, source_text, tag_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QStringListModel
    from PySide6.QtWidgets import QMenu

    from plantdesk.domain.protocols import PlantStore
    from plantdesk.domain.records import PlantRow
    from plantdesk.domain.selections import Term
    from plantdesk.ui.feature import WindowContext
    from plantdesk.ui.plants.browser import PlantBrowser
    from plantdesk.ui.plants.edit_controller import EditController
    from plantdesk.ui.plants.table.view import PlantTableView
    from plantdesk.ui.theme.theme import Icons


def add_filters(menu: QMenu, table: PlantTableView, icons: Icons, choose: Callable[[Term], object]) -> None:
    """Add the commands for the current row; `choose` gets the filter of the chosen one."""
    row: PlantRow | None = table.currentIndex().data(PLANT_ROLE)
    if row is None:
        return
    source = row.source
    text = QCoreApplication.translate("RowFilters", "Show only {filter}")
    filters: list[tuple[str, Term, str]] = []
    if row.tag is not None and len(row.tag) < MAX_TEXT:  # not shortened
        filters.append((text.format(filter=quoted(tag_text(row.tag), 40)), HasTag(row.tag, exact=True), "tag"))
    by = AddedBy(source.kind, source.label)
    filters.append((text.format(filter=quoted(source_text(source), 40)), by, filter_icon(by)))
    day = datetime.fromtimestamp(row.added_at / 1000).date()  # noqa: DTZ006 - the local day
    only_day = QCoreApplication.translate("RowFilters", "Show only this day")
    filters.append((only_day, AddedOn(day, day), "calendar-days"))
    for name, term, icon in filters:
        action = menu.addAction(name.replace("&", "&&"), partial(choose, term))
        if sys.platform != "darwin":
            icons.put_on(action, icon)


class SelectionCommands(QObject):
    """Names each command after what it changes. `set_browser` is called when the table is built."""

    def __init__(self, context: WindowContext, tags: QStringListModel, parent: QObject) -> None:
        """Add the commands to the menus; `tags` are offered as completions."""
        super().__init__(parent)
        self._context = context
        self._tags = tags
        self._changes = PlantChanges(context, self)
        self._store: PlantStore | None = None
        self._browser: PlantBrowser | None = None
        self._editing: EditController | None = None
        add = context.menus.add
        self._edit_name = add(Section.EDIT_PLANTS, "", partial(self._edit, Column.NAME), "F2", icon="pencil")
        self._edit_tag = add(Section.EDIT_PLANTS, "", self.change_tag, "Ctrl+T", icon="tag")
        self._delete = add(Section.EDIT_PLANTS, "", self.delete, Key.Delete, icon="trash-2")
        self._delete.setAutoRepeat(False)  # the next plant is selected then: a key that is held would delete all
        copies = ((self.tr("Copy as C&SV"), "csv"), (self.tr("Copy as &JSON"), "json"))
        self._copies = [add(Section.EDIT_COPIES, text, partial(self._copy_as, form)) for text, form in copies]
        self.show_selection(0)

    def set_browser(self, browser: PlantBrowser, editing: EditController) -> None:
        """Act on the selection of this browser."""
        self._browser, self._editing = browser, editing
        browser.selection_count_changed.connect(self.show_selection)

    def set_store(self, store: PlantStore | None) -> None:
        """Change the plants of this store; None: of no store."""
        self._store = store

    @Slot(int)
    def show_selection(self, count: int) -> None:
        """Name the commands for `count` selected plants, and enable them if there are some."""
        one, many = self.tr("Edit na&me"), self.tr("Edit na&me of the current plant")
        self._edit_name.setText(one if count <= 1 else many)
        number = max(count, 1)
        self._edit_tag.setText(shown(Text("Change ta&g of {count:,} plants…", one="Edit ta&g", count=number)))
        self._delete.setText(shown(Text("&Delete {count:,} plants", one="&Delete plant", count=number)))
        for action in (self._edit_name, self._edit_tag, self._delete, *self._copies):
            action.setEnabled(count > 0)

    @Slot()
    def delete(self) -> None:
        """Delete the selected plants, and select the next one. There is no question: it can be undone."""
        from plantdesk.domain.edits import DeleteAll

        if self._store is not None and self._browser is not None and (ids := self._browser.table.selected_ids()):
            self._browser.table.keeper.select_next()
            text = Text("Deleted {count:,} plants.", one="Deleted 1 plant.")
            progress = shown(Text("Deleting {count:,} plants…", one="Deleting 1 plant…", count=len(ids)))
            self._changes.apply(self._store, [DeleteAll(Selection(ids=ids))], text)
            self._context.page.toast.show_progress(progress)

    @Slot(object)
    def set_tag(self, tag: str | None) -> None:
        """Give the selected plants a tag, or none."""
        from plantdesk.domain.edits import SetTag

        if self._store is not None and self._browser is not None and (ids := self._browser.table.selected_ids()):
            text = Text("Removed the tags of {count:,} plants.", one="Removed the tag of 1 plant.")
            if tag is not None:
                text = Text("Gave {count:,} plants the tag {tag}.", one="Gave 1 plant the tag {tag}.", tag=quoted(tag))
            progress = shown(Text("Changing {count:,} plants…", one="Changing 1 plant…", count=len(ids)))
            self._changes.apply(self._store, [SetTag(Selection(ids=ids), tag)], text)
            self._context.page.toast.show_progress(progress)

    def _edit(self, column: Column) -> None:
        if self._editing is not None:
            self._editing.start(column)

    def change_tag(self) -> None:
        """Edit the tag of the selected plant, or ask for that of all of them."""
        count = 0 if self._browser is None else self._browser.table.selected_count()
        if count <= 1:
            self._edit(Column.TAG)
            return
        from plantdesk.ui.plants.tag_field import TagDialog

        dialog = TagDialog(self._context.theme, count, self._tags, self._context.page)
        dialog.chosen.connect(self.set_tag)
        dialog.open()

    def _copy_as(self, form: str) -> None:
        from plantdesk.transfer.formats import Format

        if self._browser is not None:
            self._browser.copy_selection(Format(form))
