"""Detects the encodings of text files, and reads them in pieces, so that memory does not grow with file or line.

An encoding is likely if all letters belong to one language. The README says why no library is used.
"""

from __future__ import annotations

import codecs
import itertools
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from typing import IO

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.texts import Text, joined

#: The expected encoding of texts that are not in Unicode.
DEFAULT_ENCODING = "cp1252"
#: The expected encoding if, besides, lines end with CR alone.
_MACINTOSH_ENCODING = "mac-roman"
_WESTERN = (
    *("äöüß", "àâæçéèêëîïôœùûüÿ", "áéíñóúüªº", "ãáàâçéêíóôõúüªº", "àèéìíòóùúªº", "æøåéèêüöäòóôâ", "åäöéàüšž"),
    *("áðéíóúýþæö", "éèëïóöüáíê", "àçèéíïòóúü", "äöõüšž"),
)
_CENTRAL = (*("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "čćđšž", "ăâîşţ", "äöüß"),)
_CYRILLIC = ("абвгдеёжзийклмнопрстуфхцчшщъыьэюяіїєґў",)
_GREEK = ("αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋΐΰ",)
#: The encodings, the most usual first, each with the letters beyond ASCII of its languages.
_LETTERS_BY_ENCODING = {
    DEFAULT_ENCODING: _WESTERN,
    "cp1250": _CENTRAL,
    "iso8859-2": _CENTRAL,
    "cp1254": ("âçğıîöşüû",),
    "cp1251": _CYRILLIC,
    "koi8-r": _CYRILLIC,
    "cp866": _CYRILLIC,
    "iso8859-7": _GREEK,
    "cp850": _WESTERN,
    _MACINTOSH_ENCODING: _WESTERN,
    "cp852": _CENTRAL,
}
#: Encodings with two bytes per letter, and the first bytes of their usual letters.
_WIDE_ENCODINGS = {
    "shift_jis": range(0x81, 0x99),
    "gb18030": range(0xB0, 0xD8),
    "big5": range(0xA4, 0xC7),
    "euc_kr": range(0xB0, 0xC9),
}
#: The last byte of ASCII.
_LAST_ASCII_BYTE = 0x7F
#: The last byte that begins no letter of EUC.
_LAST_BEFORE_EUC = 0xA0
_NON_ASCII_RUN = re.compile(r"[^\x00-\x7f]+")
#: A letter beyond ASCII next to an ASCII letter.
_MIXED_LETTERS = re.compile(r"[a-zA-Z][^\x00-\x7f]|[^\x00-\x7f][a-zA-Z]")
#: A capital after a small letter, and a sign in a word; apostrophes and the 3 of m³ are not odd.
_ODD_CHARACTERS = re.compile(
    r"[a-zß-öø-ÿа-яё](?=[À-ÖØ-ÞŠŒŽŸА-ЯЁ])|[^\W\d_][^\w\s\x00-\x7f‘’–—·×](?=[^\W\d_])"
    r"|[^\W\d_m][¹²³¼½¾¿£¯]|[£¯¹²³](?=[^\W\d_])|[‚ƒ†‡ˆ‰¤¦¨¬¯¸]"
)
#: The most characters of a plant in a file: the largest that the API accepts, all escaped, with a note.
MAX_PLANT_CHARACTERS = 16_777_216
#: Bytes read at once; they limit each call of C code, during which other threads wait.
_READ_SIZE = 65_536
_BOMS = {
    codecs.BOM_UTF32_LE: "utf-32",  # first, as it begins with the mark of UTF-16
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_NOT_UTF8 = Text("It is not in UTF-8.")
_COMPRESSED = Text("It is compressed. Unpack it first.")
_OTHER_FILE_SIGNATURES = {
    b"PK\x03\x04": Text("It is an Excel workbook (.xlsx) or a ZIP file, not text. Give it the ending of its format."),
    b"SQLite format 3\0": Text("It is a database (.db), not text. Give it the ending of its format."),
    b"\x1f\x8b": _COMPRESSED,
    b"BZh": _COMPRESSED,
    b"\xfd7zXZ\0": _COMPRESSED,
    b"7z\xbc\xaf": _COMPRESSED,
    b"\xd0\xcf\x11\xe0": Text("It is an old Excel workbook (.xls), not text. Save it as .xlsx or CSV."),
    b"PAR1": Text("It is a Parquet file, not text. Save it as CSV or JSON."),
    b"%PDF-": Text("It is a PDF, not text. Save the table as .xlsx or CSV."),
}
_DELIMITERS = re.compile(r"[\n\r,;\t|\"]")
_CONTROL_BYTES = frozenset(range(32)) - frozenset(b"\t\n\r\f")
#: The share of NUL in every other byte above which a text is UTF-16.
_MIN_NUL_SHARE = 0.4
#: Characters that are shown of a cell before and after its first letter beyond ASCII.
_SHOWN_AROUND_LETTER = 40
#: The most encodings that a message names.
_MAX_NAMED_ENCODINGS = 3


def find_likely_encodings(sample: bytes, expected: str = DEFAULT_ENCODING) -> list[str]:
    """Return the encodings that best fit the first bytes of a text, usual ones first; none if no encoding fits well.

    Encodings that decode to nearly the same text as the `expected` one are left out.
    """
    wide = [name for name, usual in _WIDE_ENCODINGS.items() if _is_wide(sample, name, usual)]
    return wide or _find_likely_alphabets(sample, expected)


def _find_likely_alphabets(sample: bytes, expected: str) -> list[str]:
    """Return the encodings with the fewest misfits; the expected one may have twice as many."""
    expected_text = sample.decode(expected, "replace")
    beyond_ascii = sum(1 for character in sample if character > _LAST_ASCII_BYTE)
    texts = {name: sample.decode(name, "replace") for name in _LETTERS_BY_ENCODING}
    differing = {name: sum(map(operator.ne, expected_text, text)) for name, text in texts.items()}
    distinct = [name for name, count in differing.items() if name == expected or 3 * count >= beyond_ascii]
    misfits = {name: _count_misfits(texts[name], _LETTERS_BY_ENCODING[name]) for name in distinct}
    fewest = min(misfits.values())
    # A list of several languages fits none exactly.
    allowed = {name: min(2 * fewest if name == expected else fewest, beyond_ascii // 2) for name in distinct}
    return [name for name in distinct if misfits[name] <= allowed[name]]


def _count_misfits(text: str, alphabets: tuple[str, ...]) -> int:
    """Return how many characters beyond ASCII are not letters of the best fitting language, or are at odd positions."""
    letters = Counter(character for character in "".join(_NON_ASCII_RUN.findall(text)).lower() if character.isalpha())
    strange = min(sum(count for letter, count in letters.items() if letter not in alphabet) for alphabet in alphabets)
    mixed = len(_MIXED_LETTERS.findall(text)) if alphabets in (_CYRILLIC, _GREEK) else 0
    return strange + mixed + len(_ODD_CHARACTERS.findall(text)) + text.count("\ufffd")


def _is_wide(sample: bytes, encoding: str, usual: range) -> bool:
    """Return whether most letters of two bytes are usual ones, and few are next to ASCII letters."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return False
    runs = _NON_ASCII_RUN.findall(text)
    mixed = len(_MIXED_LETTERS.findall(text))
    letters = [letter.encode(encoding) for letter in "".join(runs)]
    wide = [letter for letter in letters if len(letter) > 1]
    usual_letters = [letter for letter in wide if letter[0] in usual]
    count = sum(1 for letter in usual_letters if letter[1] > _LAST_BEFORE_EUC or usual.start < _LAST_BEFORE_EUC)
    return 2 * count > len(letters) and 4 * mixed <= len(runs)


class FileError(PlantDeskError):
    """A file cannot be read as plants."""

    text = Text("“{name}”: {reason} Nothing was imported.")

    def __init__(self, name: str, reason: Text, line: int | None = None) -> None:
        if line is None:
            super().__init__(name=name, reason=reason)
        else:
            text = Text("“{name}”, line {line:,}: {reason} Nothing was imported.")
            super().__init__(text, name=name, line=line, reason=reason)


class UnknownEncodingError(FileError):
    """A text file is not in UTF-8, and its encoding is not certain; the `likely` ones would fit."""

    def __init__(self, name: str, reason: Text, likely: Sequence[str] = (), line: int | None = None) -> None:
        reasons = [reason]
        if likely:
            names = (Text("{name}", name=encoding) for encoding in likely[:_MAX_NAMED_ENCODINGS])
            encodings = joined(names, Text("{first} or {second}"))
            reasons.append(Text("It may be in {encodings}.", encodings=encodings))
        super().__init__(name, joined([*reasons, Text("Save it as UTF-8, or choose its encoding.")]), line)
        self.likely = likely


class TextFile:
    """A text file that is decoded piece by piece, once, with detection of its encoding. `name` is for messages."""

    def __init__(
        self,
        stream: IO[bytes],
        name: str,
        progress: Callable[[int], None],
        encoding: str | None = None,
        *,
        skipped_lines: int = 0,
    ) -> None:
        """Read a stream. An `encoding` of None is detected. `read_lines` skips the first `skipped_lines`."""
        self.name = name
        #: The encoding; known after the first piece if it is detected.
        self.encoding = encoding
        #: The first cell that another encoding would change; None if the encoding is certain.
        self.doubtful_cell: str | None = None
        self._stream = stream
        self._progress = progress
        self._newline_count = 0
        self._skipped_lines = skipped_lines

    def make_error(self, reason: Text, line: int | None = None) -> FileError:
        """Return an error about this file, for the caller to raise; lines are counted from 1."""
        return FileError(self.name, reason, line)

    def read_pieces(self) -> Iterator[str]:
        """Yield the text in pieces. Raises FileError and OSError."""
        sample = self._stream.read(_READ_SIZE)
        if not sample:
            raise FileError(self.name, Text("It is empty."))
        self.encoding = self._detect_encoding(sample)
        decoder = codecs.getincrementaldecoder(self.encoding)("strict")
        self._progress(len(sample))
        first = self._decode(decoder, sample)
        # Macintosh programs of old end lines with CR alone; the last character may be the first half of CR LF.
        line_end = "\r" if "\r" in first[:-1] and "\n" not in first else "\n"
        yield first.replace(line_end, "\n")
        while data := self._stream.read(_READ_SIZE):
            self._progress(len(data))
            yield self._decode(decoder, data).replace(line_end, "\n")
        yield self._decode(decoder, b"", final=True)

    def read_lines(self) -> Iterator[tuple[int, str]]:
        """Yield the numbers of lines, and the lines with their ends. CR alone ends a line, but is not counted.

        Raises FileError and OSError.
        """
        number = 1
        rest = list[str]()
        for piece in itertools.chain(filter(None, self.read_pieces()), [""]):
            rest.append(piece)
            if piece and "\n" not in piece:
                if sum(map(len, rest)) > MAX_PLANT_CHARACTERS:
                    raise self.make_error(
                        Text("The line is longer than {longest:,} characters.", longest=MAX_PLANT_CHARACTERS), number
                    )
                continue
            lines = [*StringIO("".join(rest), newline="")]
            rest = [lines.pop()] if piece and not lines[-1].endswith("\n") else []
            for line in lines:
                if number > self._skipped_lines and line != "\x1a":  # DOS ends a file with it
                    yield number, line
                if line.endswith("\n"):
                    number += 1

    def _decode(self, decoder: codecs.IncrementalDecoder, data: bytes, *, final: bool = False) -> str:
        """Decode the next bytes. Raises UnknownEncodingError or FileError for bytes that are not in the encoding."""
        try:
            text = decoder.decode(data, final)
        except UnicodeError as error:
            encoding = str(self.encoding).upper()
            if not isinstance(error, UnicodeDecodeError) or not (self._newline_count or error.start):
                # Such as UTF-16 without a byte order mark, which is no UnicodeDecodeError before Python 3.13.
                reason = Text("It is not {encoding}. Choose another encoding.", encoding=encoding)
                raise self.make_error(reason) from None
            line = self._newline_count + error.object[: error.start].count(b"\n") + 1
            if self.doubtful_cell is not None:
                raise UnknownEncodingError(self.name, _NOT_UTF8) from None
            reason = Text("A byte is not {encoding} as the text before.", encoding=encoding)
            raise UnknownEncodingError(self.name, reason, (), line) from None
        self._newline_count += text.count("\n")
        return text

    def _detect_encoding(self, sample: bytes) -> str:
        reason = next((reason for mark, reason in _OTHER_FILE_SIGNATURES.items() if sample.startswith(mark)), None)
        if reason is not None:
            raise FileError(self.name, reason)
        if self.encoding is not None:
            has_mark = self.encoding == "utf-8" and sample.startswith(codecs.BOM_UTF8)
            return "utf-8-sig" if has_mark else self.encoding
        return _detect_unicode(sample) or self._detect_unmarked(sample)

    def _detect_unmarked(self, sample: bytes) -> str:
        """Return the encoding of a text without a byte order mark. Raises FileError, UnknownEncodingError."""
        is_utf8 = _is_utf8(sample)
        self._check_is_text(sample, is_utf8=is_utf8)
        if is_utf8:
            return "utf-8"
        likely: list[str] = []
        for encoding in (
            [_MACINTOSH_ENCODING, DEFAULT_ENCODING] if b"\r" in sample and b"\n" not in sample else [DEFAULT_ENCODING]
        ):
            likely = find_likely_encodings(sample, encoding)
            if encoding in likely:
                self.doubtful_cell = _find_doubtful_cell(sample.decode(encoding, "replace"))
                return encoding
        raise UnknownEncodingError(self.name, _NOT_UTF8, likely)

    def _check_is_text(self, sample: bytes, *, is_utf8: bool) -> None:
        """Raise FileError for control characters that no text has. The reader of CSV checks for NUL in quotes."""
        controls = _CONTROL_BYTES.intersection(sample.removesuffix(b"\x1a"))
        has_nul = 0 in sample and b'"' not in sample
        if is_utf8 and controls == {0} and has_nul and 2 * sample.count(0) < len(sample):
            raise self.make_error(Text("It has a NUL character."), sample[: sample.index(0)].count(b"\n") + 1)
        if has_nul or (not is_utf8 and controls):
            raise FileError(self.name, Text("It is not a text file."))


def _detect_unicode(sample: bytes) -> str | None:
    """Return the encoding that a byte order mark or NUL bytes show, or None."""
    for mark, encoding in _BOMS.items():
        if sample.startswith(mark):
            return encoding
    half = len(sample) // 2 or 1
    for position, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if sample[position::2].count(0) > _MIN_NUL_SHARE * half and not sample[1 - position :: 2].count(0):
            return encoding
    return None


def _is_utf8(sample: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def _find_doubtful_cell(text: str) -> str:
    """Return the cell with the first character beyond ASCII, preferably one that is no blank."""
    positions = [position for position, letter in enumerate(text) if not letter.isascii()]
    position = next((position for position in positions if not text[position].isspace()), positions[0])
    before = _DELIMITERS.split(text[max(0, position - _SHOWN_AROUND_LETTER) : position])[-1]
    return (before + _DELIMITERS.split(text[position : position + _SHOWN_AROUND_LETTER])[0]).strip()
