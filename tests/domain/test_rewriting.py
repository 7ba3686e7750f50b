"""Other texts for plants by one rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plantdesk.domain.errors import InvalidPlantError
from plantdesk.domain.patterns import InvalidPatternError
from plantdesk.domain.rewriting import FIELDS, PlantTexts, RewriteRule, apply_replacements
from tests.support.costs import cpu_seconds


def _name(rule: RewriteRule, name: str) -> str:
    return rule.apply(PlantTexts(name, None, None)).name


@pytest.mark.parametrize("field", ["name", "note"])
@pytest.mark.parametrize("is_pattern", [False, True])
@pytest.mark.parametrize("any_case", [False, True])
def test_a_text_that_would_become_huge_is_refused_before_it_is_made(
    field: str, *, any_case: bool, is_pattern: bool
) -> None:
    rule = RewriteRule(
        fields=(field,), find="x", replacement="y" * 100_000, ignore_case=any_case, is_pattern=is_pattern
    )
    with pytest.raises(InvalidPlantError) as refused:
        rule.apply(PlantTexts("x" * 50_000, None, "x" * 50_000))
    assert [each.field for each in refused.value.fields] == [field]


def test_a_text_that_is_huge_already_can_become_shorter() -> None:
    assert _name(RewriteRule(find="xx", replacement="y"), "x" * 4_000_000) == "y" * 2_000_000


@pytest.mark.parametrize(
    ("rule", "name", "after"),
    [
        (RewriteRule(find="Ros", replacement="Flos"), "Rosa, rosa, Rosmarin", "Flosa, rosa, Flosmarin"),
        (RewriteRule(find="ROSA", replacement="Flos", ignore_case=True), "Rosa, rosa", "Flos, Flos"),
        (RewriteRule(find="Ärn", replacement="x", ignore_case=True), "Färn", "Fx"),
        (RewriteRule(find="rosa", replacement="x", whole_words=True), "rosa rosae prosa (rosa)", "x rosae prosa (x)"),
        (RewriteRule(find="rosa", replacement="x", whole_words=True), "ärosa rosaß", "ärosa rosaß"),
        (RewriteRule(find="1.5", replacement="2"), "1.5 125", "2 125"),
        (
            RewriteRule(find=r"(\w+) (\w+)", replacement=r"\2 \1 \\ \0", is_pattern=True),
            "Aloe vera",
            "vera Aloe \\ Aloe vera",
        ),
        (RewriteRule(find="(x)?Ä", replacement=r"[\1]", is_pattern=True), "aÄ", "a[]"),
        (RewriteRule(find="ä", replacement="o", is_pattern=True, ignore_case=True), "Ä ä", "o o"),
        (RewriteRule(find=r"rosa\w?", replacement="x", is_pattern=True, whole_words=True), "rosa rosaé", "x rosaé"),
        (RewriteRule(find="^", replacement="The ", is_pattern=True), "rose", "The rose"),
        (RewriteRule(prefix="† ", suffix=" (sold)"), "Rose", "† Rose (sold)"),
        (RewriteRule(tidies_blanks=True), " \tAloe  vera\u00a0ferox \n", "Aloe vera ferox"),
        (RewriteRule(tidies_blanks=True), "  ", "  "),
        (RewriteRule(find="Rose"), "Rose", "Rose"),
        (RewriteRule(quotes="curly"), "Rosa 'Gruss an Aachen' (\"old\") l'été", "Rosa ‘Gruss an Aachen’ (“old”) l’été"),
        (RewriteRule(quotes="straight"), "Rosa ‘Peace’ „alt“ l’été", "Rosa 'Peace' \"alt\" l'été"),
    ],
)
def test_names(rule: RewriteRule, name: str, after: str) -> None:
    assert _name(rule, name) == after


def test_blanks_of_notes_are_tidied_line_by_line() -> None:
    rule = RewriteRule(fields=("note",), tidies_blanks=True)
    note = "\n  a  b \r\n\u00a0\x85 c\td  \n\n e \n"
    assert rule.apply(PlantTexts(" A ", None, note)) == PlantTexts(" A ", None, "a  b\n\n c\td\n\n e")


@given(st.text(alphabet=" \t\n\r\x85\u00a0ab", max_size=20))
def test_tidied_texts_are_those_of_split_and_strip(text: str) -> None:
    rule = RewriteRule(fields=FIELDS, tidies_blanks=True)
    after = rule.apply(PlantTexts(text or "x", None, text))
    assert after.name == (" ".join((text or "x").split()) or text)
    assert (after.note or "") == "\n".join(map(str.rstrip, text.strip().splitlines()))


@given(st.text(alphabet="aA. \n'ä", max_size=20), st.sampled_from(FIELDS))
def test_the_places_of_a_text_make_what_the_rule_makes(text: str, field: str) -> None:
    for rule in (
        RewriteRule(fields=FIELDS, find="A", replacement="b", ignore_case=True),
        RewriteRule(fields=FIELDS, find="a+|$", replacement=r"<\0>", is_pattern=True),
        RewriteRule(fields=FIELDS, tidies_blanks=True),
        RewriteRule(fields=FIELDS, tidies_blanks=True, quotes="curly"),
        RewriteRule(prefix="x", note_line="y"),
    ):
        found = apply_replacements(field, text, rule.replacements(field, text))
        before = PlantTexts(text, None, text or None)
        assert getattr(rule.apply(before), field) in {found or None, getattr(before, field)}


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
        RewriteRule(find=pattern, is_pattern=True).check()
    assert str(refused.value) == reason


def test_a_replacement_names_only_groups_that_there_are() -> None:
    with pytest.raises(InvalidPatternError, match=r"no group \\2"):
        RewriteRule(find="(a)", replacement=r"\2", is_pattern=True).check()


@pytest.mark.timing
@pytest.mark.parametrize(
    "rule",
    [
        RewriteRule(find="(a*)*b", is_pattern=True),
        RewriteRule(find="ab", ignore_case=True, whole_words=True),
        RewriteRule(fields=FIELDS, tidies_blanks=True),
    ],
)
@pytest.mark.parametrize("part", ["a", " ", "\n", " \n"])
def test_the_time_is_linear(rule: RewriteRule, part: str) -> None:
    def seconds(size: int) -> float:
        return cpu_seconds(lambda: rule.apply(PlantTexts(f"x{part * size}x", None, f"x{part * size}x")))

    size = 50_000 // len(part)
    assert seconds(size) < 30 * seconds(size // 10) + 0.01
