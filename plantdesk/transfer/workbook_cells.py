"""The texts of the cells of an Excel workbook, as they are shown as far as a plant may need it."""

from __future__ import annotations

import datetime as dt
import mmap
import re
from array import array
from functools import lru_cache
from typing import IO, TYPE_CHECKING

from plantdesk.transfer.text import FileError
from plantdesk.transfer.workbook_parts import Parser

if TYPE_CHECKING:
    from plantdesk.transfer.workbook_parts import Parts

#: Shared texts, formats, and characters of a format and of a number.
_MAX_TEXTS, _MAX_FORMATS, _MAX_CODE, _MAX_NUMBER = 10_000_000, 100_000, 255, 50
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_ZEROS = re.compile("0+")
#: The formats of dates and times that Excel does not describe in the file, by number.
_BUILT_IN = {
    **dict.fromkeys([*range(14, 18), 22, *range(27, 37), *range(50, 59)], "yyyy"),
    **dict.fromkeys([*range(18, 22), 45, 47], "h:mm"),
    46: "[h]:mm",
}
#: Texts, colours and conditions in a format, and what is only as wide as a letter.
_LITERAL = re.compile(r'"[^"]*"|\\.|[_*].|\[(?!hh?\]|mm?\]|ss?\])[^][]*\]', re.IGNORECASE)
#: The day 0 of dates, by whether the workbook counts from 1904; in the other ones a day of 1900 is counted too many.
_EPOCHS = {False: dt.datetime(1899, 12, 30), True: dt.datetime(1904, 1, 1)}  # noqa: DTZ001 - Excel knows no time zone
_LEAP_DAY = 60


class CellFormats:
    """The formats of numbers, by which dates are known."""

    def __init__(self, *, has_1904: bool) -> None:
        self._has_1904 = has_1904
        self._codes: list[str] = []

    def read(self, parts: Parts, part: str, name: str) -> None:
        """Read the part of styles. Raises FileError, OSError, and what a damaged workbook raises."""
        parser = Parser(name)
        codes: dict[int, str] = {}
        is_used = False

        def start(tag: str, attributes: dict[str, str]) -> None:
            nonlocal is_used
            if tag == "numFmt" and not is_used:
                codes[int(attributes["numFmtId"])] = attributes.get("formatCode", "")[:_MAX_CODE]
            elif tag == "cellXfs":
                is_used = True
            elif tag == "xf" and is_used:
                number = int(attributes.get("numFmtId", 0))
                self._codes.append(codes[number] if number in codes else _BUILT_IN.get(number, ""))
            if len(self._codes) + len(codes) > _MAX_FORMATS:
                raise FileError(name, "It has more formats than a table would need.")

        def end(tag: str) -> None:
            parser.is_done = tag == "cellXfs"

        parser.on_start, parser.on_end = start, end
        parts.parse(part, parser)

    def text(self, value: str, style: str) -> str:
        """Return the text of a number in a style."""
        at = int(style) if style.isdigit() else 0
        code = self._codes[at] if at < len(self._codes) else ""
        if len(value) > _MAX_NUMBER:
            return value
        try:
            return _number(value, code) if not _is_date(code) else self._date(float(value), code)
        except (ValueError, OverflowError):  # infinite, or a date beyond the year 9999
            return value

    def _date(self, days: float, code: str) -> str:
        time = dt.timedelta(milliseconds=round(days * 86_400_000))
        if "[" in _LITERAL.sub("", code):
            hours, seconds = divmod(round(time.total_seconds()), 3600)
            return f"{hours}:{seconds // 60:02}:{seconds % 60:02}"
        if 0 < days < _LEAP_DAY and not self._has_1904:
            time += dt.timedelta(days=1)
        moment = _EPOCHS[self._has_1904] + time
        text = moment.isoformat(" ").removesuffix(" 00:00:00")
        return text if days >= 1 or self._has_1904 else moment.time().isoformat()


def _number(value: str, code: str) -> str:
    if not value.removeprefix("-").isdigit():
        number = float(value)
        if number != int(number):
            return str(number)
        value = str(int(number))
    return str(int(value)).zfill(len(code) if _ZEROS.fullmatch(code) else 0)


@lru_cache(maxsize=1024)
def _is_date(code: str) -> bool:
    return any(letter in "dmyhs" for letter in _LITERAL.sub("", code).partition(";")[0].lower())


def unescaped(text: str) -> str:
    """Return a text without the escapes of characters that XML cannot hold, `_x0000_`."""
    if "_x" not in text:
        return text
    if text == "_xFEFF_":  # what PlantDesk 0.1 wrote for an empty text
        return ""
    halves = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    return halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class SharedTexts:
    """The shared texts of a workbook, in a file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._ends = array("Q", [0])
        self._map: mmap.mmap | bytes = b""

    def read(self, parts: Parts, part: str, name: str) -> None:
        """Write the texts of a part to the file. Raises FileError, OSError, and what a damaged workbook raises."""
        parser = Parser(name)
        reader = TextReader(parser)

        def end(tag: str) -> None:
            reader.end(tag)
            if tag == "si":
                parser.end_item()
                text = reader.text().encode()
                self._file.write(text)
                self._ends.append(self._ends[-1] + len(text))
                if len(self._ends) > _MAX_TEXTS:
                    raise FileError(name, "It has more texts than a table would need.")

        parser.on_start, parser.on_end = reader.start, end
        for _ in parts.parsed(part, parser, is_table=True):
            pass
        self._file.flush()
        if self._ends[-1]:  # else there is nothing to map
            self._map = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)

    def __getitem__(self, number: int) -> str:
        if number < 0:
            raise IndexError(number)
        start, end = self._ends[number], self._ends[number + 1]
        return self._map[start:end].decode()

    def close(self) -> None:
        """Release the file."""
        if isinstance(self._map, mmap.mmap):
            self._map.close()


class TextReader:
    """The text of an item: its own, and those of its runs, but no phonetic guide."""

    def __init__(self, parser: Parser) -> None:
        self._parser, self._found, self._is_guide = parser, [""], False

    def start(self, tag: str, _attributes: dict[str, str]) -> None:
        """Begin an element."""
        if tag == "t":
            self._parser.texts.clear()
        elif tag == "rPh":
            self._is_guide = True

    def end(self, tag: str) -> None:
        """End an element."""
        if tag == "t" and not self._is_guide:
            self._found += self._parser.texts
        elif tag == "rPh":
            self._is_guide = False

    def text(self) -> str:
        """Return the text since the last call."""
        text = unescaped("".join(self._found))
        self._found.clear()
        return text
