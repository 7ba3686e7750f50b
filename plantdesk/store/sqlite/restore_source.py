"""Reads the plants of a backup, or of any other file, into temporary tables of a connection; checks each row.

The file is not trusted: its schema is compared before anything else is read, rows are copied instead of the file, and
all that can be computed is computed anew. Of a damaged file, the plants that can still be read are copied. The
temporary tables vanish with the connection, also when the process is killed.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from plantdesk.domain.backups import RestorePreview
from plantdesk.domain.errors import BackupUnusableError, ForeignFileError, StoreDamagedError, StoreError
from plantdesk.domain.records import EARLIEST, LARGEST_ID, LATEST, MAX_NOTE_BYTES, SMALLEST_ID, PlantContent, SourceKind
from plantdesk.domain.texts import Text, joined
from plantdesk.store.models import SHARED_COLUMNS
from plantdesk.store.restoring import create_restore_tables
from plantdesk.store.sqlite.connections import IS_ASCII, add_functions, check_whole, placeholders, translate_errors
from plantdesk.store.sqlite.database import runner_of
from plantdesk.store.sqlite.files.open_checks import (
    attach_for_reading,
    check_file,
    connect_for_reading,
    has_log,
    has_own_log,
    is_absent,
    resolve_path,
)
from plantdesk.store.sqlite.migrations import check_schema

#: The most bytes of a name or tag: a request of the API can have as many.
MAX_TEXT_BYTES = 1024 * 1024
#: Arrival numbers up to this one leave room for all plants to come; a file with larger ones is numbered anew.
_MAX_SEQ = 2**48
#: Plants that are read together.
_PAGE_SIZE = 1000
#: Failing queries after which no more readable plants are searched for in a damaged file.
_MAX_ERRORS = 200_000

_KINDS = ", ".join(f"'{kind}'" for kind in SourceKind)
_IS_TEXT = f"""typeof({{0}}) = 'text' AND length(CAST({{0}} AS BLOB)) <= {MAX_TEXT_BYTES}
               AND ({IS_ASCII} OR is_unicode(CAST({{0}} AS BLOB)))"""
_CHECKS = (
    (Text("name"), _IS_TEXT.format("name")),
    (Text("tag"), f"tag IS NULL OR ({_IS_TEXT.format('tag')})"),
    (Text("time of arrival"), f"typeof(added_at) = 'integer' AND added_at BETWEEN {EARLIEST} AND {LATEST}"),
    (Text("sequence number"), "typeof(seq) = 'integer'"),
    (
        Text("note"),
        f"{{note}} IS NULL OR (length(CAST({{note}} AS BLOB)) <= {MAX_NOTE_BYTES} AND {_IS_TEXT.format('{note}')})",
    ),
)
_IS_VALID = " AND ".join(f"({check})" for _, check in _CHECKS)
_IS_VALID_SOURCE = f"typeof(kind) = 'text' AND kind IN ({_KINDS}) AND {_IS_TEXT.format('label')}"
#: `{note}` is NULL for the older versions, which have no notes.
_SEARCHED = ", ".join(f"searched(CAST({column} AS BLOB))" for column in ("name", "tag", "{note}"))
_COLUMNS = f"id, name, tag, {{note}}, {_SEARCHED}, seq, added_at, source_id"
#: The source of a plant if its own cannot be read.
_UNKNOWN = (0, SourceKind.OTHER, "")


def load_backup(connection: sqlite3.Connection, file: Path) -> RestorePreview:
    """Fill `temp.restored` and `temp.restored_source` of `connection` with the plants of `file`, which is only read.

    Returns a preview without a difference. The connection must not be in a transaction. Raises BackupUnusableError,
    which names the first invalid row, and StoreError.
    """
    path = _resolve_checked(file)
    add_functions(connection)
    with translate_errors():
        create_restore_tables(runner_of(connection))
        is_damaged = not _copy_whole(connection, path)
        if is_damaged:
            _copy_intact(connection, path)
        _renumber_if_needed(connection)
        (plants,) = connection.execute("SELECT count(*) FROM temp.restored").fetchone()
    if is_damaged and plants == 0:
        raise _unusable_error(file, Text("it is damaged"))
    return RestorePreview(plants, None, is_damaged, has_log(path) and not has_own_log(path))


@contextlib.contextmanager
def plants_of_file(file: Path) -> Iterator[Iterator[list[PlantContent]]]:
    """Check a file of plants, which is only read, and yield its plants in insertion order, some at a time.

    Raises BackupUnusableError, also for a damaged file, and StoreError.
    """
    with contextlib.closing(sqlite3.connect("", isolation_level=None, uri=True)) as connection:  # a temporary file
        if load_backup(connection, file).is_partial:
            message = Text("“{file}” is damaged. `plantdesk restore` brings back what can be read.")
            raise BackupUnusableError(message, file=file.name)
        cursor = connection.execute("SELECT id, name, tag, note FROM temp.restored ORDER BY seq")

        def pages() -> Iterator[list[PlantContent]]:
            with translate_errors():
                while page := cursor.fetchmany(_PAGE_SIZE):
                    yield [*map(PlantContent._make, page)]

        yield pages()


def _resolve_checked(file: Path) -> Path:
    """Return the resolved path of a file that is safe to read. Raises BackupUnusableError."""
    try:
        path = resolve_path(file)
        is_there = not is_absent(path)
        if is_there:
            check_file(path)
    except StoreError as error:
        raise BackupUnusableError(error.text) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise BackupUnusableError(Text("“{file}” cannot be read: {reason}."), file=file.name, reason=reason) from error
    if not is_there:
        message = Text("There is no file “{file}”, or it is empty. `plantdesk backup --list` shows the backups.")
        raise BackupUnusableError(message, file=file.name)
    return path


@contextlib.contextmanager
def open_checked(file: Path) -> Iterator[sqlite3.Connection]:
    """Open the file for reading, and check its schema before anything else. Raises StoreError and sqlite3.Error."""
    with contextlib.closing(connect_for_reading(file)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        check_schema(connection, version)
        add_functions(connection)
        yield connection


def _copy_whole(connection: sqlite3.Connection, file: Path) -> bool:
    """Copy all rows; return False for a damaged file, from which nothing was copied."""
    try:
        with translate_errors():
            with open_checked(file) as reading:
                check_whole(reading)
            with attach_for_reading(connection, file):
                note = _note_expression(connection, "other")
                _check_rows(connection, file, note)
                connection.execute("INSERT INTO temp.restored_source SELECT id, kind, label FROM other.source")
                connection.execute(f"INSERT INTO temp.restored SELECT {_COLUMNS.format(note=note)} FROM other.plant")
    except StoreDamagedError:
        return False
    except ForeignFileError as error:
        raise BackupUnusableError(error.text) from error
    return True


def _note_expression(connection: sqlite3.Connection, schema: str) -> str:
    """Return the SQL expression of a plant's note in a file that may be of an older version."""
    columns = connection.execute(f"PRAGMA {schema}.table_info(plant)").fetchall()
    return "note" if any(name == "note" for _, name, *_ in columns) else "NULL"


