"""Uses the window with the screen reader Orca, and compares what it speaks with `orca.txt`.

    PYTHONPATH=packaging python -m tests.orca [--update]

In the file, lines with a question mark may be missing: what Orca says of the focus depends on what comes first.
`--update` marks what differs in this way, to be looked at.

Orca runs in a clean Debian 13: that of Debian 12 speaks no announcements. It needs no speech synthesiser; its debug
file has each sentence. Needs root and the network, and what the tests of use need.
"""

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from package_tests import chroots
from tests.support.programs import Home
from tests.support.waiting import until
from tests.use.user import Screen, User

_GOLDEN = Path(__file__).with_suffix(".txt")
#: The packages of Debian that it needs.
_PACKAGES = ["orca", "at-spi2-core", "dbus-daemon", "x11-xkb-utils"]
#: Seconds without a sentence after which a step is over.
_QUIET = 2.0
#: Seconds for which a step waits for what the file has, as on a busy machine.
_LONGEST = 20.0
_SPOKEN = re.compile(r"SPEECH OUTPUT: '(.*)' \[?\{")
#: What differs between runs.
_TIMES = re.compile(r"\d{1,2}:\d\d\W[AP]M|[A-Z][a-z]+ \d{1,2}, \d{4}")
#: Run in Debian 13 with a session bus of its own, whose address and sockets in /tmp the program outside shares.
_START = 'echo "$DBUS_SESSION_BUS_ADDRESS" >"$1/address" && exec orca --replace --debug-file="$1/speech"'
#: Orca runs this module: without it letters are spoken as they are typed, and the debug file lags behind.
_CUSTOM = """from orca import debug, settings
settings.enableKeyEcho = False
debug.debugFile.reconfigure(line_buffering=True)
"""


#: The title of each step, what the user does, and with what.
_STEPS: list[tuple[str, Callable[..., object], *tuple[str, ...]]] = [
    ("Start", User.expect_text, "API on"),
    ("Enter in the empty form", User.press, "Return"),
    ("Salvia in Name", User.type, "Salvia"),
    ("Tab", User.press, "Tab"),
    ("kit in Tag", User.type, "kit"),
    ("Down in the offers", User.press, "Down"),
    ("Enter, Enter", User.press, "Return", "Return"),
    ("Shift+Tab", User.press, "shift+Tab"),
    ("abc", User.type, "abc"),
    ("Tab", User.press, "Tab"),
    ("Rose", User.type, "Rose"),
    ("Enter", User.press, "Return"),
    ("Escape, Escape", User.press, "Escape", "Escape"),
    ("Ctrl+F", User.press, "ctrl+f"),
    ("aloe", User.type, "aloe"),
    ("zzz", User.type, "zzz"),
    ("Ctrl+A, Backspace", User.press, "ctrl+a", "BackSpace"),
    ("Down", User.press, "Down"),
    ("Down", User.press, "Down"),
    ("Right", User.press, "Right"),
    ("F2", User.press, "F2"),
    ("X", User.type, "X"),
    ("Enter", User.press, "Return"),
    ("Delete", User.press, "Delete"),
    ("Ctrl+Z", User.press, "ctrl+z"),
    ("Space", User.press, "space"),
    ("Space", User.press, "space"),
    ("Ctrl+comma", User.press, "ctrl+comma"),
    ("Escape", User.press, "Escape"),
]


