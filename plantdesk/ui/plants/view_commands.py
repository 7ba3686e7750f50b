"""The commands of the View menu for form and table: kept tag, order, columns, compact rows; and the header's menu."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Signal, Slot

from plantdesk.ui.menus import Section, check
from plantdesk.ui.plants.table.cells import Column, column_title

if TYPE_CHECKING:
    from plantdesk.ui.feature import WindowContext
    from plantdesk.ui.plants.browser import PlantBrowser
    from plantdesk.ui.plants.form_fields import TagField
    from plantdesk.ui.plants.table.columns import TableLayout

#: The columns that can be hidden.
_OPTIONAL = (Column.ID, Column.TAG, Column.ADDED, Column.SOURCE)


class ViewCommands(QObject):
    """`changed`: one of the switches is set.

    The column of sources is shown by itself only where it says something at the start; later it is offered, since it
    would push the others aside while the user works.
    """

    changed = Signal()

    def __init__(self, context: WindowContext, browser: PlantBrowser, tag_field: TagField) -> None:
        super().__init__(browser)
        self._context, self._browser, self._tag_field = context, browser, tag_field
        browser.table.columns.second_source.connect(self._on_second_source)
        menus = context.menus
        choices = ((self.tr("Ne&west first"), "added"), (self.tr("By &name"), "name"), (self.tr("By &ID"), "id"))
        self.orders = menus.add_choices(Section.VIEW_ORDER, self.tr("Order"), choices, browser.set_order, in_menu=False)
        check(self.orders, "added")
        text = self.tr("&Compact rows")
        self.compact_command = menus.add_switch(Section.VIEW_PLANTS, text, self._set_compact, in_menu=False)
        text = self.tr("&Keep tag for the next plant")
        self.keep_tag_command = menus.add_switch(Section.VIEW_PLANTS, text, self._keep_tag, in_menu=False)
        tag_field.pinned.connect(self.keep_tag_command.setChecked)
        for command in (self.compact_command, self.keep_tag_command):
            command.toggled.connect(self.changed)
        switches = [(column_title(each), self._on_columns_chosen, True) for each in _OPTIONAL]
        best_width = self.tr("&Best width"), browser.table.columns.fit_to_contents, False
        columns = menus.add_submenu(Section.VIEW_COLUMNS, self.tr("Col&umns"), [*switches, best_width])
        self._columns = dict(zip(_OPTIONAL, columns, strict=False))
        for action in self._columns.values():
            action.setChecked(True)
        text = self.tr("New &plants (top of the list)")
        menus.add(Section.VIEW_PLANTS, text, browser.table.jump_to_top, "Ctrl+Home")
        browser.order_changed.connect(partial(check, self.orders))
        browser.table.horizontalHeader().customContextMenuRequested.connect(self._open_header_menu)

    def show_layout(self, layout: TableLayout) -> None:
        """Check the commands of the layout of the table."""
        self.compact_command.setChecked(layout.is_compact)
        for column, action in self._columns.items():
            action.setChecked(column not in layout.hidden)

    # --- commands ---

    @Slot(bool)
    def _set_compact(self, compact: bool) -> None:
        self._browser.table.set_compact(compact=compact)

    @Slot(bool)
    def _keep_tag(self, on: bool) -> None:
        self._tag_field.set_pinned(pinned=on)

    @Slot()
    def _on_columns_chosen(self) -> None:
        for column, action in self._columns.items():
            self._browser.table.columns.set_shown(column, shown=action.isChecked())

    @Slot(QPoint)
    def _open_header_menu(self, position: QPoint) -> None:
        header = self._browser.table.horizontalHeader()
        menu = self._context.menus.context_menu(header, Section.VIEW_ORDER, Section.VIEW_COLUMNS)
        menu.popup(header.mapToGlobal(position))

    @Slot()
    def _on_second_source(self) -> None:
        columns, toast = self._browser.table.columns, self._context.page.toast
        if Column.SOURCE not in columns.hidden:
            self._show_sources(shown=False)
            columns.set_contents(columns.widest_id, has_sources=True)
            if not toast.isVisible():  # it may offer Undo; the View menu has the column too
                show = self.tr("Show From"), partial(self._show_sources, shown=True)
                toast.show_message(self.tr("Plants come from 2 sources now."), show)

    def _show_sources(self, *, shown: bool) -> None:
        self._columns[Column.SOURCE].setChecked(shown)
        self._on_columns_chosen()
