"""The field for the tag of a new plant, with a pin that keeps the tag for the next plant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot

from plantdesk.ui.qt import override, set_properties
from plantdesk.ui.widgets.button_field import ButtonField

if TYPE_CHECKING:
    from plantdesk.ui.theme.theme import Theme


class TagField(ButtonField):
    """A line edit with a pin. `pinned(on)`: the user has pressed it."""

    pinned = Signal(bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._is_filled = False
        self._filled_text = ""
        self.button.setCheckable(True)
        self.name_button(self.tr("Pin"), self.tr("Keep tag for the next plant"))
        self.button.toggled.connect(self._on_toggled)
        self.textEdited.connect(self._on_edited)
        self.setPlaceholderText(self.tr("Optional"))
        self._on_toggled(on=False)

    @property
    def is_pinned(self) -> bool:
        """Whether the tag is kept for the next plant."""
        return self.button.isChecked()

    @property
    def is_filled(self) -> bool:
        """Whether the tag was filled in, and not typed."""
        return self._is_filled

    def set_pinned(self, *, pinned: bool) -> None:
        """Press the pin, or release it."""
        self.button.setChecked(pinned)

    def fill(self, tag: str | None) -> None:
        """Show the tag that belongs to a name; None: no tag."""
        self.setText(tag or "")
        self._filled_text = tag or ""
        self._set_filled(filled=tag is not None)

    def take_fill(self) -> None:
        """Keep a tag that was filled in, as if it was typed."""
        self._set_filled(filled=False)

    def restore_fill(self) -> None:
        """Let a tag that was filled in and taken be replaced again with that of the next name."""
        self._set_filled(filled=bool(self._filled_text) and self._filled_text == self.text())

    @override
    def setText(self, text: str | None) -> None:
        super().setText(text)
        self._filled_text = ""
        self._set_filled(filled=False)

    def _set_filled(self, *, filled: bool) -> None:
        self._is_filled = filled
        set_properties(self, filled=str(filled).lower())

    @Slot(bool)
    def _on_toggled(self, on: bool) -> None:
        if on:
            self.take_fill()
            self._filled_text = ""
        self._theme.icons.put_on(self.button, "pin", "accent" if on else "text_2")
        self.pinned.emit(on)

    @Slot()
    def _on_edited(self) -> None:
        self._filled_text = ""
        self._set_filled(filled=False)
