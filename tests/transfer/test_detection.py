"""What an import finds out about a file, and says of it: columns, encoding, delimiter, format."""

import json
import zipfile
from pathlib import Path

import pytest

from plantdesk.cli.main import main
from plantdesk.transfer.columns import _FIELDS_BY_HEADER, HEADERS, Columns, find_layout
from plantdesk.transfer.name_parts import normalize_header
from tests.conftest import Refused
from tests.transfer.conftest import Imported, Write, import_files, names_of, stored, write_workbook

_DARWIN_CORE = "genus,specificEpithet,taxonRank,infraspecificEpithet"


def form_of(content: str) -> str:
    """Return the suffix of a file for what begins so."""
    return {"[": "json", "{": "jsonl"}.get(content[0], "csv")


#: Files, and the names of the plants in them.
NAMES = {
    "headers of plant lists": [
        ("genus,species,scientificName\nx,y,Acer\n", "Acer"),
        ("Scientific_Name,family\nAcer,x\n", "Acer"),
        ("price,Cultivar\n3,Acer\n", "Acer"),
        ("Art;Deutscher Name\nx;Acer\n", "Acer"),
        ("Art;Sorte\nx;Acer\n", "Acer"),
        ("Famille;Espèce\nx;Acer\n", "Acer"),
        ("Nom commun;Genre\nAcer;x\n", "Acer"),
        ("Género;Nombre científico\nx;Acer\n", "Acer"),
        ("species,name\nx,Acer\n", "Acer"),
    ],
    "put together": [
        ("Genus,Species\nAcer,palmatum\n", "Acer palmatum"),
        ("Art;Gattung\npalmatum;Acer\n", "Acer palmatum"),
        ("Gattung;Sorte\nAcer;Osakazuki\n", "Acer ‘Osakazuki’"),
        ("cultivar\tgenus\nOsakazuki\tAcer\n", "Acer ‘Osakazuki’"),
        ("Genre|Espèce\nAcer|palmatum\n", "Acer palmatum"),
        ('[{"genus": "Acer", "species": "palmatum"}]', "Acer palmatum"),
        ('{"species": "palmatum", "genus": "Acer", "id": "7"}\n', "Acer palmatum"),
        ("Género;Especie;Variedad\nAcer;palmatum;dissectum\n", "Acer palmatum var. dissectum"),
        ("Genus,Variety\nAcer,Osakazuki\n", "Acer ‘Osakazuki’"),
        ("genus,specificEpithet,infraspecificEpithet\nAcer,palmatum,dissectum\n", "Acer palmatum dissectum"),
        ("Genus,Species,Subspecies\nPinus,nigra,salzmannii\n", "Pinus nigra subsp. salzmannii"),
        ("Genus,Species,Subspecies,Form\nAcer,rubrum,,pallidum\n", "Acer rubrum f. pallidum"),
        ("Genus,Species,Form\nAcer,rubrum,tree\n", "Acer rubrum"),
        ("Genus;Species;Rank;Epithet\nAcer;palmatum;subsp.;amoenum\n", "Acer palmatum subsp. amoenum"),
        ("Genus;Epithet\nUlmus;glabra\n", "Ulmus glabra"),
        ("Genus,Hybrid,Species\nMentha,x,piperita\n", "Mentha × piperita"),
        ("Genus,Hybrid,Species\nMentha,hybrid,piperita\n", "Mentha × piperita"),
        ("Genus,Hybrid,Species\nMentha,no,arvensis\n", "Mentha arvensis"),
        ("Genus,Hybrid,Species\nRosa,x,\n", "Rosa"),
    ],
    "ranks of Darwin Core": [
        (f"{_DARWIN_CORE}\nPinus,nigra,SUBSPECIES,laricio\n", "Pinus nigra subsp. laricio"),
        (f"{_DARWIN_CORE}\nPinus,nigra,SPECIES,\n", "Pinus nigra"),
    ],
    "a whole name beside its parts": [
        ("Genus,Species,Common name\nAcer,palmatum,Japanese maple\n", "Acer palmatum"),
        ("Gattung;Art;Botanischer Name\nAcer;palmatum;Acer rubrum\n", "Acer rubrum"),
        ("genus,species\nAcer,Acer palmatum\n", "Acer palmatum"),
        ("genus,cultivar\nAcer,\n", "Acer"),
        ("Botanical name,Cultivar\nAcer palmatum,Garnet\n", "Acer palmatum ‘Garnet’"),
        ("Botanical name,Cultivar\nAcer palmatum ‘Osakazuki’,Osakazuki\n", "Acer palmatum ‘Osakazuki’"),
        ("Botanical name,Cultivar\nAcer rubrum,\n", "Acer rubrum"),
        ("Botanical name,Cultivar\nPeace rose,Peace\n", "Peace rose"),
    ],
}


