"""Simulates a checkpoint that was killed, from a store and its log, without SQLite.

A checkpoint copies the newest version of each page from the log into the file, in the order of the page numbers.
Page 1, whose header has the new page count, comes first (https://sqlite.org/fileformat2.html, section 4).
"""

import struct
from collections.abc import Iterator
from pathlib import Path

_HEADER = 32
_FRAME_HEADER = 24


def checkpoint_writes(log: Path) -> list[tuple[int, bytes]]:
    """Return the writes of a whole checkpoint: offset in the database file, and the page."""
    content = log.read_bytes()
    (page_size,) = struct.unpack_from(">I", content, 8)
    salts = content[16:24]
    pages: dict[int, bytes] = {}
    pending: dict[int, bytes] = {}
    for number, commit, salt, page in _frames(content, page_size):
        if salt != salts:
            break
        pending[number] = page
        if commit:
            pages |= pending
            pending = {}
    return [((number - 1) * page_size, pages[number]) for number in sorted(pages)]


def _frames(content: bytes, page_size: int) -> Iterator[tuple[int, int, bytes, bytes]]:
    for start in range(_HEADER, len(content) - page_size - _FRAME_HEADER + 1, page_size + _FRAME_HEADER):
        number, commit = struct.unpack_from(">II", content, start)
        page = content[start + _FRAME_HEADER : start + _FRAME_HEADER + page_size]
        yield number, commit, content[start + 8 : start + 16], page
