"""Run PlantDesk, its tests or its linters from a fresh checkout, with nothing but Python and pip.

    python3 packaging/dev.py run [ARGUMENTS]     PlantDesk; the arguments are those of `plantdesk`
    python3 packaging/dev.py test [ARGUMENTS]    the tests; the arguments are those of pytest
    python3 packaging/dev.py test --cov          the tests, with the branch coverage of plantdesk/
    python3 packaging/dev.py smoke               use the program once, its window offscreen (Linux, macOS)
    python3 packaging/dev.py use [ARGUMENTS]     the tests of use: the real window under Xvfb (Linux)
    python3 packaging/dev.py lint                ruff: rules and format
    python3 packaging/dev.py types [ARGUMENTS]   mypy, strict; the arguments are its own, such as --platform win32
    python3 packaging/dev.py bench [ARGUMENTS]   the load benchmark (Linux); the arguments are its own
    python3 packaging/dev.py fuzz TARGET SECONDS fuzz the readers of `files` or of `json` (Linux, x86-64)
    python3 packaging/dev.py texts               collect the window's texts, update the translations
    python3 packaging/dev.py hooks               let git run lint and types before a commit (pre-commit)

The first call creates an environment in the folder .dev of the checkout, from the wheels whose hashes are in hashes/;
later calls use it. Nothing outside the checkout changes, except that root gets missing Debian packages of Qt's system
libraries; other users get the command to run.

Standard library only, and old syntax: an old Python must be able to report that it is too old.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

TYPE_CHECKING = False
ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".dev"
OLDEST_PYTHON = (3, 11)

# The extras of pyproject.toml that an environment is made with. build.py has an environment of its own, so that nothing
# else gets into a frozen program.
EXTRAS = ("", "test", "test,bench", "test,fuzz", "build")
# The extra that each command needs, and the modules or the script that it runs in turn.
COMMANDS = {
    "run": ("", [["plantdesk"]]),
    "test": ("test", [["pytest"]]),
    "use": ("test", [["pytest", "tests/use"]]),
    "lint": ("test", [["ruff", "check"], ["ruff", "format", "--check"]]),
    "hooks": ("test", [["pre_commit", "install", "--hook-type", "pre-commit", "--hook-type", "commit-msg"]]),
    "types": ("test", [["mypy"]]),
    "smoke": ("test", [["tests.smoke"]]),
    "texts": ("test", [["packaging/translations.py"]]),
    "bench": ("test,bench", [["tests.benchmarks.load"]]),
    "fuzz": ("test,fuzz", [["tests.fuzz"]]),
}


class RefusedError(Exception):
    """A reason to stop that the user can resolve."""


def say(text: str) -> None:
    """Print to standard error; standard output is the started program's."""
    print(text, file=sys.stderr, flush=True)


# The environment --------------------------------------------------------------------------------


