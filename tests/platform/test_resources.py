import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from plantdesk.platform import paths


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
        "platform/__init__.py",
        "platform/paths.py",
    ):
        (package / module).parent.mkdir(exist_ok=True)
        shutil.copy(Path(paths.__file__).parents[1] / module, package / module)
    code = "from plantdesk.platform import paths; print(paths.resources_folder())"
    printed = subprocess.check_output([sys.executable, "-c", code], cwd=tmp_path, text=True)
    assert Path(printed.strip()) == package / "_resources"
