"""Imports files of plants: reads them into a `PlantImport`, previews it, and writes refused rows to a file."""

from __future__ import annotations

import csv
import heapq
import io
import itertools
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple, Self

from plantdesk.domain.edits import Applied
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.imports import ImportCounts, ImportRow, OnConflict
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.texts import Text, shortened
from plantdesk.domain.validation import plant_fields
from plantdesk.transfer.columns import IMPORTED_FIELDS
from plantdesk.transfer.files import InputFile, open_target
from plantdesk.transfer.inputs import ReadOptions, open_input
from plantdesk.transfer.reading import Refused, RowReader

#: Called with the numbers of rows and bytes read so far, and of all bytes (0 if unknown).
ReportReading = Callable[[int, int, int], None]

#: The most refused rows that a preview lists.
MAX_LISTED = 20
_REJECTS_HEADER = ("file", "line", "reason", *IMPORTED_FIELDS, "text")


class ImportOptions(NamedTuple):
    """The options of an import. Plants without a tag get `tag`."""

    reading: ReadOptions = ReadOptions()
    on_conflict: OnConflict = OnConflict.REFUSE
    skip_invalid: bool = False
    tag: str | None = None


class Preview(NamedTuple):
    """The result of comparing an import: numbers of rows, the first invalid and conflicting ones, and the readers.

    `blank` is the number of rows without any text; they are left out.
    """

    counts: ImportCounts
    invalid: int
    blank: int
    invalid_rows: Sequence[Refused]
    conflict_rows: Sequence[Refused]
    readers: Sequence[RowReader]


def reading_differences(readers: Iterable[RowReader]) -> Iterator[Text]:
    """Yield a text for each kind of content that is left out, or changed by reading."""
    texts = (
        Text("{count:,} other tables are not read", one="1 other table is not read"),
        Text("{count:,} rows above the header are not read", one="1 row above the header is not read"),
        Text("{count:,} IDs lose their leading zeros", one="1 ID loses its leading zeros"),
    )
    counts = ((reader.file.table.other_tables, reader.layout.title_rows, reader.leading_zeros) for reader in readers)
    for text, *of_files in zip(texts, *counts, strict=True):
        if count := sum(of_files):
            yield text.filled(count=count)


class InvalidRowsError(PlantDeskError):
    """Rows of the files are invalid, and skipping them was not chosen."""

    text = Text(
        "{count:,} rows are invalid, so nothing was imported.", one="1 row is invalid, so nothing was imported."
    )

    def __init__(self, count: int) -> None:
        super().__init__(count=count)


class NamesMissingError(InvalidRowsError):
    """The objects of a JSON file have no member for the name."""


