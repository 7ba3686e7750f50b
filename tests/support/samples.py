"""Parameters of which ordinary runs try the first ones; `.ci/release` tries all."""

from collections.abc import Iterable
from typing import Any

import pytest


def some(values: Iterable[object], count: int, names: Iterable[str] | None = None) -> list[Any]:
    """Return the values as parameters; those after the first `count` are marked as slow."""
    listed = list(values)
    ids = [None] * len(listed) if names is None else list(names)
    named = enumerate(zip(listed, ids, strict=True))
    return [pytest.param(value, id=name, marks=[pytest.mark.slow] * (index >= count)) for index, (value, name) in named]