@pytest.mark.parametrize(("content", "name"), [pair for pairs in NAMES.values() for pair in pairs])
def test_the_name_of_a_plant_is_found(imported: Imported, content: str, name: str) -> None:
    assert names_of(imported(content, name=f"a.{form_of(content)}")) == [name]


TAGS = "Znacznik Etikett Метка タグ Mots-clés Schlagwörter štítek"
PLACES = "Room Bed Place Location Zimmer Beet Platz Standort Pièce Massif Lieu Habitación Arriate Sitio Ubicación"


@pytest.mark.parametrize("header", f"{TAGS} {PLACES}".split())
def test_headers_of_tags_and_places_are_known(imported: Imported, header: str) -> None:
    assert imported(f"name;{header};c0\nAster;bed;v\n") == [(1, "Aster", "bed", None)]


@pytest.mark.parametrize(
    "header",
    [
        *("Nummer;Naam;Categorie;Opmerking", "Numero;Nome;Categoria;Osservazioni", "Número;Nome;Categoria;Observação"),
        *("Numer;Nazwa;Kategoria;Uwagi", "Číslo;Název;Kategorie;Poznámka", "Sorszám;Név;Címke;Megjegyzés"),
        *("Nummer;Namn;Kategori;Anteckning", "Nr;Navn;Gruppe;Bemærkning", "Nr.;Navn;Sted;Merknad"),
        "Tunnus;Nimi;Paikka;Huomautus",
    ],
)
def test_headers_of_many_languages_are_known(imported: Imported, header: str) -> None:
    assert imported(f"{header}\n7;Aster;bed;wet\n") == [(7, "Aster", "bed", "wet")]


def test_no_header_has_two_meanings() -> None:
    headers = [normalize_header(each).replace(" ", "") for field in HEADERS.values() for each in field.split("|")]
    assert len(set(headers)) == len(headers) == len(_FIELDS_BY_HEADER)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("My plants 2026\nID;Name;Tag\n", 1),
        ("Pflanzen\n\nID;Name;Tag\n", 2),
        ('My plants, all beds\n\n# of 2026\n\n"ID";"Name"\n', 4),
        ("Pflanzenliste 2026;;\n;;\nNr;Pflanze;Beet\n", 2),
        ("My plants\t\t\nID\tName\tTag\n", 1),
    ],
)
def test_a_title_above_the_header_is_found(
    write: Write, text: str, rows: int, capfd: pytest.CaptureFixture[str]
) -> None:
    file = write(text + "7{}Fern\n".format("\t" if "\t" in text else ";"))
    assert [row[:2] for row in import_files(file, "--json")] == [(7, "Fern")]
    printed = capfd.readouterr()
    assert json.loads(printed.out)["files"][0]["title_rows"] == rows
    assert f"{rows} row" in printed.err
    assert "above the header" in printed.err