def _check_rows(connection: sqlite3.Connection, file: Path, note: str) -> None:
    """Raise BackupUnusableError for the first row that no PlantDesk has written."""
    is_valid = _IS_VALID.format(note=note)
    bad_source = connection.execute(f"SELECT id FROM other.source WHERE NOT ({_IS_VALID_SOURCE}) LIMIT 1").fetchone()
    if bad_source is not None:
        raise _unusable_error(file, Text("it has an origin of plants that PlantDesk does not know"))
    has_source = "EXISTS (SELECT 1 FROM other.source AS s WHERE s.id = source_id)"
    sql = f"SELECT id FROM other.plant WHERE NOT ({is_valid} AND {has_source}) LIMIT 1"
    bad_row = connection.execute(sql).fetchone()
    if bad_row is None:
        return
    columns = ", ".join(f"({check})" for _, check in _CHECKS).format(note=note)
    checks = connection.execute(f"SELECT {columns} FROM other.plant WHERE id = ?", bad_row).fetchone()
    invalid = [name for (name, _), is_right in zip(_CHECKS, checks, strict=True) if not is_right] or [Text("origin")]
    columns_text = joined(invalid, Text("{first} and {second}"))
    raise _unusable_error(file, Text("the {columns} of plant {id} is not valid", columns=columns_text, id=bad_row[0]))


