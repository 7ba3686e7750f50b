"""What grows with the number of plants, and what does not.

    python -m tests.benchmarks.growth [--plants 10 1000 100000 1000000 10000000] [--rounds 5]

Prints medians in milliseconds for stores of these sizes, measured in turn: a plant of a script until it is durable;
the first rows of a search for a rare word and of a sort by name, by a reader of a window; and opening the store until
its first rows are read. Goal: at most 1.5 times as much with 10,000,000 plants as with 1,000.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.domain.views import Order, View
from plantdesk.store.sqlite.store import Store
from tests.benchmarks.views import fill

_POSTS = 200


class Row(NamedTuple):
    """The figures of one store, in milliseconds."""

    post: float
    search: float
    sort: float
    start: float


class Growing:
    """A store of so many plants."""

    def __init__(self, folder: Path, plants: int, stack: ExitStack) -> None:
        self._path = folder / f"{plants}.db"
        self._next_id = -1
        fill(self._path, plants)
        self._store = stack.enter_context(closing(Store(self._path)))
        self._source = self._store.tokens.create("load").result().row.source

    def measure(self) -> Row:
        """Measure everything once."""
        post = statistics.median(_timed(self._post) for _ in range(_POSTS))
        with closing(self._store.reader()) as reader:
            next(reader.ids(View()))
            search = _timed(lambda: next(reader.ids(View(parse_search("rarissima"))), None))
            sort = _timed(lambda: next(reader.ids(View(Selection(), Order.NAME, descending=False))))
        return Row(post, search, sort, _timed(self._start))

    def _post(self) -> None:
        self._next_id -= 1
        self._store.add(new_plant({"id": self._next_id, "name": "Posted"}), self._source).result()

    def _start(self) -> None:
        with closing(Store(self._path)) as store, closing(store.reader()) as reader:
            next(reader.ids(View()))


def _timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plants", type=int, nargs="+", default=[10, 1_000, 100_000, 1_000_000, 10_000_000])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        stores = {plants: Growing(Path(folder), plants, stack) for plants in options.plants}
        rounds = [{plants: store.measure() for plants, store in stores.items()} for _ in range(options.rounds)]
        print(f"{'plants':>12}{'post':>10}{'search':>10}{'sort':>10}{'start':>10}   ms")
        for plants in stores:
            medians = [statistics.median(column) for column in zip(*(each[plants] for each in rounds), strict=True)]
            print(f"{plants:>12,}" + "".join(f"{median:10.2f}" for median in medians))


if __name__ == "__main__":
    main()
