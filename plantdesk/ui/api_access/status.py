"""The API part of the status bar: state and address of the server, and the plants that programs added last."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QStyle, QWidget
from typing_extensions import override

from plantdesk.domain.records import Changes, now_ms
from plantdesk.domain.server_state import Failed, NoOpenStoreError, Off, On, PortTakenError, ServerState, Starting
from plantdesk.domain.texts import Text, shortened
from plantdesk.ui.qt import fill
from plantdesk.ui.texts import age_text, error_text, one_line, quoted, translated
from plantdesk.ui.theme.metrics import L, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.buttons import CopyButton
from plantdesk.ui.widgets.painting import Icon
from plantdesk.ui.widgets.plain_text import PlainLabel, announce, set_tool_tip

_AGE_INTERVAL_MS = 1000
#: The shortest time between two announcements of plants to screen readers, in milliseconds.
_ANNOUNCE_MS = 5000
#: The pause in milliseconds after which the count of a program's plants restarts, as in the activity.
_SERIES_PAUSE_MS = 60_000


class _Series(NamedTuple):
    """The number of plants that a program added without a pause of a minute, and the time of the last one."""

    plants: int
    added_at: int


class ApiStatus(QWidget):
    """The API part of the status bar: state and address of the server, and the plants that programs added last."""

    #: The button of a server that is off was clicked.
    turn_on_requested = Signal()
    #: The button of the state was clicked: open the dialog.
    access_requested = Signal()
    #: The last plants were clicked: open the dialog at the requests.
    activity_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, announce_ms: int = _ANNOUNCE_MS) -> None:
        """Announce plants of programs at most every `announce_ms` milliseconds."""
        super().__init__(parent)
        self._theme = theme
        self._has_tokens = False
        self._is_store_reachable = True
        self._latest_text = ""
        self._latest_at = 0
        self._is_announced = True
        self._announce_pause = QTimer(self, singleShot=True, interval=announce_ms)
        self._known_state_text: str | None = None
        self._series: dict[str, _Series] = {}  # by the label of the token
        self._icon = Icon(theme)
        self._state_button = QPushButton()
        self._state_button.setProperty("variant", "quiet")
        self._address = PlainLabel()
        self._address.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._address.setMinimumWidth(1)  # if there is no room for it, it is hidden
        self._copy_button = CopyButton(theme, self.tr("Copy the address"), name=self.tr("Copy the address of the API"))
        self._turn_on_button = QPushButton()
        self._turn_on_button.setProperty("small", "true")
        self._activity_button = QPushButton()
        self._activity_button.setProperty("variant", "quiet")
        self._activity_button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._activity_button.hide()
        self._separator = PlainLabel("", tone="muted")
        self._age_timer = QTimer(self, interval=_AGE_INTERVAL_MS)
        self._lay_out()
        self._connect()
        self.show_server(Off())
        self._known_state_text = None

    @property
    def text(self) -> str:
        """The shown state and address; the address is empty unless the server is on."""
        return f"{self._state_text(self._state)} {self._address.text()}".rstrip()

    @Slot(object)
    def show_server(self, state: ServerState) -> None:
        """Show the state of the server; screen readers announce it when it changes."""
        self._state = state
        has_no_store = isinstance(state, Failed) and isinstance(state.error, NoOpenStoreError)
        is_on = isinstance(state, On)
        self._state_button.setText(self._state_text(state).replace("&", "&&"))
        failed = ("circle-alert", "warning") if isinstance(state, Failed) else ("circle", "muted")
        works = ("circle-check", "ok") if self._is_store_reachable else ("clock", "warning")
        icon, tone = works if is_on else failed
        self._icon.show_icon(icon, "muted" if tone == "muted" else tone)
        self._address.setText(f"{state.url}/plants" if isinstance(state, On) else "")
        set_tool_tip(self._state_button, self._address.text())
        self._copy_button.set_content(self._address.text())
        self._turn_on_button.setVisible(isinstance(state, Off | Failed) and not has_no_store)
        self._turn_on_button.setText(self.tr("Turn on") if isinstance(state, Off) else self.tr("Try again"))
        self._show_address()
        if not isinstance(state, Starting):
            self._announce_change(self._state_text(state))

    def _announce_change(self, state_text: str) -> None:
        if self._known_state_text not in {None, state_text}:
            announce(self, state_text)
        self._known_state_text = state_text

    def show_reachable(self, *, is_reachable: bool, reason: str) -> None:
        """Show whether the API server can save plants now; if not, it answers with 503 for `reason`."""
        self._is_store_reachable = is_reachable
        self.show_server(self._state)
        if not is_reachable:
            set_tool_tip(self._state_button, self.tr("{reason} Requests get 503.").format(reason=reason))

    def show_tokens(self, *, has_tokens: bool) -> None:
        """Show the address only if there are tokens: without one, no program can use it."""
        self._has_tokens = has_tokens
        self._show_address()

    def show_changes(self, changes: Changes) -> None:
        """Show the plants that programs have added, and announce them if the last time is long ago."""
        added = [row for row in changes.added if row.source.kind == "token"]
        if not added:
            return
        for row in added:
            series = self._series.get(row.source.label, _Series(0, 0))
            is_continued = abs(row.added_at - series.added_at) < _SERIES_PAUSE_MS
            self._series[row.source.label] = _Series(series.plants + 1 if is_continued else 1, row.added_at)
        newest = added[-1]
        name = quoted(newest.name, 40)
        program = shortened(one_line(newest.source.label), 30)
        template = Text("{count:,} plants from {who}", one="{name} from {who}")
        text = translated(template.filled(count=self._series[newest.source.label].plants, name=name, who=program))
        self._latest_text = text
        self._latest_at = newest.added_at
        self._is_announced = False
        self._age_timer.start()
        self._show_activity()
        if not self._announce_pause.isActive():
            self._announce_activity()

    @Slot()
    def _announce_activity(self) -> None:
        """Announce the last plants of programs to screen readers unless that was done; start the pause."""
        if not self._is_announced:
            self._is_announced = True
            announce(self, self._latest_text)
            self._announce_pause.start()

    @Slot()
    def focus_first(self) -> None:
        """Move the focus to the state button; F6 does this."""
        self._state_button.setFocus(Qt.FocusReason.ShortcutFocusReason)

    @Slot()
    def copy_address(self) -> None:
        """Copy the address to the clipboard, if the server is on."""
        if isinstance(self._state, On):
            self._copy_button.copy()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_address()
        self._show_activity()

    def _connect(self) -> None:
        self._age_timer.timeout.connect(self._show_activity)
        self._announce_pause.timeout.connect(self._announce_activity)
        self._turn_on_button.clicked.connect(self.turn_on_requested)
        self._state_button.clicked.connect(self.access_requested)
        self._activity_button.clicked.connect(self.activity_requested)

    def _lay_out(self) -> None:
        state = (self._icon, self._state_button, self._address, self._copy_button, self._turn_on_button)
        layout = fill(QHBoxLayout(self), *state, self._separator, (self._activity_button, 1), margins=0, spacing=S)
        layout.addStretch()
        self.setMinimumHeight(self._theme.metrics.control + 2)

    def _state_text(self, state: ServerState) -> str:
        if isinstance(state, On):
            return self.tr("API on") if self._is_store_reachable else self.tr("API waits")
        if isinstance(state, Starting):
            return self.tr("API starting…")
        if isinstance(state, Failed):
            if isinstance(state.error, PortTakenError):
                return self.tr("API off: port {port} is in use").format(port=state.port)
            if isinstance(state.error, NoOpenStoreError):
                return self.tr("API off: no plants are open")
            return self.tr("API off: {reason}").format(reason=error_text(state.error))
        return self.tr("API off")

    def _show_address(self) -> None:
        """Show the address if there are tokens, the server is on, and there is room for all of it."""
        is_used = isinstance(self._state, On) and self._has_tokens
        self._copy_button.setVisible(is_used)
        widgets = (self._icon, self._state_button, self._address, self._copy_button)
        needed = sum(widget.sizeHint().width() + S for widget in widgets)
        self._address.setVisible(is_used and self.width() >= needed)

    @Slot()
    def _show_activity(self) -> None:
        """Show the last plants of programs with their age, elided to the room that is left."""
        if not self._latest_text:
            return
        whole_text = self.tr("{what}, {ago}").format(what=self._latest_text, ago=age_text(self._latest_at, now_ms()))
        self._activity_button.setAccessibleName(self.tr("Activity: {what}").format(what=whole_text))
        set_tool_tip(self._activity_button, whole_text)
        self._activity_button.show()
        self._separator.setText("·")
        layout = self.layout()
        if layout is not None:
            layout.activate()  # if the token's button was hidden just now, there is more room
        metrics = self._activity_button.fontMetrics()
        self._activity_button.setMaximumWidth(metrics.horizontalAdvance(whole_text) + 2 * L)
        rect = QStyle.visualRect(self.layoutDirection(), self.rect(), self._activity_button.geometry())
        room = self.width() - rect.x() - L
        elided = metrics.elidedText(whole_text, Qt.TextElideMode.ElideRight, room)
        self._activity_button.setText(elided.replace("&", "&&"))
