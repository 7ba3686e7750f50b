import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plantdesk.domain.validation import UnfitNumber
from plantdesk.transfer.json_items import FileSyntaxError, Item, parse_array, parse_item
from tests.support.cases import cases
from tests.support.json_texts import OBJECTS

_PARTS = OBJECTS | st.sampled_from(
    ['{"a": 1}', '{"a": [{}', "{}]}", "{}], [{}", "{}, {}", '{"a": "}', '{", "b": 2}', '{"a": 1} ', "", "[", "}"]
)


def plain(item: Item) -> str:
    """Return an item as text, an error as its message, and a number of any size as it is written."""
    members = {name: each.text if isinstance(each, UnfitNumber) else each for name, each in item.members.items()}
    return str(item.error or members)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('{"a": 1, "a": 2}', "More than once"),
        ('{"name": "a", "n\\u0061me": "b"}', "More than once"),
        ('{"a": NaN}', "NaN is not a JSON number"),
        ('{"a": "b', "Unterminated string"),
        ('{"a": 1},', "Extra data"),
        ('{"a": 1}, {"b": 2}', "Extra data"),
        ('{"a": [{}', "Expecting"),
        ("[1]", "It is not an object"),
        (
            '{"x": 1, "y": "a:b", "z": null, "n": -1.5, "o": {"p": [1, 1]}}',
            "{'x': 1, 'y': 'a:b', 'z': None, 'n': '-1.5', 'o'",
        ),
        (' {"x": "\\":"} ', "{'x': '\":'}"),
    ],
)
def test_a_line_is_one_object_or_says_why_not(line: str, found: str) -> None:
    item = parse_item(line, 7)
    assert found in plain(item)
    assert (item.text, item.line) == (line, 7)


def read_array(pieces: list[str]) -> list[tuple[int, str]]:
    """Return the lines and items of an array, and the error where it ends with one."""
    found: list[tuple[int, str]] = []
    try:
        found += ((item.line, plain(item)) for item in parse_array(iter(pieces), 1000))
    except FileSyntaxError as error:
        found.append((error.line, str(error.reason)))
    return found


@cases(100)
@given(st.lists(_PARTS, max_size=5), st.sampled_from([", ", ",\n", " ,\n ", ",\n\n", ",\r\n"]), st.booleans())
def test_an_array_is_read_the_same_in_pieces_of_any_size(items: list[str], comma: str, many_lines: bool) -> None:  # noqa: FBT001
    text = f"[{comma.join(items)}\n]"
    text = text.replace('": ', '":\n ') if many_lines else text
    assert read_array([text]) == read_array([*text])


@cases(100)
@given(st.lists(_PARTS, max_size=5), st.sampled_from([", ", " ,\n"]), st.integers(1, 50))
def test_a_large_object_is_read_the_same_in_pieces_of_any_size(items: list[str], comma: str, size: int) -> None:
    def summary(pieces: list[str]) -> list[tuple[int, str]]:
        return [(line, re.sub(r"It is not JSON.*", "It is not JSON", text)) for line, text in read_array(pieces)]

    text = f'[{{"x": [{comma.join(items)}\n, {{"y": [[1.5, {{}} , []]]}} ], "name": "Fern"}}, {comma.join(items)}]'
    assert summary([text[at : at + size] for at in range(0, len(text), size)]) == summary([text])


def test_the_line_of_an_item_is_where_it_begins() -> None:
    items = ['{"a": 1}', '{"b":\n2}', '\n{"c": 3}', '{"d": 4}']
    assert [line for line, _ in read_array([f"[{', '.join(items)}]"])] == [1, 1, 3, 3]
