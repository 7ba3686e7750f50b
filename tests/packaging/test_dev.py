import ast
import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typing_extensions import override

import dev
import pins
from tests.support.waiting import SECONDS


class Offline(dev.Environment):
    """A real environment without the packages that would be downloaded."""

    extras: tuple[str, ...] = ()
    fails = False

    @override
    def install(self, extra: str) -> None:
        if self.fails:
            raise KeyboardInterrupt
        self.extras += (extra,)


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Offline:
    monkeypatch.setattr(dev, "has_usable_pip", lambda: True)  # else one is unpacked into it, which takes seconds
    return Offline(tmp_path / "env")


@pytest.fixture
def made(environment: Offline) -> Offline:
    environment.make("")
    return environment


def test_an_environment_is_ready_once_it_is_made(environment: Offline) -> None:
    assert not environment.has("")
    environment.make("test")
    assert environment.has("")
    assert environment.has("test")
    assert subprocess.run([environment.python, "-c", ""], check=False).returncode == 0


def test_the_tests_packages_are_added_to_an_environment_that_runs(made: Offline) -> None:
    assert not made.has("test")
    (made.folder / "kept").touch()
    made.make("test")
    assert made.has("test")
    assert made.extras == ("", "test")
    assert (made.folder / "kept").exists()


def test_an_incomplete_environment_is_made_anew(environment: Offline) -> None:
    environment.fails = True
    with pytest.raises(KeyboardInterrupt):
        environment.make("test")
    assert environment.python.exists()
    assert not environment.has("")
    (environment.folder / "half").touch()
    environment.fails = False
    environment.make("test")
    assert environment.has("test")
    assert not (environment.folder / "half").exists()


def test_an_interrupted_addition_asks_for_a_new_one(made: Offline) -> None:
    made.fails = True
    with pytest.raises(KeyboardInterrupt):
        made.make("test")
    assert not made.has("")


@pytest.mark.parametrize("stamp", ["", "{}", '["", "of another time"]'])
def test_a_damaged_stamp_counts_as_none(stamp: str, made: Offline) -> None:
    (made.folder / "made-for.json").write_text(stamp, encoding="utf-8")
    assert not made.has("")


@pytest.mark.parametrize(("of", "name", "value"), [(dev, "ROOT", Path("elsewhere")), (sys, "version", "3.99.0")])
def test_a_moved_checkout_and_another_python_ask_for_a_new_one(
    made: Offline, monkeypatch: pytest.MonkeyPatch, of: object, name: str, value: object
) -> None:
    monkeypatch.setattr(of, name, value)
    assert not made.has("")


def test_other_pins_make_it_outdated(made: Offline, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shutil.copytree(pins.HASHES, tmp_path / "hashes")
    monkeypatch.setattr(pins, "HASHES", tmp_path / "hashes")
    assert made.has("")
    (tmp_path / "hashes" / "run.txt").write_text("pydantic==1.0\n", encoding="utf-8")
    assert not made.has("")


def test_a_missing_python_makes_it_outdated(made: Offline) -> None:
    made.python.unlink()
    assert not made.has("")


def test_its_own_environment_continues_with_the_python_that_it_was_made_from(tmp_path: Path) -> None:
    """The environment has no pip, and cannot be made anew while it runs."""
    folder, script = tmp_path / ".dev" / "env", tmp_path / "packaging" / "dev.py"
    script.parent.mkdir()
    shutil.copy(dev.__file__, script)
    script.with_name("pins.py").write_text("import sys\nraise SystemExit(sys.prefix)\n", encoding="utf-8")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (folder / "made-for.json").touch()  # so that the pins are read before anything is made
    command = [str(dev.Environment(folder).python), str(script), "lint"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert ran.stderr.strip() == sys.base_prefix


def test_only_wheels_of_known_content_are_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(dev, "call", lambda command, **_: commands.append(command))
    dev.Environment(tmp_path).install("test")
    pinned, own = commands
    assert {"--require-hashes", "--no-deps"} <= set(pinned)
    assert pinned[pinned.index("--only-binary") + 1] == ":all:"
    files = [Path(word).stem for option, word in itertools.pairwise(pinned) if option == "--requirement"]
    assert files == ["run", "build-system", "test"]
    assert {"--no-deps", "--no-build-isolation"} <= set(own)


@pytest.mark.parametrize("arguments", ["", "--database x.db", "--port 0"])
@pytest.mark.parametrize("command", ["", "serve", "list", "token list", "--help"])
def test_without_a_command_it_is_the_window(arguments: str, command: str) -> None:
    assert dev.opens_window([*arguments.split(), *command.split()]) is (command == "")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a display")
def test_without_a_display_the_window_is_refused_before_anything_is_installed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert dev.main(["run"]) == 1
    printed = capfd.readouterr().err
    assert "packaging/dev.py run serve" in printed
    assert printed.count("\n") == 1


def test_wrong_usage_shows_the_usage(capfd: pytest.CaptureFixture[str]) -> None:
    assert dev.main(["fly"]) == 2
    assert dev.main([]) == 2
    assert dev.main(["--help"]) == 0
    assert capfd.readouterr().err.count("packaging/dev.py lint") == 3


def test_a_failed_step_shows_its_output(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(dev.RefusedError, match="This step failed"):
        dev.call([sys.executable, "-c", "print('no space'); raise SystemExit(3)"])
    assert "no space" in capfd.readouterr().err


def test_an_old_python_is_refused(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    assert dev.main(["run"]) == 1
    assert capfd.readouterr().err == "PlantDesk needs Python 3.11 or newer; this is 3.9.\n"


def test_an_old_python_can_parse_it() -> None:
    source = Path(dev.__file__).read_text(encoding="utf-8")
    tree = ast.parse(source, feature_version=(3, 7))
    imported = {name.name.split(".")[0] for node in tree.body if isinstance(node, ast.Import) for name in node.names}
    assert imported <= sys.stdlib_module_names


def test_variables_of_another_python_are_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.getcwd())  # noqa: PTH109 - a value like any
    dev.call([sys.executable, "-c", "import os; raise SystemExit('PYTHONPATH' in os.environ)"])
