"""Runs PlantDesk unchanged and reports where things are on the screen, so that a test can click what it sees.

    python -m tests.use.probe SOCKET [ARGUMENTS OF PLANTDESK]

Each line on the Unix socket is a question, [function, arguments…] as JSON; the answer is one line of JSON.
"""

import itertools
import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from PySide6.QtCore import QAbstractItemModel, QCoreApplication, QModelIndex, QPoint, QRect, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QMenuBar,
    QPlainTextEdit,
    QWidget,
)

from plantdesk.cli import main as cli
from tests.support.waiting import SECONDS
from tests.support.window_driver import names_of, plain

Rect = tuple[int, int, int, int] | None
Widget = TypeVar("Widget", bound=QWidget)

#: Rows of a view in which an item is looked for.
_MAX_ROWS = 2000


def widget(name: str) -> Rect:
    """Return where the visible widget of that name is: its accessible name, its text, or its label's.

    Only in the active window: another one may still be moved by the window manager.
    """
    found = (widget for widget in _widgets(QWidget) if widget.window().isActiveWindow() and name in names_of(widget))
    return next((_rect(each, each.rect()) for each in found), None)


def item(text: str) -> Rect:
    """Return where the item of that text is in a visible list or table, or the command in an open menu."""
    for menu in _widgets(QMenu):
        for action in menu.actions():
            if plain(action.text()) == text:
                return _rect(menu, menu.actionGeometry(action))
    for bar in _widgets(QMenuBar):
        for action in bar.actions():
            if plain(action.text()) == text:
                return _rect(bar, bar.actionGeometry(action))
    for view in _widgets(QAbstractItemView):
        for index in _indexes(view):
            if index.data() == text:
                return _rect(view.viewport(), view.visualRect(index))
    return None


def texts() -> list[str]:
    """Return the visible texts of labels, fields, buttons and lists in the window in front."""
    found = [label.text() for label in _widgets(QLabel)] + [
        plain(button.text()) for button in _widgets(QAbstractButton)
    ]
    found += [field.text() for field in _widgets(QLineEdit)] + [
        field.toPlainText() for field in _widgets(QPlainTextEdit)
    ]
    found += [combo.currentText() for combo in _widgets(QComboBox)]
    return found + [str(index.data()) for view in _widgets(QAbstractItemView) for index in _indexes(view)]


def focus() -> list[str]:
    """Return what the widget with the focus is called."""
    focused = QApplication.focusWidget()
    return [] if focused is None else sorted(names_of(focused) - {""})


def type_line(text: str) -> None:
    """Type a text and Enter into the widget with the focus, for a platform that takes no keys from outside."""
    focused = QApplication.focusWidget()
    assert focused is not None
    QTest.keyClicks(focused, text)
    QTest.keyClick(focused, Qt.Key.Key_Return)


def _widgets(kind: type[Widget]) -> Iterator[Widget]:
    """Yield the visible widgets of a class, those of the window in front first."""
    front = QApplication.activeWindow()
    windows = sorted(QApplication.topLevelWidgets(), key=lambda each: (not isinstance(each, QMenu), each is not front))
    for window in windows:
        for each in [window, *window.findChildren(QWidget)]:
            if each.isVisible() and isinstance(each, kind):
                yield each


def _indexes(view: QAbstractItemView) -> Iterator[QModelIndex]:
    model: QAbstractItemModel | None = view.model()
    if model is None or isinstance(view, QHeaderView):
        return
    for row in range(min(model.rowCount(QModelIndex()), _MAX_ROWS)):
        for column in itertools.count():
            index = model.index(row, column)
            if not index.isValid():
                break
            if view.visualRect(index).intersects(view.viewport().rect()):
                yield index


def _rect(inside: QWidget, rect: QRect) -> Rect:
    corner = inside.mapToGlobal(QPoint(rect.x(), rect.y()))
    return corner.x(), corner.y(), rect.width(), rect.height()


_QUESTIONS: dict[str, Callable[..., Any]] = {each.__name__: each for each in (widget, item, texts, focus, type_line)}


def _answer(question: list[str]) -> object:
    """Ask on the GUI thread, and wait for its answer."""
    app, answers, is_there = QCoreApplication.instance(), [], threading.Event()

    def ask() -> None:
        try:
            answers.append(_QUESTIONS[question[0]](*question[1:]))
        except Exception as error:  # noqa: BLE001  the test shows it
            answers.append(f"{type(error).__name__}: {error}")
        is_there.set()

    if app is None:
        return None
    QTimer.singleShot(0, app, ask)
    return answers[0] if is_there.wait(SECONDS) and answers else None


def _serve(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection, connection.makefile("rw", encoding="utf-8") as lines:
        for line in lines:
            lines.write(json.dumps(_answer(json.loads(line))) + "\n")
            lines.flush()


def main() -> int:
    """Listen on the socket, and run PlantDesk."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    listener.listen()
    threading.Thread(target=_serve, args=(listener,), daemon=True).start()
    return cli.main(sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
