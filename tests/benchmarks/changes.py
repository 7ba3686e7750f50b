"""Changes of a large store: deleting all plants, undoing that, merging duplicates, renaming a tag, and single edits.

    python -m tests.benchmarks.changes [--plants 1000000]

Prints seconds for the large changes with the growth of memory, and medians in milliseconds for single ones. While a
large change runs, plants are added one after another, as scripts do: all must succeed, and their waits are printed.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plantdesk.domain.duplicates import Kept, PlantGroups
from plantdesk.domain.edits import DeleteAll, MergePlants, Rewrite, SetTag, edited
from plantdesk.domain.records import COMMAND
from plantdesk.domain.rewriting import Rule
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.store import Store
from tests.support.adding import add_each

if TYPE_CHECKING:
    from concurrent.futures import Future
    from typing import Self

_SECONDS = 300
_ROUNDS = 50
_TAGS = 10
_ids = itertools.count(-(10**9))


class Adding:
    """Adds plants until the end of a block, and measures how long each waits."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.waits: list[float] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(0.02):
            start = time.perf_counter()
            self._store.add(new_plant({"id": next(_ids), "name": "Added meanwhile"}), COMMAND).result(_SECONDS)
            self.waits.append(time.perf_counter() - start)


def _fill(store: Store, plants: int) -> None:
    for start in range(0, plants, 2000):
        entries = [
            (new_plant({"id": n, "name": f"Monstera deliciosa {n // 3}", "tag": f"room {n % _TAGS}"}), COMMAND)
            for n in range(start, min(start + 2000, plants))
        ]
        add_each(store, entries)


def _large(store: Store, name: str, start: Callable[[], Future[Any]]) -> None:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with Adding(store) as adding:
        started = time.perf_counter()
        start().result(_SECONDS)
        seconds = time.perf_counter() - started
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1024
    waits = sorted(adding.waits)
    most = f"99 % of {len(waits):,} plants wait at most {waits[len(waits) * 99 // 100]:.2f} s, one {waits[-1]:.2f} s"
    print(f"{name}: {seconds:.2f} s, memory +{grown:.0f} MiB, {most}", flush=True)


def _single(store: Store) -> None:
    times: dict[str, list[float]] = {"edit": [], "delete": [], "undo": []}
    with closing(store.reader()) as reader:
        for plant_id in range(0, _ROUNDS * 100, 100):
            row = reader.plant(plant_id)
            assert row is not None
            edits = {"edit": edited(row, note="Water on Mondays"), "delete": DeleteAll(Selection(ids=[plant_id]))}
            for name, edit in edits.items():
                times[name].append(_timed(lambda edit=edit: store.apply([edit], COMMAND)))  # type: ignore[misc]
            times["undo"].append(_timed(lambda: store.undo(None, COMMAND)))
    for name, each in times.items():
        print(f"single {name}: median {statistics.median(each) * 1000:.2f} ms")


def _merge(store: Store) -> None:
    groups = PlantGroups.of([])
    with closing(store.reader()) as reader:
        for by_tag in (True, False):
            started = time.perf_counter()
            groups = reader.duplicates(by_tag=by_tag)
            print(f"find {len(groups.sizes):,} groups of duplicates: {time.perf_counter() - started:.2f} s")
    edit = MergePlants(groups, Kept.LOWEST_ID)
    _large(store, f"merge {len(groups.sizes):,} groups", lambda: store.apply([edit], COMMAND))
    _large(store, "undo it", lambda: store.undo(None, COMMAND))


def _timed(start: Callable[[], Future[Any]]) -> float:
    started = time.perf_counter()
    start().result(_SECONDS)
    return time.perf_counter() - started


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plants", type=int, default=1_000_000)
    plants = parser.parse_args().plants
    with tempfile.TemporaryDirectory() as folder, closing(Store(Path(folder) / "plants.db")) as store:
        _fill(store, plants)
        _single(store)
        tag = parse_search("tag=room 1")
        _large(store, f"rename a tag of {plants // _TAGS:,}", lambda: store.apply([SetTag(tag, "hall")], COMMAND))
        _large(store, "undo it", lambda: store.undo(None, COMMAND))
        all_plants = Selection(since=0)
        rule = Rule(find="Monstera", replacement="Philodendron", note_line="2026-11-23 renamed")
        _large(store, f"rewrite {plants:,}", lambda: store.apply([Rewrite(all_plants, rule)], COMMAND))
        _large(store, "undo it", lambda: store.undo(None, COMMAND))
        _merge(store)
        _large(store, f"delete {plants:,}", lambda: store.apply([DeleteAll(all_plants)], COMMAND))
        _large(store, "undo it", lambda: store.undo(None, COMMAND))


if __name__ == "__main__":
    main()
