"""The user's settings in the window. Each change applies at once and is saved."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

from PySide6.QtCore import QFileSystemWatcher, QObject, Signal, Slot

from plantdesk.platform import paths
from plantdesk.platform import settings as settings_file
from plantdesk.platform.settings import MAX_TEXT_SCALE, MIN_TEXT_SCALE, Settings, of_store, with_store
from plantdesk.platform.unsaved_file import STORED_NAMES, UnsavedFile

_log = logging.getLogger(__name__)

_TEXT_SCALE_STEP = 1.1


class Preferences(QObject):
    """The present settings. If their file cannot be written, this is logged, and changes last until the program ends.

    `quarantined` is the new path of a damaged file. `are_saved`: the last write succeeded. `are_new`: there was no file
    at the start. `keeps_unsaved`: unsaved input can be written to its own file.
    """

    #: This window or, after `watch_file`, another one has changed them.
    changed = Signal()

    def __init__(self, file: Path | None) -> None:
        """Load `file`; None: use the defaults, and save nothing."""
        super().__init__()
        self._watcher: QFileSystemWatcher | None = None
        self.quarantined: Path | None = None
        self.are_saved = True
        self.keeps_unsaved = file is None or not file.parent.exists() or os.access(file.parent, os.W_OK)
        self._file = file
        self._unsaved = UnsavedFile(None if file is None else file.parent)
        self.are_new = file is None or not file.exists()
        self.settings = Settings() if file is None else settings_file.load(file, self._on_damaged)

    def watch_file(self, window: QObject) -> None:
        """Apply changes of the file by other windows, as long as `window` exists."""
        if self._file is None or self._watcher is not None:
            return
        with contextlib.suppress(OSError):
            paths.create_folder(self._file.parent)
        self._unsaved.reserve()
        if self._file.parent.is_dir():
            self._watcher = QFileSystemWatcher([str(self._file.parent)], window)
            self._watcher.directoryChanged.connect(self._reload)

    @Slot()
    def _reload(self) -> None:
        """Read the file again, unless this window has unsaved changes; an unreadable or invalid file is ignored."""
        if self._file is None or not self.are_saved:
            return
        try:
            saved = settings_file.read(self._file, self.settings)
        except (OSError, ValueError, RecursionError):
            return
        if saved != self.settings:
            self.settings = saved
            self.changed.emit()

    def change(self, **values: object) -> None:
        """Change settings by their names, save them, and emit `changed` if one has another value."""
        self._apply(lambda settings: settings.changed(**values))

    def scale_text(self, steps: int) -> None:
        """Enlarge the text by `steps` of a tenth, or reduce it by negative ones, within limits."""
        scale = self.settings.text_scale * _TEXT_SCALE_STEP**steps
        self.change(text_scale=round(min(max(scale, MIN_TEXT_SCALE), MAX_TEXT_SCALE), 2))

    def of_store(self, key: str) -> Mapping[str, object]:
        """Return the saved values of one store: a JSON object, not validated."""
        return {**of_store(self.settings, key), **self._unsaved.of_store(key)}

    def change_store(self, key: str, **values: object) -> None:
        """Change saved values of one store by their names; unsaved input has a file of its own."""
        unsaved = {name: values.pop(name) for name in STORED_NAMES if name in values}
        self._save_unsaved(key, cast("Mapping[str, Sequence[object]]", unsaved))
        values |= {name: [] for name in unsaved if of_store(self.settings, key).get(name)}  # from an older PlantDesk
        if values:
            self._apply(lambda settings: with_store(settings, key, values))

    def _save_unsaved(self, key: str, unsaved: Mapping[str, Sequence[object]]) -> None:
        could_keep = self.keeps_unsaved
        try:
            if unsaved:
                self._unsaved.change(key, unsaved)
                self.keeps_unsaved = True
        except OSError as error:
            _log.warning("What is not saved cannot be kept: %s", error)
            self.keeps_unsaved = False
        if self.keeps_unsaved is not could_keep:
            self.changed.emit()

    def _apply(self, change: Callable[[Settings], Settings]) -> None:
        """Change the present settings and the file. Other windows may have changed other settings in it."""
        new_settings = change(self.settings)
        if new_settings == self.settings and self.are_saved:
            return
        self.settings = new_settings
        try:
            if self._file is not None:
                settings_file.update(self._file, change, new_settings)
            self.are_saved = True
        except OSError as error:
            _log.warning("The settings cannot be saved: %s", error)
            self.are_saved = False
        self.changed.emit()

    def _on_damaged(self, quarantined: Path) -> None:
        self.quarantined = quarantined
