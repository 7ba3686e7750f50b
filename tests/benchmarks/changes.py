"""Changes of a large store: an import, tags, rewritings, merges and deletes of many plants, and their undo.

    python -m tests.benchmarks.changes [--plants 1000000] [--server]

Prints seconds with the growth of memory. While a change runs, plants are added one after another, as scripts do, to a
store on a server by another desk: all must succeed, and their waits are printed.
"""

import argparse
import itertools
import resource
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

from typing_extensions import override

from plantdesk.domain.duplicates import KeepRule, PlantGroups
from plantdesk.domain.edits import DeleteAll, Edit, MergePlants, Rewrite, SetTag
from plantdesk.domain.errors import StoreBusyError
from plantdesk.domain.imports import ImportRow, OnConflict
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import COMMAND
from plantdesk.domain.rewriting import RewriteRule
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store import location_of
from tests.support.adding import Adding
from tests.support.postgres_server import running_server

#: Settings of a server that flushes each commit.
DURABLE = {"fsync": "on", "full_page_writes": "on", "shared_buffers": "512MB", "max_wal_size": "2GB"}
_SECONDS = 300
_TAGS = 10
_ids = itertools.count(-(10**9))


class MeasuredAdding(Adding):
    """Measures how long each plant waits."""

    pause = 0.02

    def __init__(self, store: PlantStore) -> None:
        super().__init__(store)
        self.waits: list[float] = []

    @override
    def _add(self) -> None:
        start = time.perf_counter()
        plant = new_plant({"id": next(_ids), "name": "Added meanwhile"})
        while True:
            try:
                self._store.add(plant, COMMAND).result(_SECONDS)
                break
            except StoreBusyError:
                """The API answers 503, and a script tries again."""
        self.waits.append(time.perf_counter() - start)


def _fill(store: PlantStore, plants: int) -> None:
    with closing(store.new_import()) as imported:
        for start in range(0, plants, 10_000):
            numbers = range(start, min(start + 10_000, plants))
            imported.add(
                [ImportRow(1, n, n, f"Monstera deliciosa {n // 3}", f"room {n % _TAGS}", None) for n in numbers]
            )
        imported.compare(OnConflict.REFUSE, ("id", "name", "tag"))
        imported.apply("plants.csv")


def _large(store: PlantStore, name: str, make: Callable[[], object]) -> None:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with MeasuredAdding(store) as adding:
        started = time.perf_counter()
        make()
        seconds = time.perf_counter() - started
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1024
    most = "no plant was added meanwhile"
    if waits := sorted(adding.waits):
        most = (
            f"99 % of {len(waits):,} plants wait at most {waits[len(waits) * 99 // 100]:.2f} s, one {waits[-1]:.2f} s"
        )
    print(f"{name}: {seconds:.2f} s, memory +{grown:.0f} MiB, {most}", flush=True)


def _groups(store: PlantStore) -> PlantGroups:
    groups = PlantGroups.of([])
    with closing(store.reader()) as reader:
        for by_tag in (True, False):
            started = time.perf_counter()
            groups = reader.duplicates(by_tag=by_tag)
            print(f"find {len(groups.sizes):,} groups of duplicates: {time.perf_counter() - started:.2f} s")
    return groups


def _measure(store: PlantStore, others: PlantStore, plants: int) -> None:
    _large(others, f"import {plants:,}", lambda: _fill(store, plants))

    def large(name: str, edit: Edit) -> None:
        _large(others, name, lambda: store.apply([edit], COMMAND).result(_SECONDS))
        _large(others, "undo it", lambda: store.undo(None, COMMAND).result(_SECONDS))

    all_plants = Selection(since=0)
    large(f"set the tag of {plants:,}", SetTag(all_plants, "hall"))
    rule = RewriteRule(find="Monstera", replacement="Philodendron", note_line="2026-11-23 renamed")
    large(f"rewrite {plants:,}", Rewrite(all_plants, rule))
    groups = _groups(store)
    large(f"merge {len(groups.sizes):,} groups", MergePlants(groups, KeepRule.LOWEST_ID))
    large(f"delete {plants:,}", DeleteAll(all_plants))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plants", type=int, default=1_000_000)
    parser.add_argument("--server", action="store_true", help="a store on a PostgreSQL server instead of a file")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if options.server:
            location: StoreLocation = stack.enter_context(running_server(DURABLE)).new_store()
        else:
            location = location_of(folder / "plants.db")
        store = stack.enter_context(closing(location.open()))
        others = stack.enter_context(closing(location.open())) if options.server else store
        _measure(store, others, options.plants)


if __name__ == "__main__":
    main()
