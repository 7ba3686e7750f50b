from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QWidget

from plantdesk.domain.records import FORM, Changes, PlantRow, Source, SourceKind
from plantdesk.ui.plants.status import ArrivalAnnouncer

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

HOURS = 36_000_000


@pytest.fixture
def widget(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


def added(*names: str, by: str = "greenhouse", needs_reload: bool = False) -> Changes:
    source = Source(2, SourceKind.TOKEN, by)
    return Changes(tuple(PlantRow(1, name, None, 0, source) for name in names), needs_reload=needs_reload)


def test_a_plant_is_announced_at_once_and_a_burst_in_one_sentence(
    qtbot: QtBot, widget: QWidget, spoken: list[str]
) -> None:
    announcer = ArrivalAnnouncer(widget, interval_ms=1)
    announcer.add(added("Fern"))
    assert spoken == ["“Fern” was added by “greenhouse”."]
    announcer.add(added("Aloe"))
    announcer.add(added("Basil", "Cactus"))
    assert len(spoken) == 1
    qtbot.waitUntil(lambda: spoken[1:] == ["3 plants were added by programs."])


def test_there_is_no_second_announcement_within_the_interval(widget: QWidget, spoken: list[str]) -> None:
    announcer = ArrivalAnnouncer(widget, interval_ms=HOURS)
    for _ in range(100):
        announcer.add(added("Fern"))
    assert len(spoken) == 1


@pytest.mark.parametrize(
    ("bursts", "sentence"),
    [
        ([added("Aloe"), added("Basil", by="csv-sync")], "2 plants were added by programs."),
        ([added(*["Aloe"] * 1000, needs_reload=True)], "Plants were added by programs."),
        ([added(" ")], "“(blank name)” was added by “greenhouse”."),
    ],
)
def test_bursts_are_summed_up(
    qtbot: QtBot, widget: QWidget, spoken: list[str], bursts: list[Changes], sentence: str
) -> None:
    announcer = ArrivalAnnouncer(widget, interval_ms=1)
    announcer.add(added("Fern"))
    for changes in bursts:
        announcer.add(changes)
    qtbot.waitUntil(lambda: spoken[1:] == [sentence])


def test_a_plant_of_the_form_is_left_to_the_form(widget: QWidget, spoken: list[str]) -> None:
    ArrivalAnnouncer(widget).add(Changes((PlantRow(1, "Fern", None, 0, FORM),)))
    assert spoken == []
