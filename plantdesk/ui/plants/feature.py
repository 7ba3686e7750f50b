"""The plants in the window: form, table, quick entry, their commands, and their state in the status bar."""

from __future__ import annotations

from array import array
from functools import cached_property, partial

from PySide6.QtCore import QLocale, Qt, QTime, Signal, Slot
from typing_extensions import override

from plantdesk.domain.errors import PlantDeskError, StoreError, StoreReadOnlyError, prevents_changes
from plantdesk.domain.plant_urls import InvalidAddressError, id_of_url, url_of
from plantdesk.domain.records import Changes, PlantRow
from plantdesk.domain.selections import Counts
from plantdesk.domain.texts import Text
from plantdesk.platform.window_requests import WindowRequest
from plantdesk.ui.feature import Feature, OpenStore, WindowContext
from plantdesk.ui.menus import Key, Section
from plantdesk.ui.page import PagePart
from plantdesk.ui.plants.add_controller import AddPlantController
from plantdesk.ui.plants.add_queue import RememberedPlants
from plantdesk.ui.plants.browser import PlantBrowser
from plantdesk.ui.plants.commands import SelectionCommands, ViewCommands
from plantdesk.ui.plants.edit_controller import EditController
from plantdesk.ui.plants.form import FieldName, PlantForm
from plantdesk.ui.plants.name_completion import open_known_names
from plantdesk.ui.plants.quick_entry import QuickEntry
from plantdesk.ui.plants.status import PlantsStatus
from plantdesk.ui.texts import error_text, translated
from plantdesk.ui.widgets.messages import Tone
from plantdesk.ui.widgets.plain_text import set_disabled_reason


