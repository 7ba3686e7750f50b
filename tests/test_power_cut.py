"""The content of the disk at a power cut.

A killed process leaves the system's cache alone, so it proves little. Here the store lies on a file system in a
file, and what that file holds while the server is stopped is what a disk would hold: it is copied, mounted, read.
Needs root on Linux. PLANTDESK_POWER_CUTS sets how many cuts are made (50 for the figure in the README).
"""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from tests.support.clients import Clients, new_token
from tests.support.disks import mounted, new_image
from tests.support.programs import ids_in
from tests.support.waiting import until
from tests.test_headless import serving

CUTS = int(os.environ.get("PLANTDESK_POWER_CUTS", "5"))
_MEBIBYTES = 96
#: Seconds of posting between two cuts, each time a little longer, so that they fall into different moments.
_BETWEEN = 0.05


#: Sets the tag of 50 plants, deletes them and undoes that, for ever; prints the number of each durable change.
_EDITOR = """
import itertools, sys
from pathlib import Path
from plantdesk.domain.records import COMMAND
from plantdesk.domain.validation import new_plant
from plantdesk.domain.edits import DeleteAll, SetTag
from plantdesk.domain.selections import Selection
from plantdesk.store.sqlite.store import SqliteStore
store, own = SqliteStore(Path(sys.argv[1])), Selection(ids=range(1, 51))
for plant_id in own.ids:
    store.add(new_plant({"id": plant_id, "name": "Fern"}), COMMAND).result()
for tag in map(str, itertools.count()):
    print(store.apply([SetTag(own, tag)], COMMAND).result().change.number, flush=True)
    print(store.apply([DeleteAll(own)], COMMAND).result().change.number, flush=True)
    print(store.undo(None, COMMAND).result().change.number, flush=True)
"""


def plants_on(image: Path, at: Path) -> set[int]:
    with mounted(at, "-o", "loop", str(image)):
        return ids_in(at / "plants.db")


def test_acknowledged_plants_survive_a_power_cut(tmp_path: Path) -> None:
    disk, copy = tmp_path / "disk.img", tmp_path / "copy.img"
    cut_at = [0]
    database = tmp_path / "disk" / "plants.db"
    with (
        mounted(database.parent, *new_image(disk, _MEBIBYTES)),
        serving("--database", str(database)) as (process, port),
    ):
        clients = Clients(port, new_token(database), 0)
        for cut in range(CUTS):
            until(lambda: len(clients.acknowledged) > cut_at[-1])
            time.sleep(_BETWEEN * (1 + cut % 7))  # lets it work on, and waits for nothing
            process.send_signal(signal.SIGSTOP)
            acknowledged = set(clients.acknowledged)
            shutil.copyfile(disk, copy)
            process.send_signal(signal.SIGCONT)
            lost = acknowledged - plants_on(copy, tmp_path / "copy")
            assert not lost, f"cut {cut}: {len(lost)} of {len(acknowledged)} lost"
            cut_at.append(len(acknowledged))
        process.kill()
        clients.join()
        process.wait()


def test_edits_and_undos_are_complete_or_absent_after_a_power_cut(tmp_path: Path) -> None:
    disk, copy = tmp_path / "disk.img", tmp_path / "copy.img"
    with mounted(tmp_path / "disk", *new_image(disk, _MEBIBYTES)):
        command = [sys.executable, "-c", _EDITOR, str(tmp_path / "disk" / "plants.db")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as editor:
            assert editor.stdout is not None
            for _ in range(CUTS):
                durable = [int(editor.stdout.readline()) for _ in range(5)][-1]
                editor.send_signal(signal.SIGSTOP)
                shutil.copyfile(disk, copy)
                editor.send_signal(signal.SIGCONT)
                assert durable <= last_change_on(copy, tmp_path / "copy")
            editor.kill()


def last_change_on(image: Path, at: Path) -> int:
    """Check that the plants are as the last change left them, and return its number."""
    with mounted(at, "-o", "loop", str(image)), closing(sqlite3.connect(at / "plants.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        number, kind = database.execute("SELECT number, kind FROM change ORDER BY number DESC").fetchone()
        tags = database.execute("SELECT tag, count(*) FROM plant GROUP BY tag").fetchall()
    assert [count for _, count in tags] == ([] if kind == "delete" else [50])
    return int(number)
