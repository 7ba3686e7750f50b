"""The commands for shared stores, the state of the server, the update of its tables, and a check of the folder."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QLocale, QStorageInfo, QTimer, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QWidget
from typing_extensions import override

from plantdesk.domain.backups import Backup
from plantdesk.domain.errors import PlantDeskError, StoreUnreachableError
from plantdesk.domain.locations import StoreLocation, TablesUpdate, update_store
from plantdesk.domain.records import Desk
from plantdesk.domain.texts import Text, shortened
from plantdesk.store import location_of
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.feature import Feature, OpenStore, WindowContext
from plantdesk.ui.menus import Section
from plantdesk.ui.qt import fill, set_properties
from plantdesk.ui.texts import error_text, one_line, translated
from plantdesk.ui.theme.metrics import L, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.dialog import ButtonRole, MessageBox
from plantdesk.ui.widgets.messages import Tone
from plantdesk.ui.widgets.painting import Icon
from plantdesk.ui.widgets.plain_text import PlainLabel, set_tool_tip

#: The key of the setting of a store that its file stays in an unsafe folder.
_STAYS_KEY = "stays_in_folder"
#: Milliseconds between two queries of the computers, which record themselves equally often.
_REFRESH_INTERVAL_MS = 30_000
_MAX_NAME_LENGTH = 30
#: Names of the folders of cloud services, in lower case, and the names of the services.
_CLOUDS = {
    "dropbox": "Dropbox",
    "onedrive": "OneDrive",
    "nextcloud": "Nextcloud",
    "owncloud": "ownCloud",
    "google drive": "Google Drive",
    "googledrive": "Google Drive",
    "icloud drive": "iCloud",
    "iclouddrive": "iCloud",
    "com~apple~clouddocs": "iCloud",
    "synologydrive": "Synology Drive",
    "syncthing": "Syncthing",
}
#: Types of network file systems, as the operating systems name them.
_NETWORK_TYPES = ("nfs", "cifs", "smb", "afpfs", "webdav", "davfs", "fuse.sshfs", "fuse.davfs", "fuse.rclone", "ncpfs")


class _ServerState(QWidget):
    """The part of the status bar that shows whether the server answers, and its name."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._icon = Icon(theme)
        self._state_label = PlainLabel(role="strong")
        self._name_label = PlainLabel()
        fill(QHBoxLayout(self), self._icon, self._state_label, self._name_label, margins=(0, 0, L, 0), spacing=S)

    def show_server(self, server: str, *, is_reached: bool) -> None:
        """Show the name of the server, and whether it answers."""
        self._icon.show_icon("circle-check" if is_reached else "triangle-alert", "ok" if is_reached else "warning")
        self._state_label.setText(self.tr("Connected") if is_reached else self.tr("Not connected"))
        set_properties(self._state_label, tone="ok" if is_reached else "warning")
        self._name_label.setText(server)


