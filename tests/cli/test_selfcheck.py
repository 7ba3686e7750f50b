import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from plantdesk import __version__
from plantdesk.platform import paths


def selfcheck(**environment: str) -> tuple[int, dict[str, object], str]:
    """Run it in its own process, since it creates a QApplication; without a display by default."""
    there = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "QT_QPA_PLATFORM")}
    command = [sys.executable, "-m", "plantdesk", "selfcheck"]
    done = subprocess.run(command, env={**there, **environment}, capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout), done.stderr


def test_a_complete_installation_has_no_problems() -> None:
    code, found, errors = selfcheck()
    assert (code, found["problems"], errors) == (0, [], "")
    assert found["version"] == __version__
    assert found["channel"] == "source"
    assert "offscreen" in str(found["platforms"])
    assert "svg" in str(found["image_formats"])


def test_a_folder_that_cannot_be_created_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code, found, _ = selfcheck(PLANTDESK_HOME=str(tmp_path / "file"))
    assert code == 1
    assert str(tmp_path) in str(found["problems"]).replace(r"\\", "\\")


def test_a_missing_module_and_missing_resources_are_problems(tmp_path: Path) -> None:
    (tmp_path / "plantdesk").symlink_to(Path(paths.__file__).parents[1])
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nsys._MEIPASS = '/nowhere'\nsys.modules['plantdesk.ui.api_access.dialog'] = None\n",
        encoding="utf-8",
    )
    code, found, _ = selfcheck(PYTHONPATH=str(tmp_path))
    assert code == 1
    assert "plantdesk.ui.api_access.dialog cannot be imported" in str(found["problems"])
    assert "no icon could be drawn" in str(found["problems"])


def test_an_extra_may_be_missing(tmp_path: Path) -> None:
    raises = "raise ModuleNotFoundError(name='mcp')"
    (tmp_path / "mcp.py").write_text(raises, encoding="utf-8")
    code, found, _ = selfcheck(PYTHONPATH=str(tmp_path))
    assert (code, found["problems"]) == (0, [])


def test_the_channel_is_that_of_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    assert paths.package_channel() == "source"
    (tmp_path / "resources").mkdir()
    (tmp_path / "resources" / "channel").write_text("deb\n", encoding="ascii")
    assert paths.package_channel() == "deb"
