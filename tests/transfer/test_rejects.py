"""The file of refused rows that `plantdesk import --rejects` writes."""

import csv
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from plantdesk.cli.main import main
from tests.conftest import Refused
from tests.transfer.conftest import Write, stored


def test_rejects_are_in_the_order_of_the_files_and_what_cannot_be_read_is_as_it_was(
    write: Write, tmp_path: Path
) -> None:
    lines = ('{"id": 1, "name": "Fern"}', '{"id": 1, "name": "Ivy"}', '{"name": Moss}', '{"id": 1, "name": "Rose"}')
    first, second = write("\n".join(lines), "a.jsonl"), write('id,name\n1,Cactus\n2,"Dai"sy\nx,Aster\n', "b.csv")
    rejects = tmp_path / "rejects.csv"
    options = ("--skip-invalid", "--on-clash", "skip", "--rejects", str(rejects))
    assert main(["import", first, second, *options]) == 1
    with rejects.open(encoding="utf-8", newline="") as stream:
        rows = [(row["file"], row["line"], row["name"], row["text"]) for row in csv.DictReader(stream)]
    assert rows == [
        ("a.jsonl", "2", "Ivy", ""),
        ("a.jsonl", "3", "", lines[2]),
        ("a.jsonl", "4", "Rose", ""),
        ("b.csv", "2", "Cactus", ""),
        ("b.csv", "3", "", '2,"Dai"sy'),
        ("b.csv", "4", "Aster", ""),
    ]


posix = pytest.mark.skipif(os.name != "posix", reason="names that are not UTF-8, and pipes, are POSIX")
symlinks = pytest.mark.skipif(sys.platform == "win32", reason="symlinks need a right there, and wine makes none")
LATER = "Aster,bed,\r\n" * 9000


@posix
def test_half_a_surrogate_pair_is_written_to_the_rejects_as_in_json(write: Write, tmp_path: Path) -> None:
    file, rejects = write('{"name": "a\\ud800"}\n{"name": "Fern"}\n', "plants.jsonl"), tmp_path / "rejects.csv"
    assert main(["import", file, "--skip-invalid", "--rejects", str(rejects)]) == 1
    assert ",,a\\ud800,,," in rejects.read_text(encoding="utf-8")


@pytest.mark.parametrize("make_link", [pytest.param(os.symlink, marks=symlinks), os.link])
def test_rejects_never_replace_the_input(
    tmp_path: Path, refused: Refused, make_link: Callable[[Path, Path], None]
) -> None:
    file, link = tmp_path / "plants.csv", tmp_path / "link.csv"
    file.write_text("id,name\nx,Rose\n2,Yew\n")
    make_link(file, link)
    assert "--rejects" in refused("import", str(file), "--skip-invalid", "--rejects", str(link))
    assert file.read_text() == "id,name\nx,Rose\n2,Yew\n"


@pytest.mark.parametrize(
    ("name", "content", "texts"),
    [
        ("a.csv", "name,tag,note\nLupin,bed 3,tall,extra\nLupin,bed 3,tall,\n", ["Lupin,bed 3,tall,extra"]),
        ("a.csv", f'name;tag;note\r\n{LATER}Lupin;"b";tall;"ex\ntra"\r\n', ['Lupin,b,tall,"ex\ntra"']),
        ("a.csv", f"name,tag,height\n{LATER},bed,3\r\nLupin,,\n,b,\n", [",bed,3", ""]),
        ("a.csv", f'name,tag,height\n{LATER},"bed",3\r\nLupin,,\n', [",bed,3"]),
        ("a.tsv", "id\tname\theight\nx\tIvy\t3\n1\tFern\t4\n", ["x,Ivy,3"]),
        ("a.txt", "id|name|height\nx|Ivy|3, 4\n1|Fern|2\n", ['x,Ivy,"3, 4"']),
        ("a.jsonl", '{"nam":"x"}\n{"name":"Fern","x":null}\n', ['{"nam":"x"}']),
        ("a.jsonl", '{"nam":1.50,"a":true}\n{"name":"Fern","x":[]}\n', ['{"nam":1.50,"a":true}']),
        (
            "a.jsonl",
            '{"nam":1.50,"a":"é"}\n{"id":"1.000","name":"b"}\n',
            ['{"nam":1.50,"a":"é"}', '{"id":"1.000","name":"b"}'],
        ),
        ("a.json", '[{"name": {"first":[1.0]}}, {"name":"Fern"}]', ['{"name": {"first":[1.0]}}']),
    ],
)
def test_rejects_have_all_that_was_in_a_row(
    write: Write, tmp_path: Path, name: str, content: str, texts: list[str]
) -> None:
    rejects = tmp_path / "rejects.csv"
    assert main(["import", write(content, name), "--skip-invalid", "--rejects", str(rejects)]) == 1
    with rejects.open(encoding="utf-8", newline="") as stream:
        assert [row["text"] for row in csv.DictReader(stream)] == texts


@posix
def test_rejects_are_written_into_a_pipe(write: Write, tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe.csv")
    with os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
        assert main(["import", write("id,name\nx,Rose\n2,Yew\n"), "--skip-invalid", "--rejects", str(pipe)]) == 1
        assert reader.read().endswith(b",x,Rose,,,\r\n")
    assert pipe.is_fifo()


@pytest.mark.parametrize("kind", ["folder", "socket"])
def test_rejects_that_cannot_be_written_are_named_as_they_were_typed(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if kind == "folder":
        (tmp_path / "target").mkdir()
    elif not hasattr(socket, "AF_UNIX"):
        pytest.skip("needs sockets with a name")
    else:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("target")
    assert "plantdesk: target: " in refused(
        "import", write("id,name\nx,Rose\n2,Yew\n"), "--skip-invalid", "--rejects", "target"
    )
    assert not (tmp_path / "target").is_file()
    assert stored() == []
