"""The files that users choose: sources of an import (also standard input and pasted text), and files to be replaced."""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.texts import Text, shortened
from plantdesk.platform.atomic_files import atomic_writer
from plantdesk.store import is_database
from plantdesk.transfer.formats import STANDARD_STREAM
from plantdesk.transfer.text import FileError

#: The names of files that belong to a database; a group has the name of the database.
_COMPANION = re.compile(r"(.+)-(?:wal|shm|journal)|\.(.+)\.lock", re.DOTALL)


class InputFile(NamedTuple):
    """A file at `path`, or pasted `text`. Messages and the history show `name`."""

    name: str
    path: Path | None = None
    text: str = ""

    @property
    def size(self) -> int:
        """The number of bytes, 0 if unknown. Raises OSError."""
        if self.path is None:
            return len(self.text.encode("utf-8", "replace"))
        return self.path.stat().st_size if self.path.is_file() else 0

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the file for the block. Raises OSError, and FileError for a database or a file that is changed."""
        if self.path is None:
            yield io.BytesIO(self.text.encode("utf-8", "replace"))
        elif str(self.path) == STANDARD_STREAM:
            if sys.stdin is None:
                raise FileError(self.name, Text("It is closed."))
            yield sys.stdin.buffer
        elif is_database(self.path):
            raise FileError(self.name, Text("It is a database (.db), not text. Give it the ending of its format."))
        else:
            with self.path.open("rb") as stream:
                before = os.fstat(stream.fileno())
                yield stream
                after = os.fstat(stream.fileno())
            is_unchanged = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
            if not is_unchanged and self.path.is_file():
                raise FileError(self.name, Text("It changed while it was read."))

    def fraction_reporter(self, report: Callable[[float], None] | None) -> Callable[[int], None]:
        """Return a function that takes the bytes of each read, and reports the fraction read if the size is known."""
        bytes_read = 0
        size = self.size

        def report_read(count: int) -> None:
            nonlocal bytes_read
            bytes_read += count
            if report is not None and size:
                report(min(bytes_read / size, 1.0))

        return report_read


def input_file(path: Path) -> InputFile:
    """Return the file at a path; `-` is standard input."""
    name = path.name.encode("utf-8", "replace").decode()  # it may have bytes that are not UTF-8
    return InputFile("standard input" if str(path) == STANDARD_STREAM else name, path)


def check_target(file: Path) -> Path:
    """Return the file to be replaced, with symlinks resolved. Raises PlantDeskError for a database, and OSError.

    A path that is no file, such as a pipe, is returned unchanged: `/dev/stdout` may lead to no file.
    """
    if not is_replaced(file):
        return file
    file = Path(os.path.realpath(file))  # `resolve` raises RuntimeError for a link to itself
    if file.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(file))
    companion = _COMPANION.fullmatch(file.name)
    databases = [file, *(file.with_name(name) for name in (companion.groups() if companion else ()) if name)]
    if any(map(is_database, databases)):
        raise PlantDeskError(Text("“{name}” belongs to a database. Choose another file."), name=shortened(file.name))
    return file


def is_replaced(file: Path) -> bool:
    """Return whether a finished file replaces `file`: a regular file, or none yet.

    False for standard output, a pipe or a device: replacing one would leave its readers without data, and destroy
    `/dev/null` for the whole machine.
    """
    return str(file) != STANDARD_STREAM and (file.is_file() or not file.exists())


def open_target(file: Path) -> AbstractContextManager[BinaryIO]:
    """Open a file, to be replaced when the block ends without an error; a pipe or device is written to directly.

    Raises PlantDeskError for a database, and OSError.
    """
    file = check_target(file)
    return atomic_writer(file) if is_replaced(file) else file.open("wb")
