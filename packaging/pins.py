"""Refresh packaging/constraints.txt: exact versions of all that PlantDesk's users and developers get.

    python3 packaging/pins.py            the newest versions that fit pyproject.toml
    python3 packaging/pins.py --keep     only what pyproject.toml asks anew; all else stays

Needs uv, for its resolver answers for every platform and Python version at once. The result names no
index: where packages come from is the business of whoever installs them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "packaging" / "constraints.txt"

HEADER = """\
# Exact versions, for every platform and Python {python}. Made by packaging/pins.py, not edited by hand.
# For pyproject.toml's requirements {fingerprint}
"""


def requirements() -> dict[str, list[str]]:
    """What pyproject.toml asks for, by the place that asks."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = document["project"]
    return {
        "python": [project["requires-python"]],
        "build-system": document["build-system"]["requires"],
        "run": project["dependencies"],
        **project["optional-dependencies"],
    }


def fingerprint() -> str:
    """A short digest of the requirements, by which a stale constraints.txt is known."""
    return hashlib.sha256(json.dumps(requirements(), sort_keys=True).encode()).hexdigest()[:16]


def resolve(uv: str, *, keep: bool) -> None:
    """Let uv choose the versions and write them."""
    asked = requirements()
    python = asked.pop("python")[0]
    # hatchling asks for `editables` only while it makes an editable install.
    wanted = [line for lines in asked.values() for line in lines] + ["editables"]
    command = [uv, "pip", "compile", "-", "--quiet", "--universal", "--python-version", python.removeprefix(">=")]
    command += ["--strip-extras", "--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
    command += ["--output-file", str(CONSTRAINTS)] + ([] if keep else ["--upgrade"])
    subprocess.run(command, input="\n".join(wanted), cwd=ROOT, check=True, text=True, capture_output=True)
    pins = CONSTRAINTS.read_text(encoding="utf-8")
    header = HEADER.format(python=python, fingerprint=fingerprint())
    CONSTRAINTS.write_text(header + pins, encoding="utf-8", newline="\n")


def main() -> int:
    """Write constraints.txt, or say why not."""
    parser = argparse.ArgumentParser(description="Refresh packaging/constraints.txt.")
    parser.add_argument("--keep", action="store_true", help="keep the versions that are pinned already")
    options = parser.parse_args()
    uv = shutil.which("uv")
    if uv is None:
        print("Needs uv on the PATH (`pipx install uv`).", file=sys.stderr)
        return 1
    try:
        resolve(uv, keep=options.keep)
    except subprocess.CalledProcessError as error:
        print(error.stderr, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
