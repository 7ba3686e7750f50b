import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QScrollArea,
    QTextBrowser,
    QWidget,
)
from pytestqt.qtbot import QtBot

from plantdesk import __version__
from plantdesk.platform import languages, manual
from plantdesk.platform.languages import Catalogue
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.feature import OpenStore, WindowContext
from plantdesk.ui.menus import Section
from plantdesk.ui.translation import Translator
from plantdesk.ui.undo_stack import AddedPlant
from plantdesk.ui.window.command_dialogs import ShortcutsDialog
from plantdesk.ui.window.commands import EditCommands, HelpCommands
from plantdesk.ui.window.help_dialogs import AboutDialog, ManualDialog
from tests.support.window_driver import WindowDriver
from tests.ui.conftest import Adder


@pytest.fixture
def user(qtbot: QtBot, context: WindowContext) -> WindowDriver:
    """The window with the commands of Help."""
    HelpCommands(context)
    return WindowDriver(qtbot, context.page)


class ManualDriver(WindowDriver):
    """The manual, which is open."""

    def __init__(self, user: WindowDriver) -> None:
        super().__init__(user.qtbot, user.the(ManualDialog))
        self.pages, self.text, self.search = self.the(QListWidget), self.the(QTextBrowser), self.the(QLineEdit)

    def listed(self) -> list[str]:
        return [self.pages.item(row).text() for row in self._rows()]

    def selected(self) -> str:
        return self.text.textCursor().selectedText().casefold()

    def found(self) -> set[str]:
        """Press Enter ten times on each page, as the search goes round; return what is selected then."""
        found = set()
        for row in self._rows():
            self.pages.setCurrentRow(row)
            for _ in range(10):
                self.qtbot.keyClick(self.search, Qt.Key.Key_Return)
                found.add(self.selected())
        return found

    def _rows(self) -> list[int]:
        return [row for row in range(self.pages.count()) if not self.pages.isRowHidden(row)]


def test_every_command_with_a_key_is_listed_once(user: WindowDriver, context: WindowContext) -> None:
    context.menus.add(Section.FILE_BACKUPS, "&Water…", print, "Ctrl+W")
    context.menus.add(Section.VIEW_APPEARANCE, "&Larger", print, "Ctrl++")
    user.choose("Help", "Keyboard shortcuts")
    listed = WindowDriver(user.qtbot, user.the(ShortcutsDialog)).texts()
    assert [listed.count(text) for text in ("Water", "W", "Keyboard shortcuts", "/")] == [1, 1, 1, 1]
    assert "About PlantDesk" not in listed
    assert {"Plants", "Find", "View", "Program", "Enter", "Esc", "Home"} <= set(listed)
    names = [widget.accessibleName() for widget in user.the(ShortcutsDialog).findChildren(QWidget)]
    assert {"Ctrl+W", "Ctrl++", "Shift+F10"} <= set(names)


def test_commands_are_listed_without_what_they_act_on(
    user: WindowDriver, context: WindowContext, store: SqliteStore, queries: StoreQueries, add: Adder
) -> None:
    EditCommands(context).set_store(OpenStore(store, queries))
    context.undo_stack.push(AddedPlant(add("Fern")[0]))
    context.menus.add(Section.EDIT_PLANTS, "&Delete plant", print, "Del").setText("&Delete 8 plants")
    assert user.action("Undo Add “Fern”").isEnabled()
    user.choose("Help", "Keyboard shortcuts")
    listed = WindowDriver(user.qtbot, user.the(ShortcutsDialog)).texts()
    commands = [text for text in listed if text.startswith(("Undo", "Redo", "Delete"))]
    assert commands == ["Undo", "Redo", "Delete plant"]


def test_the_groups_are_in_two_columns_where_there_is_room_and_scroll_by_keys(user: WindowDriver) -> None:
    user.choose("Help", "Keyboard shortcuts")
    dialog = user.the(ShortcutsDialog)
    labels = {label.text(): label.mapTo(dialog, QPoint()) for label in dialog.findChildren(QLabel)}
    plants, view = labels["Plants"], labels["View"]
    assert (plants.y(), plants.x() < view.x()) == (view.y(), True)
    dialog.resize(700, 250)
    bar = dialog.findChildren(QScrollArea)[0].verticalScrollBar()
    user.until(lambda: bar.maximum() > 0)
    QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Tab)
    QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_PageDown)
    assert bar.value() == min(bar.maximum(), bar.pageStep())


