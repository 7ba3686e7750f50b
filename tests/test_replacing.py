from __future__ import annotations

import threading
from pathlib import Path

import pytest

from plantdesk.replacing import replace


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    draft, file = tmp_path / "draft", tmp_path / "file"
    draft.write_text("new", encoding="utf-8")
    file.write_text("old", encoding="utf-8")
    return draft, file


def hold(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let others have every file open: Windows refuses to replace it so many times."""
    left, really = [times], Path.replace

    def refused(draft: Path, file: Path) -> Path:
        left[0] -= 1
        if left[0] >= 0:
            raise PermissionError(13, "Access is denied")
        return really(draft, file)

    monkeypatch.setattr(Path, "replace", refused)


def test_the_file_is_the_new_one_as_a_whole(files: tuple[Path, Path]) -> None:
    draft, file = files
    replace(draft, file)
    assert (file.read_text(encoding="utf-8"), draft.exists()) == ("new", False)


def test_windows_is_asked_again_while_somebody_reads_the_file(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    draft, file = files
    hold(3, monkeypatch)
    replace(draft, file, platform="win32")
    assert file.read_text(encoding="utf-8") == "new"


def test_a_reader_is_waited_for(files: tuple[Path, Path]) -> None:
    draft, file = files
    with file.open(encoding="utf-8") as reader:
        closing = threading.Timer(0.1, reader.close)
        closing.start()
        replace(draft, file)
        closing.join()
    assert file.read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize("platform", ["win32", "linux"])
def test_a_file_that_stays_held_is_left_and_so_is_no_draft(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    draft, file = files
    hold(10_000, monkeypatch)
    with pytest.raises(PermissionError):
        replace(draft, file, platform=platform)
    assert file.read_text(encoding="utf-8") == "old"
    assert not draft.exists()
