"""A strict JSON parser for plants (RFC 8259): UTF-8 only, exact numbers, no repeated members.

Numbers are never converted to float. One that is not an int64 integer becomes a `validation.UnfitNumber` with its text
for a message; the cost is linear in its digits.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from decimal import Decimal, InvalidOperation
from typing import NoReturn

from plantdesk.domain.errors import ErrorNumber, PlantDeskError
from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID
from plantdesk.domain.texts import LISTED, Text, joined, shortened
from plantdesk.domain.validation import UnfitNumber

#: The most repeated members that the message names.
_MAX_NAMED = 5
_BLANKS = re.compile(r"[ \t\r\n]*")
_EXAMPLE = Text('Send one plant as {{"id": 1, "name": "Fern"}}.')


class NotJsonError(PlantDeskError):
    """The bytes are not JSON in UTF-8."""

    number = ErrorNumber.NOT_JSON


class NotAnObjectError(PlantDeskError):
    """The JSON is an array, a string, a number or a literal."""

    number = ErrorNumber.NOT_AN_OBJECT
    text = joined([Text("The JSON is not an object."), _EXAMPLE])


class RepeatedMemberError(PlantDeskError):
    """The object has a member more than once; JSON does not define which one counts."""

    number = ErrorNumber.REPEATED_MEMBER
    text = Text("More than once in the object: {names}. Each member may be there once.")

    def __init__(self, names: list[str]) -> None:
        listed = joined((Text("“{name}”", name=shortened(name)) for name in names[:_MAX_NAMED]), LISTED)
        extra = len(names) - _MAX_NAMED
        super().__init__(names=Text("{names} and {count:,} more", names=listed, count=extra) if extra > 0 else listed)


def parse_object(data: bytes | bytearray) -> dict[str, object]:
    """Return the members of the JSON object in `data`. Raises NotJsonError, NotAnObjectError, RepeatedMemberError."""
    members = unique_members(_parse_document(_decode(data)))
    for name, value in members.items():
        if isinstance(value, NumberText):
            members[name] = parse_number(value)
    return members


def unique_members(value: object) -> dict[str, object]:
    """Return the members of an object that `scan_value` returned. Raises NotAnObjectError, RepeatedMemberError."""
    if not isinstance(value, _Object):
        raise NotAnObjectError
    members = dict(value)
    if len(members) != len(value):
        counts = Counter(name for name, _ in value)
        raise RepeatedMemberError([name for name, count in counts.items() if count > 1])
    return members


def _decode(data: bytes | bytearray) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        message = Text("The JSON is not in UTF-8: the byte at position {at} belongs to no character. Send UTF-8.")
        raise NotJsonError(message, at=error.start) from None
    if text.startswith("\ufeff"):
        raise NotJsonError(Text("The JSON begins with a byte order mark. Send it without one."))
    return text


def _parse_document(text: str) -> object:
    try:
        return parse_value(text)
    except json.JSONDecodeError as error:
        raise NotJsonError(_describe_syntax_error(error)) from None
    except RecursionError:
        message = Text("The JSON is nested too deeply. A plant is one object without others in it.")
        raise NotJsonError(message) from None


def parse_value(text: str) -> object:
    """Return the only value in a text as `scan_value` does, with the same exceptions."""
    value, end = scan_value(text, skip_blanks(text, 0))
    end = skip_blanks(text, end)
    if end < len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    return value


def scan_value(text: str, position: int) -> tuple[object, int]:
    """Return the value at a position, and the position of its end; see `unique_members` for objects.

    A number with a fraction or an exponent is a NumberText. Raises json.JSONDecodeError, NotJsonError, RecursionError.
    """
    return _DECODER.raw_decode(text, position)


def skip_blanks(text: str, position: int) -> int:
    """Return the position after the blanks at a position."""
    match = _BLANKS.match(text, position)
    return position if match is None else match.end()


def _describe_syntax_error(error: json.JSONDecodeError) -> Text:
    if not error.doc.strip(" \t\r\n"):
        return joined([Text("The body is empty."), _EXAMPLE])
    template = Text("This is not JSON: {reason} at line {line}, column {column}.")
    return template.filled(reason=error.msg, line=error.lineno, column=error.colno)


# The decoder creates both in C: 300,000 of them in a body of 1 MiB would block the event loop.


class _Object(tuple[tuple[str, object], ...]):
    """A JSON object as pairs of name and value; it may have a name more than once (see `unique_members`)."""

    __slots__ = ()


class NumberText(str):
    """The text of a number with a fraction or an exponent."""

    __slots__ = ()


def parse_number(text: str) -> int | UnfitNumber:
    """Return the exact value of a JSON number, or an UnfitNumber if that is not an int64."""
    try:
        number = Decimal(text)
    except InvalidOperation:  # an exponent of more than 18 digits
        mantissa, _, exponent = text.lower().partition("e")
        return UnfitNumber(text, is_whole="-" not in exponent) if mantissa.strip("-0.") else 0
    if number != number.to_integral_value():
        return UnfitNumber(text, is_whole=False)
    return int(number) if SMALLEST_ID <= number <= LARGEST_ID else UnfitNumber(text, is_whole=True)


def _refuse_constant(name: str) -> NoReturn:
    raise NotJsonError(Text("This is not JSON: {name} is not a JSON number."), name=name)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_Object, parse_int=parse_number, parse_float=NumberText, parse_constant=_refuse_constant
)
