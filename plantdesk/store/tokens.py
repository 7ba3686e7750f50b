"""The tokens of every kind of store: create, list, revoke, look up. The functions raise the driver's errors."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import bindparam, insert, select, update
from typing_extensions import override

from plantdesk.domain.edits import DeleteAll
from plantdesk.domain.errors import InvalidTokenNameError, Text, TokenRefusedError, UnknownTokenError, shortened
from plantdesk.domain.history import parameter
from plantdesk.domain.protocols import NewToken, TokenEndedError, TokenStore
from plantdesk.domain.records import Source, SourceKind, TokenRow, now_ms
from plantdesk.domain.selections import AddedBy, Selection
from plantdesk.domain.validation import token_name
from plantdesk.store.changes import make_change
from plantdesk.store.models import TOKEN
from plantdesk.store.rows import add_source

if TYPE_CHECKING:
    from concurrent.futures import Future

    from plantdesk.domain.edits import Applied
    from plantdesk.store.change_writer import ChangeWriter
    from plantdesk.store.database import Runner

#: Lets secret scanners recognise a token.
_PREFIX = "plantdesk_"
_token = TOKEN.c
_COLUMNS = (_token.created_at, _token.expires_at, _token.last_used_at, _token.plants_added, _token.max_plants)
_SOURCE = (_token.source_id, _token.name, _token.id, _token.digest)
_LIST = (
    select(*_SOURCE, *_COLUMNS).where(_token.revoked_at.is_(None)).order_by(_token.created_at.desc(), _token.id.desc())
)
_LOOK_UP = select(*_SOURCE, _token.expires_at, _token.revoked_at).where(_token.digest == bindparam("digest"))


class KnownToken(NamedTuple):
    """A token that was found by its digest."""

    source: Source
    expires_at: int | None
    revoked_at: int | None


class StoreTokens(TokenStore):
    """The tokens of one store. All methods may be called from any thread."""

    def __init__(self, change: Callable[..., Future[Any]]) -> None:
        """`change` queues what is done in a transaction, see `WrittenStore`."""
        self._change = partial(change, changes_tokens=True)

    @override
    def create(self, name: str, expires_at: int | None = None, max_plants: int | None = None) -> Future[NewToken]:
        return self._change(lambda writer: _created(writer.runner, name, expires_at=expires_at, max_plants=max_plants))

    @override
    def revoke(self, name: str) -> Future[None]:
        def action(writer: ChangeWriter) -> None:
            _revoke(writer.runner, name)

        return self._change(action)

    @override
    def revoke_and_remove_plants(self, name: str, source: Source) -> Future[Applied]:
        def action(writer: ChangeWriter) -> Applied:
            label = _revoke(writer.runner, name)
            plants = DeleteAll(Selection.of(AddedBy(SourceKind.TOKEN, label)))
            return make_change(writer, [plants], source, {"token": parameter(label)})

        return self._change(action)

    @override
    def used(self, source: Source) -> Future[None]:
        def action(writer: ChangeWriter) -> None:
            used = update(TOKEN).values(last_used_at=writer.database.now())
            writer.runner.run(used.where(_token.id == source.token_id))

        return self._change(action)


def token_rows(runner: Runner) -> list[TokenRow]:
    """Return the tokens that were not revoked, newest first."""
    return [_row(row) for row in runner.run(_LIST).fetchall()]


def _revoke(runner: Runner, name: str) -> str:
    """Revoke a token and return its name. Raises UnknownTokenError."""
    label, database = name.strip(), runner.database
    revoked = update(TOKEN).values(revoked_at=database.now()).where(_token.name == label, _token.revoked_at.is_(None))
    if not database.storable(label) or not runner.run(revoked).rowcount:
        message = Text("There is no token named “{name}”. `plantdesk token list` shows them all.")
        raise UnknownTokenError(message, name=shortened(name))
    return label


def digest_of(token: str) -> bytes:
    """Return what is stored of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def find_token(runner: Runner, digest: bytes) -> KnownToken | None:
    """Return the token with a digest, also one that has ended."""
    found = runner.run(_LOOK_UP, digest=digest).fetchall()
    return KnownToken(_source(found[0]), *found[0][len(_SOURCE) :]) if found else None


def valid_source(found: KnownToken | None) -> Source:
    """Return the source of a token. Raises TokenRefusedError for None, TokenEndedError for one that has ended."""
    if found is None:
        raise TokenRefusedError
    if found.revoked_at is not None or (found.expires_at is not None and found.expires_at <= now_ms()):
        raise TokenEndedError(found.source)
    return found.source


def _created(runner: Runner, name: str, **limits: int | None) -> NewToken:
    label = token_name(name)
    same = select(_token.id).where(_token.name == label, _token.revoked_at.is_(None))
    if runner.run(same).fetchone() is not None:
        message = Text("There is a token named “{name}” already. Revoke it first, or choose another name.")
        raise InvalidTokenNameError(message, name=shortened(label))
    token = _PREFIX + secrets.token_urlsafe(32)  # 256 bits
    source_id = add_source(runner, SourceKind.TOKEN, label).id
    values = {"name": label, "digest": digest_of(token), "source_id": source_id, "plants_added": 0, **limits}
    new = insert(TOKEN).values(created_at=runner.database.now(), **values).returning(*_SOURCE, *_COLUMNS)
    return NewToken(token, _row(runner.run(new).fetchone()))


def _row(values: Sequence[Any]) -> TokenRow:
    created_at, expires_at, last_used_at, plants_added, max_plants = values[len(_SOURCE) :]
    source = _source(values)
    return TokenRow(source.label, created_at, expires_at, last_used_at, plants_added, source, max_plants)


def _source(values: Sequence[Any]) -> Source:
    source_id, name, token_id, digest = values[: len(_SOURCE)]
    return Source(source_id, SourceKind.TOKEN, name, token_id, digest)
