"""Other texts for plants by one rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plantdesk.domain.errors import InvalidPlantError
from plantdesk.domain.patterns import InvalidPatternError
from plantdesk.domain.rewriting import FIELDS, Rule, Texts, replaced
from tests.support.costs import cpu_seconds


def _name(rule: Rule, name: str) -> str:
    return rule.rewritten(Texts(name, None, None)).name


@pytest.mark.parametrize("field", ["name", "note"])
@pytest.mark.parametrize("is_pattern", [False, True])
@pytest.mark.parametrize("any_case", [False, True])
def test_a_text_that_would_become_huge_is_refused_before_it_is_made(
    field: str, *, any_case: bool, is_pattern: bool
) -> None:
    rule = Rule(fields=(field,), find="x", replacement="y" * 100_000, any_case=any_case, is_pattern=is_pattern)
    with pytest.raises(InvalidPlantError) as refused:
        rule.rewritten(Texts("x" * 50_000, None, "x" * 50_000))
    assert [each.field for each in refused.value.fields] == [field]


def test_a_text_that_is_huge_already_can_become_shorter() -> None:
    assert _name(Rule(find="xx", replacement="y"), "x" * 4_000_000) == "y" * 2_000_000


@pytest.mark.parametrize(
    ("rule", "name", "after"),
    [
        (Rule(find="Ros", replacement="Flos"), "Rosa, rosa, Rosmarin", "Flosa, rosa, Flosmarin"),
        (Rule(find="ROSA", replacement="Flos", any_case=True), "Rosa, rosa", "Flos, Flos"),
        (Rule(find="Ärn", replacement="x", any_case=True), "Färn", "Fx"),
        (Rule(find="rosa", replacement="x", whole_words=True), "rosa rosae prosa (rosa)", "x rosae prosa (x)"),
        (Rule(find="rosa", replacement="x", whole_words=True), "ärosa rosaß", "ärosa rosaß"),
        (Rule(find="1.5", replacement="2"), "1.5 125", "2 125"),
        (Rule(find=r"(\w+) (\w+)", replacement=r"\2 \1 \\ \0", is_pattern=True), "Aloe vera", "vera Aloe \\ Aloe vera"),
        (Rule(find="(x)?Ä", replacement=r"[\1]", is_pattern=True), "aÄ", "a[]"),
        (Rule(find="ä", replacement="o", is_pattern=True, any_case=True), "Ä ä", "o o"),
        (Rule(find=r"rosa\w?", replacement="x", is_pattern=True, whole_words=True), "rosa rosaé", "x rosaé"),
        (Rule(find="^", replacement="The ", is_pattern=True), "rose", "The rose"),
        (Rule(before="† ", after=" (sold)"), "Rose", "† Rose (sold)"),
        (Rule(tidies=True), " \tAloe  vera\u00a0ferox \n", "Aloe vera ferox"),
        (Rule(tidies=True), "  ", "  "),
        (Rule(find="Rose"), "Rose", "Rose"),
        (Rule(quotes="curly"), "Rosa 'Gruss an Aachen' (\"old\") l'été", "Rosa ‘Gruss an Aachen’ (“old”) l’été"),
        (Rule(quotes="straight"), "Rosa ‘Peace’ „alt“ l’été", "Rosa 'Peace' \"alt\" l'été"),
    ],
)
def test_names(rule: Rule, name: str, after: str) -> None:
    assert _name(rule, name) == after


def test_blanks_of_notes_are_tidied_line_by_line() -> None:
    rule = Rule(fields=("note",), tidies=True)
    note = "\n  a  b \r\n\u00a0\x85 c\td  \n\n e \n"
    assert rule.rewritten(Texts(" A ", None, note)) == Texts(" A ", None, "a  b\n\n c\td\n\n e")


@given(st.text(alphabet=" \t\n\r\x85\u00a0ab", max_size=20))
def test_tidied_texts_are_those_of_split_and_strip(text: str) -> None:
    rule = Rule(fields=FIELDS, tidies=True)
    after = rule.rewritten(Texts(text or "x", None, text))
    assert after.name == (" ".join((text or "x").split()) or text)
    assert (after.note or "") == "\n".join(map(str.rstrip, text.strip().splitlines()))


@given(st.text(alphabet="aA. \n'ä", max_size=20), st.sampled_from(FIELDS))
def test_the_places_of_a_text_make_what_the_rule_makes(text: str, field: str) -> None:
    for rule in (
        Rule(fields=FIELDS, find="A", replacement="b", any_case=True),
        Rule(fields=FIELDS, find="a+|$", replacement=r"<\0>", is_pattern=True),
        Rule(fields=FIELDS, tidies=True),
        Rule(fields=FIELDS, tidies=True, quotes="curly"),
        Rule(before="x", note_line="y"),
    ):
        found = replaced(field, text, rule.places(field, text))
        before = Texts(text, None, text or None)
        assert getattr(rule.rewritten(before), field) in {found or None, getattr(before, field)}


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("Sal(via", "The pattern is not valid. RE2 reports: missing ): Sal(via"),
        ("(?<=a)b", "The pattern is not valid. RE2 reports: invalid perl operator: (?<="),
        ("\ud800", "The pattern is not valid."),
    ],
)
def test_the_reason_why_a_pattern_is_wrong_is_that_of_re2(pattern: str, reason: str) -> None:
    with pytest.raises(InvalidPatternError) as refused:
        Rule(find=pattern, is_pattern=True).check()
    assert str(refused.value) == reason


def test_a_replacement_names_only_groups_that_there_are() -> None:
    with pytest.raises(InvalidPatternError, match=r"no group \\2"):
        Rule(find="(a)", replacement=r"\2", is_pattern=True).check()


@pytest.mark.timing
@pytest.mark.parametrize(
    "rule",
    [
        Rule(find="(a*)*b", is_pattern=True),
        Rule(find="ab", any_case=True, whole_words=True),
        Rule(fields=FIELDS, tidies=True),
    ],
)
@pytest.mark.parametrize("part", ["a", " ", "\n", " \n"])
def test_the_time_is_linear(rule: Rule, part: str) -> None:
    def seconds(size: int) -> float:
        return cpu_seconds(lambda: rule.rewritten(Texts(f"x{part * size}x", None, f"x{part * size}x")))

    size = 50_000 // len(part)
    assert seconds(size) < 30 * seconds(size // 10) + 0.01
