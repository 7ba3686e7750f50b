"""The API access dialog: server state, tokens, the last requests, and example commands that add a plant.

The commands read the token from a file: on the command line it would be in the shell's history and in the process list.
They use no proxy, as proxy variables would apply to the loopback address.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from enum import StrEnum
from functools import partial

from PySide6.QtCore import QEvent, QLocale, QPoint, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QMenu, QPlainTextEdit, QStackedWidget, QVBoxLayout, QWidget
from typing_extensions import override

from plantdesk import DEFAULT_PORT
from plantdesk.domain.activity import Activity, ActivityEntry
from plantdesk.domain.errors import ErrorNumber
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.server_state import Failed, On, ServerState, Starting
from plantdesk.domain.texts import Text
from plantdesk.ui.api_access.token_panel import TokenPanel
from plantdesk.ui.api_control import ApiControl
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.qt import STRETCH, fill
from plantdesk.ui.texts import error_text, exact_time, one_line, quoted, source_text, translated
from plantdesk.ui.theme.metrics import EDGE, L, M, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.buttons import CopyButton
from plantdesk.ui.widgets.containers import CollapsibleHeader, ScrollArea
from plantdesk.ui.widgets.dialog import ButtonRole, Dialog, needed_height
from plantdesk.ui.widgets.fields import ComboBox
from plantdesk.ui.widgets.messages import MessageAction, MessageLine, Tone
from plantdesk.ui.widgets.plain_table import Cell, PlainTable
from plantdesk.ui.widgets.plain_text import PlainLabel, TextView

#: The file that a snippet reads until the user saves a token to a file, and the command that creates it.
TOKEN_FILE = "plantdesk.token"  # noqa: S105  the name of a file
_MAKE_FILE = f"# once: plantdesk token create my-script --output {TOKEN_FILE}\n"
_VISIBLE_LINES = 6
_POLL_MS = 500
#: Visible rows of the table of requests.
_MAX_ROWS = 6
_TOKEN_ERRORS = frozenset({ErrorNumber.TOKEN_MISSING, ErrorNumber.TOKEN_REFUSED})
#: For text of 13 px.
_WIDTH = 680
#: The height of the screen in pixels, up to which the activity is initially collapsed.
_MIN_SCREEN_HEIGHT = 700


class Language(StrEnum):
    """The languages of the example commands; a value is the text of the choice in the combo box."""

    CURL = "curl"
    POWERSHELL = "PowerShell"
    PYTHON = "Python"


_SNIPPETS = {
    Language.CURL: """\
printf 'Authorization: Bearer %s' "$(cat @FILE@)" |
  curl --noproxy 127.0.0.1 -H @- -H "Content-Type: application/json" \\
    -d '{"id": @ID@, "name": "Aloe vera", "tag": "succulent"}' \\
    @ADDRESS@/plants
""",
    Language.POWERSHELL: """\
$token = (Get-Content -Raw -LiteralPath @FILE@).Trim()
Invoke-RestMethod @ADDRESS@/plants -Method Post `
  -Headers @{ Authorization = "Bearer $token" } `
  -ContentType "application/json; charset=utf-8" `
  -Body '{"id": @ID@, "name": "Aloe vera", "tag": "succulent"}'
""",
    Language.PYTHON: """\
import json
from pathlib import Path
from urllib.request import ProxyHandler, Request, build_opener

token = Path(@FILE@).read_text(encoding="utf-8").strip()
plant = {"id": @ID@, "name": "Aloe vera", "tag": "succulent"}
request = Request(
    "@ADDRESS@/plants",
    data=json.dumps(plant).encode(),
    headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
)
with build_opener(ProxyHandler({})).open(request) as answer:
    print(json.load(answer))
""",
}


def make_snippet(language: Language, address: str, plant_id: int, token_file: str | None = None) -> str:
    """Return a command that adds a plant at `address` (`http://127.0.0.1:PORT`) with the token in `token_file`."""
    filled = _SNIPPETS[language].replace("@ADDRESS@", address).replace("@ID@", str(plant_id))
    filled = filled.replace("@FILE@", _QUOTE_FUNCTIONS[language](token_file or TOKEN_FILE))
    return filled if token_file else _MAKE_FILE + filled


