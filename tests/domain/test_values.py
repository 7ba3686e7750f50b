from __future__ import annotations

import copy
import pickle

import pytest

from plantdesk.domain.selections import Contains, HasTag


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
