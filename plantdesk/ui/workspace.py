"""The content of the window: creates the features, and connects signals of one with slots of others."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QTimer, Signal, Slot
from PySide6.QtWidgets import QStatusBar

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.protocols import PlantStore
from plantdesk.ui.api_access.feature import ApiAccessFeature
from plantdesk.ui.api_control import ApiControl
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.card.feature import CardFeature
from plantdesk.ui.cleanup.feature import CleanUpFeature
from plantdesk.ui.feature import Feature, OpenStore, WindowContext
from plantdesk.ui.history.feature import HistoryFeature
from plantdesk.ui.labels.feature import LabelsFeature
from plantdesk.ui.main_window import MainWindow
from plantdesk.ui.menus import Menus
from plantdesk.ui.page import Page
from plantdesk.ui.plants.feature import PlantsFeature
from plantdesk.ui.preferences import Preferences
from plantdesk.ui.qt import app_icon
from plantdesk.ui.questions import CloseQuestion
from plantdesk.ui.settings.feature import SettingsFeature
from plantdesk.ui.settings.layout import SettingCommands
from plantdesk.ui.shared_store.feature import SharedStoreFeature
from plantdesk.ui.sidebar.feature import SidebarFeature
from plantdesk.ui.texts import store_name
from plantdesk.ui.theme.metrics import EDGE
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.transfer.feature import TransferFeature
from plantdesk.ui.transfer.samples import SamplesFeature
from plantdesk.ui.undo_stack import UndoStack
from plantdesk.ui.widgets.dialog import order_tabs
from plantdesk.ui.widgets.messages import MessageLine, Tone
from plantdesk.ui.window.backups import BackupsFeature
from plantdesk.ui.window.commands import EditCommands, HelpCommands, WindowCommands
from plantdesk.ui.window.known_names import KnownNamesFeature
from plantdesk.ui.window.notices import DefectNotice, StoreNotice, VersionNotice
from plantdesk.ui.window.stores import StoresFeature
from plantdesk.ui.window.tray import TrayFeature

#: Pixels around the content of the status bar, whose own layout adds 2 or 3 on every side except the right.
_STATUS_MARGINS = (EDGE - 2, 0, EDGE, 0)
#: Layout passes: docked panes move the fields of the form, and a bar takes room below the list.
_LAYOUT_PASSES = 3
#: Milliseconds from the last change of the view until it is saved.
_SAVE_VIEW_MS = 1000


class Workspace(Page):
    """The content of the window: a page with all features. It accepts typing before `set_store` is called."""

    #: (path) Open another file: no store could be opened.
    file_chosen = Signal(str)
    #: Try again to open the store.
    try_again_requested = Signal()
    #: Create the store, as there is none.
    new_store_requested = Signal()
    #: (location, create) Show another store.
    store_requested = Signal(object, bool)
    #: (request) Show the window as a `WindowRequest` says, like that of a second start.
    window_requested = Signal(object)
    #: The quick entry is closed.
    quick_entry_closed = Signal()
    #: The first rows, or the reason why there are none, are on the screen.
    plants_shown = Signal()

    def __init__(
        self,
        theme: Theme,
        bridge: Bridge,
        preferences: Preferences,
        server: ApiControl,
        location: StoreLocation,
        window: MainWindow,
    ) -> None:
        """Fill `window`; `location` is the location of the store to open."""
        super().__init__(theme, window)
        self._window = window
        self._opened: OpenStore | None = None
        self._no_store_reason: str | None = None
        self._context = WindowContext(
            theme=theme,
            bridge=bridge,
            preferences=preferences,
            page=self,
            menus=Menus(window.menuBar()),
            status_bar=self._make_status_bar(window),
            message=MessageLine(theme),
            undo_stack=UndoStack(bridge, self),
            location=location,
        )
        self._features = self._make_features(server)
        self._connect_plants()
        self._connect_sidebar()
        self._connect_card()
        self._connect_commands()
        self._connect_store()
        self._connect_tray()
        self._question = CloseQuestion(window, self._context, self._features)
        self._question.confirmed.connect(window.close_unasked)
        window.may_close = self._question.may_close
        self._view_timer = QTimer(self, singleShot=True, interval=_SAVE_VIEW_MS)
        self._view_timer.timeout.connect(self._save_view)
        self.set_location(location)
        window.setCentralWidget(self)
        window.setWindowIcon(app_icon())
        window.escape_pressed.connect(self._on_escape)
        window.part_requested.connect(self.focus_next_part)
        window.focus_moving.connect(self._order_tabs)

    def _make_status_bar(self, window: MainWindow) -> QStatusBar:
        bar = window.statusBar()
        bar.setSizeGripEnabled(False)
        bar.setContentsMargins(*_STATUS_MARGINS)
        return bar

    def _make_features(self, server: ApiControl) -> list[Feature]:
        """Create the features in the order of their commands in a menu and of their bars.

        Return them in the order in which they get a store; Escape goes through them from the end.
        """
        context = self._context
        window = self._window
        self._plants = plants = PlantsFeature(context)
        self._api = ApiAccessFeature(context, server)
        self._backups = BackupsFeature(context)
        self._sidebar = SidebarFeature(context)
        self._card = CardFeature(context, plants)
        self._transfer = TransferFeature(context, plants)
        self._samples = SamplesFeature(context)
        self._stores = StoresFeature(context)
        self._labels = LabelsFeature(context, plants)
        self._edit = EditCommands(context)
        self._shared = SharedStoreFeature(context)
        self._history = HistoryFeature(context)
        self._help = HelpCommands(context)
        self._defect_notice = DefectNotice(context)
        self._tray = TrayFeature(context, window, server)
        self._clean_up = CleanUpFeature(context, plants)
        self._settings = SettingsFeature(context, server, self._make_setting_commands())
        known_names = KnownNamesFeature(context)
        window_commands = WindowCommands(context, window)
        self._store_notice = StoreNotice(context)
        self._version_notice = VersionNotice(context)
        plant_features = [
            plants,
            self._sidebar,
            self._card,
            self._transfer,
            self._samples,
            self._labels,
            self._clean_up,
        ]
        store_features = [self._api, self._stores, self._shared, self._backups]
        window_features = [self._edit, self._settings, self._history, known_names, window_commands, self._help]
        notices = [self._store_notice, self._version_notice, self._tray]
        return [*plant_features, *store_features, *window_features, *notices]

    def _make_setting_commands(self) -> SettingCommands:
        view_commands = self._plants.view_commands
        actions = view_commands.compact_command, view_commands.keep_tag_command
        return SettingCommands(*actions, self._api.open_dialog, self._backups.back_up, self._help.show_page)

    def _connect_plants(self) -> None:
        plants = self._plants
        welcome = self._plants.browser.welcome
        plants.window_requested.connect(self.window_requested)
        plants.quick_entry_closed.connect(self.quick_entry_closed)
        plants.browser.plants_shown.connect(self.plants_shown)
        plants.import_requested.connect(lambda text, tag: self._transfer.import_text(text, tag=tag))
        self._api.plant_requested.connect(plants.fill_form)
        welcome.access_requested.connect(self._api.open_dialog)
        welcome.import_requested.connect(self._transfer.choose_files)
        welcome.samples_requested.connect(self._samples.add)

    def _connect_sidebar(self) -> None:
        sidebar = self._sidebar
        search = self._plants.browser.search_bar
        sidebar.filter_chosen.connect(search.choose)
        sidebar.search_chosen.connect(search.set_search)
        sidebar.tagging_requested.connect(self._plants.commands.set_tag)
        sidebar.renamed.connect(search.replace_tag)
        sidebar.counted.connect(self._plants.show_counts)
        sidebar.counted.connect(self._samples.show_counts)
        self.sidebar_pane.focus_lost.connect(self._plants.focus_table)
        search.changed.connect(sidebar.show_search)
        search.save_requested.connect(sidebar.save_search)
        search.tags_requested.connect(sidebar.toggle)

    def _connect_card(self) -> None:
        card = self._card
        requests = self._card.requests
        plants = self._plants
        plants.browser.table.selection_count_changed.connect(card.show_selection)
        plants.browser.table.card_requested.connect(card.toggle)
        plants.plant_opened.connect(card.show_pane)
        plants.commands.save_notes = card.notes.save
        card.notes.saving_changed.connect(plants.status.show_saving)
        card.notes.waiting_changed.connect(partial(plants.status.show_unsaved, "note"))
        card.delete_requested.connect(plants.commands.delete)
        requests.tag.connect(plants.commands.change_tag)
        requests.copy.connect(plants.browser.copy_selection)
        requests.replace.connect(self._clean_up.open_dialog)
        requests.labels.connect(self._labels.print_selected)
        requests.export.connect(self._transfer.export)

    def _connect_commands(self) -> None:
        plants = self._plants
        plants.browser.table.selection_count_changed.connect(self._labels.withdraw_problem)
        self._transfer.imported_requested.connect(plants.browser.search_bar.choose)
        self._edit.text_pasted.connect(self._transfer.import_text)
        self._edit.plants_requested.connect(plants.show_plants)
        self._edit.history_requested.connect(self._history.open_dialog)
        self._clean_up.plants_requested.connect(plants.show_plants)
        self._backups.made.connect(self._settings.show_last_backup)
        self._api.port_requested.connect(self._settings.open_at_port)
        self._version_notice.news_requested.connect(partial(self._help.show_page, "news"))

    def _connect_store(self) -> None:
        notice = self._store_notice
        shared = self._shared
        notice.try_again_requested.connect(self.try_again_requested)
        notice.new_store_requested.connect(self.new_store_requested)
        notice.restore_requested.connect(self._backups.open_dialog)
        notice.other_file_requested.connect(self._stores.choose_other)
        notice.address_requested.connect(shared.open_dialog)
        notice.own_store_requested.connect(shared.use_own_store)
        notice.update_requested.connect(shared.ask_to_update)
        shared.store_requested.connect(self.store_requested)
        shared.reachable_changed.connect(self._on_reachable_changed)
        self._stores.file_chosen.connect(self.file_chosen)
        self._stores.import_requested.connect(self._transfer.import_files)
        self._backups.restored.connect(self._on_restored)

    def _connect_tray(self) -> None:
        self._tray.window_requested.connect(self.window_requested)
        self._sidebar.counted.connect(self._tray.show_counts)
        self._api.tokens_listed.connect(self._tray.show_tokens)
        self._window.closing.connect(self._tray.stop)

    def show_defect(self, log_text: str) -> None:
        """Report a defect in a bar; `log_text` is its entry in the log, with tokens masked."""
        self._defect_notice.show_defect(log_text)

    def open_quick_entry(self, token: str) -> None:
        """Raise the quick entry; `token` is the activation token of Wayland."""
        self._plants.open_quick_entry(token)

    def open_plant_url(self, address: str) -> None:
        """Show the plant of an address, as soon as a store is open; the address may be invalid."""
        self._plants.open_plant_url(address)

    def may_close_store(self) -> bool:
        """Return whether the store may be closed now; if not, show the reason."""
        return self._question.may_close_store()

    def start_tray(self) -> None:
        """Show the icon in the tray, if the user wants one; from then on closing hides the window."""
        self._tray.start()

    @Slot()
    def _save_view(self) -> None:
        """Save view and geometry, as the process may be killed without closing."""
        self._window.save_geometry()
        for feature in self._features:
            feature.save_view()

    def set_up(self) -> None:
        """Finish the setup of the features, before the content is shown."""
        self._context.preferences.watch_file(self)
        for feature in self._features:
            feature.set_up()
            feature.view_changed.connect(self._view_timer.start)
        self._window.geometry_changed.connect(self._view_timer.start)
        if self._context.preferences.quarantined is not None:
            self._report_damaged_settings(self._context.preferences.quarantined)

    def show_and_focus(self) -> None:
        """Show the content with its final layout, then set the focus: a hidden widget does not get it."""
        self.show()
        self._plants.focus_form()
        for _ in range(_LAYOUT_PASSES):  # else the first frame has another layout
            QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)

    def set_location(self, location: StoreLocation) -> None:
        """Use the location of another store, and show its name in the title unless it is the user's own."""
        self._context.location = location
        self._window.set_file_name(self._make_title())

    def set_store(self, store: PlantStore) -> None:
        """Show the plants of a store that was opened, in all features."""
        self._no_store_reason = None
        self._opened = OpenStore(store, StoreQueries(self._context.bridge.short_tasks, store))
        for feature in self._features:
            feature.set_store(self._opened)

    def _make_title(self) -> str | None:
        location = self._context.location
        if location.is_own:
            return None
        return store_name(location)

    @Slot(bool)
    def _on_reachable_changed(self, is_reached: bool) -> None:
        """Enable or disable what needs the server, and show in the title whether it answers."""
        title = self._make_title()
        if title is not None:
            self._window.set_file_name(title if is_reached else self.tr("{title} (not connected)").format(title=title))
        self._context.menus.set_reachable(is_reachable=is_reached)
        reason = self.tr("The server does not answer.")
        for feature in (self._plants, self._sidebar, self._api):
            feature.set_reachable(is_reachable=is_reached, reason=reason)

    def show_opening(self) -> None:
        """Hide the bar about the failure, as the store is being opened again."""
        self._no_store_reason = None
        self._store_notice.show_opening()

    def show_no_store(self, reason: PlantDeskError) -> None:
        """Show why the store cannot be opened, with the possible actions."""
        if str(reason) == self._no_store_reason:  # another attempt failed for the same reason
            return
        self._no_store_reason = str(reason)
        for feature in self._features:
            feature.show_no_store(reason)

    def release_store(self) -> None:
        """Stop using the store; when this returns, nothing reads it any more."""
        for feature in self._features:
            feature.release_store()
        if self._opened is not None:
            self._opened.queries.close()

    @Slot()
    def _on_restored(self) -> None:
        if self._opened is None:
            self.try_again_requested.emit()

    @Slot()
    def _on_escape(self) -> None:
        """Close a drawer, else the toast, else let the features handle Escape."""
        if self.close_drawer():
            self._plants.focus_table()
        elif self.toast.is_persistent:
            self.toast.clear()
        else:
            for feature in reversed(self._features):
                if feature.handle_escape():
                    break

    @Slot()
    def _order_tabs(self) -> None:
        order_tabs(self, self._window.statusBar())

    def _report_damaged_settings(self, file: Path) -> None:
        title = self.tr("The settings are back to their defaults")
        text = self.tr("Their file was damaged. It is kept as “{file}”.").format(file=file.name)
        self.add_bar().show_state(Tone.WARNING, title, text)