def _quote_for_power_shell(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_QUOTE_FUNCTIONS: dict[Language, Callable[[str], str]] = {
    Language.CURL: shlex.quote,
    Language.POWERSHELL: _quote_for_power_shell,
    Language.PYTHON: repr,
}


class SnippetPanel(QWidget):
    """An example command that adds a plant, with a choice of its language and a Copy button."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._address = ""
        self._plant_id = 1
        self._token_file: str | None = None
        self._language_box = ComboBox(self.tr("Language of the example"))
        for language in Language:
            self._language_box.addItem(language.value)
        self._text = TextView(self.tr("Example command"))
        self._text.setFont(theme.metrics.fixed_font())
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._text.setFixedHeight(self._text.fontMetrics().lineSpacing() * _VISIBLE_LINES + 32)
        self._copy_button = CopyButton(theme, self.tr("Copy &example"))
        self._lay_out()
        self._language_box.currentIndexChanged.connect(self._show_snippet)

    def set_example(self, address: str, plant_id: int) -> None:
        """Show the example for the server at `address`; `plant_id` is an ID that no plant has yet."""
        self._address = address
        self._plant_id = plant_id
        self._show_snippet()

    @Slot(str)
    def set_token_file(self, file: str) -> None:
        """Let the example read the token from `file`, to which the user has saved a new token."""
        self._token_file = file
        self._show_snippet()

    @Slot()
    def _show_snippet(self) -> None:
        text = make_snippet(
            list(Language)[self._language_box.currentIndex()], self._address, self._plant_id, self._token_file
        )
        self._text.setPlainText(text)
        self._copy_button.set_content(text)

    def _lay_out(self) -> None:
        header = fill(QHBoxLayout(), self._language_box, STRETCH, self._copy_button, spacing=S)
        fill(QVBoxLayout(self), header, self._text, margins=0, spacing=S)


class ActivityPanel(QWidget):
    """The list of the last API requests; a timer reads them from the server while the panel is visible."""

    #: (plant) Put id, name and tag of a refused plant, as texts, into the form.
    plant_requested = Signal(object)
    #: The list was expanded or collapsed.
    toggled = Signal()

    def __init__(self, theme: Theme, server: ApiControl) -> None:
        super().__init__()
        self._server = server
        self._shown_activity: Activity | None = None
        self._shown_total = -1
        self._entries: list[ActivityEntry] = []
        self._listed_entries: list[ActivityEntry] = []
        headings = (self.tr("Time"), self.tr("Request"), self.tr("Result"))
        self._table = PlainTable(theme, self.tr("Requests"), headings, wide=2, max_rows=_MAX_ROWS)
        self._card = self._table.make_frame()
        self._empty_label = PlainLabel(tone="muted", wrapped=True)
        self._pages = QStackedWidget()
        self._header = CollapsibleHeader(theme, self.tr("Acti&vity"), self._pages)
        self._refused_box = QCheckBox(self.tr("Refused onl&y"))
        self._poll_timer = QTimer(self, interval=_POLL_MS)
        self._lay_out()
        self._poll_timer.timeout.connect(self.refresh)
        self._header.toggled.connect(self._on_toggled)
        self._refused_box.clicked.connect(self._show_entries)
        self._table.menu_requested.connect(self._open_menu)
        self._poll_timer.start()

    def set_expanded(self, *, is_expanded: bool) -> None:
        """Show the list of requests, or only its heading."""
        self._header.set_expanded(is_expanded=is_expanded)

    @Slot()
    def refresh(self) -> None:
        """Read the activity of the server, and list it if it has changed and the panel is visible."""
        activity = self._server.activity
        total = 0 if activity is None else activity.total
        if self.isVisible() and (activity is not self._shown_activity or total != self._shown_total):
            self._shown_activity = activity
            self._shown_total = total
            self._entries = [] if activity is None else activity.entries()
            self._header.set_remark(self._count_text(total))
            self._show_entries()

    def _count_text(self, total: int) -> str:
        listed = sum(entry.requests for entry in self._entries)
        if total > listed:
            number = QLocale().toString
            return self.tr("the last {listed} of {count}").format(listed=number(listed), count=number(total))
        return translated(Text("{count:,} requests", one="1 request", count=total)) if total else ""

    def make_menu(self, entry: ActivityEntry) -> QMenu:
        """Return the context menu of a request: actions for a refused one, none for an accepted one."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if entry.number is not None and entry.sent:
            menu.addAction(self.tr("&Put this plant into the form")).triggered.connect(
                lambda: self.plant_requested.emit(dict(entry.sent))
            )
        if entry.reason:
            menu.addAction(self.tr("Copy the &reason")).triggered.connect(
                lambda: QGuiApplication.clipboard().setText(entry.reason)
            )
        return menu

    def _lay_out(self) -> None:
        self._header.add(self._refused_box)
        self._refused_box.hide()
        self._pages.addWidget(self._card)
        self._pages.addWidget(self._empty_label)
        self._pages.setCurrentWidget(self._empty_label)
        fill(QVBoxLayout(self), self._header, self._pages, margins=0, spacing=S)

    @Slot()
    def _show_entries(self) -> None:
        refused = [entry for entry in self._entries if entry.number is not None]
        self._listed_entries = refused if self._refused_box.isChecked() else self._entries
        self._table.show_rows(
            [self._make_cells(entry) for entry in self._listed_entries], [entry.key for entry in self._listed_entries]
        )
        self._pages.setCurrentIndex(0 if self._listed_entries else 1)
        no_requests = self.tr("No program has sent a request since PlantDesk was started.")
        self._empty_label.setText(self.tr("No request was refused.") if self._entries else no_requests)
        page = self._card if self._listed_entries else self._empty_label
        self._pages.setFixedHeight(page.sizeHint().height())

    def _make_cells(self, entry: ActivityEntry) -> tuple[str, Cell, Cell]:
        icon = ("circle-check", "ok") if entry.number is None else ("circle-alert", "warning")
        if entry.number in _TOKEN_ERRORS:
            icon = ("circle-x", "error")
        time, request, result = self._make_cell_texts(entry)
        return time, Cell(request, icon=icon), Cell(result, entry.reason)

    def _make_cell_texts(self, entry: ActivityEntry) -> tuple[str, str, str]:
        """Return the texts of the columns: time, who did what, and the result or reason."""
        time = exact_time(entry.at)
        program = self.tr("An unknown program") if entry.source is None else source_text(entry.source)
        if entry.requests > 1 and entry.number is None:
            text = Text("{who} added {count:,} plants", one="{who} added 1 plant")
            if not entry.is_new:
                text = Text("{who} sent {count:,} plants again", one="{who} sent 1 plant again")
            result = self.tr("the latest is ID {id}").format(id=entry.plant_id)
            return time, translated(text.filled(count=entry.requests, who=program)), result
        if entry.number is None:
            added = self.tr("{who} added {name}") if entry.is_new else self.tr("{who} sent {name}")
            result = self.tr("ID {id}") if entry.is_new else self.tr("ID {id} was there already")
            return time, added.format(who=program, name=quoted(entry.name, 40)), result.format(id=entry.plant_id)
        refused = Text("{who} was refused {count:,} times", one="{who} was refused", who=program, count=entry.requests)
        return time, translated(refused), self._reason_text(entry)

    def _reason_text(self, entry: ActivityEntry) -> str:
        """Return why a request was refused, in few words; the tooltip has the whole reason."""
        match entry.number:
            case ErrorNumber.ID_TAKEN:
                return self.tr("ID {id} is taken").format(id=entry.sent.get("id", ""))
            case ErrorNumber.TOKEN_MISSING:
                return self.tr("No token")
            case ErrorNumber.TOKEN_REFUSED:
                known = self.tr("Its token was revoked or has expired")
                return self.tr("No valid token") if entry.source is None else known
        return one_line(entry.reason)

    @Slot(QPoint)
    def _open_menu(self, position: QPoint) -> None:
        row = self._table.selected_row
        if row is not None:
            menu = self.make_menu(self._listed_entries[row])
            if menu.actions():
                menu.popup(position)

    @Slot()
    def _on_toggled(self) -> None:
        self._refused_box.setVisible(self._header.is_expanded)
        self._show_entries()
        self.toggled.emit()


class ApiDialog(Dialog):
    """The non-modal API dialog: server state, tokens, last requests and examples. Changes apply at once."""

    #: (plant) Put id, name and tag of a refused plant into the form.
    plant_requested = Signal(object)
    #: (applied) Plants were deleted together with their token.
    plants_removed = Signal(object)

    def __init__(
        self,
        theme: Theme,
        bridge: Bridge,
        store: PlantStore,
        queries: StoreQueries,
        server: ApiControl,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(self.tr("API access"), parent)
        self._server = server
        self._queries = queries
        self._plant_id = 1
        self._theme = theme
        self._state_line = MessageLine(theme)
        self._address_row = QWidget()
        self._address = PlainLabel()
        self._address.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._copy_button = CopyButton(theme, self.tr("Copy the address"), name=self.tr("Copy the address of the API"))
        self._tokens = TokenPanel(theme, bridge, store.tokens)
        self._activity = ActivityPanel(theme, server)
        self._snippets = SnippetPanel(theme)
        self._try_header = CollapsibleHeader(theme, self.tr("&Try it"), self._snippets)
        self._try_header.set_remark(self.tr("examples for curl, PowerShell and Python"))
        self.buttons.addButton(self.tr("Close"), ButtonRole.RejectRole)
        self._lay_out()
        self._connect(bridge)
        self._activity.set_expanded(is_expanded=self.screen().availableGeometry().height() > _MIN_SCREEN_HEIGHT)
        self._show_server(server.state)
        self._tokens.refresh()
        self._query_next_id()
        self._tokens.focus_name()

    @Slot()
    def show_activity(self) -> None:
        """Show the list of the last requests, as the user has clicked them in the status bar."""
        self._activity.set_expanded(is_expanded=True)

    @Slot(object)
    def _show_server(self, state: ServerState) -> None:
        self._address_row.setVisible(isinstance(state, On))
        self._state_line.setVisible(not isinstance(state, On))
        if isinstance(state, On):
            self._address.setText(f"{state.url}/plants")
            self._copy_button.set_content(f"{state.url}/plants")
        elif isinstance(state, Failed):
            self._state_line.show_message(Tone.WARNING, error_text(state.error), *self._make_actions(state))
        elif isinstance(state, Starting):
            self._state_line.show_message(Tone.HINT, self.tr("Starting…"))
        else:
            turn_on = self.tr("Turn on"), self._server.turn_on
            self._state_line.show_message(Tone.HINT, self.tr("Off: no program can add plants."), turn_on)
        self._show_example()

    def _make_actions(self, state: Failed) -> list[MessageAction]:
        free_port = getattr(state.error, "free_port", None)
        if free_port is None:
            return [(self.tr("Try again"), self._server.turn_on)]
        return [(self.tr("Use port {port}").format(port=free_port), partial(self._apply_port, free_port))]

    def _apply_port(self, port: int) -> None:
        self._server.set_port(port)
        self._show_server(self._server.state)

    def _show_example(self) -> None:
        state = self._server.state
        address = state.url if isinstance(state, On) else f"http://127.0.0.1:{self._server.port or DEFAULT_PORT}"
        self._snippets.set_example(address, self._plant_id)

    @Slot()
    def _on_store_changed(self) -> None:
        self._tokens.refresh()
        self._query_next_id()

    def _query_next_id(self) -> None:
        self._queries.run(self, lambda reader, _task: reader.next_free_id(), self._on_next_id)

    def _on_next_id(self, plant_id: int) -> None:
        self._plant_id = plant_id
        self._show_example()

    @override
    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() is QEvent.Type.LayoutRequest:
            self._resize_to_content()
        return handled

    def _connect(self, bridge: Bridge) -> None:
        self._tokens.token_saved.connect(self._snippets.set_token_file)
        # The example under this header reads the saved file.
        self._tokens.token_saved.connect(lambda: self._try_header.set_expanded(is_expanded=True))
        self._tokens.plants_removed.connect(self.plants_removed)
        self._activity.plant_requested.connect(self._on_plant_requested)
        self._try_header.toggled.connect(partial(self._scroll_to_later, self._snippets))
        self._activity.toggled.connect(partial(self._scroll_to_later, self._activity))
        bridge.server_changed.connect(self._show_server)
        bridge.changed.connect(self._on_store_changed)

    @Slot(object)
    def _on_plant_requested(self, plant: dict[str, str]) -> None:
        self.plant_requested.emit(plant)
        self.accept()

    def _resize_to_content(self) -> None:
        width = max(self.width(), self._theme.metrics.scaled(_WIDTH))
        height = needed_height(self._content_layout, width) + self.buttons.sizeHint().height()
        self.resize_to_fit(QSize(width, height))

    def _scroll_to_later(self, part: QWidget) -> None:
        """Scroll to a part that was just expanded, once the event loop has laid it out."""
        QTimer.singleShot(0, self, partial(self._area.ensureWidgetVisible, part, 0, M))

    def _lay_out(self) -> None:
        self._content = QWidget()
        self._fill_address_row()
        self.break_rows(self._tokens.entry_row)
        self._content_layout = fill(
            QVBoxLayout(self._content),
            self._state_line,
            self._address_row,
            self._tokens,
            self._activity,
            self._try_header,
            self._snippets,
            STRETCH,
            margins=(EDGE, L, EDGE, M),
            spacing=M,
        )
        self._area = ScrollArea(self._content)
        self.buttons.setContentsMargins(EDGE, S, EDGE, L)
        fill(QVBoxLayout(self), (self._area, 1), self.buttons, margins=0, spacing=0)
        self.resize_to_fit(QSize(self._theme.metrics.scaled(_WIDTH), self._content.sizeHint().height()))

    def _fill_address_row(self) -> None:
        fill(
            QHBoxLayout(self._address_row),
            self._address,
            self._copy_button,
            (PlainLabel(self.tr("Only programs on this computer can connect."), tone="muted", wrapped=True), 1),
            margins=0,
            spacing=S,
        )
