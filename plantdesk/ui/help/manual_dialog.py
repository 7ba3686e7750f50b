"""The manual in a window of its own, which may stay open beside the plants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QListWidgetItem, QTextBrowser, QWidget

from plantdesk.platform import manual
from plantdesk.ui.theme.metrics import EDGE, L, M
from plantdesk.ui.widgets.dialog import Dialog
from plantdesk.ui.widgets.plain_text import report_focus

if TYPE_CHECKING:
    from plantdesk.ui.theme.theme import Theme

#: For text of 13 px.
_WIDTH, _HEIGHT, _PAGES_WIDTH, _ROW = 860, 600, 150, 32


class ManualDialog(Dialog):
    """Shows the pages of `resources/manual`, all of which are PlantDesk's own: no name of a plant is in them."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("PlantDesk manual"), parent)
        self.setModal(False)
        self._pages = QListWidget()
        self._pages.setAccessibleName(self.tr("Pages"))
        self._pages.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for name in manual.PAGES:
            item = QListWidgetItem(_title(name), self._pages)
            item.setSizeHint(QSize(0, theme.metrics.scaled(_ROW)))
        self._pages.setFixedWidth(theme.metrics.scaled(_PAGES_WIDTH))
        self._text = QTextBrowser()
        self._text.setOpenLinks(False)
        report_focus(self._text)
        self._text.anchorClicked.connect(self._on_link)
        self._pages.currentRowChanged.connect(self._show)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(EDGE, EDGE, EDGE, EDGE)
        layout.setSpacing(M)
        layout.addWidget(self._pages)
        layout.addWidget(self._text, 1)
        self.resize(theme.metrics.scaled(_WIDTH), theme.metrics.scaled(_HEIGHT))
        self._pages.setCurrentRow(0)

    @Slot(int)
    def _show(self, row: int) -> None:
        self._text.setMarkdown(manual.page(manual.PAGES[row]))
        self._text.document().setDocumentMargin(L)
        self._text.setAccessibleName(_title(manual.PAGES[row]))

    @Slot(QUrl)
    def _on_link(self, address: QUrl) -> None:
        name = address.path().removesuffix(".md")
        if address.scheme():
            QDesktopServices.openUrl(address)
        elif name in manual.PAGES:
            self._pages.setCurrentRow(manual.PAGES.index(name))
        else:
            self._go_to(address.fragment().replace("-", " "))

    def _go_to(self, heading: str) -> None:
        block = self._text.document().begin()
        while block.isValid() and block.text().lower() != heading:
            block = block.next()
        if block.isValid():
            self._text.verticalScrollBar().setValue(
                round(self._text.document().documentLayout().blockBoundingRect(block).top())
            )


def _title(page: str) -> str:
    return manual.page(page).partition("\n")[0].removeprefix("# ")