class Environment:
    """A virtual environment with PlantDesk, editable, and a stamp of what it was made for.

    The stamp is written last. Without it, or with another one, the environment is made anew: after an interruption,
    a move, or with another Python.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
        self._stamp = folder / "made-for.json"

    def has(self, extra: str) -> bool:
        """Return whether the environment is complete, made for the current requirements, and has that extra."""
        try:
            made_for = self._stamp.read_text(encoding="utf-8")
        except (OSError, ValueError):
            return False
        sufficient = [extras for extras in EXTRAS if not extra or extra in (extras, extras.partition(",")[0])]
        return self.python.exists() and made_for in map(_build_stamp, sufficient)

    def ensure(self, extra: str) -> Environment:
        """Make the environment unless it is complete, and compile changed translations; return it."""
        with hold_lock():
            if not self.has(extra):
                self.make(extra)
            if have_translations_changed():
                call([str(self.python), "packaging/build_hook.py"])
        return self

    def make(self, extra: str) -> None:
        """Create the environment, or add the requirements of the extra to a complete one. Raises RefusedError."""
        started_at = time.monotonic()
        say("Preparing an environment in .dev (the first time, some 200 MB are downloaded) …")
        if self.has(""):
            self._stamp.unlink()
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
            self._create()
        self.install(extra)
        self._stamp.write_text(_build_stamp(extra), encoding="utf-8")
        say(f"Ready after {time.monotonic() - started_at:.0f} s.")

    def _create(self) -> None:
        """Create an empty environment.

        Debian's python3 has the module venv but not the pip that venv installs (package python3-venv), and its own pip
        only installs into environments (PEP 668). `pip --python` does both.
        """
        if has_usable_pip():
            call([sys.executable, "-m", "venv", "--without-pip", str(self.folder)])
        elif find_spec("ensurepip"):
            call([sys.executable, "-m", "venv", str(self.folder)])
        else:
            raise RefusedError("This Python has no pip. Install it (Debian: apt-get install python3-pip) first.")

    def install(self, extra: str) -> None:
        """Install PlantDesk and its requirements: only wheels with the pinned hashes."""
        import pins

        pip = [sys.executable, "-m", "pip", "--python", str(self.python)]
        if not has_usable_pip():
            pip = [str(self.python), "-m", "pip"]
        install = [*pip, "install", "--quiet", "--no-input", "--disable-pip-version-check"]
        # The user's variables or pip.conf must not change what is installed.
        pip_environment = {**_clean_environment(), "PIP_CONSTRAINT": "", "PIP_REQUIRE_HASHES": "0", "PIP_USER": "0"}
        pinned = [word for file in pins.find_hash_files(extra) for word in ("--requirement", str(file))]
        # The files name every package. Without --no-deps, pip 23 still looks for the newest version of a package
        # that is required with an extra, and refuses it: it has no pin.
        call([*install, "--no-deps", "--require-hashes", "--only-binary", ":all:", *pinned], env=pip_environment)
        # A checkout has no hash. It is built with the packages installed above.
        call([*install, "--no-deps", "--no-build-isolation", "--editable", "."], env=pip_environment)


def _build_stamp(extra: str) -> str:
    """Return a text with all that an environment depends on: pins, entry points, Python, and the checkout."""
    import pins

    pinned = b"".join(file.read_bytes() for file in pins.find_hash_files(extra))
    digest = pins.compute_fingerprint() + hashlib.sha256(pinned).hexdigest()
    return json.dumps([extra, digest, pins.read_scripts(), sys.version, sys.base_prefix, str(ROOT)])


def have_translations_changed() -> bool:
    """Return whether a compiled translation is missing, left over or older than its text."""
    folder = ROOT / "resources" / "languages"
    texts, compiled = (
        {file.stem: file.stat().st_mtime_ns for file in folder.glob(pattern)} for pattern in ("*.po", "*.mo")
    )
    return texts.keys() != compiled.keys() or any(compiled[name] < texts[name] for name in texts)


def has_usable_pip() -> bool:
    """Return whether this Python's pip can install into another environment (22.3 and later)."""
    try:
        major, minor = metadata.version("pip").split(".")[:2]
    except metadata.PackageNotFoundError:
        return False
    return (int(major), int(minor)) >= (22, 3)


