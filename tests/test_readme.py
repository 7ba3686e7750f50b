from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from plantdesk.cli.main import main
from plantdesk.cli.options import parser
from tests.test_headless import serving

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
SHOWN = sorted(set(re.findall(r"plantdesk(?: [a-z]+)?(?: (?:[A-Za-z0-9-]|\"[^\"\n]*\")+)*(?=`| >|\)| *\n)", README)))


def commands(top: argparse.ArgumentParser, path: str = "plantdesk") -> dict[str, argparse.ArgumentParser]:
    """Return all parsers by command."""
    inner = [action for action in top._actions if isinstance(action, argparse._SubParsersAction)]  # noqa: SLF001
    if not inner:
        return {path: top}
    found = {} if path != "plantdesk" else {path: top}
    for name, command in inner[0].choices.items():
        found |= commands(command, f"{path} {name}")
    return found


ALL = commands(parser())


@pytest.mark.parametrize("command", ALL)
def test_every_command_is_in_the_readme(command: str) -> None:
    assert re.search(rf"^\| `{command}\b", README, re.MULTILINE)


@pytest.mark.parametrize("command", ALL)
def test_every_option_has_help_and_is_in_the_readme(command: str) -> None:
    for action in ALL[command]._actions:  # noqa: SLF001 - argparse has no public way to list them
        assert action.help or isinstance(action, argparse._SubParsersAction)  # noqa: SLF001
        if action.help != argparse.SUPPRESS:
            assert all(option in README for option in action.option_strings if option.startswith("--"))


@pytest.mark.parametrize("line", [line for line in SHOWN if "ARGUMENTS" not in line])
def test_every_command_in_the_readme_parses(line: str) -> None:
    parser().parse_args(shlex.split(line)[1:])


def test_the_two_developer_commands_are_in_the_readme() -> None:
    assert "python3 packaging/dev.py run " in README
    assert "python3 packaging/dev.py test " in README


@pytest.mark.skipif(os.name != "posix", reason="the program is a shell script here")
def test_the_python_sample_adds_its_plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "plantdesk"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m plantdesk "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    sample = re.findall("```python\n(.*?)```", README, re.DOTALL)[0]
    with serving():
        create = ["plantdesk", "token", "create", "garden-sync", "--output", "garden-sync.token"]
        subprocess.run(create, cwd=tmp_path, check=True)
        done = subprocess.run(
            [sys.executable, "-c", sample], cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True
        )
    assert done.stdout == "{'name': 'Monstera deliciosa', 'tag': 'office'}\n"


def test_the_members_of_json_are_in_the_readme(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["add", "--name", "Fern", "--tag", "bed"]) == 0
    capfd.readouterr()
    found: dict[str, set[str]] = {}
    for command in (["list", "--json"], ["get", "1", "--json"], ["export", "-", "--format", "json"]):
        assert main(command) == 0
        plant = json.loads(capfd.readouterr().out)
        found[command[0]] = set(plant if isinstance(plant, dict) else plant[0])
    file = tmp_path / "plants.csv"
    file.write_text('name\n""\n', encoding="utf-8")
    main(["import", str(file), "--json", "--dry-run"])
    answer = json.loads(capfd.readouterr().out)
    table = README[README.index("JSON has these members") :]
    assert all(f"`{each}`" in table for members in (*found.values(), answer, answer["files"][0]) for each in members)
    assert found["list"] == found["get"]
    assert found["export"] == found["list"] - {"note", "source_name"}