def _unusable_error(file: Path, reason: Text) -> BackupUnusableError:
    text = Text("“{file}” cannot be used: {reason}. Choose another one.")
    return BackupUnusableError(text, file=file.name, reason=reason)


def _renumber_if_needed(connection: sqlite3.Connection) -> None:
    """Number the plants anew, in their order, if few numbers are left after them, or two plants share a number."""
    sql = "SELECT min(seq) < 1 OR max(seq) > ? OR count(DISTINCT seq) < count(*) FROM temp.restored"
    (is_odd,) = connection.execute(sql, (_MAX_SEQ,)).fetchone()
    if is_odd:
        connection.execute(
            """UPDATE temp.restored SET seq = numbered.place FROM (
                   SELECT id, row_number() OVER (ORDER BY seq, id) AS place FROM temp.restored
               ) AS numbered WHERE numbered.id = restored.id"""
        )


# --- a damaged file ---


def _copy_intact(connection: sqlite3.Connection, file: Path) -> None:
    """Copy the rows of a damaged file that can be read; nothing if not even its schema can."""
    insert = f"INSERT OR IGNORE INTO temp.restored VALUES ({placeholders(1 + len(SHARED_COLUMNS))})"
    try:
        with translate_errors(), open_checked(file) as reading:
            sources = _read_intact_sources(reading)
            connection.executemany("INSERT INTO temp.restored_source VALUES (?, ?, ?)", [_UNKNOWN, *sources])
            source_ids = {source_id for source_id, *_ in sources}
            for page in _read_intact_pages(reading):
                rows = [(*row[:-1], row[-1] if row[-1] in source_ids else _UNKNOWN[0]) for row in page]
                connection.executemany(insert, rows)
    except StoreDamagedError:
        return  # not even its schema can be read
    except ForeignFileError as error:
        raise BackupUnusableError(error.text) from error


def _read_intact_sources(reading: sqlite3.Connection) -> list[tuple[int, str, str]]:
    sql = f"SELECT id, kind, label FROM source WHERE id > 0 AND {_IS_VALID_SOURCE}"
    try:
        return reading.execute(sql).fetchall()
    except sqlite3.DatabaseError:
        return []


def _read_intact_pages(reading: sqlite3.Connection) -> Iterator[list[tuple[Any, ...]]]:
    """Yield pages of the rows that can be read: a range of ids in which reading fails is halved and tried again."""
    columns = f"SELECT {_COLUMNS} FROM plant WHERE id BETWEEN ? AND ? AND {_IS_VALID} ORDER BY id LIMIT {_PAGE_SIZE}"
    sql = columns.format(note=_note_expression(reading, "main"))
    ranges = [(SMALLEST_ID, LARGEST_ID)]
    errors = 0
    while ranges and errors < _MAX_ERRORS:
        low, high = ranges.pop()
        try:
            page = reading.execute(sql, (low, high)).fetchall()
        except sqlite3.DatabaseError:
            errors += 1
            if low < high:
                middle = (low + high) // 2
                ranges += [(middle + 1, high), (low, middle)]
            continue
        yield page
        if len(page) == _PAGE_SIZE and page[-1][0] < high:
            ranges.append((page[-1][0] + 1, high))
