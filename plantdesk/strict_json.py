"""JSON as RFC 8259 writes it down and no more: UTF-8 only, numbers computed exactly, no member of the object repeated.

Numbers never pass through a float. One that is no integer of int64 becomes `records.UnfitNumber`, which keeps its text
for a message; whatever its size, it costs no more than its digits.
"""

from __future__ import annotations

import gc
import json
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from plantdesk.errors import ErrorNumber, PlantDeskError, shortened
from plantdesk.records import LARGEST_ID, SMALLEST_ID, UnfitNumber

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Digits of the largest int64: a number with more, after its leading zeros, does not fit.
_MOST_DIGITS = 19
#: An exponent with more digits than this outweighs any number of digits that a body of 1 MiB can hold.
_MOST_EXPONENT_DIGITS = 8
#: Characters from which the collector is worth a thought.
_LARGE = 20_000
#: Repeated members that a message names.
_MOST_NAMED = 5
_EXAMPLE = 'Send one plant as {"id": 1, "name": "Fern"}.'


class NotJsonError(PlantDeskError):
    """The bytes are not JSON in UTF-8."""

    number = ErrorNumber.NOT_JSON


class NotAnObjectError(PlantDeskError):
    """The bytes are JSON, but a list, a text, a number or a literal."""

    number = ErrorNumber.NOT_AN_OBJECT

    def __init__(self) -> None:
        super().__init__(f"The JSON is not an object. {_EXAMPLE}")


class RepeatedMemberError(PlantDeskError):
    """A member of the object is there more than once, so that JSON leaves open which one counts."""

    number = ErrorNumber.REPEATED_MEMBER

    def __init__(self, names: list[str]) -> None:
        told = ", ".join(f"“{shortened(name)}”" for name in names[:_MOST_NAMED])
        more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
        super().__init__(f"Given more than once: {told}{more}. Give each member of the object once.")


def parse_object(data: bytes | bytearray) -> dict[str, object]:
    """Return the members of the JSON object that `data` is.

    Raises NotJsonError, NotAnObjectError and RepeatedMemberError. Objects inside it, and numbers with a fraction or an
    exponent inside its lists, are opaque values; what the objects repeat is not looked at.
    """
    top = _value(_text(data))
    if not isinstance(top, _Object):
        raise NotAnObjectError
    members = dict(top)
    if len(members) != len(top):
        counts = Counter(name for name, _ in top)
        raise RepeatedMemberError([name for name, count in counts.items() if count > 1])
    return {name: _decimal(value) if isinstance(value, _Decimal) else value for name, value in members.items()}


def _text(data: bytes | bytearray) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        message = f"The JSON is not in UTF-8: the byte at position {error.start} belongs to no character. Send UTF-8."
        raise NotJsonError(message) from None
    if text.startswith("\ufeff"):
        raise NotJsonError("The JSON begins with a byte order mark. Send it without one.")
    return text


def _value(text: str) -> object:
    try:
        with _no_collection(text):
            return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotJsonError(_place(error)) from None
    except RecursionError:
        raise NotJsonError("The JSON is nested too deeply. A plant is one object without others in it.") from None


@contextmanager
def _no_collection(text: str) -> Iterator[None]:
    """Keep Python from looking for garbage among the 300,000 values that a body may hold: none of it is any."""
    off = len(text) > _LARGE and gc.isenabled()
    if off:
        gc.disable()
    try:
        yield
    finally:
        if off:
            gc.enable()


def _place(error: json.JSONDecodeError) -> str:
    if not error.doc.strip(" \t\r\n"):
        return f"There is no JSON: what came is empty. {_EXAMPLE}"
    return f"This is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."


# Both are made without a line of Python: a body of 1 MiB can hold 300,000 of them, and nobody else is served meanwhile.


class _Object(tuple[tuple[str, object], ...]):
    """An object as the scanner found it, repeated members and all."""

    __slots__ = ()


class _Decimal(str):
    """A number with a fraction or an exponent, as it was written."""

    __slots__ = ()


def _integer(text: str) -> int | UnfitNumber:
    if len(text) < _MOST_DIGITS:
        return int(text)
    return _within_int64(text, text.lstrip("-"), 0)


def _decimal(text: str) -> int | UnfitNumber:
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return 0
    if len(exponent.lstrip("+-0")) > _MOST_EXPONENT_DIGITS:
        return UnfitNumber(text, is_whole="-" not in exponent)
    significant = digits.rstrip("0")
    zeros = int(exponent or 0) - len(fraction) + len(digits) - len(significant)
    return _within_int64(text, significant, zeros) if zeros >= 0 else UnfitNumber(text, is_whole=False)


def _within_int64(text: str, digits: str, zeros: int) -> int | UnfitNumber:
    """Return `digits` followed by `zeros`, with the sign of `text`."""
    if len(digits) + zeros > _MOST_DIGITS:
        return UnfitNumber(text, is_whole=True)
    number = int(digits) * 10**zeros
    number = -number if text.startswith("-") else number
    return number if SMALLEST_ID <= number <= LARGEST_ID else UnfitNumber(text, is_whole=True)


def _no_constant(name: str) -> NoReturn:
    raise NotJsonError(f"This is not JSON: {name} is no JSON number.")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_Object,
    parse_int=_integer,
    parse_float=_Decimal,
    parse_constant=_no_constant,
)
