"""The window in other languages: the pseudo-language shows what is not translated, glued together or cut."""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import QLocale, QPoint, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QStyle,
    QStyleOptionFrame,
    QStyleOptionViewItem,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from plantdesk import __version__
from plantdesk.platform import languages
from plantdesk.platform.languages import Catalogue
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.plants.name_completion import NameDelegate
from plantdesk.ui.plants.table.view import PlantTableView
from plantdesk.ui.sidebar.view import SidebarView
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.translation import Translator, name_of
from tests.support.dialogs import Dialogs, fill
from tests.support.other_languages import LANGUAGES, Language, Pseudo, english, find_unmarked_words
from tests.support.window_driver import WindowDriver, menus_of
from tests.ui.conftest import open_store
from tests.ui.test_dialogs import NAMES

#: What the user, files and the system have written; formats and names that no language changes.
DATA = {
    *("Salvia", "nemorosa", "Mentha", "piperita", "Monstera", "deliciosa", "kitchen", "Kitchen", "bed"),
    *("Aster", "Rose", "Ivy", "Fern", "Thyme"),
    *("sunny", "twelve", "Beside the tap, in its own pot: runs.", "greenhouse", "plants.db", "plants"),
    *("CSV", "TSV", "JSON", "JSON Lines", "Excel", "UTF-8", "API", "PlantDesk", "HTTP", "POST", "curl"),
    *("Python", "SQLite", "Libraries", "System", "AM", "PM", "id", "name", "tag", "note", "English", "Ctrl"),
    *("Enter", "Shift", "Space"),
    *("plants-2026.csv", "bytes", __version__, "Deutsch", "Español", "Français"),
}


@pytest.fixture
def language(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[str]:
    """Show every text in brackets, or in the language of the parameter."""
    name = getattr(request, "param", "pseudo")
    translator = Translator()
    languages.set_current(Pseudo() if name == "pseudo" else Language(name))
    qapp.installTranslator(translator)
    yield name
    qapp.removeTranslator(translator)
    languages.set_current(Catalogue())


@pytest.fixture
def window(request: pytest.FixtureRequest, qtbot: QtBot, store: SqliteStore, theme: Theme, tmp_path: Path) -> Dialogs:
    """The whole window in the language."""
    request.getfixturevalue("language")  # before the first text
    bare = request.getfixturevalue("bare")
    fill(store)
    open_store(bare, store)
    return Dialogs(WindowDriver(qtbot, bare.window()), theme, store, tmp_path)


def texts_of(top: QWidget) -> Iterator[tuple[str, str]]:
    """Yield what a user reads or hears in a window, with where it is."""
    for widget in [top, *top.findChildren(QWidget)]:
        if widget.window() is not top or not widget.isVisibleTo(top):
            continue
        where = f"{type(widget).__name__} {english(widget.accessibleName())}"
        yield f"name of {where}", widget.accessibleName()
        yield f"tooltip of {where}", re.sub("<[^>]*>", "", widget.toolTip())
        if isinstance(widget, QLabel | QAbstractButton):
            yield where, widget.text()
        if isinstance(widget, QLineEdit | QPlainTextEdit):
            yield where, widget.placeholderText()
        if isinstance(widget, QTabBar | QComboBox):
            count = widget.count()
            for number in range(count):
                yield where, widget.tabText(number) if isinstance(widget, QTabBar) else widget.itemText(number)


def untranslated(top: QWidget, data: set[str]) -> list[str]:
    """Return the texts with words that were not looked up."""
    return [f"{where}: {text}" for where, text in texts_of(top) if find_unmarked_words(text, data)]


def is_cut(widget: QWidget) -> bool:
    """Whether a text does not fit into its label or button."""
    if isinstance(widget, QLabel) and widget.wordWrap():
        return widget.heightForWidth(widget.width()) > widget.height() + 1
    return widget.minimumSizeHint().width() > widget.width() + 1


def cut(top: QWidget) -> list[str]:
    """Return the visible labels and buttons whose text is cut, and the placeholders, which translations keep short."""
    found: list[QLabel | QAbstractButton] = [*top.findChildren(QLabel), *top.findChildren(QAbstractButton)]
    shown = [each for each in found if each.isVisibleTo(top) and each.window() is top and each.text()]
    widths = [(each.text(), each.width(), each.minimumSizeHint().width()) for each in shown if is_cut(each)]
    texts = [f"{text!r} has {width} of {least}" for text, width, least in widths]
    if isinstance(languages.current(), Pseudo):
        return texts
    fields = [field for field in top.findChildren(QLineEdit) if field.isVisibleTo(top) and field.window() is top]
    return texts + [repr(field.placeholderText()) for field in fields if is_placeholder_cut(field)]


def is_placeholder_cut(field: QLineEdit) -> bool:
    option = QStyleOptionFrame()
    field.initStyleOption(option)
    room = field.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, field).width()
    margins = field.textMargins()
    room -= margins.left() + margins.right() + 4  # QLineEdit's own
    return field.fontMetrics().horizontalAdvance(field.placeholderText()) > room