@contextmanager
def orca(debian: chroots.Chroot, screen: Screen, folder: Path) -> Iterator[dict[str, str]]:
    """Run Orca, and yield the environment of the program that it reads."""
    customizations = folder / ".local/share/orca/orca-customizations.py"
    customizations.parent.mkdir(parents=True)
    customizations.write_text(_CUSTOM)
    environment = {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), "GSETTINGS_BACKEND": "memory"}
    mounts = f'mount --rbind /tmp "{debian.root}/tmp" && mount -t proc none "{debian.root}/proc" && exec "$@"'  # noqa: S108
    inside = ["chroot", str(debian.root), "dbus-run-session", "--", "sh", "-c", _START, "sh", str(folder)]
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", mounts, "sh", *inside]
    process = subprocess.Popen(command, env={**screen.environment, **environment})
    try:
        until(lambda: "Screen reader on" in read(folder / "speech"), "Orca starts")
        address = (folder / "address").read_text().strip()
        switched = {"QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1", "QT_LOGGING_RULES": "*.warning=false"}
        yield {**environment, **switched, "DBUS_SESSION_BUS_ADDRESS": address}
    finally:
        process.kill()
        process.wait()


def read(file: Path) -> str:
    """Return what a file has so far."""
    return file.read_text(errors="replace") if file.exists() else ""


class Listener:
    """Writes down what is spoken in each step."""

    def __init__(self, file: Path) -> None:
        self._file, self._heard = file, 0
        #: The title of each step, and what is spoken in it.
        self.steps: list[list[str]] = []

    def step(self, title: str, expected: list[str], do: Callable[[], object]) -> None:
        """Do something, and wait until nothing more is spoken; longer while something expected is missing."""
        do()
        required = {line for line in expected if not line.startswith(("?", "#"))}
        sentences, began = self._sentences(), time.monotonic()
        since = began
        while time.monotonic() - since < _QUIET or (
            not required <= {*sentences[self._heard :]} and time.monotonic() - began < _LONGEST
        ):
            time.sleep(0.1)
            if (now := self._sentences()) != sentences:
                sentences, since = now, time.monotonic()
        self.steps.append([f"# {title}", *sentences[self._heard :]])
        self._heard = len(sentences)
        print(*self.steps[-1], sep="\n", flush=True)

    def _sentences(self) -> list[str]:
        return [_TIMES.sub("TIME", text).rstrip() for text in _SPOKEN.findall(read(self._file)) if text.strip()]


def compared(expected: list[str], spoken: list[str]) -> list[str]:
    """Return the lines of a step of the file, with ? those that were not spoken each time."""
    known = [line if line in spoken else f"? {line.removeprefix('? ')}" for line in expected]
    return known + [f"? {line}" for line in spoken if not {line, f"? {line}"} & set(expected)]


def main() -> int:
    """Return 1 where something is not spoken, or spoken, and the file has it otherwise."""
    expected = [step.splitlines() for step in _GOLDEN.read_text("utf-8").split("\n\n")]
    with ExitStack() as stack:
        debian = stack.enter_context(chroots.fresh("trixie"))
        debian.install(*_PACKAGES)
        temporary = tempfile.TemporaryDirectory(prefix="orca-", dir="/tmp", ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(temporary))
        screen = Screen()
        stack.callback(screen.close)
        environment = stack.enter_context(orca(debian, screen, folder))
        home = Home(folder / "home")
        home.folder.mkdir()
        for name, *tag in (("Monstera deliciosa", "--tag", "office"), ("Aloe vera", "--tag", "kitchen"), ("Fern",)):
            add = [sys.executable, "-m", "plantdesk", "add", "--name", name, *tag]
            subprocess.run(add, env=home.environment, check=True, stdout=subprocess.DEVNULL)
        listener = Listener(folder / "speech")
        with User(screen, home.folder, 60, **environment) as user:
            for (title, do, *arguments), lines in zip(_STEPS, expected, strict=True):
                listener.step(title, lines, partial(do, user, *arguments))
    found = [compared(*pair) for pair in zip(expected, listener.steps, strict=True)]
    if "--update" in sys.argv:
        _GOLDEN.write_text("\n\n".join("\n".join(step) for step in found) + "\n", encoding="utf-8")
    changed = [line for before, after in zip(expected, found, strict=True) for line in after if line not in before]
    print("Not spoken, or spoken but unknown:" if changed else "As expected.", *changed, sep="\n")
    return int(bool(changed))


if __name__ == "__main__":
    sys.exit(main())
