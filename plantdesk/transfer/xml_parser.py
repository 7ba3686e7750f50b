"""The parser of the XML parts of a workbook, with limits for the depth of elements and the length of items."""

from __future__ import annotations

from collections.abc import Callable
from xml.parsers import expat

from plantdesk.domain.errors import Text
from plantdesk.transfer.text import FileError

#: Elements inside one another.
_MAX_DEPTH = 100


class Parser:
    """An XML parser. Elements in the root's namespace are named without its prefix."""

    def __init__(self, name: str) -> None:
        #: Called at the beginning and at the end of each element.
        self.on_start: Callable[[str, dict[str, str]], None] = lambda _tag, _attributes: None
        self.on_end: Callable[[str], None] = lambda _tag: None
        #: The text of elements since this was cleared.
        self.texts: list[str] = []
        #: Whether the rest of the part is not needed.
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
            raise FileError(self._name, Text("A row is longer than {longest:,} bytes.", longest=longest))

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
        raise FileError(self._name, Text("It has XML that no workbook needs."))
