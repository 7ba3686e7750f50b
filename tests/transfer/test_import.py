"""`plantdesk import`, as a user runs it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from plantdesk.cli.main import main
from plantdesk.domain.imports import OnConflict
from plantdesk.domain.records import FORM
from plantdesk.domain.validation import new_plant
from plantdesk.platform import paths
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.transfer.files import input_file
from plantdesk.transfer.importing import FileImport, ImportOptions
from plantdesk.transfer.text import FileError
from tests.conftest import Refused
from tests.support.adding import store_at
from tests.support.waiting import SECONDS
from tests.transfer.conftest import Plants, Write, import_files, names_of, stored

posix = pytest.mark.skipif(os.name != "posix", reason="links, and changes of open files, are POSIX")

AS_READ: Plants = [(1, "Röse", "bed", None), (7, "Fern", None, "wet")]


KINDS_OF_CSV = {
    "plain": "id,name,tag,note\n1,Röse,bed,\n7,Fern,,wet\n",
    "semicolon": "\ufeffID;Name;Tag;Note\r\n1;Röse;bed;\r\n7;Fern;;wet\r\n",
    "sep": "sep=;\nnr;pflanze;kategorie;bemerkung\n1;Röse;bed\n7;Fern;;wet",
    "tab": "Note\tNom\tÉtiquette\tNuméro\n\tRöse\tbed\t1\n\nwet\tFern\t\t+7\n",
    "bar": "Nombre|Etiqueta|Notas|Identificador|other\nRöse|bed||1|x\nFern||wet|07|y\n",
    "single quotes": "'id','name','tag','note'\n'1','Röse','bed',\n7,Fern,,wet\n",
    "utf-16": "id,name,tag,note\n1,Röse,bed,\n7,Fern,,wet\n".encode("utf-16"),
    "utf-16 without BOM": "id,name,tag,note\n1,Röse,bed,\n7,Fern,,wet\n".encode("utf-16-le"),
    "cp1252": "id,name,tag,note\n1,Röse,bed,\n7,Fern,,wet\n".encode("cp1252"),
    "utf-32": "id,name,tag,note\n1,Röse,bed,\n7,Fern,,wet\n".encode("utf-32"),
    "CR": "id,name,tag,note\r1,Röse,bed,\r7,Fern,,wet\r",
    "ids of pandas": "#id,name,tag,note\n1.0,Röse,bed,\n7.00,Fern,,wet\n",
    "blanks before quotes": 'id, name, tag, note\n1, "Röse", "bed",\n7, "Fern",, wet\n',
    "blank row": "id,name,tag,note\n1,Röse,bed,\n  , ,\t,\n7,Fern,,wet\n",
    "blanks behind quotes": 'id,name,tag,note\r1,"Röse" ,bed,\r\n7,Fern,,"wet"  \n',
    "mixed line ends": "id,name,tag,note\n1,Röse,bed,\r7,Fern,,wet\r\n",
    "headers of plant lists": "common_name,plantId,Description,tag\nRöse,1,,bed\nFern,7,wet,\n",
    "Italian": "No;Nome;Gruppo;Osservazioni\n1;Röse;bed;\n7;Fern;;wet\n",
    "Russian": "№\tНазвание\tКатегория\tПримечание\n1\tRöse\tbed\t\n7\tFern\t\twet\n".encode("utf-16"),
    "Japanese": "番号,名前,分類,備考\n1,Röse,bed,\n7,Fern,,wet\n",
    "plural": "IDs,Plants,Tags,Notes\n1,Röse,bed,\n7,Fern,,wet\n",
    "end of DOS": "id,name,tag,note\r\n1,Röse,bed,\r\n7,Fern,,wet\r\n\x1a".encode("cp1252"),
}


@pytest.mark.parametrize("content", KINDS_OF_CSV.values(), ids=KINDS_OF_CSV)
def test_csv_of_many_kinds_is_read(write: Write, content: str | bytes) -> None:
    assert import_files(write(content)) == AS_READ


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", '[{"id": 1, "name": "Röse", "tag": "bed"},\n{"id": 7.0, "name": "Fern", "tag":null, "note":"wet"}]'),
        ("a.jsonl", '{"id": 1, "name": "Röse", "tag": "bed", "x": [1]}\n\n{"id": 7, "name": "Fern", "note": "wet"}'),
        ("a.json", '[{"id": "1", "name": "Röse", "tag": "bed"}, {"id": "7.0", "name": "Fern", "note": "wet"}]'),
        ("a.tsv", "id\tname\ttag\tnote\n1\tRöse\tbed\t\n7\tFern\t\twet\n"),
    ],
)
def test_other_formats_are_read(write: Write, name: str, content: str) -> None:
    assert import_files(write(content, name)) == AS_READ


def test_an_empty_text_in_quotes_is_none_without(write: Write) -> None:
    file = write('id,name,tag,note\n1,"-","",""\n2,"a ""b""",,\n3,"two\nlines","","x, y"\n')
    assert import_files(file) == [(1, "-", "", None), (2, 'a "b"', None, None), (3, "two\nlines", "", "x, y")]


