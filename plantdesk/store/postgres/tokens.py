"""The tokens of a shared store: create, list, revoke, check."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from plantdesk.domain.edits import Applied, DeleteAll
from plantdesk.domain.errors import InvalidTokenNameError, Text, TokenRefusedError, UnknownTokenError, shortened
from plantdesk.domain.folding import searched
from plantdesk.domain.history import parameter
from plantdesk.domain.protocols import NewToken, TokenEndedError, TokenLookup, TokenStore
from plantdesk.domain.records import Changes, Source, SourceKind, TokenRow, now_ms
from plantdesk.domain.selections import AddedBy, Selection
from plantdesk.domain.validation import token_name
from plantdesk.store.postgres.changes import apply
from plantdesk.store.postgres.connections import NOW, execute, storable

if TYPE_CHECKING:
    import builtins
    from concurrent.futures import Future

    from plantdesk.store.postgres.connections import Connection, Transaction
    from plantdesk.store.postgres.reader import ReadConnection
    from plantdesk.store.postgres.writer import Writer

#: Lets secret scanners recognise a token.
_PREFIX = "plantdesk_"
#: Tokens in the cache.
_MAX_CACHED = 1000
_COLUMNS = "name, created_at, expires_at, last_used_at, plants_added, source_id, id, digest, max_plants"
_LOOK_UP = "SELECT source_id, name, id, digest, expires_at, revoked_at FROM token WHERE digest = %s"
#: Within the caller's transaction, a new source of plants.
_ADD_SOURCE = "INSERT INTO source (kind, label, searched_label) VALUES (%s, %s, %s) RETURNING id"


class Tokens(TokenStore):
    """The tokens of one store. All methods may be called from any thread."""

    def __init__(
        self,
        writer: Writer,
        reads: ReadConnection,
        subscribe: Callable[[Callable[[Changes], None]], Callable[[], None]],
    ) -> None:
        self._writer, self._reads, self._subscribe = writer, reads, subscribe

    @override
    def create(self, name: str, expires_at: int | None = None, max_plants: int | None = None) -> Future[NewToken]:
        token = _PREFIX + secrets.token_urlsafe(32)  # 256 bits

        def action(transaction: Transaction) -> NewToken:
            connection = transaction.connection
            label = _checked_name(connection, name)
            source_id = add_source(transaction, SourceKind.TOKEN, label)
            sql = f"""INSERT INTO token (name, digest, source_id, created_at, expires_at, max_plants)
                      VALUES (%s, %s, %s, {NOW}, %s, %s) RETURNING {_COLUMNS}"""
            row = execute(connection, sql, (label, _digest(token), source_id, expires_at, max_plants)).fetchone()
            transaction.tokens, transaction.has_changed = 1, True
            return NewToken(token, _token_row(row or ()))

        return self._writer.submit(action)

    @override
    def revoke(self, name: str) -> Future[None]:
        def action(transaction: Transaction) -> None:
            _revoke(transaction, name)

        return self._writer.submit(action)

    @override
    def revoke_and_remove_plants(self, name: str, source: Source) -> Future[Applied]:
        def action(transaction: Transaction) -> Applied:
            label = _revoke(transaction, name)
            plants = DeleteAll(Selection.of(AddedBy(SourceKind.TOKEN, label)))
            return apply(transaction, [plants], source, {"token": parameter(label)})

        return self._writer.submit(action)

    @override
    def used(self, source: Source) -> Future[None]:
        def action(transaction: Transaction) -> None:
            sql = f"UPDATE token SET last_used_at = {NOW} WHERE id = %s"
            execute(transaction.connection, sql, (source.token_id,))
            transaction.has_changed = True

        return self._writer.submit(action)

    @override
    def list(self) -> builtins.list[TokenRow]:
        sql = f"SELECT {_COLUMNS} FROM token WHERE revoked_at IS NULL ORDER BY created_at DESC, id DESC"
        return [_token_row(row) for row in self._reads.ask(self, lambda each: execute(each, sql).fetchall())]

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
        self._found: dict[bytes, tuple[Source, int | None]] = {}
        self._unsubscribe = subscribe(self._changed)

    @override
    def source(self, token: str) -> Source:
        digest = _digest(token)
        found = self._found.get(digest) or self._look_up(digest)
        source, expires_at = found
        if expires_at is not None and expires_at <= now_ms():
            raise TokenEndedError(source)
        return source

    @override
    def close(self) -> None:
        self._unsubscribe()

    def _changed(self, changes: Changes) -> None:
        if changes.tokens or changes.needs_reload:
            self._found = {}

    def _look_up(self, digest: bytes) -> tuple[Source, int | None]:
        cache = self._found  # before the query: a commit after it empties another one
        row = self._reads.ask(self, lambda each: execute(each, _LOOK_UP, (digest,)).fetchone())
        if row is None:
            raise TokenRefusedError
        source_id, name, token_id, known, expires_at, revoked_at = row
        source = Source(source_id, SourceKind.TOKEN, name, token_id, known)
        if revoked_at is not None:
            raise TokenEndedError(source)
        if len(cache) >= _MAX_CACHED:
            cache.clear()
        cache[digest] = source, expires_at
        return source, expires_at


def add_source(transaction: Transaction, kind: SourceKind, label: str) -> int:
    """Add a source of plants within a transaction, and return its id."""
    row = execute(transaction.connection, _ADD_SOURCE, (str(kind), label, searched(label))).fetchone()
    return int(row[0]) if row else 0


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _checked_name(connection: Connection, name: str) -> str:
    label = token_name(name)
    sql = "SELECT id FROM token WHERE name = %s AND revoked_at IS NULL"
    if execute(connection, sql, (label,)).fetchone() is not None:
        message = Text("There is a token named “{name}” already. Revoke it first, or choose another name.")
        raise InvalidTokenNameError(message, name=shortened(label))
    return label


def _revoke(transaction: Transaction, name: str) -> str:
    sql = f"UPDATE token SET revoked_at = {NOW} WHERE name = %s AND revoked_at IS NULL RETURNING name"
    row = execute(transaction.connection, sql, (name.strip(),)).fetchone() if storable(name) else None
    if row is None:
        message = Text("There is no token named “{name}”. `plantdesk token list` shows them all.")
        raise UnknownTokenError(message, name=shortened(name))
    transaction.tokens, transaction.has_changed = 1, True
    return str(row[0])


def _token_row(row: Sequence[Any]) -> TokenRow:
    name, created_at, expires_at, last_used_at, plants_added, source_id, token_id, digest, max_plants = row
    source = Source(source_id, SourceKind.TOKEN, name, token_id, digest)
    return TokenRow(name, created_at, expires_at, last_used_at, plants_added, source, max_plants)
