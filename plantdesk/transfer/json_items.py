"""The objects of a file in JSON, one by one: the lines of JSON Lines, or the items of an array, read in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from plantdesk.domain.strict_json import (
    NotAnObjectError,
    NotJsonError,
    RepeatedMemberError,
    parse_value,
    scan_value,
    skip_blanks,
    unique_members,
)
from plantdesk.domain.texts import Text, joined

#: Characters before an error that a message shows.
_SHOWN_BEFORE_ERROR = 30
#: Characters after it.
_SHOWN_AFTER_ERROR = 10
_TOO_DEEP = Text("An object is nested too deeply.")


class Item(NamedTuple):
    """An item of a file: the `line` where it begins, its `text`, and its members, or why it is not an object.

    Numbers with a fraction or an exponent are NumberText.
    """

    line: int
    text: str
    members: Mapping[str, object] = {}
    error: Text | None = None


def parse_item(line: str, number: int) -> Item:
    """Return the object in a line of JSON Lines, or an item with the error; lines are counted from 1."""
    try:
        return _make_item(parse_value(line), number, line)
    except json.JSONDecodeError as error:
        reason = Text("It is not JSON: {reason} at column {column}.", reason=error.msg, column=error.colno)
    except NotJsonError as error:
        reason = error.text
    except RecursionError:
        reason = _TOO_DEEP
    return Item(number, line, error=reason)


def _make_item(value: object, line: int, text: str) -> Item:
    try:
        return Item(line, text, unique_members(value))
    except NotAnObjectError:
        return Item(line, text, error=Text('It is not an object, such as {{"id": 1, "name": "Fern"}}.'))
    except RepeatedMemberError as error:
        return Item(line, text, error=error.text)


class FileSyntaxError(Exception):
    """A file is not an array in JSON. `line` is counted from 1."""

    def __init__(self, reason: Text, line: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


def parse_array(pieces: Iterator[str], longest: int) -> Iterator[Item]:
    """Yield the objects of an array, each of at most `longest` characters. Raises FileSyntaxError."""
    buffer = _Buffer(pieces, longest)
    if buffer.peek_character() != "[":
        reasons = [Text("It is not a JSON array, a list in [ ].")]
        if buffer.peek_character() == "{":
            reasons.append(Text("If each line is an object, name the file .jsonl."))
        raise buffer.make_error(joined(reasons))
    buffer.position += 1
    if buffer.peek_character() == "]":
        buffer.position += 1
    else:
        yield buffer.read_item()
        while buffer.peek_character() == ",":
            buffer.position += 1
            yield buffer.read_item()
        if buffer.peek_character() != "]":
            reason = Text(
                "The array is not closed, or a comma is missing, after item {number:,}.", number=buffer.item_count
            )
            raise buffer.make_error(reason)
        buffer.position += 1
    if buffer.peek_character():
        raise buffer.make_error(Text("Something follows the end of the array."))


class _Buffer:
    """The part of a file that is being parsed; `position` is that of the next character in `text`."""

    def __init__(self, pieces: Iterator[str], longest: int) -> None:
        self._pieces = pieces
        self._longest = longest
        self.text = ""
        self.position = 0
        self._line = 1
        self._counted_position = 0
        #: The number of items so far.
        self.item_count = 0

    def make_error(self, reason: Text) -> FileSyntaxError:
        return FileSyntaxError(reason, self.find_line())

    def find_line(self) -> int:
        """Return the line of the current position, counted on from the last call."""
        self._line += self.text.count("\n", self._counted_position, self.position)
        self._counted_position = self.position
        return self._line

    def peek_character(self) -> str:
        """Skip blanks; return the character there, or nothing at the end."""
        while True:
            self.position = skip_blanks(self.text, self.position)
            if self.position < len(self.text):
                return self.text[self.position]
            if not self._read_more():
                return ""

    def read_item(self) -> Item:
        """Return the item at the position, and move behind it; read more text as needed. Raises FileSyntaxError."""
        self.item_count += 1
        self.peek_character()
        while True:
            try:
                value, end = scan_value(self.text, self.position)
            except NotJsonError as error:
                raise self._make_item_error(error.text) from None
            except RecursionError:
                raise self._make_item_error(_TOO_DEEP) from None
            except json.JSONDecodeError as error:
                if len(self.text) - self.position > self._longest:
                    reason = Text("An object is longer than {longest:,} characters.", longest=self._longest)
                    raise self._make_item_error(reason) from None
                error_offset = error.pos - self.position
                if not self._read_more():
                    start = max(0, error_offset - _SHOWN_BEFORE_ERROR)
                    excerpt = " ".join(self.text[start : error_offset + _SHOWN_AFTER_ERROR].split())
                    self.position = error_offset
                    reason = Text("It is not JSON: {reason} near “{text}”.", reason=error.msg, text=excerpt)
                    raise self._make_item_error(reason) from None
            else:
                if self.text[end - 1] == "}" or end < len(self.text) or not self._read_more():  # a number may go on
                    line = self.find_line()
                    text = self.text[self.position : end]
                    self.position = end
                    return _make_item(value, line, text)

    def _make_item_error(self, reason: Text) -> FileSyntaxError:
        return self.make_error(Text("Item {number:,}: {reason}", number=self.item_count, reason=reason))

    def _read_more(self) -> bool:
        """At least double the text, so that a long item is not parsed often; return False at the end."""
        self.find_line()
        parts = [self.text[self.position :]]
        size = 0
        self.position = 0
        self._counted_position = 0
        for piece in self._pieces:
            parts.append(piece)
            size += len(piece)
            if size >= len(parts[0]) and size:
                break
        self.text = "".join(parts)
        return size > 0
