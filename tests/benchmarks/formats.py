"""Import and export of each format beside CSV, in seconds of processor time, which varies less on a busy machine.

    python -m tests.benchmarks.formats [--plants 200000] [--rounds 3]

Each round exports a store to each format and imports that file into an empty store, and has the program sqlite3 import
a CSV file of three columns into a plain table, beside the import of the same file, and calamine read the workbook.
Prints medians and ratios with the goals. Without the program sqlite3 its figure is left out. Needs POSIX.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.benchmarks.commands import cost
from tests.benchmarks.figures import Figure, report

_FORMATS = ("csv", "jsonl", "json", "xlsx")
_PLANTDESK = (sys.executable, "-m", "plantdesk")
_READ_WORKBOOK = """
import sys
from python_calamine import CalamineWorkbook
CalamineWorkbook.from_path(sys.argv[1]).get_sheet_by_index(0).to_python()
"""


def _cpu(*command: object) -> float:
    """Run a command and return the seconds of processor time that it took."""
    with tempfile.TemporaryDirectory() as home:
        return cost([*map(str, command)], home).cpu


def _round(folder: Path) -> dict[str, float]:
    times = {}
    for suffix in _FORMATS:
        file = folder / f"out.{suffix}"
        file.unlink(missing_ok=True)
        times[f"export {suffix}"] = _cpu(*_PLANTDESK, "export", file, "--database", folder / "plants.db")
        with tempfile.TemporaryDirectory() as empty:
            times[f"import {suffix}"] = _cpu(*_PLANTDESK, "import", file, "--database", Path(empty, "plants.db"))
    plants = folder / "plants.csv"
    with tempfile.TemporaryDirectory() as empty, suppress(FileNotFoundError):
        table = "CREATE TABLE plant (id INTEGER PRIMARY KEY, name TEXT, tag TEXT)"
        importing = f".import --skip 1 {plants} plant"
        times["import same csv"] = _cpu(*_PLANTDESK, "import", plants, "--database", Path(empty, "same.db"))
        times["sqlite3 .import"] = _cpu("sqlite3", Path(empty, "plain.db"), table, ".mode csv", importing)
    times["calamine"] = _cpu(sys.executable, "-c", _READ_WORKBOOK, folder / "out.xlsx")
    return times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plants", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "plants.csv").open("w", encoding="utf-8") as stream:
            stream.write("id,name,tag\n")
            stream.writelines(f"{n},Monstera deliciosa {n},room {n % 10}\n" for n in range(1, options.plants + 1))
        _cpu(*_PLANTDESK, "import", folder / "plants.csv", "--database", folder / "plants.db")
        rounds = [_round(folder) for _ in range(options.rounds)]
    times = {name: statistics.median(round_[name] for round_ in rounds) for name in rounds[0]}
    for name, seconds in times.items():
        print(f"{name:18}{seconds:8.2f} s")
    report(_figures(times))


def _figures(times: dict[str, float]) -> Iterator[Figure]:
    for suffix in ("jsonl", "json"):
        for way in ("import", "export"):
            yield Figure(f"{way} {suffix} / csv", times[f"{way} {suffix}"] / times[f"{way} csv"])
    if "sqlite3 .import" in times:
        plain = times["import same csv"] / times["sqlite3 .import"]
        yield Figure("import csv / sqlite3 .import", plain)
    workbook = times["import xlsx"] / (times["calamine"] + times["import csv"])
    yield Figure("import xlsx / (calamine + import csv)", workbook)


if __name__ == "__main__":
    main()
