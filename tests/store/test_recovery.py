"""Whatever SQLite can recover, PlantDesk opens: it calls a store damaged only when SQLite cannot read it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from plantdesk.domain.backups import BackupKind
from plantdesk.domain.errors import StoreDamagedError
from plantdesk.domain.records import COMMAND
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.backups import FileBackups
from plantdesk.store.sqlite.files.backup_folder import Backups
from plantdesk.store.sqlite.files.open_checks import check_file
from plantdesk.store.sqlite.store import Store
from tests.support.adding import add_each
from tests.support.wal import checkpoint_writes

if TYPE_CHECKING:
    from pathlib import Path

PLANTS = 300
OPENINGS = int(os.environ.get("PLANTDESK_OPENINGS", "10000"))

_ADD_AND_DIE = f"""
import os, signal, sys
from pathlib import Path
from plantdesk.domain.records import COMMAND
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.store import Store
from tests.support.adding import add_each
store = Store(Path(sys.argv[1]))
plants = [(new_plant({{"id": number, "name": "x" * 2000}}), COMMAND) for number in range({PLANTS})]
add_each(store, plants)
os.kill(os.getpid(), signal.SIGKILL)
"""


_ADD_FOR_EVER = """
import sys
from pathlib import Path
from plantdesk.domain.records import COMMAND
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.store import Store
from tests.support.adding import add_each
store, first = Store(Path(sys.argv[1])), 0
while True:
    add_each(store, [(new_plant({"id": first + n, "name": "x" * 3000}), COMMAND) for n in range(50)])
    first += 50
    if first == 50:
        print("ready", flush=True)
"""


@pytest.fixture(scope="module")
def killed_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of 300 plants, all of them in the log."""
    path = tmp_path_factory.mktemp("killed") / "plants.db"
    killed = subprocess.run([sys.executable, "-c", _ADD_AND_DIE, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    return path


posix = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")


@posix
def test_a_store_that_was_killed_inside_a_checkpoint_is_whole(killed_store: Path, tmp_path: Path) -> None:
    """The first writes are those after which the header counts more pages than the file has."""
    log = killed_store.with_name("plants.db-wal")
    writes = checkpoint_writes(log)
    for number in [*range(1, 12), *range(12, len(writes), 29), len(writes)]:
        path = tmp_path / f"{number}" / "plants.db"
        path.parent.mkdir()
        shutil.copy(killed_store, path)
        shutil.copy(log, path.with_name("plants.db-wal"))
        with path.open("r+b") as file:
            for offset, page in writes[:number]:
                file.seek(offset)
                file.write(page)
        check_file(path)
        with closing(Store(path)) as store, closing(store.reader()) as reader:
            assert reader.count() == PLANTS


def test_a_store_beside_a_busy_writer_is_never_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "plants.db"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", _ADD_FOR_EVER, str(path)], stdin=pipe, stdout=pipe) as writing:
        assert writing.stdout is not None
        writing.stdout.readline()
        try:
            for _ in range(OPENINGS):
                check_file(path)
        finally:
            writing.kill()


def test_the_readable_plants_of_a_damaged_store_can_be_restored(tmp_path: Path) -> None:
    path = tmp_path / "plants.db"
    with closing(Store(path)) as store:
        add_each(store, [(new_plant({"id": n, "name": f"Fern {n} " + "x" * 300}), COMMAND) for n in range(500)])
    backup = FileBackups(path).make()
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2 // 4096 * 4096)
        file.write(b"\x5a" * 4096)
    with pytest.raises(StoreDamagedError):
        Store(path)
    FileBackups(path).restore(backup.path)
    (quarantined,) = [each for each in Backups(path).newest_first() if each.kind is BackupKind.DAMAGED]
    look = FileBackups(path).preview(quarantined.path)
    assert look.is_partial
    assert 450 <= look.plants < 500
    assert FileBackups(path).restore(quarantined.path).preview.plants == look.plants
    with closing(Store(path)) as store, closing(store.reader()) as reader:
        assert reader.count() == look.plants
