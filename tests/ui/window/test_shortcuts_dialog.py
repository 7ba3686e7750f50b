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
from plantdesk.store.sqlite.store import Store
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.feature import OpenStore, WindowContext
from plantdesk.ui.menus import Section
from plantdesk.ui.translation import Translator
from plantdesk.ui.undo_stack import AddedPlant
from plantdesk.ui.window.commands import EditCommands, HelpCommands
from plantdesk.ui.window.help_dialogs import AboutDialog, ManualDialog, ShortcutsDialog
from tests.support.desk import Desk
from tests.ui.conftest import Adder


def test_every_command_with_a_key_is_listed_once(qtbot: QtBot, context: WindowContext) -> None:
    HelpCommands(context)
    context.menus.add(Section.FILE_BACKUPS, "&Water…", print, "Ctrl+W")
    context.menus.add(Section.VIEW_APPEARANCE, "&Larger", print, "Ctrl++")
    desk = Desk(qtbot, context.page)
    desk.choose("Help", "Keyboard shortcuts")
    listed = Desk(qtbot, desk.the(ShortcutsDialog)).texts()
    assert [listed.count(text) for text in ("Water", "W", "Keyboard shortcuts", "/")] == [1, 1, 1, 1]
    assert "About PlantDesk" not in listed
    assert {"Plants", "Find", "View", "Program", "Enter", "Esc", "Home"} <= set(listed)
    names = [each.accessibleName() for each in desk.the(ShortcutsDialog).findChildren(QWidget)]
    assert {"Ctrl+W", "Ctrl++", "Shift+F10"} <= set(names)


def test_commands_are_listed_without_what_they_act_on(
    qtbot: QtBot, context: WindowContext, store: Store, queries: StoreQueries, add: Adder
) -> None:
    HelpCommands(context)
    EditCommands(context).set_store(OpenStore(store, queries))
    context.undo_stack.push(AddedPlant(add("Fern")[0]))
    desk = Desk(qtbot, context.page)
    context.menus.add(Section.EDIT_PLANTS, "&Delete plant", print, "Del").setText("&Delete 8 plants")
    assert desk.action("Undo Add “Fern”").isEnabled()
    desk.choose("Help", "Keyboard shortcuts")
    listed = Desk(qtbot, desk.the(ShortcutsDialog)).texts()
    commands = [text for text in listed if text.startswith(("Undo", "Redo", "Delete"))]
    assert commands == ["Undo", "Redo", "Delete plant"]


def test_the_groups_are_in_two_columns_where_there_is_room_and_scroll_by_keys(
    qtbot: QtBot, context: WindowContext
) -> None:
    HelpCommands(context)
    desk = Desk(qtbot, context.page)
    desk.choose("Help", "Keyboard shortcuts")
    dialog = desk.the(ShortcutsDialog)
    labels = {label.text(): label.mapTo(dialog, QPoint()) for label in dialog.findChildren(QLabel)}
    plants, view = labels["Plants"], labels["View"]
    assert (plants.y(), plants.x() < view.x()) == (view.y(), True)
    dialog.resize(700, 250)
    bar = dialog.findChildren(QScrollArea)[0].verticalScrollBar()
    desk.until(lambda: bar.maximum() > 0)
    QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Tab)
    QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_PageDown)
    assert bar.value() == min(bar.maximum(), bar.pageStep())


def test_the_manual_has_its_pages_and_their_links_lead_on(qtbot: QtBot, context: WindowContext) -> None:
    HelpCommands(context)
    desk = Desk(qtbot, context.page)
    desk.choose("Help", "Manual")
    dialog = desk.the(ManualDialog)
    pages, text = dialog.findChildren(QListWidget)[0], dialog.findChildren(QTextBrowser)[0]
    assert [pages.item(row).text() for row in range(pages.count())][:3] == ["Summary", "The window", "Commands"]
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
    return manual.page(page).partition("\n")[0].removeprefix("# ")


def searched(
    qtbot: QtBot, context: WindowContext, words: str
) -> tuple[ManualDialog, QListWidget, QTextBrowser, QLineEdit]:
    """Open the manual and search it; return the dialog, its pages, its text and the field."""
    HelpCommands(context)
    desk = Desk(qtbot, context.page)
    desk.choose("Help", "Manual")
    dialog = desk.the(ManualDialog)
    search = Desk(qtbot, dialog).field("Search the manual")
    Desk(qtbot, dialog).type(search, words)
    return dialog, dialog.findChildren(QListWidget)[0], dialog.findChildren(QTextBrowser)[0], search


def listed(pages: QListWidget) -> list[str]:
    return [pages.item(row).text() for row in range(pages.count()) if not pages.isRowHidden(row)]


