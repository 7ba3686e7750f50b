"""The base of all dialogs, message boxes, and file dialogs.

Dialogs fit on the screen, and Enter presses only the focused button. File dialogs do not open the files they list.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import QEvent, QFileInfo, QSize, Qt
from PySide6.QtGui import QIcon, QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFileIconProvider,
    QHBoxLayout,
    QLayout,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid
from typing_extensions import override

from plantdesk.ui.qt import QWIDGETSIZE_MAX, STRETCH, Item, fill, fitted
from plantdesk.ui.theme.metrics import EDGE, ICON_LARGE, XL, XXL, L, M, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.painting import Icon
from plantdesk.ui.widgets.plain_text import PlainLabel

#: Seconds after it was shown in which a dialog that resizes itself stays centred on its window.
_READING_SECONDS = 1.0
ENTER_KEYS = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})
ButtonRole = QDialogButtonBox.ButtonRole
#: The role of buttons at the start of the row, on all platforms.
START_ROLE = ButtonRole.ResetRole
#: For text of 13 px.
_MESSAGE_WIDTH = 380


def order_tabs(*parts: QWidget) -> None:
    """Set the tab order of widgets to the order in the layouts; needed each time before Tab moves the focus."""
    for first, second in pairwise(widget for part in parts for widget in find_tab_stops(part)):
        QWidget.setTabOrder(first, second)


def find_tab_stops(widget: QWidget) -> Iterator[QWidget]:
    """Yield `widget` and its descendants that accept the focus by Tab, in the order of the layouts."""
    if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
        yield widget
    layout = widget.layout()
    children = [child for child in widget.children() if isinstance(child, QWidget) and not child.isWindow()]
    laid_out = list(_find_laid_out(layout, children)) if layout is not None else []
    for child in [*laid_out, *(other for other in children if other not in laid_out)]:
        yield from find_tab_stops(child)


def _find_laid_out(layout: QLayout, children: list[QWidget]) -> Iterator[QWidget]:
    """Yield those `children` that are in a layout, in its order, without `itemAt`, which confuses PySide."""
    parts: list[QWidget | QLayout] = [*children, *(child for child in layout.children() if isinstance(child, QLayout))]
    for part in sorted(parts, key=layout.indexOf):
        if isinstance(part, QLayout):
            yield from _find_laid_out(part, children)
        elif layout.indexOf(part) >= 0:
            yield part


class Dialog(QDialog):
    """A dialog that is deleted when it is closed; its tasks' results are dropped then. Tab follows its layouts."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._shown_at = float("-inf")
        self._breakable_rows: tuple[QBoxLayout, ...] = ()
        #: The buttons, in the order of the platform; one with RejectRole closes the dialog.
        self.buttons = QDialogButtonBox()
        self.buttons.rejected.connect(self.reject)
        if (layout := self.buttons.layout()) is not None:
            layout.setSpacing(S)

    def add_primary(self, text: str, slot: Callable[[], object]) -> QPushButton:
        """Add the button of the main action, which calls `slot`, and return it."""
        button: QPushButton = self.buttons.addButton(text, ButtonRole.AcceptRole)
        button.setProperty("variant", "primary")
        button.clicked.connect(slot)
        return button

    def arrange(self, *items: Item, spacing: int = M) -> None:
        """Lay out items from top to bottom, and the buttons below them."""
        fill(QVBoxLayout(self), *items, self.buttons, margins=(EDGE, L, EDGE, L), spacing=spacing)

    def break_rows(self, *rows: QBoxLayout) -> None:
        """Let these rows, and the buttons, become columns if the screen is too narrow for them."""
        self._breakable_rows = rows

    def resize_to_fit(self, size: QSize) -> None:
        """Resize to `size`, at most to the screen's, and move up if the lower end would be below the screen.

        Within a second after it was shown, the dialog stays centred on its window.
        """
        self.resize(fitted(self, size))
        parent = self.parentWidget()
        if parent is not None and time.monotonic() - self._shown_at < _READING_SECONDS:
            self.adjustPosition(parent)  # not relative to its position, which is 0, 0 on X11 before it is framed
        elif self.isVisible():
            frame = self.frameGeometry()
            room = self.screen().availableGeometry()
            top = min(frame.top(), room.bottom() + 1 - frame.height())
            self.move(self.x(), max(top, room.top()))

    def fit_height(self, width: int) -> None:
        """Resize to this width, and to the height that the content needs in it, within the screen."""
        layout = self.layout()
        if layout is not None:
            activate_layouts(self)
            self.resize_to_fit(QSize(width, needed_height(layout, width)))

    @override
    def showEvent(self, event: QShowEvent) -> None:
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(False)  # or screen readers call one of them the default
            button.setDefault(False)  # as QDialogButtonBox makes the accepting button the default
        self._widen()
        self._shown_at = time.monotonic()
        super().showEvent(event)

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.LayoutRequest:  # a text has changed
            self._widen()
        return super().event(event)

    @override
    def focusNextPrevChild(self, following: bool) -> bool:
        order_tabs(self)
        return super().focusNextPrevChild(following)

    def _widen(self) -> None:
        """Resize to the layout's minimum width: Qt ignores it if the dialog has a minimum width of its own."""
        layout = self.layout()
        if layout is None:
            return
        room = fitted(self, QSize(QWIDGETSIZE_MAX, 0)).width()
        if layout.totalMinimumSize().width() > room:
            inner_width = room - layout.contentsMargins().left() - layout.contentsMargins().right()
            if self.buttons.minimumSizeHint().width() > inner_width:
                self.buttons.setOrientation(Qt.Orientation.Vertical)
            for row in self._breakable_rows:
                if row.minimumSize().width() > inner_width:
                    row.setDirection(QBoxLayout.Direction.TopToBottom)
            activate_layouts(self)
            for row in self._breakable_rows:  # a row may be too wide together with widgets beside it
                if layout.totalMinimumSize().width() > room:
                    row.setDirection(QBoxLayout.Direction.TopToBottom)
                    activate_layouts(self)
        width = min(layout.totalMinimumSize().width(), room)
        if not width <= self.minimumWidth() <= room:  # a larger one is from before its rows were broken
            self.setMinimumWidth(width)
        if self.width() > room:
            self.resize(fitted(self, self.size()))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER_KEYS:  # QDialog would press a default button wherever the focus is
            press_focused_button(self)
        else:
            super().keyPressEvent(event)


