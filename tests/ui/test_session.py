"""Opening a store in the background, while the user chooses another one."""

import threading
from pathlib import Path

from pytestqt.qtbot import QtBot

from plantdesk.store import location_of
from plantdesk.store.sqlite.files.file_lock import locked
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.session import StoreOpener


def _threads(name: str) -> int:
    return sum(thread.name == name for thread in threading.enumerate())


def test_a_store_that_is_open_too_late_does_not_replace_the_chosen_one(
    qtbot: QtBot, bridge: Bridge, tmp_path: Path
) -> None:
    opener = StoreOpener(bridge, location_of(tmp_path / "slow.db"))
    opened: list[SqliteStore] = []
    opener.opened.connect(opened.append)
    before = _threads("store-writer")
    with locked(tmp_path / "slow.db"):  # another process opens it
        opener.open(create=True)
        opener.change_location(location_of(tmp_path / "chosen.db"))
        with qtbot.waitSignal(opener.opened):
            opener.open(create=True)
    qtbot.waitUntil(lambda: not _threads("window-task"))  # it has opened and closed the other one
    assert _threads("store-writer") == before + 1
    assert [store.path.name for store in opened] == ["chosen.db"]
    opener.close()
    assert _threads("store-writer") == before