def test_the_manual_is_searched_over_all_pages(qtbot: QtBot, context: WindowContext) -> None:
    dialog, pages, text, search = searched(qtbot, context, "u+0000")
    hits = [title_of(name) for name in manual.PAGES if "U+0000" in manual.page(name)]
    assert listed(pages) == hits
    for row in range(pages.count()):
        if not pages.isRowHidden(row):
            pages.setCurrentRow(row)
            for _ in range(10):  # it goes round
                qtbot.keyClick(search, Qt.Key.Key_Return)
                assert text.textCursor().selectedText().casefold() == "u+0000"
    Desk(qtbot, dialog).type(search, "xyzzy")
    assert "The manual does not contain “xyzzy”." in Desk(qtbot, dialog).texts()
    qtbot.keyClick(search, Qt.Key.Key_Escape)
    assert not search.text()
    assert listed(pages) == ["Summary", *map(title_of, manual.PAGES)]


def test_several_words_are_found_on_pages_that_have_all_of_them(qtbot: QtBot, context: WindowContext) -> None:
    dialog, pages, text, search = searched(qtbot, context, "reader Barcode")
    texts = {name: manual.page(name).casefold() for name in manual.PAGES}
    assert listed(pages) == [title_of(name) for name, each in texts.items() if "reader" in each and "barcode" in each]
    assert text.textCursor().selectedText().casefold() in {"reader", "barcode"}
    search.clear()
    Desk(qtbot, dialog).type(search, "barcode reader")
    selected = set()
    for row in range(pages.count()):
        if not pages.isRowHidden(row):
            pages.setCurrentRow(row)
            for _ in range(10):
                qtbot.keyClick(search, Qt.Key.Key_Return)
                selected.add(text.textCursor().selectedText().casefold())
    assert "barcode reader" in selected


def test_the_manual_and_the_shortcuts_have_a_key_each(qtbot: QtBot, context: WindowContext) -> None:
    HelpCommands(context)
    desk = Desk(qtbot, context.page)
    desk.activate()
    QTest.keyClick(desk.window, Qt.Key.Key_F1)
    manual = desk.the(ManualDialog)
    desk.until(manual.isActiveWindow)
    search, text = Desk(qtbot, manual).field("Search the manual"), Desk(qtbot, manual).the(QTextBrowser)
    assert manual.focusWidget() is search
    Desk(qtbot, manual).the(QListWidget).setCurrentRow(1)
    QTest.keyClick(search, Qt.Key.Key_PageDown)
    assert text.verticalScrollBar().value() > 0
    QTest.keyClick(search, Qt.Key.Key_Escape)
    desk.until(lambda: not any(each.isVisible() for each in desk.window.findChildren(ManualDialog)))
    desk.activate()
    QTest.keyClick(desk.window, Qt.Key.Key_Slash, Qt.KeyboardModifier.ControlModifier)
    listed = Desk(qtbot, desk.the(ShortcutsDialog)).texts()
    assert [listed[listed.index(name) - 1] for name in ("Manual", "Keyboard shortcuts")] == ["F1", "/"]


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_summary_names_the_language_of_the_other_pages_only_where_it_is_another(
    qapp: QApplication, qtbot: QtBot, context: WindowContext, language: str
) -> None:
    translator = Translator(qapp)
    qapp.installTranslator(translator)
    languages.use(languages.catalogue_of(language))
    try:
        HelpCommands(context).show_page("window", "")
    finally:
        languages.use(Catalogue())
        qapp.removeTranslator(translator)
    dialog = Desk(qtbot, context.page).the(ManualDialog)
    dialog.findChildren(QListWidget)[0].setCurrentRow(0)
    shown = dialog.findChildren(QTextBrowser)[0].toPlainText()
    assert ("Englis" in shown) == (language == "de")  # or “Englisch”, once the remark is translated


def test_what_is_new_is_a_page_of_the_manual(qtbot: QtBot, context: WindowContext) -> None:
    commands = HelpCommands(context)
    desk = Desk(qtbot, context.page)
    desk.choose("Help", "What is new")
    commands.show_page("news")
    (dialog,) = context.page.findChildren(ManualDialog)
    text = dialog.findChildren(QTextBrowser)[0].toPlainText()
    assert text.startswith("What is new")
    assert "Use PlantDesk in German, French or Spanish: Settings > Language." in text


def test_a_diagnosis_without_private_data_can_be_copied(qtbot: QtBot, context: WindowContext) -> None:
    HelpCommands(context)
    desk = Desk(qtbot, context.page)
    desk.choose("Help", "About PlantDesk")
    about = Desk(qtbot, desk.the(AboutDialog))
    about.button("Copy diagnosis").click()
    diagnosis = QGuiApplication.clipboard().text()
    assert diagnosis == about.the(QPlainTextEdit).toPlainText()
    assert f"PlantDesk: {__version__}" in diagnosis
    assert "Qt: 6" in diagnosis
    assert str(context.location.folder) not in diagnosis
    assert any("MIT licence" in text for text in about.texts())
