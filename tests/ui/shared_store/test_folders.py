"""Files of plants where several computers may change them."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from plantdesk.store.sqlite.store import Store
from plantdesk.ui.shared_store.dialog import SharedStoreDialog
from plantdesk.ui.shared_store.feature import cloud_of, is_network, is_remote
from plantdesk.ui.widgets.messages import InfoBar
from tests.test_desktop import running


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("/home/anna/Dropbox/garden", "Dropbox"),
        ("/home/anna/OneDrive - Nursery Ltd/plants", "OneDrive"),
        ("/Users/anna/Library/Mobile Documents/com~apple~CloudDocs", "iCloud"),
        ("/home/anna/Nextcloud", "Nextcloud"),
        ("/home/anna/plants", ""),
        ("/home/anna/my dropbox notes", ""),
    ],
)
def test_folders_of_clouds_are_known_by_their_names(folder: str, expected: str) -> None:
    assert cloud_of(Path(folder)) == expected


def test_a_folder_of_nextcloud_is_known_by_its_database(tmp_path: Path) -> None:
    folder = tmp_path / "anything" / "plants"
    folder.mkdir(parents=True)
    assert not cloud_of(folder)
    (tmp_path / "anything" / ".sync_3fa85f.db").touch()
    assert cloud_of(folder) == "Nextcloud"


def test_file_systems_of_other_computers_are_known_by_their_type(tmp_path: Path) -> None:
    assert all(map(is_network, (b"nfs", b"nfs4", b"cifs", b"smb3", b"smbfs", b"fuse.sshfs")))
    assert not any(map(is_network, (b"ext4", b"btrfs", b"NTFS", b"apfs", b"fuseblk", b"")))
    assert not is_remote(tmp_path)


def test_the_notice_offers_a_shared_store_until_the_file_shall_stay(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path
) -> None:
    file = tmp_path / "Dropbox" / "plants.db"
    file.parent.mkdir()
    Store(file).close()
    title = "Your plants are in a folder of Dropbox"
    with running(qtbot, qapp, file) as desk:
        desk.until(lambda: [each.title for each in desk.bars] == [title])
        qtbot.mouseClick(desk.button("Shared store…"), Qt.MouseButton.LeftButton)
        desk.the(SharedStoreDialog).close()
        qtbot.mouseClick(desk.button("Keep it here"), Qt.MouseButton.LeftButton)
        desk.until(lambda: not desk.bars)
    with running(qtbot, qapp, file) as desk:
        desk.add("Fern")
        desk.sees("Fern")
        desk.until_on()
        assert title not in [each.title for each in desk.widget.findChildren(InfoBar)]
