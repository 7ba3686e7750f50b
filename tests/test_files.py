"""Files with any content: PlantDesk refuses them without a traceback, and does not change them."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plantdesk.api import discovery
from plantdesk.api.announcement import Announcement
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.records import COMMAND
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import View
from plantdesk.domain.validation import new_plant
from plantdesk.platform import settings
from plantdesk.store import location_of
from plantdesk.store.sqlite.store import SqliteStore
from tests.support.cases import cases

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
_BYTES = (
    st.binary(max_size=200)
    | _JSON.map(lambda value: json.dumps(value).encode())
    | st.sampled_from(
        [b"[" * 20_000, b'{"port":' + b"9" * 10_000 + b"}", b'{"text_scale": 1e999}', b'{"window": null}']
    )
)


def _some_of(known: dict[str, Any]) -> st.SearchStrategy[bytes]:
    """Return files with the expected members and any values."""
    members = {name: st.just(value) | _JSON for name, value in known.items()}
    return st.fixed_dictionaries({}, optional=members).map(lambda value: json.dumps(value).encode())


_SETTINGS = {"theme": "dark", "text_scale": 1.5, "api_enabled": False, "port": 1, "window": {"width": 5}}
_RUNTIME = discovery.Runtime(
    url="http://127.0.0.1:1", port=1, socket="", pid=1, started=1, database="x", version="1", key="0" * 64
)


def test_settings_are_loaded_from_any_content(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"

    @cases(150)
    @given(_BYTES | _some_of(_SETTINGS))
    def check(content: bytes) -> None:
        file.write_bytes(content)
        found = settings.load(file)
        settings.save(found, file)
        assert settings.load(file) == found

    check()


def test_runtime_files_may_have_any_content(tmp_path: Path) -> None:
    with closing(Announcement(tmp_path / "run", location_of(tmp_path / "plants.db"))) as held:
        held.write(_RUNTIME)
        (file,) = (tmp_path / "run").iterdir()

        @cases(150)
        @given(_BYTES | _some_of(_RUNTIME.model_dump()))
        def check(content: bytes) -> None:
            file.write_bytes(content)
            assert discovery.find_server(tmp_path / "run", location_of(tmp_path / "plants.db")) is None

        check()


@pytest.fixture(scope="module")
def whole_store(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "plants.db"
    with closing(SqliteStore(path)) as store:
        store.tokens.create("x").result()
        for number in range(50):
            store.add(new_plant({"id": number, "name": "Érable" * number, "tag": "t"}), COMMAND).result()
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = DELETE")
    return path.read_bytes()


_DAMAGE = st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=40)), min_size=1, max_size=4)
_HEADER_DAMAGE = st.lists(st.tuples(st.floats(0, 0.004), st.binary(min_size=1, max_size=4)), min_size=1, max_size=3)


def test_a_damaged_store_is_opened_or_refused_unchanged(whole_store: bytes, tmp_path: Path) -> None:
    path = tmp_path / "plants.db"
    outcomes: set[str] = set()

    @cases(120)
    @given(_DAMAGE | _HEADER_DAMAGE, st.floats(0, 1) | st.just(1.0))
    def check(damage: list[tuple[float, bytes]], length: float) -> None:
        content = bytearray(whole_store)
        for where, piece in damage:
            at = int(where * len(content))
            content[at : at + len(piece)] = piece
        outcomes.add(open_as_user(path, bytes(content[: max(1, int(length * len(content)))])))

    check()
    assert {"opened", "StoreDamagedError", "ForeignFileError"} <= outcomes


def open_as_user(path: Path, content: bytes) -> str:
    """Use a file with `content` as a user does; return the outcome."""
    for rest in path.parent.iterdir():
        rest.unlink()
    path.write_bytes(content)
    try:
        store = SqliteStore(path)
    except PlantDeskError as error:
        assert path.read_bytes() == content
        assert {file.name for file in path.parent.iterdir()} <= {path.name, f".{path.name}.lock"}
        return type(error).__name__
    with closing(store):
        try:
            use(store)
        except PlantDeskError as error:
            return f"later {type(error).__name__}"
    return "opened"


def use(store: SqliteStore) -> None:
    with closing(store.reader()) as reader:
        ids = [plant_id for chunk in reader.ids(View(parse_search("e"))) for plant_id in chunk]
        reader.rows(ids)
        reader.tag_counts()
        reader.next_free_id()
    store.tokens.list()
    with closing(store.tokens.open_lookup()) as lookup, pytest.raises(PlantDeskError):
        lookup.source("wrong")
    store.add(new_plant({"id": 10**6, "name": "New"}), COMMAND).result()
