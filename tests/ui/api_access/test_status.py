import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QLabel
from pytestqt.qtbot import QtBot

from plantdesk.api.server import Server
from plantdesk.domain.records import FORM, Changes, PlantRow, Source, SourceKind
from plantdesk.domain.server_state import Failed, NotAnsweringError, Off, On, PortInUseError, ServerState, Starting
from plantdesk.store import location_of
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.api_access.dialog import TOKEN_FILE, Language, make_snippet
from plantdesk.ui.api_access.status import ApiStatus
from plantdesk.ui.theme.theme import Theme
from tests.support.waiting import SECONDS

ON = On("http://127.0.0.1:8721", 8721)
GREENHOUSE = Source(3, SourceKind.TOKEN, "greenhouse", 1)


@pytest.fixture
def line(qtbot: QtBot, theme: Theme) -> ApiStatus:
    line = ApiStatus(theme)
    line.show_tokens(has_tokens=True)
    qtbot.addWidget(line)
    line.resize(1180, 46)
    line.show()
    return line


def read_texts(line: ApiStatus) -> str:
    texts = [(label.x(), label.text()) for label in line.findChildren(QLabel) if label.isVisible()]
    return " ".join(text for _, text in sorted(texts) if text)


def button(line: ApiStatus, name: str) -> QAbstractButton:
    buttons = line.findChildren(QAbstractButton)
    return next(button for button in buttons if name in (button.text(), button.accessibleName()))


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (Off(), "API off"),
        (Starting(8721), "API starting…"),
        (ON, "API on http://127.0.0.1:8721/plants"),
        (Failed(PortInUseError(8721, 8722), 8721), "API off: port 8721 is in use"),
        (Failed(NotAnsweringError(), 8721), "API off: The server no longer answers."),
    ],
)
def test_the_state_of_the_server_is_shown(line: ApiStatus, state: ServerState, expected: str) -> None:
    line.show_server(state)
    assert line.text.startswith(expected)
    assert button(line, "Copy the address of the API").isVisible() == isinstance(state, On)


def test_the_address_is_shown_whole_or_not_at_all_and_copied_with_one_click(qtbot: QtBot, line: ApiStatus) -> None:
    line.show_server(ON)
    copy = button(line, "Copy the address of the API")
    qtbot.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "http://127.0.0.1:8721/plants"
    assert "Copied" in copy.toolTip()
    address = next(label for label in line.findChildren(QLabel) if label.text().startswith("http"))
    line.resize(600, 46)
    assert address.isVisible()
    assert address.width() >= address.sizeHint().width()
    line.resize(220, 46)
    assert not address.isVisible()


@pytest.mark.parametrize(("state", "label"), [(Off(), "Turn on"), (Failed(NotAnsweringError(), 1), "Try again")])
def test_what_is_off_can_be_turned_on(qtbot: QtBot, line: ApiStatus, state: ServerState, label: str) -> None:
    line.show_server(state)
    with qtbot.waitSignal(line.turn_on_requested):
        button(line, label).click()


def test_the_state_alone_is_shown_until_there_is_a_token(qtbot: QtBot, line: ApiStatus) -> None:
    line.show_tokens(has_tokens=False)
    line.show_server(ON)
    assert read_texts(line) == ""
    assert [each.text() for each in line.findChildren(QAbstractButton) if each.isVisible()] == ["API on"]
    with qtbot.waitSignal(line.access_requested):
        button(line, "API on").click()
    line.show_tokens(has_tokens=True)
    assert read_texts(line) == "http://127.0.0.1:8721/plants"


def activity(line: ApiStatus) -> QAbstractButton:
    return line.findChildren(QAbstractButton)[-1]


def test_the_last_plant_of_a_program_is_shown_but_not_those_of_the_form(qtbot: QtBot, line: ApiStatus) -> None:
    now = time.time_ns() // 1_000_000
    line.show_changes(Changes((PlantRow(1, "Aloe vera", None, now, FORM),)))
    assert not activity(line).isVisible()
    line.show_changes(Changes((PlantRow(2, "Ficus", None, now, GREENHOUSE),)))
    assert activity(line).text() == "“Ficus” from greenhouse, just now"
    with qtbot.waitSignal(line.activity_requested):
        activity(line).click()
    two = tuple(PlantRow(number, "Ficus", None, now - 65_000, GREENHOUSE) for number in (3, 4))
    line.show_changes(Changes(two))
    assert activity(line).text() == "2 plants from greenhouse, 1 min ago"


def test_what_has_no_room_ends_in_an_ellipsis_in_both_directions(qtbot: QtBot, line: ApiStatus) -> None:
    line.show_server(ON)
    now = time.time_ns() // 1_000_000
    line.show_changes(Changes((PlantRow(2, "Ficus benjamina", None, now, GREENHOUSE),)))
    line.resize(450, 46)
    qtbot.waitUntil(lambda: activity(line).text().endswith("…"))
    before = activity(line).text()
    line.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    line.resize(451, 46)
    qtbot.waitUntil(lambda: activity(line).x() < 100)
    line.resize(450, 46)
    assert activity(line).text() == before


