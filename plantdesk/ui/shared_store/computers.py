"""The other computers that work on a shared store now, in the status bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QMenu, QPushButton

from plantdesk.domain.errors import Text, shortened
from plantdesk.ui.texts import one_line, shown
from plantdesk.ui.widgets.plain_text import set_tool_tip

if TYPE_CHECKING:
    from plantdesk.domain.desks import Desk
    from plantdesk.ui.background import StoreQueries
    from plantdesk.ui.theme.theme import Theme

#: Milliseconds: each computer notes itself as often.
_INTERVAL = 30_000
_MAX_NAME = 30


class OtherComputers(QPushButton):
    """Says which computers work on the store beside this one; its menu has all of them, with their versions.

    `history_requested`: the user wants to see what they have changed. Hidden while there is no other one.
    """

    history_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._queries: StoreQueries | None = None
        self.setProperty("variant", "quiet")
        theme.icons.put_on(self, "monitor")
        set_tool_tip(self, self.tr("The computers that work on these plants now"))
        self.setMenu(QMenu(self))
        self._timer = QTimer(self, interval=_INTERVAL)
        self._timer.timeout.connect(self.refresh)
        self.hide()

    def set_store(self, queries: StoreQueries | None) -> None:
        """Follow the computers of an open store; none: of no store."""
        self._queries = queries
        if queries is None:
            self._timer.stop()
            self.hide()
        else:
            self._timer.start()
            self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Read which computers are at work; they stay as they are while the server does not answer."""
        if self._queries is not None:
            self._queries.ask(self, lambda reader, _task: reader.desks_at_work(), self._show)

    def _show(self, desks: list[Desk]) -> None:
        others = [desk for desk in desks if not desk.is_own]
        count = Text("{count:,} other computers", one="1 other computer", count=len(others))
        name = shortened(one_line(others[0].name), _MAX_NAME) if len(others) == 1 else shown(count)
        self.setText(name.replace("&", "&&"))
        self.setVisible(bool(others))
        if self.menu().isVisible():
            return
        self.menu().clear()
        for desk in sorted(desks, key=lambda desk: not desk.is_own):
            name = one_line(desk.name).replace("&", "&&")
            text = self.tr("{name} (this computer)").format(name=name) if desk.is_own else name
            self.menu().addAction(f"{text}\t{desk.version}", self.history_requested.emit)
        self.menu().addSeparator()
        self.menu().addAction(self.tr("All changes…"), self.history_requested.emit)
