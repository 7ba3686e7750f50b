"""Validates input by the pydantic models in `models`, and has a message for users for each of their errors.

Form, API and commands get plants by these functions. `plantdesk.transfer.reading` checks the texts of tables by the
same rules itself, which is faster for many rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from pydantic import ValidationError

from plantdesk.domain.errors import InvalidField, InvalidPlantError, InvalidTokenNameError
from plantdesk.domain.folding import is_unicode
from plantdesk.domain.models import NewPlant, Plant
from plantdesk.domain.records import ID_TOO_LARGE, ID_TOO_SMALL, ID_TYPE, MAX_NOTE_BYTES
from plantdesk.domain.texts import Text, joined, shortened

_Model = TypeVar("_Model", NewPlant, Plant)

#: The most characters of the name of a token.
_MAX_TOKEN_NAME_LENGTH = 100
NOTE_TOO_LONG = Text("The note is too long. It may have {bytes:,} bytes.", bytes=MAX_NOTE_BYTES)

#: The messages for required fields that are missing.
MISSING = {
    "id": Text("The ID is missing: give “id” as a whole number."),
    "name": Text("The name is missing: give “name” as text."),
}
_NOT_TEXT = {"name": Text("The name must be text."), "tag": Text("The tag must be text.")}
_NULL_TAG = Text("The tag must be text: leave “tag” out when the plant has none.")
_SURROGATE = {
    "name": Text("The name cannot be stored: it contains half a surrogate pair. Use whole characters."),
    "tag": Text("The tag cannot be stored: it contains half a surrogate pair. Use whole characters."),
    "note": Text("The note cannot be stored: it contains half a surrogate pair. Use whole characters."),
}
#: White space, control characters, Unicode's default ignorable code points, and the blank of Braille.
_BLANK = re.compile(
    r"[\s\0-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800"
    r"\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]*"
)
NO_NAME = Text("The name is missing.")


def new_plant(values: Mapping[str, object]) -> NewPlant:
    """Return the plant that `values` describe; keys other than id, name and tag are ignored.

    Raises InvalidPlantError with all invalid fields.
    """
    return _validate(NewPlant, values)


def plant_fields(values: Mapping[str, object]) -> Plant:
    """Return the plant that `values` describe, without an id. Raises InvalidPlantError."""
    return _validate(Plant, values)


def plant_to_add(values: Mapping[str, object], plant_id: object) -> NewPlant | Plant:
    """Return the plant that `values` describe, with this id unless it is None. Raises InvalidPlantError."""
    return plant_fields(values) if plant_id is None else new_plant({**values, "id": plant_id})


def is_blank(text: str) -> bool:
    """Return whether a text has no character that can be seen."""
    return _BLANK.fullmatch(text) is not None


def check_name(name: str) -> None:
    """Raise InvalidPlantError for a blank name; only the API accepts one."""
    if is_blank(name):
        raise InvalidPlantError([InvalidField("name", NO_NAME)])


def plant_note(text: str) -> str | None:
    """Return a note as it is stored: None for an empty one. Raises InvalidPlantError."""
    if not is_unicode(text):
        raise InvalidPlantError([InvalidField("note", _SURROGATE["note"])])
    if len(text.encode()) > MAX_NOTE_BYTES:
        raise InvalidPlantError([InvalidField("note", NOTE_TOO_LONG)])
    return text or None


class UnfitNumber(NamedTuple):
    """A JSON number that is not an int64 integer, with its text for the message."""

    text: str
    is_whole: bool


def _validate(model: type[_Model], values: Mapping[str, object]) -> _Model:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
    fields = ((str(problem["loc"][0]), problem["type"]) for problem in problems)
    raise InvalidPlantError([InvalidField(field, _explain(field, kind, values.get(field))) for field, kind in fields])


def _explain(field: str, kind: str, value: object) -> Text:
    """Return the message for a field by the type of pydantic's error."""
    if kind == "missing":
        return MISSING[field]
    if kind == "value_error":
        return _NULL_TAG if value is None else _SURROGATE[field]
    if field != "id":
        return joined([_NOT_TEXT[field], _describe_received(value)])
    if isinstance(value, UnfitNumber) and value.is_whole:
        kind = "greater_than_equal" if value.text.startswith("-") else "less_than_equal"
    number_problems = {"greater_than_equal": ID_TOO_SMALL, "less_than_equal": ID_TOO_LARGE}
    return joined([number_problems.get(kind, ID_TYPE), _describe_received(value)])


def _describe_received(value: object) -> Text:
    """Return a sentence with the received JSON value of a wrong type."""
    if isinstance(value, str):
        return Text("It is the text “{value}”.", value=shortened(value, 30))
    if isinstance(value, UnfitNumber):
        return Text("It is the number {value}.", value=shortened(value.text, 30))
    if value is None or isinstance(value, bool):
        return Text("It is {value}.", value={None: "null", True: "true", False: "false"}[value])
    if isinstance(value, int):
        return Text("It is the number {value}.", value=value)
    return Text("It is a list.") if isinstance(value, list) else Text("It is an object.")


def token_name(typed: str) -> str:
    """Return the name of a new token without blanks around it. Raises InvalidTokenNameError."""
    label = typed.strip()
    if not label:
        raise InvalidTokenNameError(Text("Give the token a name that says which program uses it."))
    if len(label) > _MAX_TOKEN_NAME_LENGTH or not label.isprintable():
        message = Text("A token's name has at most {longest} characters, on one line and all visible.")
        raise InvalidTokenNameError(message, longest=_MAX_TOKEN_NAME_LENGTH)
    return label
