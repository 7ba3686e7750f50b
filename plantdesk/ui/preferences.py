"""The person's settings while the window is open: each change is applied at once and kept in the file."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from plantdesk import settings as settings_file

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.settings import Settings

_log = logging.getLogger(__name__)


class Preferences:
    """Holds the settings of now. A file that cannot be written is logged; the change holds until the program ends."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._settings = settings_file.load(file)

    @property
    def settings(self) -> Settings:
        """The settings of now."""
        return self._settings

    def change(self, **values: object) -> None:
        """Set other values for some of the settings."""
        changed = self._settings.changed(**values)
        if changed == self._settings:
            return
        self._settings = changed
        try:
            settings_file.save(changed, self._file)
        except OSError as error:
            _log.warning("The settings cannot be saved: %s", error)
