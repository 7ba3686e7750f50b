"""Imports files of plants: reads them into a `PlantImport`, counts, and writes what was refused to a file."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.atomic_replace import replaced_text
from plantdesk.errors import PlantDeskError, shortened
from plantdesk.store import OnClash
from plantdesk.transfer.formats import PIPE, format_of
from plantdesk.transfer.reading import Reader, Refused
from plantdesk.transfer.text import opened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Self

    from plantdesk.store import Applied, ImportCounts, ImportRow, PlantStore
    from plantdesk.transfer.formats import Format

    #: Is called with the rows and the bytes that were read so far, and all bytes, 0 if that is not known.
    Progress = Callable[[int, int, int], None]

#: Refused rows that are named.
LISTED = 20
_COLUMNS = ("file", "line", "reason", "id", "name", "tag", "note")


class Wanted(NamedTuple):
    """How files are imported. `columns` are the names of columns by field, `tag` is that of plants without one."""

    form: Format | None = None
    columns: Mapping[str, str] = {}
    on_clash: OnClash = OnClash.REFUSE
    skip_invalid: bool = False
    tag: str | None = None


class Preview(NamedTuple):
    """What becomes of the rows of the files; `listed` are the first that are invalid, then the first that clash."""

    counts: ImportCounts
    invalid: int
    listed: tuple[Refused, ...]


class InvalidRowsError(PlantDeskError):
    """Rows of the files are invalid, and they are not to be skipped."""

    def __init__(self, count: int) -> None:
        rows = "1 row is" if count == 1 else f"{count:,} rows are"
        super().__init__(f"{rows} invalid, so nothing was imported. Correct the file, or add --skip-invalid.")


class FileImport:
    """An import of files into a store: `read`, then perhaps `write_refused` and `apply`. A context manager."""

    def __init__(self, store: PlantStore, wanted: Wanted, progress: Progress) -> None:
        """Begin. Raises StoreError."""
        self._wanted, self._progress = wanted, progress
        self._names: list[str] = []
        self._rows = self._bytes = self._size = self._invalid = 0
        self._listed: list[Refused] = []
        with ExitStack() as stack:
            self._import = store.new_import()
            stack.callback(self._import.close)
            self._refused = stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8"))
            self._stack = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._stack.close()

    def read(self, files: Sequence[Path]) -> Preview:
        """Read the files and compare them with the store. Raises FileError, NoColumnError, StoreError, OSError."""
        forms = [format_of(file, self._wanted.form) for file in files]
        self._size = sum(file.stat().st_size for file in files if file.is_file())
        fields: list[set[str]] = []
        for number, (file, form) in enumerate(zip(files, forms, strict=True), 1):
            self._names.append("standard input" if str(file) == PIPE else file.name)
            fields.append(self._read(file, form, number))
        if self._wanted.on_clash is OnClash.REPLACE and any(each != fields[0] for each in fields):
            raise PlantDeskError("The files have different columns. With --on-clash replace, import them one by one.")
        counts = self._import.compare(self._wanted.on_clash, set().union(*fields))
        listed = [*self._listed, *(refused for refused, _ in zip(self._clashes(), range(LISTED), strict=False))]
        return Preview(counts, self._invalid, tuple(listed))

    def apply(self) -> Applied:
        """Add what was read as one change. Raises InvalidRowsError, ImportClashError, StoreError."""
        if self._invalid and not self._wanted.skip_invalid:
            raise InvalidRowsError(self._invalid)
        others = len(self._names) - 1
        return self._import.apply(self._names[0] + (f" and {others} more" if others else ""))

    def write_refused(self, file: Path) -> None:
        """Write the rows that are invalid or clash to a CSV file with the reasons. Raises OSError."""
        import csv

        with replaced_text(file, newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(_COLUMNS)
            for row in self._all_refused():
                texts = [row.values.get(field, "") for field in _COLUMNS[3:]]
                writer.writerow([self.name_of(row), row.line, row.reason, *texts])

    def name_of(self, row: Refused) -> str:
        """Return the name of the file of a row."""
        return self._names[row.file - 1]

    def _read(self, file: Path, form: Format, number: int) -> set[str]:
        source = nullcontext(sys.stdin.buffer) if str(file) == PIPE else file.open("rb")
        with source as stream, opened(stream, file, self._report) as text:
            reader = Reader(text, number, self._wanted.columns, self._refuse)
            self._import.add(self._tagged(reader.rows(form)))
        return reader.fields | ({"tag"} if self._wanted.tag is not None else set())

    def _tagged(self, rows: Iterator[ImportRow]) -> Iterator[ImportRow]:
        tag = self._wanted.tag
        for row in rows:
            self._rows += 1
            yield row if tag is None or row.tag is not None else row._replace(tag=tag)

    def _report(self, size: int) -> None:
        self._bytes += size
        self._progress(self._rows, self._bytes, self._size)

    def _refuse(self, row: Refused) -> None:
        self._invalid += 1
        if self._invalid <= LISTED:
            self._listed.append(row)
        self._refused.write(json.dumps(row) + "\n")

    def _clashes(self) -> Iterator[Refused]:
        for (file, line, plant_id, name, tag, note), owner in self._import.clashes():
            reason = f"ID {plant_id} belongs to “{shortened(owner, 40)}”."
            texts = {"id": str(plant_id), "name": name, "tag": tag or "", "note": note or ""}
            yield Refused(file, line, reason, texts)

    def _all_refused(self) -> Iterator[Refused]:
        self._refused.seek(0)
        for line in self._refused:
            yield Refused(*json.loads(line))
        self._refused.seek(0, os.SEEK_END)
        if self._wanted.on_clash in {OnClash.REFUSE, OnClash.SKIP}:
            yield from self._clashes()
