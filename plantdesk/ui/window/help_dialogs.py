"""The dialogs of the Help menu: the manual, in a window of its own beside the plants, and what the program is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QUrl, Slot, qVersion
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QListWidgetItem, QTextBrowser, QVBoxLayout, QWidget

from plantdesk import __version__
from plantdesk.platform import manual
from plantdesk.platform.logs import system_facts
from plantdesk.ui.qt import fill
from plantdesk.ui.theme.metrics import EDGE, ICON_LARGE, L, M, S
from plantdesk.ui.widgets.buttons import CopyButton
from plantdesk.ui.widgets.dialog import START_ROLE, ButtonRole, Dialog
from plantdesk.ui.widgets.painting import Icon
from plantdesk.ui.widgets.plain_text import PlainLabel, TextView, report_focus

if TYPE_CHECKING:
    from plantdesk.ui.theme.theme import Theme


#: For text of 13 px.
_WIDTH = 520


class AboutDialog(Dialog):
    """Nothing in it is private: no path, no name of a plant or token."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("About PlantDesk"), parent)
        diagnosis = diagnosis_of(theme)
        copy = CopyButton(theme, self.tr("Copy &diagnosis"))
        copy.set_content(diagnosis)
        self.buttons.addButton(copy, START_ROLE)
        close = self.buttons.addButton(self.tr("Close"), ButtonRole.RejectRole)
        licences, field = PlainLabel(self._licences(), wrapped=True), self._text_field(diagnosis)
        fill(
            QVBoxLayout(self),
            self._header(theme),
            S,
            PlainLabel(self.tr("Licences"), role="caption", buddy=licences),
            licences,
            S,
            PlainLabel(self.tr("Diagnosis"), role="caption", buddy=field),
            field,
            M,
            self.buttons,
            margins=(EDGE, L, EDGE, L),
            spacing=S,
        )
        self.fit_height(theme.metrics.scaled(_WIDTH))
        close.setFocus()

    def _header(self, theme: Theme) -> QHBoxLayout:
        text = self.tr("Keeps your plants, and takes more of them from your own scripts.")
        titles = fill(
            QVBoxLayout(),
            PlainLabel(self.tr("PlantDesk {version}").format(version=__version__), role="title"),
            PlainLabel(text, tone="muted", wrapped=True),
            spacing=0,
        )
        return fill(
            QHBoxLayout(),
            (Icon(theme, "sprout", "accent", ICON_LARGE), Qt.AlignmentFlag.AlignTop),
            (titles, 1),
            spacing=L,
        )

    def _text_field(self, diagnosis: str) -> TextView:
        field = TextView(self.tr("Diagnosis"), diagnosis)
        lines = diagnosis.count("\n") + 2  # of which one is long
        spacing = field.fontMetrics().lineSpacing()
        field.setMinimumHeight(2 * spacing)
        field.setMaximumHeight(spacing * lines + 2 * EDGE)
        return field

    def _licences(self) -> str:
        return self.tr(
            "PlantDesk is free software under the MIT licence. It contains Qt and PySide (LGPL 3), Python (PSF), "
            "SQLite (public domain), icons of Lucide (ISC) and more: the licences of all are beside the program."
        )


def diagnosis_of(theme: Theme) -> str:
    """Return versions, and what the window looks like on this screen."""
    screen = QGuiApplication.primaryScreen()
    size, ratio = screen.size(), screen.devicePixelRatio()
    facts = [
        *system_facts(),
        ("Qt", f"{qVersion()}, {QGuiApplication.platformName()}"),
        ("Screen", f"{size.width()} x {size.height()}, scale {ratio:g}"),
        ("Window", f"{theme.mode.value} theme, text size {theme.text_scale:.0%}"),
    ]
    return "\n".join(f"{name}: {value}" for name, value in facts)


#: For text of 13 px.
_MANUAL_WIDTH, _MANUAL_HEIGHT, _PAGES_WIDTH, _ROW = 860, 600, 150, 32


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
        fill(QHBoxLayout(self), self._pages, (self._text, 1), margins=EDGE, spacing=M)
        self.resize(theme.metrics.scaled(_MANUAL_WIDTH), theme.metrics.scaled(_MANUAL_HEIGHT))
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