def mnemonics(texts: Iterable[str]) -> list[str]:
    """Return the letters that choose what has these texts."""
    found = (re.search("&([^&])", text.replace("&&", "")) for text in texts)
    return [each[1].lower() for each in found if each]


def repeated(letters: list[str]) -> list[str]:
    return sorted(letter for letter, count in Counter(letters).items() if count > 1)


#: “failure” is written by the tests themselves.
DIALOGS = [each for each in NAMES if each != "failure"]
#: For a release: until a text is translated, its letter in English may choose what another one does.
RELEASED = [pytest.param(each, marks=pytest.mark.slow) for each in LANGUAGES]
ALL = ["pseudo", *RELEASED]
TOOLS = ("replace", "replace-tidy", "duplicates", "tidy-tags", "known-names", "tag")
#: Pixels of the narrowest screen.
_SMALL_WIDTH = 800


@pytest.mark.parametrize("language", ALL, indirect=True)
@pytest.mark.parametrize("name", DIALOGS)
def test_the_texts_of_a_dialog_are_translated_and_fit_and_no_letter_chooses_two(
    language: str, window: Dialogs, tmp_path: Path, name: str
) -> None:
    dialog = window.open(name)
    QApplication.processEvents()
    window.user.until(lambda: not cut(dialog))  # after its last layout
    found: list[QLabel | QAbstractButton] = [*dialog.findChildren(QLabel), *dialog.findChildren(QAbstractButton)]
    texts = [each.text() for each in found if each.isVisibleTo(dialog) and each.window() is dialog]
    assert not repeated(mnemonics(texts)), language
    own = {*DATA, str(tmp_path / "plants.db-backups"), str(tmp_path), tmp_path.name}
    assert language != "pseudo" or not untranslated(dialog, own)


@pytest.mark.parametrize("language", RELEASED, indirect=True)
@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.usefixtures("language")
def test_the_dialogs_of_tools_fit_a_small_screen_in_large_text(window: Dialogs, theme: Theme, name: str) -> None:
    before = theme.text_scale
    theme.set_text_scale(1.5)
    try:
        dialog = window.open(name)
        QApplication.processEvents()
        assert dialog.minimumSizeHint().width() <= _SMALL_WIDTH
        dialog.resize(_SMALL_WIDTH, 560)
        window.user.until(lambda: not cut(dialog))
    finally:
        theme.set_text_scale(before)


def test_every_text_of_the_window_is_translated(window: Dialogs) -> None:
    user = window.user
    user.until(lambda: any("12" in text for text in user.texts()))
    assert not untranslated(user.window, DATA)
    for menu in menus_of(user.menu_bar):
        menu.aboutToShow.emit()
        assert not [action.text() for action in menu.actions() if find_unmarked_words(action.text(), DATA)]


