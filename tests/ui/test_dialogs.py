"""Every dialog of the window, as users of a keyboard, a screen reader, little sight or a small screen meet it."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QAccessible, QColor, QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from plantdesk.platform.settings import ThemeMode
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.plants.table.view import PlantTableView
from plantdesk.ui.qt import fitted
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.containers import ScrollArea
from plantdesk.ui.widgets.plain_table import PlainTable
from plantdesk.ui.workspace import Workspace
from tests.support.contrast import contrast
from tests.support.dialogs import Dialogs, fill
from tests.support.samples import some
from tests.support.window_driver import WindowDriver
from tests.ui.conftest import open_store

NAMES = (
    *("about", "shortcuts", "history", "api", "token", "expanded", "revoke", "restore"),
    *("import", "refused", "export", "labels", "merge", "failure", "tag", "settings"),
    *("replace", "duplicates", "tidy_tags"),
)
#: Pixels of a screen of 1366 x 768 at 200 %, without the frame of a window.
_SMALLEST = QSize(1366 // 2 - 16, 768 // 2 - 48)
_FIELDS = (QLineEdit, QPlainTextEdit, QAbstractSpinBox, QComboBox)
#: WCAG 2.2: the contrast of text, and the size of what is clicked.
_CONTRAST, _TARGET = 4.5, 24
_RATIO = 2


class Window(WindowDriver):
    """The whole window, whose dialogs are opened."""

    def __init__(self, qtbot: QtBot, workspace: Workspace, bridge: Bridge, dialogs: Dialogs) -> None:
        super().__init__(qtbot, workspace.window())
        self.bridge = bridge
        self.dialogs = dialogs
        self.dialog: QDialog

    def open(self, name: str) -> QDialog:
        self.dialog = self.dialogs.open(name)
        self.dialog.activateWindow()
        self.until(self.dialog.isActiveWindow)
        self.until_read()
        return self.dialog

    def until_read(self) -> None:
        """Wait until what was asked so far, by which the dialog may grow, is answered: tasks run in their order."""
        answers: list[object] = []
        self.bridge.short_tasks.run(self.dialog, lambda _task: None, answers.append)
        self.until(lambda: answers == [None])
        QApplication.processEvents()


@pytest.fixture
def window(qtbot: QtBot, bare: Workspace, bridge: Bridge, theme: Theme, store: SqliteStore, tmp_path: Path) -> Window:
    fill(store)
    open_store(bare, store)
    return Window(qtbot, bare, bridge, Dialogs(WindowDriver(qtbot, bare.window()), theme, store, tmp_path))


def stops(dialog: QWidget) -> list[QWidget]:
    """Return what can get the focus by Tab."""
    return [
        widget
        for widget in dialog.findChildren(QWidget)
        if widget.isVisibleTo(dialog)
        and widget.window() is dialog
        and widget.isEnabled()
        and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.focusProxy() is None
        and not (isinstance(widget, QLineEdit) and isinstance(widget.parent(), QAbstractSpinBox))
    ]


def place(widget: QWidget, dialog: QWidget) -> QRect:
    return QRect(widget.mapTo(dialog, QPoint()), widget.size())


def spoken(widget: QWidget) -> str:
    return QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name)


def seen(widget: QWidget) -> str:
    return f"{type(widget).__name__} {spoken(widget)!r} at {widget.geometry().getRect()}"


def screen_readers_find_a_name_and_its_label_for_each_stop(window: Window) -> None:
    dialog = window.dialog
    assert spoken(dialog)
    assert not [seen(button) for button in dialog.findChildren(QPushButton) if button.isDefault()], "Enter presses none"
    labels = [label for label in dialog.findChildren(QLabel) if label.isVisibleTo(dialog)]
    for stop in stops(dialog):
        assert spoken(stop), seen(stop)
        if isinstance(stop, _FIELDS):
            beside = [each for each in labels if each.text() and _is_label_of(place(each, dialog), place(stop, dialog))]
            assert not beside or any(label.buddy() is stop for label in labels), seen(stop)
    assert not [seen(label) for label in labels if not label.pixmap().isNull() and not spoken(label)]


def _is_label_of(label: QRect, field: QRect) -> bool:
    """Whether a label is right before a field, or right above it."""
    before = 0 <= field.left() - label.right() < 60 and abs(field.center().y() - label.center().y()) < 10
    above = 0 <= field.top() - label.bottom() < 14 and abs(field.left() - label.left()) < 20
    return before or above


def targets_are_large_enough(window: Window) -> None:
    dialog = window.dialog
    kinds = (QAbstractButton, QTabBar, *_FIELDS)
    small = [stop for stop in stops(dialog) if isinstance(stop, kinds) and min(stop.size().toTuple()) < _TARGET]
    assert not [seen(each) for each in small]


def texts_can_be_read(window: Window) -> None:
    dialog = window.dialog
    image = QImage(dialog.size() * _RATIO, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(_RATIO)
    dialog.render(image)
    for widget in dialog.findChildren(QWidget):
        if (
            isinstance(widget, QLabel | QAbstractButton)
            and widget.text().strip()
            and widget.isVisibleTo(dialog)
            and widget.isEnabled()
        ):
            rect = place(widget, dialog).intersected(dialog.rect()).adjusted(3, 3, -3, -3)
            if rect.isValid() and not widget.visibleRegion().isEmpty():
                assert _contrast(image, rect) >= _CONTRAST, seen(widget)


def _contrast(image: QImage, rect: QRect) -> float:
    """Return the contrast of the most frequent colour to the one that is most different from it."""
    part = image.copy(QRect(rect.topLeft() * _RATIO, rect.size() * _RATIO))
    counts = Counter(memoryview(part.constBits()).cast("I"))
    (background, _), *others = counts.most_common()
    enough = [color for color, count in others if count >= part.width() * part.height() * 0.0008]
    return max((contrast(QColor(color), QColor(background)) for color in enough), default=0.0)


def tab_reaches_all_of_it_from_the_top_to_the_bottom(window: Window) -> None:
    dialog = window.dialog
    first = window.focused
    order = [first]
    for _ in range(60):
        window.press(Qt.Key.Key_Tab)
        if window.focused is first:
            break
        order.append(window.focused)
    assert {seen(each) for each in order} == {seen(stop) for stop in stops(dialog)}
    top = min(range(len(order)), key=lambda at: (place(order[at], dialog).top(), place(order[at], dialog).left()))
    for before, after in zip(order[top:] + order[:top], (order[top:] + order[:top])[1:], strict=False):
        if before.parent() is after.parent():
            assert place(after, dialog).bottom() > place(before, dialog).top(), (seen(before), seen(after))


def mnemonics_are_unique(window: Window) -> None:
    dialog = window.dialog
    shown = [widget for widget in dialog.findChildren(QWidget) if widget.isVisibleTo(dialog)]
    texts = [each.text() for each in shown if isinstance(each, QAbstractButton | QLabel)]
    letters = [text.partition("&")[2][:1].lower() for text in texts if "&" in text.replace("&&", "")]
    assert len(letters) == len(set(letters)), letters


def it_can_be_as_small_as_a_notebook_at_200_percent(window: Window) -> None:
    dialog = window.dialog
    least = dialog.minimumSizeHint().expandedTo(dialog.minimumSize())
    assert least.boundedTo(_SMALLEST) == least, (least, _SMALLEST)


def it_lies_over_its_window(window: Window) -> None:
    def is_over() -> bool:
        off = window.dialog.frameGeometry().center() - window.window.frameGeometry().center()
        return abs(off.x()) < 20 and abs(off.y()) < 60

    window.until(is_over)  # one that has grown is moved a little later


def it_fits_on_a_small_screen(window: Window) -> None:
    dialog = window.dialog
    room = dialog.screen().availableGeometry()
    assert room.contains(QRect(room.topLeft(), dialog.frameGeometry().size()))


def what_gets_the_focus_is_scrolled_to_on_a_small_screen(window: Window) -> None:
    dialog = window.dialog
    dialog.resize(fitted(dialog, QSize(800, 600)))
    window.until(lambda: dialog.height() <= 600)
    first = window.focused
    for _ in range(60):
        window.press(Qt.Key.Key_Tab)
        focused = window.focused
        assert focused.visibleRegion().boundingRect() == focused.rect(), seen(focused)
        if focused is first:
            break


def escape_closes_it_and_gives_the_focus_back(window: Window) -> None:
    dialog = window.dialog
    parent = dialog.parentWidget()
    window.press(Qt.Key.Key_Escape)
    window.until(lambda: not dialog.isVisible())
    assert parent is not None
    parent.window().activateWindow()  # no window manager does it offscreen
    window.until(lambda: QApplication.focusWidget() is not None)
    assert window.focused.window() is parent.window()


#: In this order: the last ones make the dialog smaller and close it.
CHECKS: tuple[Callable[[Window], None], ...] = (
    screen_readers_find_a_name_and_its_label_for_each_stop,
    targets_are_large_enough,
    texts_can_be_read,
    mnemonics_are_unique,
    it_can_be_as_small_as_a_notebook_at_200_percent,
    it_lies_over_its_window,
    it_fits_on_a_small_screen,
    tab_reaches_all_of_it_from_the_top_to_the_bottom,
    what_gets_the_focus_is_scrolled_to_on_a_small_screen,
    escape_closes_it_and_gives_the_focus_back,
)


@pytest.mark.parametrize("name", NAMES)
def test_a_dialog(window: Window, name: str, subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plantdesk.ui.widgets.dialog._READING_SECONDS", 60)  # on a machine of any speed
    window.open(name)
    for check in CHECKS:
        with subtests.test(check.__name__):
            check(window)


@pytest.mark.parametrize("name", some(NAMES, 4))
def test_texts_can_be_read_in_dark_colors(window: Window, theme: Theme, name: str) -> None:
    theme.set_mode(ThemeMode.DARK)
    window.open(name)
    texts_can_be_read(window)


@pytest.mark.parametrize("name", some(NAMES, 4))
def test_large_text_on_a_small_screen_is_not_wider_than_the_dialog(window: Window, theme: Theme, name: str) -> None:
    theme.set_text_scale(1.5)
    try:
        dialog = window.open(name)
        for button in dialog.findChildren(QPushButton):
            if button.text() == "Change how it is read…":
                button.click()
        dialog.resize(fitted(dialog, QSize(800, 600)))
        QApplication.processEvents()
        for area in dialog.findChildren(ScrollArea):
            assert area.horizontalScrollBar().maximum() == 0
        assert dialog.width() <= fitted(dialog, QSize(800, 600)).width()
    finally:
        theme.set_text_scale(1)


@pytest.mark.parametrize("name", ["restore", "revoke", "labels", "export"])
def test_rows_are_selected_in_a_mirrored_window_too(window: Window, name: str) -> None:
    QApplication.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    try:
        dialog = window.open(name)
        assert all(table.selected_row is not None for table in dialog.findChildren(PlainTable))
    finally:
        QApplication.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def test_after_a_replacement_the_list_has_the_focus_where_ctrl_z_takes_it_back(window: Window) -> None:
    """In the search it would take back what was typed there."""
    window.field("Search by name, tag or ID").setFocus()
    window.open("replace")
    window.press(Qt.Key.Key_Return)
    window.until(lambda: "Replaced in 4 plants" in window.toast.text)
    window.activate()
    assert window.focused is window.the(PlantTableView)
