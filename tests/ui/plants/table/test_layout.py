from collections.abc import Mapping

import pytest

from plantdesk.ui.plants.browser import PlantBrowser


@pytest.mark.parametrize(
    "values",
    [
        {"order": [], "hidden": {}, "widths": 5, "widest_id": 7},
        {"order": "colour", "hidden": ["name", 3], "widths": {"tag": "wide", "id": True, "added": -1, "source": 1e9}},
    ],
)
def test_what_is_not_valid_has_its_default(browser: PlantBrowser, values: Mapping[str, object]) -> None:
    before = browser.table.to_json()
    browser.table.restore(values)
    assert browser.table.to_json() == before
