"""The panel of tokens: create (shown once), list, revoke."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QDir, QLocale, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from plantdesk.atomic_replace import write_private
from plantdesk.errors import PlantDeskError, shortened
from plantdesk.ui.texts import ago, date, error_text, now_ms, one_line
from plantdesk.ui.theme.metrics import L, M, S
from plantdesk.ui.widgets.copy_button import CopyButton
from plantdesk.ui.widgets.message_box import MessageBox
from plantdesk.ui.widgets.message_line import MessageLine, Tone
from plantdesk.ui.widgets.plain_label import PlainLabel
from plantdesk.ui.widgets.plain_table import PlainTable
from plantdesk.ui.widgets.secret_edit import SecretEdit

if TYPE_CHECKING:
    from plantdesk.records import TokenRow
    from plantdesk.store import NewToken, TokenStore
    from plantdesk.ui.background import Task
    from plantdesk.ui.bridge import Bridge
    from plantdesk.ui.theme.theme import Theme

_DAY_MS = 86_400_000
_LIFETIMES = (None, 30, 90, 365)


class _TokenFileError(PlantDeskError):
    """The file for a token cannot be written."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error.strerror or str(error))


class TokenPanel(QWidget):
    """Works on the tokens of one store; `token_saved` carries the file that a new token was saved to."""

    token_saved = Signal(str)

    def __init__(self, theme: Theme, bridge: Bridge, tokens: TokenStore, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._bridge = bridge
        self._tokens = tokens
        self._rows: list[TokenRow] = []
        self._new_name = ""
        self._new_title = PlainLabel(role="strong", wrapped=True)
        self._new_edit = SecretEdit(self.tr("New token"))
        self._copy_button = CopyButton(theme, self.tr("Copy token"), primary=True, secret=True)
        self._save_button = QPushButton(self.tr("Save to file…"))
        self._new_card = self._make_card()
        self._new_card.hide()
        self._table = self._make_table()
        self._name_edit = QLineEdit(maxLength=100)
        self._name_edit.setPlaceholderText(self.tr("For example: greenhouse"))
        self._lifetime_box = self._make_lifetimes()
        self._create_button = QPushButton(self.tr("&Create token"))
        self._revoke_button = QPushButton(self.tr("&Revoke…"))
        for button in (self._create_button, self._revoke_button, self._save_button):
            button.setAutoDefault(False)
        self._message = MessageLine(theme)
        self._lay_out()
        self._create_button.clicked.connect(self.create_token)
        self._name_edit.returnPressed.connect(self.create_token)
        self._revoke_button.clicked.connect(self.revoke_selected)
        self._save_button.clicked.connect(self._on_save)
        self._table.itemSelectionChanged.connect(self._on_selection)
        self._on_selection()

    @Slot()
    def focus_name(self) -> None:
        """Put the cursor into the name of a new token."""
        self._name_edit.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def refresh(self) -> None:
        """Read the list again."""
        self._bridge.short_tasks.ask(self, lambda _task: self._tokens.list(), self._on_listed, self._on_failed)

    @Slot()
    def create_token(self) -> None:
        """Make a token of the name in the field."""
        days = self._lifetime_box.currentData()
        expires_at = None if days is None else now_ms() + days * _DAY_MS
        made = self._tokens.create(self._name_edit.text(), expires_at)
        self._bridge.follow(self, made, self._on_made, self._on_failed)

    @Slot()
    def revoke_selected(self) -> None:
        """Revoke the token of the selected row, if the user confirms it."""
        name = self._selected()
        if name is None:
            return
        text = self.tr("Revoke “{name}”?").format(name=one_line(name))
        details = self.tr("Programs that use it can no longer add plants.")
        box = MessageBox(self._theme, self.tr("Revoke a token"), text, details, self)
        box.set_icon("key-round", "warning")
        box.add_button(self.tr("Revoke")).clicked.connect(partial(self._revoke, name))
        box.add_button(self.tr("Cancel"))
        box.open()

    def save_token(self, file: Path) -> None:
        """Write the token that is shown to a file that only its owner may read."""
        token = self._new_edit.text()

        def write(_task: Task) -> None:
            try:
                write_private(file, token + "\n")
            except OSError as error:
                raise _TokenFileError(error) from error

        self._bridge.long_tasks.ask(self, write, partial(self._on_saved, file), self._on_not_saved)

    # --- results ---

    def _on_made(self, made: NewToken) -> None:
        self._new_name = made.row.name
        self._new_title.setText(self.tr("New token for “{name}”").format(name=one_line(made.row.name)))
        self._new_edit.setText(made.token)
        self._new_edit.setCursorPosition(0)
        self._copy_button.set_content(made.token)
        self._new_card.show()
        self._copy_button.setFocus()
        self._name_edit.clear()
        self._message.show_message(Tone.HINT, "")
        self.refresh()

    @Slot()
    def _on_save(self) -> None:
        suggested = Path(QDir.homePath()) / f"{shortened(self._new_name).replace('/', '_')}.token"
        name, _ = QFileDialog.getSaveFileName(self, self.tr("Save the token"), str(suggested))
        if name:
            self.save_token(Path(name))

    def _on_saved(self, file: Path, _nothing: None) -> None:
        text = self.tr("Saved to “{file}”, readable for you alone. The examples read it.")
        self._message.show_message(Tone.OK, text.format(file=shortened(file.name)))
        self.token_saved.emit(str(file))

    def _on_not_saved(self, error: Exception) -> None:
        text = self.tr("The token was not saved: {reason}. Choose another file.")
        self._message.show_message(Tone.ERROR, text.format(reason=error_text(error)))

    def _revoke(self, name: str) -> None:
        self._bridge.follow(self, self._tokens.revoke(name), self._on_revoked, self._on_failed)

    def _on_revoked(self, _nothing: None) -> None:
        self._new_card.hide()
        self.refresh()

    def _on_listed(self, rows: list[TokenRow]) -> None:
        selected = self._selected()
        self._rows = rows
        self._table.show_rows([self._texts(row) for row in rows])
        for place, row in enumerate(rows):
            if row.name == selected:
                self._table.selectRow(place)
        self._on_selection()

    def _on_failed(self, error: Exception) -> None:
        self._message.show_message(Tone.ERROR, error_text(error))
        self._name_edit.setFocus()

    # --- inside ---

    def _texts(self, row: TokenRow) -> tuple[str, ...]:
        now = now_ms()
        used = self.tr("never") if row.last_used_at is None else ago(row.last_used_at, now)
        if row.expires_at is None:
            expires = self.tr("never")
        else:
            expires = self.tr("expired") if row.expired(now) else date(row.expires_at)
        created = ago(row.created_at, now)
        return one_line(row.name), created, used, QLocale().toString(row.plants_added), expires

    def _selected(self) -> str | None:
        row = self._table.selected_row
        return self._rows[row].name if row is not None else None

    @Slot()
    def _on_selection(self) -> None:
        self._revoke_button.setEnabled(self._selected() is not None)

    def _make_card(self) -> QFrame:
        card = QFrame()
        card.setProperty("card", "true")
        text = self.tr("Copy or save it now. PlantDesk keeps only a fingerprint and cannot show it again.")
        warning = PlainLabel(text, tone="muted", wrapped=True)
        row = QHBoxLayout()
        row.setSpacing(S)
        row.addWidget(self._copy_button)
        row.addWidget(self._save_button)
        row.addStretch(1)
        layout = QVBoxLayout(card)
        layout.setContentsMargins(L, M, L, M)
        layout.setSpacing(S)
        layout.addWidget(self._new_title)
        layout.addWidget(warning)
        layout.addWidget(self._new_edit)
        layout.addLayout(row)
        return card

    def _make_table(self) -> PlainTable:
        heads = (self.tr("Name"), self.tr("Created"), self.tr("Last used"), self.tr("Plants added"), self.tr("Expires"))
        return PlainTable(self._theme, self.tr("Tokens"), heads)

    def _make_lifetimes(self) -> QComboBox:
        box = QComboBox()
        box.setAccessibleName(self.tr("When the new token expires"))
        for days in _LIFETIMES:
            text = self.tr("Never expires") if days is None else self.tr("Expires in {n} days").format(n=days)
            box.addItem(text, days)
        return box

    def _lay_out(self) -> None:
        label = PlainLabel(self.tr("&Name for a new token"))
        label.setBuddy(self._name_edit)
        row = QHBoxLayout()
        row.setSpacing(S)
        row.addWidget(self._name_edit, 1)
        row.addWidget(self._lifetime_box)
        row.addWidget(self._create_button)
        row.addWidget(self._revoke_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(S)
        layout.addWidget(label)
        layout.addLayout(row)
        layout.addWidget(self._message)
        layout.addWidget(self._new_card)
        layout.addWidget(self._table.framed(), 1)
