"""Whether the write-ahead log beside a file continues that very file: compared by content, whatever their inodes.

File systems give the inode number of a removed file to the next one, programs copy over a file in place, and backup
programs restore some files of a folder. A log is tied to its file by the keys of its commits (`commit_key`).
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import struct
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.domain.errors import StoreError, StoreMovedError
from plantdesk.store.sqlite.commit_key import cookie_of, follows, reduced
from plantdesk.store.sqlite.connections import connect
from plantdesk.store.sqlite.files.atomic_file import replaced_file
from plantdesk.store.sqlite.files.file_lock import opened_id
from plantdesk.store.sqlite.files.open_checks import has_log
from plantdesk.store.sqlite.migrations import check_schema

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.store.sqlite.files.file_lock import FileId

# https://sqlite.org/fileformat2.html, sections 1.3, 1.6, 2 and 4
_MAGIC = (0x377F0682, 0x377F0683)
_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">II8s8x")
_COOKIE = struct.Struct(">40xI")
_PAGE_SIZES = range(512, 65536 + 1)
_LEAF = 13
#: Serial types of `store` (id, identity, last_seq, other_commits, counted_seq, last_id, which stores before version 6
#: lack): NULL, a text of 32 bytes, and numbers.
_IDENTITY_TYPE = 13 + 2 * 32
_INTEGER_SIZES = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 0, 9: 0}
#: Bytes of a log that are copied at once.
_COPIED_SIZE = 1_048_576
#: Times that files which others write to meanwhile are read.
_TRIES = 20


class _Row(NamedTuple):
    """The row of `store`: in a file, or in a commit of a log."""

    identity: str
    key: int


class _Base(NamedTuple):
    """What a database file says about itself, without its log; no row in the file of PlantDesk 0.1.0."""

    row: _Row | None
    cookie: int


class _Log(NamedTuple):
    """What the commits of a log say: their rows of `store`, oldest first, and the schema cookies of their headers."""

    header: bytes
    rows: list[_Row]
    cookies: set[int]


def store_identity(path: Path) -> str | None:
    """Return the identity of the store in the file at `path`; None where there is none without its log."""
    base = _base(path)
    return None if base is None or base.row is None else base.row.identity


def has_own_log(path: Path) -> bool:
    """Whether a log with content is beside the file at `path`, and nothing says that it is another's."""
    return has_log(path) and is_own_log(path) is not False


def is_own_log(path: Path) -> bool | None:
    """Whether the log beside the file at `path` was begun for this file, in this state; None where neither says so.

    Changes nothing, and may be called while others write. Raises OSError.
    """
    for _ in range(_TRIES):
        before = _base(path)
        log = _read_log(path, before)
        if before is None or log is None or not log.rows:
            return None
        if _base(path) == before and log_header(path) == log.header:
            return _continues(log, before)
    return None


def _continues(log: _Log, base: _Base) -> bool | None:
    first = log.rows[0]
    is_older = cookie_of(first.key) == 0  # by a PlantDesk that only counted
    if base.row is None:
        return None if is_older else False  # the migration is in the log
    if first.identity != base.row.identity:
        return False
    if is_older:
        return None
    cookies = {reduced(cookie) for cookie in log.cookies} | {cookie_of(row.key) for row in log.rows}
    before = {reduced(cookie - 1) for cookie in log.cookies}  # another program may have changed the schema first
    # A checkpoint may have copied some pages of the log into the file.
    is_linked = follows(first.key, base.row.key) or base.row.key in {row.key for row in log.rows}
    return is_linked and reduced(base.cookie) in cookies | before | {cookie_of(base.row.key)}


def _is_linked(row: _Row, base: _Base | None) -> bool:
    """Whether a commit of the log follows the state of the file, or is that state."""
    if base is None or base.row is None or cookie_of(row.key) != reduced(base.cookie):
        return False
    return follows(row.key, base.row.key) or row == base.row


def _base(path: Path) -> _Base | None:
    try:
        with contextlib.closing(connect(path, immutable=True)) as connection:
            connection.execute("PRAGMA writable_schema = ON")  # the page count may be that of an unfinished checkpoint
            check_schema(connection, *connection.execute("PRAGMA user_version").fetchone())
            (cookie,) = connection.execute("PRAGMA schema_version").fetchone()
            if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'store'").fetchone() is None:
                return _Base(None, cookie)
            identity, key = connection.execute("SELECT identity, other_commits FROM store").fetchone()
    except (sqlite3.Error, StoreError, TypeError, UnicodeDecodeError):  # an old schema, or not whole without its log
        return None
    return _Base(_Row(str(identity), int(key)), cookie)


def _read_log(path: Path, base: _Base | None) -> _Log | None:
    """Read the log, mostly no further than to what ties it to the file, as it may be large."""
    found: list[_Row | int] = []
    try:
        with _opened(path) as stream:
            header = os.read(stream, _HEADER.size)
            for each in _committed(stream, header):
                found.append(each)
                if isinstance(each, _Row) and _is_linked(each, base):
                    break
    except (FileNotFoundError, struct.error):
        return None
    rows = [each for each in found if isinstance(each, _Row)]
    return _Log(header, rows, {each for each in found if isinstance(each, int)})


