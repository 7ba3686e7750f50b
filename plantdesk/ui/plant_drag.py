"""Drag and drop of tags and of plants. A drag of plants has no IDs: it means the selected plants of this window."""

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
    """Return the MIME data of a drag of the selected plants; it does not list them."""
    data = QMimeData()
    data.setData(_PLANTS_FORMAT, b"")
    return data


def has_plants(data: QMimeData) -> bool:
    """Return whether the data is that of a drag of plants from this window."""
    return data.hasFormat(_PLANTS_FORMAT)


def make_tag_data(tag: str) -> QMimeData:
    """Return the MIME data of a drag of a tag, which takes all tags below it along."""
    data = QMimeData()
    data.setData(_TAG_FORMAT, tag.encode(errors="surrogatepass"))
    return data


def read_dragged_tag(data: QMimeData) -> str | None:
    """Return the tag of a drag from this program, None for any other drag."""
    if not data.hasFormat(_TAG_FORMAT):
        return None
    return bytes(data.data(_TAG_FORMAT).data()).decode(errors="surrogatepass")


def drag_tag(source: QWidget, tag: str) -> None:
    """Run the drag of a tag, and return when the user has dropped it somewhere."""
    _run_drag(source, make_tag_data(tag), shortened(tag_text(tag), _MAX_SHOWN_LENGTH), Qt.DropAction.MoveAction)


def drag_plants(source: QWidget, count: int) -> None:
    """Run the drag of the `count` selected plants, and return when the user has dropped them somewhere."""
    text = translated(plants_text(count))
    _run_drag(source, make_plants_data(), text, Qt.DropAction.CopyAction)


def _run_drag(source: QWidget, data: QMimeData, text: str, action: Qt.DropAction) -> None:
    """Run a drag of `data`; `text` is shown at the pointer, on a rounded background."""
    drag = QDrag(source)
    drag.setMimeData(data)
    label_frame = QWidget()  # a style sheet paints no background of a transparent window
    label_frame.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
    fill(QHBoxLayout(label_frame), PlainLabel(text, role="drag"), margins=0)
    drag.setPixmap(label_frame.grab())
    drag.exec(action)