class FileImport:
    """An import of files into a store: `read`, `compare`, then perhaps `write_refused` and `apply`.

    A context manager. Only `cancel` may be called from another thread.
    """

    def __init__(
        self, store: PlantStore, options: ImportOptions, progress: ReportReading, *, listed: int = MAX_LISTED
    ) -> None:
        """Prepare an import. A preview lists the first `listed` invalid rows, and as many conflicting ones.

        Raises InvalidPlantError for the tag, and StoreError.
        """
        if options.tag is not None:
            plant_fields({"name": "-", "tag": options.tag})
        self._options = options
        self._progress = progress
        self._max_listed = listed
        #: How the files were read.
        self.readers: list[RowReader] = []
        self._row_count = 0
        self._bytes_read = 0
        self._total_bytes = 0
        self._invalid_count = 0
        self._first_invalid: list[Refused] = []
        with ExitStack() as stack:
            self._import = store.new_import()
            stack.callback(self._import.close)
            self._refused_file = stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8"))
            self._stack = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._stack.close()

    def cancel(self) -> None:
        """Make the running method raise InterruptedError; nothing is imported, unless everything is written already."""
        self._import.cancel()

    def read(self, sources: Sequence[InputFile]) -> None:
        """Read files into the `PlantImport`; collect invalid rows. Raises PlantDeskError, InterruptedError, OSError."""
        self._total_bytes = sum(source.size for source in sources)
        for number, source in enumerate(sources, 1):
            with open_input(source, self._options.reading, self._report_progress) as file:
                reader = RowReader(file, number, self._options.reading.columns, self._refuse)
                for plants in reader.read_plants():
                    self._add_rows(plants)
                self.readers.append(reader)

    def compare(self, on_conflict: OnConflict) -> Preview:
        """Compare the plants read with the store; may be called again. Raises PlantDeskError, InterruptedError."""
        self._on_conflict = on_conflict
        tags = set() if self._options.tag is None else {"tag"}
        fields = [reader.fields | tags for reader in self.readers]
        if on_conflict is OnConflict.REPLACE and any(reader_fields != fields[0] for reader_fields in fields):
            raise PlantDeskError(Text("The files have different columns. To replace plants, import them one by one."))
        counts = self._import.compare(on_conflict, set().union(*fields))
        conflict_rows = list(itertools.islice(self._read_conflicts(), self._max_listed))
        blank = sum(reader.blank for reader in self.readers)
        return Preview(counts, self._invalid_count, blank, list(self._first_invalid), conflict_rows, list(self.readers))

    def apply(self, *, skip_invalid: bool, progress: Callable[[int, int], None] | None = None) -> Applied:
        """Add the compared plants as one change; `progress` gets rows so far and all rows, on another thread.

        Raises InvalidRowsError, ImportConflictError, StoreError, InterruptedError.
        """
        if self._invalid_count and not skip_invalid:
            read_files = (reader for reader in self.readers if reader.columns or reader.ignored)
            lacks_names = any("name" not in reader.columns for reader in read_files)
            raise (NamesMissingError if lacks_names else InvalidRowsError)(self._invalid_count)
        first, *others = self.readers
        return self._import.apply(first.file.name + (f" +{len(others)}" if others else ""), progress)

    def write_refused(self, file: Path) -> None:
        """Write invalid and conflicting rows to a CSV file with the reasons. Raises PlantDeskError, OSError.

        The column `text` has the `text` of Refused. Half a surrogate pair is written as a JSON escape.
        """
        with open_target(file) as stream:
            text = io.TextIOWrapper(stream, "utf-8", "backslashreplace", newline="")
            writer = csv.writer(text)
            writer.writerow(_REJECTS_HEADER)
            is_left_out = self._on_conflict in {OnConflict.REFUSE, OnConflict.SKIP}
            conflicts = self._read_conflicts() if is_left_out else iter(())
            # Both are in the order of the files and their lines.
            for row in heapq.merge(self._read_invalid_rows(), conflicts, key=itemgetter(0, 1)):
                texts = [row.values.get(field, "") for field in IMPORTED_FIELDS]
                writer.writerow([self.find_file_name(row), row.line, row.reason, *texts, row.text])
            text.detach()  # flushes it

    def find_file_name(self, row: Refused) -> str:
        """Return the name of the file that a refused row is from."""
        return self.readers[row.file - 1].file.name

    def _add_rows(self, rows: Sequence[ImportRow]) -> None:
        tag = self._options.tag
        if tag is not None:
            rows = [row._replace(tag=tag) if row.tag is None else row for row in rows]
        self._import.add(rows)
        self._row_count += len(rows)

    def _report_progress(self, size: int) -> None:
        self._bytes_read += size
        self._progress(self._row_count, self._bytes_read, self._total_bytes)

    def _refuse(self, row: Refused) -> None:
        self._invalid_count += 1
        if self._invalid_count <= self._max_listed:
            self._first_invalid.append(row._replace(text=""))
        self._refused_file.write(json.dumps(row, default=str) + "\n")

    def _read_conflicts(self) -> Iterator[Refused]:
        """Yield the conflicting rows, each with the plant or the row that has its ID as the reason."""
        for row, owner_name, owner_row in self._import.conflicts():
            if owner_row is None:
                reason = Text("ID {id} belongs to “{name}”.")
            elif owner_row.file == row.file:
                reason = Text("ID {id} is also in line {line:,}, of “{name}”.", line=owner_row.line)
            else:
                file = shortened(self.readers[owner_row.file - 1].file.name, 40)
                reason = Text(
                    "ID {id} is also in “{file}”, line {line:,}, of “{name}”.", file=file, line=owner_row.line
                )
            texts = {"id": str(row.id), "name": row.name, "tag": row.tag or "", "note": row.note or ""}
            yield Refused(row.file, row.line, reason.filled(id=str(row.id), name=shortened(owner_name, 40)), texts)

    def _read_invalid_rows(self) -> Iterator[Refused]:
        self._refused_file.seek(0)
        for line in self._refused_file:
            file, number, reason, *rest = json.loads(line)
            yield Refused(file, number, Text("{reason}", reason=reason), *rest)
        self._refused_file.seek(0, os.SEEK_END)
