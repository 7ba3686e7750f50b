"""Offers of names while one types: `python -m tests.benchmarks.names [--plants 100000] [--names 500000] [--keys 300]`.

Prints median and 90th percentile in milliseconds of what a key asks for, the names of the plants and then those of the
list (goal: 16 each), and of what a pause asks for where nothing begins so: names of both that are spelt alike.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from plantdesk.store import KnownNames, location_of
from plantdesk.ui.plants.name_completion import MAX_OFFERS
from tests.benchmarks.views import fill, summary

_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "lin", "mar", "phyl")


def _names(count: int, chance: random.Random) -> Iterator[str]:
    """Yield botanical names: genera have many species."""
    genera = ["".join(chance.choices(_SYLLABLES, k=3)).capitalize() for _ in range(max(count // 30, 1))]
    for _ in range(count):
        yield f"{chance.choice(genera)} {''.join(chance.choices(_SYLLABLES, k=4))}"


def _seconds(ask: Callable[[str, int], object], text: str, limit: int) -> float:
    begun = time.perf_counter()
    ask(text, limit)
    return time.perf_counter() - begun


def main() -> None:
    """Make plants and a list, type names of it, and misspell them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("--plants", 100_000), ("--names", 500_000), ("--keys", 300)):
        parser.add_argument(name, type=int, default=default)
    options = parser.parse_args()
    chance = random.Random(1)
    with tempfile.TemporaryDirectory(prefix="names-") as name:
        file = Path(name) / "plants.db"
        with closing(location_of(file).open()) as store:
            fill(file, options.plants)
            listed = [*_names(options.names, chance)]
            names = KnownNames(Path(name) / "names.db")
            begun = time.perf_counter()
            print(f"{names.replace(listed, 'list').names:,} names made in {time.perf_counter() - begun:.1f} s")
            own, keys, pauses = [], [], []
            with closing(store.reader()) as reader:
                for _ in range(options.keys):
                    word = chance.choice(listed)
                    start, misspelt = word[: chance.randint(1, len(word))], word[:4] + word[5:]
                    own.append(_seconds(reader.known_names, start, MAX_OFFERS))
                    keys.append(_seconds(names.beginning, start, MAX_OFFERS))
                    pauses.append(_seconds(reader.near_names, misspelt, 3))
    print(f"a key: names of plants {summary(own)} ms, of the list {summary(keys)} ms")
    print(f"a misspelt name: names of plants {summary(pauses)} ms")


if __name__ == "__main__":
    main()
