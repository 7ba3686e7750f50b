"""`plantdesk export`, as a user runs it."""

import csv
import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from plantdesk.cli.main import main
from plantdesk.domain.edits import Insert
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.records import FORM
from plantdesk.domain.validation import new_plant
from plantdesk.platform import paths
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.transfer.files import check_target, input_file, is_replaced
from tests.conftest import Refused
from tests.support.waiting import SECONDS

HEADER = "id,name,tag,note,added_at,source"


@pytest.fixture(autouse=True)
def plants() -> None:
    with closing(SqliteStore(paths.database_file())) as store:
        store.add(new_plant({"id": 3, "name": 'Röse "red"', "tag": "bed"}), FORM).result(SECONDS)
        store.apply([Insert(new_plant({"id": -1, "name": "=1+1", "tag": ""}), "two\nlines")], FORM).result(SECONDS)
        store.add(new_plant({"id": 2, "name": "a\0b"}), FORM).result(SECONDS)


def test_csv_keeps_no_tag_and_an_empty_tag_apart(tmp_path: Path) -> None:
    file = tmp_path / "plants.csv"
    assert main(["export", str(file)]) == 0
    lines = file.read_bytes().decode().split("\r\n")
    assert lines[0] == HEADER
    assert lines[1].startswith('3,"Röse ""red""","bed",,20')
    assert lines[2].startswith('-1,"=1+1","","two\nlines",20')
    assert lines[3].startswith('2,"a\0b",,,20')
    assert lines[4:] == [""]


def test_csv_for_excel_has_a_bom_and_no_formula(tmp_path: Path) -> None:
    file = tmp_path / "plants.csv"
    assert main(["export", str(file), "--format", "excel"]) == 0
    assert file.read_bytes().startswith(b"\xef\xbb\xbfid,")
    with file.open(encoding="utf-8-sig", newline="") as stream:
        assert [row["name"] for row in csv.DictReader(stream)] == ['Röse "red"', "'=1+1", "a\0b"]


def test_tsv_has_tabs(tmp_path: Path) -> None:
    file = tmp_path / "plants.tsv"
    assert main(["export", str(file)]) == 0
    assert file.read_text(encoding="utf-8").startswith("id\tname\t")


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_json_leaves_missing_members_out(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"plants.{suffix}"
    assert main(["export", str(file)]) == 0
    text = file.read_text(encoding="utf-8")
    found = json.loads(text) if suffix == "json" else [json.loads(line) for line in text.splitlines()]
    assert [(each["id"], each.get("tag"), each.get("note")) for each in found] == [
        (3, "bed", None),
        (-1, "", "two\nlines"),
        (2, None, None),
    ]
    assert "tag" not in found[2]


@pytest.mark.parametrize(("suffix", "empty"), [("csv", HEADER + "\r\n"), ("json", "[]\n"), ("jsonl", "")])
def test_a_file_may_have_no_plants(tmp_path: Path, suffix: str, empty: str) -> None:
    file = tmp_path / f"plants.{suffix}"
    assert main(["export", str(file), "--search", "nothing"]) == 0
    assert file.read_bytes().decode() == empty


def test_a_filter_selects_plants_and_a_pipe_gets_utf8(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["export", "-", "--format", "csv", "--tag", "bed"]) == 0
    printed = capfdbinary.readouterr()
    assert printed.out.decode().splitlines()[1].startswith('3,"Röse')
    assert printed.err == b"Exported 1 plant.\n"


def test_an_existing_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "plants.csv"
    file.write_text("before")
    assert main(["export", str(file), "--from", "nobody"]) == 1
    assert file.read_text() == "before"
    assert main(["export", str(file)]) == 0
    assert file.read_text(encoding="utf-8").startswith("id,")
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith((".", "plants"))] == ["plants.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-"], "“-”"),
        (["plants.ods"], "plants.ods"),
        (["plants.db"], "Give it a name that ends with .csv, .tsv, .json, .jsonl, .xlsx;"),
        (["no/where.csv"], "no/where.csv: No such file"),
    ],
)
def test_what_cannot_be_written_is_reported(arguments: list[str], message: str, refused: Refused) -> None:
    assert message in refused("export", *arguments)


def test_each_plant_has_its_own_time_and_source(tmp_path: Path) -> None:
    """Also of a kind that a newer PlantDesk has written."""
    with closing(sqlite3.connect(paths.database_file())) as other, other:
        other.execute("INSERT INTO source (id, kind, label) VALUES (8, 'token', 'my \"sync\"'), (9, 'robot', '')")
        other.execute("UPDATE plant SET added_at = id - 3, source_id = CASE id WHEN 3 THEN 8 WHEN 2 THEN 9 ELSE 1 END")
    table, lines = tmp_path / "plants.csv", tmp_path / "plants.jsonl"
    assert main(["export", str(table)]) == main(["export", str(lines)]) == 0
    with table.open(encoding="utf-8", newline="") as stream:
        found = [(row["added_at"], row["source"]) for row in csv.DictReader(stream)]
    times = ["1970-01-01T00:00:00.000+00:00", "1969-12-31T23:59:59.996+00:00", "1969-12-31T23:59:59.999+00:00"]
    assert found == [*zip(times, ['token my "sync"', "form", "other"], strict=True)]
    origins = [
        {"source": 'token my "sync"', "source_kind": "token", "source_name": 'my "sync"'},
        {"source": "form", "source_kind": "form"},
        {"source": "other", "source_kind": "other"},
    ]
    for line, time, origin in zip(lines.read_text("utf-8").splitlines(), times, origins, strict=True):
        assert json.loads(line).items() >= ({"added_at": time} | origin).items()
        assert ("source_name" in json.loads(line)) == ("source_name" in origin)


