"""The tokens of a store in a file: their plants that are not counted yet, and the lookup for the API."""

from __future__ import annotations

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
from plantdesk.store.tokens import StoreTokens, digest_of, find_token, token_rows, valid_source

if TYPE_CHECKING:
    import builtins
    import sqlite3
    from concurrent.futures import Future

    from plantdesk.store.change_writer import ChangeWriter
    from plantdesk.store.database import Runner
    from plantdesk.store.sqlite.files.store_file import StoreFile
    from plantdesk.store.sqlite.writer import Writer

_Result = TypeVar("_Result")


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
    """Looks up the token of a request, which takes 10 µs: a new or revoked one counts at once. Belongs to one thread.

    A token is found by its digest, in the same time for any number of tokens. The time of a comparison reveals nothing.
    """

    def __init__(self, file: StoreFile) -> None:
        self._file = file
        with translate_errors():
            self._open()

    @override
    def source(self, token: str) -> Source:
        with translate_errors():
            if self._generation != self._file.generation:
                old = self._connection
                self._open()
                old.close()
            return valid_source(find_token(runner(self._connection), digest_of(token)))

    @override
    def close(self) -> None:
        self._connection.close()

    def _open(self) -> None:
        generation = self._file.generation
        self._connection = self._file.connect()  # if it fails, nothing changes
        self._generation = generation


def _with(uncounted: token_usage.Uncounted | None, row: TokenRow) -> TokenRow:
    if uncounted is None:
        return row
    return row._replace(plants_added=row.plants_added + uncounted.plants, last_used_at=uncounted.used_at)
