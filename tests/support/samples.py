"""Parameters of which ordinary runs try the first ones; `.ci/release` tries all."""

from collections.abc import Iterable
from typing import Any

import pytest


def some(values: Iterable[object], count: int, names: Iterable[str] | None = None) -> list[Any]:
    """Return the values as parameters; those after the first `count` are marked as slow."""
    given = list(values)
    ids = [None] * len(given) if names is None else list(names)
    parameters = enumerate(zip(given, ids, strict=True))
    return [pytest.param(each, id=name, marks=[pytest.mark.slow] * (at >= count)) for at, (each, name) in parameters]
