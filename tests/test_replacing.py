from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

import pytest

from plantdesk import replacing

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A finished draft, and the file whose place it takes."""
    draft, path = tmp_path / "draft", tmp_path / "file"
    draft.write_text("new", encoding="ascii")
    path.write_text("old", encoding="ascii")
    return draft, path


def test_it_takes_the_place(files: tuple[Path, Path]) -> None:
    draft, path = files
    replacing.put(draft, path)
    assert path.read_text(encoding="ascii") == "new"
    assert not draft.exists()


def test_what_cannot_be_is_told(files: tuple[Path, Path], tmp_path: Path) -> None:
    draft, _ = files
    with pytest.raises(FileNotFoundError):
        replacing.put(draft, tmp_path / "missing" / "file")
    assert draft.exists()


def test_a_reader_is_waited_for(files: tuple[Path, Path]) -> None:
    draft, path = files
    with path.open(encoding="ascii") as reader:
        closing = threading.Timer(0.1, reader.close)
        closing.start()
        replacing.put(draft, path)
        closing.join()
    assert path.read_text(encoding="ascii") == "new"


@pytest.mark.skipif(sys.platform != "win32", reason="elsewhere a reader is in nobody's way")
def test_a_reader_that_stays_is_told(files: tuple[Path, Path]) -> None:
    draft, path = files
    with path.open(encoding="ascii"), pytest.raises(PermissionError):
        replacing.put(draft, path)
    assert path.read_text(encoding="ascii") == "old"
    assert draft.exists()
