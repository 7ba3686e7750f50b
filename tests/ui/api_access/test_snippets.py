import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plantdesk.api.server import Server
from plantdesk.domain.server_state import On
from plantdesk.store import location_of
from plantdesk.store.sqlite.store import Store
from plantdesk.ui.api_access.dialog import TOKEN_FILE, Language, snippet
from tests.support.waiting import SECONDS


@pytest.fixture
def address(store: Store, tmp_path: Path) -> Iterator[str]:
    server = Server(store, location_of(store.path), tmp_path / "run")
    server.start(0)
    state = server.settled(30)
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
    store: Store, address: str, tmp_path: Path, language: Language, command: list[str]
) -> None:
    file = tmp_path / "it's a $(token) file"
    file.write_text(store.tokens.create("greenhouse").result(SECONDS).token + "\n")
    text = snippet(language, address, 41, str(file))
    environment = {**os.environ, "http_proxy": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}
    done = subprocess.run(
        [*command, text], env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert "Aloe vera" in done.stdout, done.stderr
    reader = store.reader()
    row = reader.plant(41)
    reader.close()
    assert row is not None
    assert (row.name, row.tag, row.source.label) == ("Aloe vera", "succulent", "greenhouse")


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="reads the command lines of processes in /proc")
@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_no_process_of_the_curl_snippet_has_the_token_in_its_command_line(store: Store, tmp_path: Path) -> None:
    token = store.tokens.create("greenhouse").result(SECONDS).token
    file = tmp_path / "token"
    file.write_text(token)
    with socket.create_server(("127.0.0.1", 0)) as server:
        text = snippet(Language.CURL, f"http://127.0.0.1:{server.getsockname()[1]}", 41, str(file))
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
    text = snippet(language, "http://127.0.0.1:8721", 1)
    assert text.startswith(f"# once: plantdesk token create my-script --output {TOKEN_FILE}\n")
    assert text.count(TOKEN_FILE) == 2
