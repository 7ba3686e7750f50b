"""The window and `serve` on a shared store, as on a file."""

from __future__ import annotations

import http.client
import json
import socket
import time
from contextlib import closing
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from plantdesk.cli.main import main
from plantdesk.domain.edits import DeleteAll
from plantdesk.domain.records import COMMAND
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store import location_of
from tests.support.postgres_server import running_server
from tests.test_desktop import running
from tests.test_headless import serving

if TYPE_CHECKING:
    import pytest
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


def test_the_api_answers_503_while_the_server_is_off_and_adds_nothing_twice() -> None:
    with running_server() as server:
        location = server.new_store()
        with closing(location.open()) as store:
            token = store.tokens.create("script").result(SECONDS).token
        with serving("--database", location.url) as (_, port):

            def post(plant_id: int) -> tuple[int, int, str | None]:
                """Return status, error number and Retry-After."""
                with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)) as connection:
                    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
                    connection.request("POST", "/plants", json.dumps({"id": plant_id, "name": "Fern"}), headers)
                    response = connection.getresponse()
                    return response.status, json.load(response).get("error", 0), response.headers["Retry-After"]

            assert post(1) == (200, 0, None)
            server.kill()
            assert post(2) == (503, 50305, "2")
            server.start()
            deadline = time.monotonic() + SECONDS
            while post(2)[0] == 503:
                assert time.monotonic() < deadline
                time.sleep(0.1)
            assert post(1) == post(2) == (200, 0, None)
            with closing(location.open_read_only()) as plants:
                assert [[row.id for row in page] for page in plants.pages(Selection())] == [[1, 2]]


def test_commands_fail_with_a_sentence_where_there_is_no_server(capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"postgresql://anna:secret@127.0.0.1:{free.getsockname()[1]}/plants"
    for command in (["list"], ["add", "--name", "Fern"], ["history"], ["token", "list"]):
        assert main([*command, "--database", url]) == 1
        errors = capfd.readouterr().err
        assert "does not answer" in errors
        assert "secret" not in errors
        assert "Traceback" not in errors
