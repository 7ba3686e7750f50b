"""The dialog that asks for a tag: of the selected plants, of a new one below another, and where a branch is moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from plantdesk.domain.errors import InvalidPlantError
from plantdesk.domain.tags import entered
from plantdesk.ui.qt import fill
from plantdesk.ui.texts import error_text, tag_text
from plantdesk.ui.theme.metrics import XL, XXL, L, S
from plantdesk.ui.widgets.dialog import START_ROLE, ButtonRole, Dialog
from plantdesk.ui.widgets.fields import LineEdit, TagCompleter
from plantdesk.ui.widgets.messages import MessageLine, Tone
from plantdesk.ui.widgets.plain_text import PlainLabel

if TYPE_CHECKING:
    from PySide6.QtCore import QStringListModel

    from plantdesk.ui.theme.theme import Theme

_WIDTH = 420


class TagDialog(Dialog):
    """`chosen(tag)`: the user has entered a valid tag; None: no tag.

    `becomes` returns the tag that a text stands for, which is shown then; an empty tag cannot be chosen.
    """

    chosen = Signal(object)

    def __init__(
        self,
        theme: Theme,
        texts: tuple[str, str, str],
        tags: QStringListModel,
        parent: QWidget | None = None,
        becomes: Callable[[str], str] | None = None,
    ) -> None:
        """`texts` are the title, the label of the field and the button; `tags` are offered as completions."""
        title, label, button = texts
        super().__init__(title, parent)
        self._becomes = becomes
        self._edit = LineEdit()
        self._edit.setCompleter(TagCompleter(tags, self))
        self._message = MessageLine(theme)
        self._label = PlainLabel(label, buddy=self._edit)
        self._button = self.buttons.addButton(button, ButtonRole.AcceptRole)
        self._button.setProperty("variant", "primary")
        self._button.clicked.connect(self._on_accepted)
        self.buttons.addButton(self.tr("Cancel"), ButtonRole.RejectRole)
        self._edit.textChanged.connect(self._on_text_changed)
        self._edit.returnPressed.connect(self._button.click)  # nothing while there is no tag
        self._on_text_changed()
        margins = (XXL, XL, XXL, XL)
        fill(QVBoxLayout(self), self._label, self._edit, self._message, L, self.buttons, margins=margins, spacing=S)
        self.setMinimumWidth(_WIDTH)
        self._edit.setFocus()

    def add_removal(self, text: str) -> None:
        """Add a button for no tag."""
        self.buttons.addButton(text, START_ROLE).clicked.connect(self._on_removed)

    def _tag(self) -> str:
        text = entered(self._edit.text())
        return text if self._becomes is None else self._becomes(text)

    @Slot()
    def _on_text_changed(self) -> None:
        tag = self._tag()
        self._button.setEnabled(bool(tag))
        if tag and self._becomes is not None:
            self._message.show_message(Tone.HINT, self.tr("Becomes {tag}").format(tag=tag_text(tag)))
        else:
            self._message.clear()

    @Slot()
    def _on_removed(self) -> None:
        self.chosen.emit(None)
        self.accept()

    @Slot()
    def _on_accepted(self) -> None:
        from plantdesk.domain.validation import plant_fields

        tag = self._tag()
        try:
            plant_fields({"name": "", "tag": tag})
        except InvalidPlantError as error:
            self._message.show_message(Tone.ERROR, error_text(error))
        else:
            self.chosen.emit(tag)
            self.accept()
