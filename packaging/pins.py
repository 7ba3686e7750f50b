"""Update the pins: exact versions of all packages, and the hashes of their wheels.

    python3 packaging/pins.py            the newest versions that pyproject.toml allows
    python3 packaging/pins.py --keep     only what pyproject.toml requires anew; all other versions stay

Needs uv, whose resolver works for every platform and Python version at once. The results name no index. They are in
hashes/, a file for each list of requirements in pyproject.toml, all with the same versions.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from project import OLDEST_MACOS

ROOT = Path(__file__).resolve().parent.parent
HASHES = ROOT / "packaging" / "hashes"

HEADER = """\
# Exact versions, for every platform and Python {python}. Made by packaging/pins.py, not edited by hand.
# For pyproject.toml's requirements {fingerprint}
"""


def read_requirements() -> dict[str, list[str]]:
    """Return the requirements in pyproject.toml by the name of their list."""
    document = _read_pyproject()
    project, groups = document["project"], document["dependency-groups"]
    return {
        "python": [project["requires-python"]],
        # hatchling requires `editables` only during an editable install.
        "build-system": [*document["build-system"]["requires"], "editables"],
        "run": project["dependencies"],
        **project["optional-dependencies"],
        **{name: groups[name] for name in groups if name != "dev"},  # that is the extra `test`
    }


def _read_pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def read_scripts() -> dict[str, str]:
    """Return the entry points in pyproject.toml; an editable installation with others is outdated."""
    return dict(_read_pyproject()["project"]["scripts"])


def compute_fingerprint() -> str:
    """Return a digest of the requirements, to recognise outdated pins."""
    return hashlib.sha256(json.dumps(read_requirements(), sort_keys=True).encode()).hexdigest()[:16]


def find_hash_files(extra: str) -> list[Path]:
    """Return the files to install an environment with these extras from."""
    return [HASHES / f"{place}.txt" for place in ("run", "build-system", *filter(None, extra.split(",")))]


def read_pinned() -> list[str]:
    """Return the versions that are pinned, such as `idna==3.11`, with the markers of some."""
    texts = [file.read_text(encoding="utf-8") for file in HASHES.glob("*.txt")]
    return sorted({line for text in texts for line in re.findall(r"^([^#\s].*?) \\$", text, re.MULTILINE)})


def resolve(uv: str, *, keep: bool) -> None:
    """Let uv choose the versions, with `keep` the pinned ones if they still fit, and write the hashes."""
    required = read_requirements()
    python = required.pop("python")[0]
    pins = _compile(uv, [line for lines in required.values() for line in lines], read_pinned() if keep else [])
    header = HEADER.format(python=python, fingerprint=compute_fingerprint())
    extras = _read_pyproject()["project"]["optional-dependencies"]
    run: list[str] = []
    refused = find_refused_hashes(_compile(uv, pins.splitlines(), [], "--format", "pylock.toml"))
    for place in sorted(required, key=lambda place: place != "run"):
        blocks = split_blocks(_compile(uv, required[place], pins.splitlines(), "--generate-hashes"), refused)
        run = run or blocks
        # Extras are installed beside the program's requirements, groups alone.
        own_blocks = blocks if place not in extras else [block for block in blocks if block not in run]
        text = header + "".join(own_blocks)
        (HASHES / f"{place}.txt").write_text(text, encoding="utf-8", newline="\n")


def _compile(uv: str, requested: list[str], chosen: list[str], *options: str) -> str:
    """Return the pins to which uv resolves requirements; it prefers the versions in `chosen`."""
    python = read_requirements()["python"][0].removeprefix(">=")
    command = [uv, "pip", "compile", "-", "--quiet", "--universal", "--python-version", python]
    command += ["--only-binary", ":all:", "--strip-extras", "--no-header", "--no-annotate"]
    command += ["--no-emit-index-url", "--no-emit-find-links"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / ("pylock.toml" if "pylock.toml" in options else "chosen.txt")
        if chosen:
            file.write_text("\n".join(chosen), encoding="utf-8")
        # uv prefers the versions in an existing output file, if they still fit.
        command += ["--output-file", str(file), *options]
        subprocess.run(command, input="\n".join(requested), cwd=ROOT, check=True, text=True, capture_output=True)
        return file.read_text(encoding="utf-8")


def find_refused_hashes(lock: str) -> set[str]:
    """Return the hashes of wheels for a macOS newer than the oldest one that is supported.

    A build on a newer macOS would take them, and the frozen program not start on the older one.
    """
    oldest = int(OLDEST_MACOS.partition(".")[0])
    wheels = [wheel for package in tomllib.loads(lock)["packages"] for wheel in package.get("wheels", ())]
    newer = {wheel["hashes"]["sha256"] for wheel in wheels if _parse_macos_version(wheel["url"]) > oldest}
    return {f"--hash=sha256:{digest}" for digest in newer}


def _parse_macos_version(url: str) -> int:
    """Return the macOS that a wheel needs, 0 where it is for another system, or for several."""
    versions = re.findall(r"macosx_(\d+)_", url)
    return min(map(int, versions), default=0)


def split_blocks(text: str, refused: set[str]) -> list[str]:
    """Return each requirement with its hashes but the `refused` ones."""
    blocks = []
    for block in re.findall(r"^\S.*\n(?:[ ]+.*\n)*", text, re.MULTILINE):
        first, *hashes = block.replace(" \\\n", "\n").splitlines()
        kept = [line for line in hashes if line.strip() not in refused]
        blocks.append(" \\\n".join([first, *kept]) + "\n")
    return blocks


def main() -> int:
    """Write the pins; return 1 if uv is missing or fails."""
    uv = shutil.which("uv")
    if uv is None:
        print("Needs uv on the PATH (`pipx install uv`).", file=sys.stderr)
        return 1
    try:
        resolve(uv, keep="--keep" in sys.argv)
    except subprocess.CalledProcessError as error:
        print(error.stderr, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
