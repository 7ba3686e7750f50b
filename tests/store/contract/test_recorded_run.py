"""Two thousand operations leave the same in each kind of store, and in each version of PlantDesk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.recorded_run import OPERATIONS, RECORD, SEEN, lines_of

if TYPE_CHECKING:
    from plantdesk.domain.protocols import PlantStore


@pytest.mark.parametrize(
    "operations", [300, pytest.param(OPERATIONS, marks=[pytest.mark.slow, pytest.mark.timeout(600)])]
)
def test_a_store_has_after_each_hundred_operations_what_is_recorded(store: PlantStore, operations: int) -> None:
    """Where PlantDesk is to do something else, `python -m tests.support.recorded_run` writes the record anew."""
    recorded = RECORD.read_text(encoding="utf-8").splitlines()[: operations // SEEN]
    for found, expected in zip(lines_of(store, operations), recorded, strict=True):
        assert found == expected
