"""Copying all rows of a store to an empty one of any kind.

All rows are read in one snapshot and written in one transaction, which reads them again before it commits and compares
counts and checksums.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import islice

import sqlalchemy as sa

from plantdesk.domain.locations import Copied, CopyDiffersError, Progress, Row, StoreRows
from plantdesk.store.models import BEFORE_IMAGE, CHANGE, PLANT, SOURCE, TOKEN

#: The tables that both kinds have; each follows those that it refers to.
TABLES = (SOURCE, PLANT, CHANGE, BEFORE_IMAGE, TOKEN)
#: Rows between two calls of a progress.
_PAGE = 5_000


def rows_of(table: sa.Table) -> str:
    """Return the SQL query of the rows of a table, by its primary key."""
    columns, keys = (", ".join(each.keys()) for each in (table.columns, table.primary_key.columns))
    return f"SELECT {columns} FROM {table.name} ORDER BY {keys}"


def copy_rows(
    source: StoreRows,
    insert: Callable[[sa.Table, Iterator[Row]], object],
    read: Callable[[sa.Table], Iterator[Row]],
    progress: Progress | None = None,
) -> Copied:
    """Insert all rows of `source` into empty tables, `read` them again and compare them. Raises CopyDiffersError."""
    report = _Report(2 * source.count_rows(), progress)
    checked = {table.name: _RowDigest(report) for table in TABLES}
    for table in TABLES:
        insert(table, checked[table.name].counted(source.rows(table)))
    for table in TABLES:
        written = _RowDigest(report)
        for _ in written.counted(read(table)):
            pass
        if written.count_and_digest != checked[table.name].count_and_digest:
            raise CopyDiffersError
    whole = hashlib.sha256("".join(each.count_and_digest[1] for each in checked.values()).encode())
    return Copied({name: each.rows for name, each in checked.items()}, whole.hexdigest())


class _Report:
    """Reports progress as the fraction of rows that are done."""

    def __init__(self, rows: int, progress: Progress | None) -> None:
        self._rows = max(rows, 1)
        self._progress = progress
        self._done = 0

    def add(self, rows: int) -> None:
        self._done += rows
        if self._progress is not None:
            self._progress(min(self._done / self._rows, 1.0))


class _RowDigest:
    """The number and the digest of rows."""

    def __init__(self, report: _Report) -> None:
        self.rows = 0
        self._digest = hashlib.sha256()
        self._report = report

    @property
    def count_and_digest(self) -> tuple[int, str]:
        return self.rows, self._digest.hexdigest()

    def counted(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Yield `rows`; count and digest them."""
        while page := tuple(islice(rows, _PAGE)):
            self._digest.update(repr(page).encode("utf-8", "surrogatepass"))
            self.rows += len(page)
            yield from page
            self._report.add(len(page))
