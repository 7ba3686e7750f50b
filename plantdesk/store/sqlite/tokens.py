"""The tokens of a store in a file: their plants that are not counted yet, and the lookup for the API."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

from typing_extensions import override

from plantdesk.domain.protocols import TokenLookup
from plantdesk.domain.records import Changes, Source, TokenRow
from plantdesk.store.sqlite import token_usage
from plantdesk.store.sqlite.changes import SqliteChange
from plantdesk.store.sqlite.connections import snapshot, translate_errors
from plantdesk.store.sqlite.database import runner
from plantdesk.store.sqlite.numbers import COUNTERS
from plantdesk.store.tokens import KnownToken, StoreTokens, digest_of, find_token, token_rows, valid_source

if TYPE_CHECKING:
    import builtins
    import sqlite3
    from concurrent.futures import Future

    from plantdesk.store.change_writer import ChangeWriter
    from plantdesk.store.database import Runner
    from plantdesk.store.sqlite.files.store_file import StoreFile
    from plantdesk.store.sqlite.writer import Writer

_Result = TypeVar("_Result")

#: Seconds for which the checker uses its cache without a query; under load this saves one for every request.
_CACHE_SECONDS = 0.005
#: Tokens in the cache.
_MAX_CACHED = 1000


class Tokens(StoreTokens):
    """The tokens of one store. All methods may be called from any thread."""

    def __init__(self, file: StoreFile, writer: Writer) -> None:
        self._file = file
        self._writer = writer

    @override
    def _write(self, action: Callable[[Runner], _Result], *, is_use: bool = False) -> Future[_Result]:
        return self._writer.submit(lambda connection: (action(runner(connection)), Changes(tokens=True)))

    @override
    def _change(self, action: Callable[[ChangeWriter], _Result]) -> Future[_Result]:
        def write(connection: sqlite3.Connection) -> tuple[_Result, Changes]:
            return action(SqliteChange(connection)), Changes(tokens=True, history=True)

        return self._writer.submit(write)

    @override
    def list(self) -> builtins.list[TokenRow]:
        with translate_errors(), closing(self._file.connect()) as connection, snapshot(connection):
            uncounted = token_usage.uncounted(connection)
            return [_with(uncounted.get(row.source.id), row) for row in token_rows(runner(connection))]

    @override
    def checker(self) -> TokenChecker:
        return TokenChecker(self._file)


class TokenChecker(TokenLookup):
    """Finds the token of a request. Belongs to one thread.

    Finds a token by its digest, in the same time for any number of tokens, and caches it until a commit may have
    changed the tokens. So a token that any PlantDesk creates or revokes takes effect at once; what another program has
    written takes effect when the writer notices it. The time of a comparison reveals nothing.
    """

    def __init__(self, file: StoreFile) -> None:
        self._file = file
        with translate_errors():
            self._open()
        self._checked_at = float("-inf")
        self._found: dict[bytes, KnownToken] = {}

    @override
    def source(self, token: str) -> Source:
        digest = digest_of(token)
        found = self._found.get(digest)
        if found is None or time.monotonic() - self._checked_at >= _CACHE_SECONDS:
            found = self._look_up(digest)
        return valid_source(found)

    @override
    def close(self) -> None:
        self._connection.close()

    def _open(self) -> None:
        generation = self._file.generation
        self._connection = self._file.connect()  # if it fails, nothing changes
        self._generation, self._version, self._counters = generation, -1, (-1, -1, -1)

    def _look_up(self, digest: bytes) -> KnownToken | None:
        """Return a token, from the cache unless the tokens may have changed; valid ones are cached."""
        now = time.monotonic()
        with translate_errors():
            if self._generation != self._file.generation:
                old = self._connection
                self._open()
                old.close()
            unrecorded = self._file.epoch
            (version,) = self._connection.execute("PRAGMA data_version").fetchone()
            if version != self._version or unrecorded != self._counters[-1]:
                self._version = version
                counters = *self._connection.execute(COUNTERS).fetchone(), unrecorded
                if counters != self._counters:
                    self._counters = counters
                    self._found.clear()
            if len(self._found) >= _MAX_CACHED:
                self._found.clear()
            found = self._found.get(digest) or self._read(digest)
        if found is not None and found.revoked_at is None:
            self._found[digest] = found
        self._checked_at = now
        return found

    def _read(self, digest: bytes) -> KnownToken | None:
        return find_token(runner(self._connection), digest)


def _with(uncounted: token_usage.Uncounted | None, row: TokenRow) -> TokenRow:
    if uncounted is None:
        return row
    return row._replace(plants_added=row.plants_added + uncounted.plants, last_used_at=uncounted.used_at)
