"""Hostile stores in the window: their rows are shown as text, whatever they hold, and nothing unexpected happens."""

import os
from pathlib import Path

import pytest

from tests.hostile_stores.generator import BAD_ROWS, HARMLESS, REFUSED, Make
from tests.support.program_driver import Show
from tests.support.samples import some

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, pipes and sockets are POSIX")

#: What makes a difference to the window: odd texts, odd times, odd origins.
_SHOWN = {name: BAD_ROWS[name] for name in BAD_ROWS if "source" in name or "name" in name or "time" in name}
_SHOWN["order at the end"] = HARMLESS["order at the end"]
_REFUSED = ("pipe", "link loop", "hot journal", "view for plants", "trigger on plants", "newer", "text")


@pytest.mark.parametrize("make", some(_SHOWN.values(), 4, _SHOWN))
def test_odd_rows_are_shown(show: Show, tmp_path: Path, make: Make) -> None:
    path = tmp_path / "garden.db"
    make(path, tmp_path / "victim")
    with show(path) as user:
        user.until_on()
        user.until(lambda: len(user.names()) == 1 and user.names() != ["…"])
        user.add("Moss")
        user.until(lambda: user.names()[0] == "Moss")
        assert not user.bar.isVisible()


@pytest.mark.parametrize("name", _REFUSED)
def test_a_refused_file_is_reported(show: Show, tmp_path: Path, name: str) -> None:
    path, victim = tmp_path / "garden.db", tmp_path / "victim"
    victim.write_text("my only thesis")
    REFUSED[name](path, victim)
    with show(path) as user:
        user.until_bar(shown=True)
        assert user.names() == []
    assert victim.read_text() == "my only thesis"
