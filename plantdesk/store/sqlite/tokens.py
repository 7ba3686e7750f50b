"""The tokens of a store in a file, and the lookup for the API."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from plantdesk.domain.protocols import TokenLookup
from plantdesk.store.sqlite.connections import translate_errors
from plantdesk.store.sqlite.database import runner
from plantdesk.store.tokens import KnownToken, StoreTokens, digest_of, find_token, token_rows, valid_source

if TYPE_CHECKING:
    import builtins
    from concurrent.futures import Future

    from plantdesk.domain.records import Source, TokenRow
    from plantdesk.store.sqlite.files.store_file import StoreFile


#: Seconds for which a token is known: a lookup takes 40 µs, as long as the rest of a request under load.
_CACHE_SECONDS = 0.005


class Tokens(StoreTokens):
    """The tokens of one store. All methods may be called from any thread."""

    def __init__(self, change: Callable[..., Future[Any]], file: StoreFile) -> None:
        super().__init__(change)
        self._file = file

    @override
    def list(self) -> builtins.list[TokenRow]:
        with translate_errors(), closing(self._file.connect()) as connection:
            return token_rows(runner(connection))

    @override
    def checker(self) -> TokenChecker:
        return TokenChecker(self._file)


class TokenChecker(TokenLookup):
    """Finds the token of a request. Belongs to one thread.

    A token is found by its digest, in the same time for any number of tokens. The time of a comparison reveals nothing.
    One that was found is not read again for some milliseconds: the transaction that adds a plant checks it once more.
    """

    def __init__(self, file: StoreFile) -> None:
        self._file = file
        self._found: dict[bytes, KnownToken | None] = {}
        self._read_at = 0.0
        with translate_errors():
            self._open()

    @override
    def source(self, token: str) -> Source:
        digest, now = digest_of(token), time.monotonic()
        if now - self._read_at >= _CACHE_SECONDS:
            self._found, self._read_at = {}, now
        found = self._found.get(digest)
        if found is None:
            found = self._found[digest] = self._look_up(digest)
        return valid_source(found)

    @override
    def close(self) -> None:
        self._connection.close()

    def _look_up(self, digest: bytes) -> KnownToken | None:
        with translate_errors():
            if self._generation != self._file.generation:
                old = self._connection
                self._open()
                old.close()
            return find_token(runner(self._connection), digest)

    def _open(self) -> None:
        generation = self._file.generation
        self._connection = self._file.connect()  # if it fails, nothing changes
        self._generation = generation
