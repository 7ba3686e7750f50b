"""The dialog of a shared store: its address, a test of the connection, setup commands and desk files."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QLocale, QRegularExpression, QSize, QSysInfo, Qt, QTime, Signal, Slot
from PySide6.QtGui import QKeyEvent, QRegularExpressionValidator, QShowEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget
from typing_extensions import override

from plantdesk.domain.errors import PlantDeskError, StoreUnreachableError
from plantdesk.domain.locations import ConnectionProbe, ConnectionStage, is_loopback
from plantdesk.platform.passwords import save_password
from plantdesk.store import DESK_FILE_SUFFIX, PostgresLocation
from plantdesk.transfer.files import open_target
from plantdesk.ui.background import Task
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.preferences import Preferences
from plantdesk.ui.qt import STRETCH, documents_folder, fill
from plantdesk.ui.shared_store.outcomes import PasswordField, ProbeResults, SetupPanel, place_side_by_side
from plantdesk.ui.texts import error_text
from plantdesk.ui.theme.metrics import EDGE, L, M, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.buttons import make_text_button
from plantdesk.ui.widgets.containers import CollapsibleHeader, ScrollArea
from plantdesk.ui.widgets.dialog import (
    ENTER_KEYS,
    START_ROLE,
    ButtonRole,
    Dialog,
    FileDialog,
    activate_layouts,
    needed_height,
)
from plantdesk.ui.widgets.fields import ComboBox, LineEdit, with_label
from plantdesk.ui.widgets.messages import MessageLine, Tone
from plantdesk.ui.widgets.plain_text import PlainLabel, announce

#: For text of 13 px.
_WIDTH = 640
_PORT_WIDTH = 96
#: Matches a port, or several separated by commas.
_PORTS_PATTERN = QRegularExpression("[0-9]{0,5}(,[0-9]{0,5})*")
#: The values of `sslmode` in the order of the choices.
_SSL_MODES = ("verify-full", "require", "disable")
#: The parameters of an address that have a field of their own.
_FIELD_PARAMETERS = {"sslmode", "host", "port", "user", "dbname", "application_name"}
#: Lines of text for which the dialog has room in the reason of a failed test; a longer one is scrolled.
_REASON_LINES = 2


class SharedStoreDialog(Dialog):
    """Asks for the address of a shared store, tests the connection, and requests to open the store."""

    #: (location, create) Open this store, or create its tables.
    open_requested = Signal(object, bool)

    def __init__(
        self,
        theme: Theme,
        bridge: Bridge,
        preferences: Preferences,
        location: PostgresLocation | None,
        parent: QWidget | None,
    ) -> None:
        """Fill the fields with `location`, the store that was used last; None: leave them empty."""
        super().__init__(self.tr("Shared store"), parent)
        self._theme = theme
        self._bridge = bridge
        self._preferences = preferences
        self._task: Task | None = None
        self._probe: ConnectionProbe | None = None
        self._parameters: tuple[tuple[str, str], ...] = ()
        self._is_mode_chosen = False
        self._make_fields(theme)
        self._test_button = make_text_button(self.tr("&Test"), self._start_or_stop_test)
        self._tested_label = PlainLabel(tone="muted")
        self._results = ProbeResults(theme)
        self._setup = SetupPanel(theme)
        self._setup_header = CollapsibleHeader(theme, self.tr("For the administrator"), self._setup)
        self._setup_header.set_remark(self.tr("what to run once on the server"))
        self._message = MessageLine(theme)
        self._file_button = self.buttons.addButton(self.tr("&Save a file for other computers…"), START_ROLE)
        self._open_button = self.add_primary(self.tr("&Open this store"), self._save_password_and_open)
        self.buttons.addButton(self.tr("Cancel"), ButtonRole.RejectRole)
        self._lay_out()
        self._connect()
        self._computer_edit.setText(preferences.settings.computer_name)
        if location is not None:
            self._show_location(location)
        self._mark_untested()
        fields = (field for field in (self._host_edit, self._user_edit) if not field.text())
        self._focus_and_select(next(fields, self._password_edit))

    def _make_fields(self, theme: Theme) -> None:
        fields = (LineEdit(self, max_length=1000) for _ in range(5))
        self._host_edit, self._port_edit, self._database_edit, self._user_edit, self._computer_edit = fields
        self._computer_edit.setPlaceholderText(QSysInfo.machineHostName())
        self._password_edit = PasswordField(theme, self)
        self._port_edit.setPlaceholderText("5432")
        self._port_edit.setValidator(QRegularExpressionValidator(_PORTS_PATTERN, self))
        self._password_edit.setPlaceholderText(self.tr("From .pgpass or the keyring"))
        self._mode_box = ComboBox(self.tr("Encryption"))
        encrypted = self.tr("Encrypted, certificate checked"), self.tr("Encrypted, certificate not checked")
        self._mode_box.addItems([*encrypted, self.tr("Not encrypted")])
        self._keep_check = QCheckBox(self.tr("&Keep the password in the keyring"))
        self._keep_check.setChecked(True)
        self._unencrypted_label = PlainLabel(
            self.tr("Names and the password can be read on the network."), tone="warning", wrapped=True
        )

    def _show_location(self, location: PostgresLocation) -> None:
        """Fill the fields with a location, and keep its parameters without a field."""
        conninfo = location.conninfo
        self._password_edit.setText(dict(location.secrets).get("password", ""))
        mode = dict(location.parameters).get("sslmode", "")
        shown_names = _FIELD_PARAMETERS if mode in {"", *_SSL_MODES} else _FIELD_PARAMETERS - {"sslmode"}
        self._parameters = tuple((name, value) for name, value in location.parameters if name not in shown_names)
        for field, name in ((self._host_edit, "host"), (self._port_edit, "port"), (self._user_edit, "user")):
            field.setText(conninfo.get(name, ""))
        self._database_edit.setText(conninfo.get("dbname", ""))
        self._computer_edit.setText(dict(location.parameters).get("application_name", "") or self._computer_edit.text())
        self._is_mode_chosen = mode in _SSL_MODES
        self._mode_box.setCurrentIndex(_SSL_MODES.index(mode) if mode in _SSL_MODES else self._find_default_mode())
        self._mark_untested()  # parameters without a field may have changed

    def _focus_and_select(self, field: QLineEdit) -> None:
        field.setFocus()
        field.selectAll()

    def _find_default_mode(self) -> int:
        return 2 if is_loopback(self._host_edit.text()) and self._host_edit.text() else 0

    @property
    def _location(self) -> PostgresLocation:
        """The location that the fields describe, with the password; it may be incomplete or wrong."""
        hosts = self._host_edit.text().strip()
        port = self._port_edit.text().strip()
        named = [("host", hosts), ("port", port)] if "/" in hosts or "," in hosts else []
        chosen = _SSL_MODES[self._mode_box.currentIndex()]
        parameters = [(name, value) for name, value in named if value]
        if self._mode_box.currentIndex() != self._find_default_mode():
            parameters.append(("sslmode", chosen))
        if name := self._computer_edit.text().strip():
            parameters.append(("application_name", name))
        address = ""
        if not named:
            host = f"[{hosts}]" if hosts.count(":") > 1 else hosts
            address = f"{host}:{port}" if port else host
        user = self._user_edit.text().strip()
        database = self._database_edit.text().strip()
        location = PostgresLocation(user, address, database, (*parameters, *self._parameters))
        return location.with_password(self._password_edit.text())

    @Slot()
    def _on_host_edited(self) -> None:
        """Choose the default encryption of the host, unless the user has chosen one."""
        if not self._is_mode_chosen:
            self._mode_box.setCurrentIndex(self._find_default_mode())

    @Slot()
    def _split_address(self) -> bool:
        """Distribute an address typed as host to all fields; return False if it is invalid."""
        text = self._host_edit.text().strip()
        if "://" not in text and "@" not in text:
            return True
        try:
            self._show_location(PostgresLocation.parse(text))
        except StoreUnreachableError as error:
            self._message.show_message(Tone.ERROR, error_text(error))
            return False
        return True

    @Slot()
    def _on_mode_chosen(self) -> None:
        self._is_mode_chosen = True
        self._parameters = tuple((name, value) for name, value in self._parameters if name != "sslmode")
        self._mark_untested()

    @Slot()
    def _mark_untested(self) -> None:
        """Forget the result of the test, as a field has changed, and cancel a running test."""
        if self._task is not None:
            self._cancel_test()
        self._probe = None
        self._tested_label.clear()
        self._message.show_message(Tone.HINT, "")
        self._results.show_untried()
        self._setup.show_address(self._location, "")
        is_unencrypted = self._mode_box.currentIndex() == len(_SSL_MODES) - 1
        self._unencrypted_label.setVisible(is_unencrypted and not is_loopback(self._host_edit.text().strip()))
        self._show_buttons()

    def _show_buttons(self) -> None:
        probe = self._probe
        is_good = probe is not None and probe.failed is None
        self._open_button.setEnabled(is_good)
        self._file_button.setEnabled(is_good)
        if self._task is not None:
            self._test_button.setText(self.tr("Stop"))
        else:
            self._test_button.setText(self.tr("&Test") if probe is None else self.tr("&Test again"))
        self._test_button.setEnabled(bool(self._host_edit.text().strip() or self._parameters))

    @Slot()
    def _start_or_stop_test(self) -> None:
        if self._task is not None:
            self._cancel_test()
            self._mark_untested()
            return
        if not self._split_address():
            return
        self._mark_untested()
        location = self._location
        self._tested_label.setText(self.tr("Testing…"))
        self._task = self._bridge.long_tasks.run(
            self, lambda _task: location.probe(), partial(self._on_probed, location), self._on_failed
        )
        self._show_buttons()

    def _cancel_test(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _on_probed(self, location: PostgresLocation, probe: ConnectionProbe) -> None:
        """Show the result of the test, and move the focus to what the user needs next."""
        self._task = None
        self._probe = probe
        now = QLocale().toString(QTime.currentTime(), QLocale.FormatType.ShortFormat)
        self._tested_label.setText(self.tr("Tested at {time}").format(time=now))
        self._results.show_probe(probe, location)
        if probe.error is not None:
            client = str(probe.error.text.values.get("client", ""))
            self._setup.show_address(location, client)
            if probe.needs_administrator:
                self._setup_header.set_expanded(is_expanded=True)
            announce(self, error_text(probe.error))
        self._show_buttons()
        if probe.failed is ConnectionStage.SIGN_IN:
            self._focus_and_select(self._password_edit)
        else:
            (self._open_button if probe.failed is None else self._test_button).setFocus()
        self._area.ensureWidgetVisible(self._results)

    def _on_failed(self, error: Exception) -> None:
        self._task = None
        self._mark_untested()
        self._message.show_message(Tone.ERROR, error_text(error))

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self._resize_to_content()  # all texts have their fonts only now

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Enter in a field test the address, or open the tested store."""
        if event.key() in ENTER_KEYS and isinstance(self.focusWidget(), QLineEdit | ComboBox):
            (self._open_button if self._open_button.isEnabled() else self._test_button).click()
        else:
            super().keyPressEvent(event)

    @Slot()
    def _save_password_and_open(self) -> None:
        """Save the password in the keyring if the box is checked, then request the store."""
        location = self._location
        password = self._password_edit.text()
        if not password or not self._keep_check.isChecked():
            self._request_store(location)
            return
        self.setEnabled(False)
        account = location.account
        self._bridge.long_tasks.run(
            self,
            lambda _task: save_password(account, password),
            lambda _none: self._request_store(location),
            self._on_not_kept,
        )

    def _on_not_kept(self, error: Exception) -> None:
        """Show why the password was not saved, and clear the check box."""
        self.setEnabled(True)
        self._keep_check.setChecked(False)
        self._message.show_message(Tone.WARNING, error_text(error))
        self._resize_to_content()
        self._open_button.setFocus()

    def _request_store(self, location: PostgresLocation) -> None:
        probe = self._probe
        self._preferences.change(computer_name=self._computer_edit.text().strip())
        self.accept()
        self.open_requested.emit(location, probe is not None and probe.plants is None)

    @Slot()
    def _save_file(self) -> None:
        """Save the address as a desk file, without user and password, for other computers."""
        location = self._location
        start = str(documents_folder() / f"{location.name}{DESK_FILE_SUFFIX}")
        title = self.tr("Save a file for other computers")
        name = FileDialog.get_save_file(self, title, start, self._make_file_filter())
        if not name:
            return
        file = Path(name) if name.endswith(DESK_FILE_SUFFIX) else Path(f"{name}{DESK_FILE_SUFFIX}")
        try:
            with open_target(file) as stream:
                stream.write(location.desk_file().encode())
        except (OSError, PlantDeskError) as error:
            text = self.tr("The file could not be saved: {reason}").format(reason=error_text(error))
            self._message.show_message(Tone.ERROR, text)
            return
        text = self.tr("Saved “{file}”. It holds no user and no password.").format(file=file.name)
        if not is_loopback(self._host_edit.text().strip()):
            self._message.show_message(Tone.OK, text)
            return
        hint = self.tr("Other computers cannot use it: this address is each computer itself. Enter the server’s name.")
        self._message.show_message(Tone.WARNING, f"{text} {hint}")
        self._resize_to_content()

    @Slot()
    def _open_file(self) -> None:
        name = FileDialog.get_open_file(
            self, self.tr("Open the file of a shared store"), str(documents_folder()), self._make_file_filter()
        )
        if name:
            self.use_file(Path(name))

    def use_file(self, file: Path) -> None:
        """Fill the fields from a desk file, the saved address of a store; a typed user stays."""
        try:
            location = PostgresLocation.of_file(file)
        except PlantDeskError as error:
            self._message.show_message(Tone.ERROR, error_text(error))
            return
        user = location.user or self._user_edit.text()
        self._show_location(location.with_user(user))
        self._user_edit.setFocus()

    def _make_file_filter(self) -> str:
        return self.tr("Shared stores (*{suffix})").format(suffix=DESK_FILE_SUFFIX)

    def _connect(self) -> None:
        self._host_edit.textEdited.connect(self._on_host_edited)
        self._host_edit.editingFinished.connect(self._split_address)
        for field in (
            self._host_edit,
            self._port_edit,
            self._database_edit,
            self._computer_edit,
            self._user_edit,
            self._password_edit,
        ):
            field.textChanged.connect(self._mark_untested)
        self._mode_box.activated.connect(self._on_mode_chosen)
        self._mode_box.currentIndexChanged.connect(self._mark_untested)
        self._setup_header.toggled.connect(self._resize_to_content)
        self._file_button.clicked.connect(self._save_file)

    def _lay_out(self) -> None:
        about = PlainLabel(
            self.tr(
                "Several computers keep the same plants in one PostgreSQL database. "
                "Its administrator knows what to enter here."
            ),
            tone="muted",
            wrapped=True,
        )
        from_file = make_text_button(self.tr("Open its &file…"), self._open_file)
        test = fill(QHBoxLayout(), self._test_button, self._tested_label, STRETCH, spacing=M)
        content = QWidget()
        intro = fill(QHBoxLayout(), (about, 1), (from_file, Qt.AlignmentFlag.AlignTop), spacing=L)
        parts = (self._results, self._setup_header, self._setup, STRETCH)
        fill(QVBoxLayout(content), intro, self._make_grid(), test, *parts, margins=(EDGE, L, EDGE, S), spacing=M)
        self._content = content
        footer = fill(QVBoxLayout(), self._message, self.buttons, margins=(EDGE, 0, EDGE, L), spacing=S)
        self._area = ScrollArea(content, horizontal=False)
        fill(QVBoxLayout(self), (self._area, 1), footer, margins=0, spacing=0)

    def _make_grid(self) -> QWidget:
        self._port_edit.setFixedWidth(self._theme.metrics.scaled(_PORT_WIDTH))
        address = place_side_by_side(
            with_label(self.tr("&Address"), self._host_edit), with_label(self.tr("Po&rt"), self._port_edit), wide=True
        )
        computer = with_label(self.tr("&Name of this computer in the history"), self._computer_edit)
        names = place_side_by_side(with_label(self.tr("&Database"), self._database_edit), computer)
        secret = place_side_by_side(
            with_label(self.tr("&User"), self._user_edit), with_label(self.tr("Pass&word"), self._password_edit)
        )
        keeping = QWidget()
        self._keep_check.setMinimumHeight(self._theme.metrics.control)
        fill(QVBoxLayout(keeping), STRETCH, self._keep_check, margins=0)
        connection = place_side_by_side(with_label(self.tr("&Encryption"), self._mode_box), keeping)
        grid = QWidget()
        fill(QVBoxLayout(grid), address, names, secret, connection, self._unencrypted_label, margins=0, spacing=M)
        return grid

    @Slot()
    def _resize_to_content(self) -> None:
        """Make room for the content and the reason of a failed test, so that no widget moves after a test."""
        layout = self._content.layout()
        footer = self.layout()
        if layout is None or footer is None:
            return
        activate_layouts(self)
        self._area.setMinimumHeight(0)
        width = self._theme.metrics.scaled(_WIDTH)
        height = needed_height(layout, width) + footer.sizeHint().height() - self._area.sizeHint().height()
        self.resize_to_fit(QSize(width, height + _REASON_LINES * self.fontMetrics().lineSpacing()))
