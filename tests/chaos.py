"""A long run of everything at once on one store: a window, a server and commands, and what can happen to them.

    python -m tests.chaos [--seconds 600]

Posts and adds go on all the time; meanwhile processes are stopped and continued, killed and started again, backups are
made and restored, the file and its log are replaced, removed or made read-only, and the disk fills up. Every
acknowledged plant must be in the store at the end, or have been in a listed backup, the store must pass SQLite's
integrity check, and every process must answer or have reported why not.
Needs root on Linux, for a small disk in memory; PlantDesk runs without root's right to write to read-only files. Not
part of the test suite: it runs as long as the caller asks.
"""

import argparse
import http.client
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

from plantdesk.store.sqlite.files.backup_folder import BackupFolder
from tests.support.disks import mounted, tmpfs
from tests.support.ports import free_port
from tests.support.programs import Home, post

_ROOT = Path(__file__).parents[1]
_DISK_SIZE = "4g"
#: Restores and replaced files in one run, each of which makes a backup in every process.
_MAX_OF_A_KIND = 30
_KEPT_BACKUPS = 10
_PLANTDESK = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search", sys.executable, "-m", "plantdesk")


class Chaos:
    """One run: processes, acknowledged plants, and what was done to them."""

    def __init__(self, disk: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.random_command = random.Random(seed)
        self.undone = 0
        self.home = Home(disk / "home")
        self.database = self.home.database
        self.disk = disk
        self.acknowledged: set[int] = set()
        self.saved: set[int] = set()
        self.read: set[Path] = set()
        self.answers: Counter[str] = Counter()
        self.reasons: dict[int, str] = {}  # the last answer at each port
        self.events: Counter[str] = Counter()
        self.problems: list[str] = []
        self.ended = threading.Event()
        self.servers: dict[str, subprocess.Popen[str]] = {}
        self.ports: dict[str, int] = {}
        self.token = self.command("token", "create", "chaos").stdout.strip()
        self._next = iter(range(1, 10**9))
        self._lock = threading.Lock()

    def next_id(self) -> int:
        with self._lock:
            return next(self._next)

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command, environment = [*_PLANTDESK, *arguments], self.home.environment
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=90, check=False, cwd=_ROOT
        )

    # --- processes ---

    def start(self, name: str) -> None:
        arguments = ["serve"] if name == "serve" else []
        self.ports.setdefault(name, free_port())
        log = self.log(name).open("a")
        command = [*_PLANTDESK, *arguments, "--port", str(self.ports[name])]
        environment = self.home.environment
        self.servers[name] = subprocess.Popen(command, env=environment, stdout=log, stderr=log, text=True, cwd=_ROOT)

    def log(self, name: str) -> Path:
        return self.disk.parent / f"{name}.log"

    def post_for_ever(self, name: str) -> None:
        while not self.ended.wait(0.01):  # else the disk is full of backups
            plant_id = self.next_id()
            try:
                status = self._post(self.ports[name], plant_id)
            except (OSError, http.client.HTTPException) as error:
                self.answers[f"{name}: {type(error).__name__}"] += 1
                self.ended.wait(0.05)
                continue
            self.answers[f"{name}: {status}"] += 1
            if status == 200:
                self.acknowledged.add(plant_id)
            elif status == 401:  # a restored state, or a copy, has no token, or others
                self.token = self.command("token", "create", f"{name} {plant_id}").stdout.strip()
            elif status != 503:
                self.problems.append(f"{name} answered {status}")

    def _post(self, port: int, plant_id: int) -> int:
        plant = {"id": plant_id, "name": f"Plant {plant_id} " + "x" * (plant_id % 500)}
        answer = post(port, self.token, plant)
        self.reasons[port] = str(answer.body)
        return answer.status

    def add_for_ever(self) -> None:
        while not self.ended.is_set():
            plant_id = self.next_id()
            done = self.command("add", "--name", "By command", "--id", str(plant_id))
            self.answers[f"add: {done.returncode}"] += 1
            if done.returncode == 0:
                self.acknowledged.add(plant_id)
                self.change(str(plant_id))
            if "Traceback" in done.stderr or done.returncode not in {0, 1}:
                self.problems.append(f"add: {done.stderr[-500:]}")

    def change(self, plant_id: str) -> None:
        """Edit a plant, or delete it and undo that.

        A deletion that fails may be in the store as well: the copy that took the place of the file was made after it.
        """
        if self.random_command.random() < 0.5:
            self.check(self.command("edit", plant_id, "--note", "Water on Mondays"))
            return
        self.acknowledged.discard(int(plant_id))
        if self.check(self.command("delete", plant_id)) == 0 and self.check(self.command("undo")) == 0:
            self.undone += 1

    # --- events ---

    def stop_and_continue(self) -> None:
        process = self.servers[self.random.choice(sorted(self.servers))]
        process.send_signal(signal.SIGSTOP)
        self.ended.wait(self.random.uniform(0.1, 3))
        process.send_signal(signal.SIGCONT)

    def kill_and_start(self) -> None:
        name = self.random.choice(sorted(self.servers))
        self.servers[name].send_signal(self.random.choice([signal.SIGKILL, signal.SIGTERM]))
        self.servers[name].wait(60)
        self.start(name)

    def back_up(self) -> None:
        self.check(self.command("backup"))

    def restore(self) -> None:
        backups = BackupFolder(self.database).newest_first()
        if backups:
            self.check(self.command("restore", "--yes", str(self.random.choice(backups[:5]).path)))

    def wait_for_servers(self) -> None:
        """Wait until each server has answered: it has what is under the name open, and has saved what was before."""
        before = self.answers.copy()
        for name in self.servers:
            until = time.monotonic() + 20
            while self.answers[f"{name}: 200"] <= before[f"{name}: 200"] + 1 and time.monotonic() < until:
                self.ended.wait(0.01)

    def replace(self) -> None:
        """Put a copy of an older state in the place, as a program that synchronizes folders does."""
        self.wait_for_servers()  # what nobody has open is lost
        temporary = self.database.with_name("incoming.db")
        with closing(sqlite3.connect(self.database)) as source, closing(sqlite3.connect(temporary)) as copy:
            source.backup(copy)
        self.ended.wait(self.random.choice([0, 0, 0.02, 0.2, 1]))
        temporary.replace(self.database)
        if self.random.random() < 0.3:
            self.make_read_only()
        self.wait_for_servers()

    def make_read_only(self) -> None:
        self.database.chmod(0o400)
        self.ended.wait(self.random.uniform(0, 0.5))
        self.database.chmod(0o600)

    def move_away_and_back(self) -> None:
        self.wait_for_servers()  # one that starts without the file ends, as it must
        away = self.database.with_name("away.db")
        self.database.rename(away)
        self.ended.wait(self.random.uniform(0.01, 1))
        with suppress(FileExistsError):
            os.link(away, self.database)
        away.unlink()

    def remove_log(self) -> None:
        """Remove the log; without its index (`-shm`) a SQLite database cannot be used by several processes."""
        self.database.with_name("plants.db-wal").unlink(missing_ok=True)
        self.ended.wait(3)

    def fill_disk(self) -> None:
        ballast = self.disk / "ballast"
        with suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 65_536)
        self.ended.wait(self.random.uniform(0.5, 3))
        ballast.unlink()

    def check(self, done: subprocess.CompletedProcess[str]) -> int:
        command = done.args[len(_PLANTDESK)]
        self.answers[f"{command}: {done.returncode}"] += 1
        if "Traceback" in done.stderr or done.returncode not in {0, 1}:
            self.problems.append(f"{command}: {done.stderr[-500:]}")
        return done.returncode

    def run(self, seconds: float) -> None:
        rare = {self.restore, self.replace, self.remove_log}
        events = [self.stop_and_continue, self.kill_and_start, self.back_up, self.move_away_and_back, self.fill_disk]
        events += [self.make_read_only, self.replace, *rare]
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            event = self.random.choice(events)
            if event not in rare or self.events[event.__name__] < _MAX_OF_A_KIND:
                self.events[event.__name__] += 1
                try:
                    event()
                except (OSError, sqlite3.Error) as error:
                    self.answers[f"{event.__name__}: {error}"] += 1
                self.read_new_backups()
            self.ended.wait(self.random.uniform(0.2, 1.5))

    # --- the end ---

    def finish(self) -> None:
        time.sleep(5)
        for name, process in self.servers.items():
            if process.poll() is not None:
                last = self.log(name).read_text().splitlines()[-1:]
                self.problems.append(f"{name} ended by itself with {process.returncode}: {last}")
            elif (status := self._answer(name)) not in {200, 401}:
                self.problems.append(f"{name} answers {status} at the end: {self.reasons}")
        for process in self.servers.values():
            process.terminate()
        for name, process in self.servers.items():
            if process.wait(60) != 0:
                self.problems.append(f"{name} ended with {process.returncode}")
        with closing(sqlite3.connect(self.database)) as database:
            verdict = database.execute("PRAGMA integrity_check").fetchone()
        if verdict != ("ok",):
            self.problems.append(f"integrity_check: {verdict}")
        self.read_new_backups()
        missing = self.acknowledged - self.saved - _ids_in(self.database)
        if missing:
            self.problems.append(f"{len(missing)} acknowledged plants are missing: {sorted(missing)[:5]}")

    def _answer(self, name: str) -> int:
        status = 0
        for _ in range(20):
            try:
                plant_id = self.next_id()
                if (status := self._post(self.ports[name], plant_id)) == 200:
                    self.acknowledged.add(plant_id)
                    return status
            except OSError as error:
                self.answers[f"{name} at the end: {error}"] += 1
            time.sleep(1)
        return status

    def read_new_backups(self) -> None:
        """Note which plants are saved, and remove old backups: so many in a few minutes would fill the disk."""
        backups = [backup.path for backup in BackupFolder(self.database).newest_first()]
        for path in backups:
            if path not in self.read:
                self.saved |= _ids_in(path)
                self.read.add(path)
        for path in backups[_KEPT_BACKUPS:]:
            path.unlink(missing_ok=True)


