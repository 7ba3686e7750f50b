"""The content of the window: makes the features and connects them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QTimer, Signal, Slot
from PySide6.QtWidgets import QStatusBar

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.protocols import PlantStore
from plantdesk.ui.api_access.feature import ApiAccess
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.card.feature import Card
from plantdesk.ui.cleanup.feature import CleanUp
from plantdesk.ui.feature import Feature, OpenStore, WindowContext
from plantdesk.ui.history.feature import History
from plantdesk.ui.labels.feature import Labels
from plantdesk.ui.main_window import MainWindow
from plantdesk.ui.menus import Menus
from plantdesk.ui.page import Page
from plantdesk.ui.plants.feature import Plants
from plantdesk.ui.preferences import Preferences
from plantdesk.ui.qt import app_icon
from plantdesk.ui.questions import CloseQuestion
from plantdesk.ui.server_control import ApiControl
from plantdesk.ui.settings.feature import SettingsFeature
from plantdesk.ui.settings.layout import SettingCommands
from plantdesk.ui.shared_store.feature import SharedStore
from plantdesk.ui.sidebar.feature import Sidebar
from plantdesk.ui.texts import store_name
from plantdesk.ui.theme.metrics import EDGE
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.transfer.feature import Transfer
from plantdesk.ui.transfer.samples import Samples
from plantdesk.ui.undo_stack import UndoStack
from plantdesk.ui.widgets.dialog import order_tabs
from plantdesk.ui.widgets.messages import MessageLine, Tone
from plantdesk.ui.window.backups import BackupController
from plantdesk.ui.window.commands import EditCommands, HelpCommands, WindowCommands
from plantdesk.ui.window.known_names import NameLists
from plantdesk.ui.window.notices import DefectNotice, StoreNotice, VersionNotice
from plantdesk.ui.window.stores import Stores
from plantdesk.ui.window.tray import Tray

#: Pixels around the content of the status bar, whose own layout adds 2 or 3 on every side except the right.
_STATUS_MARGINS = (EDGE - 2, 0, EDGE, 0)
#: Passes of the layout: the panes dock at the final width, which moves the fields of the form; a bar takes room below.
_LAYOUT_PASSES = 3
#: Milliseconds after the last change of the view until it is saved for the next start.
_SETTLED = 1000


class Workspace(Page):
    """Accepts typing at once; the store comes later, by `set_store`, and the server's states by the bridge.

    `file_chosen`, `try_again_requested` and `new_store_requested`: what the user chose while no store could be opened.
    `store_requested(location, create)`: show another store, whether one is open or not. `requested(request)`:
    as another start may request it. `quick_done`: the small window for a plant is closed.
    `plants_shown`: the first rows are there, or the reason why there are none.
    """

    file_chosen = Signal(str)
    try_again_requested = Signal()
    new_store_requested = Signal()
    store_requested = Signal(object, bool)
    requested = Signal(object)
    quick_done = Signal()
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
        """Fill `window`; `location` is that of the store that will be opened."""
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
        self._server = server
        self._features = self._make_features(server)
        self._question = CloseQuestion(window, self._context, self._features)
        self._question.confirmed.connect(window.close_at_once)
        window.may_close = self._question.may_close
        self._view_timer = QTimer(self, singleShot=True, interval=_SETTLED)
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

    def _make_card(self, plants: Plants) -> Card:
        card = Card(self._context, plants)
        plants.browser.table.selection_count_changed.connect(card.show_selection)
        plants.browser.table.card_requested.connect(card.toggle)
        plants.plant_opened.connect(card.show_pane)
        plants.requested.connect(self.requested)
        plants.quick_done.connect(self.quick_done)
        plants.browser.plants_shown.connect(self.plants_shown)
        plants.commands.save_notes = card.notes.save
        card.delete_requested.connect(plants.commands.delete)
        card.requests.tag.connect(plants.commands.change_tag)
        card.requests.copy.connect(plants.browser.copy_selection)
        card.notes.saving_changed.connect(plants.status.show_saving)
        card.notes.waiting_changed.connect(partial(plants.status.show_unsaved, "note"))
        return card

    def _make_labels(self, plants: Plants, card: Card) -> Labels:
        labels = Labels(self._context, plants)
        card.requests.labels.connect(labels.print_selected)
        plants.browser.table.selection_count_changed.connect(labels.on_selection)
        return labels

    def _make_features(self, server: ApiControl) -> list[Feature]:
        """Make the features. Escape asks the last one first."""
        context = self._context
        plants = Plants(context)
        self._api = api = ApiAccess(context, server)
        self._backups = BackupController(context)
        sidebar = self._make_sidebar(plants)
        plants.browser.welcome.access_requested.connect(api.open_dialog)
        api.plant_requested.connect(plants.fill_form)
        self._backups.restored.connect(self._on_restored)
        card = self._make_card(plants)
        self._plants = plants
        transfer = Transfer(context, plants)
        card.requests.export.connect(transfer.export)
        transfer.imported_requested.connect(plants.browser.search_bar.choose)
        plants.import_requested.connect(lambda text, tag: transfer.import_text(text, tag=tag))
        plants.browser.welcome.import_requested.connect(transfer.choose_files)
        samples = Samples(context)
        plants.browser.welcome.samples_requested.connect(samples.add)
        sidebar.counted.connect(samples.show_counts)
        self._stores = stores = Stores(context)
        stores.import_requested.connect(transfer.import_files)
        labels = self._make_labels(plants, card)
        edit = EditCommands(context)
        edit.text_pasted.connect(transfer.import_text)
        edit.plants_requested.connect(plants.show_plants)
        shared, history = self._make_shared_store(), History(context)
        edit.history_requested.connect(history.open_dialog)
        self._help = HelpCommands(context)
        self._defect_notice = DefectNotice(context)
        self._tray = self._make_tray(sidebar, api)
        return [
            plants,
            sidebar,
            card,
            transfer,
            samples,
            labels,
            self._make_clean_up(card),
            api,
            stores,
            shared,
            self._backups,
            edit,
            self._make_settings(api, server),
            history,
            NameLists(context),
            WindowCommands(context, self._window),
            self._help,
            *self._make_notices(),
            self._tray,
        ]

    def _make_clean_up(self, card: Card) -> CleanUp:
        clean_up = CleanUp(self._context, self._plants)
        clean_up.plants_requested.connect(self._plants.show_plants)
        card.requests.replace.connect(clean_up.open_dialog)
        return clean_up

    def _make_settings(self, api: ApiAccess, server: ApiControl) -> SettingsFeature:
        view = self._plants.view
        show_manual = self._help.show_page
        commands = SettingCommands(
            view.compact_command, view.keep_tag_command, api.open_dialog, self._backups.back_up, show_manual
        )
        settings = SettingsFeature(self._context, server, commands)
        self._backups.made.connect(settings.show_last_backup)
        api.port_requested.connect(settings.open_at_port)
        return settings

    def _make_shared_store(self) -> SharedStore:
        self._shared = SharedStore(self._context)
        self._shared.store_requested.connect(self.store_requested)
        self._shared.reached.connect(self._on_reached)
        return self._shared

    def _make_sidebar(self, plants: Plants) -> Sidebar:
        self._sidebar = sidebar = Sidebar(self._context)
        search = plants.browser.search_bar
        sidebar.filter_chosen.connect(search.choose)
        sidebar.search_chosen.connect(search.set_search)
        sidebar.tagging_requested.connect(plants.commands.set_tag)
        sidebar.renamed.connect(search.replace_tag)
        sidebar.counted.connect(plants.show_counts)
        self.sidebar.focus_lost.connect(plants.focus_table)
        search.changed.connect(sidebar.show_search)
        search.save_requested.connect(sidebar.save_search)
        search.tags_requested.connect(sidebar.toggle)
        return sidebar

    def _make_notices(self) -> list[Feature]:
        self._store_notice = notice = StoreNotice(self._context)
        notice.try_again_requested.connect(self.try_again_requested)
        notice.restore_requested.connect(self._backups.open_dialog)
        notice.other_file_requested.connect(self._stores.choose_other)
        self._stores.file_chosen.connect(self.file_chosen)
        notice.new_store_requested.connect(self.new_store_requested)
        notice.address_requested.connect(self._shared.open_dialog)
        notice.own_store_requested.connect(self._shared.use_own_store)
        notice.update_requested.connect(self._shared.ask_to_update)
        version = VersionNotice(self._context)
        version.news_requested.connect(partial(self._help.show_page, "news"))
        return [notice, version]

    def _make_tray(self, sidebar: Sidebar, api: ApiAccess) -> Tray:
        tray = Tray(self._context, self._window, self._server)
        tray.requested.connect(self.requested)
        sidebar.counted.connect(tray.show_counts)
        api.tokens_listed.connect(tray.show_tokens)
        self._window.closing.connect(tray.end)
        return tray

    def show_defect(self, what: str) -> None:
        """Report an unexpected failure; `what` is the text of the log, masked."""
        self._defect_notice.show_defect(what)

    def open_quick(self, token: str) -> None:
        """Show the small window for one plant, in front; `token` lets it come there on Wayland."""
        self._plants.open_quick(token)

    def open_address(self, address: str) -> None:
        """Show the plant of an address, as soon as the store is open."""
        self._plants.open_address(address)

    def may_close_store(self) -> bool:
        """Return whether the store may be closed now; else ask what to do with what is not saved."""
        return self._question.may_close_store()

    def begin_tray(self) -> None:
        """Show the icon in the tray, if the user wants one; closing then hides the window."""
        self._tray.begin()

    @Slot()
    def _save_view(self) -> None:
        """Save what the window shows, and its position: a kill must lose neither."""
        self._window.save_geometry()
        for feature in self._features:
            feature.save_view()

    def set_up(self) -> None:
        """Build the rest of the content, before it is shown."""
        self._context.preferences.follow(self)
        for feature in self._features:
            feature.set_up()
            feature.view_changed.connect(self._view_timer.start)
        self._window.geometry_changed.connect(self._view_timer.start)
        if self._context.preferences.quarantined is not None:
            self._report_damaged_settings(self._context.preferences.quarantined)

    def show_and_focus(self) -> None:
        """Show the content at once, and set the focus, which an invisible widget would not get."""
        self.show()
        self._plants.focus_form()
        for _ in range(_LAYOUT_PASSES):  # or widgets would be seen at other positions for a frame
            QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)

    # --- the store ---

    def set_location(self, location: StoreLocation) -> None:
        """Expect the store of another location; its name is in the title unless it is the user's own."""
        self._context.location = location
        self._window.set_file_name(self._title())

    def set_store(self, store: PlantStore) -> None:
        """Show the plants of the store that was opened."""
        self._no_store_reason = None
        self._opened = OpenStore(store, StoreQueries(self._context.bridge.short_tasks, store))
        for feature in self._features:
            feature.set_store(self._opened)

    def _title(self) -> str | None:
        location = self._context.location
        if location.is_own:
            return None
        return store_name(location)

    @Slot(bool)
    def _on_reached(self, is_reached: bool) -> None:
        """Enable what needs the server only while it is reached; what is typed and shown stays."""
        title = self._title()
        if title is not None:
            self._window.set_file_name(title if is_reached else self.tr("{title} (not connected)").format(title=title))
        self._context.menus.set_reachable(is_reachable=is_reached)
        reason = self.tr("The server does not answer.")
        for feature in (self._plants, self._sidebar, self._api):
            feature.set_reachable(is_reachable=is_reached, reason=reason)

    def show_opening(self) -> None:
        """Show that the file is being opened again."""
        self._no_store_reason = None
        self._store_notice.show_opening()

    def show_no_store(self, reason: PlantDeskError) -> None:
        """Show why the store cannot be opened, and offer remedies; what is typed stays."""
        if str(reason) == self._no_store_reason:  # it was another attempt with the same result
            return
        self._no_store_reason = str(reason)
        for feature in self._features:
            feature.show_no_store(reason)

    def release_store(self) -> None:
        """End the use of the store before it is closed; nothing reads it after this."""
        for feature in self._features:
            feature.release_store()
        if self._opened is not None:
            self._opened.queries.close()

    @Slot()
    def _on_restored(self) -> None:
        if self._opened is None:
            self.try_again_requested.emit()

    # --- the window ---

    @Slot()
    def _on_escape(self) -> None:
        """Let Escape close a drawer, else a message, else clear the search, else go back to Name."""
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
