"""The window and `serve` on a shared store, as on a file."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import psycopg
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from plantdesk import __version__
from plantdesk.domain.backups import BackupKind
from plantdesk.domain.edits import DeleteAll
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import COMMAND
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.platform import logs, unsaved_file
from plantdesk.platform.logs import bug_report
from plantdesk.store import PostgresLocation, location_of
from plantdesk.ui.card.cards import PlantCard
from plantdesk.ui.card.note import NoteEdit
from plantdesk.ui.history.change_list import ChangeList, HistoryColumn
from plantdesk.ui.history.feature import HistoryDialog
from plantdesk.ui.plants.search_field import SearchField
from plantdesk.ui.plants.table.view import PlantTableView
from plantdesk.ui.shared_store.copying import CopyDialog
from plantdesk.ui.shared_store.dialog import SharedStoreDialog
from plantdesk.ui.shared_store.feature import OtherComputers
from plantdesk.ui.sidebar.view import SidebarView
from plantdesk.ui.widgets.dialog import MessageBox
from tests.conftest import Refused
from tests.store.postgres.test_migration import make_old_store
from tests.support.ports import free_port
from tests.support.postgres_server import PostgresServer, running_server
from tests.support.program_driver import ProgramDriver, Show
from tests.support.programs import post
from tests.support.tcp_proxy import proxy_to
from tests.support.waiting import SECONDS, until
from tests.support.window_driver import WindowDriver, plain
from tests.test_headless import serving


def test_the_window_makes_the_tables_when_asked_and_shows_what_others_do(
    show: Show, qtbot: QtBot, postgres: PostgresServer
) -> None:
    name = postgres.new_database()
    location = location_of(postgres.url(name))
    with show(location) as user:
        user.until_bar(shown=True)
        assert f"The database “{name}” on 127.0.0.1 has no plant store yet" in user.bar.text
        qtbot.mouseClick(user.button("Start without plants"), Qt.MouseButton.LeftButton)
        user.until_bar(shown=False)
        user.add("Aloe")
        user.expect_names("Aloe")
        user.until_on()
        with closing(location.open()) as other:
            other.add(new_plant({"id": 50, "name": "Fern"}), COMMAND).result(SECONDS)
            user.expect_names("Fern", "Aloe")
            other.apply([DeleteAll(Selection(ids=[1]))], COMMAND).result(SECONDS)
            user.expect_names("Fern")
    with show(location) as user:
        user.expect_names("Fern")


def test_the_window_opens_while_the_server_is_off_and_goes_on_by_itself(show: Show) -> None:
    with running_server() as server:
        location = server.new_store()
        server.stop()
        with show(location) as user:
            user.until_bar(shown=True)
            assert user.bar.title == "127.0.0.1 does not answer"
            assert user.window.windowTitle() == f"{location.name} on 127.0.0.1 (not connected) — PlantDesk"
            user.add("Aloe")
            server.start()
            user.until_bar(shown=False)
            user.expect_names("Aloe")
            server.kill()
            user.add("Fern")
            user.add("Ivy")
            user.until_bar(shown=True)
            assert user.bar.title.startswith("The server has not answered since")
            user.until(lambda: [*user.unsaved().values()].count("waits for the server") == 2)
            assert "(not connected)" in user.window.windowTitle()
            assert not user.action("Import…").isEnabled()
            assert not user.the(SearchField).isEnabled()
            user.type(user.name, "Half typed")
            server.start()
            user.until_bar(shown=False)
            user.expect_names("Ivy", "Fern", "Aloe")
            assert user.action("Import…").isEnabled()
            assert user.the(SearchField).isEnabled()
            assert user.name.text() == "Half typed"
            assert "(not connected)" not in user.window.windowTitle()


@pytest.mark.slow
def test_a_window_notices_a_lost_server_by_itself_and_shows_what_the_list_has(show: Show, qtbot: QtBot) -> None:
    with running_server() as server:
        location = server.new_store()
        with show(location) as user:
            user.until_on()
            user.add("Aloe")
            show_card(user)
            user.add("Fern")
            user.expect_names("Fern", "Aloe")
            table, note = user.the(PlantTableView), user.the(NoteEdit)
            card = WindowDriver(qtbot, user.the(PlantCard))
            select_row(table, 0)
            user.until(lambda: {"Fern", "ID 2"} <= {*card.texts()} and "Undo" in card.buttons())
            server.kill()
            user.until_bar(shown=True)
            user.until(lambda: "2 plants, as of" in " ".join(user.texts()))
            user.until(lambda: "API waits" in user.status.text)
            assert not user.the(SidebarView).isEnabled()
            assert not {"Delete plant", "Edit tag", "Undo Add “Fern”"} & set(user.enabled("Edit"))
            assert [card.button(name).isEnabled() for name in ("Delete", "Undo")] == [False, False]
            assert note.isReadOnly()
            select_row(table, 1)
            user.until(lambda: {"Aloe", "ID 1"} <= {*card.texts()})
            assert (note.toPlainText(), note.placeholderText()) == ("", "The note cannot be read now.")
            server.start()
            user.until_bar(shown=False)
            user.until(lambda: not note.isReadOnly() and card.button("Delete").isEnabled())
            assert note.placeholderText() == "Write a note"
            user.until(lambda: "as of" not in " ".join(user.texts()))
            assert user.the(SidebarView).isEnabled()
            assert {"Delete plant", "Undo Add “Fern”"} <= set(user.enabled("Edit"))


@pytest.mark.slow
def test_a_note_waits_for_the_server_in_this_window_and_the_next(show: Show, qtbot: QtBot) -> None:
    with running_server() as server:
        location = server.new_store()
        with closing(location.open()) as store:
            store.add(new_plant({"id": 1, "name": "Aloe"}), COMMAND).result(SECONDS)

        def has_note(note: str) -> bool:
            with closing(location.open_reader()) as plants:
                return [row.note for page in plants.pages(Selection()) for row in page] == [note]

        with show(location) as user:
            user.until_bar(shown=False)
            write_unsaved_note(user, "Dry", server, location)
            WindowDriver(qtbot, user.the(MessageBox)).button("Show").click()
            server.start()
            user.until(partial(has_note, "Dry"))
            user.until(lambda: "Not saved" not in user.texts())
            user.until(lambda: not user.toast.isVisible())
            write_unsaved_note(user, " soil", server, location)
            WindowDriver(qtbot, user.the(MessageBox)).button("Close and keep").click()
            user.until(lambda: not user.window.isVisible())
        server.start()
        with show(location) as user:
            user.until(partial(has_note, "Dry soil"))


@contextmanager
def no_saves(location: PostgresLocation) -> Iterator[None]:
    """Let what changes plants wait, so that a server can be killed before it is saved."""
    connection = psycopg.connect(location.url)
    connection.execute("LOCK TABLE plantdesk.state IN EXCLUSIVE MODE")
    yield
    connection.close()


def show_card(user: ProgramDriver) -> None:
    """Select the only plant and wait for its card."""
    user.expect_names("Aloe")
    user.the(PlantTableView).selectAll()
    if not user.action("Card").isChecked():
        user.action("Card").trigger()
    user.until(lambda: bool(user.window.findChildren(NoteEdit)) and not user.the(NoteEdit).isReadOnly())


def select_row(table: PlantTableView, row: int) -> None:
    """Click on a row."""
    place = table.visualRect(table.model().index(row, 1)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)


def write_note(user: ProgramDriver, text: str) -> None:
    """Type at the end of the note of the only plant."""
    show_card(user)
    note = user.the(NoteEdit)
    note.setFocus()
    note.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClicks(note, text)


def write_unsaved_note(user: ProgramDriver, text: str, server: PostgresServer, location: PostgresLocation) -> None:
    """Type into the note, kill the server before that is saved, and close the window, which asks."""
    with no_saves(location):
        write_note(user, text)
        server.kill()
    user.until_bar(shown=True)
    user.until(lambda: "Not saved" in user.texts())
    assert not user.window.close()


def test_a_plant_whose_commit_was_not_answered_is_checked_and_added_once(show: Show, postgres: PostgresServer) -> None:
    location = postgres.new_store()
    with proxy_to(postgres.port) as proxy, show(location_of(postgres.url(location.name, proxy.port))) as user:
        user.until_on()
        for plant_id, name in (("", "Aloe"), ("7", "Fern")):
            proxy.is_off = True
            proxy.lose_answer(b"COMMIT")
            user.type(user.id, plant_id)
            user.add(name)
            user.until(lambda: "Checking" in " ".join(user.unsaved().values()))
            assert "Discard" not in user.buttons()
            proxy.is_off = False
            user.until_bar(shown=False)
            user.until(lambda: "Checking" not in " ".join(user.unsaved().values()))
        user.expect_names("Fern", "Aloe")


@pytest.mark.slow
def test_the_api_of_a_window_answers_503_until_the_server_does(show: Show) -> None:
    with running_server() as server:
        location = server.new_store()
        server.stop()
        with show(location) as user:
            port = user.until_on().port
            assert answer(port, "plantdesk_unknown") == (503, 50305, "2")
            server.start()
            user.until_bar(shown=False)
            user.until(lambda: answer(port, "plantdesk_unknown")[0] == 401)
            assert user.until_on().port == port


def answer(port: int, token: str, plant_id: int = 70) -> tuple[int, int, str | None]:
    """Return status, error number and Retry-After of a plant that is posted; zeros while nobody listens."""
    try:
        posted = post(port, token, {"id": plant_id, "name": "Fern"})
    except ConnectionError:
        return 0, 0, None
    return posted.status, posted.body.get("error", 0), posted.retry_after


def test_plants_that_wait_for_the_server_are_sent_by_the_next_window(show: Show, home: Path) -> None:
    with running_server() as server:
        location = server.new_store()
        with show(location) as user:
            user.add("Aloe")
            user.expect_names("Aloe")
            server.stop()
            for name in ("Fern", "Ivy"):
                user.add(name)
            user.until(lambda: [*user.unsaved().values()].count("waits for the server") == 2)
        (kept,) = home.rglob(unsaved_file.FILE_NAME)
        assert kept.stat().st_mode & 0o77 == 0
        with show(location) as user:
            user.until_bar(shown=True)
            assert [*user.unsaved().values()].count("waits until the store can be opened") == 2
            server.start()
            user.expect_names("Ivy", "Fern", "Aloe")
            assert not kept.exists(), "after a kill now, the next window would offer to add them again"
        with show(location) as user:
            user.expect_names("Ivy", "Fern", "Aloe")


def test_the_api_answers_503_while_the_server_is_off_and_adds_nothing_twice() -> None:
    with running_server() as server:
        location = server.new_store()
        with closing(location.open()) as store:
            token = store.tokens.create("script").result(SECONDS).token
        with serving("--database", location.url) as (_, port):
            add = partial(answer, port, token)
            assert add(1) == (200, 0, None)
            server.kill()
            assert add(2) == (503, 50305, "2")
            server.start()
            until(lambda: add(2)[0] != 503)
            assert add(1) == add(2) == (200, 0, None)
            with closing(location.open_reader()) as plants:
                assert [[row.id for row in page] for page in plants.pages(Selection())] == [[1, 2]]


def test_commands_fail_with_a_sentence_where_there_is_no_server(refused: Refused) -> None:
    url = f"postgresql://anna:secret@127.0.0.1:{free_port()}/plants"
    for command in (["list"], ["add", "--name", "Fern"], ["history"], ["token", "list"]):
        errors = refused(*command, "--database", url)
        assert "does not answer" in errors
        assert "secret" not in errors
        assert "Traceback" not in errors


@pytest.mark.slow
def test_the_window_changes_to_a_shared_store_and_back_and_remembers_it(
    show: Show, qtbot: QtBot, postgres: PostgresServer
) -> None:
    location = postgres.new_store()
    with show() as user:
        user.add("Mine")
        user.expect_names("Mine")
        user.choose("File", "Other plants", "Shared store…")
        dialog = WindowDriver(qtbot, user.the(SharedStoreDialog))
        dialog.type(dialog.field("Address"), location.url)
        qtbot.keyClick(dialog.field("Address"), Qt.Key.Key_Return)
        user.until(lambda: dialog.button("Open this store").isEnabled())
        dialog.button("Open this store").click()
        user.until_store(location.name)
        user.add("Ours")
        user.expect_names("Ours")
        assert f"{location.name} on 127.0.0.1" in user.window.windowTitle()
        user.type(user.name, "Half typed")
    with show() as user:
        user.expect_names("Ours")
        assert user.name.text() == "Half typed"
        user.choose("File", "Other plants", "My own plants")
        user.until_store("plants.db")
        user.expect_names("Mine")
        user.until_on()
    with show() as user:
        user.expect_names("Mine")
        assert not user.action("My own plants").isVisible()


@pytest.mark.slow
def test_a_desk_file_asks_for_the_user_once(show: Show, qtbot: QtBot, postgres: PostgresServer, tmp_path: Path) -> None:
    location = postgres.new_store()
    file = tmp_path / "plants.plantdesk-store"
    file.write_text(location.desk_file())
    with show(file) as user:
        user.until_bar(shown=True)
        assert "The file names no user" in user.bar.text
        user.button("Sign in…").click()
        dialog = WindowDriver(qtbot, user.the(SharedStoreDialog))
        dialog.type(dialog.field("User"), "plants")
        qtbot.keyClick(dialog.field("User"), Qt.Key.Key_Return)
        user.until(lambda: dialog.button("Open this store").isEnabled())
        dialog.button("Open this store").click()
        user.until_store(location.name)
        user.add("Fern")
        user.expect_names("Fern")
    with show(file) as user:
        user.expect_names("Fern")


@contextmanager
def office_and_greenhouse(show: Show, postgres: PostgresServer) -> Iterator[tuple[ProgramDriver, PlantStore]]:
    """Yield the window of Office, which has added Aloe, and the store as it is open on Greenhouse."""
    url = postgres.new_store().url
    office, greenhouse = (location_of(f"{url}?application_name={name}") for name in ("Office", "Greenhouse"))
    with closing(greenhouse.open()) as other, show(office) as user:
        user.until_on()
        user.add("Aloe")
        user.expect_names("Aloe")
        yield user, other


@pytest.mark.slow
def test_the_window_undoes_its_own_changes_and_asks_before_those_of_others(
    show: Show, qtbot: QtBot, postgres: PostgresServer
) -> None:
    with office_and_greenhouse(show, postgres) as (user, other):
        other.add(new_plant({"id": 50, "name": "Fern"}), COMMAND).result(SECONDS)
        user.expect_names("Fern", "Aloe")
        computers = user.the(OtherComputers)
        computers.refresh()
        user.until(lambda: computers.text() == "Greenhouse")
        assert computers.accessibleDescription().startswith(f"Office {__version__} and Greenhouse ")
        other.apply([DeleteAll(Selection(ids=[50]))], COMMAND).result(SECONDS)
        user.expect_names("Aloe")
        user.choose("Edit", "Undo Add “Aloe”")  # the latest of this window, not of all
        user.expect_names()
        user.choose("Edit", "Redo Add “Aloe”")
        user.expect_names("Aloe")

        user.choose("Edit", "History…")
        dialog = WindowDriver(qtbot, user.the(HistoryDialog))
        dialog.until(lambda: dialog.the(ChangeList).model().rowCount() == 3)
        changes, model = dialog.the(ChangeList), dialog.the(ChangeList).model()
        assert model.index(2, HistoryColumn.TEXT).data() == "Delete “Fern”"
        assert "Greenhouse" in model.index(2, 0).data(Qt.ItemDataRole.AccessibleTextRole)
        box = dialog.the(QComboBox)
        assert [box.itemText(index) for index in range(3)] == ["All changes", "This computer", "Greenhouse"]
        for answer, plants in (("Leave it", ["Aloe"]), ("Undo it", ["Fern", "Aloe"])):
            changes.setCurrentIndex(model.index(2, 0))
            qtbot.keyClick(changes, Qt.Key.Key_Return)
            asked = WindowDriver(qtbot, user.the(MessageBox))
            assert "Greenhouse made this change. Undo it for all computers?" in asked.texts()
            asked.until(asked.button("Leave it").hasFocus)
            qtbot.mouseClick(asked.button(answer), Qt.MouseButton.LeftButton)
            user.expect_names(*plants)


def names_of_actions(user: WindowDriver) -> set[str]:
    return {plain(action.text()) for action in user.window.findChildren(QAction)}


@pytest.mark.slow
def test_what_another_computer_has_undone_is_not_offered_and_names_it(
    show: Show, qtbot: QtBot, postgres: PostgresServer
) -> None:
    with office_and_greenhouse(show, postgres) as (user, other):
        user.the(PlantTableView).selectAll()
        user.until(lambda: user.action("Delete plant").isEnabled())
        user.action("Delete plant").trigger()
        user.until(lambda: "Undo Delete “Aloe”" in names_of_actions(user))
        other.undo(1, COMMAND).result(SECONDS)
        user.until(lambda: "Undo Add “Aloe”" in names_of_actions(user))
        user.until(lambda: "Undo" not in user.toast.labels)
        user.choose("Edit", "History…")
        changes = WindowDriver(qtbot, user.the(HistoryDialog)).the(ChangeList)
        user.until(lambda: changes.model().rowCount() == 2)
        assert "by Greenhouse" in changes.model().index(1, 0).data(Qt.ItemDataRole.AccessibleTextRole)


@pytest.mark.slow
def test_a_password_is_in_no_file_or_report(show: Show, home: Path) -> None:
    with running_server() as server:
        location = location_of(server.new_store().url.replace("plants@", "plants:s3cret@"))
        with show(location) as user, logs.log_to(home / "plantdesk.log"):
            user.add("Aloe")
            user.expect_names("Aloe")
            server.kill()
            user.add("Fern")
            user.until_bar(shown=True)
            user.session.store_requested.emit(location, False)  # what the dialog asks for
            user.until_store(location.name)
            user.until_bar(shown=True)
            report = bug_report("")
            shown = " ".join([*user.texts(), user.window.windowTitle()])
        files = [file for file in home.rglob("*") if file.is_file()]
        assert {"settings.json", "plantdesk.log"} <= {file.name for file in files}
        assert not [file for file in files if b"s3cret" in file.read_bytes()]
        assert "s3cret" not in report + shown


@pytest.mark.slow
def test_the_window_reads_an_older_store_and_updates_it_when_asked(
    show: Show, qtbot: QtBot, postgres: PostgresServer
) -> None:
    location = make_old_store(postgres)
    with show(location) as user:
        user.until_bar(shown=True)
        user.expect_names("Fern")
        assert "An older PlantDesk has made this shared store." in user.bar.text
        qtbot.mouseClick(user.button("Update…"), Qt.MouseButton.LeftButton)
        user.until(lambda: bool(user.window.findChildren(MessageBox)))
        box = WindowDriver(qtbot, user.the(MessageBox))
        box.until(box.button("Cancel").hasFocus)
        assert any("these computers can only read it: Greenhouse" in text for text in box.texts())
        lock = psycopg.connect(location.url)
        lock.execute("LOCK plantdesk.state IN SHARE MODE")  # the backup reads, the update waits
        qtbot.mouseClick(box.button("Back up and update"), Qt.MouseButton.LeftButton)
        user.until(lambda: user.toast.text.startswith("Nothing was changed. "))
        lock.close()
        qtbot.mouseClick(user.button("Try again"), Qt.MouseButton.LeftButton)
        user.until_bar(shown=False)
        user.add("Aloe")
        user.expect_names("Aloe", "Fern")
    assert [backup.kind for backup in location.backups.newest_first()] == [BackupKind.BEFORE_UPDATE] * 2


def shows(dialog: WindowDriver, reason: str) -> bool:
    return reason in dialog.message.text


@pytest.mark.slow
def test_the_window_copies_its_store_with_the_searches(
    show: Show, qtbot: QtBot, postgres: PostgresServer, tmp_path: Path
) -> None:
    target = location_of(postgres.url(postgres.new_database()))
    with show(location_of(tmp_path / "plants.db")) as user:
        user.until_on()
        user.add("Fern")
        user.expect_names("Fern")
        user.desktop.preferences.change_store(
            location_of(tmp_path / "plants.db").key, searches=[{"name": "hall", "text": "tag:hall"}]
        )
        user.choose("File", "Other plants", "Copy store…")
        dialog = WindowDriver(qtbot, user.the(CopyDialog))
        assert not dialog.button("Copy").isEnabled()
        for text, reason in (
            ("mysql://host", "that PlantDesk does not know"),
            (str(tmp_path / "plants.db"), "same store"),
            ("plants.db", "same store"),
        ):
            dialog.type(dialog.field("Copy “plants.db” to"), text)
            qtbot.mouseClick(dialog.button("Copy"), Qt.MouseButton.LeftButton)
            dialog.until(partial(shows, dialog, reason))
            assert dialog.message.height() >= dialog.message.heightForWidth(dialog.message.width())
        dialog.type(dialog.field("Copy “plants.db” to"), target.url.replace("plants@", "plants:s3%2Acret@"))
        assert dialog.field("Copy “plants.db” to").text() == target.url.replace("plants@", "")
        assert (dialog.field("User").text(), dialog.field("Password").text()) == ("plants", "s3*cret")
        qtbot.keyClick(dialog.field("Copy “plants.db” to"), Qt.Key.Key_Return)
        user.until(lambda: user.toast.text == f"Copied 1 plant to {target.url}.")
        assert user.desktop.preferences.of_store(target.key) == {"searches": [{"name": "hall", "text": "tag:hall"}]}
    with closing(target.open_reader()) as plants:
        assert [row.name for page in plants.pages(Selection()) for row in page] == ["Fern"]


def users_of(postgres: PostgresServer, location: PostgresLocation) -> dict[str, str]:
    """Make a user of each role; return the addresses."""
    postgres.execute(location.roles_sql() or "", location.name)
    users = {role: f"{role}er_of_{location.name}" for role in ("read", "add", "all")}
    for role, user in users.items():
        postgres.execute(f"CREATE ROLE {user} LOGIN IN ROLE {location.name}_{role}")
    return {role: location.url.replace("plants@", f"{user}@") for role, user in users.items()}


def test_the_api_of_users_with_fewer_rights(postgres: PostgresServer) -> None:
    location = postgres.new_store()
    with closing(location.open()) as store:
        token = store.tokens.create("script").result(SECONDS).token
    urls = users_of(postgres, location)
    for role, status in (("add", 200), ("read", 503)):
        with serving("--database", urls[role]) as (_, port):
            assert answer(port, token)[::2] == (status, None)
    with closing(location.open_reader()) as plants:
        assert [row.name for page in plants.pages(Selection()) for row in page] == ["Fern"]


@pytest.mark.slow
def test_who_may_only_read_cannot_type_plants_and_is_told_why_once(
    show: Show, qtbot: QtBot, postgres: PostgresServer
) -> None:
    location = postgres.new_store()
    with closing(location.open()) as store:
        store.add(new_plant({"id": 1, "name": "Fern", "tag": "hall"}), COMMAND).result(SECONDS)
    with show(location_of(users_of(postgres, location)["read"])) as user:
        user.until_bar(shown=True)
        user.expect_names("Fern")
        assert user.bar.title == "You can read this shared store, but not change it"
        assert not user.name.isEnabled()
        assert not user.button("Add").isEnabled()
        assert "Not saved" not in user.texts()
        sidebar = user.the(SidebarView)
        assert sidebar.isEnabled()
        user.until(lambda: sidebar.set_current(("tag", "hall")))
        qtbot.keyClick(sidebar, Qt.Key.Key_F2)
        assert not sidebar.is_renaming


@pytest.mark.slow
def test_the_window_of_a_user_who_may_only_add_says_so(show: Show, postgres: PostgresServer) -> None:
    location = postgres.new_store()
    with show(location_of(users_of(postgres, location)["add"])) as user:
        user.until_bar(shown=True)
        assert "not change or remove them" in user.bar.text
        user.until_on()
        user.add("Fern")
        user.expect_names("Fern")
        user.the(PlantTableView).selectAll()
        assert "Import…" not in user.enabled("File")
        assert not {"Delete plant", "Edit tag"} & set(user.enabled("Edit"))
        assert "Export…" in user.enabled("File")
