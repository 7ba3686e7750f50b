import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plantdesk.domain.errors import ErrorNumber, PlantDeskError
from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID
from plantdesk.domain.strict_json import NotJsonError, RepeatedMemberError, parse_object
from plantdesk.domain.validation import UnfitNumber
from tests.support.cases import cases
from tests.support.costs import cpu_seconds
from tests.support.json_texts import OBJECTS, VALUES


def value(text: str) -> object:
    return parse_object(f'{{"x": {text}}}'.encode())["x"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        ("7.0", 7),
        ("70e-1", 7),
        ("-0.0", 0),
        ("0e99999999999999999999", 0),
        ("0.000e-99999999999999999999", 0),
        ("9223372036854775807", LARGEST_ID),
        ("9.223372036854775807e18", LARGEST_ID),
        ("-9223372036854775808", SMALLEST_ID),
        ("-9223372036854775808.0", SMALLEST_ID),
        ("1" + "0" * 1000 + "e-1000", 1),
    ],
)
def test_an_integer_is_exact_in_any_notation(text: str, number: int) -> None:
    found = value(text)
    assert (found, type(found)) == (number, int)


@pytest.mark.parametrize(
    "text",
    [
        "1e-400",
        "-9223372036854775809",
        "9223372036854775808.0",
        "9e99999999999999999999",
        "1e1000000000",
        "-1e-1000000000",
        "1" * 500_000,
        "1." + "1" * 500_000,
        "1e" + "9" * 500_000,
    ],
)
def test_a_number_beyond_int64_keeps_its_text(text: str) -> None:
    # Python would take seconds for most of these, and all memory for others: more than a test may take.
    found = value(text)
    assert isinstance(found, UnfitNumber)
    assert found.text == text


@given(
    st.dictionaries(
        st.text(),
        st.recursive(
            st.none() | st.booleans() | st.integers(SMALLEST_ID, LARGEST_ID) | st.text(),
            lambda inner: st.lists(inner, max_size=3),
            max_leaves=8,
        ),
        max_size=5,
    )
)
@settings(derandomize=True, max_examples=200, deadline=None)
def test_the_output_of_json_is_parsed(members: dict[str, object]) -> None:
    assert parse_object(json.dumps(members).encode()) == members
    assert parse_object(json.dumps(members, ensure_ascii=False, indent=1).encode(errors="surrogatepass")) == members


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "empty"),
        (b" \r\n\t ", "empty"),
        (b"{", "line 1, column 2"),
        (b'{"x": 1,}', "column"),
        (b'{"x": 1} {}', "Extra data"),
        (b'{"x": "\n"}', "control character"),
        (b'{"x": NaN}', "NaN"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        ('{"x": 1}'.encode("utf-16"), "UTF-8"),
        ('{"x": 1}'.encode("utf-16-le"), "column"),
        (b'{"x": "\xed\xa0\x80"}', "position 7"),
        (b'{"x": "\xff"}', "position 7"),
    ],
)
def test_invalid_json_is_refused_with_its_position(data: bytes, expected: str) -> None:
    with pytest.raises(NotJsonError, match=expected) as caught:
        parse_object(data)
    assert caught.value.number is ErrorNumber.NOT_JSON


@pytest.mark.parametrize("opening", [b"[", b'{"x":', b'{"x":{"x":[['])
def test_deep_nesting_is_refused(opening: bytes) -> None:
    bomb = b'{"x":' + opening * (900_000 // len(opening))
    with pytest.raises(NotJsonError, match="nested too deeply"):
        parse_object(bomb)


def test_brackets_in_a_string_are_not_nesting() -> None:
    text = "[" * 900_000
    assert parse_object(json.dumps({"x": text}).encode()) == {"x": text}


def test_repeated_members_are_named() -> None:
    with pytest.raises(RepeatedMemberError, match="“id”, “z”") as caught:
        parse_object(b'{"id": 1, "z": 0, "name": "Fern", "id": 1, "z": 2}')
    assert caught.value.number is ErrorNumber.REPEATED_MEMBER
    with pytest.raises(RepeatedMemberError):
        parse_object(rb'{"id": 1, "\u0069d": 2}')


@pytest.mark.timing
def test_a_normal_body_costs_a_few_times_what_json_does() -> None:
    body = b'{"id": 123456, "name": "Monstera deliciosa", "tag": "house plant"}'
    own = cpu_seconds(lambda: [parse_object(body) for _ in range(2_000)])
    assert own <= 20 * cpu_seconds(lambda: [json.loads(body) for _ in range(2_000)])  # measured: 2


# --- against Python's own reader, with exact numbers -------------------------------------------------------------


def expected(data: bytes) -> dict[str, object] | None:
    """Return the kinds of the members; None where the JSON is refused."""
    try:
        text = data.decode()
        members = json.loads(
            text, parse_int=Decimal, parse_float=Decimal, parse_constant=_refused, object_pairs_hook=tuple
        )
    except ValueError:
        return None
    if not isinstance(members, tuple) or len(dict(members)) != len(members):
        return None
    return {name: _number(value) if isinstance(value, Decimal) else "other" for name, value in members}


def _refused(name: str) -> object:
    raise ValueError(name)


def _number(exact: Decimal) -> object:
    fits = SMALLEST_ID <= exact <= LARGEST_ID and exact == exact.to_integral_value()
    return int(exact) if fits else "unfit"


_CHANGES = st.none() | st.tuples(st.floats(0, 1), st.binary(max_size=2))
_AROUND = st.lists(st.sampled_from(["[$]", '{"a": $}', "[1, $ ]", '{"a": $, "b": "c"}', "[ $, {}]"]), max_size=7)


def _changed(text: str, change: tuple[float, bytes] | None) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    if change is None:
        return data
    at = int(change[0] * len(data))
    return data[:at] + change[1] + data[at + 1 :]


@cases(300)
@given(OBJECTS | VALUES, _CHANGES)
def test_it_accepts_the_same_json_as_python(text: str, change: tuple[float, bytes] | None) -> None:
    check_same(_changed(text, change))


@cases(300)
@given(VALUES, _AROUND, _CHANGES)
def test_a_body_is_checked_at_any_depth(value: str, around: list[str], change: tuple[float, bytes] | None) -> None:
    for outer in around:
        value = outer.replace("$", value)
    check_same(_changed(f'{{"id": 1, "x": {value}, "y": [{value}]}}', change))


_NOT_JSON = """1, , ,1 01 1. tru NaN "a "\\x" "\\u12" [1,] [,] [} ( {"a":1,} {"a":} {"a"} {1:1} {,} {"a":1,,"b":1}"""


@pytest.mark.parametrize(
    "last", ["1", '{"a":1}', "", "1 2", '"\t"', "[1 2]", '{"a" 1}', '{"a":1 "b":1}', *_NOT_JSON.split()]
)
def test_an_error_in_what_is_nested_is_found(last: str) -> None:
    for depth in (0, 4):
        array = "[" * depth + f"[1, {last}]" + "]" * depth
        check_same(f'{{"id": 1, "x": {array}, "y": {{"z": {array}}}, "name": "Fern"}}'.encode())


def check_same(data: bytes) -> None:
    """Check that the same is accepted, and the same found, as by Python."""
    requested = expected(data)
    try:
        found: dict[str, object] | None = parse_object(data)
    except PlantDeskError:
        found = None
    assert (found is None) == (requested is None)
    for name, value in (found or {}).items():
        is_number = isinstance(value, int) and not isinstance(value, bool)
        actual = value if is_number else "unfit" if isinstance(value, UnfitNumber) else "other"
        assert (requested or {})[name] == actual
