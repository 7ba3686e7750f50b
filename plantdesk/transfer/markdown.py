"""Reads tables of Markdown files, as Joplin and Obsidian write them (GitHub Flavored Markdown, “Tables”)."""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from plantdesk.domain.errors import Text
from plantdesk.transfer.columns import MAX_COLUMNS, SAMPLED, Layout, field_of, guessed
from plantdesk.transfer.tables import Batch

if TYPE_CHECKING:
    from plantdesk.transfer.text import TextFile

    Row = tuple[int, list[str | None]]
    Lines = Iterator[tuple[int, str]]

#: Rows of a batch.
_MAX_ROWS = 1000
#: Characters of a cell with marks, as many as a note may have.
_LONGEST = 100_000
_DASHES = re.compile(r"\s*:?-+:?\s*")
_BAR = re.compile(r"(?<!\\)\|")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
#: Marks around a text, and what is left of them: links of Obsidian, other links, code and emphasis. None matches beyond
#: the next beginning of its kind, so that the time is linear in the length of the text.
_MARKS = (
    (re.compile(r"!?\[\[(?:[^][|]*\|)?([^][]*)\]\]"), r"\1"),
    (re.compile(r"!?\[([^][]*)\]\([^()]*\)"), r"\1"),
    (re.compile(r"`(?=\S)([^`]+)(?<=\S)`"), r"\1"),
    (re.compile(r"(?<![\w*])([*_])(?=\S)([^*_]+)(?<=\S)\1(?![\w*])"), r"\2"),
    *(
        (re.compile(rf"{2 * each}(?=\S)((?:[^{each}]|{each}(?!{each}))+)(?<=\S){2 * each}"), r"\1")
        for each in (r"\*", "_", "~")
    ),
)
_LINK = _MARKS[1][0]
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


class MarkdownTable:
    """The first table of a file with a column for the name, else the first one."""

    def __init__(self, text: TextFile) -> None:
        """Read up to the first rows of the table. Raises FileError and OSError."""
        found: tuple[list[str], Lines] | None = None
        #: Tables that are not read, as far as the file is; after `batches` all of them.
        self.other_tables = 0
        #: Links in the rows so far; only their text is read.
        self.links = 0
        self._tables = _tables(text)
        for header, rows in self._tables:
            if "name" in map(field_of, header):
                found = header, rows
                break
            kept = [*rows]  # the rest of the file may have no better one
            self.other_tables += 1
            found = found or (header, iter(kept))
        else:
            self.other_tables -= 1  # the first one
        if found is None:
            raise text.error(Text("It has no table."))
        names, rest = found
        self._rest = map(self._row, rest)
        self._first = [*itertools.islice(self._rest, SAMPLED)]
        self.layout = Layout(names, has_header=False, fields=guessed(names, [row for _, row in self._first]))

    def batches(self) -> Iterator[Batch]:
        """Yield all rows of the table. Raises FileError and OSError."""
        rows = self._first
        while True:
            yield Batch([line for line, _ in rows], [row for _, row in rows])
            rows = [*itertools.islice(self._rest, _MAX_ROWS)]
            if not rows:
                break
        for _, others in self._tables:
            self.other_tables += 1
            deque(others, maxlen=0)

    def _row(self, line: tuple[int, str]) -> Row:
        number, text = line
        self.links += len(_LINK.findall(text))
        return number, _cells(text)


def is_table(lines: list[str]) -> bool:
    """Return whether lines begin with a Markdown table."""
    return len(lines) > 1 and "|" in lines[0] and "|" in lines[1] and _is_rule(lines[1])


def _tables(text: TextFile) -> Iterator[tuple[list[str], Lines]]:
    """Yield the header of each table and the lines of its rows, which have to be read before the next table."""
    header, lines = "", text.lines()
    for line in lines:
        if "|" in header and _is_rule(line) and len(_cells(line)) == len(_cells(header)):
            body = itertools.takewhile(lambda each: each.strip() and "|" in each, lines)
            yield [cell or "" for cell in _cells(header)], ((text.line, each) for each in body)
            header = ""
        else:
            header = line


def _is_rule(line: str) -> bool:
    """Return whether a line separates the header of a table from its rows."""
    cells = line.strip().removeprefix("|").removesuffix("|").split("|") if "-" in line else []
    return 0 < len(cells) <= MAX_COLUMNS and all(map(_DASHES.fullmatch, cells))


def _cells(line: str) -> list[str | None]:
    cells = _BAR.split(line.strip().removeprefix("|"), MAX_COLUMNS + 1)[: MAX_COLUMNS + 1]
    if len(cells) > 1 and not cells[-1].strip():
        cells.pop()
    return [plain(cell) or None for cell in cells]


def plain(cell: str) -> str:
    """Return the text of a cell without marks of Markdown."""
    if len(cell) > _LONGEST:
        return cell
    text = _BREAK.sub("\n", cell.strip()).replace("\\|", "|")
    for mark, left in _MARKS:
        text = mark.sub(left, text)
    return _ESCAPED.sub(r"\1", text)