def test_the_manual_has_its_pages_and_their_links_lead_on(user: WindowDriver) -> None:
    user.choose("Help", "Manual")
    opened = ManualDriver(user)
    pages, text = opened.pages, opened.text
    assert opened.listed()[:3] == ["Summary", "The window", "Commands"]
    assert "Ctrl+Z" in text.toPlainText()
    for _ in range(2):
        QTest.keyClick(pages, Qt.Key.Key_Down)
    assert text.toPlainText().startswith("Commands")
    text.anchorClicked.emit(QUrl("#plantdesk-restore"))
    assert text.verticalScrollBar().value() > 0
    blocks = map(text.document().findBlockByNumber, range(text.document().blockCount()))
    (heading,) = (each for each in blocks if each.blockFormat().headingLevel() and each.text() == "plantdesk restore")
    assert 0 <= text.cursorRect(QTextCursor(heading)).top() < text.viewport().height() // 2
    text.anchorClicked.emit(QUrl("files.md"))
    assert pages.currentRow() == 1 + manual.PAGES.index("files")
    assert "![" not in text.toMarkdown()


def title_of(page: str) -> str:
    return manual.page_text(page).partition("\n")[0].removeprefix("# ")


def test_the_manual_is_searched_over_all_pages(user: WindowDriver) -> None:
    user.choose("Help", "Manual")
    opened = ManualDriver(user)
    opened.type(opened.search, "u+0000")
    assert opened.listed() == [title_of(name) for name in manual.PAGES if "U+0000" in manual.page_text(name)]
    assert opened.found() == {"u+0000"}
    opened.type(opened.search, "xyzzy")
    assert "The manual does not contain “xyzzy”." in opened.texts()
    opened.qtbot.keyClick(opened.search, Qt.Key.Key_Escape)
    assert not opened.search.text()
    assert opened.listed() == ["Summary", *map(title_of, manual.PAGES)]


def test_several_words_are_found_on_pages_that_have_all_of_them(user: WindowDriver) -> None:
    user.choose("Help", "Manual")
    opened = ManualDriver(user)
    opened.type(opened.search, "reader Barcode")
    texts = {name: manual.page_text(name).casefold() for name in manual.PAGES}
    assert opened.listed() == [title_of(each) for each, text in texts.items() if "reader" in text and "barcode" in text]
    assert opened.selected() in {"reader", "barcode"}
    opened.type(opened.search, "barcode reader")
    assert "barcode reader" in opened.found()


def test_the_manual_and_the_shortcuts_have_a_key_each(user: WindowDriver) -> None:
    user.activate()
    QTest.keyClick(user.window, Qt.Key.Key_F1)
    opened = ManualDriver(user)
    user.until(opened.search.hasFocus)
    opened.pages.setCurrentRow(1)
    QTest.keyClick(opened.search, Qt.Key.Key_PageDown)
    assert opened.text.verticalScrollBar().value() > 0
    QTest.keyClick(opened.search, Qt.Key.Key_Escape)
    user.until(lambda: not any(dialog.isVisible() for dialog in user.window.findChildren(ManualDialog)))
    user.activate()
    QTest.keyClick(user.window, Qt.Key.Key_Slash, Qt.KeyboardModifier.ControlModifier)
    listed = WindowDriver(user.qtbot, user.the(ShortcutsDialog)).texts()
    assert [listed[listed.index(name) - 1] for name in ("Manual", "Keyboard shortcuts")] == ["F1", "/"]


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_summary_names_the_language_of_the_other_pages_only_where_it_is_another(
    qapp: QApplication, qtbot: QtBot, context: WindowContext, language: str
) -> None:
    translator = Translator(qapp)
    qapp.installTranslator(translator)
    languages.set_current(languages.catalogue_of(language))
    try:
        HelpCommands(context).show_page("window", "")
    finally:
        languages.set_current(Catalogue())
        qapp.removeTranslator(translator)
    opened = ManualDriver(WindowDriver(qtbot, context.page))
    opened.pages.setCurrentRow(0)
    assert ("Englis" in opened.text.toPlainText()) == (language == "de")  # or “Englisch”, once the remark is translated


def test_what_is_new_is_a_page_of_the_manual(user: WindowDriver) -> None:
    for _ in range(2):
        user.action("What is new").trigger()
    assert len(user.window.findChildren(ManualDialog)) == 1
    text = ManualDriver(user).text.toPlainText()
    assert text.startswith("What is new")
    assert "Use PlantDesk in German, French or Spanish: Settings > Language." in text


def test_a_diagnosis_without_private_data_can_be_copied(user: WindowDriver, context: WindowContext) -> None:
    user.choose("Help", "About PlantDesk")
    about = WindowDriver(user.qtbot, user.the(AboutDialog))
    about.button("Copy diagnosis").click()
    diagnosis = QGuiApplication.clipboard().text()
    assert diagnosis == about.the(QPlainTextEdit).toPlainText()
    assert f"PlantDesk: {__version__}" in diagnosis
    assert "Qt: 6" in diagnosis
    assert str(context.location.folder) not in diagnosis
    assert any("MIT licence" in text for text in about.texts())
