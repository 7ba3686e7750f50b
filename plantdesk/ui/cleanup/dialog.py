"""The clean-up dialog, with a tab for each page and one row of buttons, and the base class of its pages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSize, QTimer, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QStackedWidget, QTabBar, QVBoxLayout, QWidget
from typing_extensions import override

from plantdesk.ui.feature import WindowContext
from plantdesk.ui.menus import Key
from plantdesk.ui.qt import fill
from plantdesk.ui.theme.metrics import EDGE, L, M
from plantdesk.ui.widgets.containers import ScrollArea
from plantdesk.ui.widgets.dialog import ButtonRole, Dialog, find_tab_stops
from plantdesk.ui.widgets.messages import MessageAction, MessageLine, Tone
from plantdesk.ui.widgets.plain_text import PlainLabel

#: For text of 13 px.
_SIZE = QSize(900, 660)
#: Milliseconds from the first change of the store until the pages are refreshed.
_REFRESH_DELAY_MS = 1000


class CleanUpDialog(Dialog):
    """The non-modal dialog with a tab for each page. Its message line repeats the toast of the main window."""

    #: The store has changed, and the pages read it again.
    refreshed = Signal()

    def __init__(self, context: WindowContext, pages: Sequence[CleanUpPage]) -> None:
        super().__init__(self.tr("Clean up"), context.page)
        self._pages = pages
        self._tabs = QTabBar()
        self._stack = QStackedWidget()
        self._tabs.setAccessibleName(self.windowTitle())
        self._tabs.setExpanding(False)
        self._tabs.setDrawBase(False)
        self._summary = PlainLabel(tone="muted", wrapped=True)
        self._apply_button = self.add_primary("", self._apply)
        self.buttons.addButton(self.tr("Close"), ButtonRole.RejectRole)
        for page in pages:
            self._tabs.addTab(page.windowTitle())
            self._stack.addWidget(page)
            page.changed.connect(self._show_state)
        self._tabs.currentChanged.connect(self._stack.setCurrentIndex)
        self._stack.currentChanged.connect(self._show_state)
        self.finished.connect(self._cancel)
        self._outcome = MessageLine(context.theme)
        self._outcome.hide()
        context.page.toast.reported.connect(self._on_reported)
        self._refresh_timer = QTimer(self, singleShot=True, interval=_REFRESH_DELAY_MS)
        self._refresh_timer.timeout.connect(self._refresh)
        context.bridge.changed.connect(self._on_changed)
        for key, command in (
            (Key.Undo, context.undo_stack.undo),
            (Key.Redo, context.undo_stack.redo),
            ("Ctrl+Tab", partial(self._switch_tab, 1)),
            ("Ctrl+Shift+Tab", partial(self._switch_tab, -1)),  # Qt's own Ctrl+Shift+Backtab is no key of X11
        ):
            QShortcut(QKeySequence(key), self, command)
        bottom = fill(QHBoxLayout(), (self._summary, 1), self.buttons, spacing=M)
        self.break_rows(bottom, *(row for page in pages for row in page.rows))
        parts = self._tabs, (ScrollArea(self._stack), 1), self._outcome, bottom
        fill(QVBoxLayout(self), *parts, margins=(EDGE, L, EDGE, L), spacing=M)
        self.resize_to_fit(_SIZE * context.theme.metrics.scale)
        self._show_state()

    def show_page(self, number: int) -> None:
        """Switch to the tab with this number, from 0."""
        self._tabs.setCurrentIndex(number)

    @property
    def _page(self) -> CleanUpPage:
        return self._pages[self._stack.currentIndex()]

    @Slot()
    def _show_state(self) -> None:
        page = self._page
        self._apply_button.setText(page.button_text)
        self._apply_button.setEnabled(page.can_apply)
        self._summary.setText(page.summary)

    @Slot()
    def _apply(self) -> None:
        """Apply the page; if its button gets disabled, move the focus into the page and not to the Close button."""
        had_focus = self._apply_button.hasFocus()
        self._page.apply()
        if had_focus and not self._page.can_apply:
            next(find_tab_stops(self._page)).setFocus()

    def _switch_tab(self, step: int) -> None:
        self._tabs.setCurrentIndex((self._tabs.currentIndex() + step) % self._tabs.count())

    @Slot(str, object)
    def _on_reported(self, text: str, actions: Sequence[MessageAction]) -> None:
        """Show the message of the toast, and reload the pages, as plants have changed."""
        self._outcome.show_message(Tone.HINT, text, *actions)  # a hint, as screen readers speak the toast already
        self._outcome.show()
        for page in self._pages:
            if page.has_started:
                page.reload()

    @Slot()
    def _on_changed(self) -> None:
        if not self._refresh_timer.isActive():
            self._refresh_timer.start()

    @Slot()
    def _refresh(self) -> None:
        """Let the pages that were shown read the store again, except those that are reading it now."""
        self.refreshed.emit()
        for page in self._pages:
            if page.has_started and not page.is_reading:
                page.refresh()

    @Slot()
    def _cancel(self) -> None:
        for page in self._pages:
            page.cancel()


class CleanUpPage(QWidget):
    """The base of a page of `CleanUpDialog`, which shows its summary, and whose button applies it."""

    #: The page's summary or the state of the button has changed.
    changed = Signal()

    def __init__(self, title: str) -> None:
        super().__init__()
        self.setWindowTitle(title)  # the title of its tab
        self.button_text = ""
        self.summary = ""
        self.can_apply = self.has_started = False
        #: The rows that become columns if the screen is too narrow.
        self.rows: list[QBoxLayout] = []

    def start(self) -> None:
        """Read the content; called when the page is first shown."""

    def reload(self) -> None:
        """Read the content again, after a change by the user; ticks stay."""
        self.start()

    def refresh(self) -> None:
        """Read the content again, as others have changed plants; the present content stays usable meanwhile."""
        self.reload()

    @property
    def is_reading(self) -> bool:
        """Whether the page is still reading its content."""
        return False

    def apply(self) -> None:
        """Disable the button until the content is read again. Subclasses request their change first."""
        self.show_state(self.button_text, self.summary, can_apply=False)

    def cancel(self) -> None:
        """Cancel the background tasks of the page, as the dialog is closed."""

    def show_state(self, button_text: str, summary: str, *, can_apply: bool) -> None:
        """Set the text and state of the button, and the summary beside it."""
        self.button_text = button_text
        self.summary = summary
        self.can_apply = can_apply
        self.changed.emit()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self.has_started:
            self.has_started = True
            self.start()
