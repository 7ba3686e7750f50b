"""The tokens of a store: create, list, revoke, check."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from plantdesk.domain.edits import Applied, DeleteAll
from plantdesk.domain.errors import InvalidTokenNameError, Text, TokenRefusedError, UnknownTokenError, shortened
from plantdesk.domain.history import parameter
from plantdesk.domain.protocols import NewToken, TokenEndedError, TokenLookup, TokenStore
from plantdesk.domain.records import Changes, Source, SourceKind, TokenRow, now_ms
from plantdesk.domain.selections import AddedBy, Selection
from plantdesk.domain.validation import token_name
from plantdesk.store.sqlite import token_usage
from plantdesk.store.sqlite.changes import apply
from plantdesk.store.sqlite.commit_key import COUNTERS, token_state
from plantdesk.store.sqlite.connections import snapshot, translate_errors
from plantdesk.store.sqlite.inserts import new_source

if TYPE_CHECKING:
    import builtins
    import sqlite3
    from concurrent.futures import Future

    from plantdesk.store.sqlite.files.store_file import StoreFile
    from plantdesk.store.sqlite.writer import Writer

#: Lets secret scanners recognise a token.
PREFIX = "plantdesk_"

_CHANGED = Changes(tokens=True)
_NAMED = "WHERE name = ? AND revoked_at IS NULL"
_INSERT = """INSERT INTO token (name, digest, source_id, created_at, expires_at, max_plants, plants_added)
             VALUES (?, ?, ?, ?, ?, ?, 0)"""
_SELECT = """SELECT id, name, digest, source_id, created_at, expires_at, last_used_at, plants_added, max_plants
             FROM token WHERE revoked_at IS NULL ORDER BY created_at DESC, id DESC"""
#: Seconds for which the checker uses its cache without a query; under load this saves one for every request.
_CACHE_SECONDS = 0.005
#: Tokens in the cache.
_MAX_CACHED = 1000


class Tokens(TokenStore):
    """The tokens of one store. All methods may be called from any thread."""

    def __init__(self, file: StoreFile, writer: Writer) -> None:
        self._file = file
        self._writer = writer

    @override
    def create(self, name: str, expires_at: int | None = None, max_plants: int | None = None) -> Future[NewToken]:
        import secrets  # imports OpenSSL

        def action(connection: sqlite3.Connection) -> tuple[NewToken, Changes]:
            label = _checked_name(connection, name)
            token = PREFIX + secrets.token_urlsafe(32)  # 256 bits
            source, digest, now = new_source(connection, SourceKind.TOKEN, label), _digest(token), now_ms()
            values = (label, digest, source.id, now, expires_at, max_plants)
            source = source._replace(token_id=connection.execute(_INSERT, values).lastrowid, digest=digest)
            return NewToken(token, TokenRow(label, now, expires_at, None, 0, source, max_plants)), _CHANGED

        return self._writer.submit(action)

    @override
    def revoke(self, name: str) -> Future[None]:
        def action(connection: sqlite3.Connection) -> tuple[None, Changes]:
            _revoke(connection, name)
            return None, _CHANGED

        return self._writer.submit(action)

    @override
    def revoke_and_remove_plants(self, name: str, source: Source) -> Future[Applied]:
        def action(connection: sqlite3.Connection) -> tuple[Applied, Changes]:
            label = _revoke(connection, name)
            plants = DeleteAll(Selection.of(AddedBy(SourceKind.TOKEN, label)))
            applied = apply(connection, [plants], source, {"token": parameter(label)})
            return applied, Changes(tokens=True, history=applied.change is not None)

        return self._writer.submit(action)

    @override
    def used(self, source: Source) -> Future[None]:
        def action(connection: sqlite3.Connection) -> tuple[None, Changes]:
            connection.execute("UPDATE token SET last_used_at = ? WHERE id = ?", (now_ms(), source.token_id))
            return None, _CHANGED

        return self._writer.submit(action)

    @override
    def list(self) -> builtins.list[TokenRow]:
        with translate_errors(), closing(self._file.connect()) as connection, snapshot(connection):
            uncounted = token_usage.uncounted(connection)
            return [_token_row(row, uncounted) for row in connection.execute(_SELECT).fetchall()]

    @override
    def checker(self) -> TokenChecker:
        return TokenChecker(self._file, self._writer)


class TokenChecker(TokenLookup):
    """Finds the token of a request. Belongs to one thread.

    Finds a token by its digest, in the same time for any number of tokens, and caches it until a commit may have
    changed the tokens, so that one created or revoked by any PlantDesk takes effect at once, and what another program
    has written when the writer notices it. No comparison takes a time that could leak.
    """

    def __init__(self, file: StoreFile, writer: Writer) -> None:
        self._file = file
        self._writer = writer
        with translate_errors():
            self._open()
        self._checked_at = float("-inf")
        self._found: dict[bytes, tuple[Source, int | None]] = {}

    @override
    def source(self, token: str) -> Source:
        digest = _digest(token)
        if time.monotonic() - self._checked_at >= _CACHE_SECONDS or digest not in self._found:
            self._look_up(digest)
        if digest not in self._found:
            revoked = self._revoked(digest)
            raise TokenRefusedError if revoked is None else TokenEndedError(revoked)
        source, expires_at = self._found[digest]
        if expires_at is not None and expires_at <= now_ms():
            raise TokenEndedError(source)
        return source

    @override
    def close(self) -> None:
        self._connection.close()

    def _open(self) -> None:
        generation = self._file.generation
        self._connection = self._file.connect()  # where it fails, nothing changes
        self._generation, self._version, self._counters = generation, -1, (-1, -1, -1)

    def _look_up(self, digest: bytes) -> None:
        """Cache the token if it is valid now, after the cache was cleared where the tokens may have changed."""
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
                counters = *token_state(self._connection.execute(COUNTERS).fetchone()), unrecorded
                if counters != self._counters:
                    self._counters = counters
                    self._found.clear()
            if len(self._found) >= _MAX_CACHED:
                self._found.clear()
            if digest not in self._found and (found := self._read(digest)) is not None:
                self._found[digest] = found
        self._checked_at = now

    def _revoked(self, digest: bytes) -> Source | None:
        """Return the source of a token that was revoked; None for one that never was."""
        with translate_errors():
            found = self._read(digest, "IS NOT NULL")
        return None if found is None else found[0]

    def _read(self, digest: bytes, revoked_at: str = "IS NULL") -> tuple[Source, int | None] | None:
        sql = f"SELECT source_id, name, id, expires_at FROM token WHERE digest = ? AND revoked_at {revoked_at}"
        with closing(self._connection.execute(sql, (digest,))) as cursor:
            row = cursor.fetchone()
        if row is None:
            return None
        source_id, name, token_id, expires_at = row
        return Source(source_id, SourceKind.TOKEN, name, token_id, digest), expires_at


def _digest(token: str) -> bytes:
    import hashlib  # imports OpenSSL

    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _checked_name(connection: sqlite3.Connection, name: str) -> str:
    label = token_name(name)
    if connection.execute(f"SELECT 1 FROM token {_NAMED}", (label,)).fetchone() is not None:
        message = Text("There is a token named “{name}” already. Revoke it first, or choose another name.")
        raise InvalidTokenNameError(message, name=shortened(label))
    return label


def _revoke(connection: sqlite3.Connection, name: str) -> str:
    """Revoke a token and return its name."""
    label = name.strip()
    if not connection.execute(f"UPDATE token SET revoked_at = ? {_NAMED}", (now_ms(), label)).rowcount:
        message = Text("There is no token named “{name}”. `plantdesk token list` shows them all.")
        raise UnknownTokenError(message, name=shortened(name))
    return label


def _token_row(row: tuple[Any, ...], uncounted: dict[int, token_usage.Uncounted]) -> TokenRow:
    token_id, name, digest, source_id, created_at, expires_at, last_used_at, plants_added, max_plants = row
    source = Source(source_id, SourceKind.TOKEN, name, token_id, digest)
    plants, used_at = uncounted.get(source_id, (0, last_used_at))
    return TokenRow(name, created_at, expires_at, used_at, plants_added + plants, source, max_plants)