@pytest.mark.parametrize("language", ALL, indirect=True)
def test_the_texts_of_the_window_fit_and_no_letter_chooses_two(language: str, window: Dialogs) -> None:
    user = window.user
    user.until(lambda: any("12" in text for text in user.texts()))
    user.until(lambda: not cut(user.window))  # after its last layout
    menus = list(menus_of(user.menu_bar))
    assert not repeated(mnemonics(menu.title() for menu in menus))
    for menu in menus:
        menu.aboutToShow.emit()
        assert not repeated(mnemonics(action.text() for action in menu.actions())), (language, menu.title())


#: Names of months in the long date of a card.
_DAYS = {QLocale("en_US").monthName(month) for month in range(1, 13)}


@pytest.mark.parametrize("language", ALL, indirect=True)
def test_the_texts_of_the_card_are_translated_and_fit(language: str, window: Dialogs) -> None:
    user = window.user
    user.window.resize(1280, 800)
    table, card = user.the(PlantTableView), user.action("Card")
    user.until(lambda: table.model().rowCount() == 12)
    if not card.isChecked():
        card.trigger()
    table.selectRow(0)
    user.until(lambda: user.button("Label…").isVisible())
    user.until(lambda: not cut(user.window))
    assert language != "pseudo" or not untranslated(user.window, DATA | _DAYS)
    table.selectAll()
    user.until(lambda: user.button("Select none").isVisible())
    user.until(lambda: not cut(user.window))
    assert language != "pseudo" or not untranslated(user.window, DATA | _DAYS)
    assert user.button("Select none").width() >= user.button("Select none").sizeHint().width(), language


@pytest.fixture
def right_to_left(qapp: QApplication) -> Iterator[None]:
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    yield
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


@pytest.mark.usefixtures("right_to_left")
def test_the_window_is_mirrored_for_a_language_from_right_to_left(window: Dialogs) -> None:
    user = window.user
    user.window.resize(1280, 800)
    user.until(lambda: not cut(user.window))
    starts = [each.mapTo(user.window, QPoint()).x() for each in (user.button("Add"), user.tag, user.name, user.id)]
    sidebar, table = (user.the(kind).mapTo(user.window, QPoint()).x() for kind in (SidebarView, PlantTableView))
    assert starts == sorted(starts)
    assert table < sidebar


@pytest.mark.usefixtures("right_to_left")
def test_a_latin_name_is_written_from_left_to_right_all_the_same(window: Dialogs) -> None:
    user = window.user
    user.type(user.name, "Sal")
    offers = user.the(QListView, "Known names")
    user.until(offers.isVisible)
    delegate = offers.itemDelegate()
    assert isinstance(delegate, NameDelegate)
    option = QStyleOptionViewItem()
    option.direction = Qt.LayoutDirection.RightToLeft
    layout = delegate.lay_out("Salvia nemorosa ‘Caradonna’", option, 400)
    first, last = (cast("tuple[float, int]", layout.lineAt(0).cursorToX(at)) for at in (0, 27))
    assert first < last


def test_each_language_is_offered_by_its_own_name() -> None:
    assert [name_of(text) for text in ("en", "de", "fr", "es", "pt_BR")] == [
        *("English", "Deutsch", "Français", "Español", "Português (Brasil)")
    ]


_OF_QT = [("de", "Abbrechen", "1.234"), ("fr", "Annuler", "1\u202f234"), ("en", "Cancel", "1,234")]


@pytest.mark.parametrize(("setting", "cancel", "number"), _OF_QT)
def test_a_language_is_that_of_qt_and_of_numbers_as_well(setting: str, cancel: str, number: str) -> None:
    code = f"""
from PySide6.QtWidgets import QApplication, QDialogButtonBox
from PySide6.QtCore import QLocale
from plantdesk.ui.translation import use_language
app = QApplication([])
use_language(app, {setting!r})
box = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
print(box.buttons()[0].text().replace("&", ""), QLocale().toString(1234))
"""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "LC_ALL": "C.UTF-8"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{cancel} {number}"
