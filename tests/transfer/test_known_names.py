"""The list of known names, found by their beginning."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from plantdesk.domain.errors import PlantDeskError
from plantdesk.transfer.known_names import KnownNames

NAMES = [
    "Salvia nemorosa",
    "Salvia officinalis",
    "Érable",
    "Rosa",
    "Rosa canina",
    "Quercus robur",
    " Salvia  pratensis ",
]


@pytest.fixture
def names(tmp_path: Path) -> KnownNames:
    names = KnownNames(tmp_path / "plants.db-names")
    names.replace(NAMES, "wfo.txt")
    return names


def test_names_are_found_by_their_beginning_without_case_and_accents(names: KnownNames) -> None:
    assert names.beginning("salvia", 9) == ["Salvia nemorosa", "Salvia officinalis", "Salvia pratensis"]
    assert names.beginning("SALVIA O", 9) == ["Salvia officinalis"]
    assert names.beginning("erab", 9) == ["Érable"]
    assert names.beginning("salvia", 2) == ["Salvia nemorosa", "Salvia officinalis"]
    assert names.beginning("x", 9) == []


def test_what_the_list_was_made_of(names: KnownNames) -> None:
    about = names.info()
    assert about is not None
    assert (about.source, about.names) == ("wfo.txt", len(NAMES))
    names.replace(["Oak", "Oak", "", "x" * 501], "oaks.txt")
    about = names.info()
    assert about is not None
    assert (about.source, about.names) == ("oaks.txt", 1)
    assert names.beginning("Salvia", 9) == []


def test_a_list_that_cannot_be_read_to_its_end_leaves_the_one_before(names: KnownNames) -> None:
    def broken() -> Iterator[str]:
        yield "Oak"
        raise InterruptedError

    with pytest.raises(InterruptedError):
        names.replace(broken(), "broken.txt")
    with pytest.raises(PlantDeskError, match="There are no names"):
        names.replace([" "], "empty.txt")
    assert names.beginning("Ros", 9) == ["Rosa", "Rosa canina"]


@pytest.mark.usefixtures("names")
def test_the_file_is_the_users_alone(tmp_path: Path) -> None:
    if os.name == "posix":
        assert (tmp_path / "plants.db-names").stat().st_mode & 0o777 == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["plants.db-names"]


def test_a_foreign_file_is_not_used_and_left_as_it_is(names: KnownNames, tmp_path: Path) -> None:
    file = tmp_path / "plants.db-names"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TRIGGER t AFTER INSERT ON list BEGIN SELECT 1; END")
        connection.commit()
    before = file.read_bytes()
    assert (names.info(), names.beginning("S", 9)) == (None, [])
    assert file.read_bytes() == before
    for content in (b"", b"no database", before[: len(before) // 2]):
        file.write_bytes(content)
        assert (names.info(), names.beginning("S", 9)) == (None, [])


@pytest.mark.usefixtures("names")
def test_a_link_is_not_followed(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "plants.db-names")
    assert KnownNames(link).info() is None
