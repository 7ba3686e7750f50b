"""Tags as a tree."""

from __future__ import annotations

import pytest

from plantdesk.domain.tags import levels


@pytest.mark.parametrize(
    ("tag", "parts"),
    [
        ("garden/bed 3", ["garden", "bed 3"]),
        ("a//b", ["a//b"]),
        ("a/", ["a/"]),
        ("/".join("abc") + "/x" * 5000, ["a", "b", "c", *["x"] * 16, "/".join("x" * 4984)]),
    ],
)
def test_a_tag_has_levels_but_not_thousands(tag: str, parts: list[str]) -> None:
    assert levels(tag) == parts
