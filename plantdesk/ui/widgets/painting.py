"""Icons, lines of text, pills of tags, and the page of an empty state."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QColor, QFont, QFontMetrics, QIcon, QPainter, QPaintEvent, QPixmap, QTextLayout, QTextOption
from PySide6.QtWidgets import QHBoxLayout, QLayout, QPushButton, QSizePolicy, QStyle, QVBoxLayout, QWidget
from typing_extensions import override

from plantdesk.ui.qt import STRETCH, fill
from plantdesk.ui.texts import is_visible, tag_text
from plantdesk.ui.theme.colors import hue_of, mix_colors, pill_colors
from plantdesk.ui.theme.metrics import ICON, ICON_LARGE, FontRole, L, M, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.plain_text import PlainLabel, set_tool_tip

_LINE_FLAGS = (
    Qt.AlignmentFlag.AlignLeft
    | Qt.AlignmentFlag.AlignVCenter
    | Qt.AlignmentFlag.AlignAbsolute
    | Qt.TextFlag.TextDontClip
)
#: For text of 13 px.
_MAX_TEXT_WIDTH = 420


class Icon(QWidget):
    """An icon that follows the theme. Not a QLabel: its picture would be announced as an image without a name."""

    def __init__(self, theme: Theme, name: str | None = None, color: str = "text", size: int = ICON) -> None:
        """Show an icon, by Lucide's name and a colour's name; `size` is the size beside text of 13 px."""
        super().__init__()
        self._theme = theme
        self._size = size
        self._name = name
        self._color = color
        if name is None:
            self.hide()
        theme.changed.connect(self._fit)
        self._fit()

    def show_icon(self, name: str | None, color: str = "text") -> None:
        """Show another icon; with None show no icon, and take no room."""
        self._name = name
        self._color = color
        self.setVisible(name is not None)
        self._fit()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._name is not None:
            painter = QPainter(self)
            self._theme.icons.paint(painter, self.rect(), self._name, self._color)
            painter.end()

    @Slot()
    def _fit(self) -> None:
        size = self._theme.metrics.scaled(self._size)
        self.setFixedSize(size, size)
        self.update()


def draw_line(
    painter: QPainter,
    rect: QRect,
    text: str,
    direction: Qt.LayoutDirection,
    alignment: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
    elided: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
) -> None:
    """Draw a line of text, elided. It begins at a whole pixel: text that ends at one is blurred."""
    metrics = painter.fontMetrics()
    elided_text = metrics.elidedText(text, elided, rect.width())
    left = QRect(rect)
    if QStyle.visualAlignment(direction, alignment) & Qt.AlignmentFlag.AlignRight:
        left.setLeft(rect.right() + 1 - metrics.horizontalAdvance(elided_text))
    painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)  # keeps “6:23 PM” in a mirrored window
    painter.drawText(left, _LINE_FLAGS, elided_text)


def lay_out_line(
    text: str, formats: Sequence[QTextLayout.FormatRange], font: QFont, direction: Qt.LayoutDirection, width: int
) -> QTextLayout:
    """Return the layout of a line of text with formats, at the leading edge of a width."""
    layout = QTextLayout(text, font)
    layout.setFormats(formats)
    option = QTextOption(QStyle.visualAlignment(direction, Qt.AlignmentFlag.AlignLeft) | Qt.AlignmentFlag.AlignAbsolute)
    option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
    layout.setTextOption(option)
    layout.beginLayout()
    layout.createLine().setLineWidth(width)
    layout.endLayout()
    return layout


def paint_pill(painter: QPainter, theme: Theme, rect: QRect, tag: str, *, selected: bool = False) -> None:
    """Paint a tag into `rect`; one without a visible character only as an outline."""
    is_shown = is_visible(tag)
    colors = theme.colors
    background, foreground = pill_colors(hue_of(tag), dark=colors.is_dark)
    painter.setFont(theme.metrics.font(FontRole.PILL))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    edge = mix_colors(foreground, background, 0.38 if selected else 0.16)
    painter.setPen(edge if is_shown and not colors.is_high_contrast else colors.color("border"))
    painter.setBrush(background if is_shown else Qt.BrushStyle.NoBrush)
    outline = QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5)  # as a line is centred on its pixels
    painter.drawRoundedRect(outline, rect.height() / 2, rect.height() / 2)
    painter.setPen(foreground if is_shown else colors.color("muted"))
    elided = Qt.TextElideMode.ElideLeft if "/" in tag else Qt.TextElideMode.ElideRight  # the lowest level stays visible
    text = painter.fontMetrics().elidedText(tag_text(tag), elided, rect.width() - 2 * S)
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)


def pill_size(theme: Theme, tag: str) -> QSize:
    """Return the size that the pill of a tag needs for its whole text."""
    metrics = QFontMetrics(theme.metrics.font(FontRole.PILL))
    return QSize(metrics.horizontalAdvance(tag_text(tag)) + 2 * S + 1, metrics.height() + S - 2)


def make_dot_icon(color: QColor) -> QIcon:
    """Return an icon with a dot of this colour, the mark of a tag."""
    pixmap = QPixmap(ICON, ICON)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawEllipse(2, 2, ICON - 4, ICON - 4)
    painter.end()
    return QIcon(pixmap)


class TagPill(QWidget):
    """The pill of a tag, elided if there is too little room."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._tag = ""
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._on_theme_changed)

    def set_tag(self, tag: str) -> None:
        """Show another tag; it is also the accessible name and the tooltip."""
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


class StatePage(QWidget):
    """The page of an empty state: icon (by names of icon and colour), title, text and buttons, centred."""

    def __init__(self, theme: Theme, icon: str, color: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icon = Icon(theme, icon, color, ICON_LARGE)
        self._title_label = PlainLabel(title, role="title", alignment=Qt.AlignmentFlag.AlignCenter)
        self._text_label = PlainLabel(tone="muted", alignment=Qt.AlignmentFlag.AlignCenter, wrapped=True)
        self._set_width()
        self._buttons = fill(QHBoxLayout(), STRETCH, STRETCH, spacing=S)
        self._lay_out()
        theme.changed.connect(self._set_width)

    def set_title(self, title: str) -> None:
        """Show another title."""
        self._title_label.setText(title)

    def set_text(self, text: str) -> None:
        """Show a text under the title."""
        self._text_label.setText(text)

    def add_button(self, text: str, icon: str | None = None) -> QPushButton:
        """Add a button under the text, perhaps with an icon, and return it."""
        button = QPushButton(text)
        if icon is not None:
            self._theme.icons.put_on(button, icon)
        self._buttons.insertWidget(self._buttons.count() - 1, button)
        return button

    def add_line(self, line: QLayout) -> None:
        """Add a line under the buttons."""
        fill(self._lines, line)

    @Slot()
    def _set_width(self) -> None:
        self._text_label.setFixedWidth(self._theme.metrics.scaled(_MAX_TEXT_WIDTH))

    def _lay_out(self) -> None:
        # Not an alignment: with one, a label that wraps gets too little height.
        text = fill(QHBoxLayout(), STRETCH, self._text_label, STRETCH)
        self._lines = QVBoxLayout()
        layout = QVBoxLayout(self)
        layout.addStretch(2)
        icon = self._icon, Qt.AlignmentFlag.AlignHCenter
        fill(layout, icon, S, self._title_label, text, M, self._buttons, self._lines, margins=L, spacing=S)
        layout.addStretch(3)
