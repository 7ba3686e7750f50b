"""Figures of the benchmarks, and how they compare with those of the last runs of `.ci/release`.

    python -m tests.benchmarks.figures FOLDER

The folder has the output of each step of `.ci/release` in NAME.log, and in steps.tsv name, result and seconds of each.
Prints one table of all steps and figures, and adds the figures to "The last runs" in README.md beside this file. Exits
with 1 where a step has failed, or a figure is more than twice the median of the last runs and 10 ms: machines are busy.
"""

import csv
import re
import statistics
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

_README = Path(__file__).with_name("README.md")
_HEADING = "## The last runs\n"
#: Runs that are kept, and how many times their median a figure may be.
_RUNS, _FACTOR = 10, 2.0
#: Milliseconds more than that, which nobody notices.
_NOTICED_MS = 10
_LINE = re.compile(r"^figure: (.+) = ([\d.]+)$", re.MULTILINE)


class Figure(NamedTuple):
    """A result, of which less is better."""

    name: str
    value: float


def report(figures: Iterable[Figure]) -> None:
    """Print figures as `.ci/release` reads them."""
    for figure in figures:
        print(f"figure: {figure.name} = {figure.value:.3g}")


class Runs:
    """The table of the last runs: a row for each figure, a column for each run, the newest last."""

    def __init__(self, text: str) -> None:
        """Read the table in the text of a README that ends with it."""
        self._before, _, table = text.partition(_HEADING)
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if "|" in line]
        self._days = rows[0][1:] if rows else []
        self._values = {name: values for name, *values in rows[2:]}

    def last(self, name: str) -> list[float]:
        """Return the values of a figure, the newest last."""
        return [float(value) for value in self._values.get(name, []) if value]

    def add(self, day: str, figures: Iterable[Figure]) -> None:
        """Add a run; the oldest goes where there are too many."""
        found = {figure.name: f"{figure.value:.3g}" for figure in figures}
        empty = [""] * len(self._days)
        names = dict.fromkeys([*self._values, *found])
        rows = {name: [*self._values.get(name, empty), found.get(name, "")][-_RUNS:] for name in names}
        self._days = [*self._days, day][-_RUNS:]
        self._values = {name: values for name, values in rows.items() if any(values)}

    def text(self) -> str:
        """Return the text of the README."""
        rows = [["figure", *self._days], ["---", *["--:"] * len(self._days)]]
        rows += [[name, *values] for name, values in self._values.items()]
        return self._before + _HEADING + "\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def is_over(figure: Figure, last: list[float]) -> bool:
    """Return whether a figure is far above those of the last runs; some milliseconds are no difference."""
    median = statistics.median(last or [figure.value])
    return figure.value > _FACTOR * median + (_NOTICED_MS if figure.name.endswith("ms") else 0)


def lines(folder: Path, runs: Runs) -> Iterator[tuple[str, str, str, str]]:
    """Yield what, result, figure and the figure of the last run, for each step and its figures."""
    with (folder / "steps.tsv").open(encoding="utf-8", newline="") as stream:
        for name, result, seconds in csv.reader(stream, delimiter="\t"):
            yield name, result, f"{seconds} s", ""
            for figure in figures_of(folder / f"{name}.log"):
                last = runs.last(figure.name)
                over = "FAILED" if is_over(figure, last) else "passed"
                yield f"  {figure.name}", over, f"{figure.value:.3g}", f"{last[-1]:.3g}" if last else ""


def figures_of(log: Path) -> list[Figure]:
    """Return the figures in the output of a step."""
    found = _LINE.findall(log.read_text(encoding="utf-8", errors="replace"))
    return [Figure(name, float(value)) for name, value in found]


def main() -> int:
    """Print the table and keep the figures."""
    folder = Path(sys.argv[1])
    runs = Runs(_README.read_text(encoding="utf-8"))
    table = [("what", "result", "figure", "last time"), *lines(folder, runs)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        print("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
    figures = [figure for log in sorted(folder.glob("*.log")) for figure in figures_of(log)]
    if figures:
        runs.add(f"{datetime.now(UTC):%m-%d %H:%M}", figures)
        _README.write_text(runs.text(), encoding="utf-8")
    return int(any(result == "FAILED" for _, result, *_ in table))


if __name__ == "__main__":
    sys.exit(main())