def _ids_in(file: Path) -> set[int]:
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(file)) as database:
        return {plant_id for (plant_id,) in database.execute("SELECT id FROM plant")}
    return set()


def main() -> int:
    parser = argparse.ArgumentParser(description="Let everything happen to a store at once.")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder, mounted(Path(folder, "disk"), *tmpfs(_DISK_SIZE)) as disk:
        chaos = Chaos(disk, options.seed)
        for name in ("serve", "window"):
            chaos.start(name)
        time.sleep(3)
        threads = [threading.Thread(target=chaos.post_for_ever, args=(name,)) for name in chaos.servers]
        threads += [threading.Thread(target=chaos.add_for_ever) for _ in range(2)]
        for thread in threads:
            thread.start()
        chaos.run(options.seconds)
        chaos.ended.set()
        for thread in threads:
            thread.join()
        chaos.finish()
        logs = "".join(chaos.log(name).read_text() for name in chaos.servers)
    tracebacks = len(re.findall("Traceback", logs))
    print(json.dumps({"events": chaos.events, "answers": chaos.answers, "tracebacks in logs": tracebacks}, indent=1))
    print(f"{len(chaos.acknowledged)} plants acknowledged, {chaos.undone} deletions undone")
    print(f"problems: {chaos.problems or 'none'}")
    if tracebacks:
        print(logs[logs.index("Traceback") - 200 :][:3000])
    return 1 if chaos.problems else 0


if __name__ == "__main__":
    sys.exit(main())
