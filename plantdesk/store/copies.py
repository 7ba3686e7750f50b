"""Copying all rows of a store to an empty one of any kind.

All rows are read in one snapshot and written in one transaction, which reads them again before it commits and compares
counts and checksums.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import islice

import sqlalchemy as sa

from plantdesk.domain.copying import Copied, CopyDiffersError, ReportFraction, StoreRows, TableRow
from plantdesk.store.models import BEFORE_IMAGE, CHANGE, PLANT, SOURCE, TOKEN

#: The tables that both kinds have; each follows those that it refers to.
TABLES = (SOURCE, PLANT, CHANGE, BEFORE_IMAGE, TOKEN)
#: Rows between two reports of progress.
_PAGE_SIZE = 5_000


def rows_sql(table: sa.Table) -> str:
    """Return the SELECT of all rows of a table, in the order of its primary key."""
    columns = ", ".join(table.columns.keys())
    keys = ", ".join(table.primary_key.columns.keys())
    return f"SELECT {columns} FROM {table.name} ORDER BY {keys}"


def copy_rows(
    source: StoreRows,
    insert: Callable[[sa.Table, Iterator[TableRow]], object],
    read: Callable[[sa.Table], Iterator[TableRow]],
    progress: ReportFraction | None = None,
) -> Copied:
    """Insert all rows of `source` into empty tables, `read` them again and compare them. Raises CopyDiffersError."""
    report = _Report(2 * source.count_rows(), progress)
    source_digests = {table.name: _RowDigest(report) for table in TABLES}
    for table in TABLES:
        insert(table, source_digests[table.name].count_and_digest_rows(source.rows(table)))
    for table in TABLES:
        written = _RowDigest(report)
        for _ in written.count_and_digest_rows(read(table)):
            pass
        if written.count_and_digest != source_digests[table.name].count_and_digest:
            raise CopyDiffersError
    total_digest = hashlib.sha256("".join(digest.count_and_digest[1] for digest in source_digests.values()).encode())
    return Copied({name: digest.rows for name, digest in source_digests.items()}, total_digest.hexdigest())


class _Report:
    """Reports progress as the fraction of rows that are done."""

    def __init__(self, rows: int, progress: ReportFraction | None) -> None:
        self._rows = max(rows, 1)
        self._progress = progress
        self._done_rows = 0

    def add(self, rows: int) -> None:
        self._done_rows += rows
        if self._progress is not None:
            self._progress(min(self._done_rows / self._rows, 1.0))


class _RowDigest:
    """Counts rows, and computes their SHA-256 digest."""

    def __init__(self, report: _Report) -> None:
        self.rows = 0
        self._digest = hashlib.sha256()
        self._report = report

    @property
    def count_and_digest(self) -> tuple[int, str]:
        return self.rows, self._digest.hexdigest()

    def count_and_digest_rows(self, rows: Iterator[TableRow]) -> Iterator[TableRow]:
        """Yield `rows` unchanged; count and digest them, and report the progress."""
        while page := tuple(islice(rows, _PAGE_SIZE)):
            self._digest.update(repr(page).encode("utf-8", "surrogatepass"))
            self.rows += len(page)
            yield from page
            self._report.add(len(page))
