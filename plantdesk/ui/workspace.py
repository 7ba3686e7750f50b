"""The content of the window: form above, plants below, the state of the server at the bottom. It joins the parts."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QFileDialog, QFrame, QVBoxLayout, QWidget

from plantdesk import resources
from plantdesk.errors import StoreDamagedError, StoreReadOnlyError
from plantdesk.ui.api_access.commands import ApiCommands
from plantdesk.ui.api_access.server_notice import ServerNotice
from plantdesk.ui.appearance import Appearance
from plantdesk.ui.backups.controller import BackupController
from plantdesk.ui.help.commands import HelpCommands
from plantdesk.ui.menus import Menus
from plantdesk.ui.notices.store_notice import StoreNotice
from plantdesk.ui.plants.add_controller import AddPlantController
from plantdesk.ui.plants.form import PlantForm
from plantdesk.ui.qt import override
from plantdesk.ui.status_line import StatusLine
from plantdesk.ui.store_queries import StoreQueries
from plantdesk.ui.theme.metrics import L, M
from plantdesk.ui.widgets.dialog import ENTER_KEYS, press_focused_button
from plantdesk.ui.widgets.info_bar import BarKind, InfoBar
from plantdesk.ui.widgets.message_line import Tone
from plantdesk.ui.widgets.tab_order import TabOrder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtGui import QKeyEvent
    from PySide6.QtWidgets import QMainWindow

    from plantdesk.errors import PlantDeskError, StoreError
    from plantdesk.records import Changes, TokenRow
    from plantdesk.store import Store
    from plantdesk.ui.api_access.server_control import ServerControl
    from plantdesk.ui.bridge import Bridge
    from plantdesk.ui.notices.defect_notice import DefectNotice
    from plantdesk.ui.notices.update_notice import UpdateNotice
    from plantdesk.ui.plants.browser import PlantBrowser
    from plantdesk.ui.preferences import Preferences
    from plantdesk.ui.theme.theme import Theme


class Workspace(QWidget):
    """Accepts typing at once; the store comes later, by `set_store`, and the server's states by the bridge."""

    file_chosen = Signal(str)
    try_again_wanted = Signal()
    new_store_wanted = Signal()

    def __init__(
        self,
        theme: Theme,
        bridge: Bridge,
        preferences: Preferences,
        server: ServerControl,
        path: Path,
        window: QMainWindow,
    ) -> None:
        """Fill `window`: its centre and its menu bar; `path` is the file that will be opened."""
        super().__init__(window)
        self._theme = theme
        self._bridge = bridge
        self._preferences = preferences
        self._store: Store | None = None
        self._queries: StoreQueries | None = None
        self._updates: UpdateNotice | None = None
        self._no_store_reason: str | None = None
        self._form = PlantForm(theme)
        self._add_controller = AddPlantController(self._form, bridge, self)
        self._bar = InfoBar(theme)
        self._status = StatusLine(theme)
        self._notice = ServerNotice(self._bar, server, self)
        self._backups = BackupController(theme, bridge, self._form.message, self._another_bar, path, self)
        self._appearance = Appearance(theme, preferences, self)
        self._page = QVBoxLayout()
        self._place = QFrame()
        self._place.setProperty("card", "true")
        self._menus = Menus(window.menuBar(), theme.mode, self)
        self._help = HelpCommands(theme, self._menus, path, self)
        self._api = ApiCommands(theme, bridge, server, self._menus, self._status, self._notice, self)
        self._lay_out()
        self._connect_parts()
        self._connect_menus(window)
        window.setCentralWidget(self)
        window.setWindowIcon(QIcon(str(resources.folder() / "icons" / "plantdesk.svg")))

    def complete(self) -> None:
        """Build what is below the form; call it when the form has shown itself, which is earlier without."""
        self._form.focus_name()  # only now: what is not yet visible in a window that is active gets no focus
        assert self._browser is not None  # noqa: S101  asking for it builds it
        self._look_after_the_system()
        self._api.show_state()
        if self._preferences.set_aside is not None:
            self._report_damaged_settings(self._preferences.set_aside)

    # --- the store ---

    def set_store(self, store: Store, *, named: bool) -> None:
        """Show the plants of a store; its file stands in the title when the user `named` it."""
        self._store = store
        self._no_store_reason = None
        self._queries = StoreQueries(self._bridge.short_tasks, store)
        self.window().setWindowTitle(f"{store.path.name} — PlantDesk" if named else "PlantDesk")
        self._backups.path = self._help.path = store.path
        self._store_notice.show_health(None)
        self._allow_entry(allowed=True)
        if self._updates is not None:
            self._updates.begin()
        self._browser.set_store(store)
        self._add_controller.set_store(store, self._queries)
        self._status.show_store(is_open=True)
        self._api.set_store(store, self._queries)
        self._ask_tokens()

    def show_opening(self) -> None:
        """Show that the file is being opened again."""
        self._no_store_reason = None
        self._store_notice.hide()

    def show_no_store(self, path: Path, reason: PlantDeskError) -> None:
        """Show why the file at `path` cannot be opened, and what to do about it; what is typed stays."""
        self._backups.path = self._help.path = path
        if str(reason) == self._no_store_reason:  # another attempt with the same result
            return
        self._no_store_reason = str(reason)
        self._api.forget_commands()
        self._browser.stop_waiting()
        self._add_controller.show_no_store()
        self._status.show_store(is_open=False)
        self._store_notice.show_no_store(reason)

    def show_defect(self, what: str) -> None:
        """Report that something has failed which should not; `what` is the log's text."""
        self._defect_notice.show_defect(what)

    @Slot()
    def choose_file(self) -> None:
        """Let the user name another file, existing or new."""
        name, _ = QFileDialog.getSaveFileName(
            self,
            self.tr("Choose a plant store, or name a new one"),
            str(self._backups.path.parent),
            self.tr("Plant stores (*.db)"),
            options=QFileDialog.Option.DontConfirmOverwrite,
        )
        if name:
            self.file_chosen.emit(name)

    def release_store(self) -> None:
        """Let go of the store before it is closed; nothing reads it after this."""
        self._browser.close_store()
        self._add_controller.forget_store()
        if self._queries is not None:
            self._queries.close()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._step_back()
        elif event.key() == Qt.Key.Key_F6:
            self._go_round(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        elif event.key() in ENTER_KEYS:
            press_focused_button(self.window())
        else:
            super().keyPressEvent(event)

    # --- signals of other threads ---

    @Slot(object)
    def _on_changed(self, changes: Changes) -> None:
        self._browser.apply(changes)
        self._status.show_changes(changes)
        if changes.tokens:
            self._ask_tokens()

    @Slot(object)
    def _on_not_read(self, error: Exception) -> None:
        if self._store is not None and isinstance(error, StoreDamagedError):
            self._store.report_damage(error)

    @Slot(object)
    def _on_health_changed(self, trouble: StoreError | None) -> None:
        self._store_notice.show_health(trouble)
        self._status.show_trouble(there=trouble is not None)
        self._browser.show_health(trouble)
        self._allow_entry(allowed=not isinstance(trouble, StoreReadOnlyError))

    def _allow_entry(self, *, allowed: bool) -> None:
        """Decide whether plants can be entered: not into a store that is read-only; the bar says why."""
        message, hint = self._form.message, self.tr("Plants can be added when the store can be written to.")
        if allowed and not self._form.isEnabled():
            self._form.setEnabled(True)
            self._form.focus_name()
            if message.text == hint:
                message.clear()
        elif not allowed:
            self._form.setEnabled(False)
            message.show_message(Tone.HINT, hint)

    @Slot()
    def _on_restored(self) -> None:
        if self._store is None:
            self.try_again_wanted.emit()

    def _ask_tokens(self) -> None:
        if self._store is not None:
            tokens = self._store.tokens
            self._bridge.short_tasks.ask(self, lambda _task: tokens.list(), self._on_tokens, self._on_no_tokens)

    def _on_tokens(self, rows: list[TokenRow]) -> None:
        self._status.show_tokens(any_there=bool(rows))

    def _on_no_tokens(self, _error: Exception) -> None:
        """Leave the line as it is."""

    # --- slots of the menus ---

    @Slot(str)
    def _sort(self, order: str) -> None:
        self._browser.set_order(order)

    @Slot()
    def _jump_to_top(self) -> None:
        self._browser.jump_to_top()

    @Slot(bool)
    def _set_compact(self, compact: bool) -> None:  # noqa: FBT001  Qt's signal
        self._browser.table.set_compact(compact=compact)

    @Slot()
    def _focus_search(self) -> None:
        self._browser.search_field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._browser.search_field.selectAll()

    @Slot(str)
    def _on_copied(self, text: str) -> None:
        self._form.message.show_message(Tone.OK, text)

    @Slot(str)
    def _on_copy_refused(self, text: str) -> None:
        self._form.message.show_message(Tone.WARNING, text)

    @Slot(bool)
    def _keep_tag(self, keep: bool) -> None:  # noqa: FBT001  Qt's signal
        self._add_controller.keep_tag = keep

    # --- keys ---

    def _step_back(self) -> None:
        """Close the message, else clear the search, else go back to Name."""
        if not self._notice.dismiss() and not self._browser.clear_search():
            self._form.focus_name()

    def _go_round(self, step: int) -> None:
        parts: list[tuple[QWidget, Callable[[], object]]] = [
            (self._form, self._form.focus_name),
            (self._browser.search_field, self._focus_search),
            (self._browser.table, self._browser.table.setFocus),
            (self._status, self._status.focus_first),
        ]
        here = next((place for place, (part, _) in enumerate(parts) if _has_focus(part)), -step)
        _, focus = parts[(here + step) % len(parts)]
        focus()

    # --- building ---

    def _look_after_the_system(self) -> None:
        from plantdesk.ui.notices.update_notice import UpdateNotice
        from plantdesk.ui.platform.login_switch import LoginSwitch

        self._menus.tools_opened.connect(LoginSwitch(self._menus.login, self._bar, self).look)
        self._updates = UpdateNotice(
            self._menus.updates, self._bar, self._another_bar, self._bridge, self._preferences, self
        )

    @cached_property
    def _browser(self) -> PlantBrowser:
        from plantdesk.ui.plants import browser as plant_browser

        browser = plant_browser.PlantBrowser(self._theme, self._bridge)
        browser.api_access_wanted.connect(self._api.open_dialog)
        browser.selection_count_changed.connect(self._status.show_selection)
        browser.order_changed.connect(self._menus.show_order)
        browser.copied.connect(self._on_copied)
        browser.copy_refused.connect(self._on_copy_refused)
        browser.failed.connect(self._on_not_read)
        browser.added_hidden.connect(self._add_controller.show_hidden)
        self._add_controller.plant_added.connect(browser.reveal_added)
        self._add_controller.plant_wanted.connect(browser.show_plant)
        self._page.replaceWidget(self._place, browser)
        self._place.deleteLater()
        return browser

    def _another_bar(self) -> InfoBar:
        bar = InfoBar(self._theme)
        self._page.insertWidget(1, bar)
        return bar

    @cached_property
    def _store_notice(self) -> StoreNotice:
        notice = StoreNotice(self._another_bar(), self)
        notice.try_again_wanted.connect(self.try_again_wanted)
        notice.restore_wanted.connect(self._backups.open_dialog)
        notice.other_file_wanted.connect(self.choose_file)
        notice.new_store_wanted.connect(self.new_store_wanted)
        return notice

    def _report_damaged_settings(self, file: Path) -> None:
        title = self.tr("The settings are back to their defaults")
        text = self.tr("Their file was damaged. It is kept as “{file}”.").format(file=file.name)
        self._another_bar().show_state(BarKind.INFO, title, text)

    @cached_property
    def _defect_notice(self) -> DefectNotice:
        from plantdesk.ui.notices.defect_notice import DefectNotice

        return DefectNotice(self._another_bar, self)

    def _lay_out(self) -> None:
        inner = self._page
        inner.setContentsMargins(L, L, L, L)
        inner.setSpacing(M)
        inner.addWidget(self._form)
        inner.addWidget(self._bar)
        inner.addWidget(self._place, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(inner, 1)
        layout.addWidget(self._status)
        TabOrder(self)

    def _connect_parts(self) -> None:
        self._bridge.changed.connect(self._on_changed)
        self._bridge.health_changed.connect(self._on_health_changed)
        self._backups.restored.connect(self._on_restored)
        self._add_controller.saving_changed.connect(self._status.show_saving)

    def _connect_menus(self, window: QMainWindow) -> None:
        menus = self._menus
        menus.new_plant_wanted.connect(self._form.focus_name)
        menus.backup_wanted.connect(self._backups.back_up)
        menus.restore_wanted.connect(self._backups.open_dialog)
        menus.close_wanted.connect(window.close)
        menus.quit_wanted.connect(window.close)
        menus.find_wanted.connect(self._focus_search)
        menus.order_wanted.connect(self._sort)
        menus.compact_wanted.connect(self._set_compact)
        menus.keep_tag_wanted.connect(self._keep_tag)
        menus.top_wanted.connect(self._jump_to_top)
        menus.theme_wanted.connect(self._appearance.set_mode)
        menus.larger_wanted.connect(self._appearance.enlarge_text)
        menus.smaller_wanted.connect(self._appearance.reduce_text)
        menus.normal_size_wanted.connect(self._appearance.restore_text)


def _has_focus(widget: QWidget) -> bool:
    focused = QGuiApplication.focusObject()
    return isinstance(focused, QWidget) and (focused is widget or widget.isAncestorOf(focused))
