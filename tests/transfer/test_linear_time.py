"""No text makes a reader take longer than in proportion to its length, or fail in another way than with a message."""

import contextlib
from collections.abc import Callable

import pytest

from plantdesk.domain import folding
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.search import parse_search, search_text
from plantdesk.transfer.columns import Columns, find_field
from plantdesk.transfer.files import InputFile
from plantdesk.transfer.formats import Format
from plantdesk.transfer.inputs import ReadOptions, open_input
from plantdesk.transfer.reading import RowReader
from tests.support.costs import cpu_seconds
from tests.support.pasting import pasted_plants

# fmt: off
#: What a hostile text repeats.
UNITS = (
    "a", " ", "\t", "|", "[", "]", "[[", "[[a|", "[](", "[a](", "![](x", "(x)", "*", "**", "**a ", " *a", "*a_b",
    "_a", "__a ", "~~a", "`a", "\\", "\\|", "-", "|-", ":-", "- ", "<", "<a", "<br", "<br ", "</p", "&", "&#", "&#9",
    "9", "&#x", '"', '""', '"a""', '",', '","', "'", ",", ";", ", ", "a\n", "\ta\n", "\n\t", "a,b\n", '"\n', "\r",
    "\r\n", "\0", "-1", "tag:", 'tag:"', ' -tag:"a', "1-", "a\u0300\u0316", "\u0300", "[1,", "{", '{"a":', '{"a":1},',
    '"a",', "_x0000_",
)
# fmt: on
#: What stands before and after it.
AROUND = (("", ""), ("name\n", "x"), ("a | b\n", "x|"), ("a|b\n-|-\n", "|"), ("#html:true\nname\n", "x"), ("[", "]"))
SMALL = 2_000
#: Of the time for a text of four times the length: 4 is linear, 16 quadratic.
MOST = 9


def read(text: str, form: Format, quote: str | None = None) -> None:
    reading = ReadOptions(form, quote=quote, columns=Columns({}, has_header=None))
    with open_input(InputFile("x", text=text), reading) as file:
        for _ in RowReader(file, 1, reading.columns, lambda _: None).read_plants():
            pass


READERS: dict[str, Callable[[str], object]] = {
    "pasted": lambda text: pasted_plants(text, 1_000),
    "csv": lambda text: read(text, Format.CSV),
    "single quotes": lambda text: read(text, Format.CSV, "'"),
    "json": lambda text: read(text, Format.JSON),
    "json lines": lambda text: read(text, Format.JSON_LINES),
    "search": lambda text: search_text(parse_search(text).groups[0] if parse_search(text).groups else ()),
    "folding": lambda text: (folding.fold(text), folding.natural_key(text)),
    "header": find_field,
}


@pytest.mark.timing
@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_no_text_takes_longer_than_in_proportion_to_its_length(reader: Callable[[str], object]) -> None:
    def cost(before: str, unit: str, after: str, size: int) -> float:
        text = before + unit * (size // len(unit)) + after

        def run() -> None:
            with contextlib.suppress(PlantDeskError):
                reader(text)

        return cpu_seconds(run, 1)

    def grows(size: int) -> bool:
        return cost(before, unit, after, 4 * size) > MOST * cost(before, unit, after, size)

    for before, after in AROUND:
        for unit in UNITS:
            # A longer text may be read further, but not at two sizes; the machine may be busy, but not four times.
            assert not all(map(grows, (SMALL, 4 * SMALL) * 2)), (before, unit, after)
