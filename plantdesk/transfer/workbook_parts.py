"""The parts of an Excel workbook, read so that memory stays bounded whatever the file holds.

openpyxl reads a sheet row by row, but all of its shared texts into memory, and a ZIP file of some kilobytes may unpack
to gigabytes.
"""

from __future__ import annotations

import mmap
import re
import zipfile
from array import array
from typing import TYPE_CHECKING, Any, cast

from openpyxl.xml.functions import iterparse
from typing_extensions import override

from plantdesk.transfer.text import FileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO, Self
    from xml.etree.ElementTree import Element

#: Unpacked bytes of one row or shared text, and of a part that is not read in pieces.
_MAX_ROW, _MAX_PART = 2 * 1024 * 1024, 16 * 1024 * 1024
#: Unpacked bytes from which a ratio that no table reaches counts.
_MAX_UNPACKED, _MAX_RATIO = 64 * 1024 * 1024, 150
_STREAMED = re.compile(r"xl/(worksheets/|sharedStrings)", re.IGNORECASE)
_ROW = re.compile(rb"</?(?:\w+:)?(?:row|si)\b")
_END = re.compile(rb"</((?:\w+:)?)sheetData\s*>")
#: Bytes that are held back, so that no tag is cut in two.
_TAIL = 64
_NAMESPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


class Archive(zipfile.ZipFile):
    """A workbook whose parts are checked while they are read; `progress` is called with packed bytes."""

    def __init__(self, stream: IO[bytes], name: str, size: int, progress: Callable[[int], None]) -> None:
        """Raises zipfile.BadZipFile, and FileError for a ZIP bomb."""
        super().__init__(stream)
        self._name, self._progress = name, progress
        unpacked = sum(part.file_size for part in self.infolist())
        packed = sum(part.compress_size for part in self.infolist())
        if unpacked > _MAX_UNPACKED and unpacked > _MAX_RATIO * max(packed, 1):
            raise FileError(name, "It unpacks to much more than a table would need.")
        self._share = size / max(unpacked, 1)

    @override
    def open(self, name: Any, mode: Any = "r", *arguments: Any, **options: Any) -> IO[bytes]:
        part = super().open(name, mode, *arguments, **options)
        info = name if isinstance(name, zipfile.ZipInfo) else self.getinfo(name)
        if _STREAMED.match(info.filename):
            checked = _Part(part, self._name, lambda size: self._progress(round(size * self._share)))
            return cast("IO[bytes]", checked)
        if info.file_size > _MAX_PART:
            raise FileError(self._name, f"Its part {info.filename} is too large.")
        return part


class _Part:
    """A sheet or the shared texts, up to the end of the rows: what follows them can be as large."""

    def __init__(self, part: IO[bytes], name: str, progress: Callable[[int], None]) -> None:
        self._part, self._name, self._progress = part, name, progress
        self._tail = b""
        self._since_row = 0
        self._is_done = False

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes. Raises FileError for a row that is too large, and for document types."""
        if self._is_done:
            return b""
        data = self._part.read(size)
        self._progress(len(data))
        text = self._tail + data
        if b"<!" in text:
            raise FileError(self._name, "It has XML that no workbook needs.")
        end = _END.search(text)
        if end is not None:
            self._is_done = True
            return text[: end.end()] + b"</" + end[1] + b"worksheet>"
        given, self._tail = (text[:-_TAIL], text[-_TAIL:]) if data else (text, b"")
        self._count(given)
        return given if given or not data else self.read(size)

    def close(self) -> None:
        """Close the part."""
        self._part.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _count(self, data: bytes) -> None:
        rows = [found.end() for found in _ROW.finditer(data)]
        self._since_row = len(data) - rows[-1] if rows else self._since_row + len(data)
        if self._since_row > _MAX_ROW:
            raise FileError(self._name, f"A row is longer than {_MAX_ROW:,} bytes.")


class SharedTexts:
    """The shared texts of a workbook, in a file."""

    def __init__(self, part: IO[bytes], file: IO[bytes]) -> None:
        """Write the texts to `file`, which is open as long as they are used. Raises ElementTree.ParseError, OSError."""
        self._ends = array("Q", [0])
        events = iterparse(part, ("start", "end"))
        _, root = next(events)
        for event, node in events:
            if event == "end" and node.tag == f"{_NAMESPACE}si":
                text = "".join(each.text or "" for each in _texts(node)).encode()
                file.write(text)
                self._ends.append(self._ends[-1] + len(text))
                root.clear()
        file.flush()
        self._map: mmap.mmap | bytes = b""
        if self._ends[-1]:  # else there is nothing to map
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def __getitem__(self, number: int) -> str:
        start, end = self._ends[number : number + 2]
        return self._map[start:end].decode()

    def close(self) -> None:
        """Release the file."""
        if isinstance(self._map, mmap.mmap):
            self._map.close()


def _texts(node: Element) -> Iterator[Element]:
    """Yield the elements with the text of a shared one: its own, and those of its runs, but no phonetic guide."""
    for child in node:
        if child.tag == f"{_NAMESPACE}t":
            yield child
        elif child.tag == f"{_NAMESPACE}r":
            yield from child.iter(f"{_NAMESPACE}t")
