"""The file of unsaved input, in JSON Lines: plants, notes and forms that are typed but not in a store yet.

A line is one plant or note, or the content of one form, so that a damaged line loses no other. A reserved file takes
its place when the disk is full.
"""

from __future__ import annotations

import errno
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from plantdesk.platform import paths
from plantdesk.platform.atomic_files import write_private
from plantdesk.platform.settings import lock_file

_log = logging.getLogger(__name__)

#: Files beside the settings.
FILE_NAME = "unsaved.jsonl"
RESERVE_FILE_NAME = "unsaved.reserve"
#: The names of lists. They have a line for each item.
_LISTS = ("unsaved", "notes")
#: The names of forms. Their content is one line.
_FORMS = ("draft", "quick")
STORED_NAMES = (*_LISTS, *_FORMS)
#: Bytes that are written in advance, and overwritten if there is no space for the file: some hundred plants.
_RESERVED_BYTES = 64 * 1024
_DISK_FULL_ERRORS = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}


class UnsavedFile:
    """The file of unsaved input, and a reserve to replace it. Several windows change it, each for its own store."""

    def __init__(self, folder: Path | None) -> None:
        """Read the file; without a folder nothing is kept after the end of the program."""
        self._file = None if folder is None else folder / FILE_NAME
        self._reserve = None if folder is None else folder / RESERVE_FILE_NAME
        self._values: dict[str, dict[str, list[Any]]] = {}
        for key, name, value in filter(None, map(_parse_line, self._read_lines())):
            known = self._values.setdefault(key, {})
            known[name] = [*known.get(name, []), value] if name in _LISTS else value

    def of_store(self, key: str) -> Mapping[str, list[Any]]:
        """Return the kept values of one store, unchecked, by the names in `STORED_NAMES`."""
        return self._values.get(key, {})

    def change(self, key: str, values: Mapping[str, Sequence[Any]]) -> None:
        """Replace some of the kept values of one store, and write the file if it changes. Raises OSError."""
        kept = self._values.setdefault(key, {})
        kept.update({name: [*value] for name, value in values.items()})
        if self._file is not None:
            paths.create_folder(self._file.parent)
            with lock_file(self._file):
                before = self._read_lines()
                others = [line for line in before if not _is_of_store(line, key)]
                after = [*others, *_format_lines(key, kept)]
                if after != before:
                    self._write("".join(f"{line}\n" for line in after))

    def reserve(self) -> None:
        """Write the reserved file, if it is missing, in advance for a full disk; ignore a failure."""
        if self._file is not None and self._reserve is not None and not self._reserve.exists():
            with suppress(OSError), lock_file(self._file):
                write_private(self._reserve, "\n" * _RESERVED_BYTES)

    def _read_lines(self) -> list[str]:
        """Return the lines of the reserved file if it is in use, otherwise of the file, damaged ones included."""
        for file in (self._reserve, self._file):
            try:
                is_regular = file is not None and file.is_file()  # not a pipe
                text = file.read_text("utf-8", "surrogateescape").strip("\n") if file and is_regular else ""
            except OSError as error:
                _log.warning("What is not saved cannot be read: %s", error)
            else:
                if text:
                    return text.split("\n")
        return []

    def _write(self, text: str) -> None:
        """Write the file, or the reserved one if the disk is full. Raises OSError."""
        if self._file is None or self._reserve is None:
            return
        try:
            if text:
                write_private(self._file, text)
            else:
                self._file.unlink(missing_ok=True)
        except OSError as error:
            if error.errno not in _DISK_FULL_ERRORS:
                raise
            self._overwrite(self._reserve, text)
        else:
            with suppress(FileNotFoundError):
                self._overwrite(self._reserve, "")

    @staticmethod
    def _overwrite(reserve: Path, text: str) -> None:
        """Overwrite the reserved file in place, which needs no free space. Raises OSError if the text is too long."""
        content = text.encode("utf-8", "surrogateescape")
        if len(content) > _RESERVED_BYTES:
            raise OSError(errno.ENOSPC, "more is not saved than there is space for")
        with reserve.open("r+b", buffering=0) as stream:
            stream.write(content.ljust(_RESERVED_BYTES, b"\n"))


def _is_of_store(line: str, key: str) -> bool:
    parsed = _parse_line(line)
    return parsed is not None and parsed[0] == key


def _format_lines(key: str, values: Mapping[str, list[Any]]) -> Iterator[str]:
    for name, value in values.items():
        if name in _LISTS:
            yield from (json.dumps({"store": key, name: item}) for item in value)
        elif value:
            yield json.dumps({"store": key, name: value})


def _parse_line(line: str) -> tuple[str, str, Any] | None:
    """Return the store, the name and the value of a line; None for a damaged one. It stays in the file."""
    try:
        values = json.loads(line)
        (name,) = values.keys() - {"store"}
        key = values["store"]
        value = values[name]
    except (ValueError, RecursionError, AttributeError, TypeError, KeyError):
        return None
    is_valid = isinstance(key, str) and (name in _LISTS or (name in _FORMS and isinstance(value, list)))
    return (key, name, value) if is_valid else None
