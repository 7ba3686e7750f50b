from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from plantdesk.api.server import Server
from plantdesk.server_state import On
from plantdesk.ui.snippets import PLACEHOLDER, Language, snippet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plantdesk.store import Store


@pytest.fixture
def address(store: Store) -> Iterator[str]:
    server = Server(store)
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
    store: Store, address: str, language: Language, command: list[str]
) -> None:
    token = store.tokens.create("greenhouse").result(10).token
    text = snippet(language, address, 41, token)
    environment = {**os.environ, "http_proxy": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}
    done = subprocess.run([*command, text], env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert "Aloe vera" in done.stdout, done.stderr
    reader = store.reader()
    row = reader.plant(41)
    reader.close()
    assert row is not None
    assert (row.name, row.tag, row.source.label) == ("Aloe vera", "succulent", "greenhouse")


@pytest.mark.parametrize("language", Language)
def test_without_a_token_a_snippet_says_where_it_goes(language: Language) -> None:
    text = snippet(language, "http://127.0.0.1:8721", 1)
    assert f"Bearer {PLACEHOLDER}" in text
    assert "@" not in text.replace("@{ Authorization", "")
