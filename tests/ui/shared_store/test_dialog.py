"""The dialog of a shared store: what its test says about each server, and what it opens, saves and shows."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QLineEdit
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from plantdesk.store import PostgresLocation, location_of
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.preferences import Preferences
from plantdesk.ui.shared_store.dialog import SharedStoreDialog
from plantdesk.ui.shared_store.feature import cloud_of, is_network_file_system, is_remote
from plantdesk.ui.shared_store.outcomes import ProbeResults, SetupPanel
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.dialog import FileDialog
from plantdesk.ui.widgets.fields import ComboBox
from plantdesk.ui.widgets.messages import InfoBar
from tests.support.ports import free_port
from tests.support.postgres_server import PostgresServer
from tests.support.program_driver import Show
from tests.support.secret_service import secret_service
from tests.support.window_driver import WindowDriver


class StoreDriver(WindowDriver):
    """The dialog, and what it has asked to open."""

    def __init__(self, qtbot: QtBot, dialog: SharedStoreDialog, preferences: Preferences) -> None:
        self.preferences = preferences
        super().__init__(qtbot, dialog)
        self.opened: list[tuple[PostgresLocation, bool]] = []
        dialog.open_requested.connect(lambda location, create: self.opened.append((location, create)))

    @property
    def mode(self) -> str:
        return self.the(ComboBox).currentText()

    def test(self, url: str = "") -> list[str]:
        """Type an address and press Enter; return the texts of the outcomes."""
        if url:
            self.type(self.field("Address"), url)
        self.qtbot.keyClick(self.field("Address"), Qt.Key.Key_Return)
        self.until(lambda: any(text.startswith("Tested at") for text in self.texts()))
        return WindowDriver(self.qtbot, self.the(ProbeResults)).texts()

    def can_open(self) -> bool:
        return self.button("Open this store").isEnabled()


@pytest.fixture
def user(qtbot: QtBot, theme: Theme, bridge: Bridge) -> Iterator[StoreDriver]:
    preferences = Preferences(None)
    dialog = SharedStoreDialog(theme, bridge, preferences, None, None)
    with qtbot.waitExposed(dialog):
        dialog.show()
    yield StoreDriver(qtbot, dialog, preferences)
    if isValid(dialog):
        dialog.close()


@pytest.fixture
def users(postgres: PostgresServer) -> Iterator[PostgresServer]:
    """The server with `reader`, who may do nothing yet."""
    postgres.execute("CREATE ROLE reader LOGIN")
    yield postgres
    postgres.execute("DROP ROLE reader")


def test_an_empty_database_becomes_a_store_and_a_store_is_opened(user: StoreDriver, postgres: PostgresServer) -> None:
    name = postgres.new_database()
    found = user.test(postgres.url(name))
    assert found[0] == "The server answers"
    assert found[1].startswith("PostgreSQL 18")
    assert found[2:4] == ["Not encrypted", "as chosen, or on this computer"]
    assert "Signed in as plants" in found
    assert found[-2:] == ["The database is empty", "Opening makes it a store."]
    fields = {name: user.field(name).text() for name in ("Address", "Port", "Database", "User", "Password")}
    assert fields == {
        "Address": "127.0.0.1",
        "Port": str(postgres.port),
        "Database": name,
        "User": "plants",
        "Password": "",
    }
    user.press(Qt.Key.Key_Return)
    assert [(location.url, create) for location, create in user.opened] == [(postgres.url(name), True)]


def test_a_store_tells_its_plants_and_is_not_made_again(user: StoreDriver, postgres: PostgresServer) -> None:
    location = postgres.new_store()
    assert user.test(location.url)[-2] == "0 plants"
    user.button("Open this store").click()
    assert [create for _, create in user.opened] == [False]


def test_each_failure_has_its_line_and_its_remedy(user: StoreDriver, users: PostgresServer) -> None:
    store = users.new_store()
    users.execute("UPDATE plantdesk.state SET version = 99, reads_from = 99", store.name)
    closed = free_port()
    failures = (
        (
            f"postgresql://127.0.0.1:{closed}/plants",
            "The server answers",
            f"Nothing answers at 127.0.0.1, port {closed}",
        ),
        ("postgresql://nowhere.invalid/plants", "The server answers", "There is no computer called “nowhere.invalid”"),
        (users.url("nothing"), "Plants", "The server has no database “nothing”"),
        (store.url, "Plants", "was updated by a newer PlantDesk"),
        (store.url.replace("plants@", "reader@"), "Plants", "has no right to do this"),
        (users.url("postgres").replace("plants@", "nobody:old@"), "Signed in", "refuses this user or password"),
    )
    for url, title, reason in failures:
        found = user.test(url)
        assert any(reason in text for text in found), found
        assert title in found
        assert not user.can_open()
    assert not user.opened
    assert (user.focused, user.field("Password").hasSelectedText()) == (user.field("Password"), True), "typed anew"


def test_a_store_of_a_newer_version_that_can_be_read_is_opened(user: StoreDriver, postgres: PostgresServer) -> None:
    location = postgres.new_store()
    postgres.execute("UPDATE plantdesk.state SET version = 99", location.name)
    found = user.test(location.url)
    assert "may read, but not add" in found
    assert "newer PlantDesk" in found[-1]
    assert user.can_open()


@pytest.mark.parametrize(
    ("role", "rights"), [("read", "may read, but not add"), ("add", "may read and add, but not change")]
)
def test_who_has_fewer_rights_opens_the_store(user: StoreDriver, users: PostgresServer, role: str, rights: str) -> None:
    location = users.new_store()
    users.execute(location.roles_sql() or "", location.name)
    users.execute(f'GRANT "{location.name}_{role}" TO reader', location.name)
    assert rights in user.test(location.url.replace("plants@", "reader@"))
    assert user.can_open()


def test_a_change_of_a_field_makes_the_test_worthless(user: StoreDriver, postgres: PostgresServer) -> None:
    user.test(postgres.new_store().url)
    assert user.can_open()
    user.qtbot.keyClicks(user.field("Database"), "x")
    assert not user.can_open()
    assert WindowDriver(user.qtbot, user.the(ProbeResults)).texts().count("not tried") == 4


def test_the_encryption_fits_the_host_until_it_is_chosen(user: StoreDriver) -> None:
    warning = "Names and the password can be read on the network."
    user.type(user.field("Address"), "plants.example")
    assert user.mode == "Encrypted, certificate checked"
    user.type(user.field("Address"), "localhost")
    assert user.mode == "Not encrypted"
    assert warning not in user.texts()
    user.type(user.field("Address"), "postgresql://anna@plants.example/garden?sslmode=disable&application_name=x")
    user.field("Address").editingFinished.emit()
    assert user.mode == "Not encrypted"
    assert warning in user.texts()
    user.type(user.field("Address"), "other.example")
    assert user.mode == "Not encrypted"


def test_an_address_that_cannot_be_read_is_not_tried_nor_shown_with_its_password(user: StoreDriver) -> None:
    user.type(user.field("Address"), "postgresql://anna:s3cret@plants.example@x/garden")
    user.qtbot.keyClick(user.field("Address"), Qt.Key.Key_Return)
    assert any("This is no address of a shared store" in text for text in user.texts())
    assert not any("s3cret" in text for text in user.texts())
    user.type(user.field("Address"), "postgresql://[::1/a1")
    user.qtbot.keyClick(user.field("Address"), Qt.Key.Key_Return)
    assert any("Brackets are only around" in text for text in user.texts())


def test_what_an_administrator_runs_names_user_and_database_and_no_password(user: StoreDriver) -> None:
    user.type(user.field("Address"), "postgresql://Anna:s3cret@plants.example/my garden")
    user.field("Address").editingFinished.emit()
    sql, line = (text for text in WindowDriver(user.qtbot, user.the(SetupPanel)).texts() if " " in text)
    assert 'CREATE ROLE "Anna" LOGIN' in sql
    assert 'CREATE DATABASE "my garden" OWNER "Anna"' in sql
    assert line == 'hostssl  "my garden"  Anna  samenet  scram-sha-256'
    assert "s3cret" not in sql + line
    assert user.field("Password").echoMode() is QLineEdit.EchoMode.Password
    user.button("Show the password").click()
    assert user.field("Password").echoMode() is QLineEdit.EchoMode.Normal


def test_a_desk_file_opens_the_same_store_without_user_and_password(
    user: StoreDriver, postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = postgres.new_store()
    monkeypatch.setattr(FileDialog, "get_save_file", lambda *_, **_options: str(tmp_path / "plants"))
    user.test(location.url.replace("plants@", "plants:s3cret@"))
    user.button("Save a file for other computers…").click()
    file = tmp_path / "plants.plantdesk-store"
    assert file.stat().st_mode & 0o77 == 0
    assert "s3cret" not in file.read_text()
    assert any("Other computers cannot use it" in text for text in user.texts())
    saved = location_of(file)
    assert saved.key == location.key
    assert "plants@" not in saved.url
    user.type(user.field("Address"), "elsewhere")
    monkeypatch.setattr(FileDialog, "get_open_file", lambda *_: str(file))
    user.button("Open its file…").click()
    assert (user.field("Address").text(), user.field("Database").text()) == ("127.0.0.1", location.name)
    assert user.can_open() is False
    assert user.test()[-2] == "0 plants"


@pytest.mark.skipif(os.name != "posix", reason="pipes with a name are of POSIX")
def test_a_desk_file_is_written_into_a_pipe_and_does_not_replace_it(
    user: StoreDriver, postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(pipe := tmp_path / "pipe.plantdesk-store")
    monkeypatch.setattr(FileDialog, "get_save_file", lambda *_, **_options: str(pipe))
    user.test(postgres.new_store().url)
    with os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
        user.button("Save a file for other computers…").click()
        assert reader.read().startswith(b"{")
    assert pipe.is_fifo()


def test_a_file_of_something_else_is_refused(user: StoreDriver, tmp_path: Path) -> None:
    for number, content in enumerate(("", "[]", '{"address": 7}', '{"address": "http://x"}')):
        file = tmp_path / f"{number}.plantdesk-store"
        file.write_text(content)
        dialog = user.widget
        assert isinstance(dialog, SharedStoreDialog)
        dialog.use_file(file)
        assert any(f"“{file.name}” is not the file of a shared store" in text for text in user.texts())


@pytest.mark.parametrize("is_unlocked", [True, False])
def test_the_password_goes_into_the_keyring_or_the_user_is_told_once(
    user: StoreDriver, postgres: PostgresServer, *, is_unlocked: bool
) -> None:
    with secret_service() as keyring:
        keyring.is_locked = True
        user.test(postgres.new_store().url.replace("plants@", "plants:s3cret@"))
        user.button("Open this store").click()
        user.until(lambda: any("The password was not remembered" in text for text in user.texts()))
        assert not user.opened
        if is_unlocked:
            keyring.is_locked = False
            user.the(QCheckBox).click()
        user.button("Open this store").click()
        user.until(lambda: bool(user.opened))
        assert [*keyring.passwords.values()] == ["s3cret"] * is_unlocked


def test_a_test_changes_neither_height_nor_place(user: StoreDriver, postgres: PostgresServer) -> None:
    before = user.widget.geometry()
    for url in (postgres.new_store().url, "postgresql://nowhere.invalid/plants"):
        user.test(url)
        assert user.widget.geometry() == before


def test_the_computer_has_a_name_for_the_others_which_its_file_leaves_out(
    user: StoreDriver, postgres: PostgresServer
) -> None:
    user.test(f"{postgres.new_store().url}?application_name=Office")
    assert user.field("Name of this computer in the history").text() == "Office"
    user.type(user.field("Name of this computer in the history"), "Greenhouse & hall")
    assert not user.can_open()
    user.test()
    user.button("Open this store").click()
    ((location, _),) = user.opened
    assert location.url.endswith("?application_name=Greenhouse+%26+hall")
    assert "Greenhouse" not in location.desk_file()
    assert user.preferences.settings.computer_name == "Greenhouse & hall"


@pytest.mark.parametrize(
    ("parameters", "name"),
    [("sslmode=foo", "sslmode"), ("nonsense=1", "nonsense"), ("connect_timeout=x", "connect_timeout")],
)
def test_a_mistaken_parameter_is_named(user: StoreDriver, postgres: PostgresServer, parameters: str, name: str) -> None:
    found = user.test(f"{postgres.url('postgres')}?{parameters}")
    assert any(f"does not know the parameter “{name}”" in text for text in found), found


# --- folders that several computers share -----------------------------------------------------------------------------


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
    assert all(map(is_network_file_system, (b"nfs", b"nfs4", b"cifs", b"smb3", b"smbfs", b"fuse.sshfs")))
    assert not any(map(is_network_file_system, (b"ext4", b"btrfs", b"NTFS", b"apfs", b"fuseblk", b"")))
    assert not is_remote(tmp_path)


def test_the_notice_offers_a_shared_store_until_the_file_shall_stay(show: Show, qtbot: QtBot, tmp_path: Path) -> None:
    file = tmp_path / "Dropbox" / "plants.db"
    file.parent.mkdir()
    SqliteStore(file).close()
    title = "Your plants are in a folder of Dropbox"
    with show(file) as user:
        user.until(lambda: [bar.title for bar in user.bars] == [title])
        qtbot.mouseClick(user.button("Shared store…"), Qt.MouseButton.LeftButton)
        user.the(SharedStoreDialog).close()
        qtbot.mouseClick(user.button("Keep it here"), Qt.MouseButton.LeftButton)
        user.until(lambda: not user.bars)
    with show(file) as user:
        user.add("Fern")
        user.expect_names("Fern")
        user.until_on()
        assert title not in [bar.title for bar in user.widget.findChildren(InfoBar)]
