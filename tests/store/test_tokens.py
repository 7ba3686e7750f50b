from __future__ import annotations

import hashlib
import itertools
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import pytest

from plantdesk.domain.errors import TokenRefusedError
from plantdesk.store.sqlite.files.store_file import StoreFile
from tests.store.test_backups import until
from tests.support.waiting import SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.domain.protocols import TokenLookup
    from plantdesk.store.sqlite.store import Store


@pytest.fixture
def checker(store: Store) -> Iterator[TokenLookup]:
    checker = store.tokens.checker()
    yield checker
    checker.close()


def test_only_the_digest_is_kept(store: Store, path: Path) -> None:
    token = store.tokens.create("greenhouse").result(SECONDS).token
    store.close()
    assert token.encode() not in path.read_bytes()
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT digest FROM token").fetchall() == [(hashlib.sha256(token.encode()).digest(),)]


def test_a_revocation_by_another_program_is_noticed(store: Store, path: Path, checker: TokenLookup) -> None:
    token = store.tokens.create("greenhouse").result(SECONDS).token
    assert checker.source(token).label == "greenhouse"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE token SET revoked_at = 1")

    def is_refused() -> bool:
        with suppress(TokenRefusedError):
            checker.source(token)
            return False
        return True

    until(is_refused)


def test_the_cost_of_a_check_does_not_grow_with_the_tokens(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in instructions of SQLite's machine, as time would vary."""
    steps = itertools.count()
    really = StoreFile.connect

    def counting(file: StoreFile) -> sqlite3.Connection:
        connection = really(file)
        connection.set_progress_handler(lambda: next(steps) < 0, 1)
        return connection

    def cost() -> int:
        before = next(steps)
        with closing(store.tokens.checker()) as checker:
            checker.source(token)
        return next(steps) - before

    monkeypatch.setattr(StoreFile, "connect", counting)
    token = store.tokens.create("greenhouse").result(SECONDS).token
    with_one = cost()
    for number in range(100):
        store.tokens.create(f"other {number}").result(SECONDS)
    assert cost() <= 2 * with_one
