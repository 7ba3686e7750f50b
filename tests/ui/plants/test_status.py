from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plantdesk.ui.plants.status import PlantsStatus
from tests.support.desk import Desk

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


@pytest.mark.parametrize(("count", "text"), [(0, ""), (1, "1 plant selected"), (1234567, "1,234,567 plants selected")])
def test_the_number_of_selected_plants_is_shown(qtbot: QtBot, count: int, text: str) -> None:
    status = PlantsStatus()
    qtbot.addWidget(status)
    status.show_selection(count)
    assert Desk(qtbot, status).texts() == [text]
