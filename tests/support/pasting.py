"""Reads the plants of a text as the import of a pasted text does."""

from itertools import chain, islice
from typing import NamedTuple

from plantdesk.domain.imports import ImportRow
from plantdesk.transfer.inputs import open_input, pasted_file, pasted_read_options
from plantdesk.transfer.reading import Refused, RowReader


class Pasted(NamedTuple):
    """The plants of a text, and the rows that are no plants."""

    rows: list[ImportRow]
    refused: list[Refused]


def pasted_plants(text: str, most: int) -> Pasted:
    """Return the first `most` plants of a text."""
    refused: list[Refused] = []
    if not text.strip():
        return Pasted([], [])
    source = pasted_file("clipboard", text)
    reading = pasted_read_options(source.text)
    with open_input(source, reading) as file:
        reader = RowReader(file, 1, reading.columns, refused.append)
        return Pasted([*islice(chain.from_iterable(reader.read_plants()), most)], refused)
