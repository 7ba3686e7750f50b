"""Stores in real files."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from plantdesk.domain.protocols import PlantStore, TokenLookup
from plantdesk.store.sqlite.store import SqliteStore

NOBODY = 65534


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "plants.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(path)) as store:
        yield store


@pytest.fixture
def lookup(store: PlantStore) -> Iterator[TokenLookup]:
    with closing(store.tokens.open_lookup()) as lookup:
        yield lookup


@pytest.fixture
def ordinary_folder() -> Iterator[Path]:
    """A folder of an ordinary user, whom the test is while it runs: root may write everywhere."""
    with tempfile.TemporaryDirectory() as name:
        if os.name == "posix" and os.geteuid() == 0:
            os.chown(name, NOBODY, -1)
            os.seteuid(NOBODY)
            yield Path(name)
            os.seteuid(0)
        else:
            yield Path(name)
