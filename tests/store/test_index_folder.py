"""The folder of the indexes: removed at the end, and after a kill by the next program."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from plantdesk.store.sqlite.files.index_folder import index_folder

_PROGRAM = """
from plantdesk.store.sqlite.files.index_folder import index_folder
with index_folder() as folder:
    (folder / "0.db").write_text("indexed")
    print(folder, flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def program(temporary: Path) -> Iterator[subprocess.Popen[str]]:
    command, environment = [sys.executable, "-c", _PROGRAM], {**os.environ, "TMPDIR": str(temporary)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True) as process:
        yield process
        process.kill()


def folder_of(program: subprocess.Popen[str]) -> Path:
    assert program.stdout is not None
    folder = Path(program.stdout.readline().strip())
    make_old(folder)
    return folder


def make_old(folder: Path) -> None:
    os.utime(folder / "lock", (0, 0))


def test_a_folder_is_removed_at_the_end(temporary: Path) -> None:
    with index_folder() as folder:
        assert [folder] == list(temporary.iterdir())
    assert not list(temporary.iterdir())


def test_the_folder_of_a_killed_program_is_removed(program: subprocess.Popen[str]) -> None:
    left = folder_of(program)
    program.kill()
    program.wait()
    assert (left / "0.db").exists()
    with index_folder():
        assert not left.exists()


def test_the_folder_of_a_running_program_is_kept(program: subprocess.Popen[str]) -> None:
    used = folder_of(program)
    with index_folder():
        assert (used / "0.db").exists()


def test_a_new_folder_is_kept(temporary: Path) -> None:
    new = temporary / "plantdesk-index-new"
    new.mkdir()
    (new / "lock").touch()
    with index_folder():
        assert new.exists()


def test_what_a_link_leads_to_is_kept(temporary: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "lock").touch()
    make_old(other)
    (temporary / "plantdesk-index-link").symlink_to(other)
    with index_folder():
        assert (other / "lock").exists()