class SharedStoreFeature(Feature):
    """The commands for shared stores. In the status bar it shows whether the server answers."""

    #: (location, create) Open or `create` this store.
    store_requested = Signal(object, bool)
    #: (is_reached) Whether the server answers.
    reachable_changed = Signal(bool)

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        add = context.menus.add
        add(Section.FILE_STORE, self.tr("Shared s&tore…"), self.open_dialog)
        self._own_store_action = add(Section.FILE_STORE, self.tr("&My own plants"), self.use_own_store)
        self.enable_with_store(add(Section.FILE_STORE, self.tr("Cop&y store…"), self.open_copy_dialog))
        self._own_store_action.setVisible(not context.location.is_own)
        self._server_state: _ServerState | None = None
        self._computers: OtherComputers | None = None
        context.bridge.health_changed.connect(self._on_health_changed)

    @override
    def set_store(self, opened: OpenStore) -> None:
        super().set_store(opened)
        self._own_store_action.setVisible(not self.context.location.is_own)
        self._show_reached(opened.store.write_error)
        if self._computers is not None:
            self._computers.set_queries(opened.queries)
        self._check_folder()

    @override
    def release_store(self) -> None:
        super().release_store()
        if self._computers is not None:
            self._computers.set_queries(None)

    def _check_folder(self) -> None:
        """Check on another thread whether the folder of the file is unsafe, unless the user accepts it."""
        location = self.context.location
        folder = location.folder
        if folder is None or self.context.preferences.of_store(location.key).get(_STAYS_KEY) is True:
            return
        run = self.context.bridge.long_tasks.run
        run(self, lambda _task: (cloud_of(folder), is_remote(folder)), lambda result: self._recommend_sharing(*result))

    def _recommend_sharing(self, cloud: str, is_on_network: bool) -> None:
        """Recommend a shared store for a file in a synchronised or remote folder."""
        if not cloud and not is_on_network:
            return
        bar = self.context.page.add_bar()
        title = self.tr("Your plants are in a folder of {cloud}").format(cloud=cloud)
        text = self.tr(
            "A file that several computers change there can be damaged, or lose plants. "
            "A shared store is made for that."
        )

        def keep_folder() -> None:
            self.context.preferences.change_store(self.context.location.key, **{_STAYS_KEY: True})
            bar.clear()

        actions = (self.tr("Shared store…"), self.open_dialog), (self.tr("Keep it here"), keep_folder)
        title = title if cloud else self.tr("Your plants are on a network drive")
        bar.show_state(Tone.INFO, title, text, *actions)

    @override
    def show_no_store(self, reason: PlantDeskError) -> None:
        self._own_store_action.setVisible(not self.context.location.is_own)
        self._show_reached(reason)

    @Slot(object)
    def _on_health_changed(self, error: PlantDeskError | None) -> None:
        self._show_reached(error)

    def _show_reached(self, error: PlantDeskError | None) -> None:
        """Show whether the server answers, and emit `reachable_changed`; not for stores in files."""
        server = self.context.location.server
        if server is None:
            return
        if self._server_state is None:
            self._server_state = _ServerState(self.context.theme)
            self.context.status_bar.insertWidget(0, self._server_state)
            self._computers = OtherComputers()
            self.context.status_bar.insertWidget(1, self._computers)
        is_reached = not isinstance(error, StoreUnreachableError)
        self._server_state.show_server(server, is_reached=is_reached)
        self.reachable_changed.emit(is_reached)

    @Slot()
    def open_dialog(self) -> None:
        """Open the dialog with the address of the present shared store, or of the last one."""
        from plantdesk.store import PostgresLocation
        from plantdesk.ui.shared_store.dialog import SharedStoreDialog

        context = self.context
        location: StoreLocation | None = context.location
        if not isinstance(location, PostgresLocation):
            address = context.preferences.settings.shared_store
            location = location_of(address) if address else None
        if not isinstance(location, PostgresLocation):
            location = None
        dialog = SharedStoreDialog(context.theme, context.bridge, context.preferences, location, context.page)
        dialog.open_requested.connect(self.store_requested)
        dialog.open()

    @Slot()
    def open_copy_dialog(self) -> None:
        """Open the dialog that copies the store."""
        from plantdesk.ui.shared_store.copying import CopyDialog

        CopyDialog(self.context).open()

    @Slot()
    def ask_to_update(self) -> None:
        """Check whether the tables of the store need an update, and ask whether to update them."""
        location = self.context.location
        toast = self.context.page.toast
        if not self.running_text:
            self.context.bridge.long_tasks.run(
                self, lambda _task: location.needed_update(), self._ask_to_update, toast.show_error
            )

    def _ask_to_update(self, update: TablesUpdate | None) -> None:
        """Ask whether to update; list computers of the last 30 days that could only read then."""
        context = self.context
        if update is None:
            context.page.toast.show_message(self.tr("The shared store is up to date."))
            return
        title = self.tr("Bring “{name}” to version {version} for all computers?")
        lines = [self.tr("A backup comes first. The update itself cannot be undone.")]
        if outdated := [one_line(desk.name) for desk in update.desks if not update.can_write_after(desk)]:
            text = self.tr("Until PlantDesk is updated on them, these computers can only read it: {computers}")
            lines.append(text.format(computers=QLocale().createSeparatedList(outdated)))
        box = MessageBox(
            context.theme,
            self.tr("Update the shared store"),
            title.format(name=one_line(context.location.name), version=update.after),
            "\n".join(lines),
            context.page,
        )
        box.add_button(self.tr("&Back up and update")).clicked.connect(self._update)
        box.add_button(self.tr("Cancel"), ButtonRole.RejectRole)  # has the focus, as other users are affected
        box.open()

    @Slot()
    def _update(self) -> None:
        location = self.context.location
        self.set_running_text(self.tr("The shared store is being updated: it would stay as it is."))
        self.context.page.toast.show_progress(self.tr("Updating…"))
        self.context.bridge.long_tasks.run(
            self, lambda _task: update_store(location), self._on_updated, self._on_not_updated
        )

    def _on_updated(self, _backup: Backup | None) -> None:
        self.set_running_text("")
        text = self.tr("The shared store is up to date. The backup is listed under Restore.")
        self.context.page.toast.show_message(text)

    def _on_not_updated(self, error: Exception) -> None:
        self.set_running_text("")
        text = self.tr("Nothing was changed. {reason}").format(reason=error_text(error))
        self.context.page.toast.show_problem(text, (self.tr("Try again"), self._update))

    @Slot()
    def use_own_store(self) -> None:
        """Request to show the user's own store in this window."""
        self.store_requested.emit(location_of(None), False)


