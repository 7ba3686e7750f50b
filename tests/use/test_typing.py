"""Names typed at the speed of a fast typist and of a barcode reader: each is stored letter by letter."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from plantdesk.domain.records import COMMAND
from plantdesk.store.sqlite.store import SqliteStore
from tests.support.adding import add_each, plant
from tests.support.disks import mounted, tmpfs
from tests.support.programs import post
from tests.support.waiting import until
from tests.use.user import Screen, User

#: They begin as what is typed, in other cases, with and without more: none may change it.
KNOWN = ["zamioculcas 01 tuff basil", "Zamioculcas 02 Tuff bAsil red", "Z", "Zamioculcas 1", "tuff", "Zámioculcas 04"]
NAMES = [f"Zamioculcas {number:02} Tuff bAsil" for number in range(1, 51)]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a store that knows some names."""
    file = tmp_path / "data" / "plants.db"
    file.parent.mkdir()
    with closing(SqliteStore(file)) as store:
        add_each(store, [(plant(number, name, "known"), COMMAND) for number, name in enumerate(KNOWN, 9001)])
    return tmp_path


def stored(user: User) -> list[str]:
    """Return what was added in the form."""
    return [str(name) for (name,) in user.query("SELECT name FROM plant WHERE id > 9006 ORDER BY seq")]


def typed_names_are_stored(user: User, names: list[str]) -> None:
    user.type_lines(*names)
    until(lambda: len(stored(user)) >= len(names), "all names are stored")
    assert stored(user) == names


@pytest.mark.parametrize(("pause", "count"), [(5, 50), (8, 50), (15, 50), (25, 30), (40, 20)])
def test_every_letter_is_stored(screen: Screen, home: Path, pause: int, count: int) -> None:
    with User(screen, home, pause) as user:
        typed_names_are_stored(user, NAMES[:count])


@contextmanager
def posting(user: User, per_second: float) -> Iterator[list[int]]:
    """Add plants by the API meanwhile; yields the statuses."""
    token, port = user.home.new_token(), user.home.port(user.process)
    statuses: list[int] = []
    stopped = threading.Event()

    def add() -> None:
        while not stopped.wait(1 / per_second):
            statuses.append(post(port, token, {"id": len(statuses), "name": "by a script"}).status)

    thread = threading.Thread(target=add)
    thread.start()
    yield statuses
    stopped.set()
    thread.join()


def test_every_letter_is_stored_beside_a_busy_script(screen: Screen, home: Path) -> None:
    with User(screen, home) as user, posting(user, 100) as statuses:
        typed_names_are_stored(user, NAMES)
        until(lambda: len(statuses) > 100)
        assert set(statuses) == {200}


@contextmanager
def busy_machine() -> Iterator[None]:
    """Let four programs a processor want all of its time."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4 * (os.cpu_count() or 1))]
    yield
    for loop in loops:
        loop.kill()
        loop.wait()


@pytest.mark.parametrize("pause", [8, 25])
def test_names_and_tags_stay_apart_on_a_busy_machine(screen: Screen, home: Path, pause: int) -> None:
    """The list of known tags is closed late; no letter may go back to the field for the tag."""
    plants = [("Salvia", "flower"), ("Crocus", None), ("Tulip", "bulbs"), ("Li", None), ("Known", "known")] * 5
    with User(screen, home, pause) as user:
        with busy_machine():
            user.type_lines(*(name if tag is None else f"{name}\t{tag}" for name, tag in plants))
        until(lambda: len(stored(user)) >= len(plants), "all plants are stored")
        assert user.query("SELECT name, tag FROM plant WHERE id > 9006 ORDER BY seq") == plants


def test_every_letter_is_stored_on_a_slow_disk(screen: Screen, home: Path) -> None:
    library = home / "slow_disk.so"
    source = "#include <unistd.h>\n#include <sys/syscall.h>\n"
    source += "static int slow(long call, int file) { usleep(300000); return syscall(call, file); }\n"
    source += "int fsync(int file) { return slow(SYS_fsync, file); }\n"
    source += "int fdatasync(int file) { return slow(SYS_fdatasync, file); }\n"
    compile_ = ["cc", "-shared", "-fPIC", "-x", "c", "-o", str(library), "-"]
    try:
        subprocess.run(compile_, input=source, text=True, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("a C compiler makes the disk slow")
    with User(screen, home, LD_PRELOAD=str(library)) as user:
        typed_names_are_stored(user, NAMES)


@pytest.fixture
def small_disk(home: Path) -> Iterator[Path]:
    """The folder with the store, on a disk of 8 MiB."""
    with mounted(home / "disk", *tmpfs("8m")) as disk:
        shutil.copytree(home / "data", disk / "data")
        yield disk


def test_every_letter_is_stored_after_a_full_disk_has_room_again(screen: Screen, small_disk: Path) -> None:
    with User(screen, small_disk) as user:
        filler = small_disk / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        user.type_lines(*NAMES)
        user.expect_text("disk is full")
        user.type("half a na")
        filler.unlink()
        user.expect_no_text("disk is full")
        until(lambda: stored(user) == NAMES, "all names are stored, in their order")
        assert "half a na" in user.texts
