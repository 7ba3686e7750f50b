"""Creates, lists, revokes and looks up the tokens of every kind of store. The functions raise the driver's errors."""

from __future__ import annotations

import builtins
import hashlib
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import closing
from functools import partial
from typing import Any

import sqlalchemy as sa
from typing_extensions import override

from plantdesk.domain.edits import Applied, DeleteAll
from plantdesk.domain.errors import InvalidTokenNameError, TokenRefusedError, UnknownTokenError
from plantdesk.domain.history import shorten_parameter
from plantdesk.domain.protocols import TokenEndedError, TokenLookup, TokenStore
from plantdesk.domain.records import Changes, NewToken, Source, SourceKind, TokenRow, now_ms
from plantdesk.domain.selections import AddedBy, Selection
from plantdesk.domain.texts import Text, shortened
from plantdesk.domain.validation import token_name
from plantdesk.store.change_writer import ChangeWriter
from plantdesk.store.changes import make_change
from plantdesk.store.database import Runner
from plantdesk.store.models import TOKEN
from plantdesk.store.reader import StoreReader
from plantdesk.store.rows import add_source

#: The source of a token, when it expires, and when it was revoked (milliseconds since 1970, UTC).
_TokenState = tuple[Source, int | None, int | None]
Subscribe = Callable[[Callable[[Changes], None]], Callable[[], None]]

#: Lets secret scanners recognise a token.
_PREFIX = "plantdesk_"
_TOKEN = TOKEN.c
_COLUMNS = (_TOKEN.created_at, _TOKEN.expires_at, _TOKEN.last_used_at, _TOKEN.plants_added, _TOKEN.max_plants)
_SOURCE = (_TOKEN.source_id, _TOKEN.name, _TOKEN.id, _TOKEN.digest)
_LIST = (
    sa.select(*_SOURCE, *_COLUMNS)
    .where(_TOKEN.revoked_at.is_(None))
    .order_by(_TOKEN.created_at.desc(), _TOKEN.id.desc())
)
_LOOK_UP = sa.select(*_SOURCE, _TOKEN.expires_at, _TOKEN.revoked_at).where(_TOKEN.digest == sa.bindparam("digest"))


class StoreTokens(TokenStore):
    """The tokens of an open store: writes them by its writer thread. All methods may be called from any thread."""

    def __init__(
        self, write: Callable[..., Future[Any]], reader: Callable[[], StoreReader], subscribe: Subscribe
    ) -> None:
        """`write` is the method `submit` of the writer; the others are methods of the store."""
        self._write = partial(write, changes_tokens=True)
        self._reader = reader
        self._subscribe = subscribe

    @override
    def create(self, name: str, expires_at: int | None = None, max_plants: int | None = None) -> Future[NewToken]:
        return self._write(lambda writer: _create(writer.runner, name, expires_at=expires_at, max_plants=max_plants))

    @override
    def revoke(self, name: str) -> Future[None]:
        def action(writer: ChangeWriter) -> None:
            _revoke(writer.runner, name)

        return self._write(action)

    @override
    def revoke_and_remove_plants(self, name: str, source: Source) -> Future[Applied]:
        def action(writer: ChangeWriter) -> Applied:
            label = _revoke(writer.runner, name)
            plants = DeleteAll(Selection.of(AddedBy(SourceKind.TOKEN, label)))
            return make_change(writer, [plants], source, {"token": shorten_parameter(label)})

        return self._write(action)

    @override
    def record_use(self, source: Source) -> Future[None]:
        def action(writer: ChangeWriter) -> None:
            used = sa.update(TOKEN).values(last_used_at=writer.database.now())
            writer.runner.run(used.where(_TOKEN.id == source.token_id))

        return self._write(action)

    @override
    def list(self) -> builtins.list[TokenRow]:
        with closing(self._reader()) as reader:
            return [_to_row(row) for row in reader.ask(lambda runner: runner.run(_LIST).all())]

    @override
    def open_lookup(self) -> TokenChecker:
        return TokenChecker(self._reader(), self._subscribe)


class TokenChecker(TokenLookup):
    """Finds the token of a request by its digest, so that the time of a comparison reveals nothing. For one thread.

    A token that was not revoked is cached until any commit changes tokens; the transaction that adds a plant checks it
    again. Any other token is looked up each time, so that a new one is valid at once.
    """

    def __init__(self, reader: StoreReader, subscribe: Subscribe) -> None:
        """Take over the reader: `close` closes it."""
        self._reader = reader
        self._cache: dict[bytes, _TokenState] = {}
        self._unsubscribe = subscribe(self._clear_if_changed)

    @override
    def source(self, token: str) -> Source:
        digest = _digest_of(token)
        entry = self._cache.get(digest) or self._look_up(digest)
        if entry is None:
            raise TokenRefusedError
        source, expires_at, revoked_at = entry
        if revoked_at is not None or (expires_at is not None and expires_at <= now_ms()):
            raise TokenEndedError(source)
        return source

    @override
    def close(self) -> None:
        self._unsubscribe()
        self._reader.close()

    def _clear_if_changed(self, changes: Changes) -> None:
        if changes.tokens_changed or changes.needs_reload:
            self._cache = {}

    def _look_up(self, digest: bytes) -> _TokenState | None:
        cache = self._cache  # taken before the query: a commit during it begins a new cache
        rows = self._reader.ask(lambda runner: runner.run(_LOOK_UP, digest=digest).all())
        if not rows:
            return None
        expires_at, revoked_at = rows[0][len(_SOURCE) :]
        entry = _to_source(rows[0]), expires_at, revoked_at
        if revoked_at is None:
            cache[digest] = entry
        return entry


def _revoke(runner: Runner, name: str) -> str:
    """Revoke a token and return its name. Raises UnknownTokenError."""
    label = name.strip()
    database = runner.database
    revoked = (
        sa.update(TOKEN).values(revoked_at=database.now()).where(_TOKEN.name == label, _TOKEN.revoked_at.is_(None))
    )
    if not database.is_storable(label) or not runner.run(revoked).rowcount:
        message = Text("There is no token named “{name}”. `plantdesk token list` shows them all.")
        raise UnknownTokenError(message, name=shortened(name))
    return label


def _digest_of(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _create(runner: Runner, name: str, **limits: int | None) -> NewToken:
    label = token_name(name)
    if runner.run(sa.select(_TOKEN.id).where(_TOKEN.name == label, _TOKEN.revoked_at.is_(None))).first() is not None:
        message = Text("There is a token named “{name}” already. Revoke it first, or choose another name.")
        raise InvalidTokenNameError(message, name=shortened(label))
    token = _PREFIX + secrets.token_urlsafe(32)  # 256 bits
    source_id = add_source(runner, SourceKind.TOKEN, label).id
    values = {"name": label, "digest": _digest_of(token), "source_id": source_id, "plants_added": 0, **limits}
    new = sa.insert(TOKEN).values(created_at=runner.database.now(), **values).returning(*_SOURCE, *_COLUMNS)
    return NewToken(token, _to_row(runner.run(new).one()))


def _to_row(values: Sequence[Any]) -> TokenRow:
    created_at, expires_at, last_used_at, plants_added, max_plants = values[len(_SOURCE) :]
    source = _to_source(values)
    return TokenRow(source.label, created_at, expires_at, last_used_at, plants_added, source, max_plants)


def _to_source(values: Sequence[Any]) -> Source:
    source_id, name, token_id, digest = values[: len(_SOURCE)]
    return Source(source_id, SourceKind.TOKEN, name, token_id, digest)
