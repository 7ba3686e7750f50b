"""The parts of an Excel workbook: XML in a ZIP file, parsed piece by piece with limits on all that a file can claim."""

from __future__ import annotations

import posixpath
import zipfile
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote
from xml.parsers import expat

from plantdesk.transfer.text import FileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO

#: Unpacked bytes of a part other than a sheet and the shared texts, of all parts, and parts.
_MAX_PART, _MAX_ALL, _MAX_PARTS = 16 * 1024 * 1024, 4 * 1024**3, 10_000
#: Unpacked bytes from which a ratio that no table reaches counts.
_MAX_UNPACKED, _MAX_RATIO = 64 * 1024 * 1024, 150
#: Unpacked bytes between the ends of two rows or shared texts, and elements inside one another.
_MAX_ITEM, _MAX_DEPTH = 2 * 1024 * 1024, 100
_MAX_RELATIONS = 10_000
_PIECE = 65_536
#: What other programs keep in ZIP files, by their parts.
_OTHERS = {
    "meta-inf/manifest.xml": "an OpenDocument file (.ods)",
    "xl/workbook.bin": "a binary Excel workbook (.xlsb)",
    "index/document.iwa": "a Numbers file",
    "word/document.xml": "a Word document (.docx)",
}
_SAVE = "Open it in the program that it is of, and save the table as .xlsx or CSV."


class Relation(NamedTuple):
    """A relationship of a part: its `kind` is the last word of its type, `target` the full name of a part."""

    kind: str
    target: str


class Parts:
    """The parts of a workbook; `progress` is called with packed bytes."""

    def __init__(self, stream: IO[bytes], name: str, size: int, progress: Callable[[int], None]) -> None:
        """Raises zipfile.BadZipFile, and FileError for a ZIP bomb."""
        self._name, self._progress = name, progress
        self._archive = zipfile.ZipFile(stream)
        infos = self._archive.infolist()
        unpacked, packed = sum(each.file_size for each in infos), sum(each.compress_size for each in infos)
        is_bomb = unpacked > _MAX_UNPACKED and unpacked > _MAX_RATIO * max(packed, 1)
        if is_bomb or unpacked > _MAX_ALL or len(infos) > _MAX_PARTS:
            raise FileError(name, "It unpacks to much more than a table would need.")
        self._infos = {each.filename.replace("\\", "/").lower(): each for each in infos}
        self._check_kind()
        self._share = size / max(unpacked, 1)

    def _check_kind(self) -> None:
        """Raise FileError for another kind of ZIP file, as far as it is known by its parts."""
        for part, kind in _OTHERS.items():
            if part in self._infos:
                raise FileError(self._name, f"It is {kind}, named like an Excel workbook. {_SAVE}")

    def __contains__(self, part: str) -> bool:
        return part.lower() in self._infos

    def relations(self, part: str) -> dict[str, Relation]:
        """Return the relationships of a part by their ids; `""` is the whole file. Raises as `parsed`."""
        folder, name = posixpath.split(part)
        found: dict[str, Relation] = {}

        def start(tag: str, attributes: dict[str, str]) -> None:
            if tag == "Relationship" and attributes.get("TargetMode") != "External":
                target = unquote(attributes["Target"]).replace("\\", "/")
                kind = attributes["Type"].rpartition("/")[2]
                found[attributes["Id"]] = Relation(kind, posixpath.normpath(posixpath.join("/", folder, target))[1:])
                if len(found) > _MAX_RELATIONS:
                    raise FileError(self._name, "It has more parts than a table would need.")

        parser = Parser(self._name)
        parser.on_start = start
        self.parse(f"{folder}/_rels/{name}.rels".lstrip("/"), parser)
        return found

    def parse(self, part: str, parser: Parser) -> None:
        """Parse a part that is no table. Raises as `parsed`."""
        for _ in self.parsed(part, parser):
            pass

    def parsed(self, part: str, parser: Parser, *, is_table: bool = False) -> Iterator[None]:
        """Parse a part up to its end, or until the parser is done; yield after each piece.

        A table may have any size, if each of its rows is short. Raises FileError, expat.ExpatError, OSError, and
        KeyError for a missing part.
        """
        info = self._infos[part.lower()]
        if info.file_size > _MAX_PART and not is_table:
            raise FileError(self._name, f"Its part {info.filename} is too large.")
        with self._archive.open(info) as stream:
            while not parser.is_done:
                data = stream.read(_PIECE)
                self._progress(round(len(data) * self._share))
                parser.feed(data, _MAX_ITEM if is_table else _MAX_PART)
                yield


class Parser:
    """An XML parser. Elements in the root's namespace are named without its prefix."""

    def __init__(self, name: str) -> None:
        #: Called at the beginning and at the end of each element.
        self.on_start: Callable[[str, dict[str, str]], None] = lambda _tag, _attributes: None
        self.on_end: Callable[[str], None] = lambda _tag: None
        #: The text of elements since this was cleared.
        self.texts: list[str] = []
        #: Whether what follows is not needed.
        self.is_done = False
        self._name, self._prefix, self._depth, self._size, self._item = name, "", 0, 0, 0
        self._expat = expat.ParserCreate()
        self._expat.buffer_text = True
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self.texts.append
        self._expat.StartDoctypeDeclHandler = self._refuse

    def feed(self, data: bytes, longest: int) -> None:
        """Parse the next bytes, none at the end. Raises FileError for a longer item, expat.ExpatError."""
        self._size += len(data)
        self._expat.Parse(data, not data)
        self.is_done = self.is_done or not data
        if self._size - self._item > longest and not self.is_done:
            raise FileError(self._name, f"A row is longer than {longest:,} bytes.")

    def end_item(self) -> None:
        """Count the length of the next item from here."""
        self._item = self._expat.CurrentByteIndex

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._depth:
            self._prefix = tag[: tag.find(":") + 1]
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            self._refuse()
        if not self.is_done:
            self.on_start(tag.removeprefix(self._prefix), attributes)

    def _end(self, tag: str) -> None:
        self._depth -= 1
        if not self.is_done:
            self.on_end(tag.removeprefix(self._prefix))

    def _refuse(self, *_arguments: object) -> None:
        raise FileError(self._name, "It has XML that no workbook needs.")
