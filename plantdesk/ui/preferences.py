"""The user's settings while the window is open: each change applies at once and is saved."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from plantdesk.platform import settings as settings_file
from plantdesk.platform.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_log = logging.getLogger(__name__)

#: The other stores for which something is remembered.
_MAX_STORES = 50


class Preferences:
    """The present settings. If the file cannot be written, this is logged and the change lasts until the program ends.

    `quarantined`: the new name of a damaged file. `are_saved`: the file could be written the last time.
    """

    def __init__(self, file: Path | None) -> None:
        """Load `file`; None: use the defaults, and save nothing."""
        self.quarantined: Path | None = None
        self.are_saved = True
        self._file = file
        self.settings = Settings() if file is None else settings_file.load(file, self._on_damaged)

    def change(self, **values: object) -> None:
        """Change some settings."""
        self._apply(lambda settings: settings.changed(**values))

    def of_store(self, key: str) -> Mapping[str, object]:
        """Return what is remembered for one store: a JSON object, which may hold anything."""
        return _of_store(self.settings, key)

    def change_store(self, key: str, **values: object) -> None:
        """Change some of what is remembered for one store."""

        def changed(settings: Settings) -> Settings:
            others = {each: value for each, value in settings.layouts.items() if each != key}
            kept = dict(list(others.items())[-_MAX_STORES:])
            return settings.changed(layouts={**kept, key: {**_of_store(settings, key), **values}})

        self._apply(changed)

    def _apply(self, change: Callable[[Settings], Settings]) -> None:
        """Change the settings of this window, and those in the file, of which others may have changed some."""
        changed = change(self.settings)
        if changed == self.settings and self.are_saved:
            return
        self.settings = changed
        try:
            if self._file is not None:
                settings_file.update(self._file, change, changed)
            self.are_saved = True
        except OSError as error:
            _log.warning("The settings cannot be saved: %s", error)
            self.are_saved = False

    def _on_damaged(self, quarantined: Path) -> None:
        self.quarantined = quarantined


def _of_store(settings: Settings, key: str) -> Mapping[str, object]:
    values = settings.layouts.get(key)
    return values if isinstance(values, dict) else {}
