"""Texts for users, to be translated by the window, and functions that fit foreign strings into a line of text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce


@dataclass(init=False)
class Text:
    """A text for users as a template in English and the values of its fields; `str()` is the English text.

    Both templates are literals, for tools that collect them. `one` is for a `count` of 1. Texts of users or of the
    system are values, and so is another Text; numbers stay numbers, formatted when the text is shown.
    """

    template: str
    one: str
    values: Mapping[str, str | float | Text]

    def __init__(self, template: str, /, *, one: str = "", **values: str | float | Text) -> None:
        self.template = template
        self.one = one
        self.values = values

    def filled(self, /, **values: str | float | Text) -> Text:
        """Return a copy of the text with more values for the fields of its template."""
        text = type(self)(self.template, one=self.one)
        text.values = {**self.values, **values}
        return text

    def mapped(self, change: Callable[[str], str]) -> Text:
        """Return the text with changed templates, also in the texts in it; it can no longer be translated."""
        values = {name: text.mapped(change) if isinstance(text, Text) else text for name, text in self.values.items()}
        return type(self)(change(self.template), one=change(self.one)).filled(**values)

    def __str__(self) -> str:
        template = self.one if self.one and self.values["count"] == 1 else self.template
        return template.format_map(self.values)


_PAIR = Text("{first} {second}")
#: How two texts of a list are joined.
LISTED = Text("{first}, {second}")


def joined(texts: Iterable[Text], pair: Text = _PAIR) -> Text:
    """Return one or more texts joined into one; `pair` is the template that joins two of them."""
    return reduce(lambda first, second: pair.filled(first=first, second=second), texts)


def comma_list(items: Sequence[Text | int], limit: int, count: int | None = None) -> Text:
    """Return the first `limit` items with commas between them, and “…” if there are more; `count` counts all items."""
    shown = [item if isinstance(item, Text) else Text("{number}", number=item) for item in items[:limit]]
    has_more = len(shown) < (len(items) if count is None else count)
    return joined([*shown, Text("…")] if has_more else shown, LISTED)


def plants_text(count: int) -> Text:
    """Return a number of plants as text, such as “1 plant” or “2,000 plants”."""
    return Text("{count:,} plants", one="1 plant", count=count)


def shortened(text: str, longest: int = 60) -> str:
    """Return `text` on one line, printable and at most `longest` characters, for use in a message."""
    line = printable(text[: longest + 1])
    return line if len(line) <= longest else line[: longest - 1] + "…"


def printable(text: str) -> str:
    """Return `text` on one line, with a space for each character that could control a terminal."""
    return "".join(character if character.isprintable() else " " for character in text)


def without_controls(text: str) -> str:
    """Return `text` with a space for each character that could control a terminal, other than tabs and line ends."""
    return "".join(character if character in "\t\n\r" or character.isprintable() else " " for character in text)
