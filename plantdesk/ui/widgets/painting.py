"""What widgets paint: icons, lines of text, and the pills of tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QSizePolicy, QStyle, QWidget

from plantdesk.ui.qt import override
from plantdesk.ui.texts import is_visible, tag_text
from plantdesk.ui.theme.colors import mixed
from plantdesk.ui.theme.metrics import ICON, FontRole, S
from plantdesk.ui.widgets.plain_text import set_tool_tip

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from plantdesk.ui.theme.theme import Theme


class Icon(QWidget):
    """Follows the theme. No QLabel: its picture would be announced as an image without a name."""

    def __init__(self, theme: Theme, name: str | None = None, color: str = "text", size: int = ICON) -> None:
        """Show an icon, by Lucide's name and a colour's name; `size` is that beside text of 13 px."""
        super().__init__()
        self._theme, self._size = theme, size
        self._name, self._color = name, color
        if name is None:
            self.hide()
        theme.changed.connect(self._fit)
        self._fit()

    def show_icon(self, name: str | None, color: str = "text") -> None:
        """Show another icon; None: none, and take no room."""
        self._name, self._color = name, color
        self.setVisible(name is not None)
        self._fit()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._name is not None:
            icons, ratio = self._theme.icons, self.devicePixelRatioF()
            painter = QPainter(self)
            painter.drawPixmap(self.rect(), icons.pixmap(self._name, self._color, self.width(), ratio))
            painter.end()

    @Slot()
    def _fit(self) -> None:
        size = self._theme.metrics.scaled(self._size)
        self.setFixedSize(size, size)
        self.update()


_PLACE = (
    Qt.AlignmentFlag.AlignLeft
    | Qt.AlignmentFlag.AlignVCenter
    | Qt.AlignmentFlag.AlignAbsolute
    | Qt.TextFlag.TextDontClip
)


def draw_line(
    painter: QPainter,
    rect: QRect,
    text: str,
    direction: Qt.LayoutDirection,
    alignment: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
) -> None:
    """Draw a line of text, elided. It begins at a whole pixel: text that ends at one is blurred."""
    metrics = painter.fontMetrics()
    shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    left = QRect(rect)
    if QStyle.visualAlignment(direction, alignment) & Qt.AlignmentFlag.AlignRight:
        left.setLeft(rect.right() + 1 - metrics.horizontalAdvance(shown))
    painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)  # “6:23 PM” stays so in a mirrored window
    painter.drawText(left, _PLACE, shown)


def paint_pill(painter: QPainter, theme: Theme, rect: QRect, tag: str, *, selected: bool = False) -> None:
    """Paint a tag into `rect`; one without a visible character only as an outline."""
    visible, colors = is_visible(tag), theme.colors
    background, foreground = theme.tags.pill(tag, dark=colors.dark)
    painter.setFont(theme.metrics.font(FontRole.PILL))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    edge = mixed(foreground, background, 0.38 if selected else 0.16)
    painter.setPen(edge if visible and not colors.is_high_contrast else colors.color("border"))
    painter.setBrush(background if visible else Qt.BrushStyle.NoBrush)
    line = QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5)  # a line is centred on its pixels
    painter.drawRoundedRect(line, rect.height() / 2, rect.height() / 2)
    painter.setPen(foreground if visible else colors.color("text_2"))
    text = painter.fontMetrics().elidedText(tag_text(tag), Qt.TextElideMode.ElideRight, rect.width() - 2 * S)
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)


def pill_size(theme: Theme, tag: str) -> QSize:
    """Return the size of a tag's pill."""
    metrics = QFontMetrics(theme.metrics.font(FontRole.PILL))
    return QSize(metrics.horizontalAdvance(tag_text(tag)) + 2 * S + 1, metrics.height() + S - 2)


class TagPill(QWidget):
    """A tag, elided where there is too little room."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._tag = ""
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._on_theme_changed)
        theme.tags.changed.connect(self.update)

    def set_tag(self, tag: str) -> None:
        """Show another tag."""
        self._tag = tag
        self.setAccessibleName(tag_text(tag))
        set_tool_tip(self, tag_text(tag))
        self.updateGeometry()
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return pill_size(self._theme, self._tag)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(3 * S, self.sizeHint().height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_pill(painter, self._theme, self.rect(), self._tag)
        painter.end()

    @Slot()
    def _on_theme_changed(self) -> None:
        self.updateGeometry()
        self.update()
