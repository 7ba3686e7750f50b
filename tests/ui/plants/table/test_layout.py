from __future__ import annotations

import pytest

from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.columns import TableLayout, layout_from_json


def test_a_layout_survives_the_settings() -> None:
    layout = TableLayout(
        column=Column.NAME,
        descending=False,
        hidden=frozenset({Column.ID, Column.SOURCE}),
        is_compact=True,
        widths={Column.TAG: 20.5},
    )
    assert layout_from_json(layout.as_json()) == layout


@pytest.mark.parametrize(
    "value",
    [
        None,
        7,
        [],
        {"order": [], "hidden": {}, "widths": 5},
        {"order": "colour", "hidden": ["name", 3], "widths": {"tag": "wide", "id": True, "added": -1, "source": 1e9}},
    ],
)
def test_what_is_not_valid_has_its_default(value: object) -> None:
    assert layout_from_json(value) == TableLayout()
