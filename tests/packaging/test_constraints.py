from __future__ import annotations

import json
import re
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import pins

LINES = [line for line in pins.CONSTRAINTS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
PINNED = [Requirement(line) for line in LINES]
ASKED = [Requirement(line) for place, lines in pins.requirements().items() if place != "python" for line in lines]
MADE_BY_DEV = (Path(sys.prefix) / "made-for.json").exists()


def versions() -> dict[str, str]:
    """Return what is pinned for the platform and Python that run this."""
    applying = [pin for pin in PINNED if pin.marker is None or pin.marker.evaluate()]
    return {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in applying}


def installed(root: str, extras: frozenset[str]) -> dict[str, str]:
    """Return the distribution and all that it needs, as they are installed here."""
    found: dict[str, str] = {}
    waiting = [(root, extras)]
    while waiting:
        name, wanted = waiting.pop()
        distribution = metadata.distribution(name)
        found[canonicalize_name(name)] = distribution.version
        for line in distribution.requires or ():
            need = Requirement(line)
            applies = need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in wanted | {""})
            if applies and canonicalize_name(need.name) not in found:
                waiting.append((need.name, frozenset(need.extras)))
    return found


def test_it_was_made_for_todays_requirements() -> None:
    text = pins.CONSTRAINTS.read_text(encoding="utf-8")
    assert pins.fingerprint() in text, "run: python3 packaging/pins.py --keep"


@pytest.mark.parametrize("python", ["3.11", "3.14"])
@pytest.mark.parametrize("need", ASKED, ids=str)
def test_what_pyproject_asks_is_pinned_within_its_bounds(need: Requirement, python: str) -> None:
    there = {"python_version": python, "python_full_version": f"{python}.0"}
    if need.marker is None or need.marker.evaluate(there):
        named = [pin for pin in PINNED if canonicalize_name(pin.name) == canonicalize_name(need.name)]
        (pin,) = [pin for pin in named if pin.marker is None or pin.marker.evaluate(there)]
        assert need.specifier.contains(str(pin.specifier).removeprefix("=="))


@pytest.mark.parametrize("line", LINES)
def test_each_line_is_one_exact_version_and_nothing_else(line: str) -> None:
    assert re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*( ; .+)?", line)


def test_all_that_is_needed_here_is_pinned() -> None:
    assert set(installed("plantdesk", frozenset({"test"}))) - {"plantdesk"} <= set(versions())


@pytest.mark.skipif(not MADE_BY_DEV, reason="only packaging/dev.py's environment promises the pinned versions")
def test_what_is_installed_is_what_is_pinned() -> None:
    here = installed("plantdesk", frozenset({"test"}))
    assert {name: version for name, version in here.items() if name != "plantdesk"}.items() <= versions().items()


def test_the_fingerprint_follows_the_requirements(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = pins.fingerprint()
    text = (pins.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    monkeypatch.setattr(pins, "ROOT", tmp_path)
    (tmp_path / "pyproject.toml").write_text(text.replace("line-length = 120", "line-length = 99"), encoding="utf-8")
    assert pins.fingerprint() == before
    (tmp_path / "pyproject.toml").write_text(text.replace("platformdirs>=", "platformdirs>"), encoding="utf-8")
    assert pins.fingerprint() != before
    assert json.dumps(pins.requirements())
