"""Lists of names: text with one on each line, tables, and the classification of World Flora Online."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plantdesk.transfer.columns import NoColumnError
from plantdesk.transfer.files import file_source
from plantdesk.transfer.formats import UnknownFormatError
from plantdesk.transfer.name_lists import names_of

if TYPE_CHECKING:
    from pathlib import Path

WFO = (
    '"taxonID"\t"scientificNameID"\t"scientificName"\t"taxonRank"\t"scientificNameAuthorship"\t"genus"\t"taxonomicStatus"\n'
    '"wfo-1"\t""\t"Salvia nemorosa"\t"species"\t"L."\t"Salvia"\t"Accepted"\n'
    '"wfo-2"\t""\t"Salvia sylvestris"\t"species"\t"Auct."\t"Salvia"\t"Synonym"\n'
    '"wfo-3"\t""\t"Érica"\t"genus"\t"Tourn. ex L."\t"Érica"\t"Accepted"\n'
)


def read(folder: Path, name: str, text: str) -> list[str]:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    sizes: list[int] = []
    names = list(names_of(file_source(file), sizes.append))
    assert sum(sizes) == file.stat().st_size
    return names


@pytest.mark.parametrize(
    ("name", "text", "names"),
    [
        ("plain.txt", "Aloe vera\nRosa canina\nÉrable\n", ["Aloe vera", "Rosa canina", "Érable"]),
        ("one.txt", "Aloe vera", ["Aloe vera"]),
        ("names.csv", "id,name,tag\n1,Aloe vera,a\n2,Fern,b\n", ["Aloe vera", "Fern"]),
        ("names.csv", "name\nAloe vera\nFern\n", ["Aloe vera", "Fern"]),
        ("classification.csv", WFO, ["Salvia nemorosa", "Érica"]),
        ("classification.txt", WFO, ["Salvia nemorosa", "Érica"]),
        ("names.tsv", "species\tfamily\nAloe vera\tAsphodelaceae\n", ["Aloe vera"]),
        ("names.json", '[{"name": "Aloe vera"}, {"name": "Fern"}]', ["Aloe vera", "Fern"]),
    ],
)
def test_names_are_read(tmp_path: Path, name: str, text: str, names: list[str]) -> None:
    assert read(tmp_path, name, text) == names


def test_a_table_needs_a_column_of_names(tmp_path: Path) -> None:
    with pytest.raises(NoColumnError):
        read(tmp_path, "prices.csv", "price,stock\n1,2\n3,4\n")


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownFormatError):
        read(tmp_path, "names.zip", "x")