@pytest.mark.skipif(os.name != "posix", reason="links are POSIX")
def test_a_link_to_itself_is_reported(tmp_path: Path, refused: Refused) -> None:
    (loop := tmp_path / "plants.csv").symlink_to(loop)
    assert f"{loop}: " in refused("export", str(loop))


@pytest.mark.skipif(os.name != "posix", reason="named pipes are POSIX")
@pytest.mark.parametrize(
    ("command", "begin"),
    [("export {} --format csv", b"id,name"), ("export {} --format xlsx", b"PK\x03\x04"), ("labels {}", b"%PDF-")],
)
def test_a_pipe_is_written_to(tmp_path: Path, command: str, begin: bytes) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    written = [sys.executable, "-m", "plantdesk", *command.format(pipe).split()]
    with os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
        subprocess.run(written, capture_output=True, check=True)
        assert reader.read().startswith(begin)
    assert pipe.is_fifo()


def test_only_a_regular_file_or_none_yet_is_replaced(tmp_path: Path) -> None:
    """Decided by `stat` alone: writing to a device would be the very harm."""
    file, link = tmp_path / "plants.csv", tmp_path / "link.csv"
    assert is_replaced(file)
    file.touch()
    assert is_replaced(file)
    assert not is_replaced(tmp_path)
    assert not is_replaced(Path("-"))
    if os.name == "posix":
        assert not is_replaced(Path(os.devnull))
        link.symlink_to(os.devnull)
        assert not is_replaced(link)


@pytest.mark.skipif(os.name != "posix", reason="the name is of POSIX")
def test_the_name_of_standard_output_is_a_pipe_as_well() -> None:
    command = [sys.executable, "-m", "plantdesk", "export", "/dev/stdout", "--format", "csv"]
    assert subprocess.run(command, capture_output=True, check=True).stdout.startswith(b"id,name")


@pytest.mark.parametrize("name", ["plants.db", "plants.db-wal", ".plants.db.lock", "link.csv"])
def test_a_database_is_never_replaced(tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str) -> None:
    database, rows = paths.database_file(), tmp_path / "rows.csv"
    if name == "link.csv":
        if os.name != "posix":
            pytest.skip("links are POSIX")
        (database.parent / name).symlink_to(database)
    rows.write_text("id,name\nx,Rose\n")
    before = database.read_bytes()
    target = str(database.parent / name)
    assert main(["export", target, "--format", "csv"]) == 1
    assert main(["export", target, "--format", "xlsx"]) == 1
    assert main(["import", str(rows), "--rejects", target]) == 1
    assert capfd.readouterr().err.count("belongs to a database") == 3
    assert database.read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX belong to a process")
def test_a_refused_target_leaves_the_locks_on_the_open_store(tmp_path: Path) -> None:
    """Else the next program that closes the file takes itself for the last one, and deletes the log."""
    database = paths.database_file()
    link = tmp_path / "plants.csv"
    link.symlink_to(database)
    read = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM plant').fetchall(); c.close()"
    )
    with closing(SqliteStore(database)) as store:
        store.add(new_plant({"id": 100, "name": "x"}), FORM).result(SECONDS)
        for use in (check_target, lambda file: input_file(file).open().__enter__()):
            with pytest.raises(PlantDeskError, match="database"):
                use(link)
        subprocess.run([sys.executable, "-c", read, str(database)], check=True)
        assert database.with_name("plants.db-wal").exists()


_INTERRUPTED = """
import signal, sys
from plantdesk.cli.main import main
from plantdesk.store.sqlite import connections
connections._PROGRESS_STEPS = int(sys.argv[1])
connections._continue_query = lambda: signal.raise_signal(signal.SIGINT)
sys.exit(main(["export", sys.argv[2], "--format", "csv"]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("steps", [1, 40])
def test_an_interrupt_within_a_query_ends_an_export(tmp_path: Path, steps: int) -> None:
    for file, outcome in ((str(tmp_path / "plants.csv"), "No file was written."), ("-", "The output is incomplete.")):
        command = [sys.executable, "-c", _INTERRUPTED, str(steps), file]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (130, f"plantdesk: Interrupted. {outcome}\n")
    assert not list(tmp_path.glob("*plants.csv*"))


_TERMINATED = """
import signal, sys
from pathlib import Path
from plantdesk.platform.atomic_files import atomic_writer
from plantdesk.cli.terminal import interrupt_on_termination
with interrupt_on_termination(), atomic_writer(Path(sys.argv[1])):
    signal.raise_signal(signal.SIGTERM)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_an_export_that_is_terminated_leaves_no_temporary(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _TERMINATED, str(tmp_path / "plants.xlsx")]
    assert subprocess.run(command, capture_output=True, check=False).returncode == -signal.SIGTERM
    assert not list(tmp_path.glob("*plants.xlsx*"))
