"""Start at login: the entries of each system, in the real place on that system."""

import configparser
import os
import plistlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from plantdesk import APP_ID
from plantdesk.cli.main import main
from plantdesk.platform import login
from plantdesk.platform.login import AutostartEntry, LaunchAgent, LoginItem
from tests.conftest import Refused

ODD = ['/home/Ann O\'Nym/50% "quoted"/a$b`c\\d/plantdesk', "--background"]


@pytest.fixture
def entry(tmp_path: Path) -> Path:
    return tmp_path / "new" / "entry"


@pytest.mark.parametrize("kind", [AutostartEntry, LaunchAgent])
def test_it_can_be_turned_on_and_off(kind: type[AutostartEntry | LaunchAgent], entry: Path) -> None:
    item: LoginItem = kind(entry)
    item.turn_off()
    assert not item.is_on()
    item.turn_on(["plantdesk"])
    item.turn_on(["plantdesk"])
    assert item.is_on()
    item.turn_off()
    assert not item.is_on()
    assert not entry.exists()


@pytest.mark.parametrize("line", ["Hidden=true", "X-GNOME-Autostart-enabled=false"])
def test_an_entry_disabled_by_the_desktop_is_off_until_turned_on(line: str, entry: Path) -> None:
    item = AutostartEntry(entry)
    item.turn_on(["plantdesk"])
    entry.write_text(entry.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    assert not item.is_on()
    item.turn_on(["plantdesk"])
    assert item.is_on()


def unquoted(value: str) -> list[str]:
    """Parse Exec as in the Desktop Entry Specification: escapes of the string, then quotes, then field codes."""
    text = value.replace("\\\\", "\\")
    words = re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', text)
    return [re.sub(r'\\(["`$\\])', r"\1", quoted or plain).replace("%%", "%") for quoted, plain in words]


def test_the_entry_may_contain_any_path(entry: Path) -> None:
    AutostartEntry(entry).turn_on(ODD)
    parser = configparser.RawConfigParser()
    parser.read(entry, encoding="utf-8")
    assert unquoted(parser["Desktop Entry"]["exec"]) == ODD
    assert parser["Desktop Entry"]["tryexec"].replace("\\\\", "\\") == ODD[0]
    assert parser["Desktop Entry"]["icon"] == APP_ID


@pytest.mark.skipif(sys.platform != "linux", reason="its validator is Linux's")
def test_the_entry_is_valid(entry: Path) -> None:
    file = entry.with_suffix(".desktop")
    AutostartEntry(file).turn_on(ODD)
    try:
        done = subprocess.run(["desktop-file-validate", str(file)], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("desktop-file-validate is not installed")
    assert (done.returncode, done.stdout) == (0, "")


def test_the_launch_agent_may_contain_any_path(entry: Path) -> None:
    LaunchAgent(entry).turn_on(ODD)
    agent = plistlib.loads(entry.read_bytes())
    assert (agent["Label"], agent["ProgramArguments"], agent["RunAtLoad"]) == (APP_ID, ODD, True)


@pytest.mark.parametrize("content", [b"", b"no list", b"bplist00", b'<plist version="1.0"><array/></plist>'])
def test_a_damaged_launch_agent_is_off(content: bytes, entry: Path) -> None:
    entry.parent.mkdir()
    entry.write_bytes(content)
    assert not LaunchAgent(entry).is_on()


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such folder")
def test_the_command_turns_it_on_and_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    for switch, state in (("on", "on"), ("off", "off")):
        assert main(["integration", "--login", switch]) == 0
        assert login.login_item().is_on() == (switch == "on")
        assert main(["integration"]) == 0
        assert f"Start at login: {state}\n" in capfd.readouterr().out


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such folder")
def test_a_read_only_folder_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "settings").write_text("no folder", encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path / "settings"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    assert main(["integration", "--login", "on"]) == 1
    assert capfd.readouterr().err.startswith("plantdesk: ")


@pytest.mark.skipif(sys.platform == "win32", reason="there, it can")
def test_path_can_only_be_changed_on_windows(refused: Refused) -> None:
    assert "--path is for Windows" in refused("integration", "--path", "on")


def test_a_start_at_login_is_in_the_background() -> None:
    assert login.background_command()[-1] == "--background"
    done = subprocess.run([*login.background_command()[:-1], "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("plantdesk ")