class PlantsFeature(Feature):
    """Form and table of the plants. The form accepts typing before a store is open."""

    #: (text, tag) Rows were pasted into Name.
    import_requested = Signal(str, str)
    #: (id) A plant is shown by its URL.
    plant_opened = Signal(object)
    #: The quick entry is closed, and none of its plants is being saved.
    quick_entry_closed = Signal()
    #: (request) Show the window as a `WindowRequest` says.
    window_requested = Signal(object)
    #: The store is closed next.
    store_released = Signal()

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._form = PlantForm(context.theme, context.message)
        self.focus_form = self._form.focus_name
        self._add_controller = AddPlantController(
            self._form, context.bridge, context.undo_stack, self, partial(open_known_names, context)
        )
        self._unsaved = self._add_controller.unsaved
        queue = self._add_controller.queue
        self._remembered = RememberedPlants(context.preferences, self._form, queue, self)
        self._remembered.saved.connect(self._on_saved)
        self._form.name_field.rows_pasted.connect(self._on_rows_pasted)
        self.status = PlantsStatus()
        #: The table, and the search above it.
        self.browser = PlantBrowser(context.theme, context.bridge, context.page)
        self._view_key: str | None = None  # of the store whose view is restored
        self._editing = EditController(self, self.browser.table, self._form.tags)
        self._requested_id: int | None = None  # of the plant to show when the store is open
        self._add_to_page()
        self._add_controller.saving_changed.connect(self.status.show_saving)
        context.bridge.changed.connect(self._on_changed)
        context.bridge.health_changed.connect(self._on_health_changed)
        self._add_commands()
        self._connect_browser()
        context.preferences.changed.connect(self._apply_settings)
        self._apply_settings()

    def _add_to_page(self) -> None:
        page = self.context.page
        page.add_top_pane(self._form)
        page.set_main_pane(self.browser, self.browser.needed_width)
        page.add_part(PagePart.FORM, self._form, self._form.focus_name)
        page.add_part(PagePart.UNSAVED, self._unsaved, self._unsaved.focus_first)
        page.add_part(PagePart.SEARCH, self.browser.search_field, self._focus_search)
        page.add_part(PagePart.LIST, self.browser.table, self.browser.table.setFocus)
        page.sidebar_pane.changed.connect(self._on_sidebar_changed)
        self.context.status_bar.addPermanentWidget(self.status)

    @override
    def set_up(self) -> None:
        self._remembered.restore(self.context.location)
        self._restore_view()
        self._on_sidebar_changed()

    @override
    def set_store(self, opened: OpenStore) -> None:
        super().set_store(opened)
        self._remembered.restore(self.context.location)
        self._restore_view()
        can_change = not prevents_changes(opened.store.change_error)
        self.browser.offers_samples = self.context.location.server is None and can_change
        self.browser.set_store(opened.store)
        self.browser.table.columns.set_store(opened.queries)
        self._add_controller.set_store(*opened)
        self.status.show_store(is_open=True)
        if self._requested_id is not None:
            self._show_plant(self._requested_id)
            self._requested_id = None

    @override
    def show_no_store(self, reason: PlantDeskError) -> None:
        self.browser.search_bar.clear_count()
        self._add_controller.show_no_store()
        self.status.show_store(is_open=False)

    @override
    def release_store(self) -> None:
        self._editing.end()
        super().release_store()
        self.store_released.emit()
        self._add_controller.release_store()
        self.save_view()
        self.commands.end_copying()
        self.browser.table.columns.set_store(None)
        self.browser.release_store()

    @override
    def save_view(self) -> None:
        if self._view_key is not None:
            pinned = self._form.tag_field.is_pinned
            values = {**self.browser.table.to_json(), **self.browser.search_bar.to_json(), "pinned": pinned}
            self.context.preferences.change_store(self._view_key, **values)

    def _restore_view(self) -> None:
        """Restore the view of the store, unless it is shown already."""
        if self.context.location.key == self._view_key:
            return
        self._view_key = self.context.location.key
        values = self.context.preferences.of_store(self._view_key)
        self.browser.table.restore(values)
        self._form.set_widest_id(self.browser.table.columns.widest_id)
        self.browser.search_bar.restore(values)
        if values.get("pinned") is True:
            self._form.tag_field.set_pinned(pinned=True)
        self.view_commands.check_commands()

    @override
    def handle_escape(self) -> bool:
        if not self.browser.search_bar.clear():
            self._form.focus_name()
        return True

    def set_reachable(self, *, is_reachable: bool, reason: str) -> None:
        """Enable search and sorting, or disable them with `reason`; show when the count was current."""
        for widget in (self.browser.search_bar.field, self.browser.table.horizontalHeader()):
            set_disabled_reason(widget, "" if is_reachable else reason)
        self.view_commands.orders.setEnabled(is_reachable)
        now = QLocale().toString(QTime.currentTime(), QLocale.FormatType.ShortFormat)
        if is_reachable is bool(self.browser.search_bar.time):  # keep the time of the last answer
            self.browser.search_bar.set_count_time("" if is_reachable else now)

    @property
    def search_text(self) -> str:
        """The search text of the shown plants; empty for all plants."""
        return self.browser.model.query.text

    @property
    def shown_count(self) -> int:
        """The number of plants that the table shows."""
        return self.browser.model.rowCount()

    def selected_ids(self) -> array[int]:
        """Return the ids of the selected rows."""
        return self.browser.table.selected_ids()

    def row(self, plant_id: int) -> PlantRow | None:
        """Return the loaded row of a plant, with long texts cut; None if it is not loaded."""
        return self.browser.model.loaded_row(plant_id)

    @Slot()
    def focus_table(self) -> None:
        """Move the focus to the table."""
        self.browser.table.setFocus()

    def clear_selection(self) -> None:
        """Select no row, and move the focus to the table."""
        self.browser.table.clearSelection()
        self.focus_table()

    @Slot(object)
    def show_plants(self, plant_ids: tuple[int, ...]) -> None:
        """Clear the search, and select the plants with these IDs."""
        self.focus_table()
        self.browser.search_bar.clear()
        self.browser.table.keeper.select(plant_ids)

    def open_plant_url(self, address: str) -> None:
        """Show the plant of an address as soon as the store is open. The address may be invalid."""
        try:
            self._show_plant(id_of_url(address))
        except InvalidAddressError as error:
            self.context.page.toast.show_error(error)

    @Slot(object)
    def _show_plant(self, plant_id: int, *, takes_focus: bool = True) -> None:
        """Show a plant and its card. Without `takes_focus` the focus stays, for the next barcode."""
        if self.opened is None:
            self._requested_id = plant_id
            return
        if takes_focus:
            self.context.keys.hold()
        done = partial(self._on_plant_read, plant_id, takes_focus)
        self.opened.queries.run(self, lambda reader, _task: reader.plant(plant_id), done)

    def _on_plant_read(self, plant_id: int, takes_focus: bool, row: PlantRow | None) -> None:
        if row is not None:
            self.browser.show_plant(plant_id, takes_focus=takes_focus)
            self.plant_opened.emit(plant_id)
            if takes_focus:
                self.context.keys.release()
            return
        if takes_focus:
            self.context.keys.drop_commands()
        self.context.page.toast.show_problem(self.tr("No plant has the ID {id}.").format(id=plant_id))

    def open_quick_entry(self, token: str) -> None:
        """Show the small window for one plant; `token` is an activation token of Wayland."""
        lasting_error = _find_lasting_error(None if self.opened is None else self.opened.store.write_error)
        refusal = "" if lasting_error is None else error_text(lasting_error)
        self._quick_entry.show_form(token, self._form.tags.stringList(), refusal)

    @Slot(object)
    def fill_form(self, texts: dict[str, str]) -> None:
        """Put id, name and tag of a plant that the API refused into the form, for correction."""
        self._add_controller.edit_texts([texts.get(name, "") for name in FieldName])

    @cached_property
    def _quick_entry(self) -> QuickEntry:
        quick = QuickEntry(self.context, self._add_controller.queue)
        self.destroyed.connect(quick.deleteLater)
        quick.ended.connect(self.quick_entry_closed)
        quick.scanned.connect(lambda plant_id: self.window_requested.emit(WindowRequest(address=url_of(plant_id))))
        self.store_released.connect(quick.close)
        return quick

    @Slot(str)
    def _on_rows_pasted(self, text: str) -> None:
        if self.opened is None:
            warning = self.tr("Several plants can be added when the file is open.")
            self._form.message.show_message(Tone.WARNING, warning)
        else:
            self.import_requested.emit(text, self._form.tag_text)

    def _add_commands(self) -> None:
        menus = self.context.menus
        menus.add(Section.FILE_PLANTS, self.tr("&New plant"), self._form.focus_name, Key.New, in_menu=False)
        self.commands = SelectionCommands(self, self.browser, self._editing, self._form.tags)
        self.commands.copies_requested.connect(self._add_controller.add_copies)
        self._add_controller.copies_refused.connect(self.commands.end_copying)
        menus.add(Section.EDIT_FIND, self.tr("&Find"), self._focus_search, Key.Find)
        self.view_commands = ViewCommands(self.context, self.browser, self._form.tag_field)

    @Slot()
    def _apply_settings(self) -> None:
        self._form.enter_goes_to_tag = self.context.preferences.settings.enter_goes_to_tag

    def _connect_browser(self) -> None:
        browser = self.browser
        toast = self.context.page.toast
        undo_stack = self.context.undo_stack
        browser.welcome.undo_requested.connect(undo_stack.undo)
        undo_stack.changed.connect(lambda: browser.welcome.undo_button.setVisible(undo_stack.next_undo is not None))
        browser.welcome_shown.connect(toast.set_upper)
        browser.table.selection_count_changed.connect(self.status.show_selection)
        toast.covered_height_changed.connect(browser.table.set_covered)
        browser.copier.copied.connect(toast.show_message)
        browser.copier.refused.connect(toast.show_problem)
        browser.added_hidden.connect(self._add_controller.show_hidden)
        undo_stack.undone.connect(lambda undone: browser.select_soon(undone.ids))
        self._add_controller.plant_added.connect(browser.reveal_added)
        self._add_controller.copies_added.connect(browser.select_soon)
        self._add_controller.plant_requested.connect(browser.show_plant)
        browser.table.scanned.connect(self._show_plant)
        for field in (browser.search_field, self._form.name_field, self._form.tag_field):
            field.scanned.connect(partial(self._show_plant, takes_focus=False))
        for changed in (
            browser.table.horizontalHeader().sectionResized,
            browser.table.horizontalHeader().sortIndicatorChanged,
            browser.search_bar.changed,
            self.view_commands.compact_command.toggled,
            self.view_commands.keep_tag_command.toggled,
        ):
            changed.connect(self.view_changed)

    @override
    def remember_unsaved(self) -> str:
        self._remembered.save()
        text = Text("{count:,} plants are not saved.", one="1 plant is not saved.", count=self._unsaved.count)
        return translated(text) if self._unsaved.count else ""

    @Slot()
    def _on_saved(self) -> None:
        count = self._unsaved.count
        self.status.show_unsaved("plants", is_unsaved=bool(count))
        if not count:
            self.close_unblocked.emit()

    @Slot()
    def _focus_search(self) -> None:
        self.browser.search_field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.browser.search_field.selectAll()

    @Slot(object, object)
    def show_counts(self, counts: Counts, tags: list[str]) -> None:
        """Offer the sorted `tags` as completions, and adapt search and columns to `counts`."""
        self._form.set_tags(tags)
        self.browser.search_bar.set_completions(counts)
        self.browser.table.columns.show_sources(len(counts.sources))

    @Slot()
    def _on_sidebar_changed(self) -> None:
        self.browser.search_bar.set_tags_button(visible=self.context.page.sidebar_pane.is_collapsed)

    @Slot(object)
    def _on_changed(self, changes: Changes) -> None:
        self.browser.apply(changes)
        self.browser.table.columns.apply(changes)

    @Slot(object)
    def _on_health_changed(self, error: StoreError | None) -> None:
        is_shown = error is not None and not prevents_changes(error)  # otherwise a bar reports it
        self.status.show_unsaved("store", is_unsaved=is_shown)
        if error is None:
            self.browser.model.retry()
        lasting_error = _find_lasting_error(error)
        self._form.set_refusal("" if lasting_error is None else error_text(lasting_error))
        self.context.message.setVisible(lasting_error is None)


def _find_lasting_error(error: StoreError | None) -> StoreReadOnlyError | None:
    """Return the error if no plant can be added for a lasting reason, such as a missing right."""
    return error if isinstance(error, StoreReadOnlyError) and error.is_lasting else None
