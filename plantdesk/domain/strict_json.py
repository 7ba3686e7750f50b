"""A strict JSON parser for plants (RFC 8259): UTF-8 only, exact numbers, no repeated members.

Numbers are never converted to float. One that is not an int64 integer becomes `validation.UnfitNumber`, which keeps its
text for a message; the cost is linear in its digits.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import NamedTuple, NoReturn

from plantdesk.domain.errors import LISTED, ErrorNumber, PlantDeskError, Text, joined, shortened
from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID
from plantdesk.domain.validation import UnfitNumber

#: Digits of the largest int64.
_MAX_DIGITS = 19
#: Repeated members that the message names.
_MAX_NAMED = 5
#: Characters before and after an error that a message shows.
_BEFORE, _AFTER = 30, 10
_BLANKS = re.compile(r"[ \t\r\n]*")
_TOO_DEEP = Text("An object is nested too deeply.")
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
        more = len(names) - _MAX_NAMED
        super().__init__(names=Text("{names} and {count:,} more", names=listed, count=more) if more > 0 else listed)


def parse_object(data: bytes | bytearray) -> dict[str, object]:
    """Return the members of the JSON object in `data`. Raises NotJsonError, NotAnObjectError, RepeatedMemberError."""
    members = _members(_value(_text(data)))
    for name, value in members.items():
        if isinstance(value, NumberText):
            members[name] = whole_number(value)
    return members


class Item(NamedTuple):
    """An item of a file that begins on `line`, its `text` there, its members, or why it is not an object.

    Numbers with a fraction or an exponent are NumberText.
    """

    line: int
    text: str
    members: Mapping[str, object] = {}
    error: Text | None = None


def item_of_line(line: str, number: int) -> Item:
    """Return the object in a line."""
    try:
        return _item(_whole(line), number, line)
    except json.JSONDecodeError as error:
        reason = Text("It is not JSON: {reason} at column {column}.", reason=error.msg, column=error.colno)
    except NotJsonError as error:
        reason = error.text
    except RecursionError:
        reason = _TOO_DEEP
    return Item(number, line, error=reason)


def _item(value: object, line: int, text: str) -> Item:
    if not isinstance(value, _Object):
        return Item(line, text, error=Text('It is not an object, such as {{"id": 1, "name": "Fern"}}.'))
    try:
        return Item(line, text, _members(value))
    except RepeatedMemberError as error:
        return Item(line, text, error=error.text)


class FileSyntaxError(Exception):
    """A file is not an array in JSON. `line` is counted from 1."""

    def __init__(self, reason: Text, line: int) -> None:
        super().__init__(reason)
        self.reason, self.line = reason, line


def array_items(pieces: Iterator[str], longest: int) -> Iterator[Item]:
    """Yield the objects of an array, each of at most `longest` characters. Raises FileSyntaxError."""
    buffer = _Buffer(pieces, longest)
    if buffer.next_character() != "[":
        reasons = [Text("It is not a JSON array, a list in [ ].")]
        if buffer.next_character() == "{":
            reasons.append(Text("If each line is an object, name the file .jsonl."))
        raise buffer.error(joined(reasons))
    buffer.at += 1
    if buffer.next_character() == "]":
        buffer.at += 1
    else:
        yield buffer.item()
        while buffer.next_character() == ",":
            buffer.at += 1
            yield buffer.item()
        if buffer.next_character() != "]":
            reason = Text("The array is not closed, or a comma is missing, after item {number:,}.", number=buffer.items)
            raise buffer.error(reason)
        buffer.at += 1
    if buffer.next_character():
        raise buffer.error(Text("Something follows the end of the array."))


class _Buffer:
    """The part of a file that is being parsed."""

    def __init__(self, pieces: Iterator[str], longest: int) -> None:
        self._pieces, self._longest = pieces, longest
        self.text, self.at = "", 0
        self._line, self._counted = 1, 0
        #: Items so far.
        self.items = 0

    def error(self, reason: Text) -> FileSyntaxError:
        return FileSyntaxError(reason, self.line())

    def line(self) -> int:
        """Return the line of the present position."""
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line

    def next_character(self) -> str:
        """Skip blanks; return the character there, or nothing at the end."""
        while True:
            self.at = _after_blanks(self.text, self.at)
            if self.at < len(self.text):
                return self.text[self.at]
            if not self._more():
                return ""

    def item(self) -> Item:
        """Return the item that begins here."""
        self.items += 1
        self.next_character()
        while True:
            try:
                value, end = _DECODER.raw_decode(self.text, self.at)
            except NotJsonError as error:
                raise self._item_error(error.text) from None
            except RecursionError:
                raise self._item_error(_TOO_DEEP) from None
            except json.JSONDecodeError as error:
                if len(self.text) - self.at > self._longest:
                    reason = Text("An object is longer than {longest:,} characters.", longest=self._longest)
                    raise self._item_error(reason) from None
                after = error.pos - self.at
                if not self._more():
                    near = " ".join(self.text[max(0, after - _BEFORE) : after + _AFTER].split())
                    self.at = after
                    reason = Text("It is not JSON: {reason} near “{text}”.", reason=error.msg, text=near)
                    raise self._item_error(reason) from None
            else:
                if self.text[end - 1] == "}" or end < len(self.text) or not self._more():  # a number may go on
                    line, text, self.at = self.line(), self.text[self.at : end], end
                    return _item(value, line, text)

    def _item_error(self, reason: Text) -> FileSyntaxError:
        return self.error(Text("Item {number:,}: {reason}", number=self.items, reason=reason))

    def _more(self) -> bool:
        """Read at least as much again, so that a long item is not parsed often; False at the end."""
        self.line()
        parts, size = [self.text[self.at :]], 0
        self.at = self._counted = 0
        for piece in self._pieces:
            parts.append(piece)
            size += len(piece)
            if size >= len(parts[0]) and size:
                break
        self.text = "".join(parts)
        return size > 0


def _members(top: object) -> dict[str, object]:
    if not isinstance(top, _Object):
        raise NotAnObjectError
    members = dict(top)
    if len(members) != len(top):
        counts = Counter(name for name, _ in top)
        raise RepeatedMemberError([name for name, count in counts.items() if count > 1])
    return members


def _text(data: bytes | bytearray) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        message = Text("The JSON is not in UTF-8: the byte at position {at} belongs to no character. Send UTF-8.")
        raise NotJsonError(message, at=error.start) from None
    if text.startswith("\ufeff"):
        raise NotJsonError(Text("The JSON begins with a byte order mark. Send it without one."))
    return text


def _value(text: str) -> object:
    try:
        return _whole(text)
    except json.JSONDecodeError as error:
        raise NotJsonError(_syntax_message(error)) from None
    except RecursionError:
        message = Text("The JSON is nested too deeply. A plant is one object without others in it.")
        raise NotJsonError(message) from None


def _whole(text: str) -> object:
    """Return the value that is all of a text. Raises json.JSONDecodeError, NotJsonError, RecursionError."""
    value, end = _DECODER.raw_decode(text, _after_blanks(text, 0))
    end = _after_blanks(text, end)
    if end < len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    return value


def _after_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return at if found is None else found.end()


def _syntax_message(error: json.JSONDecodeError) -> Text:
    if not error.doc.strip(" \t\r\n"):
        return joined([Text("The body is empty."), _EXAMPLE])
    template = Text("This is not JSON: {reason} at line {line}, column {column}.")
    return template.filled(reason=error.msg, line=error.lineno, column=error.colno)


# Both are created without executing Python code: a body of 1 MiB may have 300,000, and they block the event loop.


class _Object(tuple[tuple[str, object], ...]):
    """An object with repeated members, as scanned."""

    __slots__ = ()


class NumberText(str):
    """The text of a number with a fraction or an exponent."""

    __slots__ = ()


def _integer(text: str) -> int | UnfitNumber:
    return int(text) if len(text) < _MAX_DIGITS else whole_number(text)


def whole_number(text: str) -> int | UnfitNumber:
    """Return the number in a text, exactly."""
    try:
        number = Decimal(text)
    except InvalidOperation:  # an exponent of more than 18 digits
        mantissa, _, exponent = text.lower().partition("e")
        return UnfitNumber(text, is_whole="-" not in exponent) if mantissa.strip("-0.") else 0
    if number != number.to_integral_value():
        return UnfitNumber(text, is_whole=False)
    return int(number) if SMALLEST_ID <= number <= LARGEST_ID else UnfitNumber(text, is_whole=True)


def _no_constant(name: str) -> NoReturn:
    raise NotJsonError(Text("This is not JSON: {name} is not a JSON number."), name=name)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_Object, parse_int=_integer, parse_float=NumberText, parse_constant=_no_constant
)
