"""The line of the API in the status bar: its state and address, and which plants programs added last."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QStyle, QWidget
from typing_extensions import override

from plantdesk.domain.records import Changes, now_ms
from plantdesk.domain.server_state import Failed, NoOpenStoreError, Off, On, PortTakenError, ServerState, Starting
from plantdesk.domain.texts import Text, shortened
from plantdesk.ui.qt import fill
from plantdesk.ui.texts import ago, error_text, one_line, quoted, translated
from plantdesk.ui.theme.metrics import L, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.buttons import CopyButton
from plantdesk.ui.widgets.painting import Icon
from plantdesk.ui.widgets.plain_text import PlainLabel, announce, set_tool_tip

_TICK = 1000
#: The shortest time between two announcements of plants to screen readers, in milliseconds.
_ANNOUNCED_MS = 5000
#: The count of a program's plants restarts after a pause of so many milliseconds, as in the Activity.
_RUN_MS = 60_000


class ApiStatus(QWidget):
    """Shows the states that it is given; its buttons only emit signals.

    Until a program has a token, only the state is shown: a quiet button, whose tooltip is the address.
    """

    turn_on_requested = Signal()
    access_requested = Signal()
    activity_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, announced_ms: int = _ANNOUNCED_MS) -> None:
        """Announce plants of programs at most every `announced_ms` milliseconds."""
        super().__init__(parent)
        self._theme = theme
        self._state: ServerState = Off()
        self._has_tokens = False
        self._is_store_reached = True
        self._last: tuple[str, int] | None = None  # a text, and when the newest plant was added
        self._announced: tuple[str, int] | None = None
        self._quiet = QTimer(self, singleShot=True, interval=announced_ms)
        self._known_word: str | None = None
        self._runs: dict[str, tuple[int, int]] = {}  # by label: plants added without a long pause, and when
        self._icon = Icon(theme)
        self._word = QPushButton()
        self._word.setProperty("variant", "quiet")
        self._address = PlainLabel()
        self._address.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._address.setMinimumWidth(1)  # if there is no room for it, it is hidden
        self._copy_button = CopyButton(theme, self.tr("Copy the address"), name=self.tr("Copy the address of the API"))
        self._turn_on_button = QPushButton()
        self._turn_on_button.setProperty("small", "true")
        self._activity = QPushButton()
        self._activity.setProperty("variant", "quiet")
        self._activity.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._activity.hide()
        self._dot = PlainLabel("", tone="muted")
        self._tick = QTimer(self, interval=_TICK)
        self._lay_out()
        self._connect()
        self.show_server(Off())
        self._known_word = None

    @property
    def text(self) -> str:
        """What the line says of the server."""
        return f"{self._state_text(self._state)} {self._address.text()}".rstrip()

    @Slot(object)
    def show_server(self, state: ServerState) -> None:
        """Show what the server is doing; screen readers speak each later state, not the first one."""
        self._state = state
        no_store = isinstance(state, Failed) and isinstance(state.error, NoOpenStoreError)
        on = isinstance(state, On)
        self._word.setText(self._state_text(state).replace("&", "&&"))
        failed = ("circle-alert", "warning") if isinstance(state, Failed) else ("circle", "muted")
        works = ("circle-check", "ok") if self._is_store_reached else ("clock", "warning")
        icon, tone = works if on else failed
        self._icon.show_icon(icon, "text_2" if tone == "muted" else tone)
        self._address.setText(f"{state.url}/plants" if isinstance(state, On) else "")
        set_tool_tip(self._word, self._address.text())
        self._copy_button.set_content(self._address.text())
        self._turn_on_button.setVisible(isinstance(state, Off | Failed) and not no_store)
        self._turn_on_button.setText(self.tr("Turn on") if isinstance(state, Off) else self.tr("Try again"))
        self._show_address()
        if not isinstance(state, Starting):
            self._announce_change(self._state_text(state))

    def _announce_change(self, word: str) -> None:
        if self._known_word not in {None, word}:
            announce(self, word)
        self._known_word = word

    def show_reachable(self, *, is_reachable: bool, reason: str) -> None:
        """Show whether plants of programs can be saved now, and if not, why they get 503 and retry later."""
        self._is_store_reached = is_reachable
        self.show_server(self._state)
        if not is_reachable:
            set_tool_tip(self._word, self.tr("{reason} Requests get 503.").format(reason=reason))

    def show_tokens(self, *, any_there: bool) -> None:
        """Show the address if programs may use it."""
        self._has_tokens = any_there
        self._show_address()

    def show_changes(self, changes: Changes) -> None:
        """Show which plants programs added; those of the form are visible anyway."""
        foreign = [row for row in changes.added if row.source.kind == "token"]
        if not foreign:
            return
        for row in foreign:
            count, added_at = self._runs.get(row.source.label, (0, 0))
            is_same_run = abs(row.added_at - added_at) < _RUN_MS
            self._runs[row.source.label] = (count + 1 if is_same_run else 1, row.added_at)
        newest = foreign[-1]
        name, who = quoted(newest.name, 40), shortened(one_line(newest.source.label), 30)
        template = Text("{count:,} plants from {who}", one="{name} from {who}")
        text = translated(template.filled(count=self._runs[newest.source.label][0], name=name, who=who))
        self._last = (text, newest.added_at)
        self._tick.start()
        self._show_activity()
        if not self._quiet.isActive():
            self._announce_activity()

    @Slot()
    def _announce_activity(self) -> None:
        """Announce the plants that programs added last: the first at once, later ones after a pause."""
        if self._last is not None and self._last != self._announced:
            self._announced = self._last
            announce(self, self._last[0])
            self._quiet.start()

    @Slot()
    def focus_first(self) -> None:
        """Put the focus on the first button of the line."""
        self._word.setFocus(Qt.FocusReason.ShortcutFocusReason)

    @Slot()
    def copy_address(self) -> None:
        """Copy the address to the clipboard and confirm it for a moment."""
        if isinstance(self._state, On):
            self._copy_button.copy()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_address()
        self._show_activity()

    def _connect(self) -> None:
        self._tick.timeout.connect(self._show_activity)
        self._quiet.timeout.connect(self._announce_activity)
        self._turn_on_button.clicked.connect(self.turn_on_requested)
        self._word.clicked.connect(self.access_requested)
        self._activity.clicked.connect(self.activity_requested)

    def _lay_out(self) -> None:
        state = (self._icon, self._word, self._address, self._copy_button, self._turn_on_button)
        layout = fill(QHBoxLayout(self), *state, self._dot, (self._activity, 1), margins=0, spacing=S)
        layout.addStretch()
        self.setMinimumHeight(self._theme.metrics.control + 2)

    def _state_text(self, state: ServerState) -> str:
        if isinstance(state, On):
            return self.tr("API on") if self._is_store_reached else self.tr("API waits")
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
        """Show the address if there is room for all of it: it is also a tooltip, and the button copies it."""
        is_used = isinstance(self._state, On) and self._has_tokens
        self._copy_button.setVisible(is_used)
        needed = sum(each.sizeHint().width() + S for each in (self._icon, self._word, self._address, self._copy_button))
        self._address.setVisible(is_used and self.width() >= needed)

    @Slot()
    def _show_activity(self) -> None:
        if self._last is None:
            return
        text, added_at = self._last
        whole = self.tr("{what}, {ago}").format(what=text, ago=ago(added_at, now_ms()))
        self._activity.setAccessibleName(self.tr("Activity: {what}").format(what=whole))
        set_tool_tip(self._activity, whole)
        self._activity.show()
        self._dot.setText("·")
        layout = self.layout()
        if layout is not None:
            layout.activate()  # if the token's button was hidden just now, there is more room
        metrics = self._activity.fontMetrics()
        self._activity.setMaximumWidth(metrics.horizontalAdvance(whole) + 2 * L)
        place = QStyle.visualRect(self.layoutDirection(), self.rect(), self._activity.geometry())
        room = self.width() - place.x() - L
        self._activity.setText(metrics.elidedText(whole, Qt.TextElideMode.ElideRight, room).replace("&", "&&"))