@pytest.mark.parametrize("options", [[], ["--skip-lines", "1"]], ids=["found", "skipped"])
def test_a_title_above_the_header_of_a_workbook_is_left_out(tmp_path: Path, options: list[str]) -> None:
    file = write_workbook(tmp_path / "plants.xlsx", [["My plants"], [], ["id", "name"], [8, "Ivy"]])
    assert [row[:2] for row in import_files(file, *options)] == [(8, "Ivy")]


@pytest.mark.parametrize(
    ("content", "options", "plants"),
    [
        ("Fern\nid;name\n", ["--no-header", "--map", "name=1", "--skip-invalid"], ["Fern", "id"]),
        ("My plants\n# 2026, all beds\n\nid,name\n7,Fern\n", ["--skip-lines", "2"], ["Fern"]),
        ("Acer,palmatum,7\n", ["--no-header", "--map", "name=1+2", "--map", "id=3"], ["Acer palmatum"]),
        ("a,b,c\nAcer,palmatum,red\n", ["--map", "name=b+a"], ["palmatum Acer"]),
        ("Cultivar,Genus\nAtro,Acer\n", ["--map", "name=Genus+Cultivar"], ["Acer ‘Atro’"]),
        ("Genus,Species,Family\nAcer,palmatum,Sapindaceae\n", ["--map", "name=Family"], ["Sapindaceae"]),
        ("Genus,Species\nAcer,palmatum\n", ["--map", "name=Species"], ["palmatum"]),
        ("a+b,a,b\nAcer,palmatum,red\n", ["--map", "name=a+b"], ["Acer"]),
        ('[{"genus": "Acer", "species": "palmatum", "place": "bed"}]', ["--map", "name=place+genus"], ["bed Acer"]),
        ("name\nid;name\nFern\n", [], ["id;name", "Fern"]),  # a header is no title
        ("name;tag\nname;\nid;name\n", [], ["name", "id"]),
        ("name,price\nFern,\nname,tag\n", [], ["Fern", "name"]),
    ],
)
def test_header_and_columns_can_be_chosen(
    imported: Imported, content: str, options: list[str], plants: list[str]
) -> None:
    assert names_of(imported(content, *options, name=f"a.{form_of(content)}")) == plants


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("1,Роза\n2,Лаванда узколистная\n", "cp1251"),
        ("1,薔薇\n2,朝顔\n3,アジサイ\n", "shift_jis"),
        ("1,玫瑰\n2,牡丹\n", "gb18030"),
        ("1,장미\n2,무궁화\n", "euc_kr"),
        ("1,Τριαντάφυλλο\n", "iso8859-7"),
        *((f"1,Fern\n2,{name}\n", "shift_jis") for name in ("菊", "竹", "松", "アジサイ")),
        *((f"1,Fern\n2,{name}\n", "cp1250") for name in ("Róża", "Żółty", "Třešeň", "Šeřík", "Zieleń pąk")),
        ("1,Ağaç\n2,Gül\n", "cp1254"),
        ("1,Gänseblümchen\n", "cp850"),
    ],
)
def test_letters_that_are_hardly_western_are_refused_unless_the_encoding_is_chosen(
    write: Write, text: str, encoding: str, refused: Refused
) -> None:
    file = write(f"id,name\n{text}".encode(encoding))
    assert "choose its encoding" in refused("import", file)
    assert main(["import", file, "--encoding", encoding]) == 0
    assert [f"{number},{name}\n" for number, name, *_ in stored()] == text.splitlines(keepends=True)


@pytest.mark.parametrize(
    "name",
    [
        "Rosé d’été – ‘Étoile’ 5 °C",
        "L'ÉTÉ À L'ŒUVRE",
        "São João, maçã",
        "Müller’s “Große” × ½ m²",
        "Kirschlorbeer, Öl",
        "hêtre, Röse, Perejil común, Phœnix",
        "Jabón ¿qué? nº 3, 5 m³",
        "Rødgran, blåbær",
    ],
)
def test_western_names_are_read(imported: Imported, name: str) -> None:
    assert names_of(imported(f"tag;name\n;{name}\n".encode("cp1252"))) == [name]


