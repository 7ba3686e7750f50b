"""Use PlantDesk once as a user and a script do, with its window on Qt's offscreen platform.

    python -m tests.smoke

A plant is typed, another one is posted; both are in the store and in the window. A second start ends by itself, SIGTERM
ends the first one. No test: `.ci/run` runs it before the tests, on the program as a user starts it.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.programs import Home, post
from tests.support.waiting import until
from tests.use.user import Probe

_TIMEOUT = 60
_RULES = "default.warning=false"  # Qt warns that the offscreen platform has no window manager


def plantdesk(home: Home, *arguments: str) -> str:
    """Run a command to its end; return its output."""
    command = [sys.executable, "-m", "plantdesk", *arguments]
    done = subprocess.run(command, env=home.environment, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    assert (done.returncode, done.stderr) == (0, ""), (arguments, done.returncode, done.stderr)
    return done.stdout


def use(home: Home, window: Probe) -> None:
    """Add a plant by keys and one by a post, and start a second time."""
    window.connect()
    until(lambda: "Name" in window.focus, "the cursor is in Name")
    window.ask("type_line", "Fern")
    server = json.loads(plantdesk(home, "info", "--json", "--wait", str(_TIMEOUT)))
    token = plantdesk(home, "token", "create", "smoke").strip()
    assert post(server["port"], token, {"id": 7, "name": "Rose", "tag": "hall"}).status == 200
    until(lambda: {"Fern", "Rose", "hall"}.issubset(window.texts), "both plants are in the window")
    plants = json.loads(plantdesk(home, "list", "--json"))
    assert sorted((plant["id"], plant["name"], plant["tag"]) for plant in plants) == [
        (1, "Fern", None),
        (7, "Rose", "hall"),
    ]
    plantdesk(home)
    assert json.loads(plantdesk(home, "info", "--json")) == server


def main() -> int:
    """Start the window, use it and end it."""
    with tempfile.TemporaryDirectory(prefix="plantdesk-smoke-") as folder:
        home, path = Home(Path(folder, "home")), Path(folder, "probe")
        command = [sys.executable, "-m", "tests.use.probe", str(path), "--port", "0"]
        environment = {**home.environment, "LC_ALL": "C.UTF-8", "QT_LOGGING_RULES": _RULES}
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
            probe = Probe(process, path)
            try:
                use(home, probe)
                os.kill(process.pid, signal.SIGTERM)
                _, errors = process.communicate(timeout=_TIMEOUT)
            finally:
                probe.close()
        assert (process.returncode, errors) == (0, ""), (process.returncode, errors)
        assert not home.runtime_folder.exists(), "a runtime file is left"
    print("A plant typed, one posted, both in the store; a second start ended; a clean end.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
