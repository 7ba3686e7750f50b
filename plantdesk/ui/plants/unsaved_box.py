"""The list of plants that are not saved, under the form: a line for each, with the reason and what can be done."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QLocale, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from plantdesk.ui.qt import override
from plantdesk.ui.theme.metrics import XS, M, S
from plantdesk.ui.widgets.icon import Icon
from plantdesk.ui.widgets.one_click_button import OneClickButton
from plantdesk.ui.widgets.plain_label import PlainLabel
from plantdesk.ui.widgets.scroll_area import ScrollArea

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QKeyEvent, QResizeEvent

    from plantdesk.ui.theme.theme import Theme
    from plantdesk.ui.widgets.action_buttons import MessageAction

#: Lines that are shown at first, and without scrolling; in a low window the table needs the room.
_FIRST, _MAX_VISIBLE = 3, 8
_LOW_WINDOW = 700
#: Lines of the whole list; the others follow when these are done.
_MAX_LINES = 200
_LINE = 30
_STEPS = {
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
}


class Line(NamedTuple):
    """What is shown of a plant: an icon, the tone of the reason why it is not saved, a name, and its actions."""

    icon: str
    tone: str
    name: str
    reason: str
    actions: Sequence[MessageAction]


class UnsavedBox(QFrame):
    """Hidden while there are no lines. The arrow keys move between lines and actions, Del discards a line.

    The actions for all lines are below them.
    `discarded(position)`: Del was pressed on a line. `left`: the focus was on a line, and there is none any more.
    """

    discarded = Signal(int)
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._lines: Sequence[Line] = ()
        self._actions_for_all: Sequence[MessageAction] = ()
        self._rows: list[_Row] = []
        self._shows_all = False
        self.setProperty("card", "true")
        self.setAccessibleName(self.tr("Plants that are not saved"))
        self._content = QWidget()
        self._list = QVBoxLayout(self._content)
        self._list.setContentsMargins(0, 0, 0, 0)
        self._list.setSpacing(0)
        self._list.addStretch(1)
        self._for_all = _Links()
        self._for_all.key_pressed.connect(self._on_key)
        self._more = PlainLabel(tone="muted")
        self._show_button = QPushButton()
        self._show_button.setProperty("variant", "link")
        self._show_button.clicked.connect(self._toggle)
        self._lay_out()
        theme.changed.connect(self._fit)
        self.hide()

    def show_lines(self, lines: Sequence[Line], actions_for_all: Sequence[MessageAction]) -> None:
        """Show these lines, the first ones until the user asks for all; the focus stays in its line."""
        focus = self._focus()
        self._lines, self._actions_for_all = lines, actions_for_all
        self._for_all.show_actions(actions_for_all)
        shown = lines[: _MAX_LINES if self._shows_all else _FIRST]
        for row in self._rows[len(shown) :]:
            self._list.removeWidget(row)
            row.hide()
            row.deleteLater()
        del self._rows[len(shown) :]
        for place, line in enumerate(shown):
            if place == len(self._rows):
                self._rows.append(_Row(self._theme))
                self._rows[place].links.key_pressed.connect(self._on_key)
                self._list.insertWidget(place, self._rows[place])
            self._rows[place].show_line(line)
        self._shows_all = self._shows_all and bool(lines)
        rest = len(lines) - len(shown)
        self._more.setText(self.tr("and {count} more").format(count=QLocale().toString(rest)) if rest else "")
        self._footer.setVisible(len(lines) > _FIRST or bool(actions_for_all))
        self._show_button.setVisible(len(lines) > _FIRST)
        self._show_button.setText(self.tr("Show fewer") if self._shows_all else self.tr("Show"))
        self._fit()
        self.setVisible(bool(lines))
        if focus is not None:
            self._restore_focus(*focus)

    @Slot()
    def focus_first(self) -> None:
        """Move the focus to the first action."""
        self._restore_focus(0, 0)

    @Slot(int)
    def _on_key(self, key: int) -> None:
        focus = self._focus()
        if focus is None:
            return
        if key != Qt.Key.Key_Delete:
            down, across = _STEPS[Qt.Key(key)]
            across = -across if self.isRightToLeft() else across
            self._restore_focus(focus[0] + down, max(0, focus[1] + across))
        elif focus[0] < len(self._rows):
            self.discarded.emit(focus[0])

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(M + 2, S, M + 2, S)
        layout.setSpacing(0)
        self._area = ScrollArea(self._content, horizontal=False)
        layout.addWidget(self._area)
        self._footer = QWidget()
        footer = QHBoxLayout(self._footer)
        footer.setContentsMargins(0, 0, 0, 0)
        footer.setSpacing(S)
        footer.addWidget(self._more)
        footer.addWidget(self._show_button)
        footer.addStretch(1)
        footer.addWidget(self._for_all)
        layout.addWidget(self._footer)

    def _focus(self) -> tuple[int, int] | None:
        """Return the line and the action that have the focus."""
        for place, buttons in enumerate(self._buttons()):
            for number, button in enumerate(buttons):
                if button.hasFocus():
                    return place, number
        return None

    def _buttons(self) -> list[list[QPushButton]]:
        """Return the buttons of each line."""
        return [links.buttons for links in (*(row.links for row in self._rows), self._for_all) if links.buttons]

    def _restore_focus(self, place: int, number: int) -> None:
        if not self._rows:
            self.left.emit()
            return
        lines = self._buttons()
        buttons = lines[max(0, min(place, len(lines) - 1))]
        buttons[min(number, len(buttons) - 1)].setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _toggle(self) -> None:
        self._shows_all = not self._shows_all
        self.show_lines(self._lines, self._actions_for_all)

    @Slot()
    def _fit(self) -> None:
        height = max(self._theme.metrics.scaled(_LINE), self._theme.metrics.compact_row)
        for row in self._rows:
            row.setFixedHeight(height)
        most = _FIRST if self.window().height() < _LOW_WINDOW else _MAX_VISIBLE
        self._area.setFixedHeight(height * min(len(self._rows), most))
        self._footer.setFixedHeight(height)


class _Row(QWidget):
    """One line. Its texts are cut where there is no room for them; a tooltip shows them."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._icon = Icon(theme, "circle-alert", "error")
        self._name = _CutLabel(role="strong")
        self._reason = _CutLabel()
        self.links = _Links()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(S)
        layout.addWidget(self._icon)
        layout.addWidget(self._name)
        layout.addSpacing(XS)
        layout.addWidget(self._reason, 1)
        layout.addWidget(self.links)

    def show_line(self, line: Line) -> None:
        """Show a line in the place of another."""
        self._icon.show_icon(line.icon, "error" if line.tone == "error" else "text_2")
        self._name.show_text(line.name)
        self._reason.show_text(line.reason, line.tone)
        self.setAccessibleName(f"{line.name}: {line.reason}")
        self.links.show_actions(line.actions)