def test_the_plants_of_a_program_are_counted_until_it_pauses(line: ApiStatus) -> None:
    now = time.time_ns() // 1_000_000
    for number in range(10):
        line.show_changes(Changes(tuple(PlantRow(each, "Fern", None, now, GREENHOUSE) for each in range(4))))
        line.show_changes(Changes((PlantRow(number, "Ivy", None, now, GREENHOUSE._replace(label="shed")),)))
    assert activity(line).text() == "10 plants from shed, just now"
    line.show_changes(Changes((PlantRow(99, "Fern", None, now, GREENHOUSE),)))
    assert activity(line).text() == "41 plants from greenhouse, just now"


def test_screen_readers_speak_that_the_api_is_off_or_on_but_not_its_start(line: ApiStatus, spoken: list[str]) -> None:
    for state in (Starting(8721), ON, ON, Off(), Starting(8721), ON, Failed(NotAnsweringError(), 8721)):
        line.show_server(state)
    assert spoken == ["API off", "API on", "API off: The server no longer answers. Turn it off and on again."]


def test_plants_of_programs_are_announced_at_once_and_a_burst_in_one_sentence(
    qtbot: QtBot, theme: Theme, spoken: list[str]
) -> None:
    line = ApiStatus(theme, announce_ms=1)
    qtbot.addWidget(line)
    now = time.time_ns() // 1_000_000
    for number, name in enumerate(("Fern", "Ivy", "Moss")):
        line.show_changes(Changes((PlantRow(number, name, None, now + number, GREENHOUSE),)))
        assert spoken == ["“Fern” from greenhouse"]
    qtbot.waitUntil(lambda: spoken[1:] == ["3 plants from greenhouse"])


# --- example commands -------------------------------------------------------------------------------------------------


@pytest.fixture
def address(store: SqliteStore, tmp_path: Path) -> Iterator[str]:
    server = Server(store, location_of(store.path), tmp_path / "run")
    server.start(0)
    state = server.wait_until_settled(30)
    assert isinstance(state, On)
    yield state.url
    server.stop()


def commands() -> Iterator[tuple[Language, list[str]]]:
    yield Language.PYTHON, [sys.executable, "-c"]
    for language, program, option in ((Language.CURL, "sh", "-c"), (Language.POWERSHELL, "pwsh", "-Command")):
        if shutil.which(program) and (language is not Language.CURL or shutil.which("curl")):
            yield language, [program, option]


@pytest.mark.parametrize(("language", "command"), list(commands()), ids=str)
def test_a_snippet_adds_a_plant_even_where_a_proxy_is_set(
    store: SqliteStore, address: str, tmp_path: Path, language: Language, command: list[str]
) -> None:
    file = tmp_path / "it's a $(token) file"
    file.write_text(store.tokens.create("greenhouse").result(SECONDS).token + "\n")
    text = make_snippet(language, address, 41, str(file))
    environment = {**os.environ, "http_proxy": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}
    done = subprocess.run(
        [*command, text], env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert "Aloe vera" in done.stdout, done.stderr
    with closing(store.reader()) as reader:
        row = reader.rows([41])[41]
    assert (row.name, row.tag, row.source.label) == ("Aloe vera", "succulent", "greenhouse")


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="reads the command lines of processes in /proc")
@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_no_process_of_the_curl_snippet_has_the_token_in_its_command_line(store: SqliteStore, tmp_path: Path) -> None:
    token = store.tokens.create("greenhouse").result(SECONDS).token
    file = tmp_path / "token"
    file.write_text(token)
    with socket.create_server(("127.0.0.1", 0)) as server:
        text = make_snippet(Language.CURL, f"http://127.0.0.1:{server.getsockname()[1]}", 41, str(file))
        with subprocess.Popen(["sh", "-c", text], start_new_session=True) as shell:
            connection, _ = server.accept()  # curl runs now, and waits for an answer
            with connection:
                received = connection.recv(65536)
                lines = [_command_line(pid) for pid in Path("/proc").iterdir() if pid.name.isdigit()]
            shell.wait(SECONDS)
    assert f"Authorization: Bearer {token}".encode() in received
    assert any(b"curl" in line for line in lines)
    assert not any(token.encode() in line for line in lines)


def _command_line(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:  # it has ended
        return b""


@pytest.mark.parametrize("language", Language)
def test_without_a_saved_token_a_snippet_says_how_to_make_the_file(language: Language) -> None:
    text = make_snippet(language, "http://127.0.0.1:8721", 1)
    assert text.startswith(f"# once: plantdesk token create my-script --output {TOKEN_FILE}\n")
    assert text.count(TOKEN_FILE) == 2
