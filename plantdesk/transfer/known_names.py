"""The names that the window offers while one is typed: a file beside a store, made from a list that the user imports.

A file beside a store may come from anywhere: it is opened read-only, and only if its schema is exactly that of a list.
Each call opens it: another window may replace it at any time, which Windows refuses while a file is open.
"""

from __future__ import annotations

import contextlib
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.folding import fold
from plantdesk.domain.records import now_ms
from plantdesk.domain.texts import Text
from plantdesk.platform.atomic_files import atomic_writer
from plantdesk.platform.paths import create_folder

_TABLES = (
    "CREATE TABLE list (source TEXT NOT NULL, made_at INTEGER NOT NULL, names INTEGER NOT NULL) STRICT",
    "CREATE TABLE name (folded TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (folded, name)) STRICT, WITHOUT ROWID",
)
_SELECT_BEGINNING = "SELECT name FROM name WHERE folded >= :start AND folded < :end ORDER BY folded, name LIMIT :limit"
#: Characters of a name, and names of a list.
_MAX_NAME_LENGTH = 500
_MAX_NAMES = 2_000_000
_Result = TypeVar("_Result")
_LAST_CHARACTER = "\U0010ffff"


class NamesListInfo(NamedTuple):
    """What a list was made of, a file's name, when (milliseconds since 1970, UTC), and its number of names."""

    source: str
    made_at: int
    names: int


class KnownNames:
    """A list of names in a file, which may not exist. Any thread may use it."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def info(self) -> NamesListInfo | None:
        """Return origin and size of the list; None if there is no file, or it is not a valid list."""
        sql = "SELECT source, made_at, names FROM list"
        return self._query(lambda connection: NamesListInfo(*connection.execute(sql).fetchone()), None)

    def beginning(self, start: str, limit: int) -> list[str]:
        """Return names that begin with a text, whatever their case and accents, in the order of the alphabet."""
        key = fold(start)
        values = {"start": key, "end": key + _LAST_CHARACTER, "limit": limit}
        return self._query(lambda connection: [name for (name,) in connection.execute(_SELECT_BEGINNING, values)], [])

    def replace(self, names: Iterable[str], source: str) -> NamesListInfo:
        """Replace the list by `names`, which are from the file named `source`. Raises PlantDeskError and OSError.

        If iterating over `names` raises, the list stays as it was.
        """
        with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
            for table in _TABLES:
                connection.execute(table)
            connection.execute("BEGIN")
            rows = ((fold(name), name) for name in _clean_names(names))
            connection.executemany("INSERT OR IGNORE INTO name VALUES (?, ?)", rows)
            (count,) = connection.execute("SELECT count(*) FROM name").fetchone()
            if not count:
                raise PlantDeskError(Text("There are no names in this file."))
            names_list = NamesListInfo(source, now_ms(), count)
            connection.execute("INSERT INTO list VALUES (?, ?, ?)", names_list)
            connection.execute("COMMIT")
            if not self._file.parent.exists():  # the folder of the settings, which nobody has changed yet
                create_folder(self._file.parent)
            with atomic_writer(self._file) as stream:
                stream.write(connection.serialize())
        return names_list

    def remove(self) -> None:
        """Delete the file, if there is one. Raises OSError."""
        self._file.unlink(missing_ok=True)

    def _query(self, query: Callable[[sqlite3.Connection], _Result], default: _Result) -> _Result:
        """Open the file and run `query` on it; return `default` if there is no file, or it is not a valid list."""
        try:
            with contextlib.closing(self._open()) as connection:
                schema = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_schema")}
                return query(connection) if schema == {*_TABLES} else default
        except (OSError, sqlite3.Error):
            return default

    def _open(self) -> sqlite3.Connection:
        status = self._file.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:  # a pipe would be waited for
            raise FileNotFoundError(self._file)
        connection = sqlite3.connect(f"{self._file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        connection.execute("PRAGMA trusted_schema = OFF")  # https://sqlite.org/security.html
        connection.execute("PRAGMA cell_size_check = ON")
        return connection


def _clean_names(names: Iterable[str]) -> Iterator[str]:
    for number, name in enumerate(" ".join(name.split()) for name in names):
        if number >= _MAX_NAMES:
            raise PlantDeskError(Text("The file has more than {most:,} names.", most=_MAX_NAMES))
        if 0 < len(name) <= _MAX_NAME_LENGTH:
            yield name
