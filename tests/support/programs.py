"""Runs the real program in its own process, with or without its window, found by its runtime file."""

import http.client
import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from plantdesk.store.sqlite.store import SqliteStore
from tests.support.waiting import SECONDS, until

#: What each way to run it is started with.
SERVE, WINDOW = ("serve",), ()
_ROOT = Path(__file__).parents[2]


class Home:
    """A folder with all files of PlantDesk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = folder / "data" / "plants.db"
        self.runtime_folder = folder / "data" / "run"

    def new_token(self, name: str = "tests") -> str:
        self.database.parent.mkdir(parents=True, exist_ok=True)
        with closing(SqliteStore(self.database)) as store:
            return store.tokens.create(name).result().token

    @property
    def environment(self) -> dict[str, str]:
        own = {"PLANTDESK_HOME": str(self.folder), "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(_ROOT)}
        return {**os.environ, **own}

    def port(self, process: subprocess.Popen[str]) -> int:
        """Wait until that process serves, and return its port."""

        def look() -> list[int]:
            assert process.poll() is None, process.stderr and process.stderr.read()
            return [int(runtime["port"]) for runtime in runtimes(self.runtime_folder) if runtime["pid"] == process.pid]

        return until(look, "it serves")[0]


def runtimes(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the content of the runtime files in `folder`, also of stopped servers."""
    for file in folder.glob("*.json"):
        with suppress(OSError, ValueError):
            yield json.loads(file.read_text(encoding="utf-8"))


@contextmanager
def running(home: Home, how: tuple[str, ...]) -> Iterator[subprocess.Popen[str]]:
    """Start PlantDesk in its own session; kill it at the end if it still runs."""
    command = [sys.executable, "-m", "plantdesk", *how, "--port", "0"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, env=home.environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as process:
        try:
            yield process
        except subprocess.TimeoutExpired as error:
            process.send_signal(getattr(signal, "SIGABRT", signal.SIGTERM))  # faulthandler writes where it waits
            process.wait(SECONDS)
            for file in home.folder.rglob("*-crash.log"):
                error.add_note(file.read_text(encoding="utf-8", errors="replace"))
            raise
        finally:
            process.kill()


class Posted(NamedTuple):
    """An answer of the API."""

    status: int
    retry_after: str | None
    body: dict[str, Any]


def post(port: int, token: str, plant: dict[str, object]) -> Posted:
    """Post a plant as a naive script does: with a new connection for each. Raises OSError."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)) as connection:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection.request("POST", "/plants", json.dumps(plant), headers)
        answer = connection.getresponse()
        return Posted(answer.status, answer.headers["Retry-After"], json.load(answer))


def ids_in(database: Path) -> set[int]:
    """Return the ids of the plants in a whole file."""
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return {plant_id for (plant_id,) in connection.execute("SELECT id FROM plant")}


def is_open_to_all(folder: Path) -> bool:
    """Whether every user may reach what is in a folder: not below /root."""
    return os.name != "posix" or all(parent.stat().st_mode & stat.S_IXOTH for parent in (folder, *folder.parents))


def find_left_over_processes(process: subprocess.Popen[str]) -> list[str]:
    """Return processes that an ended program left running (Linux only)."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # ended meanwhile
            text = status.read_text(encoding="utf-8", errors="replace")
            session = text.rpartition(")")[2].split()[3]
            if int(session) == process.pid:
                found.append(text)
    return found
