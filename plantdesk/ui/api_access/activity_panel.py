"""The last requests of the API: what was answered, and why some were refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QPoint, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QMenu, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from plantdesk.domain.errors import ErrorNumber, Text
from plantdesk.ui.api_access.snippets import curl_of
from plantdesk.ui.qt import fill
from plantdesk.ui.texts import exact_time, one_line, quoted, shown, source_text
from plantdesk.ui.theme.metrics import S
from plantdesk.ui.widgets.containers import CollapsibleHeader
from plantdesk.ui.widgets.plain_table import Cell, PlainTable
from plantdesk.ui.widgets.plain_text import PlainLabel

if TYPE_CHECKING:
    from plantdesk.domain.activity import Activity, Answer
    from plantdesk.ui.api_access.server_control import ServerControl
    from plantdesk.ui.theme.theme import Theme

_POLL_MS = 500
_FEW, _MANY = 5, 12
_UNKNOWN = frozenset({ErrorNumber.TOKEN_MISSING, ErrorNumber.TOKEN_REFUSED})


class ActivityPanel(QWidget):
    """Follows the activity of the server that is on, while it can be seen. Nothing of it is stored.

    `plant_requested(plant)`: id, name and tag of a refused plant, as texts, are to be put into the form.
    `resized`: it needs more height, or less. `expanded`: the user wants to see more of it.
    """

    plant_requested = Signal(object)
    resized = Signal()
    expanded = Signal()

    def __init__(self, theme: Theme, server: ServerControl) -> None:
        super().__init__()
        self._theme = theme
        self._server = server
        self._address = ""
        self._shown: tuple[Activity | None, int] = (None, -1)
        self._answers: list[Answer] = []
        self._visible: list[Answer] = []
        headings = (self.tr("Time"), self.tr("Request"), self.tr("Result"))
        self._table = PlainTable(theme, self.tr("Requests"), headings, wide=2, max_rows=_FEW)
        self._card = self._table.framed()
        self._empty_label = PlainLabel(self.tr("No program has sent a request yet."), tone="muted", wrapped=True)
        self._pages = QStackedWidget()
        self._header = CollapsibleHeader(theme, self.tr("Acti&vity"), self._pages)
        self._refused_box = QCheckBox(self.tr("Refused onl&y"))
        self._all_button = QPushButton(self.tr("Show all"))
        self._all_button.setProperty("variant", "link")
        self._timer = QTimer(self, interval=_POLL_MS)
        self._lay_out()
        self._timer.timeout.connect(self.refresh)
        self._header.toggled.connect(self._on_toggled)
        self._refused_box.clicked.connect(self._show_answers)
        self._all_button.clicked.connect(self._on_show_all)
        self._table.menu_requested.connect(self._open_menu)
        self._timer.start()

    def set_address(self, address: str) -> None:
        """Use the server's address (`http://127.0.0.1:PORT`) in the commands."""
        self._address = address

    def set_open(self, *, is_open: bool) -> None:
        """Expand the list, or collapse it."""
        self._header.set_open(is_open=is_open)

    @Slot()
    def refresh(self) -> None:
        """Show the requests that were answered since."""
        activity = self._server.activity
        now = activity, -1 if activity is None else activity.total
        if now != self._shown and self.isVisible():
            self._shown = now
            self._answers = [] if activity is None else activity.answers()
            self._header.set_remark(self._remark(max(now[1], 0)))
            self._all_button.setVisible(self._can_show_more())
            self._show_answers()

    def _remark(self, total: int) -> str:
        listed = sum(answer.requests for answer in self._answers)
        if total > listed:
            number = QLocale().toString
            return self.tr("the last {listed} of {count}").format(listed=number(listed), count=number(total))
        return shown(Text("{count:,} requests", one="1 request", count=total)) if total else ""

    def _can_show_more(self) -> bool:
        return self._header.is_open and self._table.max_rows == _FEW < len(self._answers)

    def menu_of(self, answer: Answer) -> QMenu:
        """Return the context menu of a request."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if answer.number is not None and answer.sent:
            menu.addAction(self.tr("&Put this plant into the form")).triggered.connect(
                lambda: self.plant_requested.emit(dict(answer.sent))
            )
        if answer.sent:
            menu.addAction(self.tr("Copy as &curl (without the token)")).triggered.connect(
                lambda: QGuiApplication.clipboard().setText(curl_of(self._address, answer.sent))
            )
        if answer.reason:
            menu.addAction(self.tr("Copy the &reason")).triggered.connect(
                lambda: QGuiApplication.clipboard().setText(answer.reason)
            )
        return menu

    def _lay_out(self) -> None:
        for widget in (self._refused_box, self._all_button):
            self._header.add(widget)
            widget.hide()
        self._pages.addWidget(self._card)
        self._pages.addWidget(self._empty_label)
        self._pages.setCurrentWidget(self._empty_label)
        fill(QVBoxLayout(self), self._header, self._pages, margins=0, spacing=S)

    @Slot()
    def _show_answers(self) -> None:
        refused = [answer for answer in self._answers if answer.number is not None]
        self._visible = refused if self._refused_box.isChecked() else self._answers
        self._table.show_rows([self._cells(each) for each in self._visible], [each.key for each in self._visible])
        self._pages.setCurrentIndex(0 if self._visible else 1)
        none = self.tr("No request was refused.") if self._answers else self.tr("No program has sent a request yet.")
        self._empty_label.setText(none)
        page = self._card if self._visible else self._empty_label
        height = page.sizeHint().height()
        if height != self._pages.height():  # else the whole dialog would be laid out twice a second
            self._pages.setFixedHeight(height)
            self.resized.emit()

    def _cells(self, answer: Answer) -> tuple[str, Cell, Cell]:
        icon = ("circle-check", "ok") if answer.number is None else ("circle-alert", "warning")
        if answer.number in _UNKNOWN:
            icon = ("circle-x", "error")
        clock, request, result = self._texts(answer)
        return clock, Cell(request, icon=icon), Cell(result, answer.reason)

    def _texts(self, answer: Answer) -> tuple[str, str, str]:
        clock = exact_time(answer.at)
        who = self.tr("An unknown program") if answer.source is None else source_text(answer.source)
        if answer.requests > 1:
            text = Text("{who} added {count:,} plants", one="{who} added 1 plant")
            if not answer.is_new:
                text = Text("{who} sent {count:,} plants again", one="{who} sent 1 plant again")
            result = self.tr("the latest is ID {id}").format(id=answer.plant_id)
            return clock, shown(text.filled(count=answer.requests, who=who)), result
        if answer.number is None:
            added = self.tr("{who} added {name}") if answer.is_new else self.tr("{who} sent {name}")
            result = self.tr("ID {id}") if answer.is_new else self.tr("ID {id} was there already")
            return clock, added.format(who=who, name=quoted(answer.name, 40)), result.format(id=answer.plant_id)
        return clock, self.tr("{who} was refused").format(who=who), self._reason(answer)

    def _reason(self, answer: Answer) -> str:
        """Return why a request was refused, in few words where they say enough; the tooltip has the whole reason."""
        match answer.number:
            case ErrorNumber.ID_TAKEN:
                return self.tr("ID {id} is taken").format(id=answer.sent.get("id", ""))
            case ErrorNumber.TOKEN_MISSING:
                return self.tr("no token")
            case ErrorNumber.TOKEN_REFUSED:
                known = self.tr("its token was revoked or has expired")
                return self.tr("no valid token") if answer.source is None else known
        return one_line(answer.reason)

    @Slot(QPoint)
    def _open_menu(self, position: QPoint) -> None:
        row = self._table.selected_row
        if row is not None:
            menu = self.menu_of(self._visible[row])
            if menu.actions():
                menu.popup(position)

    @Slot()
    def _on_show_all(self) -> None:
        """Show so many that the list is seen whole, and scrolls alone."""
        fitting = self.screen().availableGeometry().height() // (2 * self._theme.metrics.row)
        self._table.set_max_rows(max(_FEW, min(_MANY, fitting)))
        self._table.setFocus()  # else hiding the button would move it to what may be out of sight
        self._all_button.hide()
        self._show_answers()
        self.expanded.emit()

    @Slot()
    def _on_toggled(self) -> None:
        is_open = self._header.is_open
        self._refused_box.setVisible(is_open)
        self._all_button.setVisible(self._can_show_more())
        self._show_answers()
        if is_open:
            self.expanded.emit()
