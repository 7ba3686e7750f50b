"""The panel that creates, lists and revokes API tokens. The store keeps fingerprints, so a new token is shown once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QDir, QLocale, QModelIndex, QPoint, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QMenu, QPushButton, QVBoxLayout, QWidget

from plantdesk.domain.edits import Applied
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.protocols import TokenStore
from plantdesk.domain.records import FORM, NewToken, TokenRow, now_ms
from plantdesk.domain.texts import Text, shortened
from plantdesk.transfer.files import open_target
from plantdesk.ui.background import Task
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.qt import fill, set_properties
from plantdesk.ui.texts import age_text, clock_time, error_text, long_time, one_line, short_date, translated
from plantdesk.ui.theme.metrics import L, M, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.buttons import CloseButton, CopyButton
from plantdesk.ui.widgets.dialog import ButtonRole, FileDialog, MessageBox
from plantdesk.ui.widgets.fields import ComboBox, LineEdit, SecretEdit
from plantdesk.ui.widgets.messages import MessageLine, Tone
from plantdesk.ui.widgets.plain_table import Cell, PlainTable
from plantdesk.ui.widgets.plain_text import PlainLabel

_DAY_MS = 86_400_000
_AGE_INTERVAL_MS = 1000
_LIFETIME_DAYS = (None, 30, 90, 365)
_MAX_ROWS = 6
_PLANTS_COLUMN = 3
_MENU_COLUMN = 4


class TokenPanel(QWidget):
    """The list of the API tokens of a store, with fields that create a token and a menu that revokes one."""

    #: (file) A new token was saved to a file.
    token_saved = Signal(str)
    #: (applied) Plants were deleted together with their token.
    plants_removed = Signal(object)

    def __init__(self, theme: Theme, bridge: Bridge, tokens: TokenStore, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._bridge = bridge
        self._tokens = tokens
        self._rows: list[TokenRow] = []
        self._new_name = ""
        self._is_creating = False
        self._new_edit = SecretEdit(theme, self.tr("New token"))
        self._new_title = PlainLabel(role="strong", wrapped=True, buddy=self._new_edit)
        self._copy_button = CopyButton(theme, self.tr("Copy token"), primary=True, secret=True)
        self._save_button = QPushButton(self.tr("Save to &file…"))
        self._new_card = self._make_new_card()
        self._new_card.hide()
        self._table = self._make_table()
        self._card = self._table.make_frame()
        self._card.hide()
        text = self.tr("No tokens yet. A program needs one to add plants.")
        self._empty_label = PlainLabel(text, tone="muted", wrapped=True)
        self._name_edit = LineEdit(max_length=100)
        self._name_edit.setPlaceholderText(self.tr("Name for a new token, such as greenhouse"))
        self._name_edit.setAccessibleName(self.tr("Name for a new token"))
        self._empty_label.setBuddy(self._name_edit)
        self._lifetime_box = self._make_lifetime_box()
        self._create_button = QPushButton(self.tr("&Create token"))
        self._message = MessageLine(theme)
        self._message.hide()
        self._lay_out()
        self._connect()
        self._update_primary_button()

    def _connect(self) -> None:
        self._create_button.clicked.connect(self.create_token)
        self._name_edit.returnPressed.connect(self.create_token)
        self._save_button.clicked.connect(self._choose_file)
        self._table.menu_requested.connect(self._open_menu)
        self._table.clicked.connect(self._on_clicked)
        delete = QShortcut(QKeySequence(QKeySequence.StandardKey.Delete), self._table)
        delete.setContext(Qt.ShortcutContext.WidgetShortcut)
        delete.activated.connect(self.revoke_selected)
        self._age_timer = QTimer(self, interval=_AGE_INTERVAL_MS)
        self._age_timer.timeout.connect(self._update_ages)
        self._age_timer.start()

    @Slot()
    def focus_name(self) -> None:
        """Move the focus to the field for the name of a new token."""
        self._name_edit.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def refresh(self) -> None:
        """Read the tokens again on `window-worker`, and show them."""
        self._bridge.short_tasks.run(self, lambda _task: self._tokens.list(), self._on_listed, self._on_failed)

    @Slot()
    def create_token(self) -> None:
        """Create a token with the typed name and lifetime, unless a token is being created."""
        if self._is_creating:
            return
        self._is_creating = True
        days = self._lifetime_box.currentData()
        expires_at = None if days is None else now_ms() + days * _DAY_MS
        created = self._tokens.create(self._name_edit.text(), expires_at)
        self._bridge.follow(self, created, self._on_created, self._on_not_created)

    @Slot()
    def revoke_selected(self) -> None:
        """Revoke the token of the selected row, if the user confirms it."""
        details = self.tr("Programs that use it can no longer add plants.")
        self._ask_to_revoke(self.tr("Revoke “{name}”?"), details, self.tr("Revoke"), self._revoke)

    @Slot()
    def revoke_and_remove(self) -> None:
        """Revoke the token of the selected row and delete its plants, if the user confirms it."""
        row = self._selected_row()
        if row is not None:
            template = Text(
                "All plants that it added are deleted as well: {count:,} by now. That can be undone.",
                one="All plants that it added are deleted as well: 1 by now. That can be undone.",
            )
            details = translated(template.filled(count=row.plants_added))
            question = self.tr("Revoke “{name}” and delete its plants?")
            self._ask_to_revoke(question, details, self.tr("Revoke and delete"), self._revoke_and_remove)

    def save_token(self, file: Path) -> None:
        """Write the new token, on another thread, to a file that only its owner may read."""
        token = self._new_edit.text()

        def write(_task: Task) -> None:
            try:
                with open_target(file) as stream:
                    stream.write(f"{token}\n".encode())
            except OSError as error:
                reason = f"{error.strerror or error}."
                raise PlantDeskError(Text("{reason} Choose another file."), reason=reason) from error

        self._bridge.long_tasks.run(self, write, partial(self._on_saved, file), self._on_not_saved)

    def _on_not_created(self, error: Exception) -> None:
        self._is_creating = False
        self._on_failed(error)

    def _on_created(self, new: NewToken) -> None:
        self._is_creating = False
        self._new_name = new.row.name
        self._new_title.setText(self.tr("New token for “{name}”").format(name=one_line(new.row.name)))
        self._new_edit.setText(new.token)
        self._new_edit.setCursorPosition(0)
        self._copy_button.set_content(new.token)
        self._new_card.show()
        self._update_primary_button()
        self._copy_button.setFocus()
        self._name_edit.clear()
        self._show_message(Tone.HINT, "")
        self.refresh()

    @Slot()
    def _choose_file(self) -> None:
        suggested = Path(QDir.homePath()) / f"{shortened(self._new_name).replace('/', '_')}.token"
        name = FileDialog.get_save_file(self, self.tr("Save the token"), str(suggested))
        if name:
            self.save_token(Path(name))

    def _on_saved(self, file: Path, _nothing: None) -> None:
        text = self.tr("Saved to “{file}”, readable for you alone. The examples read it.")
        self._show_message(Tone.OK, text.format(file=shortened(file.name)))
        self.token_saved.emit(str(file))

    def _on_not_saved(self, error: Exception) -> None:
        text = self.tr("The token was not saved: {reason}")
        self._show_message(Tone.ERROR, text.format(reason=error_text(error)))

    def _ask_to_revoke(self, question: str, details: str, label: str, revoke: Callable[[str], None]) -> None:
        row = self._selected_row()
        if row is None:
            return
        text = question.format(name=one_line(row.name))
        box = MessageBox(self._theme, self.tr("Revoke a token"), text, details, self)
        box.set_icon("key-round", "warning")
        box.add_button(label).clicked.connect(partial(revoke, row.name))
        box.add_button(self.tr("Cancel"), ButtonRole.RejectRole)
        box.open()

    def _revoke_and_remove(self, name: str) -> None:
        removing = self._tokens.revoke_and_remove_plants(name, FORM)
        self._bridge.follow(self, removing, self._on_removed, self._on_failed)

    def _on_removed(self, applied: Applied) -> None:
        self.plants_removed.emit(applied)
        self._on_revoked(None)

    def _revoke(self, name: str) -> None:
        self._bridge.follow(self, self._tokens.revoke(name), self._on_revoked, self._on_failed)

    def _on_revoked(self, _nothing: None) -> None:
        self._close_new_card()
        self.refresh()

    @Slot()
    def _close_new_card(self) -> None:
        if not self._new_card.isHidden():
            if self._new_card.isAncestorOf(self.focusWidget()):
                self.focus_name()
            self._new_card.hide()
            self._new_edit.clear()
            self._update_primary_button()

    @Slot()
    def _update_ages(self) -> None:
        if self.isVisible():
            self._show_rows()

    def _show_rows(self) -> None:
        self._table.show_rows([self._make_cells(row) for row in self._rows], [row.name for row in self._rows])

    def _on_listed(self, rows: list[TokenRow]) -> None:
        self._rows = rows
        self._show_rows()
        if any(row.name == self._new_name and row.last_used_at is not None for row in rows):
            self._close_new_card()  # the program has it
        self._card.setVisible(bool(rows))
        self._empty_label.setVisible(not rows)

    def _on_failed(self, error: Exception) -> None:
        self._show_message(Tone.ERROR, error_text(error))
        self._name_edit.setFocus()

    def _make_cells(self, row: TokenRow) -> list[Cell]:
        """Return the cells of a token, times relative to now."""
        now = now_ms()
        used = self.tr("never") if row.last_used_at is None else age_text(row.last_used_at, now)
        if row.expires_at is None:
            expires = self.tr("never")
        else:
            expires = short_date(row.expires_at)
            if row.expires_at - now < 2 * _DAY_MS:
                expires = f"{expires}, {clock_time(row.expires_at)}"
            if row.is_expired(now):
                expires = self.tr("expired")
        plants = QLocale().toString(row.plants_added)
        if row.max_plants is not None:
            most = QLocale().toString(row.max_plants)
            plants = self.tr("{plants} of {most}").format(plants=plants, most=most)
        times = ((used, row.last_used_at), (expires, row.expires_at))
        created = self.tr("{name}, created {time}").format(name=row.name, time=long_time(row.created_at))
        return [
            Cell(one_line(row.name), created),
            *(Cell(text, "" if timestamp is None else long_time(timestamp)) for text, timestamp in times),
            Cell(plants),
            Cell("", self.tr("Menu of this token"), ("ellipsis", "muted")),
        ]

    def _selected_row(self) -> TokenRow | None:
        row = self._table.selected_row
        return None if row is None else self._rows[row]

    @Slot(QModelIndex)
    def _on_clicked(self, index: QModelIndex) -> None:
        if index.column() == _MENU_COLUMN:
            self._open_menu(self._table.viewport().mapToGlobal(self._table.visualRect(index).bottomLeft()))

    @Slot(QPoint)
    def _open_menu(self, position: QPoint) -> None:
        row = self._selected_row()
        if row is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("&Revoke…")).triggered.connect(self.revoke_selected)
        if row.plants_added:
            menu.addAction(self.tr("Revoke and &delete its plants…")).triggered.connect(self.revoke_and_remove)
        menu.popup(position)

    def _show_message(self, tone: Tone, text: str) -> None:
        self._message.setVisible(bool(text))
        self._message.show_message(tone, text)

    def _update_primary_button(self) -> None:
        """Make Copy the primary button while a new token is shown, else Create."""
        set_properties(self._create_button, variant="" if not self._new_card.isHidden() else "primary")

    def _make_new_card(self) -> QFrame:
        card = QFrame()
        card.setProperty("card", "true")
        text = self.tr("Copy or save it now. PlantDesk keeps only a fingerprint and cannot show it again.")
        warning = PlainLabel(text, tone="muted", wrapped=True)
        row = fill(QHBoxLayout(), (self._new_edit, 1), self._copy_button, spacing=S)
        clipboard_note = self.tr("A copied token leaves the clipboard after 60 seconds.")
        bottom = fill(QHBoxLayout(), (PlainLabel(clipboard_note, role="detail", wrapped=True), 1), self._save_button)
        close_button = CloseButton(self._theme, self.tr("Close the new token"))
        close_button.clicked.connect(self._close_new_card)
        header = fill(QHBoxLayout(), (self._new_title, 1), close_button)
        fill(QVBoxLayout(card), header, warning, row, bottom, margins=(L, M, L, M), spacing=S - 2)
        return card

    def _make_table(self) -> PlainTable:
        headings = (
            self.tr("Token"),
            self.tr("Last used"),
            self.tr("Expires"),
            self.tr("Plants added"),
            "",
        )
        return PlainTable(self._theme, self.tr("Tokens"), headings, numbers=[_PLANTS_COLUMN], max_rows=_MAX_ROWS)

    def _make_lifetime_box(self) -> QComboBox:
        box = ComboBox(self.tr("When the new token expires"))
        for days in _LIFETIME_DAYS:
            text = self.tr("Never expires") if days is None else self.tr("Expires in {n} days").format(n=days)
            box.addItem(text, days)
        return box

    def _lay_out(self) -> None:
        row = fill(QHBoxLayout(), (self._name_edit, 1), self._lifetime_box, self._create_button, spacing=S)
        fill(QVBoxLayout(self), self._new_card, self._card, self._empty_label, row, self._message, margins=0, spacing=S)
        #: The row of a new token's fields.
        self.entry_row = row
