"""From a fresh checkout to a running PlantDesk, or to its tests, with nothing but Python and pip.

    python3 packaging/dev.py run [ARGUMENTS]     PlantDesk itself; the arguments are those of `plantdesk`
    python3 packaging/dev.py test [ARGUMENTS]    the tests; the arguments are those of pytest
    python3 packaging/dev.py lint                ruff: rules and format
    python3 packaging/dev.py types               mypy, strict; the program also as Windows and macOS have it
    python3 packaging/dev.py bench [ARGUMENTS]   the load benchmark (Linux); the arguments are its own

The first call makes an environment in the folder .dev of the checkout, with the wheels whose hashes are in
hashes/; later calls find it ready. Nothing outside the checkout changes, but for Debian's packages
of Qt's system libraries: root gets those that are missing, anyone else gets the line to type.

Standard library only, and old syntax: an old Python must get as far as being told that it is too old.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".dev"
OLDEST = (3, 11)

# The extras of pyproject.toml that an environment is made with. build.py's is one of its own: only what is in there
# can slip into a frozen program.
EXTRAS = ("", "test", "test,bench", "build")
# The program's branches for other systems, each with a cache of its own: they would drive each other's out.
_MYPY_FOR = ["mypy", "--cache-dir", ".mypy_cache/other", "plantdesk", "--platform"]
# What each command starts, after `python -m`, and which extra it needs.
COMMANDS = {
    "run": ("", [["plantdesk"]]),
    "test": ("test", [["pytest"]]),
    "lint": ("test", [["ruff", "check"], ["ruff", "format", "--check"]]),
    "types": ("test", [["mypy"], *([*_MYPY_FOR, system] for system in ("win32", "darwin"))]),
    "bench": ("test,bench", [["tests.benchmarks.load"]]),
}


class RefusedError(Exception):
    """A reason to stop that a person can do something about."""


def say(text: str) -> None:
    """Tell on standard error, so that standard output holds only what the started program prints."""
    print(text, file=sys.stderr, flush=True)


# The environment --------------------------------------------------------------------------------


class Environment:
    """A virtual environment with PlantDesk in it, editable, and a stamp that says what it was made for.

    The stamp is written last: without it, or with another one, the environment is made anew from nothing. So
    one that was interrupted, moved, or made by another Python is never used.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
        self._stamp = folder / "made-for.json"

    def has(self, extra: str) -> bool:
        """Whether it is whole, made from the same requirements, and holds that extra."""
        try:
            made_for = self._stamp.read_text(encoding="utf-8")
        except (OSError, ValueError):
            return False
        enough = [each for each in EXTRAS if not extra or extra in (each, each.partition(",")[0])]
        return self.python.exists() and made_for in map(_wanted, enough)

    def make(self, extra: str) -> None:
        """Make it, or add the extra to it."""
        began = time.monotonic()
        say("Preparing an environment in .dev (the first time, some 200 MB are downloaded) …")
        if self.has(""):
            self._stamp.unlink()
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
            self._create()
        self.install(extra)
        self._stamp.write_text(_wanted(extra), encoding="utf-8")
        say(f"Ready after {time.monotonic() - began:.0f} s.")

    def _create(self) -> None:
        """Make the empty environment.

        Debian's python3 has the module venv but not the pip that venv would put in (package python3-venv), while its
        own pip refuses to install anywhere but into an environment (PEP 668). `pip --python` joins the two.
        """
        if own_pip():
            call([sys.executable, "-m", "venv", "--without-pip", str(self.folder)])
        elif find_spec("ensurepip"):
            call([sys.executable, "-m", "venv", str(self.folder)])
        else:
            raise RefusedError("This Python has no pip. Install it (Debian: apt-get install python3-pip) first.")

    def install(self, extra: str) -> None:
        """Put PlantDesk and what it needs into it: wheels with the pinned hashes, and nothing else."""
        import pins

        pip = [sys.executable, "-m", "pip", "--python", str(self.python)]
        if not own_pip():
            pip = [str(self.python), "-m", "pip"]
        install = [*pip, "install", "--quiet", "--no-input", "--disable-pip-version-check"]
        # These would change what is installed, or fail in here, if the user has them in variables or in a pip.conf.
        own = {**_clean(), "PIP_CONSTRAINT": "", "PIP_REQUIRE_HASHES": "0", "PIP_USER": "0"}
        pinned = [word for file in pins.files(extra) for word in ("--requirement", str(file))]
        call([*install, "--require-hashes", "--only-binary", ":all:", *pinned], env=own)
        # A checkout has no hash. It is built with the packages that have just been installed.
        call([*install, "--no-deps", "--no-build-isolation", "--editable", "."], env=own)


