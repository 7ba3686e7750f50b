"""The search language: what it finds equals a plain evaluation over all rows."""

import unicodedata
from collections.abc import Iterator
from contextlib import closing
from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plantdesk.domain.edits import edited
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.protocols import PlantReader, PlantStore
from plantdesk.domain.records import COMMAND, FORM, LARGEST_ID, SMALLEST_ID, PlantRow, SourceKind
from plantdesk.domain.search import parse_search, parse_terms, search_text
from plantdesk.domain.selections import AddedBy, AddedOn, Contains, HasId, HasTag, Not, Selection, Term, View
from tests.domain.test_search import PIECES, in_note
from tests.support.adding import plant
from tests.support.cases import cases
from tests.support.waiting import SECONDS

NAMES = [
    "Rose",
    "rose ×alba",
    "Érable",
    "Deep red rose",
    'a "quoted" name',
    "5-90",
    "none",
    "´",
    "",
    " ",
    "tag:kitchen",
]
NOTES = [None, "from Anna", "Élan\nvon Straße", "x × “5”", "ﬁve\x1fA\u0301", "´"]
BRANCHES = ["kitchen/sill", "KÜCHE/", "//"]
TAGS = [
    None,
    *BRANCHES,
    "kitchen",
    "Kitchen",
    "Küche",
    "kuche",
    "living room",
    "none",
    "",
    '5" pot',
    "Queen’s",
    "´",
    "a\nb",
]


def plain_text(text: str) -> str:
    """What two texts have in common when they differ only in case, accents and lookalikes, in the words of Unicode."""
    decomposed = unicodedata.normalize("NFKD", text.replace("\0", " ").replace("\x1f", " "))
    folded = "".join(each for each in decomposed if not unicodedata.combining(each)).casefold()
    return folded.translate(str.maketrans('×"`‘’“”', "x''''''"))


def is_match(row: PlantRow, term: Term) -> bool:
    match term:
        case Not():
            return not is_match(row, term.term)
        case Contains(text, is_word, in_note):
            return has_text(row.note, text) if in_note else contains(row, text, is_word=is_word)
        case HasTag(tag, exact):
            return row.tag == tag or not (tag is None or row.tag is None or not is_alike(row.tag, tag, exact=exact))
        case AddedBy(kind, label):
            same = row.source.label == label if kind else plain_text(row.source.label) == plain_text(label or "")
            return kind in {None, row.source.kind} and (label is None or same)
        case AddedOn(first, last):
            today = datetime.now().astimezone().date()
            days = [today - timedelta(days=each) if isinstance(each, int) else each for each in (first, last)]
            return days[0] <= datetime.fromtimestamp(row.added_at / 1000).astimezone().date() <= days[1]
    return term.first <= row.id <= term.last


def is_alike(tag: str, other: str, *, exact: bool) -> bool:
    found, wanted = (tag, other) if exact else (plain_text(tag), plain_text(other))
    is_branch = wanted.endswith("/") and wanted[:-1].strip() != ""
    return (found.strip() != "" and found == wanted) or (is_branch and f"{found}/".startswith(wanted))


def has_text(note: str | None, text: str) -> bool:
    if note is None:
        return False
    return plain_text(text) in plain_text(note) if plain_text(text).strip() else text in note


def contains(row: PlantRow, text: str, *, is_word: bool) -> bool:
    words = plain_text(text).split()
    texts = [row.name, row.tag or ""]
    if not words:
        return any(text in each for each in texts)
    if not is_word:
        return any(plain_text(text) in plain_text(each) for each in texts)
    return all(
        any(word in plain_text(each) for each in texts)
        or (word.lstrip("-").isdecimal() and str(row.id).startswith(word))
        for word in words
    )


def evaluated(rows: list[PlantRow], selection: Selection) -> list[int]:
    return [row.id for row in rows if all(any(is_match(row, term) for term in group) for group in selection.groups)]


