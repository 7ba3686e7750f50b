"""Reads text files of any encoding in pieces, so that memory does not grow with the file or with a line."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from plantdesk.errors import PlantDeskError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

#: Characters of one plant in a file: the largest that the API takes, with all of them escaped, and its note.
LONGEST = 16_777_216
_HEAD = 65_536
_PIECE = 262_144
_BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_KNOWN = {b"PK\x03\x04": "an Excel workbook (.xlsx) or a ZIP file", b"SQLite format 3\0": "a database (.db)"}
_CONTROLS = frozenset(range(32)) - frozenset(b"\t\n\r\f")
#: Share of NUL bytes from which a text in one half of the bytes is UTF-16.
_MOSTLY = 0.4


class FileError(PlantDeskError):
    """A file cannot be read as plants."""

    def __init__(self, name: str, reason: str, line: int | None = None) -> None:
        where = "" if line is None else f", line {line:,}"
        super().__init__(f"“{name}”{where}: {reason} Nothing was imported.")


class TextFile:
    """An open file that is read once. `name` is for messages."""

    def __init__(
        self, stream: BinaryIO, name: str, progress: Callable[[int], None], encoding: str | None = None
    ) -> None:
        """Read a stream; an `encoding` of None is detected."""
        self.name = name
        #: Known after the first piece.
        self.encoding = encoding
        #: Lines that were given out by `lines` and `blocks`.
        self.line = 0
        self._stream = stream
        self._progress = progress
        self._newlines = 0

    def error(self, reason: str, line: int | None = None) -> FileError:
        """Return the error for a reason; the line is by default the last one that was given out."""
        return FileError(self.name, reason, line or self.line or None)

    def pieces(self) -> Iterator[str]:
        """Yield the text in pieces. Raises FileError and OSError."""
        head = self._stream.read(_HEAD)
        if not head:
            raise FileError(self.name, "It is empty.")
        self.encoding = self._encoding(head)
        decoder = codecs.getincrementaldecoder(self.encoding)("strict")
        data = head
        while data:
            self._progress(len(data))
            yield self._decoded(decoder, data)
            data = self._stream.read(_PIECE)
        yield self._decoded(decoder, b"", final=True)

    def blocks(self) -> Iterator[str]:
        """Yield whole lines, many at a time, without the LF of the last one. Raises FileError and OSError.

        A last line without its LF comes with those before it, so that a small file is one block.
        """
        lines: list[str] = []
        rest = ""
        for piece in filter(None, self.pieces()):
            if lines:
                yield self._counted(lines.pop())
            block, has_end, rest = (rest + piece).rpartition("\n")
            if has_end:
                lines = [block]
            if len(rest) > LONGEST:
                raise self.error(f"The line is longer than {LONGEST:,} characters.", self.line + 1)
        if rest:
            lines.append(rest)
        if lines:
            yield self._counted("\n".join(lines))

    def _counted(self, block: str) -> str:
        self.line += block.count("\n") + 1
        return block

    def lines(self) -> Iterator[str]:
        """Yield the lines without their LF, one at a time. Raises FileError and OSError."""
        for block in self.blocks():
            lines = block.split("\n")
            self.line -= len(lines)
            for line in lines:
                self.line += 1
                yield line

    def _decoded(self, decoder: codecs.IncrementalDecoder, data: bytes, *, final: bool = False) -> str:
        try:
            text = decoder.decode(data, final)
        except UnicodeError as error:
            if not isinstance(error, UnicodeDecodeError) or not (self._newlines or error.start):
                # Such as UTF-16 without a byte order mark, which is no UnicodeDecodeError before Python 3.13.
                raise self.error(f"It is not {str(self.encoding).upper()}. Choose another encoding.") from None
            line = self._newlines + error.object[: error.start].count(b"\n") + 1
            reason = f"A byte is not {error.encoding.upper()} as the text before. Save the file as UTF-8."
            raise self.error(reason, line) from None
        self._newlines += text.count("\n")
        return text

    def _encoding(self, head: bytes) -> str:
        for mark, what in _KNOWN.items():
            if head.startswith(mark):
                raise FileError(self.name, f"It is {what}, not text. Give it the ending of its format.")
        if self.encoding is not None:
            has_mark = self.encoding == "utf-8" and head.startswith(codecs.BOM_UTF8)
            return "utf-8-sig" if has_mark else self.encoding
        for mark, encoding in _BOMS.items():
            if head.startswith(mark):
                return encoding
        half = len(head) // 2 or 1
        for at, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
            if head[at::2].count(0) > _MOSTLY * half and not head[1 - at :: 2].count(0):
                return encoding
        is_utf8 = _is_utf8(head)
        controls = _CONTROLS.intersection(head)
        if is_utf8 and controls == {0} and b'"' not in head and 2 * head.count(0) < len(head):
            raise self.error("It has a NUL character.", head[: head.index(0)].count(b"\n") + 1)
        if (0 in head and b'"' not in head) or (not is_utf8 and controls):
            raise FileError(self.name, "It is not a text file.")
        return "utf-8" if is_utf8 else "cp1252"


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True
