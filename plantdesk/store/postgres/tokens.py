"""The tokens of a shared store, and the lookup for the API."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from plantdesk.domain.protocols import TokenLookup
from plantdesk.store.postgres.database import runner
from plantdesk.store.tokens import KnownToken, StoreTokens, digest_of, find_token, token_rows, valid_source

if TYPE_CHECKING:
    import builtins
    from concurrent.futures import Future

    from plantdesk.domain.records import Changes, Source, TokenRow
    from plantdesk.store.postgres.reader import ReadConnection

#: Tokens in the cache.
_MAX_CACHED = 1000


class Tokens(StoreTokens):
    """The tokens of one store. All methods may be called from any thread."""

    def __init__(
        self,
        change: Callable[..., Future[Any]],
        reads: ReadConnection,
        subscribe: Callable[[Callable[[Changes], None]], Callable[[], None]],
    ) -> None:
        super().__init__(change)
        self._reads, self._subscribe = reads, subscribe

    @override
    def list(self) -> builtins.list[TokenRow]:
        return self._reads.ask(self, lambda connection: token_rows(runner(connection)))

    @override
    def checker(self) -> TokenChecker:
        return TokenChecker(self._reads, self._subscribe)


class TokenChecker(TokenLookup):
    """Finds the token of a request by its digest. Belongs to one thread.

    A valid token is cached until a commit of any desk changes tokens, and the transaction that adds a plant checks it
    again. One that is not known as valid is looked up each time, so that a new one counts at once.
    """

    def __init__(
        self, reads: ReadConnection, subscribe: Callable[[Callable[[Changes], None]], Callable[[], None]]
    ) -> None:
        self._reads = reads
        self._found: dict[bytes, KnownToken] = {}
        self._unsubscribe = subscribe(self._changed)

    @override
    def source(self, token: str) -> Source:
        digest = digest_of(token)
        return valid_source(self._found.get(digest) or self._look_up(digest))

    @override
    def close(self) -> None:
        self._unsubscribe()

    def _changed(self, changes: Changes) -> None:
        if changes.tokens or changes.needs_reload:
            self._found = {}

    def _look_up(self, digest: bytes) -> KnownToken | None:
        cache = self._found  # before the query: a commit after it empties another one
        found = self._reads.ask(self, lambda connection: find_token(runner(connection), digest))
        if found is not None and found.revoked_at is None:
            if len(cache) >= _MAX_CACHED:
                cache.clear()
            cache[digest] = found
        return found
