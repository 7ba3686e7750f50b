from functools import partial

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from plantdesk.ui.page import Page, PagePart
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.messages import Tone

NEEDED = 600


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    return window


@pytest.fixture
def page(qtbot: QtBot, theme: Theme, window: QWidget) -> Page:
    """A page with a form, a list that needs 600 pixels beside the card, a sidebar and a card."""
    page = Page(theme, window)
    page.add_top_pane(QLineEdit())
    main_pane = QFrame()
    main_pane.setObjectName("list")
    page.set_main_pane(main_pane, lambda: NEEDED)
    for pane in (page.sidebar_pane, page.card_pane):
        pane.set_content(QLineEdit())
        pane.set_requested(requested=True)
    page.resize(1280, 700)
    with qtbot.waitExposed(window):
        window.show()
    return page


def test_the_card_collapses_first_and_the_sidebar_below_900_pixels(page: Page) -> None:
    page.resize(1100, 700)
    assert (page.sidebar_pane.is_docked, page.card_pane.is_docked, page.card_pane.isVisible()) == (True, False, False)
    page.resize(880, 700)
    assert (page.sidebar_pane.is_docked, page.sidebar_pane.isVisible()) == (False, False)
    page.resize(1280, 700)
    assert page.sidebar_pane.isVisible()
    assert page.card_pane.isVisible()


@pytest.mark.parametrize("name", ["sidebar_pane", "card_pane"])
def test_a_collapsed_pane_opens_over_the_list(qtbot: QtBot, page: Page, name: str) -> None:
    pane = getattr(page, name)
    page.resize(800, 500)
    qtbot.waitUntil(lambda: list_rect(page).width() == page.width())
    before = list_rect(page)
    pane.toggle()
    assert pane.isVisible()
    assert list_rect(page) == before
    assert before.contains(pane.geometry())
    assert page.close_drawer()
    assert not pane.isVisible()
    assert not page.close_drawer()
    assert pane.is_requested, "it is shown again where there is room"


@pytest.mark.parametrize("name", ["sidebar_pane", "card_pane"])
def test_a_pane_in_use_stays_open_when_there_is_no_room_for_it_any_more(page: Page, name: str) -> None:
    pane = getattr(page, name)
    field = pane.findChildren(QLineEdit)[0]
    field.setFocus()
    page.resize(800, 500)
    assert pane.is_drawer
    assert page.window().focusWidget() is field
    assert not (page.card_pane if name == "sidebar_pane" else page.sidebar_pane).isVisible()
    page.resize(1280, 700)
    assert pane.is_docked
    assert page.window().focusWidget() is field


def test_of_two_open_panes_that_with_the_focus_closes_first(qtbot: QtBot, page: Page) -> None:
    page.resize(800, 500)
    qtbot.waitUntil(lambda: list_rect(page).width() == page.width())
    for pane in (page.card_pane, page.sidebar_pane):
        pane.toggle()
    for pane, other in ((page.card_pane, page.sidebar_pane), (page.sidebar_pane, page.card_pane)):
        pane.findChildren(QLineEdit)[0].setFocus()
        assert page.close_drawer()
        assert (pane.isVisible(), other.isVisible()) == (False, True)
        pane.toggle()


def test_the_sidebar_covers_nothing_to_which_keys_move_the_focus(qtbot: QtBot, page: Page) -> None:
    page.resize(800, 500)
    qtbot.waitUntil(lambda: list_rect(page).width() == page.width())
    form, sidebar, card = (each.findChildren(QLineEdit)[0] for each in (page, page.sidebar_pane, page.card_pane))
    page.card_pane.toggle()
    for field in (card, form):
        page.sidebar_pane.toggle()
        sidebar.setFocus()
        field.setFocus()
        assert page.sidebar_pane.isVisible() == (field is card), "the card lies beside it"
        page.sidebar_pane.close_drawer()
    assert page.card_pane.isVisible(), "it shows what is current"


@pytest.mark.parametrize("drawer", ["sidebar_pane", "card_pane"])
def test_a_message_lies_over_the_list_and_covers_no_open_pane(qtbot: QtBot, page: Page, drawer: str) -> None:
    page.resize(800, 500)
    getattr(page, drawer).toggle()
    page.toast.show_problem("Nothing was copied. " * 5)
    qtbot.waitUntil(page.toast.isVisible)
    toast = QRect(page.toast.mapTo(page, QPoint()), page.toast.size())
    assert not toast.intersects(getattr(page, drawer).geometry())
    assert list_rect(page).contains(toast)
    assert list_rect(page).bottom() - toast.bottom() <= 1


def list_rect(page: Page) -> QRect:
    (main_pane,) = (frame for frame in page.findChildren(QFrame) if frame.objectName() == "list")
    return place_in(page, main_pane)


def place_in(page: Page, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(page, QPoint()), widget.size())


@pytest.mark.parametrize(("width", "drawer"), [(1200, ""), (800, "sidebar_pane"), (800, "card_pane")])
def test_a_bar_moves_nothing_and_covers_no_pane(qtbot: QtBot, page: Page, width: int, drawer: str) -> None:
    page.resize(width, 500)
    if drawer:
        getattr(page, drawer).toggle()
    panes = [pane for pane in (page.sidebar_pane, page.card_pane) if pane.isVisible()]
    qtbot.waitUntil(lambda: list_rect(page).bottom() == page.rect().bottom())
    before = [list_rect(page).topLeft(), list_rect(page).topRight(), *(pane.pos() for pane in panes)]
    bar = page.add_bar()
    bar.show_state(Tone.WARNING, "Changed elsewhere", "Yours: “Mine”\nTheirs: “Theirs”", ("Keep mine", page.update))
    page.toast.show_problem("Nothing was copied.")
    qtbot.waitUntil(lambda: page.rect().contains(place_in(page, bar)))
    qtbot.waitUntil(lambda: not page.toast.geometry().intersects(place_in(page, bar)))
    assert not any(pane.geometry().intersects(place_in(page, bar)) for pane in panes)
    assert [list_rect(page).topLeft(), list_rect(page).topRight(), *(pane.pos() for pane in panes)] == before
    bar.clear()
    qtbot.waitUntil(lambda: list_rect(page).bottom() == page.rect().bottom())


def test_f6_skips_what_is_hidden(page: Page) -> None:
    went: list[PagePart] = []
    widgets = {part: QLineEdit(page) for part in (PagePart.STATUS, PagePart.FORM, PagePart.LIST)}
    for part, widget in widgets.items():
        page.add_part(part, widget, partial(went.append, part))
        widget.show()
    page.focus_next_part(1)
    widgets[PagePart.FORM].hide()
    page.focus_next_part(1)
    assert went == [PagePart.FORM, PagePart.LIST]


def test_f6_comes_to_a_message_first_and_only_once(page: Page) -> None:
    went: list[PagePart] = []
    page.add_part(PagePart.FORM, page.card_pane, partial(went.append, PagePart.FORM))
    page.toast.show_problem("Nothing was copied.")
    page.activateWindow()
    page.focus_next_part(1)
    assert not page.toast.is_waiting
    page.focus_next_part(1)
    assert went == [PagePart.FORM]
