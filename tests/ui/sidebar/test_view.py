"""What the list of the sidebar shows, painted."""

from collections.abc import Iterator, Sequence

import pytest
from PySide6.QtCore import QBuffer
from PySide6.QtSvg import QSvgGenerator
from pytestqt.qtbot import QtBot

from plantdesk.domain.selections import HasTag
from plantdesk.ui.filters import TODAY, UNTAGGED
from plantdesk.ui.sidebar.entries import Contents, SidebarEntry, entries_of
from plantdesk.ui.sidebar.view import SidebarView
from plantdesk.ui.theme.theme import Theme


@pytest.fixture
def large_text(theme: Theme) -> Iterator[Theme]:
    """A theme whose text size may be changed."""
    yield theme
    theme.set_text_scale(1)


def show_view(qtbot: QtBot, theme: Theme, entries: Sequence[SidebarEntry]) -> SidebarView:
    """Show a view that is as wide as it needs."""
    view = SidebarView(theme)
    qtbot.addWidget(view)
    view.show_entries(entries)
    view.resize(view.needed_width(), 800)
    with qtbot.waitExposed(view):
        view.show()
    return view


def painted(view: SidebarView) -> str:
    """Return the view as SVG, which has its texts."""
    buffer = QBuffer()
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    view.render(generator)
    return bytes(buffer.data().data()).decode()


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_a_million_plants_are_counted_beside_the_whole_name(qtbot: QtBot, large_text: Theme, scale: float) -> None:
    large_text.set_text_scale(scale)
    tags = [SidebarEntry(f"bed {bed}", bed, HasTag(f"bed {bed}", is_exact=True)) for bed in range(50)]
    everything = SidebarEntry("All plants", 8_204_551, is_active=True)
    today, untagged = SidebarEntry("Today", 8_204_551, TODAY), SidebarEntry("No tag", 8_204_551, UNTAGGED)
    view = show_view(qtbot, large_text, [everything, today, untagged, *tags])
    assert view.verticalScrollBar().isVisible()
    texts = painted(view)
    assert all(text in texts for text in (">All plants<", ">Today<", ">No tag<", ">8,204,551<"))
    view.resize(view.needed_width() - 8, 400)
    assert ">All plants<" not in painted(view), "not wider than needed"


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_of_the_deepest_tag_a_part_of_the_name_is_seen(qtbot: QtBot, large_text: Theme, scale: float) -> None:
    large_text.set_text_scale(scale)
    tags = {"/".join("abcdefgh"[:level]): 1 for level in range(1, 8)} | {"a/b/c/d/e/f/g/window side": 1}
    assert ">wi" in painted(show_view(qtbot, large_text, entries_of(Contents(tags, {}))))
