"""Fetch, import and compare the files of `files.tsv`; see the package. Prints what differs, and exits with 1 then."""

import argparse
import contextlib
import csv
import hashlib
import io
import itertools
import json
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from plantdesk.cli.main import main as plantdesk
from plantdesk.domain.selections import Selection
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.transfer.files import input_file
from plantdesk.transfer.inputs import ReadOptions, open_input
from tests.corpus import second_readers
from tests.corpus.packages import Package, UnreachableError, unpacked

_TABLE = Path(__file__).with_name("files.tsv")
_FIELDS = ("name", "tag", "note")


class Entry(NamedTuple):
    """A line of the table."""

    package: Package
    path: str
    digest: str
    reader: str
    options: list[str]
    result: str


class Imported(NamedTuple):
    """The outcome of an import: the text of the message, the JSON output, and the fields of the plants."""

    message: str
    answer: dict[str, Any]
    plants: list[tuple[str, str, str]]


def entries() -> Iterator[Entry]:
    """Yield the lines of the table."""
    with _TABLE.open(encoding="utf-8", newline="") as stream:
        for package, path, digest, reader, options, result in itertools.islice(
            csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE), 1, None
        ):
            yield Entry(Package(*package.split()), path, digest, reader, shlex.split(options), result)


def checked(entry: Entry, file: Path) -> str:
    """Return the result for a file, as the table should have it."""
    if hashlib.sha256(file.read_bytes()).hexdigest() != entry.digest:
        return "another file"
    imported = _imported(file, entry.options)
    if not imported.answer:
        return f"refused: {imported.message}"
    if entry.reader in {"json", "jsonl"}:
        objects = second_readers.objects_of(file, entry.reader)
        columns = _columns(imported)
        requested = [tuple(_text(item.get(columns.get(field, ""))) for field in _FIELDS) for item in objects]
        differing = 0
    else:
        rows = second_readers.rows_of(file, entry.reader)
        differing = _differing(_rows(file), rows)
        if entry.reader == "calamine":  # what is beyond the header is not read
            width = max(at for at, cell in enumerate(rows[0], 1) if cell)
            rows = [row for row in rows if any(cell.strip() for cell in row[:width])]
        requested = _requested(rows, imported, has_header="--no-header" not in entry.options)
    return _compared(imported, requested) or (f"differs {differing}" if differing else "same")


def is_expected(found: str, result: str) -> bool:
    """Return whether a result is that of the table, which has a part of a message, and reasons for differences."""
    kind, _, message = result.partition(": ")
    return found.startswith("refused: ") and message in found if kind == "refused" else found == kind


def _imported(file: Path, options: list[str]) -> Imported:
    out, err = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        database = Path(folder) / "plants.db"
        plantdesk(["import", str(file), "--database", str(database), "--json", "--on-clash", "new-id", *options])
        if not out.getvalue():
            return Imported(err.getvalue().strip(), {}, [])
        with closing(SqliteStore(database)) as store, closing(store.reader()) as reader:
            plants = [(row.name, row.tag or "", row.note or "") for page in reader.pages(Selection()) for row in page]
    return Imported(err.getvalue(), json.loads(out.getvalue()), plants)


def _rows(file: Path) -> list[list[str]]:
    """Return the rows that PlantDesk reads, before it takes columns for fields."""
    with open_input(input_file(file), ReadOptions()) as read:
        rows = [[cell or "" for cell in row.cells] for batch in read.table.read_batches() for row in batch.rows]
    return [row for row in rows if any(cell.strip() for cell in row)]


def _differing(ours: list[list[str]], theirs: list[list[str]]) -> int:
    """Return the number of cells that differ."""
    none: list[str] = []
    pairs = itertools.zip_longest(ours, theirs, fillvalue=none)
    return sum(our != their for both in pairs for our, their in itertools.zip_longest(*both, fillvalue=""))


def _columns(imported: Imported) -> dict[str, str]:
    return dict(imported.answer["files"][0]["columns"])


def _requested(rows: list[list[str]], imported: Imported, *, has_header: bool) -> list[tuple[str, ...]]:
    """Return the fields of the plants that the second reader finds in the columns that PlantDesk has taken."""
    width = max(map(len, rows))
    rows = rows[imported.answer["files"][0]["title_rows"] :]
    names = rows[0] if has_header else [str(at) for at in range(1, width + 1)]
    positions = {field: names.index(column) for field, column in _columns(imported).items() if column in names}
    padded = ([*row, *[""] * (width - len(row))] for row in rows[has_header:])
    return [tuple(row[positions[field]] if field in positions else "" for field in _FIELDS) for row in padded]


def _text(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _compared(imported: Imported, requested: list[tuple[str, ...]]) -> str:
    """Return what is wrong with the plants, or nothing: all are wanted, and as many are missing as were left out."""
    plants: Counter[tuple[str, ...]] = Counter(imported.plants)
    missing = Counter(requested) - plants
    unknown = plants - Counter(requested)
    left_out = imported.answer["invalid"] + imported.answer["unchanged"]  # the latter are repeated rows
    if unknown or missing.total() != left_out:
        return f"plants differ: {[*unknown][:2]} unknown, {missing.total()} missing, {left_out} left out"
    return ""


def main() -> int:
    """Check all files, or those whose package or path has a text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", nargs="?", default="", help="only the files with this text in package or path")
    parser.add_argument("--require", action="store_true", help="fail where a registry cannot be reached")
    options = parser.parse_args()
    wrong, unreachable, count = 0, dict[Package, str](), 0
    for entry in entries():
        if options.text not in f"{' '.join(entry.package)} {entry.path}" or entry.package in unreachable:
            continue
        try:
            folder = unpacked(entry.package)
        except UnreachableError as error:
            unreachable[entry.package] = str(error)
            continue
        found = checked(entry, folder / entry.path)
        count += 1
        if not is_expected(found, entry.result):
            wrong += 1
            print(f"{' '.join(entry.package)} {entry.path}: {found}, not “{entry.result}”")
    for reason in unreachable.values():
        print(f"skipped: {reason}")
    print(f"{count} files, {wrong} wrong, {len(unreachable)} packages skipped")
    return 1 if wrong or not count or (options.require and unreachable) else 0


if __name__ == "__main__":
    sys.exit(main())