@pytest.mark.parametrize("name", ["plants.csv.gz", "plants.ods", "plants.xls", "plants.zip", "plants.parquet"])
def test_other_formats_are_refused_with_what_to_do(write: Write, name: str, refused: Refused) -> None:
    printed = refused("import", write(b"x", name))
    assert "unpack it first" in printed or "Save it as" in printed
    assert "--format" not in printed


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("xl/workbook.bin", "It is a damaged Excel workbook, or another file that is named like one."),
        (None, "It is empty (0 bytes), not an Excel workbook. Save it or copy it again."),
    ],
)
def test_other_files_named_like_workbooks_are_refused(
    part: str | None, message: str, tmp_path: Path, refused: Refused
) -> None:
    file = tmp_path / "plants.xlsx"
    file.touch()
    if part is not None:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(part, "x")
    assert message in refused("import", str(file))


@pytest.mark.parametrize("name", ["folder", "folder.csv", "folder.xlsx", "folder.db"])
def test_a_folder_is_named(name: str, tmp_path: Path, refused: Refused) -> None:
    (tmp_path / name).mkdir()
    assert "It is a folder. Name the files in it instead." in refused("import", str(tmp_path / name))


def test_the_summary_says_how_each_file_was_read(
    write: Write, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    guessed = write("Sorte;Preis;Nr.\nRöse;4,90;1\n".encode("cp1252"), "a.csv")
    objects = write('{"plant": "Fern", "height": 3}\n{"plant": "Ivy", "leaf": 1}\n', "b.jsonl")
    workbook = write_workbook(tmp_path / "c.xlsx", [["name", "x"], ["Moss", 1]])
    assert main(["import", guessed, objects, workbook, "--json", "--dry-run"]) == 0
    printed = capfd.readouterr()
    for line in (
        "a.csv: CSV; cp1252, a guess, as in “Röse”: --encoding sets another; delimiter semicolon; ",
        "id from “Nr.”, name from “Sorte”",
        "; not read: “Preis”\n",
        "b.jsonl: JSON Lines; utf-8; name from “plant”; not read: “height”, “leaf”",
        "c.xlsx: XLSX; name; not read: “x”",
    ):
        assert line in printed.err
    files = json.loads(printed.out)["files"]
    assert [file["encoding"] for file in files] == ["cp1252", "utf-8", None]
    assert [file["encoding_guessed"] for file in files] == [True, False, False]
    assert [file["doubtful_cell"] for file in files] == ["Röse", None, None]
    assert [file["delimiter"] for file in files] == [";", None, None]
    assert files[0]["columns"] == {"id": "Nr.", "name": "Sorte"}
    assert files[1]["ignored"] == ["height", "leaf"]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("ID,Name\nPL0001,Fern\nPL0002,Ivy\n7,Rose\n", "a.csv"),
        ("ID|Name\nPL0001|Fern\nPL0001|Ivy\ntomato-1|Rose\n", "a.txt"),
        ('[{"ID": "PL0001", "Name": "Fern"}, {"ID": "PL0001", "Name": "Ivy"}, {"Name": "Rose"}]', "a.json"),
        ('{"ID": "PL0001", "Name": "Fern"}\n{"Name": "Ivy"}\n{"ID": "2019-7", "Name": "Rose"}\n', "a.jsonl"),
    ],
)
def test_codes_are_no_ids(write: Write, content: str, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert [row[:2] for row in import_files(write(content, name), "--json")] == [(1, "Fern"), (2, "Ivy"), (3, "Rose")]
    printed = capfd.readouterr()
    assert "ID: codes such as PL0001, not numbers: new IDs; --map note=ID keeps them in the note" in printed.err
    assert json.loads(printed.out)["files"][0]["codes"] == {"column": "ID", "example": "PL0001"}


def test_codes_are_kept_in_the_note_if_that_is_chosen(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    file = write("Plant ID;Name;Notes\nSBC-1;Fern;wet\n", "a.csv")
    assert main(["import", file, "--dry-run"]) == 0
    assert "--map 'note=Plant ID' keeps them in the note, in place of “Notes”" in capfd.readouterr().err
    objects = write('{"id": "SBC-2", "name": "Ivy"}\n', "b.jsonl")
    assert main(["import", file, "--map", "note=Plant ID"]) == main(["import", objects, "--map", "note=id"]) == 0
    assert stored() == [(1, "Fern", None, "SBC-1"), (2, "Ivy", None, "SBC-2")]
    assert "codes" not in capfd.readouterr().err


@pytest.mark.parametrize("rows", ["1,Fern\nPL2,Ivy\n3,Rose\n", "1.000,Fern\n1.001,Ivy\n"])
def test_where_most_ids_are_numbers_others_are_invalid(write: Write, rows: str) -> None:
    assert main(["import", write(f"id,name\n{rows}")]) == 1
    assert stored() == []


def test_an_id_that_is_chosen_is_no_code(write: Write) -> None:
    assert main(["import", write("code,name\nPL1,Fern\n"), "--map", "id=code"]) == 1


@pytest.mark.parametrize(
    ("content", "name", "count"),
    [
        ("id,name\n0010,Fern\n007,Ivy\n100,Rose\n", "a.csv", 2),
        ("id,name\n -0010,Fern\n0,\n0.0,Rose\n00.0,Ivy\n", "a.csv", 2),
        ('[{"id": "0010", "name": "Fern"}, {"id": 7, "name": "0010"}]', "a.json", 1),
    ],
)
def test_ids_that_lose_leading_zeros_are_counted(
    write: Write, content: str, name: str, count: int, capfd: pytest.CaptureFixture[str]
) -> None:
    main(["import", write(content, name), "--json", "--skip-invalid"])
    printed = capfd.readouterr()
    assert ("1 ID loses its" if count == 1 else f"{count} IDs lose their") + " leading zeros" in printed.err
    assert json.loads(printed.out)["files"][0]["leading_zeros"] == count


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ("Acer,palmatum,,,", "Acer palmatum"),
        ("Acer,palmatum,var.,dissectum,", "Acer palmatum var. dissectum"),
        ("Acer,palmatum,var.,,", "Acer palmatum"),
        ("Acer,palmatum,var.,var. dissectum,", "Acer palmatum var. dissectum"),
        ("Acer,Acer palmatum,,,", "Acer palmatum"),
        ("ACER,Acer palmatum,,Acer palmatum f. atrum,", "ACER palmatum f. atrum"),
        ("Acer,Acer,,,", "Acer"),
        ("Acer,palmatum,subsp.,palmatum,", "Acer palmatum subsp. palmatum"),
        ("Acer,,,,Osakazuki", "Acer ‘Osakazuki’"),
        ("Acer,palmatum,,,'Osakazuki'", "Acer palmatum ‘Osakazuki’"),
        ("Acer,palmatum,,,cv. Osakazuki", "Acer palmatum ‘Osakazuki’"),
        ("Acer,palmatum,,,Acer palmatum ‘Osakazuki’", "Acer palmatum ‘Osakazuki’"),
        ("Acer,palmatum 'Osakazuki',,,Osakazuki", "Acer palmatum 'Osakazuki'"),
        ("Lonicera,japonica,,,Hall's Prolific", "Lonicera japonica ‘Hall's Prolific’"),
        ("Hemerocallis,,,,Dissectum Group", "Hemerocallis Dissectum Group"),
        ("Forsythia,x intermedia,,,", "Forsythia × intermedia"),
        ("Forsythia,×intermedia,,,", "Forsythia ×intermedia"),
        ("× Cuprocyparis,Cuprocyparis leylandii,,,", "× Cuprocyparis leylandii"),
        ("Acer,sp.,,,", "Acer sp."),
        ("Acer,A. palmatum,-,n/a,", "Acer palmatum"),
        ("Acer,palmatum,SUBSPECIES,amoenum,", "Acer palmatum subsp. amoenum"),
        ("Acer,palmatum,Variety,dissectum,cv Garnet", "Acer palmatum var. dissectum ‘Garnet’"),
        ("Acer,palmatum,cultivar,Garnet,", "Acer palmatum ‘Garnet’"),
        ("Acer,palmatum,subvariety,dissectum,none", "Acer palmatum subvar. dissectum"),
        ("Acer,palmatum var. dissectum,var.,dissectum,?", "Acer palmatum var. dissectum"),
        ("Rosa,,,,Rosa Mundi", "Rosa ‘Rosa Mundi’"),
        (" Acer , palmatum ,,,", "Acer palmatum"),
        ("Rubus,fruticosus,agg.,,", "Rubus fruticosus agg."),
        ("Brassica,oleracea,Capitata Group,,Marner", "Brassica oleracea Capitata Group ‘Marner’"),
    ],
)
def test_what_is_missing_or_repeated_in_a_part_is_left_out(imported: Imported, row: str, name: str) -> None:
    header = "Genus,Species,Infraspecific rank,Infraspecific epithet,Cultivar"
    assert names_of(imported(f"{header}\n{row}\n")) == [name]


