"""The results of the test of a shared store, the setup commands for its administrator, and a password field."""

from __future__ import annotations

from PySide6.QtCore import QLocale, Qt, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from plantdesk.domain.locations import ConnectionProbe, ConnectionStage
from plantdesk.domain.texts import plants_text
from plantdesk.store import PostgresLocation
from plantdesk.ui.qt import fill, set_properties
from plantdesk.ui.texts import error_text, translated
from plantdesk.ui.theme.metrics import XS, M, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.buttons import CopyButton
from plantdesk.ui.widgets.fields import ButtonField
from plantdesk.ui.widgets.painting import Icon
from plantdesk.ui.widgets.plain_text import PlainLabel


class ProbeResults(QFrame):
    """The results of the four stages of a connection test, each as a line, also before the test."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setProperty("card", "true")
        self._lines = {stage: _StageLine(theme) for stage in ConnectionStage}
        fill(QVBoxLayout(self), *self._lines.values(), margins=(M + 2, S, M + 2, S), spacing=S)

    def show_untried(self) -> None:
        """Show all stages as not tried."""
        for stage, line in self._lines.items():
            line.show_state("circle", "muted", self._stage_name(stage), self.tr("not tried"))

    def show_probe(self, probe: ConnectionProbe, location: PostgresLocation) -> None:
        """Show the stages that passed and the reason of the failed one; later stages stay untried."""
        self.show_untried()
        for stage, line in self._lines.items():
            if stage is probe.failed and probe.error is not None:
                line.show_state("circle-x", "error", self._stage_name(stage), "", error_text(probe.error))
                break
            line.show_state("circle-check", "ok", *self._ok_texts(stage, probe, location))

    def _stage_name(self, stage: ConnectionStage) -> str:
        return {
            ConnectionStage.SERVER: self.tr("The server answers"),
            ConnectionStage.ENCRYPTION: self.tr("Encrypted"),
            ConnectionStage.SIGN_IN: self.tr("Signed in"),
            ConnectionStage.PLANTS: self.tr("Plants"),
        }[stage]

    def _ok_texts(self, stage: ConnectionStage, probe: ConnectionProbe, location: PostgresLocation) -> tuple[str, str]:
        """Return title and details of a stage that has passed."""
        if stage is ConnectionStage.SERVER:
            return self._stage_name(stage), self._server_text(probe)
        if stage is ConnectionStage.ENCRYPTION:
            return self._encryption_texts(probe, location)
        if stage is ConnectionStage.SIGN_IN:
            user = self.tr("Signed in as {user}").format(user=location.user)
            return (user if location.user else self._stage_name(stage)), self._rights_text(probe)
        if probe.plants is None:
            return self.tr("The database is empty"), self.tr("Opening makes it a store.")
        details = self._desks_text(probe) if probe.refusal is None else error_text(probe.refusal)
        return translated(plants_text(probe.plants)), details

    def _server_text(self, probe: ConnectionProbe) -> str:
        if not probe.server:
            return ""
        template = self.tr("PostgreSQL {version}, {milliseconds} ms away")
        time = QLocale().toString(max(1, round(probe.milliseconds)))
        return template.format(version=probe.server.split(" ")[0], milliseconds=time)

    def _encryption_texts(self, probe: ConnectionProbe, location: PostgresLocation) -> tuple[str, str]:
        if not (probe.is_encrypted if probe.server else location.is_encrypted):
            return self.tr("Not encrypted"), self.tr("as chosen, or on this computer")
        is_checked = dict(location.parameters).get("sslmode", "verify-full").startswith("verify")
        details = self.tr("certificate checked") if is_checked else self.tr("certificate not checked")
        return self._stage_name(ConnectionStage.ENCRYPTION), details

    def _rights_text(self, probe: ConnectionProbe) -> str:
        if probe.plants is None:
            return ""
        if probe.can_change:
            return self.tr("may read, add and change")
        return self.tr("may read and add, but not change") if probe.can_add else self.tr("may read, but not add")

    def _desks_text(self, probe: ConnectionProbe) -> str:
        if not probe.desks:
            return ""
        return self.tr("used today by {desks}").format(desks=QLocale().createSeparatedList(list(probe.desks)))


class _StageLine(QWidget):
    """The line of one stage of the test: icon, title, details beside it, and below it the reason of a failure."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._icon = Icon(theme, "circle", "muted")
        self._title = PlainLabel(role="strong")
        self._details = PlainLabel(tone="muted", wrapped=True)
        self._reason = PlainLabel(wrapped=True)
        first = fill(QHBoxLayout(), self._title, (self._details, 1), spacing=M)
        texts = fill(QVBoxLayout(), first, self._reason, spacing=XS)
        fill(QHBoxLayout(self), (self._icon, Qt.AlignmentFlag.AlignTop), (texts, 1), margins=0, spacing=S + 2)

    def show_state(self, icon: str, tone: str, title: str, details: str, reason: str = "") -> None:
        """Show icon and texts of a stage; `reason` says why it failed, and what to do."""
        self._icon.show_icon(icon, tone)
        self._title.setText(title)
        set_properties(self._title, tone="error" if tone == "error" else "")
        self._details.setText(details)
        self._reason.setText(reason)
        self._reason.setVisible(bool(reason))


class SetupPanel(QWidget):
    """The setup commands for an administrator: SQL, and the line of pg_hba.conf. They contain no password."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._sql = _CodeBox(theme, "SQL", self.tr("Copy the SQL"))
        self._line = _CodeBox(theme, "pg_hba.conf", self.tr("Copy the line of pg_hba.conf"))
        fill(QVBoxLayout(self), self._sql, self._line, margins=0, spacing=S)

    def show_address(self, location: PostgresLocation, client: str) -> None:
        """Show the commands that create user and database, and admit the user from the address `client`."""
        self._sql.show_text(location.setup_sql())
        self._line.show_text(location.hba_line(client))


class _CodeBox(QFrame):
    def __init__(self, theme: Theme, kind: str, copy: str) -> None:
        super().__init__()
        self.setProperty("card", "inset")
        self._text = PlainLabel(wrapped=True)
        self._text.setFont(theme.metrics.fixed_font())
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._copy = CopyButton(theme, copy, name=copy)
        end = (PlainLabel(kind, tone="muted"), Qt.AlignmentFlag.AlignTop), (self._copy, Qt.AlignmentFlag.AlignTop)
        fill(QHBoxLayout(self), (self._text, 1), *end, margins=(M, S, S, S), spacing=M)

    def show_text(self, text: str) -> None:
        self._text.setText(text)
        self._copy.set_content(text)


class PasswordField(ButtonField):
    """A field for a password. It hides the typed text unless its button is checked."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, max_length=1000)
        self.setEchoMode(QLineEdit.EchoMode.Password)
        self.button.setCheckable(True)
        self.name_button(self.tr("Show the password"), self.tr("Show the password"))
        theme.icons.put_on(self.button, "eye", "muted")
        self.button.toggled.connect(self._on_toggled)

    @Slot(bool)
    def _on_toggled(self, is_shown: bool) -> None:
        self.setEchoMode(QLineEdit.EchoMode.Normal if is_shown else QLineEdit.EchoMode.Password)


def place_side_by_side(first: QWidget, second: QWidget, *, wide: bool = False) -> QWidget:
    """Return two labelled fields side by side, equally wide, or with the first one as `wide` as possible."""
    row = QWidget()
    fill(QHBoxLayout(row), (first, 1), second if wide else (second, 1), margins=0, spacing=M - 2)
    return row
