"""The commands for other stores: each store has a window of its own, in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QDir, QProcess, Signal, Slot
from typing_extensions import override

from plantdesk.domain.errors import ForeignFileError, PlantDeskError
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.texts import shortened
from plantdesk.platform import paths
from plantdesk.platform.settings import is_port
from plantdesk.store import DESK_FILE_SUFFIX, location_of
from plantdesk.ui.feature import Feature, OpenStore, WindowContext
from plantdesk.ui.menus import Key, Section
from plantdesk.ui.qt import documents_folder
from plantdesk.ui.texts import error_text, one_line, quoted, store_name
from plantdesk.ui.widgets.dialog import FileDialog
from plantdesk.ui.widgets.messages import MessageAction

_SUFFIX = ".db"
#: The most stores in the list.
_MAX_RECENT = 10
#: The most characters of a name and of a folder in the list.
_MAX_NAME_LENGTH = 60
_MAX_FOLDER_LENGTH = 60


class StoresFeature(Feature):
    """Opens other stores in windows of their own, and lists the recent ones."""

    #: (files) Import files that are no stores.
    import_requested = Signal(object)
    #: (path) Open another file in this window, whose store could not be opened.
    file_chosen = Signal(str)

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        context.menus.add(Section.FILE_OPEN, self.tr("Ne&w store…"), self.choose_new)
        context.menus.add(Section.FILE_OPEN, self.tr("&Open store…"), self.choose, Key.Open)
        context.menus.add_list(Section.FILE_RECENT, self._list_entries)

    @override
    def set_store(self, opened: OpenStore) -> None:
        super().set_store(opened)
        location = self.context.location
        if not location.is_own and _is_decodable(location.url):
            others = [url for url in self._recent if url != location.url]
            self.context.preferences.change(recent_stores=[location.url, *others][:_MAX_RECENT])

    @property
    def _recent(self) -> Sequence[str]:
        return self.context.preferences.settings.recent_stores

    def _list_entries(self) -> list[tuple[str, Callable[[], object]]]:
        """Return the entries of the recent stores, except the shown one, and a command that clears the list."""
        texts = {url: _entry_text(url) for url in self._recent if url != self.context.location.url}
        entries: list[tuple[str, Callable[[], object]]]
        entries = [(text, partial(self.open, url)) for url, text in texts.items() if text]
        return [*entries, (self.tr("&Clear list"), self._clear)] if entries else []

    @Slot()
    def _clear(self) -> None:
        self.context.preferences.change(recent_stores=[])

    def _forget(self, url: str) -> None:
        self.context.preferences.change(recent_stores=[other for other in self._recent if other != url])

    @Slot()
    def choose(self) -> None:
        """Let the user choose the file of a store or a desk file, and open the store."""
        stores = self.tr("Plant stores ({suffixes})").format(suffixes=f"*{_SUFFIX} *{DESK_FILE_SUFFIX}")
        filters = f"{stores};;{self.tr('All files (*)')}"
        name = FileDialog.get_open_file(self.context.page, self.tr("Open store"), self._find_start_folder(), filters)
        if name:
            self.open(name)

    @Slot()
    def choose_new(self) -> None:
        """Let the user name a new file, and create a store in it."""
        name = self._ask_for_file(self.tr("New store"), self._find_start_folder())
        if name:
            self.create(name if Path(name).suffix else f"{name}{_SUFFIX}")

    @Slot()
    def choose_other(self) -> None:
        """Let the user name a file, existing or new, and request it for this window (`file_chosen`)."""
        folder = self.context.location.folder or paths.home_folder()
        name = self._ask_for_file(self.tr("Choose a plant store, or name a new one"), str(folder))
        if name:
            self.file_chosen.emit(name)

    def _ask_for_file(self, title: str, start: str) -> str:
        """Return the file that the user names, or an empty text; an existing file is not replaced."""
        filters = self.tr("Plant stores ({suffixes})").format(suffixes=f"*{_SUFFIX}")
        return FileDialog.get_save_file(self.context.page, title, start, filters, replaces=False)

    def open(self, url: str) -> None:
        """Open the store of a file or an address in another window, if there is a store."""
        self._check(url, self._on_checked)

    def create(self, name: str) -> None:
        """Create a store in a new file, and open it in another window."""
        self._check(name, self._on_new_checked)

    def _find_start_folder(self) -> str:
        location = self.context.location
        return str(documents_folder() if location.is_own or location.folder is None else location.folder)

    def _check(self, url: str, on_checked: Callable[[StoreLocation, bool], object]) -> None:
        """On another thread, find the location of `url` and whether it has a store; pass both on."""
        current = self.context.location

        def check_store(_task: object) -> tuple[StoreLocation, bool]:
            location = location_of(url)
            return location, location.key == current.key or location.has_store()

        def on_result(result: tuple[StoreLocation, bool]) -> None:
            location, _ = result
            if location.key == current.key:
                text = self.tr("{store} is open in this window.").format(store=quoted(store_name(current)))
                self.context.page.toast.show_message(text)
            else:
                on_checked(*result)

        self.context.bridge.long_tasks.run(self, check_store, on_result, partial(self._on_refused, url))

    def _on_checked(self, location: StoreLocation, exists: bool) -> None:
        if exists:
            self._start(location)
            return
        text = self.tr("{store} is not there any more, or is empty. It was in {folder}.").format(
            store=quoted(location.name), folder=quoted(_folder_text(location))
        )
        self.context.page.toast.show_problem(text, *self._make_forget_actions(location.url))

    def _on_new_checked(self, location: StoreLocation, exists: bool) -> None:
        if not exists:
            self._start(location)
            return
        text = self.tr("{store} is there already.").format(store=quoted(location.name))
        self.context.page.toast.show_message(text, (self.tr("Open it"), partial(self._start, location)))

    def _on_refused(self, url: str, error: Exception) -> None:
        """Show why a file is no store, with an action that imports it if it may have plants."""
        from plantdesk.transfer.formats import SUFFIXES

        actions = self._make_forget_actions(url)
        suffix = Path(url).suffix.lower()
        if isinstance(error, ForeignFileError) and self.opened is not None and suffix in SUFFIXES and suffix != _SUFFIX:
            actions = [(self.tr("Import…"), partial(self.import_requested.emit, [Path(url)])), *actions]
        self.context.page.toast.show_problem(error_text(error), *actions)

    def _make_forget_actions(self, url: str) -> list[MessageAction]:
        return [(self.tr("Remove from the list"), partial(self._forget, url))] if url in self._recent else []

    def _start(self, location: StoreLocation) -> None:
        """Start PlantDesk with a store; if a window shows the store already, that start raises it and ends.

        The API gets the port that the user chose for this store, or any free one.
        """
        from plantdesk.platform.login import window_command

        toast = self.context.page.toast
        port = self.context.preferences.of_store(location.key).get("port")
        program, *options = window_command("--port", str(port) if is_port(port) else "0", "--database", location.url)
        is_started, _ = QProcess.startDetached(program, options)
        if is_started:
            toast.show_message(self.tr("Opening {store}…").format(store=quoted(store_name(location))))
        else:
            toast.show_problem(self.tr("Another window could not be started. Start PlantDesk again."))


def _entry_text(url: str) -> str:
    """Return the text of a store in the menu; empty for an invalid address, as a user may edit the settings."""
    try:
        location = location_of(url)
    except PlantDeskError:
        return ""
    name = shortened(one_line(store_name(location)), _MAX_NAME_LENGTH)
    folder = "" if location.folder is None else _folder_text(location)
    if len(folder) > _MAX_FOLDER_LENGTH:
        folder = f"…{folder[1 - _MAX_FOLDER_LENGTH :]}"  # the end says more
    return (f"{name} — {folder}" if folder else name).replace("&", "&&")


def _folder_text(location: StoreLocation) -> str:
    return one_line(QDir.toNativeSeparators(str(location.folder)))


def _is_decodable(url: str) -> bool:
    """Return whether a path has no undecodable bytes, so that it can be saved and passed to another process."""
    return url.isprintable() or not any("\ud800" <= character <= "\udfff" for character in url)