class OtherComputers(PlainLabel):
    """The number of other computers that use the store; the tooltip lists all of them with their versions."""

    def __init__(self) -> None:
        super().__init__(tone="muted")
        self._queries: StoreQueries | None = None
        self._refresh_timer = QTimer(self, interval=_REFRESH_INTERVAL_MS)
        self._refresh_timer.timeout.connect(self.refresh)
        self.hide()

    def set_queries(self, queries: StoreQueries | None) -> None:
        """Query the computers of a store from now on, every 30 seconds; None: there is no store."""
        self._queries = queries
        if queries is None:
            self._refresh_timer.stop()
            self.hide()
        else:
            self._refresh_timer.start()
            self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Query the computers; while the server does not answer, the text stays."""
        if self._queries is not None:
            self._queries.run(self, lambda reader, _task: reader.active_desks(), self._show_desks)

    def _show_desks(self, desks: list[Desk]) -> None:
        others = [desk for desk in desks if not desk.is_own]
        count = Text("{count:,} other computers", one="1 other computer", count=len(others))
        name = shortened(one_line(others[0].name), _MAX_NAME_LENGTH) if len(others) == 1 else translated(count)
        self.setText(name)
        self.setVisible(bool(others))
        names = [f"{one_line(desk.name)} {desk.version}" for desk in sorted(desks, key=lambda desk: not desk.is_own)]
        set_tool_tip(self, QLocale().createSeparatedList(names))


def cloud_of(folder: Path) -> str:
    """Return the name of the service that synchronises a folder, or an empty text.

    A store is unsafe there: SQLite's locks do not reach other computers, and a copy may lack the write-ahead log.
    """
    for part in folder.parts:
        name = part.lower()
        service = _CLOUDS.get(name) or _CLOUDS.get(name.partition(" - ")[0])  # “OneDrive - Company”
        if service is not None:
            return service
    return next((_CLOUDS["nextcloud"] for parent in (folder, *folder.parents) if _has_journal(parent)), "")


def is_remote(folder: Path) -> bool:
    """Return whether a folder is on another computer; blocks while that does not answer."""
    file_system = bytes(QStorageInfo(str(folder)).fileSystemType().data())
    return folder.drive.startswith("\\\\") or is_network_file_system(file_system)


def is_network_file_system(file_system: bytes) -> bool:
    """Return whether a type of file system, as the operating system names it, is that of a network."""
    return file_system.decode(errors="replace").lower().startswith(_NETWORK_TYPES)


def _has_journal(folder: Path) -> bool:
    """Return whether a folder, whatever its name, has the database of the Nextcloud or ownCloud client."""
    try:
        return any(folder.glob(".sync_*.db"))
    except OSError:
        return False
