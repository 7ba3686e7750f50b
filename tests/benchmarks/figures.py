"""What the benchmarks of CI require of their results: `--require 0.5` fails below half of the goals.

A result is a quotient of medians of rounds that were run in turn, or the best of some rounds: a busy machine slows all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import argparse


class Figure(NamedTuple):
    """A result, of which less is better, and its goal. `reached` is what was measured where the goal is missed."""

    name: str
    value: float
    goal: float
    reached: float = 0.0

    def limit(self, part: float) -> float:
        """Return the largest value that is `part` as good as the goal, or as what was reached."""
        return max(self.goal, self.reached) / part


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add the option --require."""
    parser.add_argument("--require", type=float, metavar="PART", help="fail below that part of the goals")


def require(figures: Iterable[Figure], part: float | None) -> None:
    """End with exit code 1 where a figure is over its limit; None requires nothing."""
    over = [] if part is None else [each for each in figures if each.value > each.limit(part)]
    if part is not None and over:
        texts = (f"{each.name}: {each.value:.2f}, at most {each.limit(part):.2f}" for each in over)
        raise SystemExit(f"Below {part} of the goals: {'; '.join(texts)}")
