from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from plantdesk.ui.single_window import SingleWindow

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

_ASK = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from plantdesk.ui.single_window import SingleWindow
app = QCoreApplication([])
single = SingleWindow(Path(sys.argv[1]), Path(sys.argv[2]))
sys.exit(0 if not single.take() and single.raise_other() else 1)
"""
_TAKE_AND_DIE = """
import os, signal, sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from plantdesk.ui.single_window import SingleWindow
app = QCoreApplication([])
single = SingleWindow(Path(sys.argv[1]), Path(sys.argv[2]))
assert single.take()
os._exit(1)
"""


def test_a_second_start_raises_the_first(qtbot: QtBot, tmp_path: Path) -> None:
    first = SingleWindow(tmp_path / "plants.db", tmp_path)
    assert first.take()
    first.listen()
    asking = subprocess.Popen([sys.executable, "-c", _ASK, str(tmp_path / "plants.db"), str(tmp_path)])
    with qtbot.waitSignal(first.raise_wanted, timeout=20_000):
        pass
    qtbot.waitUntil(lambda: asking.poll() is not None, timeout=20_000)
    assert asking.returncode == 0
    first.release()


def test_another_store_has_a_window_of_its_own(tmp_path: Path) -> None:
    first, other = (SingleWindow(tmp_path / name, tmp_path) for name in ("plants.db", "other.db"))
    assert first.take()
    first.listen()
    assert other.take()
    other.listen()
    first.release()
    other.release()


def test_what_a_killed_window_leaves_behind_is_in_nobodys_way(tmp_path: Path) -> None:
    store = tmp_path / "plants.db"
    subprocess.run([sys.executable, "-c", _TAKE_AND_DIE, str(store), str(tmp_path)], check=False)
    assert list(tmp_path.glob("*.lock"))
    single = SingleWindow(store, tmp_path)
    assert single.take()
    single.release()
