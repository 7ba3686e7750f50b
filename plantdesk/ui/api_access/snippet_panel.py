"""Commands for scripts, one tab a language, each to be copied with one click."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from plantdesk.ui.api_access.snippets import Language, snippet
from plantdesk.ui.qt import add_layout
from plantdesk.ui.theme.metrics import S
from plantdesk.ui.widgets.buttons import CopyButton
from plantdesk.ui.widgets.fields import ComboBox
from plantdesk.ui.widgets.plain_text import TextView

if TYPE_CHECKING:
    from plantdesk.ui.theme.theme import Theme

_LINES = 6


class SnippetPanel(QWidget):
    """Shows the command for an address, the next free id, and the file of the token that was saved last."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._address = ""
        self._plant_id = 1
        self._token_file: str | None = None
        self._languages = ComboBox(self.tr("Language of the example"))
        for language in Language:
            self._languages.addItem(language.value)
        self._text = TextView(self.tr("Example command"))
        self._text.setFont(theme.metrics.fixed_font())
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._text.setFixedHeight(self._text.fontMetrics().lineSpacing() * _LINES + 32)
        self._copy_button = CopyButton(theme, self.tr("Copy &example"))
        self._lay_out()
        self._languages.currentIndexChanged.connect(self._show_snippet)

    @property
    def text(self) -> str:
        """The command that is shown."""
        return self._text.toPlainText()

    def set_example(self, address: str, plant_id: int) -> None:
        """Put the server's address and an id that is free into the commands."""
        self._address, self._plant_id = address, plant_id
        self._show_snippet()

    @Slot(str)
    def set_token_file(self, file: str) -> None:
        """Let the commands read the token from `file`."""
        self._token_file = file
        self._show_snippet()

    @Slot()
    def _show_snippet(self) -> None:
        text = snippet(list(Language)[self._languages.currentIndex()], self._address, self._plant_id, self._token_file)
        self._text.setPlainText(text)
        self._copy_button.set_content(text)

    def _lay_out(self) -> None:
        header = QHBoxLayout()
        header.setSpacing(S)
        header.addWidget(self._languages)
        header.addStretch(1)
        header.addWidget(self._copy_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(S)
        add_layout(layout, header)
        layout.addWidget(self._text)