def _clean_environment() -> dict[str, str]:
    """Return the environment variables, without those that would add another Python's packages or slow it down.

    The tests start hundreds of programs: without bytecode on disk each one would compile PlantDesk anew.
    """
    unwanted = ("PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if name not in unwanted}


def call(command: list[str], env: dict[str, str] | None = None) -> None:
    """Run a command; if it fails, print its output and raise RefusedError."""
    result = run_captured(command, env)
    if result.returncode != 0:
        say(result.stdout)
        raise RefusedError(f"This step failed: {shlex.join(command)}")


def run_captured(command: list[str], env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command without input; `stdout` has all of its output."""
    return subprocess.run(
        command,
        cwd=ROOT,
        env=env or _clean_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )


@contextlib.contextmanager
def hold_lock(folder: Path = HOME) -> Iterator[None]:
    """Hold a lock in the folder: that of an empty database, which the system releases when this process ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(sqlite3.connect(folder / "lock", timeout=3600, isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        yield


# Qt's system libraries --------------------------------------------------------------------------


def install_system_libraries(*, window: bool, programs: bool) -> None:
    """Install the system libraries that Qt needs, and the `programs` of the tests of use.

    Raises RefusedError with the command, or where no window can be opened; tests without their programs are skipped.
    """
    sys.path.insert(0, str(ROOT))
    from plantdesk.platform import display

    if window and not programs and not display.has_display(os.environ):
        raise RefusedError(str(display.NoDisplayError("python3 packaging/dev.py run serve")))
    missing = display.find_missing_libraries([*display.QT_LIBRARIES, *(display.X11_LIBRARIES if window else [])])
    may_install = shutil.which("apt-get") is not None and os.access("/var/lib/dpkg", os.W_OK)
    if missing and not may_install:
        raise RefusedError(str(display.format_install_hint(missing)))
    packages = {library.debian for library in missing}
    packages |= {*find_missing_programs()} if programs and may_install else set()
    if packages:
        say("Installing Debian packages: {} …".format(" ".join(sorted(packages))))
        install(sorted(packages))


def find_missing_programs() -> list[str]:
    """Return the Debian packages of the programs that the tests of use need and that are not installed."""
    return [name.lower() for name in ("Xvfb", "openbox", "xdotool", "xclip") if shutil.which(name) is None]


def install(packages: list[str]) -> None:
    """Install Debian packages; update the package lists only if they are too old."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
    first_try = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if first_try.returncode != 0:
        call(["apt-get", "update"], env=environment)
        call(command, env=environment)


# The commands -----------------------------------------------------------------------------------


def opens_window(arguments: list[str]) -> bool:
    """Return whether `plantdesk ARGUMENTS` opens the window: without a command and without --help."""
    options = (ROOT / "plantdesk" / "cli" / "options.py").read_text(encoding="utf-8")
    commands = re.findall(r'add_(?:command|group)\(\s*commands,\s*"(\w+)"', options)
    return not {*commands, "-h", "--help", "-V", "--version"}.intersection(arguments)


def prepare(name: str, arguments: list[str]) -> Environment:
    """Install what a command needs, system libraries included; return its environment. Raises RefusedError."""
    window = name == "use" or (name == "run" and opens_window(arguments))
    if sys.platform.startswith("linux") and (window or name in {"test", "smoke"}):
        install_system_libraries(window=window, programs=name == "use")
    return Environment(HOME / "env").ensure(COMMANDS[name][0])


def start(command: list[str], cwd: Path) -> int:
    """Run a program to its end; on POSIX in place of this process, so that signals reach it."""
    if os.name == "posix":
        os.chdir(cwd)
        os.execve(command[0], command, _clean_environment())  # noqa: S606 - no shell is wanted
    return subprocess.call(command, cwd=cwd, env=_clean_environment())


def main(arguments: list[str]) -> int:
    """Run a command of COMMANDS, and return its exit code; print the usage if it is none of them."""
    if sys.version_info < OLDEST_PYTHON:
        say("PlantDesk needs Python {}.{} or newer; this is {}.{}.".format(*OLDEST_PYTHON, *sys.version_info[:2]))
        return 1
    if not arguments or arguments[0] not in COMMANDS:
        say((__doc__ or "").strip())
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    name, rest = arguments[0], arguments[1:]
    try:
        python = str(prepare(name, rest).python)
    except (RefusedError, OSError) as reason:
        say(str(reason))
        return 1
    except KeyboardInterrupt:
        return 130
    cwd = Path.cwd() if name == "run" else ROOT
    *first, last = COMMANDS[name][1]
    for module in first:
        code = subprocess.call([python, *_run_options(module[0]), *module], cwd=cwd, env=_clean_environment())
        if code:
            return code
    if name == "test" and rest in ([], ["--cov"]):  # all tests; half of their time they wait, so two for each processor
        rest = ["--numprocesses", str(2 * (os.cpu_count() or 1)), "--dist", "worksteal", *rest]
    return start([python, *_run_options(last[0]), *last, *rest], cwd)


def _run_options(module: str) -> list[str]:
    """Return Python's options for a module, or for a script, which imports what is beside it."""
    return [] if module.endswith(".py") else ["-P", "-m"]


if __name__ == "__main__":
    if os.path.realpath(sys.prefix) == str(HOME / "env"):  # it has no pip, and may have to be made anew
        sys.exit(start([vars(sys)["_base_executable"], __file__, *sys.argv[1:]], Path.cwd()))
    sys.exit(main(sys.argv[1:]))
