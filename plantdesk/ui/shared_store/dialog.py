"""The dialog of a shared store: address and user, a test with four outcomes, setup commands, desk files."""

from __future__ import annotations

from collections.abc import Callable
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
from plantdesk.ui.shared_store.outcomes import Outcomes, PasswordField, Setup, row
from plantdesk.ui.texts import error_text
from plantdesk.ui.theme.metrics import EDGE, L, M, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.buttons import OneClickButton
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
from plantdesk.ui.widgets.fields import ComboBox, LineEdit, labelled
from plantdesk.ui.widgets.messages import MessageLine, Tone
from plantdesk.ui.widgets.plain_text import PlainLabel, announce

#: For text of 13 px.
_WIDTH, _PORT_WIDTH = 640, 96
#: Matches the hosts and ports of one server, or of several.
_PORTS = QRegularExpression("[0-9]{0,5}(,[0-9]{0,5})*")
#: The values of `sslmode` in the order of the choices.
_MODES = ("verify-full", "require", "disable")
#: The parameters of an address that have a field of their own.
_SHOWN = {"sslmode", "host", "port", "user", "dbname", "application_name"}
#: Lines of text for which the dialog has room in the reason of a failed test; a longer one is scrolled.
_REASON_LINES = 2


class SharedStoreDialog(Dialog):
    """Asks for an address and tests it. Nothing is opened or created before the user presses the button for it.

    `open_requested(location, create)`: open this store; `create`: create its tables, as there are none.
    """

    open_requested = Signal(object, bool)

    def __init__(
        self,
        theme: Theme,
        bridge: Bridge,
        preferences: Preferences,
        location: PostgresLocation | None,
        parent: QWidget | None,
    ) -> None:
        """Show the fields, filled with an address."""
        super().__init__(self.tr("Shared store"), parent)
        self._theme, self._bridge, self._preferences = theme, bridge, preferences
        self._task: Task | None = None
        self._tested: ConnectionProbe | None = None
        self._parameters: tuple[tuple[str, str], ...] = ()
        self._is_mode_chosen = False
        self._make_fields(theme)
        self._test_button = self._button(self.tr("&Test"), self._test)
        self._tested_label = PlainLabel(tone="muted")
        self._outcomes = Outcomes(theme)
        self._setup = Setup(theme)
        self._setup_header = CollapsibleHeader(theme, self.tr("For the administrator"), self._setup)
        self._setup_header.set_remark(self.tr("what to run once on the server"))
        self._message = MessageLine(theme)
        self._file_button = self.buttons.addButton(self.tr("&Save a file for other computers…"), START_ROLE)
        self._open_button = self.add_primary(self.tr("&Open this store"), self._open)
        self.buttons.addButton(self.tr("Cancel"), ButtonRole.RejectRole)
        self._lay_out()
        self._connect()
        self._computer.setText(preferences.settings.computer_name)
        if location is not None:
            self._fill(location)
        self._forget()
        fields = (field for field in (self._host, self._user) if not field.text())
        self._focus(next(fields, self._password))

    # --- the fields ---

    def _make_fields(self, theme: Theme) -> None:
        fields = (LineEdit(self, max_length=1000) for _ in range(5))
        self._host, self._port, self._database, self._user, self._computer = fields
        self._computer.setPlaceholderText(QSysInfo.machineHostName())
        self._password = PasswordField(theme, self)
        self._port.setPlaceholderText("5432")
        self._port.setValidator(QRegularExpressionValidator(_PORTS, self))
        self._password.setPlaceholderText(self.tr("From .pgpass or the keyring"))
        self._mode = ComboBox(self.tr("Encryption"))
        encrypted = self.tr("Encrypted, certificate checked"), self.tr("Encrypted, certificate not checked")
        self._mode.addItems([*encrypted, self.tr("Not encrypted")])
        self._keep = QCheckBox(self.tr("&Keep the password in the keyring"))
        self._keep.setChecked(True)
        self._warning = PlainLabel(
            self.tr("Names and the password can be read on the network."), tone="warning", wrapped=True
        )

    def _fill(self, address: PostgresLocation) -> None:
        """Show an address; what has no field of its own is kept."""
        given = address.conninfo
        self._password.setText(dict(address.secrets).get("password", ""))
        mode = dict(address.parameters).get("sslmode", "")
        shown = _SHOWN if mode in {"", *_MODES} else _SHOWN - {"sslmode"}
        self._parameters = tuple(each for each in address.parameters if each[0] not in shown)
        for field, name in ((self._host, "host"), (self._port, "port"), (self._user, "user")):
            field.setText(given.get(name, ""))
        self._database.setText(given.get("dbname", ""))
        self._computer.setText(dict(address.parameters).get("application_name", "") or self._computer.text())
        self._is_mode_chosen = mode in _MODES
        self._mode.setCurrentIndex(_MODES.index(mode) if mode in _MODES else self._default_mode())
        self._forget()  # parameters without a field may have changed

    def _focus(self, field: QLineEdit) -> None:
        """Let the next letter replace the text of a field."""
        field.setFocus()
        field.selectAll()

    def _default_mode(self) -> int:
        return 2 if is_loopback(self._host.text()) and self._host.text() else 0

    @property
    def _location(self) -> PostgresLocation:
        """The location in the fields, with the password. Raises StoreUnreachableError."""
        hosts, port = self._host.text().strip(), self._port.text().strip()
        named = [("host", hosts), ("port", port)] if "/" in hosts or "," in hosts else []
        chosen = _MODES[self._mode.currentIndex()]
        parameters = [(name, value) for name, value in named if value]
        if self._mode.currentIndex() != self._default_mode():
            parameters.append(("sslmode", chosen))
        if name := self._computer.text().strip():
            parameters.append(("application_name", name))
        place = ""
        if not named:
            host = f"[{hosts}]" if hosts.count(":") > 1 else hosts
            place = f"{host}:{port}" if port else host
        location = PostgresLocation(
            self._user.text().strip(), place, self._database.text().strip(), (*parameters, *self._parameters)
        )
        return location.with_password(self._password.text())

    @Slot()
    def _on_host_edited(self) -> None:
        """Propose the encryption that fits the host."""
        if not self._is_mode_chosen:
            self._mode.setCurrentIndex(self._default_mode())

    @Slot()
    def _divide_address(self) -> bool:
        """Fill all fields with a whole address that was typed or pasted; return False if it cannot be parsed."""
        text = self._host.text().strip()
        if "://" not in text and "@" not in text:
            return True
        try:
            self._fill(PostgresLocation.parse(text))
        except StoreUnreachableError as error:
            self._message.show_message(Tone.ERROR, error_text(error))
            return False
        return True

    @Slot()
    def _on_mode_chosen(self) -> None:
        self._is_mode_chosen = True
        self._parameters = tuple(each for each in self._parameters if each[0] != "sslmode")
        self._forget()

    @Slot()
    def _forget(self) -> None:
        """Show the address as untested: a field has changed."""
        if self._task is not None:
            self._stop()
        self._tested = None
        self._tested_label.clear()
        self._message.show_message(Tone.HINT, "")
        self._outcomes.show_untried()
        self._setup.show_address(self._location, "")
        is_open = self._mode.currentIndex() == len(_MODES) - 1
        self._warning.setVisible(is_open and not is_loopback(self._host.text().strip()))
        self._show_buttons()

    def _show_buttons(self) -> None:
        found = self._tested
        is_good = found is not None and found.failed is None
        self._open_button.setEnabled(is_good)
        self._file_button.setEnabled(is_good)
        if self._task is not None:
            self._test_button.setText(self.tr("Stop"))
        else:
            self._test_button.setText(self.tr("&Test") if found is None else self.tr("&Test again"))
        self._test_button.setEnabled(bool(self._host.text().strip() or self._parameters))

    # --- the test ---

    @Slot()
    def _test(self) -> None:
        """Sign in once, or stop waiting for an earlier attempt."""
        if self._task is not None:
            self._stop()
            self._forget()
            return
        if not self._divide_address():
            return
        self._forget()
        location = self._location
        self._tested_label.setText(self.tr("Testing…"))
        self._task = self._bridge.long_tasks.ask(
            self, lambda _task: location.probe(), partial(self._on_tested, location), self._on_failed
        )
        self._show_buttons()

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _on_tested(self, location: PostgresLocation, found: ConnectionProbe) -> None:
        self._task, self._tested = None, found
        now = QLocale().toString(QTime.currentTime(), QLocale.FormatType.ShortFormat)
        self._tested_label.setText(self.tr("Tested at {time}").format(time=now))
        self._outcomes.show_probe(found, location)
        if found.error is not None:
            client = str(found.error.text.values.get("client", ""))
            self._setup.show_address(location, client)
            if found.needs_administrator:
                self._setup_header.set_open(is_open=True)
            announce(self, error_text(found.error))
        self._show_buttons()
        if found.failed is ConnectionStage.SIGN_IN:
            self._focus(self._password)
        else:
            (self._open_button if found.failed is None else self._test_button).setFocus()
        self._area.ensureWidgetVisible(self._outcomes)

    def _on_failed(self, error: Exception) -> None:
        self._task = None
        self._forget()
        self._message.show_message(Tone.ERROR, error_text(error))

    # --- the buttons ---

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self._fit()  # all texts have their fonts only now

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Enter in a field test the address, or open the store that was tested."""
        if event.key() in ENTER_KEYS and isinstance(self.focusWidget(), QLineEdit | ComboBox):
            (self._open_button if self._open_button.isEnabled() else self._test_button).click()
        else:
            super().keyPressEvent(event)

    @Slot()
    def _open(self) -> None:
        """Save the password if the user wants it, then open the store."""
        location = self._location
        password = self._password.text()
        if not password or not self._keep.isChecked():
            self._request(location)
            return
        self.setEnabled(False)
        account = location.account
        self._bridge.long_tasks.ask(
            self,
            lambda _task: save_password(account, password),
            lambda _none: self._request(location),
            self._on_not_kept,
        )

    def _on_not_kept(self, error: Exception) -> None:
        """Report that the password was not saved; opening the store again does not try it once more."""
        self.setEnabled(True)
        self._keep.setChecked(False)
        self._message.show_message(Tone.WARNING, error_text(error))
        self._fit()
        self._open_button.setFocus()

    def _request(self, location: PostgresLocation) -> None:
        found = self._tested
        self._preferences.change(computer_name=self._computer.text().strip())
        self.accept()
        self.open_requested.emit(location, found is not None and found.plants is None)

    @Slot()
    def _save_file(self) -> None:
        """Save a file that opens the store on other desks. It contains no user and no password."""
        location = self._location
        start = str(documents_folder() / f"{location.name}{DESK_FILE_SUFFIX}")
        name = FileDialog.file_to_save(self, self.tr("Save a file for other computers"), start, self._filter())
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
        if not is_loopback(self._host.text().strip()):
            self._message.show_message(Tone.OK, text)
            return
        other = self.tr("Other computers cannot use it: this address is each computer itself. Enter the server’s name.")
        self._message.show_message(Tone.WARNING, f"{text} {other}")
        self._fit()

    @Slot()
    def _open_file(self) -> None:
        """Fill the fields with the content of a desk file."""
        name = FileDialog.file_to_open(
            self, self.tr("Open the file of a shared store"), str(documents_folder()), self._filter()
        )
        if name:
            self.use_file(Path(name))

    def use_file(self, file: Path) -> None:
        """Fill the fields with the content of a desk file; the user stays."""
        try:
            location = PostgresLocation.of_file(file)
        except PlantDeskError as error:
            self._message.show_message(Tone.ERROR, error_text(error))
            return
        user = location.user or self._user.text()
        self._fill(location.with_user(user))
        self._user.setFocus()

    def _filter(self) -> str:
        return self.tr("Shared stores (*{suffix})").format(suffix=DESK_FILE_SUFFIX)

    # --- inside ---

    def _connect(self) -> None:
        self._host.textEdited.connect(self._on_host_edited)
        self._host.editingFinished.connect(self._divide_address)
        for field in (self._host, self._port, self._database, self._computer, self._user, self._password):
            field.textChanged.connect(self._forget)
        self._mode.activated.connect(self._on_mode_chosen)
        self._mode.currentIndexChanged.connect(self._forget)
        self._setup_header.toggled.connect(self._fit)
        self._file_button.clicked.connect(self._save_file)

    def _button(self, text: str, slot: Callable[[], object]) -> OneClickButton:
        button = OneClickButton(text)
        button.clicked.connect(slot)
        return button

    def _lay_out(self) -> None:
        about = PlainLabel(
            self.tr(
                "Several computers keep the same plants in one PostgreSQL database. "
                "Its administrator knows what to enter here."
            ),
            tone="muted",
            wrapped=True,
        )
        from_file = self._button(self.tr("Open its &file…"), self._open_file)
        test = fill(QHBoxLayout(), self._test_button, self._tested_label, STRETCH, spacing=M)
        content = QWidget()
        intro = fill(QHBoxLayout(), (about, 1), (from_file, Qt.AlignmentFlag.AlignTop), spacing=L)
        parts = (self._outcomes, self._setup_header, self._setup, STRETCH)
        fill(QVBoxLayout(content), intro, self._grid(), test, *parts, margins=(EDGE, L, EDGE, S), spacing=M)
        self._content = content
        footer = fill(QVBoxLayout(), self._message, self.buttons, margins=(EDGE, 0, EDGE, L), spacing=S)
        self._area = ScrollArea(content, horizontal=False)
        fill(QVBoxLayout(self), (self._area, 1), footer, margins=0, spacing=0)

    def _grid(self) -> QWidget:
        """Return the fields, two in a row, each under its label."""
        self._port.setFixedWidth(self._theme.metrics.scaled(_PORT_WIDTH))
        address = row(labelled(self.tr("&Address"), self._host), labelled(self.tr("Po&rt"), self._port), wide=True)
        computer = labelled(self.tr("&Name of this computer in the history"), self._computer)
        names = row(labelled(self.tr("&Database"), self._database), computer)
        secret = row(labelled(self.tr("&User"), self._user), labelled(self.tr("Pass&word"), self._password))
        keeping = QWidget()
        self._keep.setMinimumHeight(self._theme.metrics.control)
        fill(QVBoxLayout(keeping), STRETCH, self._keep, margins=0)
        connection = row(labelled(self.tr("&Encryption"), self._mode), keeping)
        grid = QWidget()
        fill(QVBoxLayout(grid), address, names, secret, connection, self._warning, margins=0, spacing=M)
        return grid

    @Slot()
    def _fit(self) -> None:
        """Be as high as the content and the reason of a failed test, so that nothing moves with a test."""
        layout, footer = self._content.layout(), self.layout()
        if layout is None or footer is None:
            return
        activate_layouts(self)
        self._area.setMinimumHeight(0)
        width = self._theme.metrics.scaled(_WIDTH)
        height = needed_height(layout, width) + footer.sizeHint().height() - self._area.sizeHint().height()
        self.resize_to_fit(QSize(width, height + _REASON_LINES * self.fontMetrics().lineSpacing()))
