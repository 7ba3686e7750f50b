"""Drags of tags, and of plants: their data only says that the selected plants of this window are dragged."""

from __future__ import annotations

import os

from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QDrag
from PySide6.QtWidgets import QHBoxLayout, QWidget

from plantdesk.domain.texts import plants_text, shortened
from plantdesk.ui.qt import fill
from plantdesk.ui.texts import tag_text, translated
from plantdesk.ui.widgets.plain_text import PlainLabel

#: The formats contain the process, as another one has other rows selected.
_PLANTS_FORMAT = f"application/x-plantdesk-selection-{os.getpid()}"
_TAG_FORMAT = f"application/x-plantdesk-tag-{os.getpid()}"
#: Characters of a tag that are shown at the pointer.
_MAX_SHOWN_LENGTH = 40


def make_plants_data() -> QMimeData:
    """Return the data of a drag of the selected plants."""
    data = QMimeData()
    data.setData(_PLANTS_FORMAT, b"")
    return data


def has_plants(data: QMimeData) -> bool:
    """Return whether the data is that of a drag of plants from this window."""
    return data.hasFormat(_PLANTS_FORMAT)


def make_tag_data(tag: str) -> QMimeData:
    """Return the data of a drag of a tag and all tags below it."""
    data = QMimeData()
    data.setData(_TAG_FORMAT, tag.encode(errors="surrogatepass"))
    return data


def read_dragged_tag(data: QMimeData) -> str | None:
    """Return the tag of a drag from this program, None for any other drag."""
    if not data.hasFormat(_TAG_FORMAT):
        return None
    return bytes(data.data(_TAG_FORMAT).data()).decode(errors="surrogatepass")


def drag_tag(source: QWidget, tag: str) -> None:
    """Let the user drag a tag; return when it is dropped."""
    _run_drag(source, make_tag_data(tag), shortened(tag_text(tag), _MAX_SHOWN_LENGTH), Qt.DropAction.MoveAction)


def drag_plants(source: QWidget, count: int) -> None:
    """Let the user drag the `count` selected plants; return when they are dropped."""
    text = translated(plants_text(count))
    _run_drag(source, make_plants_data(), text, Qt.DropAction.CopyAction)


def _run_drag(source: QWidget, data: QMimeData, text: str, action: Qt.DropAction) -> None:
    """Drag data, with a text on a rounded background at the pointer."""
    drag = QDrag(source)
    drag.setMimeData(data)
    label_frame = QWidget()  # a style sheet paints no background of a transparent window
    label_frame.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
    fill(QHBoxLayout(label_frame), PlainLabel(text, role="drag"), margins=0)
    drag.setPixmap(label_frame.grab())
    drag.exec(action)
