"""Where dialogs are, and that they fit on a screen that is too narrow for their texts."""

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QSize, QTimer
from PySide6.QtWidgets import QApplication, QTreeView, QWidget
from pytestqt.qtbot import QtBot

from plantdesk.domain.records import FORM
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.widgets.dialog import Dialog, FileDialog
from tests.support.waiting import SECONDS


def test_a_dialog_that_grows_when_it_is_opened_stays_over_the_middle_of_its_window(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.setGeometry(150, 150, 500, 500)
    window.show()
    dialog = Dialog("Restore", window)
    dialog.resize_to_fit(QSize(300, 100))
    dialog.open()
    middle = dialog.geometry().center()
    dialog.move(0, 0)  # as X11 reports for a moment while the window manager frames the window
    dialog.resize_to_fit(QSize(300, 200))
    assert (dialog.geometry().center() - middle).manhattanLength() <= 1


def locks(folder: Path) -> list[tuple[str, ...]]:
    """Return the locks of this process on the files of a folder: name, kind and range of bytes."""
    names = {str(file.stat().st_ino): file.name for file in folder.iterdir()}
    found = (line.split() for line in Path("/proc/locks").read_text().splitlines())
    held = [(names.get(inode.split(":")[2], ""), kind, first, last) for *_, kind, _, inode, first, last in found]
    return sorted(lock for lock in held if lock[0])


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_file_dialog_leaves_the_locks_on_a_store_alone(qtbot: QtBot, store: SqliteStore) -> None:
    """Closing any descriptor of a file would drop them, and the next command would remove the log that is in use."""
    store.add(new_plant({"id": 1, "name": "Fern"}), FORM).result(SECONDS)
    folder = store.path.parent
    before = locks(folder)
    assert {name for name, *_ in before} == {store.path.name, f"{store.path.name}-shm"}
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = FileDialog(parent, "Open", str(folder))
    dialog.show()
    view = dialog.findChild(QTreeView, "treeView")  # Qt's own name of it
    assert isinstance(view, QTreeView)
    files, root = view.model(), view.rootIndex()

    def cells(column: int) -> list[object]:
        return [files.index(row, column, root).data() for row in range(files.rowCount(root))]

    qtbot.waitUntil(lambda: {store.path.name, f"{store.path.name}-wal"} < {*cells(0)})
    qtbot.waitUntil(lambda: all(cells(2)))  # the types
    assert locks(folder) == before


@pytest.mark.parametrize("accepts", [True, False])
def test_a_file_dialog_returns_what_is_chosen(qtbot: QtBot, tmp_path: Path, accepts: bool) -> None:  # noqa: FBT001
    parent = QWidget()
    qtbot.addWidget(parent)

    def answer() -> None:
        dialog = QApplication.activeModalWidget()
        if isinstance(dialog, FileDialog):
            dialog.accept() if accepts else dialog.reject()

    timer = QTimer(interval=50)
    timer.timeout.connect(answer)
    timer.start()
    file = str(tmp_path / "plants.csv")
    assert FileDialog.get_save_file(parent, "Save", file) == (file if accepts else "")
