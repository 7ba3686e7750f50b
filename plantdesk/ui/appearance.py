"""What a person chooses about the look, applied at once and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from plantdesk.ui.theme.theme import ThemeMode

if TYPE_CHECKING:
    from plantdesk.ui.preferences import Preferences
    from plantdesk.ui.theme.theme import Theme

_TEXT_STEP = 1.1


class Appearance(QObject):
    """Changes the theme and the size of text."""

    def __init__(self, theme: Theme, preferences: Preferences, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._preferences = preferences

    @Slot(str)
    def set_mode(self, mode: str) -> None:
        """Follow the system, or stay light or dark."""
        self._theme.set_mode(ThemeMode(mode))
        self._preferences.change(theme=mode)

    @Slot()
    def enlarge_text(self) -> None:
        """Make all text a step larger."""
        self._set_text_scale(self._theme.text_scale * _TEXT_STEP)

    @Slot()
    def reduce_text(self) -> None:
        """Make all text a step smaller."""
        self._set_text_scale(self._theme.text_scale / _TEXT_STEP)

    @Slot()
    def restore_text(self) -> None:
        """Make all text as large as the system's again."""
        self._set_text_scale(1.0)

    def _set_text_scale(self, scale: float) -> None:
        self._theme.set_text_scale(round(scale, 2))
        self._preferences.change(text_scale=self._theme.text_scale)