@pytest.mark.parametrize("name", ["", "  ", "\u00a0\u3000", "\u200b", "\u2800"])
@pytest.mark.parametrize("form", ["csv", "json", "jsonl"])
def test_a_blank_name_is_missing(write: Write, refused: Refused, form: str, name: str) -> None:
    rows = [{"id": 1, "name": "Fern"}, {"id": 2, "name": name}]
    texts = {
        "csv": f'id,name\n1,Fern\n2,"{name}"\n',
        "json": json.dumps(rows),
        "jsonl": "\n".join(json.dumps(row, ensure_ascii=False) for row in rows),
    }
    assert "The name is missing." in refused("import", write(texts[form], f"plants.{form}"))
    main(["import", write(texts[form], f"plants.{form}"), "--skip-invalid"])
    assert stored() == [(1, "Fern", None, None)]


def test_columns_can_be_mapped(write: Write) -> None:
    file = write("name,common\nMonstera deliciosa,Swiss cheese plant\n")
    assert import_files(file, "--map", "name=Common", "--map", "note=name", "--tag", "office") == [
        (1, "Swiss cheese plant", "office", "Monstera deliciosa")
    ]


def test_invalid_rows_refuse_the_file_and_can_be_skipped(
    write: Write, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = write(f"id,name,note\n1,Fern,\nx,Ivy,\n3,,\n{2**63},Moss,\n5,a,b,c\n6,Rose,{'n' * 100_001}\n")
    assert main(["import", file]) == 1
    assert stored() == []
    printed = capfd.readouterr().err
    for line in (3, 4, 5, 6, 7):
        assert f"plants.csv, line {line}: " in printed
    assert "1 new, 0 unchanged, 0 clashing, 5 invalid" in printed
    rejects = tmp_path / "rejects.csv"
    assert main(["import", file, "--skip-invalid", "--rejects", str(rejects)]) == 1
    assert stored() == [(1, "Fern", None, None)]
    lines = rejects.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "file,line,reason,id,name,tag,note,text"
    assert lines[1].startswith("plants.csv,3,")
    assert lines[1].endswith(",x,Ivy,,,")
    assert lines[4].endswith(',5,a,,b,"5,a,b,c"')
    assert len(lines) == 6


def test_an_id_that_files_have_twice_is_reported_with_the_row_that_has_it(
    write: Write, capfd: pytest.CaptureFixture[str]
) -> None:
    with closing(SqliteStore(paths.database_file())) as store:
        store.add(new_plant({"id": 7, "name": "Cactus"}), FORM).result(SECONDS)
    first, second = write("id,name\n1,Fern\n1,Ivy\n7,Moss\n7,Rose\n", "a.csv"), write("id,name\n1,Aster\n", "b.csv")
    assert main(["import", first, second]) == 1
    assert capfd.readouterr().err.splitlines()[2:] == [
        "a.csv, line 3: ID 1 is also in line 2, of “Fern”.",
        "a.csv, line 4: ID 7 belongs to “Cactus”.",
        "a.csv, line 5: ID 7 belongs to “Cactus”.",
        "b.csv, line 2: ID 1 is also in “a.csv”, line 2, of “Fern”.",
        "1 new, 0 unchanged, 4 clashing (refuse), 0 invalid",
        "plantdesk: 4 rows have an ID that is taken, so nothing was imported. Add --on-clash skip, new-id or replace.",
    ]


@pytest.mark.parametrize(
    ("name", "content", "messages"),
    [
        (
            "plants.jsonl",
            '{"name": Fern}\n["Fern"]\n{"name": 1, "name": 2}\n{"id": 5}\n{"name": ["Fern"]}\n'
            '{"name": "\\ud800"}\n{"x": ' + "[" * 200_000,
            [
                "line 1: It is not JSON: Expecting value at column 10.",
                'line 2: It is not an object, such as {"id": 1, "name": "Fern"}.',
                "line 3: More than once in the object: “name”. Each member may be there once.",
                "line 4: The name is missing.",
                "line 5: The name must be text. It is a list.",
                "line 6: The name cannot be stored: it contains half a surrogate pair. Use whole characters.",
                "line 7: An object is nested too deeply.",
            ],
        ),
        (
            "plants.json",
            '[{"name": "Ivy"},\n"Fern", {"name": true}]',
            [
                'line 2: Item 2: It is not an object, such as {"id": 1, "name": "Fern"}.',
                "line 2: Item 3: The name must be text. It is true.",
            ],
        ),
        (
            "plants.json",
            '[7,\n{"id": 1}]',
            [
                'line 1: Item 1: It is not an object, such as {"id": 1, "name": "Fern"}.',
                "line 2: Item 2: The name is missing.",
            ],
        ),
        ("plants.csv", "id,name\n1,\n", ["line 2: The name is missing."]),
    ],
)
def test_messages_are_about_the_file(
    write: Write, capfd: pytest.CaptureFixture[str], name: str, content: str, messages: list[str]
) -> None:
    assert main(["import", write(content, name)]) == 1
    assert capfd.readouterr().err.splitlines()[1:-2] == [f"{name}, {message}" for message in messages]


def test_the_counts_add_up_to_the_rows(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    file = write("id,name,tag\n1,Fern,\n,,\n3,,bed\n \t,  ,\n\n2,Ivy,\n")
    assert main(["import", file, "--skip-invalid", "--json"]) == 1
    printed = capfd.readouterr()
    assert "2 new, 0 unchanged, 0 clashing, 1 invalid, 3 blank" in printed.err
    assert json.loads(printed.out)["blank"] == 3


def test_without_a_header_the_longest_of_the_first_rows_counts(write: Write) -> None:
    assert import_files(write("1,Fern\n2,Ivy,bed\n"), "--no-header", "--map", "name=2", "--map", "tag=3") == [
        (1, "Fern", None, None),
        (2, "Ivy", "bed", None),
    ]


def test_a_dry_run_creates_no_database(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["import", write("id,name\n1,Fern\n"), "--dry-run"]) == 0
    assert "1 new" in capfd.readouterr().err
    assert not paths.database_file().exists()


def test_cells_that_are_all_quoted_are_none_when_empty(write: Write) -> None:
    assert import_files(write('"id","name","tag"\n"1","Fern",""\n')) == [(1, "Fern", None, None)]


def test_a_dry_run_counts_and_changes_nothing(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    store_at(paths.database_file(), "Cactus")
    file = write("id,name\n1,Fern\n2,Ivy\n2,Ivy\n")
    assert main(["import", file, "--dry-run", "--json"]) == 1
    counts = json.loads(capfd.readouterr().out)
    assert counts == {
        "new": 1,
        "unchanged": 1,
        "clashing": 1,
        "invalid": 0,
        "blank": 0,
        "imported": 0,
        "change": None,
        "rows": [{"file": "plants.csv", "line": 2, "reason": "ID 1 belongs to “Cactus”."}],
        "files": [
            {
                "file": "plants.csv",
                "format": "csv",
                "encoding": "utf-8",
                "encoding_guessed": False,
                "doubtful_cell": None,
                "delimiter": ",",
                "columns": {"id": "id", "name": "name"},
                "ignored": [],
                "other_tables": 0,
                "title_rows": 0,
                "leading_zeros": 0,
                "codes": None,
            }
        ],
    }
    assert len(stored()) == 1


def test_of_rows_with_one_id_the_last_replaces_the_plant(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["import", write("id,name\n5,One\n5,Two\n5,Three\n"), "--on-clash", "replace"]) == 0
    assert "2 clashing (replace; of several rows with one ID the last)" in capfd.readouterr().err
    assert stored() == [(5, "Three", None, None)]


def test_several_files_are_one_change(write: Write) -> None:
    files = [write("name\nFern\n", "a.csv"), write('[{"name": "Ivy"}]', "b.json")]
    assert main(["import", *files]) == 0
    with closing(SqliteStore(paths.database_file())) as store, closing(store.reader()) as reader:
        (change,) = reader.history()
    assert (change.source.label, change.plants) == ("a.csv +1", 2)
    assert main(["undo"]) == 0
    assert stored() == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"\n\n", "header"),
        (b"\n", "It has no header"),
        (bytes(range(256)) * 300, "not a text file"),
        (b"PK\x03\x04abc", "Excel"),
        (b"SQLite format 3\0", "database"),
        (b"\0" * 1000, "is not a text"),
        (b'id,name\n1,a\n2,b\0c\n3,"d"\n', "line 3: It has a NUL"),
        (b"id,name\n1,a\n2,b\0c\n", "line 3: It has a NUL character"),
        (b'id,name\n1,"a\n2,b\n', "line 2: In column 2 a quote is opened and not closed"),
        (b'id,name\n1,"a"x\n', "line 2: In column 2 a quote in a quoted text is not doubled."),
        (b'id,name\n1,"a \\"b\\" c"\n', 'Write it as "", also where it is \\".'),
        (b"id,name\n1,\x81\x8d\n", "Save it as UTF-8, or choose its encoding. Nothing was imported. Use --encoding"),
        (b"PAR1\x15\x04", "It is a Parquet file, not text. Save it as CSV or JSON."),
        (b"\x1f\x8b\x08abc", "It is compressed. Unpack it first."),
        (
            b"id,name\n" + b"1,a\n" * 40_000 + b"2,\xe4\n",
            "or choose its encoding. Nothing was imported. Use --encoding",
        ),
        (b"\xd0\xcf\x11\xe0abc", "an old Excel workbook (.xls)"),
        (
            b"id,name\n" + b"1,\xc3\xa4\n" * 40_000 + b"2,\xe4\n",
            "line 40,002: A byte is not UTF-8 as the text before. Save it as UTF-8",
        ),
        (b"number,height\n1,2\n", "or --skip-lines if the header is below it"),
        (b"id;name\n1.000;a\n", "line 2: The ID must be a whole number"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_files_that_are_no_plants_are_refused(write: Write, content: bytes, message: str, refused: Refused) -> None:
    assert message in refused("import", write(content), "--skip-invalid")
    assert stored() == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("7", "line 1: It is not a JSON array"),
        ('{"name": "a"}\n', "If each line is an object, name the file .jsonl."),
        ('[{"name": "a"}\n {"name": "b"}]', "line 2: The array is not closed, or a comma"),
        ('[{"name": "a"},\n {"name": }]', 'line 2: Item 2: It is not JSON: Expecting value near “{"name": }]”'),
        ('[{"name": "a"},\n\n {"name": "b"}, ]', "line 3: Item 3: It is not JSON: Expecting value near “]”"),
        ('[{"name": "a"}', "not closed"),
        ('[{"name": "a"}] x', "Something follows"),
    ],
)
def test_json_that_is_no_array_is_refused(write: Write, content: str, message: str, refused: Refused) -> None:
    assert message in refused("import", write(content, "a.json"))
    assert stored() == []


def test_numbers_of_json_are_texts_as_they_are_written(write: Write) -> None:
    texts = ["1.50", "-0.0", "1e3", "9007199254740993.0", "99999999999999999999", "7"]
    objects = [f'{{"id": {at}.0, "name": {text}, "tag": {text}, "note": {text}}}' for at, text in enumerate(texts)]
    assert import_files(write(f"[{', '.join(objects)}]", "a.json")) == [
        (at, text, text, text) for at, text in enumerate(texts)
    ]


@pytest.mark.parametrize("value", ["true", "false", "{}", "[1]"])
@pytest.mark.parametrize("member", ["name", "tag", "note"])
def test_errors_of_json_name_item_and_member(write: Write, member: str, value: str, refused: Refused) -> None:
    objects = f'[{{"name": "a"}}, {{"name": "b", "{member}": {value}}}]'.replace('"name": "b", "name"', '"name"')
    assert f"line 1: Item 2: The {member} must be text" in refused("import", write(objects, "a.json"))


def test_text_that_is_not_in_the_chosen_encoding_is_refused(write: Write, refused: Refused) -> None:
    assert "It is not UTF-16. Choose another encoding." in refused(
        "import", write("id,name\n1,Fern\n"), "--encoding", "utf-16"
    )


@pytest.mark.parametrize("encoding", ["nonsense", "base64", "rot13", "undefined", "utf-7", "unicode_escape"])
def test_a_codec_that_is_no_encoding_of_files_is_refused(
    write: Write, encoding: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["import", write("id,name\n1,Fern\n"), "--encoding", encoding])
    assert f"“{encoding}” is not an encoding" in capfd.readouterr().err


def test_a_missing_file_creates_no_database(tmp_path: Path, refused: Refused) -> None:
    assert "gone.csv" in refused("import", str(tmp_path / "gone.csv"))
    assert not paths.database_file().exists()


def test_an_endless_line_is_refused(tmp_path: Path, refused: Refused) -> None:
    file = tmp_path / "long.csv"
    with file.open("wb") as stream:
        stream.write(b"id,name\n1,")
        for _ in range(17):
            stream.write(b"x" * 1_048_576)
    assert "line 2: The line is longer" in refused("import", str(file))


@pytest.mark.parametrize(
    "change", ["append", "truncate", pytest.param("remove", marks=posix), pytest.param("replace", marks=posix)]
)
def test_a_file_that_changes_while_it_is_read(tmp_path: Path, change: str) -> None:
    file = tmp_path / "plants.csv"
    content = "name\n" + "Fern\n" * 100_000
    file.write_text(content, encoding="utf-8")

    def disturb(_rows: int, done: int, _size: int) -> None:
        if 0 < done < 100_000:  # after the first piece
            if change == "append":
                with file.open("a") as stream:
                    stream.write("Ivy\n")
            elif change == "truncate":
                os.truncate(file, 1000)
            else:
                file.unlink()
            if change == "replace":
                file.write_text("name\nRose\n", encoding="utf-8")

    with (
        closing(SqliteStore(paths.database_file())) as store,
        FileImport(store, ImportOptions(), disturb) as files_import,
    ):
        if change in {"append", "truncate"}:
            with pytest.raises(FileError, match="changed while it was read"):
                files_import.read([input_file(file)])
        else:  # the open file stays as it is
            files_import.read([input_file(file)])
            assert files_import.compare(OnConflict.REFUSE).counts.new == 100_000
    assert stored() == []


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX file modes and pipes")
def test_folders_and_unknown_formats_are_refused_and_a_pipe_is_read(tmp_path: Path, refused: Refused) -> None:
    assert "It is a folder" in refused("import", str(tmp_path), "--format", "csv")
    (tmp_path / "plants").touch()
    assert "commands also take --format." in refused("import", str(tmp_path / "plants"))
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", f"printf 'name\\nFern\\n' > '{pipe}'"]):
        assert names_of(import_files(str(pipe))) == ["Fern"]


@pytest.mark.parametrize(
    ("name", "content", "outcome"),
    [
        ("a.csv", "sep=;\n\n", "It has no header."),
        ("a.csv", "sep=;\n \nname;tag\nFern;hall\n", [(1, "Fern", "hall", None)]),
        ("a.csv", "\r \r\rname,tag\r\nFern,hall\r\n", [(1, "Fern", "hall", None)]),
        ("a.csv", "\r\r7,8\r\n", "There is no column for the name. The columns are “7”, “8”."),
    ],
)
def test_what_stands_above_the_first_row_ends_no_import_with_a_traceback(
    write: Write, refused: Refused, name: str, content: str, outcome: str | list[tuple[object, ...]]
) -> None:
    if isinstance(outcome, str):
        assert outcome in refused("import", write(content, name))
    else:
        assert main(["import", write(content, name)]) == 0
        assert stored() == outcome


@pytest.mark.parametrize(
    ("row", "note"),
    [
        ('1,"a, ""b"" c",x', " lead"),
        ('1,"a\n, ""b"" c",x', " lead"),
        ('1,5" pot,"a, ""b"', " lead"),
        ('1, "a, ""b"" c", x', "lead"),
        ('1,a, "b, c"', "lead"),
    ],
)
def test_blanks_are_left_out_only_where_they_are_before_quotes(write: Write, row: str, note: str) -> None:
    assert main(["import", write(f"id,name,note\n{row}\n2,B, lead\n")]) == 0
    assert stored()[1] == (2, "B", None, note)


def test_standard_input_is_read() -> None:
    command = [sys.executable, "-m", "plantdesk", "import", "-", "--format", "jsonl"]
    done = subprocess.run(command, input=b'{"name": "Fern"}\n', capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert names_of(stored()) == ["Fern"]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", -15), ("SIGHUP", -1)])
def test_an_interrupt_leaves_nothing(number: str, code: int) -> None:
    command = [sys.executable, "-m", "plantdesk", "import", "-", "--format", "csv"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(b"name\n" + b"Fern\n" * 200_000)
        process.stdin.flush()  # the pipe holds 64 KiB, so the rows are being read
        process.send_signal(signal.Signals[number])
        with contextlib.suppress(BrokenPipeError):
            while process.poll() is None:  # a read that begins as the signal comes must not wait for ever
                process.stdin.write(b"Fern\n" * 1000)
                process.stdin.flush()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        assert process.wait(SECONDS) == code
        assert process.stderr is not None
        assert process.stderr.read().decode().splitlines() == ["plantdesk: Interrupted. Nothing was imported."]
    assert stored() == []
    assert not list(paths.database_file().parent.glob("*.new"))


def test_wrong_values_of_map_and_on_clash_are_refused(capfd: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--map", "height=x"], ["--map", "name=a", "--map", "name=b"], ["--on-clash", "x"]):
        with pytest.raises(SystemExit):
            main(["import", "x.csv", *arguments])
    assert "id, name, tag or note" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.json", '[{"id":1,"id":2,"name":"a"}]'), ("a.jsonl", f'{{"name":"a","x":{"[" * 200_000}{"]" * 200_000}}}\n')],
)
def test_a_name_that_could_not_be_read_is_not_said_to_be_missing(
    write: Write, refused: Refused, name: str, content: str
) -> None:
    assert "so nothing was imported. Correct the file, or add --skip-invalid." in refused(
        "import", write(content, name)
    )


def test_the_tag_of_an_option_is_checked(tmp_path: Path, refused: Refused) -> None:
    file = tmp_path / "plants.csv"
    file.write_text("name\nFern\n")
    assert "tag" in refused("import", str(file), "--tag", "a\0\udcff")
    assert stored() == []


@pytest.mark.skipif(sys.platform != "linux", reason="names are Unicode")
def test_a_file_may_have_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    file = tmp_path / "\udcff.csv"
    file.write_text("name\nFern\n")
    assert names_of(import_files(str(file))) == ["Fern"]


@posix
def test_the_temporary_file_of_a_killed_import_is_removed_a_day_later() -> None:
    with closing(SqliteStore(paths.database_file())):
        pass
    folder = paths.database_file().parent
    command = [sys.executable, "-m", "plantdesk", "import", "-", "--format", "csv"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(b"name\n" + b"Fern\n" * 200_000)
        process.stdin.flush()  # the pipe holds 64 KiB, so the rows are being read
        (temporary,) = folder.glob(".plantdesk-*.new")
        assert main(["add", "--name", "Ivy"]) == 0
        assert temporary.exists()  # it is in use
        process.kill()
    os.utime(temporary, (1, 1))
    assert main(["add", "--name", "Rose"]) == 0
    assert not [*folder.glob(".plantdesk-*.new*")]
    assert names_of(stored()) == ["Ivy", "Rose"]


def test_objects_without_a_name_can_be_mapped(write: Write, refused: Refused) -> None:
    file = write(b'[{"plant of mine": "Fern"}]', "a.json")
    assert "Use --map name=MEMBER" in refused("import", file)
    assert main(["import", file, "--map", "name=plant of mine"]) == 0


def test_a_column_without_a_header_is_named_by_its_number(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["import", write(b",name,,tag\n0,Fern,,a\n1,Ivy,,b\n")]) == 0
    assert "not read: “column 1”\n" in capfd.readouterr().err
