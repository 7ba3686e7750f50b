"""The info bars of the window: one is seen, the others on request; with a gap below while one is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QLocale, QObject, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget
from shiboken6 import isValid

from plantdesk.ui.qt import override
from plantdesk.ui.theme.metrics import EDGE, M, S
from plantdesk.ui.widgets.info_bar import InfoBar
from plantdesk.ui.widgets.plain_label import PlainLabel

if TYPE_CHECKING:
    from plantdesk.ui.theme.theme import Theme

_SHOWING = frozenset({QEvent.Type.ShowToParent, QEvent.Type.HideToParent})


class BarStack(QWidget):
    """Shows the most serious bar, of several the newest, and takes no room while all of them are hidden.

    Each bar is in a frame of its own: hiding that does not change whether the bar itself counts as hidden.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        #: With their frames; the one that was shown last is the first.
        self._bars: list[tuple[InfoBar, QWidget]] = []
        self._shows_all = False
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(EDGE, 0, EDGE, 0)
        self._layout.setSpacing(M)
        self._more = PlainLabel(tone="muted")
        self._button = QPushButton()
        self._button.setProperty("variant", "link")
        self._button.clicked.connect(self._toggle)
        self._footer = QWidget()
        footer = QHBoxLayout(self._footer)
        footer.setContentsMargins(0, 0, 0, 0)
        footer.setSpacing(S)
        footer.addWidget(self._more)
        footer.addWidget(self._button)
        footer.addStretch()
        self._footer.hide()
        self._layout.addWidget(self._footer)

    def add(self) -> InfoBar:
        """Return a new bar, which is above the others where all are shown."""
        bar, frame = InfoBar(self._theme), QWidget()
        layout = QVBoxLayout(frame)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(bar)
        frame.hide()
        self._layout.insertWidget(0, frame)
        self._bars.insert(0, (bar, frame))
        bar.installEventFilter(self)
        bar.destroyed.connect(frame.deleteLater)
        return bar

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.LayoutRequest:
            bottom = M if self._shown() else 0
            if self._layout.contentsMargins().bottom() != bottom:
                self._layout.setContentsMargins(EDGE, 0, EDGE, bottom)
        return super().event(event)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _SHOWING and isinstance(watched, InfoBar):
            if event.type() is QEvent.Type.ShowToParent:
                self._bars.sort(key=lambda each: each[0] is not watched)
            self._arrange()
        return super().eventFilter(watched, event)

    @Slot()
    def _toggle(self) -> None:
        self._shows_all = not self._shows_all
        self._arrange()

    def _shown(self) -> list[InfoBar]:
        self._bars = [each for each in self._bars if isValid(each[0])]  # a question is deleted when it is answered
        return [bar for bar, _ in self._bars if not bar.isHidden()]

    def _arrange(self) -> None:
        shown = self._shown()
        self._shows_all = self._shows_all and len(shown) > 1
        seen = shown if self._shows_all else sorted(shown, key=lambda bar: bar.kind.rank)[:1]
        for bar, frame in self._bars:
            frame.setVisible(bar in seen)
        rest = len(shown) - len(seen)
        self._more.setText(self.tr("and {count} more").format(count=QLocale().toString(rest)) if rest else "")
        self._more.setVisible(rest > 0)
        self._button.setText(self.tr("Show fewer") if self._shows_all else self.tr("Show"))
        self._footer.setVisible(len(shown) > 1)
