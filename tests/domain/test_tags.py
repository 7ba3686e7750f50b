"""Tags as a tree."""

import pytest

from plantdesk.domain.tags import completions, entered, levels, renamed


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


@pytest.mark.parametrize(
    ("typed", "offers"),
    [
        ("gar", ["garden", "kitchen garden"]),
        ("GARDEN", ["garden/bed", "garden/path", "garden", "kitchen garden"]),
        ("garden/", ["garden/bed", "garden/path", "kitchen garden/3"]),
        ("3", ["garden/bed/3", "kitchen garden/3"]),
        ("d/3", ["garden/bed/3"]),
        ("(", []),
    ],
)
def test_offers_go_up_to_the_level_that_is_typed(typed: str, offers: list[str]) -> None:
    assert completions(["garden", "garden/bed/3", "garden/path", "kitchen garden/3"], typed) == offers


@pytest.mark.parametrize(
    ("typed", "tag"),
    [(" garden/ ", "garden"), ("a/b /", "a/b"), ("http://x/", "http://x/"), ("/", "/"), ("a//", "a//"), ("a/b", "a/b")],
)
def test_a_slash_that_leads_to_no_level_is_left_out(typed: str, tag: str) -> None:
    assert entered(typed) == tag


def test_a_hundred_tags_are_offered_at_most() -> None:
    tags = [f"bed {number}/row" for number in range(1000)]
    assert completions(tags, "bed") == [f"bed {number}" for number in range(100)]


@pytest.mark.parametrize(
    ("tag", "new"),
    [("a/b/c", "A/B/c"), ("a/b", "A/B"), ("a", "A"), ("a/d", "A/d"), ("ab", "ab"), ("A/b", "A/b")],
)
def test_branches_are_renamed_from_the_lowest_level_up(tag: str, new: str) -> None:
    assert renamed(tag, {"a": "A", "a/b": "A/B"}) == renamed(tag, {"a": "A", "a/b": "a/B"}) == new
