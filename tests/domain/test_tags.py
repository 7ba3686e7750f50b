"""Tags as a tree."""

import pytest

from plantdesk.domain.tags import (
    SimilarityOptions,
    SimilarTag,
    levels,
    renamed,
    similar_groups,
    similar_to,
    tag_completions,
    tag_from_input,
)
from plantdesk.domain.texts import Text


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
    assert tag_completions(["garden", "garden/bed/3", "garden/path", "kitchen garden/3"], typed) == offers


@pytest.mark.parametrize(
    ("typed", "tag"),
    [(" garden/ ", "garden"), ("a/b /", "a/b"), ("http://x/", "http://x/"), ("/", "/"), ("a//", "a//"), ("a/b", "a/b")],
)
def test_a_slash_that_leads_to_no_level_is_left_out(typed: str, tag: str) -> None:
    assert tag_from_input(typed) == tag


def test_a_hundred_tags_are_offered_at_most() -> None:
    tags = [f"bed {number}/row" for number in range(1000)]
    assert tag_completions(tags, "bed") == [f"bed {number}" for number in range(100)]


@pytest.mark.parametrize(
    ("tag", "new"), [("a/b/c", "A/B/c"), ("a/b", "A/B"), ("a", "A"), ("a/d", "A/d"), ("ab", "ab"), ("A/b", "A/b")]
)
def test_branches_are_renamed_from_the_lowest_level_up(tag: str, new: str) -> None:
    assert renamed(tag, {"a": "A", "a/b": "A/B"}) == renamed(tag, {"a": "A", "a/b": "a/B"}) == new


# --- tags that look alike ---------------------------------------------------------------------------------------------


TAGS = {
    "kitchen": 1261,
    "Kitchen": 31,
    "kitchen ": 1,
    "kitchn": 2,
    "greenhouse": 1912,
    "Green house": 41,
    "bed 4": 1206,
    "Bed 4": 12,
    "bed  4": 5,
    "bed 3": 768,
    "bed 7": 70,
    "Bed 7": 1,
    "hall": 9,
    "bed 1 1": 3,
    "bed 11": 4,
    "ab": 1,
    "ac": 1,
}


def groups(**options: bool) -> list[list[str]]:
    return sorted([*group] for group in similar_groups(TAGS, SimilarityOptions(**options)))


def test_groups_begin_with_the_tag_that_is_used_most() -> None:
    assert groups() == [
        ["bed 4", "Bed 4", "bed  4", "bed 3"],
        ["bed 7", "Bed 7"],
        ["greenhouse", "Green house"],
        ["kitchen", "Kitchen", "kitchen ", "kitchn"],
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"ignore_case": False, "ignore_letter": False}, [["bed 4", "bed  4"], ["kitchen", "kitchen "]]),
        (
            {"ignore_blanks": False, "ignore_letter": False},
            [["bed 4", "Bed 4"], ["bed 7", "Bed 7"], ["kitchen", "Kitchen"]],
        ),
        ({"ignore_case": False, "ignore_blanks": False, "ignore_letter": False}, []),
    ],
)
def test_what_is_alike_can_be_chosen(options: dict[str, bool], expected: list[list[str]]) -> None:
    assert groups(**options) == expected


def test_a_tag_that_is_used_on_purpose_is_told_from_a_mistake() -> None:
    group = {"bed 4": 9, "bed 3": 1, "Bed 3": 1, "bad 4": 21, "ped 4": 2}
    own = {other.tag for other in similar_to("bed 4", group) if other.is_intended}
    assert own == {"bed 3", "Bed 3", "bad 4"}
    assert similar_to("greenhouse", {"greenhouse": 3, "Green house": 400}) == [
        SimilarTag("Green house", 400, [Text("case"), Text("blanks")], is_intended=False)
    ]


@pytest.mark.parametrize(
    ("tag", "reasons"),
    [
        ("Gewachshaus 4", ["accents"]),
        ("gewachshaus4", ["case", "blanks", "accents"]),
        ("gewächshaus 4", ["case"]),
        ("Gewäckshaus 4", ["one letter off"]),
    ],
)
def test_the_reason_for_which_a_tag_looks_like_another_is_said(tag: str, reasons: list[str]) -> None:
    (other,) = similar_to("Gewächshaus 4", {"Gewächshaus 4": 3, tag: 1})
    assert other.differs == [*map(Text, reasons)]


def test_thousands_of_tags_are_compared_by_what_they_have_in_common() -> None:
    many = {f"{first}{second} place": 1 for first in "abcdefghijklmnopqrstuvwxyz" for second in range(200)}
    assert len(similar_groups(many, SimilarityOptions())) > 0


def test_a_spelling_without_spare_blanks_is_kept_however_few_plants_have_it() -> None:
    (group,) = similar_groups({"kitchen ": 281, "Kitchen": 279, "kitchen": 248}, SimilarityOptions())
    assert [*group] == ["Kitchen", "kitchen", "kitchen "]


def test_alike_branches_are_a_group_but_tags_that_differ_only_above_are_not() -> None:
    tags = {"greenhouse/bench 1": 1116, "Greenhouse/Bench 1": 1133, "greenhouse/bench 2": 1, "Greenhouse/bench 2": 4}
    assert sorted([*group.items()] for group in similar_groups(tags, SimilarityOptions(ignore_letter=False))) == [
        [("Greenhouse", 1137), ("greenhouse", 1117)],
        [("Greenhouse/Bench 1", 1133), ("greenhouse/bench 1", 1116)],
    ]
    (group,) = similar_groups({"greenhouse/bench 2": 1, "Greenhouse/Bench 1": 2}, SimilarityOptions())
    assert group == {"Greenhouse": 2, "greenhouse": 1}


def test_a_tag_whose_branch_is_merged_is_in_no_other_group() -> None:
    tags = {"garden/bed 3": 9, "gardn/bed 3": 2, "garden/bed 1": 8}
    (group,) = similar_groups(tags, SimilarityOptions())
    assert group == {"garden": 17, "gardn": 2}
    tags["garden/Bed 3"] = 1
    groups = sorted([*group] for group in similar_groups(tags, SimilarityOptions()))
    assert groups == [["garden", "gardn"], ["garden/bed 3", "garden/Bed 3", "garden/bed 1"]]


def test_a_tag_with_another_number_is_not_one_letter_off() -> None:
    (other,) = similar_to("garden/bed 1", {"garden/bed 1": 3, "garden/bed 3": 1})
    assert (other.is_intended, other.differs) == (True, [Text("another number, so not ticked")])


def test_very_long_tags_are_not_compared_letter_by_letter() -> None:
    """Their parts would take as many bytes as the square of their letters."""
    tags = {"a" * 5000 + str(number % 2) + "b" * 5000: 1 for number in range(2)}
    assert similar_groups(tags, SimilarityOptions()) == []
    assert len(similar_groups({**tags, "C" * 5000: 2, "c" * 5000: 1}, SimilarityOptions())) == 1
