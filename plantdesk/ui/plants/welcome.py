"""The page of an empty store: three ways in, and sample plants for a look around."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QBoxLayout, QFrame, QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget
from typing_extensions import override

from plantdesk.ui.menus import Key, key_text
from plantdesk.ui.page import DROP_TARGET
from plantdesk.ui.qt import STRETCH, fill
from plantdesk.ui.theme.metrics import EDGE, ICON_LARGE, XL, XS, L, M, S
from plantdesk.ui.widgets.containers import ReservedScrollBar, ScrollArea
from plantdesk.ui.widgets.painting import Icon
from plantdesk.ui.widgets.plain_text import PlainLabel, allow

if TYPE_CHECKING:
    from PySide6.QtCore import QMimeData
    from PySide6.QtGui import QResizeEvent, QShowEvent

    from plantdesk.ui.theme.theme import Theme

#: For text of 13 px: narrower pages have the cards one below the other, without examples.
_WIDE = 860
_ICON = 20


class WelcomePage(QWidget):
    """Shows what can be done with an empty store; its buttons only emit signals."""

    typing_requested = Signal()
    import_requested = Signal()
    paste_requested = Signal(str)
    token_requested = Signal()
    example_requested = Signal()
    samples_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icon = Icon(theme, "sprout", "accent", ICON_LARGE)
        self._paste_button = QPushButton(self.tr("Paste"))
        self._samples = QWidget()
        self._samples_button = QPushButton(self.tr("Add 20 sample plants"))
        typing = QPushButton(self.tr("Start typing"))
        files, token = QPushButton(self.tr("Import…")), QPushButton(self.tr("New token…"))
        example = QPushButton(self.tr("Copy example"))
        self._cards = [self._type_card(typing), self._import_card(files), self._script_card(token, example)]
        self._lay_out()
        for button, signal in (
            (typing, self.typing_requested),
            (files, self.import_requested),
            (token, self.token_requested),
            (example, self.example_requested),
            (self._samples_button, self.samples_requested),
        ):
            button.clicked.connect(signal)
        self._paste_button.clicked.connect(self._paste)
        QGuiApplication.clipboard().dataChanged.connect(self._allow_paste)

    def show_store(self, *, had_plants: bool, offers_samples: bool) -> None:
        """Say whether there were plants before, and offer sample plants or not."""
        self._title.setText(self.tr("No plants any more") if had_plants else self.tr("No plants yet"))
        self._text.setText(self._undo_text if had_plants else self._ways_text)
        self._samples.setVisible(offers_samples)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_wide = self.width() >= self._theme.metrics.scaled(_WIDE)
        direction = QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        self._row.setDirection(direction)
        self._row.setSpacing(L if is_wide else S)
        self._layout.setSpacing(S if is_wide else XS)  # all fits into a window of 800 × 600
        margin = L if is_wide else S
        self._layout.setContentsMargins(EDGE - S, margin, 2, margin)
        self._icon.setVisible(is_wide)
        for card in self._cards:
            card.set_wide(is_wide=is_wide)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._allow_paste()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.ActivationChange:  # on Wayland, other windows' copying is not signalled
            self._allow_paste()

    def _type_card(self, button: QPushButton) -> _Card:
        field = QFrame()
        field.setProperty("card", "true")
        fill(QVBoxLayout(field), PlainLabel("Monstera deliciosa"), margins=(M, S, M, S))
        then = fill(
            QHBoxLayout(),
            PlainLabel(self.tr("then"), tone="muted"),
            PlainLabel(self.tr("Enter"), role="key"),
            STRETCH,
            spacing=S,
        )
        example = QWidget()
        fill(QVBoxLayout(example), field, then, margins=0, spacing=M)
        text = self.tr("Type a name above and press Enter. The ID comes by itself; a tag says where the plant is.")
        return _Card(self._theme, "keyboard", self.tr("Type"), text, example, button)

    def _import_card(self, button: QPushButton) -> _Card:
        example = QFrame()
        example.setProperty("card", "true")
        grid = QGridLayout(example)
        grid.setContentsMargins(M, S, M, S)
        rows = (
            (self.tr("Name"), self.tr("Bed"), self.tr("Note")),
            ("Achillea", self.tr("bed 4"), self.tr("sunny edge")),
            ("Allium", self.tr("bed 2"), self.tr("200 bulbs")),
        )
        for row, cells in enumerate(rows):
            for column, text in enumerate(cells):
                grid.addWidget(PlainLabel(text, role="detail" if row else "caption"), row, column)
        text = self.tr(
            "Drop a file here, or paste rows of a table: CSV, Excel, JSON. You see what will happen before it does."
        )
        card = _Card(self._theme, "file-spreadsheet", self.tr("Import"), text, example, button, self._paste_button)
        card.setObjectName(DROP_TARGET)
        return card

    def _script_card(self, *buttons: QPushButton) -> _Card:
        example = QFrame()
        example.setProperty("card", "true")
        code = PlainLabel('plantdesk token create sync\nPOST /plants\n{"id": 1, "name": "Aloe vera"}')
        code.setFont(self._theme.metrics.fixed_font())
        code.setMinimumWidth(1)
        fill(QVBoxLayout(example), code, margins=(M, S, M, S))
        text = self.tr("Any program on this computer can add plants. It needs a token, which you make once.")
        return _Card(self._theme, "terminal", self.tr("Let a script add them"), text, example, *buttons)

    def _lay_out(self) -> None:
        content = QWidget(self)
        centre = Qt.AlignmentFlag.AlignHCenter
        self._row = fill(QBoxLayout(QBoxLayout.Direction.LeftToRight), *((each, 1) for each in self._cards), spacing=L)
        remark = PlainLabel(self.tr("Or look around with plants that are not yours:"), tone="muted")
        fill(QHBoxLayout(self._samples), STRETCH, remark, self._samples_button, STRETCH, margins=0, spacing=M)
        self._title = PlainLabel(role="empty-title", alignment=centre)
        self._ways_text = self.tr("There are three ways in. All of them can be undone.")
        self._undo_text = self.tr("Edit > Undo ({key}) brings back what was deleted here.").format(
            key=key_text(Key.Undo)
        )
        self._text = PlainLabel(tone="muted", alignment=centre)
        head = (self._icon, centre), S, self._title, self._text, L
        layout = self._layout = QVBoxLayout(content)
        layout.addStretch(2)
        fill(layout, *head, self._row, M, self._samples)
        layout.addStretch(3)
        area = ScrollArea(content, horizontal=False)
        ReservedScrollBar(area)
        fill(QVBoxLayout(self), area, margins=0)

    @Slot()
    def _allow_paste(self) -> None:
        """Allow Paste where the clipboard holds text, which is read only when it is pasted."""
        if self.isVisible():
            data: QMimeData | None = QGuiApplication.clipboard().mimeData()
            has_text = data is not None and data.hasText()
            allow(self._paste_button, "" if has_text else self.tr("There is no text on the clipboard."))

    @Slot()
    def _paste(self) -> None:
        self.paste_requested.emit(QGuiApplication.clipboard().text())


class _Card(QFrame):
    """One way in: heading, text, example, buttons."""

    def __init__(self, theme: Theme, icon: str, title: str, text: str, example: QWidget, *buttons: QPushButton) -> None:
        super().__init__()
        self.setProperty("card", "inset")
        self._example = example
        title_label = PlainLabel(title, role="strong")
        head = fill(QHBoxLayout(), Icon(theme, icon, "accent", _ICON), title_label, STRETCH, spacing=M)
        words = PlainLabel(text, tone="muted", wrapped=True)
        self._texts = texts = fill(QVBoxLayout(), head, words, STRETCH, spacing=M)
        row = fill(QHBoxLayout(), *buttons, STRETCH, spacing=S)
        self._content = fill(QBoxLayout(QBoxLayout.Direction.TopToBottom, self), (texts, 1), example, row)
        self._content.setSpacing(L)

    def set_wide(self, *, is_wide: bool) -> None:
        """Show the example, and the buttons under it; or only the buttons, beside the text."""
        direction = QBoxLayout.Direction.TopToBottom if is_wide else QBoxLayout.Direction.LeftToRight
        self._content.setDirection(direction)
        margin = XL if is_wide else S
        self._content.setContentsMargins(XL, margin, XL, margin)
        self._texts.setSpacing(M if is_wide else XS)
        self._example.setVisible(is_wide)
