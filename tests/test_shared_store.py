"""The window and `serve` on a shared store, as on a file."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from plantdesk.domain.edits import DeleteAll
from plantdesk.domain.records import COMMAND
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store import location_of
from tests.support.postgres_server import running_server
from tests.test_desktop import running

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

    from tests.support.postgres_server import PostgresServer

SECONDS = 30


def test_the_window_makes_the_tables_when_asked_and_shows_what_others_do(
    qtbot: QtBot, qapp: QApplication, postgres: PostgresServer
) -> None:
    name = postgres.new_database()
    location = location_of(postgres.url(name))
    with running(qtbot, qapp, location) as desk:
        desk.until_bar(shown=True)
        assert f"The database “{name}” on 127.0.0.1 has no plant store yet" in desk.bar.text
        qtbot.mouseClick(desk.button("Start without plants"), Qt.MouseButton.LeftButton)
        desk.until_bar(shown=False)
        desk.add("Aloe")
        desk.sees("Aloe")
        desk.until_on()
        with closing(location.open()) as other:
            other.add(new_plant({"id": 50, "name": "Fern"}), COMMAND).result(SECONDS)
            desk.sees("Fern", "Aloe")
            other.apply([DeleteAll(Selection(ids=[1]))], COMMAND).result(SECONDS)
            desk.sees("Fern")
    with running(qtbot, qapp, location) as desk:
        desk.sees("Fern")


def test_the_window_opens_while_the_server_is_off_and_goes_on_when_it_is_there(
    qtbot: QtBot, qapp: QApplication
) -> None:
    with running_server() as server:
        location = server.new_store()
        server.stop()
        with running(qtbot, qapp, location) as desk:
            desk.until_bar(shown=True)
            assert "does not answer" in desk.bar.text
            server.start()
            qtbot.mouseClick(desk.button("Try again"), Qt.MouseButton.LeftButton)
            desk.until_bar(shown=False)
            desk.add("Aloe")
            desk.sees("Aloe")
            server.kill()
            desk.add("Fern")
            desk.until_bar(shown=True)
            server.start()
            desk.until_bar(shown=False)
            desk.sees("Fern", "Aloe")
