"""Lists of names: text with one on each line, tables, and the classification of World Flora Online."""

from pathlib import Path

import pytest

from plantdesk.transfer.columns import NoColumnError
from plantdesk.transfer.files import input_file
from plantdesk.transfer.formats import UnknownFormatError
from plantdesk.transfer.name_lists import read_names
from plantdesk.transfer.text import FileError

WFO = (
    '"taxonID"\t"scientificNameID"\t"scientificName"\t"taxonRank"\t"scientificNameAuthorship"\t"genus"\t"taxonomicStatus"\n'
    '"wfo-1"\t""\t"Salvia nemorosa"\t"species"\t"L."\t"Salvia"\t"Accepted"\n'
    '"wfo-2"\t""\t"Salvia sylvestris"\t"species"\t"Auct."\t"Salvia"\t"Synonym"\n'
    '"wfo-3"\t""\t"Érica"\t"genus"\t"Tourn. ex L."\t"Érica"\t"Accepted"\n'
)
#: As R writes it, and older releases: without quotes; a quote is text.
PLAIN_WFO = WFO.replace('"', "").replace("Auct.", '"Auct.')
#: GBIF and the Catalogue of Life: authors in the names.
GBIF = (
    "taxonID\tacceptedNameUsageID\tscientificName\tscientificNameAuthorship\tcanonicalName\ttaxonomicStatus\n"
    "1\t\tSalvia nemorosa L.\tL.\tSalvia nemorosa\taccepted\n"
    '2\t1\tSalvia sylvestris "auct.\t"auct.\tSalvia sylvestris\tsynonym\n'
    "3\t\tMentha × piperita L.\tL.\tMentha piperita\taccepted\n"
    "4\t\tRosa x\t\t\tdoubtful\n"
)
COL = (
    "dwc:taxonID\tdwc:taxonomicStatus\tdwc:taxonRank\tdwc:scientificName\tdwc:scientificNameAuthorship\n"
    "A\taccepted\tspecies\tRosa canina L.\tL.\n"
    "B\tprovisionally accepted\tspecies\tRosa dubia Wibel\tWibel\n"
    "C\tambiguous synonym\tspecies\tRosa mala Mill.\tMill.\n"
)
KINGDOMS = (
    "taxonID\tkingdom\tscientificName\n1\tAnimalia\tPanthera leo\n2\tPlantae\tRosa canina\n3\tFungi\tBoletus edulis\n"
    "4\tchromista\tFucus serratus\n5\tBacteria\tBacillus\n6\t\tMentha\n"
)
WCVP = (
    "plant_name_id|taxon_rank|taxon_status|family|genus|primary_author|place_of_publication|taxon_name|taxon_authors\n"
    '1|Species|Accepted|Lamiaceae|Salvia|L.|"Sp. Pl.|Salvia nemorosa|L.\n'
    "2|Species|Synonym|Lamiaceae|Salvia|L.|Sp. Pl.|Salvia sylvestris|L.\n"
    "3|Species|Artificial Hybrid|Lamiaceae|Mentha|L.|Sp. Pl.|Mentha × piperita|L.\n"
    "4|Species|Unplaced|Lamiaceae|Mentha|L.||Mentha odd|\n"
)


def read(folder: Path, name: str, text: str) -> list[str]:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    sizes: list[int] = []
    names = list(read_names(input_file(file), sizes.append))
    assert sum(sizes) == file.stat().st_size
    return names


@pytest.mark.parametrize(
    ("name", "text", "names"),
    [
        ("plain.txt", "Aloe vera\nRosa canina\nÉrable\n", ["Aloe vera", "Rosa canina", "Érable"]),
        ("one.txt", "Aloe vera", ["Aloe vera"]),
        ("words.txt", 'Rose, Dog\nAloe "Vera\nAcer\n', ["Rose, Dog", 'Aloe "Vera', "Acer"]),
        ("words.csv", 'Name\n"Rose, Dog"\nAcer\n', ["Rose, Dog", "Acer"]),
        ("rows.csv", "Aloe,a\nFern,b\n", ["Aloe", "Fern"]),
        ("names.csv", "id,name,tag\n1,Aloe vera,a\n2,Fern,b\n", ["Aloe vera", "Fern"]),
        ("names.csv", "name\nAloe vera\nFern\n", ["Aloe vera", "Fern"]),
        ("classification.csv", WFO, ["Salvia nemorosa", "Érica"]),
        ("classification.txt", WFO, ["Salvia nemorosa", "Érica"]),
        ("classification.csv", PLAIN_WFO, ["Salvia nemorosa", "Érica"]),
        ("Taxon.tsv", GBIF, ["Salvia nemorosa", "Mentha × piperita"]),
        ("taxon.txt", COL, ["Rosa canina", "Rosa dubia"]),
        ("Taxon.tsv", KINGDOMS, ["Rosa canina", "Boletus edulis", "Fucus serratus", "Mentha"]),
        ("wcvp_names.csv", WCVP, ["Salvia nemorosa", "Mentha × piperita"]),
        ("garden.csv", "name,status\nAloe vera,alive\nFern,dead\n", ["Aloe vera", "Fern"]),
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
    for name in ("names.gz", "WFO_Backbone.ZIP"):
        with pytest.raises(UnknownFormatError, match="unpack it first"):
            read(tmp_path, name, "x")


def test_a_list_in_latin_1_is_read_also_where_it_begins_in_ascii(tmp_path: Path) -> None:
    file = tmp_path / "classification.csv"
    plain = "".join(f"wfo-{number}\t\tRosa {number}\tspecies\tL.\tRosa\tSynonym\n" for number in range(3000))
    for text in (PLAIN_WFO, PLAIN_WFO.replace("Érica", "Erica") + plain + "x\t\tRosa é\tspecies\tL.\tRosa\tAccepted\n"):
        file.write_bytes(text.encode("latin-1"))
        left_out: list[int] = []
        names = list(read_names(input_file(file), lambda _count: None, report_left_out=left_out.append))
        assert names[-1] in {"Érica", "Rosa é"}
        assert left_out[-1] == text.count("Synonym")


def test_rows_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    file, left_out = tmp_path / "list.tsv", list[int]()
    wrong = '"Rosa canina"\t"in the "Flora" p. 3"\n'
    file.write_text(f'"scientificName"\t"source"\n"Rosa alba"\t"x"\n{wrong}')
    assert list(read_names(input_file(file), lambda _count: None, report_left_out=left_out.append)) == ["Rosa alba"]
    assert left_out[-1] == 1
    file.write_text(f'"scientificName"\t"source"\n{wrong}')
    with pytest.raises(FileError, match="column 2"):
        list(read_names(input_file(file), lambda _count: None))
