"""A strict JSON parser for plants (RFC 8259): UTF-8 only, exact numbers, no repeated members.

Numbers are never converted to float. One that is not an int64 integer becomes `records.UnfitNumber`, which keeps its
text for a message; the cost is linear in its digits.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from json.scanner import make_scanner
from typing import NoReturn

from plantdesk.domain.errors import LISTED, ErrorNumber, PlantDeskError, Text, joined, shortened
from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID
from plantdesk.domain.validation import UnfitNumber

#: Digits of the largest int64.
_MAX_DIGITS = 19
#: A larger exponent exceeds the number of digits that a body of 1 MiB can have.
_MAX_EXPONENT_DIGITS = 8
#: Characters that are parsed at once, in up to 10 ms, during which no other thread runs; more are parsed in steps.
_LARGE = 150_000
#: Characters of such a step, how deep the values are that it takes at once, and how deep values may be.
_STEP, _STEP_DEPTH, _MAX_DEPTH = 65_536, 4, 1000
_CLOSING = {"[": "]", "{": "}"}
_BLANK_OR_COMMA = " \t\r\n,"
#: Repeated members that the message names.
_MAX_NAMED = 5
#: Characters before and after an error that a message shows.
_BEFORE, _AFTER = 30, 10
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
    text = Text("Given more than once: {names}. Give each member of the object once.")

    def __init__(self, names: list[str]) -> None:
        listed = joined((Text("“{name}”", name=shortened(name)) for name in names[:_MAX_NAMED]), LISTED)
        more = len(names) - _MAX_NAMED
        super().__init__(names=Text("{names} and {count:,} more", names=listed, count=more) if more > 0 else listed)


def parse_object(data: bytes | bytearray) -> dict[str, object]:
    """Return the members of the JSON object in `data`. Raises NotJsonError, NotAnObjectError, RepeatedMemberError.

    Nested values are checked for syntax only; those of a large body are empty.
    """
    members = _members(_value(_text(data)))
    for name, value in members.items():
        if isinstance(value, Decimal):
            members[name] = whole_number(value)
    return members


def line_value(line: str) -> dict[str, object] | PlantDeskError:
    """Return the members of the object in a line, or what is wrong with it, as `parse_object` raises it.

    A number with a fraction or an exponent is a `Decimal`.
    """
    try:
        top, end = _scan(line, 0) if len(line) <= _LARGE else (None, 0)
    except (ValueError, RecursionError, StopIteration, NotJsonError):
        top, end = None, 0  # it is parsed again for the message
    if end == len(line) and isinstance(top, _Object):
        members = dict(top)
        if len(members) == len(top):
            return members
    try:
        return _members(_value(line))
    except PlantDeskError as error:
        return _bare(error)


def _bare(error: PlantDeskError) -> PlantDeskError:
    """Return an error without its stack: the cycles of many would make garbage collection a long pause."""
    error.__context__ = None
    return error.with_traceback(None)


def _members_or_error(value: object) -> dict[str, object] | PlantDeskError:
    try:
        return _members(value)
    except PlantDeskError as error:
        return _bare(error)


class FileSyntaxError(Exception):
    """A file is not an array in JSON. `line` is counted from 1."""

    def __init__(self, reason: Text, line: int) -> None:
        super().__init__(reason)
        self.reason, self.line = reason, line


def array_items(pieces: Iterator[str], longest: int) -> Iterator[tuple[int, dict[str, object] | PlantDeskError]]:
    """Yield the line and the members of each object of an array, or what is wrong with it, as `line_value` does.

    No item may have more than `longest` characters. Raises FileSyntaxError.
    """
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
    """The part of a text that is being parsed."""

    def __init__(self, pieces: Iterator[str], longest: int) -> None:
        self._pieces, self._longest = pieces, longest
        self._text, self.at = "", 0
        self._line, self._counted = 1, 0
        #: Items so far.
        self.items = 0

    def error(self, reason: Text) -> FileSyntaxError:
        return FileSyntaxError(reason, self.line())

    def line(self) -> int:
        """Return the line of the present position."""
        self._line += self._text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line

    def next_character(self) -> str:
        """Skip blanks; return the character there, or nothing at the end."""
        while True:
            self.at = _after_blanks(self._text, self.at)
            if self.at < len(self._text):
                return self._text[self.at]
            if not self._more():
                return ""

    def item(self) -> tuple[int, dict[str, object] | PlantDeskError]:
        """Return the line and the value of the item that begins here."""
        self.items += 1
        self.next_character()
        while True:
            try:
                value, end = _decoded(self._text, self.at)
            except NotJsonError as error:
                raise self._item_error(error.text) from None
            except RecursionError:
                raise self._item_error(Text("An object is nested too deeply.")) from None
            except json.JSONDecodeError as error:
                if len(self._text) - self.at > self._longest:
                    reason = Text("An object is longer than {longest:,} characters.", longest=self._longest)
                    raise self._item_error(reason) from None
                if not self._more():
                    near = " ".join(self._text[max(self.at, error.pos - _BEFORE) : error.pos + _AFTER].split())
                    self.at = error.pos
                    reason = Text("It is not JSON: {reason} near “{text}”.", reason=error.msg, text=near)
                    raise self._item_error(reason) from None
            else:
                if end < len(self._text) or not self._more():  # else a number may go on in the next piece
                    line, self.at = self.line(), end
                    return line, _members_or_error(value)

    def _item_error(self, reason: Text) -> FileSyntaxError:
        return self.error(Text("Item {number:,}: {reason}", number=self.items, reason=reason))

    def _more(self) -> bool:
        """Read at least as much again, so that a long item is not parsed often; False at the end."""
        self.line()
        parts, size = [self._text[self.at :]], 0
        self.at = self._counted = 0
        for piece in self._pieces:
            parts.append(piece)
            size += len(piece)
            if size >= len(parts[0]) and size:
                break
        self._text = "".join(parts)
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
        value, end = _decoded(text, _after_blanks(text, 0))
    except json.JSONDecodeError as error:
        raise NotJsonError(_syntax_message(error)) from None
    except RecursionError:
        message = Text("The JSON is nested too deeply. A plant is one object without others in it.")
        raise NotJsonError(message) from None
    end = _after_blanks(text, end)
    if end < len(text):
        raise NotJsonError(_syntax_message(json.JSONDecodeError("Extra data", text, end)))
    return value


def _decoded(text: str, at: int) -> tuple[object, int]:
    """Return the value at a position and its end; what is nested in a large object is only checked, and left out.

    Raises json.JSONDecodeError, NotJsonError, RecursionError.
    """
    if len(text) - at <= _LARGE or text[at] != "{":
        return _without_nested(text, at)
    members: list[tuple[str, object]] = []
    at = _after_blanks(text, at + 1)
    while not text.startswith("}", at):
        end = _after_items(text, at, "}")
        if end > at:
            members += _DECODER.decode(f"{{{text[at:end].rstrip(_BLANK_OR_COMMA)}}}")
            at = end
            continue
        name, at = _name(text, at)
        value, at = _without_nested(text, at)
        members.append((name, value))
        at = _after_blanks(text, at)
        at = at if text.startswith("}", at) else _after_comma(text, at)
    return _Object(members), at + 1


def _without_nested(text: str, at: int) -> tuple[object, int]:
    if len(text) - at <= _LARGE or text[at] not in _CLOSING:
        return _DECODER.raw_decode(text, at)
    return [] if text[at] == "[" else _Object(), _end(text, at)


def _end(text: str, at: int) -> int:
    """Return the end of the array or object at a position."""
    unclosed: list[str] = []  # the brackets that close them, the innermost last
    while True:
        if text[at : at + 1] in _CLOSING:
            unclosed.append(_CLOSING[text[at]])
            if len(unclosed) > _MAX_DEPTH:
                raise RecursionError
            at = _after_items(text, _after_blanks(text, at + 1), unclosed[-1])
        else:
            _, at = _DECODER.raw_decode(text, at)
            at = _after_item(text, at, unclosed[-1])
        while text.startswith(unclosed[-1], at):
            unclosed.pop()
            if not unclosed:
                return at + 1
            at = _after_item(text, at + 1, unclosed[-1])
        if unclosed[-1] == "}":
            _, at = _name(text, at)


def _after_item(text: str, at: int, closing: str) -> int:
    """Return the position of the next item that is no part of a step, or of the closing bracket."""
    at = _after_blanks(text, at)
    return at if text.startswith(closing, at) else _after_items(text, _after_comma(text, at), closing)


def _after_items(text: str, at: int, closing: str) -> int:
    """Return the position behind the items that a step takes at once; a comma behind them is taken as well."""
    found = _items_of_step(closing).match(text, at, at + _STEP)
    return at if found is None else found.end()


@cache
def _items_of_step(closing: str) -> re.Pattern[str]:
    """Return the pattern of items before a closing bracket. Only large texts need it: compiling it takes 20 ms."""
    blanks = r"[ \t\r\n]*+"
    text = r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"'
    value = scalar = rf"(?:{text}|-?+(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?+[0-9]++)?|true|false|null)"

    def items(closing: str) -> str:
        item = value if closing == "]" else f"{text}{blanks}:{blanks}{value}"
        return rf"(?:{item}{blanks}(?:,{blanks}(?=[^]}}])|(?=\{closing})))*"

    for _ in range(_STEP_DEPTH):
        value = rf"(?:{scalar}|\[{blanks}{items(']')}\]|\{{{blanks}{items('}')}\}})"
    return re.compile(items(closing))


def _name(text: str, at: int) -> tuple[str, int]:
    """Return the name at a position, and where its value begins."""
    if not text.startswith('"', at):
        raise json.JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
    name, at = _DECODER.raw_decode(text, at)
    at = _after_blanks(text, at)
    if not text.startswith(":", at):
        raise json.JSONDecodeError("Expecting ':' delimiter", text, at)
    return name, _after_blanks(text, at + 1)


def _after_comma(text: str, at: int) -> int:
    if not text.startswith(",", at):
        raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
    after = _after_blanks(text, at + 1)
    if text[after : after + 1] in {"]", "}"}:
        raise json.JSONDecodeError("Illegal trailing comma", text, at)
    return after


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


class Decimal(str):
    """The text of a number with a fraction or an exponent."""

    __slots__ = ()


def _integer(text: str) -> int | UnfitNumber:
    if len(text) < _MAX_DIGITS:
        return int(text)
    return _within_int64(text, text.lstrip("-"), 0)


def whole_number(text: Decimal) -> int | UnfitNumber:
    """Return the number in a text, exactly."""
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return 0
    if len(exponent.lstrip("+-0")) > _MAX_EXPONENT_DIGITS:
        return UnfitNumber(text, is_whole="-" not in exponent)
    significant = digits.rstrip("0")
    zeros = int(exponent or 0) - len(fraction) + len(digits) - len(significant)
    return _within_int64(text, significant, zeros) if zeros >= 0 else UnfitNumber(text, is_whole=False)


def _within_int64(text: str, digits: str, zeros: int) -> int | UnfitNumber:
    """Return the number of `digits` followed by `zeros`, with the sign of `text`."""
    if len(digits) + zeros > _MAX_DIGITS:
        return UnfitNumber(text, is_whole=True)
    number = int(digits) * 10**zeros
    number = -number if text.startswith("-") else number
    return number if SMALLEST_ID <= number <= LARGEST_ID else UnfitNumber(text, is_whole=True)


def _no_constant(name: str) -> NoReturn:
    raise NotJsonError(Text("This is not JSON: {name} is not a JSON number."), name=name)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_Object,
    parse_int=_integer,
    parse_float=Decimal,
    parse_constant=_no_constant,
)
#: Without the checks of `decode` for blanks around a value, which take longer than a line.
_scan = make_scanner(_DECODER)  # type: ignore[arg-type] # it takes a decoder
