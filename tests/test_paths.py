from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from plantdesk import paths

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FOLDERS = [paths.data_folder, paths.settings_folder, paths.log_folder]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda function: function.__name__)
def test_plantdesk_home_moves_everything(folder: Callable[[], Path], home: Path) -> None:
    assert folder().is_relative_to(home)
    assert folder().is_dir()


def test_the_three_folders_are_apart() -> None:
    assert len({folder() for folder in FOLDERS}) == 3


def test_files_stand_in_their_folders(home: Path) -> None:
    assert paths.database_file() == home / "data" / "plants.db"
    assert paths.runtime_file() == home / "data" / "runtime.json"
    assert paths.settings_file() == home / "settings" / "settings.json"


@pytest.mark.skipif(os.name != "posix", reason="Windows keeps a person's folders private by itself")
def test_folders_are_their_owners_alone(home: Path) -> None:
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (paths.data_folder(), home)} == {0o700}


def test_a_relative_home_does_not_follow_a_change_of_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLANTDESK_HOME", "here")
    assert paths.data_folder() == tmp_path / "here" / "data"


@pytest.mark.skipif(os.name != "posix", reason="Windows is asked, and no variable changes its answer")
@pytest.mark.parametrize("value", ["", None])
def test_without_a_home_the_system_decides(value: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    if value is None:
        monkeypatch.delenv("PLANTDESK_HOME")
    else:
        monkeypatch.setenv("PLANTDESK_HOME", value)
    assert paths.data_folder().is_relative_to(tmp_path)
    assert paths.data_folder().name == "PlantDesk"


def test_a_folder_that_cannot_be_made_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("PLANTDESK_HOME", str(tmp_path / "file"))
    with pytest.raises(paths.FolderUnusableError, match="Set PLANTDESK_HOME to a folder"):
        paths.data_folder()
