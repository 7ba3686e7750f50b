"""The dialogs of the Help menu: the manual, and About with a diagnosis."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QRegularExpression, QSize, Qt, QUrl, Slot, qVersion
from PySide6.QtGui import (
    QDesktopServices,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QShortcut,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QListWidgetItem, QTextBrowser, QVBoxLayout, QWidget
from typing_extensions import override

from plantdesk import __version__
from plantdesk.platform import languages, manual
from plantdesk.platform.logs import system_info
from plantdesk.ui.qt import fill
from plantdesk.ui.texts import quoted
from plantdesk.ui.theme.metrics import EDGE, ICON_LARGE, L, M, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.buttons import CopyButton
from plantdesk.ui.widgets.dialog import ENTER_KEYS, START_ROLE, ButtonRole, Dialog
from plantdesk.ui.widgets.fields import SearchEdit
from plantdesk.ui.widgets.painting import Icon
from plantdesk.ui.widgets.plain_text import PlainLabel, TextView, announce, report_focus

#: Sizes for text of 13 px.
_MANUAL_WIDTH = 880
_MANUAL_HEIGHT = 600
_PAGES_WIDTH = 190
_ROW_HEIGHT = 32
_ABOUT_WIDTH = 560
#: Keys that scroll the manual while the field has the focus.
_SCROLL_KEYS = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown}


class ManualDialog(Dialog):
    """Shows a summary in the language of the window, and the English pages of `resources/manual`.

    The search hides pages without all its words; Enter goes to the next hit. Scroll keys work in the search field.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("PlantDesk manual"), parent)
        self.setModal(False)
        self._search = SearchEdit(theme, self.tr("Search the manual"))
        self._no_hit_label = PlainLabel(tone="muted")
        self._no_hit_label.hide()
        self._sources = [self._make_summary(), *map(manual.page_text, manual.PAGES)]
        self._titles = [source.partition("\n")[0].removeprefix("# ") for source in self._sources]
        self._texts = [_strip_markdown(source) for source in self._sources]
        #: The search as a regular expression, and the rows of the pages that have it.
        self._pattern = QRegularExpression()
        self._matches = [*range(len(self._sources))]
        self._pages = QListWidget()
        self._pages.setAccessibleName(self.tr("Pages"))
        self._pages.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for title in self._titles:
            item = QListWidgetItem(title, self._pages)
            item.setSizeHint(QSize(0, theme.metrics.scaled(_ROW_HEIGHT)))
        self._pages.setFixedWidth(theme.metrics.scaled(_PAGES_WIDTH))
        self._text = QTextBrowser()
        self._text.setOpenLinks(False)
        report_focus(self._text)
        self._text.anchorClicked.connect(self._on_link)
        self._pages.currentRowChanged.connect(self._show_row)
        self._search.textChanged.connect(self._list_matches)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self._search.setFocus)
        head = fill(QHBoxLayout(), (self._search, 1), self._no_hit_label, spacing=M)
        body = fill(QHBoxLayout(), self._pages, (self._text, 1), spacing=M)
        fill(QVBoxLayout(self), head, (body, 1), margins=EDGE, spacing=M)
        self.resize_to_fit(QSize(theme.metrics.scaled(_MANUAL_WIDTH), theme.metrics.scaled(_MANUAL_HEIGHT)))
        self._pages.setCurrentRow(0)
        self._search.setFocus()

    def show_page(self, name: str, heading: str = "") -> None:
        """Show a page by its name, scrolled to a heading in lower case."""
        self._pages.setCurrentRow(1 + manual.PAGES.index(name))
        if heading:
            self._go_to(heading)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.focusWidget() is self._search and self._search.text() and event.key() in ENTER_KEYS:
            self._go_to_hit()
        elif self.focusWidget() is self._search and event.key() in _SCROLL_KEYS:
            QCoreApplication.sendEvent(self._text, event)
        else:
            super().keyPressEvent(event)

    @Slot(int)
    def _show_row(self, row: int) -> None:
        self._text.setMarkdown(self._sources[row])
        self._text.document().setDocumentMargin(L)
        self._text.setAccessibleName(self._titles[row])

    @Slot(QUrl)
    def _on_link(self, address: QUrl) -> None:
        name = address.path().removesuffix(".md")
        if address.scheme():
            QDesktopServices.openUrl(address)
        elif name in manual.PAGES:
            self.show_page(name)
        else:
            self._go_to(address.fragment().replace("-", " "))

    @Slot(str)
    def _list_matches(self, text: str) -> None:
        """List the pages that have all words, and go to the first one of them."""
        words = text.split()
        self._pattern = _compile_pattern(words)
        self._matches = [row for row, page in enumerate(self._texts) if all(word.casefold() in page for word in words)]
        for row in range(self._pages.count()):
            self._pages.setRowHidden(row, row not in self._matches)
        self._no_hit_label.setText(self.tr("The manual does not contain {text}.").format(text=quoted(text.strip(), 20)))
        self._no_hit_label.setVisible(not self._matches)
        if not self._matches:
            announce(self, self._no_hit_label.text())
            return
        if self._pages.currentRow() not in self._matches:
            self._pages.setCurrentRow(self._matches[0])
        self._text.moveCursor(QTextCursor.MoveOperation.Start)
        if words:
            self._go_to_hit()

    def _go_to_hit(self) -> None:
        """Go to the next hit of the page, or to the first one after the last, and scroll it away from the edges."""
        if not self._text.find(self._pattern):
            self._text.moveCursor(QTextCursor.MoveOperation.Start)
            self._text.find(self._pattern)
        cursor_y = self._text.cursorRect().center().y()
        height = self._text.viewport().height()
        if not height // 8 < cursor_y < height * 7 // 8:
            bar = self._text.verticalScrollBar()
            bar.setValue(bar.value() + cursor_y - height // 3)

    def _make_summary(self) -> str:
        paragraphs = (
            "# " + self.tr("Summary"),
            self.tr(
                "Type a name and press Enter: the plant is stored. ID and tag are optional. Ctrl+Z takes a step back."
            ),
            self.tr(
                "The search finds names, tags and IDs. More words narrow it down, as do tag:kitchen, note:anna, "
                "from:import, added:7d, and -word for plants without it."
            ),
            self.tr(
                "F2 edits a name or a tag in the list; Ctrl+I opens the card with the note. "
                "Ctrl+H lists all changes, of which each can be undone."
            ),
            self.tr(
                "Files (CSV, Excel, JSON) are imported and exported under File. Ctrl+P prints labels with QR codes."
            ),
            self.tr("Programs on this computer add plants by the API. Each needs a token: File > API access."),
            self.tr("Backups are made by themselves. File > Restore brings one back, after a preview."),
        )
        remark = [] if languages.current().is_english else [self.tr("The other pages are in English.")]
        return "\n\n".join([*paragraphs, *remark])

    def _go_to(self, heading: str) -> None:
        """Scroll to the heading with this text in lower case, if there is one."""
        block = self._text.document().begin()
        while block.isValid() and not (block.blockFormat().headingLevel() and block.text().lower() == heading):
            block = block.next()
        if block.isValid():
            self._text.verticalScrollBar().setValue(
                round(self._text.document().documentLayout().blockBoundingRect(block).top())
            )


def _compile_pattern(words: Sequence[str]) -> QRegularExpression:
    """Return an expression that matches all words side by side, or any of them."""
    escaped = [re.escape(word) for word in words]
    text = "|".join([r"[ \xa0]+".join(escaped), *sorted(escaped, key=len, reverse=True)])
    return QRegularExpression(text, QRegularExpression.PatternOption.CaseInsensitiveOption)


def _strip_markdown(source: str) -> str:
    document = QTextDocument()
    document.setMarkdown(source)
    return document.toPlainText().casefold()


class AboutDialog(Dialog):
    """Shows version, licences and a diagnosis without private data, such as paths and names."""

    def __init__(self, theme: Theme, *, checks_for_updates: bool, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("About PlantDesk"), parent)
        checked = self.tr("PlantDesk checks once a day for new versions (Settings > New versions).")
        unchecked = self.tr("PlantDesk does not check for new versions; Settings > New versions lets it.")
        diagnosis = make_diagnosis(theme)
        copy_button = CopyButton(theme, self.tr("Copy &diagnosis"))
        copy_button.set_content(diagnosis)
        self.buttons.addButton(copy_button, START_ROLE)
        close_button = self.buttons.addButton(self.tr("Close"), ButtonRole.RejectRole)
        licences = PlainLabel(self._licences_text(), wrapped=True)
        field = self._make_text_field(diagnosis)
        self.arrange(
            self._make_header(theme),
            S,
            PlainLabel(checked if checks_for_updates else unchecked, tone="muted", wrapped=True),
            S,
            PlainLabel(self.tr("Licences"), role="caption", buddy=licences),
            licences,
            S,
            PlainLabel(self.tr("Diagnosis"), role="caption", buddy=field),
            field,
            M,
            spacing=S,
        )
        self.fit_height(theme.metrics.scaled(_ABOUT_WIDTH))
        close_button.setFocus()

    def _make_header(self, theme: Theme) -> QHBoxLayout:
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

    def _make_text_field(self, diagnosis: str) -> TextView:
        field = TextView(self.tr("Diagnosis"), diagnosis)
        lines = diagnosis.count("\n") + 2  # one of them is long
        spacing = field.fontMetrics().lineSpacing()
        field.setMinimumHeight(2 * spacing)
        field.setMaximumHeight(spacing * lines + 2 * EDGE)
        return field

    def _licences_text(self) -> str:
        return self.tr(
            "PlantDesk is free software under the MIT licence. It contains Qt and PySide (LGPL 3), Python (PSF), "
            "SQLite (public domain), icons of Lucide (ISC) and more: the licences of all are beside the program."
        )


def make_diagnosis(theme: Theme) -> str:
    """Return the versions of program, system and Qt, and screen and appearance, without private data."""
    screen = QGuiApplication.primaryScreen()
    size = screen.size()
    ratio = screen.devicePixelRatio()
    lines = [
        *system_info(),
        ("Qt", f"{qVersion()}, {QGuiApplication.platformName()}"),
        ("Screen", f"{size.width()} x {size.height()}, scale {ratio:g}"),
        ("Window", f"{theme.mode.value} theme, text size {theme.text_scale:.0%}"),
    ]
    return "\n".join(f"{name}: {value}" for name, value in lines)