@pytest.mark.parametrize("row", [",palmatum,,,", "-,palmatum,,,", ",,,,Osakazuki"])
def test_a_row_without_its_genus_is_no_plant(write: Write, row: str, capsys: pytest.CaptureFixture[str]) -> None:
    header = "Genus,Species,Infraspecific rank,Infraspecific epithet,Cultivar"
    assert main(["import", "--skip-invalid", write(f"{header}\nAcer,rubrum,,,\n{row}\n")]) == 1
    assert [each for _, each, *_ in stored()] == ["Acer rubrum"]
    assert "line 3: The genus is missing." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ("Acer,palmatum,,dissectum", "Acer palmatum var. dissectum"),
        ("Acer,palmatum,,var dissectum", "Acer palmatum var. dissectum"),
        ("Acer,palmatum,,Variety dissectum", "Acer palmatum var. dissectum"),
        ("Acer,palmatum,,var.", "Acer palmatum"),
        ("Acer,palmatum,,Garnet", "Acer palmatum ‘Garnet’"),
        ("Acer,palmatum ssp amoenum,amoenum,", "Acer palmatum ssp amoenum"),
        ("Acer,palmatum,ssp amoenum,", "Acer palmatum subsp. amoenum"),
        ("Acer,palmatum,palmatum,", "Acer palmatum subsp. palmatum"),
    ],
)
def test_ranks_are_written_once(imported: Imported, row: str, name: str) -> None:
    assert names_of(imported(f"Genus,Species,Subspecies,Variety\n{row}\n")) == [name]


