import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from plantdesk.platform import paths
from tests.support.programs import is_open_to_all

FOLDERS = [paths.data_folder, paths.settings_folder, paths.log_folder, paths.runtime_folder]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda function: function.__name__)
def test_plantdesk_home_moves_everything(folder: Callable[[], Path], home: Path) -> None:
    assert folder().is_relative_to(home)
    assert folder().is_dir() is (folder is paths.data_folder)


def test_the_folders_are_separate() -> None:
    assert len({folder() for folder in FOLDERS}) == len(FOLDERS)


def test_a_home_may_begin_with_a_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("PLANTDESK_HOME", "~/here")
    assert paths.database_file() == tmp_path / "here" / "data" / "plants.db"


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_an_existing_folder_is_made_private(home: Path) -> None:
    paths.create_folder(home / "data")
    (home / "data").chmod(0o777)
    assert stat.S_IMODE(paths.data_folder().stat().st_mode) == 0o700


def test_the_names_for_completions_fail_silently_for_an_unknown_user() -> None:
    command = [sys.executable, "-m", "plantdesk", "__complete", "tokens", "--database", "~no-such-user/plants.db"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


#: The user may be unable to read the modules, so they are imported before.
_AS_NOBODY = """
import gettext, locale, os, platformdirs, shutil, sys
from plantdesk.cli import main as cli, options
from plantdesk.api import discovery
from plantdesk.cli.commands import info, program
from plantdesk.platform import login
os.setuid(54321)
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root may become a user who is not known")
@pytest.mark.parametrize(("home", "command"), [(None, "info"), ("~/x", "info"), (None, "integration")])
def test_a_missing_home_folder_is_reported(home: str | None, command: str) -> None:
    if not is_open_to_all(Path(__file__).parent):
        pytest.skip("only root may read this checkout")
    environment = {} if home is None else {"PLANTDESK_HOME": home}
    arguments = [sys.executable, "-c", _AS_NOBODY, command]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch("plantdesk: You have no home folder here. Set PLANTDESK_HOME .*\n", done.stderr)


def test_a_relative_home_is_resolved_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLANTDESK_HOME", "here")
    assert paths.data_folder() == tmp_path / "here" / "data"


@pytest.mark.skipif(os.name != "posix", reason="Windows is asked, and no variable changes its answer")
@pytest.mark.parametrize("value", ["", None])
def test_default_folders_are_the_systems(value: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    if value is None:
        monkeypatch.delenv("PLANTDESK_HOME")
    else:
        monkeypatch.setenv("PLANTDESK_HOME", value)
    assert paths.data_folder().is_relative_to(tmp_path)
    assert paths.data_folder().name == "PlantDesk"


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("PLANTDESK_HOME", str(tmp_path / "file"))
    with pytest.raises(paths.FolderUnusableError, match="Set PLANTDESK_HOME to a folder"):
        paths.data_folder()


# --- resources --------------------------------------------------------------------------------------------------------


def test_a_checkout_has_them_at_its_root() -> None:
    assert (paths.resources_folder() / "icons" / "plantdesk.svg").is_file()


def test_a_frozen_program_has_them_in_its_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "_MEIPASS", "bundle", raising=False)
    assert paths.resources_folder() == Path("bundle") / "resources"


def test_an_installed_wheel_has_them_in_the_package(tmp_path: Path) -> None:
    package = tmp_path / "plantdesk"
    (package / "_resources").mkdir(parents=True)
    for module in (
        "__init__.py",
        "domain/__init__.py",
        "domain/errors.py",
        "domain/texts.py",
        "platform/__init__.py",
        "platform/paths.py",
    ):
        (package / module).parent.mkdir(exist_ok=True)
        shutil.copy(Path(paths.__file__).parents[1] / module, package / module)
    code = "from plantdesk.platform import paths; print(paths.resources_folder())"
    printed = subprocess.check_output([sys.executable, "-c", code], cwd=tmp_path, text=True)
    assert Path(printed.strip()) == package / "_resources"
