"""Why WAL with synchronous=FULL: commits a second by journal mode, and how long a commit waits for a reader's search.

    python tests/benchmarks/journal.py [FOLDER]

All modes shown survive a power cut (those that do not, WAL + NORMAL and DELETE + FULL among them, are no candidates).
Rounds are interleaved; medians are printed. FOLDER should lie on a real disk.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

_MODES = (("WAL", "FULL"), ("TRUNCATE", "FULL"), ("TRUNCATE", "EXTRA"))
_GROUPS = (1, 8, 64)
_ROUNDS = 5
_COMMITS = 60
_ROWS_SEARCHED = 500_000


def opened(path: Path, journal: str, synchronous: str) -> sqlite3.Connection:
    """Open a database with one of the modes."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=60, check_same_thread=False)
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("CREATE TABLE IF NOT EXISTS plant (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
    return connection


def commits(connection: sqlite3.Connection, group: int, count: int) -> list[float]:
    """Make commits of `group` rows each; return how long each took, in seconds."""
    rows = ",".join(["('Monstera deliciosa')"] * group)
    times = []
    for _ in range(count):
        start = time.perf_counter()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"INSERT INTO plant (name) VALUES {rows}")
        connection.execute("COMMIT")
        times.append(time.perf_counter() - start)
    return times


def longest_wait_beside_a_search(path: Path, journal: str, synchronous: str) -> float:
    """Return the longest commit in seconds while another connection searches without a pause."""
    with closing(opened(path, journal, synchronous)) as writing, closing(opened(path, journal, synchronous)) as reading:
        writing.execute(
            "INSERT INTO plant (name) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?)"
            " SELECT 'Monstera ' || i FROM n",
            (_ROWS_SEARCHED,),
        )
        done = threading.Event()

        def search() -> None:
            while not done.is_set():
                reading.execute("SELECT count(*) FROM plant WHERE name LIKE '%zz%'").fetchone()

        searching = threading.Thread(target=search)
        searching.start()
        longest = max(commits(writing, 1, _COMMITS))
        done.set()
        searching.join()
        return longest


def main() -> None:
    """Measure all modes and print the times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    with tempfile.TemporaryDirectory(dir=parser.parse_args().folder) as name:
        folder = Path(name)
        rates: dict[tuple[str, str, int], list[float]] = {}
        for number in range(_ROUNDS):
            for journal, synchronous in _MODES:
                for group in _GROUPS:
                    path = folder / f"{journal}-{synchronous}-{group}-{number}.db"
                    with closing(opened(path, journal, synchronous)) as connection:
                        rate = _COMMITS / sum(commits(connection, group, _COMMITS))
                    rates.setdefault((journal, synchronous, group), []).append(rate)
        for journal, synchronous in _MODES:
            figures = [statistics.median(rates[journal, synchronous, group]) for group in _GROUPS]
            wait = longest_wait_beside_a_search(folder / f"{journal}-{synchronous}.db", journal, synchronous)
            shown = ", ".join(f"{group} rows: {rate:5.0f}/s" for group, rate in zip(_GROUPS, figures, strict=True))
            print(f"{journal:8} {synchronous:5}  {shown}   longest commit beside a search: {wait * 1000:6.0f} ms")


if __name__ == "__main__":
    main()
