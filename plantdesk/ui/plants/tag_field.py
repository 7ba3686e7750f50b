"""The field for the tag of a new plant, with a pin that keeps it, and the dialog for the tag of several plants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from plantdesk.domain.errors import InvalidPlantError, Text
from plantdesk.domain.validation import plant_fields
from plantdesk.ui.qt import fill, override, set_properties
from plantdesk.ui.texts import error_text, shown
from plantdesk.ui.theme.metrics import XL, XXL, L, S
from plantdesk.ui.widgets.dialog import START_ROLE, ButtonRole, Dialog
from plantdesk.ui.widgets.fields import ButtonField, LineEdit, tag_completer
from plantdesk.ui.widgets.messages import MessageLine, Tone
from plantdesk.ui.widgets.plain_text import PlainLabel

if TYPE_CHECKING:
    from PySide6.QtCore import QStringListModel

    from plantdesk.ui.theme.theme import Theme


class TagField(ButtonField):
    """A line edit with a pin. `pinned(on)`: the user has pressed it."""

    pinned = Signal(bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        #: Whether the tag was filled in, and not typed.
        self.is_filled = False
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
        self.is_filled = filled
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


_WIDTH = 420


class TagDialog(Dialog):
    """`chosen(tag)`: the plants are to have this tag; None: no tag."""

    chosen = Signal(object)

    def __init__(self, theme: Theme, count: int, tags: QStringListModel, parent: QWidget | None = None) -> None:
        """Ask for `count` plants; `tags` are offered as completions."""
        super().__init__(self.tr("Change tag"), parent)
        self._edit = LineEdit()
        self._edit.setCompleter(tag_completer(tags, self))
        self._message = MessageLine(theme)
        self._label = PlainLabel(
            shown(Text("Tag of {count:,} plants", one="Tag of 1 plant", count=count)), buddy=self._edit
        )
        change = shown(Text("&Change tag of {count:,} plants", one="&Change tag of 1 plant", count=count))
        self._button = self.buttons.addButton(change, ButtonRole.AcceptRole)
        self._button.setProperty("variant", "primary")
        self._button.setEnabled(False)
        self._button.clicked.connect(self._on_accepted)
        remove = shown(Text("&Remove tags of {count:,} plants", one="&Remove tag of 1 plant", count=count))
        self.buttons.addButton(remove, START_ROLE).clicked.connect(self._on_removed)
        self.buttons.addButton(self.tr("Cancel"), ButtonRole.RejectRole)
        self._edit.textChanged.connect(self._on_text_changed)
        self._edit.returnPressed.connect(self._button.click)  # nothing while it is empty
        self._lay_out()

    def _lay_out(self) -> None:
        fill(
            QVBoxLayout(self),
            self._label,
            self._edit,
            self._message,
            L,
            self.buttons,
            margins=(XXL, XL, XXL, XL),
            spacing=S,
        )
        self.setMinimumWidth(_WIDTH)
        self._edit.setFocus()

    @Slot(str)
    def _on_text_changed(self, text: str) -> None:
        self._message.clear()
        self._button.setEnabled(bool(text.strip()))

    @Slot()
    def _on_removed(self) -> None:
        self.chosen.emit(None)
        self.accept()

    @Slot()
    def _on_accepted(self) -> None:
        tag = self._edit.text().strip()
        try:
            plant_fields({"name": "", "tag": tag})
        except InvalidPlantError as error:
            self._message.show_message(Tone.ERROR, error_text(error))
        else:
            self.chosen.emit(tag)
            self.accept()