def _wanted(extra: str) -> str:
    """Return what an environment with the extra depends on; any difference asks for a new one."""
    import pins

    pinned = b"".join(file.read_bytes() for file in pins.files(extra))
    asked = pins.fingerprint() + hashlib.sha256(pinned).hexdigest()
    return json.dumps([extra, asked, sys.version, sys.base_prefix, str(ROOT)])


def own_pip() -> bool:
    """Whether the Python we run on has a pip that can install into another environment (22.3 and later)."""
    try:
        major, minor = metadata.version("pip").split(".")[:2]
    except metadata.PackageNotFoundError:
        return False
    return (int(major), int(minor)) >= (22, 3)


def _clean() -> dict[str, str]:
    """The environment variables, without those that would mix another Python's packages in."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}


def call(command: list[str], env: dict[str, str] | None = None, *, private: bool = False) -> None:
    """Run a step; when it fails, show all it said, and its arguments unless they are private."""
    done = heard(command, env)
    if done.returncode != 0:
        say(done.stdout)
        raise RefusedError(f"This step failed: {command[0] if private else shlex.join(command)}")


def heard(command: list[str], env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command that is given nothing to read; `stdout` holds all it said."""
    return subprocess.run(
        command,
        cwd=ROOT,
        env=env or _clean(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Keep a second call waiting while the first prepares. The system lets go of the lock if we are killed."""
    HOME.mkdir(exist_ok=True)
    with (HOME / "lock").open("a+b") as file:
        if sys.platform == "win32":
            import msvcrt

            locked = False
            while not locked:
                file.seek(0)
                with contextlib.suppress(OSError):  # LK_LOCK gives up after ten seconds
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                    locked = True
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


# Qt's system libraries --------------------------------------------------------------------------


def system_libraries(*, window: bool) -> None:
    """Make sure that Qt finds what it needs of the system: install it, or say how."""
    sys.path.insert(0, str(ROOT))
    from plantdesk import display

    if window and not display.has_display(os.environ):
        raise RefusedError(str(display.NoDisplayError("python3 packaging/dev.py run serve")))
    wanted = [*display.QT_LIBRARIES, *(display.X11_LIBRARIES if window else [])]
    missing = display.missing_libraries(wanted)
    if not missing:
        return
    if shutil.which("apt-get") is None or not os.access("/var/lib/dpkg", os.W_OK):
        raise RefusedError(display.install_hint(missing))
    packages = sorted({library.debian for library in missing})
    say("Installing Debian's packages {} …".format(" ".join(packages)))
    install(packages)


def install(packages: list[str]) -> None:
    """Install Debian packages, with a fresh package list only where the one there does not do."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
    try_first = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if try_first.returncode != 0:
        call(["apt-get", "update"], env=environment)
        call(command, env=environment)


# The commands -----------------------------------------------------------------------------------


def opens_window(arguments: list[str]) -> bool:
    """Whether `plantdesk ARGUMENTS` is the window: no command among them, and no call for help."""
    commands = {path.stem for path in (ROOT / "plantdesk" / "commands").glob("*.py")}
    return not commands.union(("-h", "--help", "--version")).intersection(arguments)


def prepare(name: str, arguments: list[str]) -> Environment:
    """Make everything ready for a command."""
    extra, _ = COMMANDS[name]
    needs_qt = name == "test" or (name == "run" and opens_window(arguments))
    if needs_qt and sys.platform.startswith("linux"):
        system_libraries(window=name == "run")
    environment = Environment(HOME / "env")
    with alone():
        if not environment.has(extra):
            environment.make(extra)
    return environment


def start(command: list[str], cwd: Path) -> int:
    """Run a program to its end, in this one's place where the system can do that, so that signals reach it."""
    if os.name == "posix":
        os.chdir(cwd)
        os.execve(command[0], command, _clean())  # noqa: S606 - no shell is wanted
    return subprocess.run(command, cwd=cwd, env=_clean(), check=False).returncode


def main(arguments: list[str]) -> int:
    """Do what the command line asks."""
    if sys.version_info < OLDEST:
        say("PlantDesk needs Python {}.{} or newer; this is {}.{}.".format(*OLDEST, *sys.version_info[:2]))
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
        code = subprocess.run([python, "-P", "-m", *module], cwd=cwd, env=_clean(), check=False).returncode
        if code != 0:
            return code
    return start([python, "-P", "-m", *last, *rest], cwd)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
