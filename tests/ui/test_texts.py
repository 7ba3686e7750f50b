from __future__ import annotations

import pytest

from plantdesk.ui.texts import ago, tag_text

NOW = 1_795_197_210_000


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-5, "just now"), (1, "just now"), (8, "8 s ago"), (60, "1 min ago"), (3599, "59 min ago"), (86399, "23 h ago")],
)
def test_the_age_of_a_timestamp(seconds: int, words: str) -> None:
    assert ago(NOW - seconds * 1000, NOW) == words


def test_an_older_one_by_its_day() -> None:
    assert "26" in ago(NOW - 90_000_000, NOW)


@pytest.mark.parametrize(
    ("tag", "shown"),
    [
        ("kitchen", "kitchen"),
        ("living room", "living room"),
        ("kitchen ", "kitchen␣"),
        ("  kitchen", "␣␣kitchen"),
        ("living  room", "living ␣room"),
        ("living\u00a0room", "living␣room"),
        (" ", "(blank tag)"),
    ],
)
def test_blanks_by_which_tags_differ_can_be_seen(tag: str, shown: str) -> None:
    assert tag_text(tag) == shown
