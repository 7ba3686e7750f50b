"""Functions that Qt lacks: for windows, layouts, margins and dynamic properties; the diagnostics of Qt."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

from PySide6.QtCore import QLibraryInfo, QModelIndex, QPersistentModelIndex, QSize, QStandardPaths, Qt, qVersion
from PySide6.QtGui import QGuiApplication, QIcon, QImageReader
from PySide6.QtWidgets import QApplication, QBoxLayout, QFrame, QLayout, QWidget
from shiboken6 import invalidate, isValid

from plantdesk.platform.paths import home_folder, resources_folder

Box = TypeVar("Box", bound=QBoxLayout)
#: A widget, a filled layout, one of them with a stretch factor or an alignment, a gap in pixels, or STRETCH.
Item: TypeAlias = QWidget | QLayout | tuple[QWidget | QLayout, int] | tuple[QWidget, Qt.AlignmentFlag] | int
Margins: TypeAlias = int | tuple[int, int, int, int]
#: The type of indexes that models and delegates get.
Index: TypeAlias = QModelIndex | QPersistentModelIndex
#: The largest size of a widget; PySide has no such constant.
QWIDGETSIZE_MAX = (1 << 24) - 1
#: The size of title bar and borders. The real one is known only after the window is shown.
_FRAME_SIZE = QSize(16, 48)
#: Item of a layout that takes the room which the others leave.
STRETCH = -1


def application() -> QApplication:
    """Return the application. It exists as long as there are widgets."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)  # noqa: S101  never a mere QCoreApplication
    return app


def app_icon() -> QIcon:
    """Return the icon of PlantDesk for windows and the tray."""
    return QIcon(str(resources_folder() / "icons" / "plantdesk.svg"))


def bring_to_front(window: QWidget, token: str = "") -> None:
    """Show a window and raise it; on Wayland this needs an activation token."""
    if token:
        os.environ["XDG_ACTIVATION_TOKEN"] = token  # from there Qt reads it (Wayland)
    window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
    window.show()
    window.raise_()
    window.activateWindow()


def close_window(window: QWidget | None) -> None:
    """Close a window, unless it is None or deleted already."""
    if window is not None and isValid(window):
        window.close()


def has_focus(widget: QWidget) -> bool:
    """Return whether a widget or one of its descendants has the focus."""
    focused = QApplication.focusWidget()
    return focused is not None and (focused is widget or widget.isAncestorOf(focused))


def is_seen(widget: QWidget) -> bool:
    """Return whether the window of a widget is neither hidden nor minimized."""
    window = widget.window()
    return window.isVisible() and not window.isMinimized()


def fill(layout: Box, *items: Item, margins: Margins | None = None, spacing: int | None = None) -> Box:
    """Add items to a box layout, and return it; `margins` and `spacing` are by default the style's."""
    if margins is not None:
        layout.setContentsMargins(*(margins if isinstance(margins, tuple) else [margins] * 4))
    if spacing is not None:
        layout.setSpacing(spacing)
    for item in items:
        _add_item(layout, item)
    return layout


def _add_item(layout: QBoxLayout, item: Item) -> None:
    if item == STRETCH:
        layout.addStretch(1)
        return
    if isinstance(item, int):
        layout.addSpacing(item)
        return
    part, extra = item if isinstance(item, tuple) else (item, 0)
    if isinstance(part, QLayout):
        add_layout(layout, part, extra)
    elif isinstance(extra, Qt.AlignmentFlag):
        layout.addWidget(part, alignment=extra)
    else:
        layout.addWidget(part, extra)


def add_layout(outer: QBoxLayout, inner: QLayout, stretch: int = 0) -> None:
    """Add a layout that has items to another one, and invalidate the Python objects of its items.

    PySide would mistake later objects at the addresses of deleted items for these.
    """
    outer.addLayout(inner, stretch)
    _release_items(inner)


def _release_items(layout: QLayout) -> None:
    for item in map(layout.itemAt, range(layout.count())):
        if isinstance(item, QLayout):
            _release_items(item)
        elif item is not None:
            invalidate(item)


def make_separator_line() -> QFrame:
    """Return a horizontal line in the colour of the theme."""
    line = QFrame()
    line.setProperty("pane", "lines")
    line.setFixedHeight(1)
    return line


def fitted(widget: QWidget, requested: QSize) -> QSize:
    """Return a size, reduced to fit the screen of the widget inside a window frame."""
    return requested.boundedTo(widget.screen().availableGeometry().size() - _FRAME_SIZE)


def documents_folder() -> Path:
    """Return the user's folder for documents, in which file dialogs start; without one, the home folder."""
    folder = Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation))
    return folder if folder.is_dir() else home_folder()


def mirrored(widget: QWidget, left: int, top: int, right: int, bottom: int) -> tuple[int, int, int, int]:
    """Return the margins of a layout in `widget`, mirrored in a right-to-left layout."""
    return (right, top, left, bottom) if widget.isRightToLeft() else (left, top, right, bottom)


def set_properties(widget: QWidget, **properties: str | bool) -> None:
    """Set dynamic properties, a bool as true or false, and apply the style sheet's rules for them.

    A widget that was never shown is polished when shown; asking for its style here would delay the start by 20 ms.
    """
    texts = {name: str(value).lower() if isinstance(value, bool) else value for name, value in properties.items()}
    changed = [name for name, text in texts.items() if widget.property(name) != text]
    for name in changed:
        widget.setProperty(name, texts[name])
    if changed and widget.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
        widget.style().polish(widget)


class QtDiagnostics(NamedTuple):
    """Qt's version, its plugins for platforms and images, and whether it can render SVG."""

    qt: str
    platforms: list[str]
    image_formats: list[str]
    #: Whether an SVG icon was rendered, which needs a plugin.
    draws_icon: bool


def qt_diagnostics(icon: Path) -> QtDiagnostics:
    """Return the diagnostics, after rendering `icon`. Creates a QGuiApplication if there is none."""
    app = QGuiApplication.instance() or QGuiApplication(["plantdesk"])
    plugins = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath))
    diagnostics = QtDiagnostics(
        qt=qVersion(),
        platforms=sorted(_plugin_name(file) for file in (plugins / "platforms").iterdir() if file.is_file()),
        image_formats=sorted(bytes(name.data()).decode() for name in QImageReader.supportedImageFormats()),
        draws_icon=icon.is_file() and not QIcon(str(icon)).pixmap(32, 32).isNull(),
    )
    del app  # before the interpreter exits, or Qt crashes
    return diagnostics


def _plugin_name(plugin: Path) -> str:
    """Return the plugin's own name: xcb for libqxcb.so, windows for qwindows.dll."""
    return plugin.stem.removeprefix("lib").removeprefix("q")
