"""Excel workbooks and PlantDesk stores, as a user imports and exports them."""

import datetime as dt
import io
import json
import re
import subprocess
import sys
import tracemalloc
import zipfile
from contextlib import closing
from pathlib import Path

import openpyxl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.worksheet.table import Table

from plantdesk.cli.main import main
from plantdesk.domain.edits import Insert
from plantdesk.domain.records import FORM
from plantdesk.domain.validation import new_plant
from plantdesk.platform import paths
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.transfer import workbooks, writing
from plantdesk.transfer.tables import Batch
from plantdesk.transfer.text import FileError
from plantdesk.transfer.workbooks import WorkbookTable
from tests.conftest import Refused
from tests.support.adding import store_at
from tests.support.cases import cases
from tests.support.waiting import SECONDS
from tests.transfer.conftest import import_files, names_of, stored, write_workbook

SHEET = "xl/worksheets/sheet1.xml"
ROW = b'<row><c t="inlineStr"><is><t>name</t></is></c></row>'
HEAD = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
END = b"</sheetData></worksheet>"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "plants.xlsx"


def parts(file: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def with_part(file: Path, name: str, content: bytes | None) -> str:
    """Write the workbook again with another part, or without it."""
    contents = {**parts(file), name: content}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, data in contents.items():
            if data is not None:
                archive.writestr(each, data)
    return str(file)


def test_a_sheet_is_read_as_it_is_shown(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        [],
        ["Nr.", "Sorte", "Beet", "Bemerkung", "Preis"],
        [7, "Aster", "bed 4", dt.datetime(2026, 3, 1), 4.9],  # noqa: DTZ001 - Excel knows no time zone
        ["008", "Ivy", 12, None, None],
        [None, 4711, 7, True],
        [],
        [900719925474099, "a_x000D_\nb", 1.5, dt.datetime(2026, 3, 1, 12, 30)],  # noqa: DTZ001
    ]
    assert import_files(write_workbook(tmp_path / "plants.xlsx", rows, {"C5": "000"})) == [
        (7, "Aster", "bed 4", "2026-03-01"),
        (8, "Ivy", "12", None),
        (900719925474100, "4711", "007", "TRUE"),
        (900719925474099, "a\r\nb", "1.5", "2026-03-01 12:30:00"),
    ]


def test_what_a_spreadsheet_saves_is_read(file: Path) -> None:
    """Shared texts with runs and a phonetic guide, a row without cells, and hints about the size that are wrong."""
    write_workbook(file, [["id", "name"], [1, "x"], [2, "y"]])
    namespace = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    texts = (
        f'<?xml version="1.0"?><sst {namespace}><si><t>id</t></si><si><t>name</t></si><si><r><t>Ro</t></r>'
        '<r><t xml:space="preserve">se </t></r><rPh><t>x</t></rPh></si></sst>'
    )
    sheet = (
        f'<?xml version="1.0"?><worksheet {namespace}><dimension ref="A1"/><sheetData><row r="1"><c r="A1" t="s">'
        '<v>0</v></c><c r="B1" t="s"><v>1</v></c></row><row r="2"/><row r="4"><c r="B4" t="s"><v>2</v></c></row>'
        '</sheetData><mergeCells count="1"><mergeCell ref="A1:B1"/></mergeCells></worksheet>'
    )
    with_part(file, "xl/sharedStrings.xml", texts.encode())
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    types = parts(file)["[Content_Types].xml"].decode()
    types = types.replace("</Types>", f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}"/></Types>')
    with_part(file, "[Content_Types].xml", types.encode())
    assert import_files(with_part(file, SHEET, sheet.encode())) == [(1, "Rose ", None, None)]


@pytest.mark.parametrize("suffix", [".xlsx", ".xlsm"])
def test_what_else_a_sheet_has_is_left_out(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"plants{suffix}"
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in (["id", "name"], [7, "Aster"], [8, "Ivy"]):
        sheet.append(row)
    sheet["B2"].hyperlink = "https://example.com/aster"
    sheet["B2"].comment = Comment("From the neighbour.", "me")
    sheet.add_table(Table(displayName="Plants", ref="A1:B3"))
    chart = BarChart()
    chart.add_data(Reference(range_string="Sheet!A1:A3"))
    sheet.add_chart(chart, "D2")
    sheet.print_title_rows = "1:1"
    sheet.page_setup.orientation = "landscape"
    sheet.print_area = "A1:B3"
    book.save(file)
    assert import_files(str(file)) == [(7, "Aster", None, None), (8, "Ivy", None, None)]


def test_other_sheets_with_a_text_are_counted(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    book = openpyxl.Workbook()
    for name, cells in (("Sheet", ["name"]), ("Beds", ["bed"]), ("Empty", []), ("Seeds", [1])):
        sheet = book[name] if name in book.sheetnames else book.create_sheet(name)
        sheet.append(cells)
        sheet.append(cells)
    book.save(file)
    assert main(["import", str(file), "--json"]) == 0
    printed = capfd.readouterr()
    assert "2 other tables are not read" in printed.err
    assert json.loads(printed.out)["files"][0]["other_tables"] == 2


def test_a_damaged_sheet_that_is_not_read_harms_nothing(file: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["name"], ["Aster"]):
        book["Sheet"].append(row)
    book.create_sheet("Other")
    book.save(file)
    with_part(file, "xl/worksheets/sheet2.xml", b"<")
    assert import_files(str(file)) == [(1, "Aster", None, None)]


def test_shared_texts_may_be_missing(file: Path) -> None:
    write_workbook(file, [["x"]])
    with_part(file, "xl/sharedStrings.xml", None)
    with_part(file, SHEET, HEAD + ROW + ROW.replace(b"name", b"Aster") + END)
    assert import_files(str(file)) == [(1, "Aster", None, None)]


@pytest.mark.parametrize(
    ("number", "code", "text"),
    [
        ("46082", "dd/mm/yy", "2026-03-01"),
        ("46082.5", "[$-409]d. mmmm", "2026-03-01 12:00:00"),
        ("0.75", "h:mm", "18:00:00"),
        ("1.5", "[h]:mm", "36:00:00"),
        ("59", "yyyy", "1900-02-28"),
        ("1", '0 "days"', "1"),
        ("1", "[Red]0", "1"),
        ("1e999", "0", "1e999"),
        ("1e300", "yyyy", "1e300"),
        ("nan", "0", "nan"),
        ("9007199254740993", "General", "9007199254740993"),
        ("489290024005182976", "General", "489290024005182976"),
        ("4.89290024005182E+17", "General", "489290024005182000"),
        ("4.8929002400518298E+17", "0", "489290024005183000"),  # as Excel shows it
        ("1.1000000000000001", "General", "1.1"),
        ("1.0E3", "0000000", "0001000"),
        ("9" * 5000, "0", "9" * 5000),
    ],
)
def test_numbers_have_formats(file: Path, number: str, code: str, text: str) -> None:
    write_workbook(file, [["name"], [1]], {"A2": code})
    sheet = parts(file)[SHEET].replace(b"<v>1</v>", f"<v>{number}</v>".encode())
    assert names_of(import_files(with_part(file, SHEET, sheet))) == [text]


def test_dates_may_begin_in_1904(file: Path) -> None:
    write_workbook(file, [["name"], [0]], {"A2": "yyyy"})
    book = parts(file)["xl/workbook.xml"].replace(b"<workbookPr ", b'<workbookPr date1904="1" ')
    assert names_of(import_files(with_part(file, "xl/workbook.xml", book))) == ["1904-01-01"]


def test_empty_rows_and_columns_cost_nothing(tmp_path: Path) -> None:
    """LibreOffice keeps deleted cells up to the last row and the width of the sheet."""
    far = b'<row r="2"><c t="inlineStr"><is><t>x</t></is></c></row><row r="1048576"><c r="AMJ1048576" s="0"/></row>'
    wide = ROW.replace(b"</row>", b'<c r="AMJ1" s="0"/></row>')
    write_workbook(tmp_path / "plain.xlsx", [["name"], ["x"]])
    write_workbook(tmp_path / "far.xlsx", [["name"]])
    with_part(tmp_path / "far.xlsx", SHEET, HEAD + wide + far + END)

    def read(name: str) -> list[Batch]:
        file = tmp_path / name
        with file.open("rb") as stream:
            return [*WorkbookTable(stream, name, 1, lambda _: None).read_batches()]

    assert [[row.cells for row in batch.rows] for batch in read("far.xlsx")] == [[["name"], ["x"]]]


def test_an_empty_tag_is_an_empty_text_for_other_programs(tmp_path: Path, file: Path) -> None:
    with closing(SqliteStore(paths.database_file())) as store:
        plants = [{"id": 1, "name": "a", "tag": ""}, {"id": 2, "name": "b"}]
        store.apply([Insert(new_plant(plant)) for plant in plants], FORM).result(SECONDS)
    assert main(["export", str(file)]) == 0
    sheet = openpyxl.load_workbook(file).active
    assert sheet is not None
    assert not any(sheet["C"][at].value for at in (1, 2))
    assert main(["import", str(file), "--database", str(tmp_path / "other.db"), "--dry-run"]) == 0
    assert main(["delete", "1", "2", "--yes"]) == 0
    assert import_files(str(file)) == [(1, "a", "", None), (2, "b", None, None)]


def test_refused_rows_are_named_by_the_row_of_the_sheet(tmp_path: Path, refused: Refused) -> None:
    file = write_workbook(tmp_path / "plants.xlsx", [["id", "name"], [1, "Aster"], ["x", "Ivy"]])
    assert "plants.xlsx, line 3: The ID must be a whole number." in refused("import", file)


def test_a_workbook_comes_through_a_pipe(file: Path) -> None:
    write_workbook(file, [["name"], ["Aster"]])
    command = [sys.executable, "-m", "plantdesk", "import", "-", "--format", "xlsx"]
    done = subprocess.run(command, input=file.read_bytes(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    exported = subprocess.run(
        [sys.executable, "-m", "plantdesk", "export", "-", "--format", "xlsx"], capture_output=True, check=True
    )
    sheet = openpyxl.load_workbook(io.BytesIO(exported.stdout)).active
    assert sheet is not None
    assert [row[:2] for row in sheet.iter_rows(values_only=True)] == [("id", "name"), (1, "Aster")]


def test_formulas_and_numbers_stay_texts_in_excel(file: Path) -> None:
    plants = [(1, "=1+1"), (2, "#N/A"), (3, "007"), (2**60, "Aster")]
    with closing(SqliteStore(paths.database_file())) as store:
        store.apply([Insert(new_plant({"id": each, "name": name})) for each, name in plants], FORM).result(SECONDS)
    assert main(["export", str(file)]) == 0
    sheet = openpyxl.load_workbook(file).active
    assert sheet is not None
    cells = [(row[0].value, row[1].value, row[1].data_type) for row in sheet.iter_rows(min_row=2)]
    assert cells == [(1, "=1+1", "s"), (2, "#N/A", "s"), (3, "007", "s"), (str(2**60), "Aster", "s")]


def test_what_excel_cannot_hold_is_refused(
    tmp_path: Path, file: Path, capfd: pytest.CaptureFixture[str], refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_at(paths.database_file(), "Ivy", "x" * 40_000)
    assert main(["export", str(file)]) == 1
    assert (
        "The name of plant 2, row 3, is longer than the 32,767 characters of an Excel cell. Export as CSV"
        in capfd.readouterr().err
    )
    monkeypatch.setattr(writing, "_MAX_ROWS", 1)
    assert "room for" in refused("export", str(file))
    assert [each.name for each in tmp_path.iterdir()] == ["home"]


BAD = {
    "zip bomb": (SHEET, HEAD + ROW + b"<row/>" * 40_000_000 + END, "unpacks to much more"),
    "wide row": (SHEET, HEAD + ROW + b"<row><c/>" + b"<c/>" * 800_000 + b"</row>" + END, "A row is longer"),
    "truncated": (SHEET, HEAD + ROW + b"<row>", "damaged Excel workbook"),
    "entities": (SHEET, b'<!DOCTYPE x [<!ENTITY a "b">]>' + HEAD + END, "XML that no workbook needs"),
    "empty": (SHEET, HEAD + END, "first sheet is empty"),
    "no shared text": (SHEET, HEAD + b'<row><c t="s"><v>9</v></c></row>' + END, "damaged Excel workbook"),
    "no workbook": ("xl/workbook.xml", b"<x>", "damaged Excel workbook"),
    "styles": ("xl/styles.xml", b" " * 20_000_000, "too large"),
    "relations": ("_rels/.rels", b"", "damaged Excel workbook"),
    "rows": (SHEET, HEAD + ROW + b'<row r="1048577"/>' + END, "more than 1,048,576 rows"),
    "columns": (SHEET, HEAD + b'<row><c r="XFE1"><v>1</v></c></row>' + END, "more than 16,384 columns"),
    "depth": (SHEET, b"<a>" * 500_000, "XML that no workbook needs"),
    "formats": ("xl/styles.xml", b"<styleSheet><cellXfs>" + b"<xf/>" * 200_000, "more formats"),
}


@pytest.mark.parametrize(("part", "content", "message"), BAD.values(), ids=BAD)
def test_bad_workbooks_are_refused_in_bounded_memory(
    file: Path, part: str, content: bytes, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    write_workbook(file, [["name"]])
    name = with_part(file, part, content)
    del content
    with closing(SqliteStore(paths.database_file())):
        tracemalloc.start()
        assert main(["import", name]) == 1
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert message in capfd.readouterr().err
    assert peak < 100 * 2**20
    assert stored() == []


_STARTS = [b"<row>", b'<row r="7">', b'<row r="8" spans="1:3" x14ac:dyDescent="0.25">']
_ODD_STARTS = [
    b"<row r='9'>",
    b'<row r="1" r="2">',
    b'<row spans="1:1" spans="1:1">',
    b'<row r="0">',
    b"<row/>",
    b"<!-- ",
    b"",
]
_CELLS = [
    b'<c r="A1" t="inlineStr"><is><t>Aloe</t></is></c>',
    b'<c r="B1" t="inlineStr"><is><t xml:space="preserve"> _x0041_\n\xc3\xa9</t></is></c>',
    b'<c r="C1" t="str"><v>&amp;lt; &lt;&gt;&quot;&apos;</v></c>',
    b'<c r="A2"><v>12</v></c>',
    b'<c r="B2" s="1"><v>45000.5</v></c>',
    b'<c r="C2" t="b"><v>1</v></c>',
    b'<c r="D2" t="s"><v>0</v></c>',
    b'<c r="C1" s="0"/>',
]
_ODD_CELLS = [
    b'<c r="A1" t="inlineStr"><is><t>A &amp; B&#10;</t></is></c>',
    b'<c r="A1" t="inlineStr"><is><r><t>A</t></r><r><t>B</t></r><rPh><t>C</t></rPh></is></c>',
    b'<c r="B1" t="inlineStr"><is><t><![CDATA[</row>]]></t></is></c>',
    b'<c r="B1" t="inlineStr"><is><t>]]></t></is></c>',
    b'<c r="B1"><is><t>left</t></is></c>',
    b'<c r="B1" t="str"><f>1+1</f><v>a\r\nb</v></c>',
    b'<c r="C1"><v>\x01</v></c>',
    b'<c r="C1"><v>\xff</v></c>',
    b'<c r="C1" t="s"><v>9</v></c>',
    b'<c r="AAAA1"><v>1</v></c>',
    b"<c><v>5</v></c>",
    b"<c></row>",
    b'<x:c r="A1"/>',
    b"<!-- <row> --><?x </row>?>",
    b" ",
]
_ENDS = [b"</row>"] * 8 + [b"</row>\n", b"</row><row/>", b"", b"-->", b"</row></sheetData><x>"]


def _read(content: bytes) -> tuple[list[object], str]:
    """Return the rows of a sheet, and why they could not be read."""
    file = io.BytesIO()
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    targets = {"_rels/": ("officeDocument", "xl/workbook.xml"), "xl/_rels/workbook.xml": ("worksheet", "sheet.xml")}
    with zipfile.ZipFile(file, "w") as archive:
        for name, (kind, target) in targets.items():
            line = f'<Relationship Id="r1" Type="{relations}/{kind}" Target="{target}"/>'
            archive.writestr(f"{name}.rels", f"<Relationships>{line}</Relationships>")
        archive.writestr("xl/workbook.xml", '<workbook xmlns:r="r"><sheets><sheet r:id="r1"/></sheets></workbook>')
        archive.writestr("xl/sharedStrings.xml", "<sst><si><t>shared</t></si></sst>")
        archive.writestr("xl/sheet.xml", content)
    found: list[object] = []
    try:
        for batch in WorkbookTable(file, "plants.xlsx", len(file.getvalue()), lambda _size: None).read_batches():
            found += ((row.line, row.cells) for row in batch.rows)
    except FileError as error:
        return found, str(error)
    return found, ""


def test_a_value_in_an_extension_of_a_cell_is_not_that_of_the_cell() -> None:
    cell = b'<c r="A1" t="s"><v>0</v><extLst><ext uri="u"><v>7</v></ext></extLst></c><c r="B1"><v>5</v></c>'
    assert _read(HEAD + b"<row>" + cell + b"</row>" + END) == ([(1, ["shared", "5"])], "")


def test_elements_may_have_a_prefix() -> None:
    cells = b'<x:c r="A1" t="inlineStr"><x:is><x:t>Fern</x:t></x:is></x:c><x:c r="B1"><x:v>5</x:v></x:c>'
    head, end = (each.replace(b"<", b"<x:").replace(b"<x:/", b"</x:") for each in (HEAD, END))
    assert _read(head + b"<x:row>" + cells + b"</x:row>" + end) == ([(1, ["Fern", "5"])], "")


def _mostly(usual: list[bytes], odd: list[bytes]) -> st.SearchStrategy[bytes]:
    return st.one_of(*[st.sampled_from(usual)] * 5, st.sampled_from(odd))


_SHEET_ROWS = st.tuples(
    _mostly(_STARTS, _ODD_STARTS),
    st.lists(_mostly(_CELLS, _ODD_CELLS), max_size=3).map(b"".join),
    st.sampled_from(_ENDS),
).map(b"".join)


@cases(150)
@given(
    st.lists(_SHEET_ROWS, max_size=12),
    st.sampled_from([1, 150, 400]),
    st.sampled_from([HEAD, b"<?xml version='1.0'?>" + HEAD]),
)
@example([b"<row></row><row/><!-- </row>", b"<row>" + _CELLS[0] + b"</row>", b"-->"], 7, HEAD)
def test_rows_are_the_same_in_pieces_of_any_size(rows: list[bytes], piece: int, head: bytes) -> None:
    content = head + b"".join(rows) + END
    expected, refused = _read(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workbooks, "_READ_SIZE", piece)
        found, reason = _read(content)
    assert found[: len(expected)] == expected[: len(found)]
    assert refused or (found, reason) == (expected, "")  # an error behind the rows may be in a piece that is not read


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xd0\xcf\x11\xe0" * 1000, "without a password"),
        (b"PK\x03\x04", "damaged"),
        (b"id,name\n1,Aster\n", "not an Excel workbook"),
    ],
)
def test_other_files_are_no_workbooks(file: Path, content: bytes, message: str, refused: Refused) -> None:
    file.write_bytes(content)
    assert message in refused("import", str(file))


def test_a_store_is_imported(tmp_path: Path, capfd: pytest.CaptureFixture[str], refused: Refused) -> None:
    other = tmp_path / "other.db"
    with closing(SqliteStore(other)) as store:
        first, second = new_plant({"id": 7, "name": "Aster", "tag": ""}), new_plant({"id": 2, "name": "-"})
        store.apply([Insert(first, "sunny"), Insert(second)], FORM).result(SECONDS)
    before = {file.name for file in tmp_path.iterdir()} | {"home"}
    assert import_files(str(other)) == [(7, "Aster", "", "sunny"), (2, "-", None, None)]
    assert {file.name for file in tmp_path.iterdir()} == before
    assert main(["import", str(other), "--dry-run"]) == 0
    assert "0 new, 2 unchanged" in capfd.readouterr().err
    other.write_bytes(re.sub(b"Aster", b"\xff\xff\xff\xff\xff", other.read_bytes()))
    assert "is not valid" in refused("import", str(other))
    other.write_bytes(b"SQLite format 3\0")
    assert main(["import", str(other)]) == 1


def test_cells_beyond_the_header_are_reported_and_not_read(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows: list[list[object]] = [["id", "name"], [1, "Fern", None, "sum"], [2, "Ivy"], [None, None, None, None, 7]]
    assert import_files(write_workbook(tmp_path / "a.xlsx", rows)) == [(1, "Fern", None, None), (2, "Ivy", None, None)]
    printed = capfd.readouterr().err
    assert "not read: “column D”, “column E”" in printed
    assert "2 new, 0 unchanged, 0 clashing, 0 invalid, 1 blank" in printed


def test_a_sheet_with_a_header_alone_has_no_plants(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["import", write_workbook(tmp_path / "a.xlsx", [["id", "name"]])]) == 0
    assert "Nothing to import." in capfd.readouterr().err


def test_a_sheet_without_a_header_is_as_wide_as_its_first_rows(tmp_path: Path) -> None:
    file = write_workbook(tmp_path / "a.xlsx", [[1, "Fern"], [2, "Ivy", "bed"]])
    assert import_files(file, "--no-header", "--map", "id=1", "--map", "name=2", "--map", "tag=3") == [
        (1, "Fern", None, None),
        (2, "Ivy", "bed", None),
    ]


def test_a_formula_without_a_value_is_reported_and_never_an_empty_cell(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """As scripts write them; one in a column that is not read is no error."""
    rows = [("name", "tag", "height"), ("Fern", '="a"', 1), ('="Ivy"', None, None), ("Rose", "bed", "=1+1")]
    file = write_workbook(tmp_path / "plants.xlsx", rows)
    assert main(["import", file]) == 1
    saving = "has a formula and no value. Open the file in a spreadsheet program and save it; then import it again."
    errors = capfd.readouterr().err
    assert [line for line in errors.splitlines() if ", line" in line] == [
        f"plants.xlsx, line 2: Cell B2 {saving}",
        f"plants.xlsx, line 3: Cell A3 {saving}",
    ]
    assert "2 invalid" in errors
    assert main(["import", file, "--skip-invalid"]) == 1
    assert names_of(stored()) == ["Rose"]


def test_a_formula_whose_value_is_an_empty_text_is_an_empty_cell(file: Path) -> None:
    write_workbook(file, [("name", "tag")])
    cells = b'<row><c t="inlineStr"><is><t>Fern</t></is></c><c t="str"><f>""</f><v></v></c></row>'
    heading = ROW.replace(b"</row>", b'<c t="inlineStr"><is><t>tag</t></is></c></row>')
    assert import_files(with_part(file, SHEET, HEAD + heading + cells + END)) == [(1, "Fern", None, None)]
