"""The layout of the settings dialog: sections of rows, each with a label, controls and a hint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QBoxLayout, QComboBox, QHBoxLayout, QVBoxLayout, QWidget
from typing_extensions import override

from plantdesk.domain.folding import fold
from plantdesk.platform import languages
from plantdesk.ui.qt import STRETCH, fill, make_separator_line
from plantdesk.ui.theme.metrics import XL, M, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.plain_text import PlainLabel, announce

#: For text of 13 px.
_LABEL_WIDTH = 128
_MAX_LABEL_WIDTH = 176
#: The most lines of a hint beside the controls.
_MAX_HINT_LINES = 1.8
#: The least width of a hint that has more than one line.
_MIN_HINT_WIDTH = 100
_HORIZONTAL = QBoxLayout.Direction.LeftToRight
_VERTICAL = QBoxLayout.Direction.TopToBottom


class SettingCommands(NamedTuple):
    """Commands of other features that the settings contain; `show_manual` gets a page and a heading."""

    compact_rows: QAction
    keep_tag: QAction
    open_api_access: Callable[[], object]
    back_up: Callable[[], object]
    show_manual: Callable[[str, str], object]


class SettingRow(QWidget):
    """A row of the settings: label, controls and hint. The first control has the label as its accessible name.

    The first control is also the buddy of the hint: Orca speaks labels without a buddy when a dialog opens.
    """

    def __init__(self, theme: Theme, label: str, *controls: QWidget, hint: str = "", words: str = "") -> None:
        """Show `hint` beside the controls; “Find a command” also finds the row by `words`."""
        super().__init__()
        self._theme = theme
        self._words = words
        self._label = PlainLabel(label, wrapped=True, buddy=controls[0])
        self._hint = PlainLabel(tone="muted", wrapped=True, buddy=controls[0])
        self.set_hint(hint)
        self._hint.setMinimumWidth(1)  # the controls keep their widths
        self._error = PlainLabel(tone="error", wrapped=True)
        self._controls = controls
        if not (isinstance(controls[0], QAbstractButton) and controls[0].text()):
            controls[0].setAccessibleName(label)
        beside = fill(QHBoxLayout(), *controls, STRETCH, margins=0, spacing=S)
        self._content_layout = fill(QBoxLayout(_HORIZONTAL), beside, (self._hint, 1), margins=0, spacing=S)
        right = fill(QVBoxLayout(), self._content_layout, self._error, margins=0, spacing=0)
        self._row_layout = fill(QBoxLayout(_HORIZONTAL, self), self._label, (right, 1), margins=0, spacing=0)
        self.setMinimumWidth(1)  # if the controls have no room beside the label, they go below it
        self._error.hide()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Move the hint below the controls if it needs more than two lines, and wide controls below the label."""
        super().resizeEvent(event)
        controls = sum(control.sizeHint().width() + S for control in self._controls if not control.isHidden())
        is_beside = controls - S <= self.width() - self._label.width()
        room = self.width() - controls - (self._label.width() if is_beside else 0)
        hint = self._hint.fontMetrics().horizontalAdvance(self._hint.text())
        has_room = hint <= room or (
            hint < _MAX_HINT_LINES * room and room > self._theme.metrics.scaled(_MIN_HINT_WIDTH)
        )
        self._content_layout.setDirection(_HORIZONTAL if has_room or not hint else _VERTICAL)
        self._row_layout.setDirection(_HORIZONTAL if is_beside else _VERTICAL)

    @property
    def focus_target(self) -> QWidget:
        """The first control, which gets the focus when the dialog is opened at this row."""
        return self._controls[0]

    @property
    def label(self) -> str:
        """The translated label, by which “Find a command” lists the setting."""
        return self._label.text()

    @property
    def words(self) -> str:
        """The folded texts by which “Find a command” finds the row, also in English."""
        texts = self._collect_search_texts()
        return fold(" ".join([*texts, *map(languages.current().sources, texts)]).replace("&", ""))

    def set_hint(self, text: str) -> None:
        """Replace the hint beside the controls; an empty one takes no room."""
        self._hint.setText(text.replace("&", "&&"))  # it has a buddy, so & would mark a mnemonic

    def show_error(self, text: str) -> None:
        """Show under the controls why a value is refused; an empty text removes it."""
        self._error.setText(text)
        self._error.setVisible(bool(text))
        if text:
            announce(self, text)

    def _collect_search_texts(self) -> list[str]:
        texts = [self._label.text(), self._hint.text(), self._words]
        for control in self._controls:
            if isinstance(control, QComboBox):
                texts += [control.itemText(index) for index in range(control.count())]
            elif isinstance(control, QAbstractButton | PlainLabel):
                texts.append(control.text())
        return texts

    @property
    def label_width(self) -> int:
        """The width in pixels that the label needs on one line."""
        return self._label.fontMetrics().horizontalAdvance(self._label.text()) + M

    def fit(self, label_width: int) -> None:
        """Set the width of the label, which is the same in all rows, and the least height."""
        self._label.setFixedWidth(label_width)
        self.setMinimumHeight(self._theme.metrics.control)


def fit_rows(rows: Sequence[SettingRow], theme: Theme) -> None:
    """Give the labels of all rows one width, so that the controls are aligned in every language."""
    needed_width = max(row.label_width for row in rows)
    width = max(theme.metrics.scaled(_LABEL_WIDTH), min(theme.metrics.scaled(_MAX_LABEL_WIDTH), needed_width))
    for row in rows:
        row.fit(width)


class SettingsSection(QWidget):
    """A heading of the settings dialog with its rows."""

    def __init__(self, title: str, rows: Sequence[SettingRow]) -> None:
        super().__init__()
        self.title = title
        self.rows = rows
        heading = PlainLabel(title, role="strong")
        line = make_separator_line()
        fill(QVBoxLayout(self), heading, line, *rows, margins=(0, 0, 0, XL), spacing=S)