def log_header(path: Path) -> bytes:
    """Return the header of the log beside a file, which is another one in each log; empty where there is none."""
    with contextlib.suppress(FileNotFoundError), _opened(path) as stream:
        return os.read(stream, _HEADER.size)
    return b""


class OpenLog:
    """The log of an open store, kept open to check it after each commit. Belongs to the writer thread.

    After `stat`, Linux 6.13 and later write the times of the file with the next commit as well, which takes half as
    long again (multigrain timestamps). Where `is_in_place` does not know, `stat` decides.
    """

    def __init__(self, path: Path, expected: FileId | None) -> None:
        """Open the log of the file at `path`, if it is the `expected` one. Raises nothing."""
        self._path, self._name, self._link = path, f"{path}-wal", ""
        self._handle: int | None = None
        if sys.platform == "linux":
            with contextlib.suppress(OSError):
                handle = os.open(self._name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
                if opened_id(handle) == expected:
                    self._handle, self._link = handle, f"/proc/self/fd/{handle}"
                else:
                    os.close(handle)

    @property
    def is_in_place(self) -> bool:
        """Whether the log is still there under its name; False also where only `stat` can show it."""
        try:
            return self._handle is not None and os.readlink(self._link) == self._name  # noqa: PTH115  for each commit
        except OSError:
            return False

    def header(self) -> bytes:
        """Return the header, as `log_header` does: of the log that was opened."""
        if sys.platform == "linux" and self._handle is not None:
            return os.pread(self._handle, _HEADER.size, 0)
        return log_header(self._path)

    def close(self) -> None:
        """Close it. May be called again."""
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)


def renew_log(path: Path) -> None:
    """Put a copy in the place of the log beside a file that was copied back, as by a backup program.

    A process that has the replaced file open goes on with the other one, and moves it into that file.
    Raises StoreMovedError where it has begun the log anew meanwhile, and OSError.
    """
    header = log_header(path)
    with _opened(path) as stream, replaced_file(path.with_name(f"{path.name}-wal")) as temporary:
        copy = os.open(temporary, os.O_WRONLY | getattr(os, "O_BINARY", 0))
        try:
            while part := os.read(stream, _COPIED_SIZE):
                os.write(copy, part)
        finally:
            os.close(copy)
        if log_header(path) != header:
            raise StoreMovedError
        path.with_name(f"{path.name}-shm").unlink(missing_ok=True)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Open the log; no process has locks on it, which closing would release."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(f"{path}-wal", flags)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise FileNotFoundError
        yield handle
    finally:
        os.close(handle)


def _committed(stream: int, header: bytes) -> Iterator[_Row | int]:
    """Yield the rows of `store` and the schema cookies of a log, in their order, as far as they are committed."""
    magic, _, size, _, *_ = _HEADER.unpack(header)
    if magic not in _MAGIC or size not in _PAGE_SIZES:
        return
    salts = header[16:24]
    pending: list[_Row | int] = []
    while True:
        frame = os.read(stream, _FRAME.size + size)
        if len(frame) < _FRAME.size + size:
            return
        number, commit, found = _FRAME.unpack_from(frame)
        if found != salts:  # left of an older log
            return
        page = frame[_FRAME.size :]
        if number == 1:
            pending += _COOKIE.unpack_from(page)
        elif page[0] == _LEAF and page[3:5] == b"\0\1" and (row := _store_row(page)) is not None:
            pending.append(row)
        if commit:
            yield from pending
            pending = []


def _store_row(page: bytes) -> _Row | None:
    """Return the row of `store` where the page of a table, which has one row, is of that table."""
    try:
        at = int.from_bytes(page[8:10], "big")
        _, at = _varint(page, at)
        _, at = _varint(page, at)
        stop, types_at = _varint(page, at)
        value_at, types = at + stop, []
        while types_at < value_at:
            kind, types_at = _varint(page, types_at)
            types.append(kind)
        null, text, *numbers = types
        if (null, text) != (0, _IDENTITY_TYPE) or len(numbers) not in {3, 4}:
            return None
        identity = page[value_at : value_at + 32].decode()
        value_at += 32 + _INTEGER_SIZES[numbers[0]]
        key = page[value_at : value_at + _INTEGER_SIZES[numbers[1]]]
    except (IndexError, ValueError, KeyError):
        return None
    constant = 1 if numbers[1] == 9 else 0  # noqa: PLR2004
    return _Row(identity, int.from_bytes(key, "big", signed=True) or constant)


def _varint(page: bytes, at: int) -> tuple[int, int]:
    """Return an integer of variable length, of up to four bytes here, and where it ends."""
    value = 0
    for end in range(at, at + 4):
        value = value << 7 | page[end] & 0x7F
        if page[end] < 0x80:  # noqa: PLR2004
            return value, end + 1
    raise ValueError
