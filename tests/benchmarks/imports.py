"""Import and export of a million plants, each beside what the program sqlite3 takes for the same file and schema.

    python -m tests.benchmarks.imports [--plants 1000000] [--rounds 3]

Each round runs `sqlite3 .import` into a table with columns and indexes of `plant`, `plantdesk import`, `sqlite3 -csv`
and `plantdesk export`, one after another. Prints medians of seconds, the ratios, and the memory of the largest process.
Then it imports in a process that adds plants meanwhile, as scripts do, and prints the longest wait of one: with new
ids, with conflicting ids that are replaced, and with those that get new ids.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from plantdesk.domain.imports import ImportRow, OnConflict
from plantdesk.store.sqlite.store import Store
from tests.benchmarks.changes import MeasuredAdding

_SCHEMA = """CREATE TABLE plant (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT, seq INTEGER NOT NULL UNIQUE,
             added_at INTEGER NOT NULL, source_id INTEGER NOT NULL, note TEXT, change INTEGER NOT NULL,
             searched_name TEXT NOT NULL, searched_tag TEXT, searched_note TEXT) STRICT;"""


def _timed(command: list[str], text: str = "", output: Path = Path(os.devnull)) -> float:
    started = time.perf_counter()
    with output.open("wb") as stream:
        subprocess.run(command, input=text.encode(), stdout=stream, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def _write(file: Path, plants: int, *, is_full: bool) -> None:
    with file.open("w", encoding="utf-8") as stream:
        stream.write("" if is_full else "id,name,tag,note\n")
        for number in range(1, plants + 1):
            row = f"{number},Monstera deliciosa {number},room {number % 10}"
            rest = f"{number},1,1,,0,monstera deliciosa {number},room {number % 10}," if is_full else ""
            stream.write(f"{row},{rest}\n")


def _round(folder: Path, number: int) -> dict[str, float]:
    other, ours = folder / f"other-{number}.db", folder / f"ours-{number}.db"
    plantdesk = [sys.executable, "-m", "plantdesk"]
    pragmas = "PRAGMA journal_mode = WAL;\nPRAGMA synchronous = FULL;\n"
    script = f"{pragmas}{_SCHEMA}\n.mode csv\n.import {folder / 'full.csv'} plant\n"
    return {
        "sqlite3 .import": _timed(["sqlite3", str(other)], script),
        "plantdesk import": _timed([*plantdesk, "import", str(folder / "plants.csv"), "--database", str(ours)]),
        "sqlite3 -csv": _timed(
            ["sqlite3", "-csv", str(other), "SELECT id, name, tag, note, added_at, source_id FROM plant"],
            output=folder / "out.csv",
        ),
        "plantdesk export": _timed([*plantdesk, "export", str(folder / "out.csv"), "--database", str(ours)]),
    }


def _wait(folder: Path, plants: int, on_conflict: OnConflict, suffix: str) -> None:
    """Import while plants are added; all rows conflict if there was an import before with another `suffix`."""
    with closing(Store(folder / "wait.db")) as store, closing(store.new_import()) as plants_import:
        with MeasuredAdding(store) as adding:
            for first in range(1, plants + 1, 10_000):
                plants_import.add(
                    [
                        ImportRow(1, n, n, f"Monstera deliciosa {n}{suffix}", f"room {n % 10}", None)
                        for n in range(first, first + 10_000)
                    ]
                )
            plants_import.compare(on_conflict, ("id", "name", "tag", "note"))
            plants_import.apply("plants.csv")
        print(f"longest wait of a plant: {max(adding.waits):.2f} s ({on_conflict})")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plants", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder / "full.csv", options.plants, is_full=True)
        _write(folder / "plants.csv", options.plants, is_full=False)
        rounds = [_round(folder, number) for number in range(options.rounds)]
        medians = {what: statistics.median(each[what] for each in rounds) for what in rounds[0]}
        for what, seconds in medians.items():
            print(f"{what}: {seconds:.2f} s")
        print(f"import: {medians['plantdesk import'] / medians['sqlite3 .import']:.2f} times")
        print(f"export: {medians['plantdesk export'] / medians['sqlite3 -csv']:.2f} times")
        print(f"memory of the largest: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MiB")
        for on_conflict, suffix in ((OnConflict.REFUSE, ""), (OnConflict.REPLACE, "!"), (OnConflict.NEW_ID, "?")):
            _wait(folder, options.plants, on_conflict, suffix)


if __name__ == "__main__":
    main()