_texts = st.lists(PIECES, max_size=3).map("".join)
_days = st.dates(date(2026, 1, 1), date(2026, 12, 31))
_conditions = st.one_of(
    _texts.filter(lambda text: text != "").map(lambda text: Contains(text, is_word=False)),
    st.sampled_from(["rose", "ROSE", "×", "5", "7", "-7", "Érable", "´", "-", "unknown:x", "5-90", 'a"b']).map(
        Contains
    ),
    st.builds(HasTag, st.sampled_from(TAGS), st.booleans()).filter(
        lambda term: not (term.tag is None and term.is_exact)
    ),
    st.builds(HasTag, _texts, st.booleans()),
    st.builds(HasTag, st.sampled_from(["kitchen/", "KUCHE/", "küche/", "Küche/", "/", "//", "none/"]), st.booleans()),
    (_texts | st.sampled_from(["ANNA", "elan", "strasse", "tras", "\n", "x x", "'5'", "five a"])).map(in_note),
    st.builds(AddedBy, st.sampled_from(SourceKind)),
    st.builds(AddedBy, st.sampled_from(SourceKind), _texts | st.just("garden-sync")),
    st.sampled_from(["garden-sync", "GARDEN-SYNC", "Form x", "greenhouse", 'a "b'])
    .filter(bool)
    .map(lambda label: AddedBy(label=label)),
    st.integers(0, 9998).map(lambda days: AddedOn(days, 0)),
    st.just(AddedOn(1, 1)),
    _days.map(lambda day: AddedOn(day, day)),
    st.sampled_from([AddedOn(date(2026, 11, 1), date(2026, 11, 30)), AddedOn(date(2026, 1, 1), date(2026, 12, 31))]),
    st.tuples(*[st.integers(SMALLEST_ID, LARGEST_ID) | st.integers(-8, 8)] * 2).map(lambda ends: HasId(*sorted(ends))),
)
_terms = st.one_of(_conditions, _conditions.map(Not)).filter(
    lambda term: not (isinstance(term, Not) and isinstance(term.term, Contains) and term.term.text in {"5", "7", "-"})
)


@given(st.lists(_terms, max_size=5))
@cases(300)
def test_terms_are_parsed_as_they_are_written(terms: list[Term]) -> None:
    assert list(parse_terms(search_text(terms))) == terms


@pytest.fixture(scope="module")
def folder(shared_location: StoreLocation) -> Iterator[tuple[PlantReader, list[PlantRow]]]:
    """A store with every name and tag, from four sources."""
    with closing(shared_location.open()) as store:
        sources = [FORM, COMMAND]
        sources += [store.tokens.create(name).result(SECONDS).row.source for name in ("garden-sync", "Form x")]
        ids = [*range(-7, 90), 5000, SMALLEST_ID, LARGEST_ID]
        for at, plant_id in enumerate(ids):
            tag = TAGS[at // len(NAMES) % len(TAGS)]
            row = store.add(plant(plant_id, NAMES[at % len(NAMES)], tag), sources[at % 4]).result(SECONDS)
            if (note := NOTES[at // 5 % len(NOTES)]) is not None:
                store.apply([edited(row, note=note)], FORM).result(SECONDS)
        with closing(store.reader()) as reader:
            yield reader, list(reader.selected(Selection()))


@given(st.lists(_terms, max_size=4))
@cases(300)
def test_what_is_found_equals_a_plain_evaluation(folder: tuple[PlantReader, list[PlantRow]], terms: list[Term]) -> None:
    reader, rows = folder
    selection = Selection.of(*terms)
    expected = evaluated(rows, selection)
    assert [plant_id for chunk in reader.ids(View(selection)) for plant_id in chunk] == expected
    assert reader.count_selected(selection) == len(expected)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("tag:kitchen", ["a", "b"]),
        ("tag=kitchen", ["a"]),
        ("tag:kitchen tag:none", ["a", "b", "d"]),
        ("-tag:kitchen", ["c", "d"]),
        ("-tag:none -tag:Hall", ["a", "b"]),
        ("tag:kitchen -a", ["b"]),
        ("from:form added:today", ["a", "b", "c", "d"]),
        ("added:yesterday", []),
        ("id:2-3", ["b", "c"]),
        ("id:1 id:4 tag:none", ["d"]),
    ],
)
def test_terms_of_one_kind_are_alternatives(store: PlantStore, text: str, names: list[str]) -> None:
    for plant_id, (name, tag) in enumerate([("a", "kitchen"), ("b", "Kitchen"), ("c", "hall"), ("d", None)], start=1):
        store.add(plant(plant_id, name, tag), FORM).result(SECONDS)
    with closing(store.reader()) as reader:
        assert sorted(row.name for row in reader.selected(parse_search(text))) == names
