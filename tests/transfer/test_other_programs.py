"""Files of other programs, made by the rules of their formats, recognised by their headers."""

from pathlib import Path

import pytest

from plantdesk.transfer.text import FileError
from tests.conftest import Refused
from tests.support.pasting import pasted_plants
from tests.transfer.conftest import import_files

OPEN_GARDEN_PLANNER = (
    "name,type,variety_cultivar,planting_date,current_spread_cm,current_height_cm,position_x_cm,position_y_cm,notes,"
    "scientific_name,common_name,family,cycle,flower_type,pollination_type,max_height_cm,max_spread_cm,sun_requirement,"
    "water_needs,hardiness_zone_min,hardiness_zone_max,edible,edible_parts,data_source\r\n"
    'Apple 1,Tree,Boskoop,2026-03-01,120,,310.5,-20.0,"by the wall, ""old""",Malus domestica,Apple,Rosaceae,,,,,,,,,,'
    'True,"fruit, seed",custom\r\n'
    "Aster,Perennial,,,,,1.0,2.0,,,,,,,,,,,,,,,,\r\n"
)


def test_the_plant_list_of_open_garden_planner_is_read(tmp_path: Path) -> None:
    file = tmp_path / "plants.csv"
    file.write_bytes(OPEN_GARDEN_PLANNER.encode())
    assert import_files(str(file)) == [(1, "Apple 1", "Tree", 'by the wall, "old"'), (2, "Aster", "Perennial", None)]


MARKDOWN = "| name | tag |\n|:---|---|\n| [Aster](https://a.b/c) | bed 4 |\n"


def test_tables_in_markdown_are_refused(tmp_path: Path, refused: Refused) -> None:
    for name, reason in (("note.txt", "It is a table in Markdown."), ("note.md", "as CSV")):
        (tmp_path / name).write_text(MARKDOWN, encoding="utf-8")
        assert reason in refused("import", str(tmp_path / name))
    with pytest.raises(FileError, match="Copy the table as it is shown"):
        pasted_plants(MARKDOWN, 100)


@pytest.mark.parametrize("first", ["#separator:tab", "#html:true", "#notetype column:2"])
def test_notes_of_anki_are_refused(tmp_path: Path, refused: Refused, first: str) -> None:
    file = tmp_path / "notes.txt"
    file.write_text(f"{first}\n#tags column:3\nAster &amp; <b>Co</b>\tsunny\tbed4\n", encoding="utf-8")
    assert "It is an export of Anki." in refused("import", "--no-header", "--map", "name=1", str(file))


def test_quotes_of_darwin_core_are_text(tmp_path: Path) -> None:
    file = tmp_path / "occurrence.txt"
    header = "gbifID\toccurrenceID\tgenus\tspecies\tscientificName\tlocality\trecordNumber"
    rows = [
        '49\tx:1\tBetula\tBetula pendula\tB. pendula Roth\t"Alter" Wald, Süd\t',
        '50\tx:2\tRosa\tRosa canina\t\t"Alt\t7',
    ]
    file.write_text("\n".join([header, *rows]), encoding="utf-8")
    assert import_files(str(file), "--map", "id=gbifID", "--map", "note=locality") == [
        (49, "Betula pendula", None, '"Alter" Wald, Süd'),
        (50, "Rosa canina", None, '"Alt'),
    ]


def test_observations_of_inaturalist_are_read(tmp_path: Path) -> None:
    file = tmp_path / "observations-1.csv"
    file.write_text(
        "id,observed_on,quality_grade,tag_list,description,place_guess,species_guess,scientific_name,common_name,taxon_id\n"
        '7,2026-05-01,research,,"Bed 4, sunny","Ulm, DE",Dog Rose,Rosa canina,Dog-rose,53438\n',
        encoding="utf-8",
    )
    assert import_files(str(file)) == [(7, "Rosa canina", None, "Bed 4, sunny")]
