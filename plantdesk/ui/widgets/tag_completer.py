"""The completer of the fields for a tag."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCompleter

from plantdesk.ui.widgets.passed_clicks import PassedClicks

if TYPE_CHECKING:
    from PySide6.QtCore import QObject, QStringListModel


def tag_completer(tags: QStringListModel, parent: QObject) -> QCompleter:
    """Return a completer that offers the tags that contain what was typed."""
    completer = QCompleter(tags, parent)
    completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
    completer.setFilterMode(Qt.MatchFlag.MatchContains)
    completer.setMaxVisibleItems(8)
    if (popup := completer.popup()) is not None:
        PassedClicks(popup)
    return completer