def activate_layouts(widget: QWidget) -> None:
    """Activate all layouts in a widget now; by itself Qt needs one event for each level."""
    for child in (*reversed(widget.findChildren(QWidget)), widget):
        if (layout := child.layout()) is not None:
            layout.activate()


def needed_height(layout: QLayout, width: int) -> int:
    """Return the height that a layout needs in a width, with or without wrapped texts."""
    return layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else layout.totalSizeHint().height()


def press_focused_button(window: QWidget) -> bool:
    """Click the focused button of `window`; return whether there is one."""
    focused = window.focusWidget()
    if not isinstance(focused, QPushButton | QToolButton) or not focused.hasFocus():
        return False
    focused.click()
    return True


class MessageBox(Dialog):
    """An icon (a warning by default), a sentence, details and buttons. Open it with `open`, not `exec`."""

    def __init__(self, theme: Theme, title: str, text: str, details: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._text = PlainLabel(text, role="strong", wrapped=True)
        self._details = PlainLabel(details, tone="muted", wrapped=True)
        self._details.setVisible(bool(details))
        for label in (self._text, self._details):
            label.setFixedWidth(theme.metrics.scaled(_MESSAGE_WIDTH))
        self._icon = Icon(theme, "triangle-alert", "warning", ICON_LARGE)
        self._lay_out()

    @property
    def text(self) -> str:
        """The sentence that is shown in bold."""
        return self._text.text()

    def set_icon(self, name: str, color: str) -> None:
        """Show an icon of the theme beside the text."""
        self._icon.show_icon(name, color)

    def add_button(self, label: str, role: ButtonRole = ButtonRole.AcceptRole) -> QPushButton:
        """Add a button that closes the box, and move the focus to it."""
        button: QPushButton = self.buttons.addButton(label, role)
        button.clicked.connect(self.accept)
        button.setFocus()
        return button

    def _lay_out(self) -> None:
        texts = fill(QVBoxLayout(), self._text, self._details, STRETCH, spacing=S)
        header = fill(QHBoxLayout(), (self._icon, Qt.AlignmentFlag.AlignTop), texts, spacing=M)
        layout = fill(QVBoxLayout(self), header, self.buttons, margins=(XXL, XL, XXL, XL), spacing=XL)
        layout.setSizeConstraint(QVBoxLayout.SizeConstraint.SetFixedSize)


class _IconProvider(QFileIconProvider):
    """Returns icon and type of a file by its name only, as Qt's own provider opens the file."""

    @override
    def icon(self, type_or_info: QFileIconProvider.IconType | QFileInfo) -> QIcon:
        if isinstance(type_or_info, QFileInfo):
            type_or_info = self.IconType.Folder if type_or_info.isDir() else self.IconType.File
        return super().icon(type_or_info)

    @override
    def type(self, info: QFileInfo) -> str:
        return "" if info.isDir() else info.suffix()


@cache
def _make_icon_provider() -> _IconProvider:
    return _IconProvider()


class FileDialog(QFileDialog):
    """A file dialog of the system, if that runs in another process, or else of Qt. It opens no file.

    When a process closes a descriptor of a database, it loses all locks on it, and the next command would remove the
    log that is in use (https://sqlite.org/howtocorrupt.html, section 2.2).
    """

    def __init__(self, parent: QWidget, title: str, start: str, filters: str = "") -> None:
        """Start in the folder `start`, or with the name of the file `start` in its folder."""
        super().__init__(parent, title, start if Path(start).is_dir() else str(Path(start).parent), filters)
        self.setIconProvider(_make_icon_provider())
        if sys.platform == "linux" and not _has_portal():  # GTK's dialog belongs to this process
            self.setOption(self.Option.DontUseNativeDialog)
        if not Path(start).is_dir():
            self.selectFile(Path(start).name)

    @classmethod
    def get_open_file(cls, parent: QWidget, title: str, start: str, filters: str = "") -> str:
        """Let the user choose an existing file; return its path, or an empty text."""
        return next(iter(cls(parent, title, start, filters).run(cls.FileMode.ExistingFile)), "")

    @classmethod
    def get_open_files(cls, parent: QWidget, title: str, start: str, filters: str = "") -> list[str]:
        """Let the user choose existing files; return their paths, none if the user cancels."""
        return cls(parent, title, start, filters).run(cls.FileMode.ExistingFiles)

    @classmethod
    def get_save_file(cls, parent: QWidget, title: str, start: str, filters: str = "", *, replaces: bool = True) -> str:
        """Let the user name a file; return its path, or an empty text. `replaces`: ask if it exists."""
        dialog = cls(parent, title, start, filters)
        dialog.setAcceptMode(cls.AcceptMode.AcceptSave)
        dialog.setOption(cls.Option.DontConfirmOverwrite, not replaces)
        return next(iter(dialog.run(cls.FileMode.AnyFile)), "")

    @classmethod
    def get_existing_folder(cls, parent: QWidget, title: str, start: str) -> str:
        """Let the user choose a folder; return its path, or an empty text."""
        dialog = cls(parent, title, start)
        dialog.setOption(cls.Option.ShowDirsOnly)
        return next(iter(dialog.run(cls.FileMode.Directory)), "")

    def run(self, mode: QFileDialog.FileMode) -> list[str]:
        """Run the dialog in an event loop of its own; return the chosen files, none if it was cancelled."""
        self.setFileMode(mode)
        is_accepted = self.exec()
        if not isValid(self):  # the window was closed meanwhile
            return []
        self.deleteLater()
        return self.selectedFiles() if is_accepted else []


def _has_portal() -> bool:
    """Return whether the desktop portal, another process, shows the dialogs of the system."""
    is_chosen = os.environ.get("QT_QPA_PLATFORMTHEME") == "xdgdesktopportal"
    return is_chosen or "SNAP" in os.environ or Path("/.flatpak-info").exists()
