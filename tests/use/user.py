"""A user of PlantDesk: types and clicks with real key and mouse events, and looks at the screen and into the store."""

import json
import os
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.support.programs import Home
from tests.support.waiting import until

Plant = tuple[int, str, str | None]

_ROOT = Path(__file__).parents[2]
#: Seconds until a program or command ends, and between two looks at a place.
_PATIENCE, _LOOK = 60.0, 0.05


class Screen:
    """An X server with a window manager."""

    def __init__(self, size: str = "1280x800") -> None:
        command = ["Xvfb", "-displayfd", "1", "-screen", "0", f"{size}x24", "-nolisten", "tcp"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._server = subprocess.Popen(command, **{**quiet, "stdout": subprocess.PIPE}, text=True)  # type: ignore[call-overload]
        self.display = f":{self._server.stdout.readline().strip()}"
        self.environment = {**os.environ, "DISPLAY": self.display, "QT_QPA_PLATFORM": "xcb", "LC_ALL": "C.UTF-8"}
        for name in ("PLANTDESK_HOME", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"):
            self.environment.pop(name, None)
        self._manager = subprocess.Popen(["openbox"], env=self.environment, **quiet)  # type: ignore[call-overload]

    def close(self) -> None:
        """Stop both."""
        for process in (self._manager, self._server):
            process.kill()
            process.communicate()


class Probe:
    """What a running PlantDesk shows, asked by the socket of `tests.use.probe`."""

    def __init__(self, process: subprocess.Popen[Any], path: Path) -> None:
        self.process = process
        self._probe, self._path = socket.socket(socket.AF_UNIX), path

    def connect(self) -> None:
        """Wait until the program answers."""
        until(self._is_connected, "PlantDesk starts")

    def _is_connected(self) -> bool:
        assert self.process.poll() is None, "PlantDesk has ended"
        return self._probe.connect_ex(str(self._path)) == 0

    def close(self) -> None:
        """Kill the program."""
        self.process.kill()
        self.process.wait()
        self._probe.close()

    def ask(self, *question: str) -> object:
        """Call a function of the probe."""
        self._probe.sendall(json.dumps(question).encode() + b"\n")
        line = b""
        while not line.endswith(b"\n"):
            line += self._probe.recv(1 << 16) or b"null\n"
        answer = json.loads(line)
        assert not isinstance(answer, str), answer
        return answer

    @property
    def texts(self) -> list[str]:
        """The visible texts."""
        found = self.ask("texts")
        assert isinstance(found, list)
        return found

    @property
    def focus(self) -> list[str]:
        """What the widget with the focus is called."""
        found = self.ask("focus")
        return found if isinstance(found, list) else []

    def expect_text(self, text: str) -> None:
        """Wait until a visible text contains this."""
        until(lambda: any(text in each for each in self.texts), f"“{text}” is shown")

    def expect_no_text(self, text: str) -> None:
        """Wait until no visible text contains this."""
        until(lambda: not any(text in each for each in self.texts), f"“{text}” is gone")

    def expect_no_item(self, text: str) -> None:
        """Wait until no visible list or table has an item of this text, and no open menu a command."""
        until(lambda: self.ask("item", text) is None, f"the item “{text}” is gone")


class User(Probe):
    """One window on a screen; `pause` is the time of a key in milliseconds."""

    def __init__(self, screen: Screen, folder: Path, pause: int = 8, **environment: str) -> None:
        """Start PlantDesk with its files in `folder`; it is ready as a context manager."""
        self.home, self.pause = Home(folder), pause
        self._environment = {**self.home.environment, **screen.environment, **environment}
        self._environment["PYTHONPATH"] = str(_ROOT)
        path = folder / "probe"
        path.unlink(missing_ok=True)
        command = [sys.executable, "-m", "tests.use.probe", str(path), "--port", "0"]
        self.output = (folder / "output").open("w+")
        streams = {"stdout": self.output, "stderr": subprocess.STDOUT}
        process = subprocess.Popen(command, env=self._environment, cwd=_ROOT, **streams)  # type: ignore[call-overload]
        super().__init__(process, path)

    def __enter__(self) -> Self:
        try:
            self.connect()
            until(lambda: "Name" in self.focus, "the cursor is in Name")
            self.expect_text("API on")
        except BaseException as error:
            error.add_note(Path(self.output.name).read_text())
            self.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self.process.poll() is None:
            self.quit()
        self.close()
        self.output.close()

    # --- what the user does ---

    def _do(self, *commands: str) -> None:
        script = "\n".join(commands) + "\n"
        subprocess.run(["xdotool", "-"], input=script, text=True, env=self._environment, check=True, timeout=300)

    def type(self, text: str) -> None:
        """Type a text; it has no quotation marks and no line ends."""
        self._do(f'type --delay {self.pause} "{text}"')

    def type_lines(self, *lines: str, key: str = "Return", after: Sequence[str] = ()) -> None:
        """Type keys, then each line and a key behind it, all without a pause; a tab in a line is the key Tab."""
        pause = f"sleep {self.pause / 1000:.3f}"
        steps = [step for each in after for step in (f"key {each}", pause)]
        for line in lines:
            *before, last = [f'type --delay {self.pause} "{part}"' if part else pause for part in line.split("\t")]
            steps += [step for part in before for step in (part, "key Tab", pause)]
            steps += [last, f"key {key}", pause]
        self._do(*steps)

    def press(self, *keys: str, into: str = "") -> None:
        """Press keys by xdotool's names, such as `ctrl+z`; wait until what they open has the focus.

        Qt drops keys for the window behind a dialog.
        """
        self._do(*(f"key {key}\nsleep {self.pause / 1000:.3f}" for key in keys))
        until(lambda: not into or any(into in each for each in self.focus), f"“{into}” has the focus")

    def click(self, name: str, *, button: int = 1) -> None:
        """Click a button or a field."""
        self._click("widget", name, button)

    def click_item(self, text: str, *, button: int = 1) -> None:
        """Click a menu's title, a command, or an item of a list or table."""
        self._click("item", text, button)

    def search(self, text: str) -> None:
        """Search for a text instead of what was searched before."""
        self.press("ctrl+f", "ctrl+a")
        self.type(text)

    def copied(self) -> str:
        """Return what is on the clipboard."""
        return self._output("xclip", "-selection", "clipboard", "-out")

    @property
    def active_window(self) -> str:
        """The id of the window that gets the keys."""
        return self._output("xdotool", "getactivewindow").strip()

    def command(self, *arguments: str) -> None:
        """Run a command of PlantDesk to its end."""
        command = [sys.executable, "-m", "plantdesk", *arguments]
        subprocess.run(command, env=self._environment, cwd=_ROOT, check=True, timeout=_PATIENCE)

    def _output(self, *command: str) -> str:
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, check=False, timeout=60)
        return done.stdout

    def quit(self) -> None:
        """Close the window, and wait for the end of the program."""
        self.press("ctrl+q")
        self.process.wait(_PATIENCE)
        self.output.flush()
        text = Path(self.output.name).read_text()
        assert (self.process.returncode, text) == (0, ""), text

    def _click(self, kind: str, name: str, button: int) -> None:
        x, y, width, height = until(lambda: self._place(kind, name), f"“{name}” is on the screen")
        self._do(f"mousemove {x + min(width // 2, 60)} {y + height // 2}", "sleep 0.03", f"click {button}")

    def _place(self, kind: str, name: str) -> list[int]:
        """Return where something is on the screen, once it does not move any more."""
        first = self.ask(kind, name)
        time.sleep(_LOOK)
        return first if isinstance(first, list) and first == self.ask(kind, name) else []

    # --- what is stored ---

    def plants(self) -> list[Plant]:
        """Return id, name and tag of all plants, in the order of adding."""
        return self.query("SELECT id, name, tag FROM plant ORDER BY seq")

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query, as another program reads the store."""
        with closing(sqlite3.connect(self.home.database)) as database:
            return database.execute(sql, values).fetchall()

    def expect_plants(self, plants: list[tuple[str, str | None]]) -> None:
        """Wait until these are all plants, by name and tag, in any order."""
        requested = sorted(plants, key=str)
        stored: list[tuple[str, str | None]] = []

        def look() -> bool:
            stored[:] = [(name, tag) for _, name, tag in self.plants()]
            return sorted(stored, key=str) == requested

        with suppress(AssertionError):
            until(look)
        missing = [each for each in requested if each not in stored]
        assert sorted(stored, key=str) == requested, (
            f"missing: {missing[:5]}, too many: {[x for x in stored if x not in requested][:5]}"
        )
