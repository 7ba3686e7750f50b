"""The manual in a window: its pages, offline, with a search over all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QRegularExpression, QSize, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QKeySequence, QShortcut, QTextCursor, QTextDocument
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QListWidgetItem, QTextBrowser, QTextEdit, QVBoxLayout, QWidget
from typing_extensions import override

from plantdesk.domain.errors import Text
from plantdesk.platform import languages, manual
from plantdesk.ui.qt import fill
from plantdesk.ui.texts import quoted, shown
from plantdesk.ui.theme.metrics import EDGE, L, M
from plantdesk.ui.widgets.dialog import ENTER_KEYS, Dialog
from plantdesk.ui.widgets.fields import SearchEdit
from plantdesk.ui.widgets.plain_text import PlainLabel, announce, report_focus

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent

    from plantdesk.ui.theme.theme import Theme

#: For text of 13 px.
_WIDTH, _HEIGHT, _PAGES_WIDTH, _ROW = 880, 600, 190, 32
_SCROLLING = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown}
_FORWARD = QTextDocument.FindFlag(0)


class ManualDialog(Dialog):
    """Shows a summary in the language of the window, and the pages of `resources/manual`, in English.

    All are PlantDesk's own: no name of a plant is in them. A search finds the pages with all its words and marks these,
    side by side as one hit. Enter goes to the next hit, also on another page, and Shift+Enter back. The keys
    that scroll do so from the search as well, which has the focus first.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("PlantDesk manual"), parent)
        self.setModal(False)
        self._theme = theme
        self._search = SearchEdit(theme, self.tr("Search the manual"))
        self._remark = PlainLabel(tone="muted")
        self._remark.hide()
        self._sources = [self._summary(), *map(manual.page, manual.PAGES)]
        self._titles = [each.partition("\n")[0].removeprefix("# ") for each in self._sources]
        self._texts: list[str] = []
        #: What is searched, as a regular expression, and its hits on each page.
        self._pattern, self._counts = "", [0] * len(self._sources)
        self._pages = QListWidget()
        self._pages.setAccessibleName(self.tr("Pages"))
        self._pages.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for title in self._titles:
            item = QListWidgetItem(title, self._pages)
            item.setSizeHint(QSize(0, theme.metrics.scaled(_ROW)))
        self._pages.setFixedWidth(theme.metrics.scaled(_PAGES_WIDTH))
        self._text = QTextBrowser()
        self._text.setOpenLinks(False)
        report_focus(self._text)
        self._text.anchorClicked.connect(self._on_link)
        self._pages.currentRowChanged.connect(self._show)
        self._search.textChanged.connect(self._find)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self._search.setFocus)
        head = fill(QHBoxLayout(), (self._search, 1), self._remark, spacing=M)
        body = fill(QHBoxLayout(), self._pages, (self._text, 1), spacing=M)
        fill(QVBoxLayout(self), head, (body, 1), margins=EDGE, spacing=M)
        self.resize_to_fit(QSize(theme.metrics.scaled(_WIDTH), theme.metrics.scaled(_HEIGHT)))
        self._pages.setCurrentRow(0)
        self._search.setFocus()

    def show_page(self, name: str, heading: str = "") -> None:
        """Show a page by its name, from a heading in lower case on."""
        self._pages.setCurrentRow(1 + manual.PAGES.index(name))
        if heading:
            self._go_to(heading)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.focusWidget() is self._search and self._search.text() and event.key() in ENTER_KEYS:
            self._go_on(back=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif self.focusWidget() is self._search and event.key() in _SCROLLING:
            QCoreApplication.sendEvent(self._text, event)
        else:
            super().keyPressEvent(event)

    @Slot(int)
    def _show(self, row: int) -> None:
        self._text.setMarkdown(self._sources[row])
        self._text.document().setDocumentMargin(L)
        self._text.setAccessibleName(self._titles[row])
        self._mark()

    @Slot(QUrl)
    def _on_link(self, address: QUrl) -> None:
        name = address.path().removesuffix(".md")
        if address.scheme():
            QDesktopServices.openUrl(address)
        elif name in manual.PAGES:
            self.show_page(name)
        else:
            self._go_to(address.fragment().replace("-", " "))

    # --- searching ---

    @Slot(str)
    def _find(self, text: str) -> None:
        """Show how many hits each page has, and go to the first one."""
        if not self._texts:
            self._texts = [_plain_text(source) for source in self._sources]
        self._pattern = _pattern(text.split())
        self._counts = [_hits(text.split(), self._pattern, each) for each in self._texts]
        self._show_hits()
        total = sum(self._counts)
        self._remark.setText(self._found(text.strip(), total))
        self._remark.setVisible(bool(self._remark.text()))
        if self._pattern:
            announce(self, self._remark.text())
        if total and not self._counts[self._pages.currentRow()]:
            self._pages.setCurrentRow(next(row for row, count in enumerate(self._counts) if count))
        self._text.moveCursor(QTextCursor.MoveOperation.Start)
        self._mark()
        if total:
            self._go_to_hit()

    def _show_hits(self) -> None:
        """Show how many hits each page has; pages without any cannot be chosen."""
        for row, count in enumerate(self._counts):
            item = self._pages.item(row)
            item.setText(f"{self._titles[row]}  {count}" if count else self._titles[row])
            flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
            item.setFlags(flags if count or not self._pattern else Qt.ItemFlag.NoItemFlags)

    @property
    def _expression(self) -> QRegularExpression:
        return QRegularExpression(self._pattern, QRegularExpression.PatternOption.CaseInsensitiveOption)

    def _found(self, text: str, count: int) -> str:
        if not text:
            return ""
        if not count:
            return self.tr("The manual does not contain {text}.").format(text=quoted(text, 20))
        return shown(Text("{count:,} hits", one="1 hit", count=count))

    def _go_on(self, *, back: bool) -> None:
        """Go to the next hit, after the last one of a page to the next page that has one."""
        rows = [row for row, count in enumerate(self._counts) if count]
        flags = QTextDocument.FindFlag.FindBackward if back else _FORWARD
        if not rows or self._go_to_hit(flags):
            return
        present = self._pages.currentRow()
        later = [row for row in rows if (row < present if back else row > present)] or rows
        self._pages.setCurrentRow(later[-1 if back else 0])
        self._text.moveCursor(QTextCursor.MoveOperation.End if back else QTextCursor.MoveOperation.Start)
        self._go_to_hit(flags)

    def _go_to_hit(self, flags: QTextDocument.FindFlag = _FORWARD) -> bool:
        """Go to the next hit of the page, if there is one, with some lines before and behind it."""
        is_found = self._text.find(self._expression, flags)
        place, height = self._text.cursorRect().center().y(), self._text.viewport().height()
        if is_found and not height // 8 < place < height * 7 // 8:
            bar = self._text.verticalScrollBar()
            bar.setValue(bar.value() + place - height // 3)
        return is_found

    def _mark(self) -> None:
        """Mark all hits of the page."""
        document, marks = self._text.document(), []
        row = self._pages.currentRow()
        cursor = document.find(self._expression) if self._pattern and self._counts[row] else QTextCursor()
        while not cursor.isNull():
            mark = QTextEdit.ExtraSelection()
            mark.cursor = cursor
            mark.format.setBackground(self._theme.colors.color("warning_bg"))
            marks.append(mark)
            cursor = document.find(self._expression, cursor)
        self._text.setExtraSelections(marks)

    def _summary(self) -> str:
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
        """Scroll to a heading, not to the line of the contents with the same text."""
        block = self._text.document().begin()
        while block.isValid() and not (block.blockFormat().headingLevel() and block.text().lower() == heading):
            block = block.next()
        if block.isValid():
            self._text.verticalScrollBar().setValue(
                round(self._text.document().documentLayout().blockBoundingRect(block).top())
            )


def _pattern(words: Sequence[str]) -> str:
    """Return a regular expression for words: all of them side by side, else each of them; empty for none."""
    escaped = [re.escape(word) for word in words]
    return "|".join(dict.fromkeys([r"[ \xa0]+".join(escaped), *sorted(escaped, key=len, reverse=True)]))


def _hits(words: Sequence[str], pattern: str, text: str) -> int:
    """Return how often a text has the words, if it has all of them."""
    folded = text.casefold()
    has_all = bool(words) and all(word.casefold() in folded for word in words)
    return len(re.findall(pattern, text, re.IGNORECASE)) if has_all else 0


def _plain_text(source: str) -> str:
    document = QTextDocument()
    document.setMarkdown(source)
    return document.toPlainText()
