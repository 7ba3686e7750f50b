import json
import re
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import pins

PINNED = [Requirement(line) for line in pins.read_pinned()]
_LINES = {line: None for place, lines in pins.read_requirements().items() if place != "python" for line in lines}
REQUIRED = [Requirement(line) for line in _LINES]
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
        name, requested = waiting.pop()
        distribution = metadata.distribution(name)
        found[canonicalize_name(name)] = distribution.version
        for line in distribution.requires or ():
            need = Requirement(line)
            applies = need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in requested | {""})
            if applies and canonicalize_name(need.name) not in found:
                waiting.append((need.name, frozenset(need.extras)))
    return found


@pytest.mark.parametrize("python", ["3.11", "3.14"])
@pytest.mark.parametrize("need", REQUIRED, ids=str)
def test_each_requirement_is_pinned_within_its_bounds(need: Requirement, python: str) -> None:
    there = {"python_version": python, "python_full_version": f"{python}.0"}
    if need.marker is None or need.marker.evaluate(there):
        named = [pin for pin in PINNED if canonicalize_name(pin.name) == canonicalize_name(need.name)]
        (pin,) = {str(pin.specifier) for pin in named if pin.marker is None or pin.marker.evaluate(there)}
        assert need.specifier.contains(pin.removeprefix("=="))


def test_every_installed_package_is_pinned() -> None:
    assert set(installed("plantdesk", frozenset({"test"}))) - {"plantdesk"} <= set(versions())


@pytest.mark.skipif(not MADE_BY_DEV, reason="only packaging/dev.py's environment promises the pinned versions")
def test_what_is_installed_is_what_is_pinned() -> None:
    here = installed("plantdesk", frozenset({"test"}))
    assert {name: version for name, version in here.items() if name != "plantdesk"}.items() <= versions().items()


@pytest.fixture(params=[place for place in pins.read_requirements() if place != "python"])
def hashed(request: pytest.FixtureRequest) -> str:
    return (pins.HASHES / f"{request.param}.txt").read_text(encoding="utf-8")


def blocks(text: str) -> dict[str, int]:
    """Return each pin of a file of requirements, and how many hashes it has."""
    found = re.findall(r"^([^#\s].*?)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", text, re.MULTILINE)
    return {pin: hashes.count("--hash=") for pin, hashes in found}


def test_each_requirement_has_an_exact_version_and_hashes(hashed: str) -> None:
    assert pins.compute_fingerprint() in hashed, "run: python3 packaging/pins.py --keep"
    pinned = blocks(hashed)
    assert pinned
    assert len(pinned) == len(re.findall(r"^[^#\s]", hashed, re.MULTILINE))
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*( ; .+)?", pin) for pin in pinned)


@pytest.mark.parametrize("extra", ["", "test", "build"])
def test_an_environment_gets_all_its_requirements(extra: str) -> None:
    lines = [line for file in pins.find_hash_files(extra) for line in blocks(file.read_text(encoding="utf-8"))]
    named = {canonicalize_name(Requirement(line).name) for line in lines}
    required = [line for place in ("run", "build-system", extra) if place for line in pins.read_requirements()[place]]
    assert {canonicalize_name(Requirement(line).name) for line in required} <= named


def test_the_build_environment_has_no_package_of_the_tests() -> None:
    frozen = "".join(file.read_text(encoding="utf-8") for file in pins.find_hash_files("build"))
    assert not {"pytest", "mypy", "schemathesis"}.intersection(Requirement(line).name for line in blocks(frozen))


def test_the_fingerprint_follows_the_requirements(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = pins.compute_fingerprint()
    text = (pins.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    monkeypatch.setattr(pins, "ROOT", tmp_path)
    (tmp_path / "pyproject.toml").write_text(text.replace("line-length = 120", "line-length = 99"), encoding="utf-8")
    assert pins.compute_fingerprint() == before
    (tmp_path / "pyproject.toml").write_text(text.replace("platformdirs>=", "platformdirs>"), encoding="utf-8")
    assert pins.compute_fingerprint() != before
    assert json.dumps(pins.read_requirements())


def test_wheels_for_a_macos_newer_than_the_oldest_one_are_refused() -> None:
    tags = ("macosx_15_0_arm64", "macosx_14_0_arm64", "macosx_10_9_universal2.macosx_15_0_arm64", "win_amd64")
    wheels = ", ".join(f'{{ url = "x-{tag}.whl", hashes = {{ sha256 = "{at}" }} }}' for at, tag in enumerate(tags))
    lock = f'[[packages]]\nname = "x"\nwheels = [{wheels}]\n\n[[packages]]\nname = "no wheels"\n'
    refused = pins.find_refused_hashes(lock)
    assert refused == {"--hash=sha256:0"}
    (block,) = pins.split_blocks("x==1 \\\n    --hash=sha256:0 \\\n    --hash=sha256:1\n", refused)
    assert block == "x==1 \\\n    --hash=sha256:1\n"
