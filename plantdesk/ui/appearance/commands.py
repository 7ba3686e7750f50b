"""The commands for theme and text size; they apply at once and are saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot

from plantdesk.ui.feature import Feature
from plantdesk.ui.menus import Key, Section, check
from plantdesk.ui.theme.first_colors import ThemeMode

if TYPE_CHECKING:
    from plantdesk.ui.feature import WindowContext

_TEXT_STEP = 1.1


class AppearanceCommands(Feature):
    """Changes the theme and the size of text."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        menus, section = context.menus, Section.VIEW_APPEARANCE
        modes = (
            (self.tr("&System"), ThemeMode.SYSTEM.value),
            (self.tr("&Light"), ThemeMode.LIGHT.value),
            (self.tr("&Dark"), ThemeMode.DARK.value),
        )
        group = menus.add_choices(section, modes, self._set_mode, self.tr("&Theme"))
        check(group, context.theme.mode.value)
        menus.add(section, self.tr("&Larger text"), self._enlarge_text, Key.ZoomIn, "Ctrl+=")
        menus.add(section, self.tr("S&maller text"), self._reduce_text, Key.ZoomOut)
        menus.add(section, self.tr("N&ormal text"), self._reset_text, "Ctrl+0")

    def _set_mode(self, mode: str) -> None:
        self.context.theme.set_mode(ThemeMode(mode))
        self.context.preferences.change(theme=mode)

    @Slot()
    def _enlarge_text(self) -> None:
        self._set_text_scale(self.context.theme.text_scale * _TEXT_STEP)

    @Slot()
    def _reduce_text(self) -> None:
        self._set_text_scale(self.context.theme.text_scale / _TEXT_STEP)

    @Slot()
    def _reset_text(self) -> None:
        self._set_text_scale(1.0)

    def _set_text_scale(self, scale: float) -> None:
        theme = self.context.theme
        theme.set_text_scale(round(scale, 2))
        self.context.preferences.change(text_scale=theme.text_scale)
