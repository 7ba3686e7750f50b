from __future__ import annotations

import copy
import pickle

import pytest

from plantdesk.domain.records import COMMAND, PlantRow
from plantdesk.domain.selections import Contains, HasTag
from plantdesk.domain.values import NamedTuple


class Typed(NamedTuple):
    """As in typing."""

    first: int
    second: str = "b"

    @property
    def joined(self) -> str:
        return f"{self.first}{self.second}"


def test_a_value_equals_those_of_its_class_with_the_same_fields() -> None:
    value = Contains("fern", is_word=False)
    assert value == Contains(text="fern", is_word=False) == copy.copy(value) == pickle.loads(pickle.dumps(value))  # noqa: S301  made here
    assert value != Contains("fern")
    assert value != HasTag("fern", exact=False)
    assert len({value, Contains("fern", is_word=False), HasTag("fern", exact=False)}) == 2


def test_a_value_has_the_defaults_of_its_class_and_cannot_be_changed() -> None:
    value = Contains("fern")
    assert value.is_word
    with pytest.raises(AttributeError):
        value.text = "moss"  # type: ignore[misc]


def test_a_value_is_matched_by_positions() -> None:
    match Contains("fern"):
        case Contains(text, is_word):
            assert (text, is_word) == ("fern", True)


def test_a_named_tuple_is_one_of_typing() -> None:
    row = PlantRow(1, "Fern", None, 2, COMMAND)
    assert row._replace(name="Moss").name == "Moss"
    assert row == (1, "Fern", None, 2, COMMAND, None, 0) == copy.copy(row) == pickle.loads(pickle.dumps(row))  # noqa: S301  made here
    assert Typed.__doc__ == "As in typing."
    assert (Typed._fields, Typed._field_defaults, Typed.__annotations__, Typed.__module__) == (
        ("first", "second"),
        {"second": "b"},
        {"first": "int", "second": "str"},
        __name__,
    )
    assert Typed(1).joined == "1b"
    with pytest.raises(TypeError):
        Typed()  # type: ignore[call-arg]