def test_a_column_of_the_name_may_be_the_tag_as_well(imported: Imported) -> None:
    plants = imported("Genus,Species\nAcer,rubrum\n", "--map", "name=Genus+Species", "--map", "tag=Genus")
    assert plants == [(1, "Acer rubrum", "Acer", None)]


def test_only_the_name_is_put_together(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", write("Name,Room,Bed\nFern,hall,1\n"), "--map", "tag=Room+Bed"]) == 1
    assert "Only the name can be put together from several columns, not “tag”." in capsys.readouterr().err
    assert stored() == []


def test_a_second_column_of_a_part_is_reported(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", write("Genus,Species,Cultivar,Cultivar\nAcer,palmatum,,Garnet\n")]) == 0
    assert "not read: “Cultivar”" in capsys.readouterr().err


def test_a_refused_row_is_kept_whole(write: Write, tmp_path: Path) -> None:
    rejects = tmp_path / "rejects.csv"
    file = write("Genus,Species,Bed\nAcer,rubrum,1\n,palmatum,2\n")
    assert main(["import", file, "--skip-invalid", "--rejects", str(rejects)]) == 1
    assert ",palmatum,2" in rejects.read_text("utf-8")


def test_a_header_in_the_middle_is_no_plant(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("name,tag\nFern,hall\nname,tag\nIvy,hall\n", "Genus,Species\nAcer,rubrum\nGenus,Species\n"):
        assert main(["import", write(text)]) == 0
        assert "1 blank" in capsys.readouterr().err
    assert names_of(stored()) == ["Fern", "Ivy", "Acer rubrum"]


def test_a_header_that_is_repeated_is_found() -> None:
    header, plant = ["Genus", "Species"], ["Acer", "rubrum"]
    assert find_layout([header, plant, header, plant], Columns({}, has_header=None)).has_header
    assert not find_layout([["bed"], ["hall"], ["bed"]], Columns({}, has_header=None)).has_header


def test_objects_may_have_the_parts_of_a_name(write: Write) -> None:
    objects = '{"genus": "Acer", "species": "rubrum"}\n{"species": "rubrum", "genus": null}\n'
    assert main(["import", "--skip-invalid", write(objects, "plants.jsonl")]) == 1
    assert names_of(stored()) == ["Acer rubrum"]


def test_members_that_only_the_last_objects_have_are_read(imported: Imported) -> None:
    objects = [f'{{"id": {number}, "name": "Fern"}}' for number in range(1500)]
    objects += ['{"id": 1500, "name": "Ivy", "tag": "hall"}', '{"id": 1501, "name": "Aloe", "note": "wet"}']
    plants = imported("\n".join(objects), name="plants.jsonl")
    assert plants[-2:] == [(1500, "Ivy", "hall", None), (1501, "Aloe", None, "wet")]


def test_rows_without_any_part_are_invalid_or_blank(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["import", write("Genus,Species,Bed\nAcer\n,,7\n,,\n"), "--skip-invalid"]) == 1
    assert "line 3: The name is missing." in (printed := capfd.readouterr().err)
    assert "1 invalid, 1 blank" in printed
    assert stored() == [(1, "Acer", None, None)]


def test_the_summary_says_of_what_a_name_is_put_together(
    write: Write, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = write("Garden list\nGenus;Species;Author;Room\nAcer;palmatum;Thunb.;3\n")
    rejected = tmp_path / "rejected.csv"
    assert main(["import", file, "--json", "--rejects", str(rejected)]) == 0
    printed = capfd.readouterr()
    assert "; name put together from “Genus” + “Species”, tag from “Room”; not read: “Author”; 1 row ab" in printed.err
    assert json.loads(printed.out)["files"][0]["columns"] == {"name": "Genus+Species", "tag": "Room"}
    assert stored() == [(1, "Acer palmatum", "3", None)]


def test_a_part_that_is_missing_is_named(write: Write, refused: Refused) -> None:
    assert "There is no column “Kind”. The columns are “Genus”, “Species”." in refused(
        "import", write("Genus,Species\nAcer,palmatum\n"), "--map", "name=Genus+Kind"
    )


@pytest.mark.parametrize(
    ("encoding", "names"),
    [
        ("mac-roman", "Gänseblümchen\rRöse\r"),
        ("mac-roman", "Acer ‘Atro’\rœillet d’été\r"),
        ("cp1252", "Gänseblümchen\rRöse\r"),
    ],
)
def test_lines_that_end_with_cr_alone_are_first_read_as_mac_roman(
    write: Write, encoding: str, names: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert names_of(import_files(write(f"name\r{names}".encode(encoding)))) == names.splitlines()
    assert f"CSV; {encoding}, a guess, as in “{names.splitlines()[0]}”" in capfd.readouterr().err
