"""The dialog that copies the whole store to a new file or an empty database."""

from __future__ import annotations

import re
from urllib.parse import unquote

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton

from plantdesk.domain.copying import Copied
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.locations import StoreLocation, copy_store
from plantdesk.domain.texts import Text
from plantdesk.platform.paths import home_folder
from plantdesk.store import PostgresLocation, location_of
from plantdesk.ui.background import Task
from plantdesk.ui.feature import WindowContext
from plantdesk.ui.qt import fill
from plantdesk.ui.shared_store.outcomes import PasswordField, place_side_by_side
from plantdesk.ui.texts import error_text, one_line, translated
from plantdesk.ui.theme.metrics import M
from plantdesk.ui.widgets.dialog import ButtonRole, Dialog, FileDialog
from plantdesk.ui.widgets.fields import LineEdit, with_label
from plantdesk.ui.widgets.messages import MessageLine, Tone
from plantdesk.ui.widgets.plain_text import PlainLabel

#: For text of 13 px.
_WIDTH = 560
_SERVER_ADDRESS = re.compile("postgres(ql)?://", re.IGNORECASE)
#: Matches an address up to the end of its password.
_UP_TO_PASSWORD = re.compile("(?P<scheme>postgres(?:ql)?://)(?P<user>[^:@/?#]*):(?P<password>[^@/?#]*)@", re.IGNORECASE)
_MAX_LENGTH = 2000


class CopyDialog(Dialog):
    """Copies the store in the background. Closing the dialog cancels that and removes the incomplete copy."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(self.tr("Copy store"), context.page)
        self._context = context
        self._source = context.location
        self._folder = context.location.folder or home_folder()
        self._task: Task | None = None
        self._target_edit = LineEdit(max_length=_MAX_LENGTH)
        self._target_edit.setPlaceholderText("postgresql://host/database")
        self._user_edit = LineEdit(max_length=_MAX_LENGTH)
        self._password_edit = PasswordField(context.theme, self)
        self._file_button = QPushButton(self.tr("&New file…"))
        self._message = MessageLine(context.theme)
        self._copy_button = self.add_primary(self.tr("&Copy"), self._copy)
        self.buttons.addButton(self.tr("Cancel"), ButtonRole.RejectRole)
        self._lay_out()
        self._target_edit.textChanged.connect(self._on_edited)
        self._target_edit.returnPressed.connect(self._copy)
        self._file_button.clicked.connect(self._choose_file)
        self._on_edited()

    def _lay_out(self) -> None:
        about = self.tr(
            "Copies all plants with notes, tags, history and tokens, and compares both at the end. The copy is a new "
            "file, or an empty database on a PostgreSQL server."
        )
        label = PlainLabel(self.tr("Copy “{name}” to").format(name=one_line(self._source.name)), role="strong")
        self._target_edit.setAccessibleName(label.text())
        target = fill(QHBoxLayout(), (self._target_edit, 1), self._file_button, spacing=M)
        account = place_side_by_side(
            with_label(self.tr("&User"), self._user_edit), with_label(self.tr("&Password"), self._password_edit)
        )
        texts = PlainLabel(about, tone="muted", wrapped=True)
        self.arrange(texts, label, target, account, self._message)
        self.fit_height(self._context.theme.metrics.scaled(_WIDTH))

    @Slot()
    def _on_edited(self) -> None:
        """Move user and password from a typed address to their fields; enable what the target needs."""
        text = self._target_edit.text().strip()
        match = _UP_TO_PASSWORD.match(text)
        if match is not None:  # the field would show the password in clear text
            self._user_edit.setText(unquote(match["user"]))
            self._password_edit.setText(unquote(match["password"]))
            self._target_edit.setText(match["scheme"] + text[match.end() :])
            return
        for field in (self._user_edit, self._password_edit):
            field.setEnabled(bool(_SERVER_ADDRESS.match(text)) and self._task is None)
        self._copy_button.setEnabled(bool(self._target_edit.text().strip()) and self._task is None)
        self._message.clear()

    @Slot()
    def _choose_file(self) -> None:
        name = FileDialog.get_save_file(
            self,
            self.tr("Name a new file"),
            str(self._folder / self.tr("copy.db")),
            self.tr("Plant stores (*.db)"),
            replaces=False,
        )
        if name:
            self._target_edit.setText(name)

    @Slot()
    def _copy(self) -> None:
        """Copy the store in the background, and show the progress, unless the target is invalid."""
        text = self._target_edit.text().strip()
        if not text or self._task is not None:
            return
        try:
            target = self._parse_target(text)
        except PlantDeskError as error:
            self._on_failed(error)
            return

        def copy(task: Task) -> tuple[StoreLocation, Copied]:
            return target, copy_store(self._source, target, task.report_or_raise)

        self._task = self._context.bridge.long_tasks.run(
            self, copy, self._on_copied, self._on_failed, progress=self._on_progress
        )
        self.finished.connect(self._task.cancel)
        self._set_busy(busy=True)
        self._on_progress(0.0)

    def _parse_target(self, text: str) -> StoreLocation:
        """Return the location of a database, or of a file in this folder. Raises PlantDeskError."""
        target = location_of(text)
        if not isinstance(target, PostgresLocation):
            return location_of(self._folder / text)
        if user := self._user_edit.text().strip():
            target = target.with_user(user)
        if password := self._password_edit.text():
            target = target.with_password(password)
        return target

    def _on_progress(self, fraction: float) -> None:
        self._message.show_message(Tone.HINT, self.tr("Copying… {percent} %").format(percent=int(fraction * 100)))

    def _on_copied(self, result: tuple[StoreLocation, Copied]) -> None:
        target, copied = result
        preferences = self._context.preferences
        preferences.change_store(target.key, searches=preferences.of_store(self._source.key).get("searches", []))
        template = Text("Copied {count:,} plants to {target}.", one="Copied 1 plant to {target}.")
        text = translated(template.filled(count=copied.rows["plant"], target=one_line(target.url)))
        self._context.page.toast.show_message(text)
        self.accept()

    def _on_failed(self, error: Exception) -> None:
        self._set_busy(busy=False)
        self._message.show_message(Tone.ERROR, error_text(error))
        self.fit_height(self.width())

    def _set_busy(self, *, busy: bool) -> None:
        if not busy:
            self._task = None
        for field in (self._target_edit, self._user_edit, self._password_edit):
            field.setReadOnly(busy)
        self._target_edit.setFocus()  # or a held Enter presses Cancel, which gets the focus of the disabled button
        self._file_button.setEnabled(not busy)
        self._copy_button.setEnabled(not busy)