class _Links(QWidget):
    """The buttons of a line.

    `key_pressed(key)`: one of the keys of the box.
    """

    key_pressed = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._actions: Sequence[MessageAction] = ()
        self.buttons: list[QPushButton] = []
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(S)

    def show_actions(self, actions: Sequence[MessageAction]) -> None:
        """Show a button for each action. Buttons stay, so that one that is pressed is not replaced."""
        self._actions = actions
        for button in self.buttons[len(actions) :]:
            self._layout.removeWidget(button)
            button.hide()
            button.deleteLater()
        del self.buttons[len(actions) :]
        self.buttons += [self._button() for _ in actions[len(self.buttons) :]]
        for button, (label, _) in zip(self.buttons, actions, strict=True):
            button.setText(label)

    def _button(self) -> QPushButton:
        button = _LinkButton()
        button.setProperty("variant", "link")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the focus in the field
        button.clicked.connect(self._on_clicked)
        button.key_pressed.connect(self.key_pressed)
        self._layout.addWidget(button)
        return button

    @Slot()
    def _on_clicked(self) -> None:
        button = self.sender()
        if isinstance(button, QPushButton):
            _, action = self._actions[self.buttons.index(button)]
            action()


class _LinkButton(OneClickButton):
    """Leaves the keys of the box to it: Qt's buttons move the focus by the arrow keys, and its scroll area scrolls."""

    key_pressed = Signal(int)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _STEPS or event.key() == Qt.Key.Key_Delete:
            self.key_pressed.emit(event.key())
        else:
            super().keyPressEvent(event)


class _CutLabel(PlainLabel):
    """A label on one line that ends in “…” where it is cut."""

    def __init__(self, *, role: str = "") -> None:
        super().__init__(role=role)
        self._whole = ""
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def show_text(self, text: str, tone: str = "") -> None:
        """Show a text in a tone of the style sheet."""
        from plantdesk.ui.qt import set_properties
        from plantdesk.ui.texts import one_line
        from plantdesk.ui.widgets.tool_tips import set_tool_tip

        self._whole = one_line(text)
        set_properties(self, tone=tone)
        set_tool_tip(self, text)
        self.updateGeometry()
        self._cut()

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(min(self.sizeHint().width(), 4 * self.fontMetrics().height()), super().minimumSizeHint().height())

    @override
    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self._whole) + 2, super().sizeHint().height())

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._cut()

    def _cut(self) -> None:
        self.setText(self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideRight, self.width()))
