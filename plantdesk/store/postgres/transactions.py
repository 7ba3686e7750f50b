"""The writer's connection: transactions that are durable when they return, and polls for commits of other desks.

A COMMIT without an answer is never repeated, and its outcome is never guessed. Each commit writes a key of its own into
`commits`; `settle` tries to write the same key without a commit. If that succeeds, the transaction can never commit,
even if it is still on its way; if the key is there, the transaction has committed.

For one thread at a time: the writer thread, or that of an import, which has a connection of its own.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar
from uuid import UUID, uuid4

import psycopg
import sqlalchemy as sa
from typing_extensions import override

from plantdesk.domain.errors import SamePlantError, StoreError, TokenRefusedError, TokenUsedUpError
from plantdesk.domain.folding import fold
from plantdesk.domain.models import NewPlant
from plantdesk.domain.protocols import Entry, Outcome
from plantdesk.domain.records import Changes, PlantRow, Source
from plantdesk.domain.texts import Text
from plantdesk.store.base import AddResult, outcome_for_taken_id
from plantdesk.store.change_writer import LARGE_CHANGE, ChangeSize, ChangeWriter
from plantdesk.store.database import VERSION_SQL, TablesChangedError
from plantdesk.store.history import prune, prune_commits
from plantdesk.store.models import STATE
from plantdesk.store.postgres.address import Address
from plantdesk.store.postgres.administration import OnlyReadsError, read_missing_rights
from plantdesk.store.postgres.connections import (
    LOCK_STATE,
    LONG_TIMEOUT,
    NOW_MS,
    Connection,
    connect,
    execute,
    snapshot,
)
from plantdesk.store.postgres.database import DATABASE, runner_of
from plantdesk.store.postgres.errors import (
    NulRefusedError,
    RightsMissingError,
    ServerUnreachableError,
    translate_errors,
)
from plantdesk.store.postgres.schema import VERSION_COLUMNS, TablesVersion, check_readable, read_version, write_refusal
from plantdesk.store.rows import read_changes_since, row_of

_Result = TypeVar("_Result")
#: The known outcomes of a group of plants, by the index of the plant.
_KnownOutcomes = dict[int, Outcome]

#: Seconds in which the outcome of a lost connection must be known, and between two attempts.
_SETTLE_TIMEOUT = 2.0
_SETTLE_DELAY = 0.1
_FINISH = f"""
    WITH next AS (
        UPDATE state SET position = position + 1, last_seq = %(seq)s, last_change = %(change)s,
                         plants = plants + %(plants)s, tokens = tokens + %(tokens)s
        RETURNING position
    )
    INSERT INTO commits (key, position, made_at, desk, seq, change)
    SELECT %(key)s, position, {NOW_MS}, %(desk)s, %(seq)s, %(change)s FROM next"""
_SETTLE = f"""INSERT INTO commits (key, made_at, desk) VALUES (%(key)s, {NOW_MS}, %(desk)s)
              ON CONFLICT (key) DO NOTHING RETURNING key"""
_STATE = f"SELECT position, last_seq, last_change, tokens, {VERSION_COLUMNS} FROM state"
#: Seconds in which each statement must be answered, waiting for the lock included, except those of large changes.
_QUICK_TIMEOUT = 8


class OutcomeUnknownError(ServerUnreachableError):
    """The connection was lost before the answer, and the server cannot be asked now. The same request again is safe."""

    may_have_committed = True
    #: The key of the commit, and what the write returns if it was committed.
    pending: tuple[UUID, Any] | None = None
    text = Text(
        "The connection to the shared store was lost, and it is not known yet whether this was saved. "
        "PlantDesk asks the server as soon as it answers."
    )


class ServerCounters(NamedTuple):
    """A state of the store: the number of commits, the largest `seq`, the last change, and changes of tokens."""

    position: int
    seq: int
    change: int
    tokens: int


class PostgresChangeWriter(ChangeWriter):
    """Writes one change on a server, in a transaction that holds the lock on `state`.

    `plants`, `tokens` and `has_changed` count what its commit will change.
    """

    def __init__(self, connection: Connection, last_seq: int, last_change: int, desk: str) -> None:
        super().__init__(runner_of(connection), last_change + 1)
        self.connection = connection
        self.desk = desk
        self.seq = last_seq
        self.last_change = last_change
        #: By how many plants the store grows, and how often tokens were changed.
        self.plants = self.tokens = 0
        self.has_changed = False

    @property
    @override
    def last_seq(self) -> int:
        return self.seq

    @override
    def reserve_seqs(self, count: int = 1) -> int:
        self.seq += count
        return self.seq - count + 1

    @override
    def finish_and_reserve_ids(self, size: ChangeSize, largest_id: sa.ScalarSelect[int]) -> sa.Update:
        self.last_change = self.number
        self.add_to_plant_count(size.growth)
        return sa.update(STATE).values(last_id=sa.func.greatest(STATE.c.last_id, largest_id))

    @override
    def add_to_plant_count(self, plants: int) -> None:
        self.plants += plants
        self.has_changed = True

    @override
    def allow_long_statements(self) -> None:
        self.connection.statement_timeout = LONG_TIMEOUT

    @override
    @contextmanager
    def bulk_planning(self, plants: int) -> Iterator[None]:
        """Forbid nested loops, which the server may plan: it has no statistics of the rows of this transaction yet."""
        if plants > LARGE_CHANGE:
            self.connection.execute("SET LOCAL enable_nestloop = off")
        yield
        if plants > LARGE_CHANGE:
            self.connection.execute("SET LOCAL enable_nestloop TO DEFAULT")


class PostgresTransactions:
    """The write transactions of one connection to the server, which is opened again after it was lost."""

    def __init__(self, address: Address, *, is_large: bool = False) -> None:
        """Connect. Raises StoreError.

        `is_large`: for one large change; each of its statements may take an hour. It does not continue on another
        connection, which would lack its temporary tables.
        """
        self._address = address
        self._is_large = is_large
        self._connection: Connection | None = None
        self._is_abandoned = False
        #: Why the tables must only be read, as of the last connection or `poll`.
        self.refusal: StoreError | None = None
        #: What the user of the server may not do. Any thread may ask.
        self.missing_rights: RightsMissingError | None = None
        #: The ids of plants with an unknown outcome, which the form may send again.
        self._unknown_ids = set[int]()
        with translate_errors(address):
            (row,) = execute(self.open_connection(), "SELECT position, last_seq, last_change, tokens FROM state")
        self.counters = ServerCounters(*row)

    @property
    def backend(self) -> int:
        """The number of the server's process, 0 without a connection. Any thread may ask."""
        connection = self._connection
        return 0 if connection is None or connection.closed else connection.info.backend_pid

    def open_connection(self) -> Connection:
        """Return the connection; a new one if the last one was lost. Raises StoreError."""
        if self._is_abandoned:
            raise ServerUnreachableError
        if self._connection is None or self._connection.closed:
            connection = connect(self._address, "writer", LONG_TIMEOUT)
            try:
                connection.statement_timeout = _QUICK_TIMEOUT
                with translate_errors(self._address):
                    tables = check_readable(read_version(connection), self._address.name, self._address.server)
                    rights = read_missing_rights(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
            self.refusal = write_refusal(tables)
            self.missing_rights = rights
        # The last write may have left another one.
        self._connection.statement_timeout = LONG_TIMEOUT if self._is_large else _QUICK_TIMEOUT
        return self._connection

    def _open_to_write(self) -> Connection:
        """Return the connection as `open_connection` does. Raises StoreOutdatedError and StoreNewerError as well."""
        connection = self.open_connection()
        if self.refusal is not None:
            raise self.refusal
        return connection

    def abandon(self) -> None:
        """Stop waiting for the server, now and later: what was not answered fails. May be called by any thread."""
        self._is_abandoned = True
        if (connection := self._connection) is not None:
            connection.abandon()

    def close(self) -> None:
        """Close the connection; the next write opens another one."""
        if self._connection is not None:
            self._connection.close()

    def add(self, entries: Sequence[Entry]) -> AddResult:
        """Add plants, each with its own outcome. Raises StoreError if none was added, psycopg.Error for a defect."""
        outcomes: _KnownOutcomes = {
            index: NulRefusedError()
            for index, (plant, _) in enumerate(entries)
            if not DATABASE.is_storable(plant.name, plant.tag)
        }
        added = list[PlantRow]()
        last_position = None
        deadline = time.monotonic() + _SETTLE_TIMEOUT
        was_lost = False
        while pending := [index for index in range(len(entries)) if index not in outcomes]:
            index_by_id: dict[int, int] = {}  # the second plant with an id is added after the first one has its outcome
            for index in pending:
                index_by_id.setdefault(entries[index][0].id, index)
            indexes = [*index_by_id.values()]
            try:
                if was_lost and time.monotonic() > deadline:
                    raise ServerUnreachableError
                answers, rows, position = self._try_add([entries[index] for index in indexes])
            except StoreError as error:
                if not added:
                    raise
                outcomes |= dict.fromkeys(pending, error)
                break
            outcomes |= {indexes[i]: self._accept_late_answer(outcome) for i, outcome in answers.items()}
            added += rows
            last_position = position or last_position
            was_lost = len(answers) < len(indexes)
        return AddResult([outcomes[index] for index in range(len(entries))], tuple(added), last_position)

    def _try_add(self, entries: Sequence[Entry]) -> tuple[_KnownOutcomes, tuple[PlantRow, ...], int | None]:
        """Add plants of different ids; return the known outcomes, the new plants, and the position of the commit.

        If the connection was lost, plants that were not added have no outcome yet.
        """
        key = uuid4()
        connection = self._open_to_write()
        try:
            with translate_errors(self._address):
                result = _insert_entries(connection, entries, key, self._address.desk)
                return dict(enumerate(result.outcomes)), result.added, result.position
        except Exception:
            if _roll_back(connection):
                raise
        # The connection is lost, and the COMMIT may have arrived.
        try:
            if (position := self.settle(key)) is None:
                return {}, (), None
            rows = self._retry_until_answered(lambda connection: _read_added(connection, position, entries))
        except OutcomeUnknownError:
            self._unknown_ids |= {plant.id for plant, _ in entries}
            raise
        return {**rows}, tuple(rows.values()), position

    def _accept_late_answer(self, outcome: Outcome) -> Outcome:
        """Return the plant instead of its refusal if the form adds it again because the first outcome was unknown."""
        row = outcome.owner if isinstance(outcome, SamePlantError) else outcome
        if isinstance(row, PlantRow) and row.id in self._unknown_ids:
            self._unknown_ids.remove(row.id)
            return row
        return outcome

    def write(self, action: Callable[[PostgresChangeWriter], _Result], *, changes_tokens: bool = False) -> _Result:
        """Run any other write; if it changes nothing, nothing is committed. Raises StoreError and what `action` raises.

        `action` runs once more if the connection was lost within seconds, and nothing was committed.
        """
        return self._retry_once(lambda: self._write_once(action, changes_tokens=changes_tokens))

    def _retry_once(self, step: Callable[[], _Result]) -> _Result:
        """Run a step that has no effect if it fails; repeat it once if the connection was lost.

        It is not repeated if it took as long as a statement may take: nobody waits twice as long.
        """
        deadline = time.monotonic() + _QUICK_TIMEOUT
        try:
            return step()
        except OutcomeUnknownError:
            raise
        except ServerUnreachableError:
            if self._is_large or time.monotonic() >= deadline:
                raise
            return step()

    def _write_once(self, action: Callable[[PostgresChangeWriter], _Result], *, changes_tokens: bool) -> _Result:
        """Run `action` in a transaction with the lock on `state`, and commit; set `pending` of OutcomeUnknownError."""
        key = uuid4()
        connection = self._open_to_write()
        try:
            with translate_errors(self._address):
                with connection.pipeline():
                    connection.execute("BEGIN")
                    state = execute(connection, LOCK_STATE)
                ((_, seq, change, _),) = state
                writer = PostgresChangeWriter(connection, seq, change, self._address.desk)
                result = action(writer)
                if changes_tokens:
                    writer.tokens = 1
                    writer.has_changed = True
                if not writer.has_changed:
                    connection.rollback()
                    return result
        except BaseException:
            _roll_back(connection)
            raise
        try:
            self._commit(writer, key)
        except OutcomeUnknownError as error:
            error.pending = key, result
            raise
        return result

    def check_writable(self) -> None:
        """Raise StoreError unless this user can write to the store now; update `missing_rights`."""
        connection = self._open_to_write()
        with translate_errors(self._address):
            self.missing_rights = read_missing_rights(connection)
            if isinstance(self.missing_rights, OnlyReadsError):
                raise self.missing_rights
            with connection.transaction(force_rollback=True):
                execute(connection, LOCK_STATE)

    def check_may_change(self) -> None:
        """Raise StoreError unless this user can change and remove plants now."""
        self.check_writable()
        if self.missing_rights is not None:
            raise self.missing_rights

    def prune(self) -> bool:
        """Remove some old before-images and keys of commits; return whether there may be more. Raises StoreError."""
        connection = self._open_to_write()
        if self.missing_rights is not None:
            return False
        with translate_errors(self._address), connection.transaction():
            execute(connection, LOCK_STATE)
            runner = runner_of(connection)
            has_more_changes = prune(runner)
            return prune_commits(runner) or has_more_changes

    def _commit(self, writer: PostgresChangeWriter, key: UUID) -> None:
        """Finish the transaction and commit it, in one round trip."""
        connection = writer.connection
        values = {"key": key, "desk": self._address.desk, "seq": writer.last_seq, "change": writer.last_change}
        values |= {"plants": writer.plants, "tokens": writer.tokens}
        try:
            with translate_errors(self._address), connection.pipeline():
                execute(connection, _FINISH, values)
                connection.execute("NOTIFY plantdesk")
                connection.execute("COMMIT")
        except BaseException as error:  # also KeyboardInterrupt
            is_over = _roll_back(connection) and isinstance(error, Exception)
            if is_over or self.settle(key) is None:
                raise

    def settle(self, key: UUID) -> int | None:
        """Return the position of the commit `key`; prevent it if it is missing (None). Raises OutcomeUnknownError."""

        def position_of(connection: Connection) -> int | None:
            if execute(connection, _SETTLE, {"key": key, "desk": self._address.desk}).fetchone() is not None:
                return None
            row = execute(connection, "SELECT position FROM commits WHERE key = %s", (key,)).fetchone()
            return None if row is None or row[0] is None else int(row[0])

        return self._retry_until_answered(position_of)

    def _retry_until_answered(self, step: Callable[[Connection], _Result]) -> _Result:
        """Run a step; repeat it on a new connection if it fails. Raises OutcomeUnknownError after `_SETTLE_TIMEOUT`."""
        deadline = time.monotonic() + _SETTLE_TIMEOUT
        while True:
            try:
                connection = self.open_connection()
                connection.statement_timeout = _SETTLE_TIMEOUT
                with translate_errors(self._address):
                    return step(connection)
            except Exception as error:
                if self._is_abandoned or time.monotonic() >= deadline:
                    raise OutcomeUnknownError from error
            time.sleep(_SETTLE_DELAY)

    def count_own_commit(self, result: AddResult) -> Changes | None:
        """Count a commit of this desk; return its changes for listeners. Return None if others committed before it."""
        if result.position != self.counters.position + 1:
            return None
        self.counters = self.counters._replace(position=result.position, seq=self.counters.seq + len(result.added))
        return Changes(result.added)

    def poll(self) -> Changes:
        """Return what was committed since the last call, in one snapshot. Raises StoreError."""
        return self._retry_once(self._read_changes)

    def _read_changes(self) -> Changes:
        """Return what was committed since the state of `counters`, and set them to the present state."""
        old = self.counters
        connection = self.open_connection()
        with translate_errors(self._address), snapshot(connection):
            ((*numbers, version, reads_from),) = execute(connection, _STATE)
            changes = read_changes_since(runner_of(connection), old.seq, old.change)
        new = ServerCounters(*numbers)
        self.counters = new
        self.refusal = write_refusal(TablesVersion(version, reads_from))
        return changes._replace(history_changed=new.change > old.change, tokens_changed=new.tokens > old.tokens)


def _roll_back(connection: Connection) -> bool:
    """Roll back and return whether the connection is still open. Its own error is not raised."""
    try:
        connection.rollback()
    except psycopg.Error:
        connection.close()
    return not connection.closed


# --- adding a group of plants: one transaction in one round trip, which decides about each plant on the server ---
#
# LIMIT 1 lets the server look up each id by the index. The plan that it keeps may have been made while the store was
# empty, and would read all plants for each group.
#
# The order of commits is that of the locks on `state`; the statement after the lock sees all that is committed, so no
# other desk can take an id or a `seq` meanwhile.

_ADD = f"""
    WITH given AS (
        SELECT * FROM ROWS FROM (json_to_recordset(%(plants)s::json) AS (
            id bigint, name text, tag text, searched_name text, searched_tag text, source_id bigint, token_id bigint,
            digest text
        )) WITH ORDINALITY AS g (id, name, tag, searched_name, searched_tag, source_id, token_id, digest, place)
    ), judged AS MATERIALIZED (
        SELECT given.*, plant.id IS NOT NULL AS is_taken, plant.name AS owner_name, plant.tag AS owner_tag,
               plant.added_at AS owner_added_at, plant.source_id AS owner_source, {VERSION_SQL} AS owner_version,
               plant.note AS owner_note, given.token_id IS NULL OR token.id IS NOT NULL AS is_valid, token.max_plants,
               token.plants_added + count(*) FILTER (WHERE plant.id IS NULL)
                   OVER (PARTITION BY given.source_id, given.token_id ORDER BY place) AS nth
        FROM given LEFT JOIN LATERAL (SELECT * FROM plant WHERE id = given.id LIMIT 1) AS plant ON true
        LEFT JOIN token ON token.id = given.token_id AND token.source_id = given.source_id
            AND token.digest = coalesce(decode(given.digest, 'hex'), token.digest) AND token.revoked_at IS NULL
            AND (token.expires_at IS NULL OR token.expires_at > {NOW_MS})
    ), added AS (
        INSERT INTO plant (id, name, tag, seq, added_at, source_id, searched_name, searched_tag)
        SELECT id, name, tag, (SELECT last_seq FROM state) + row_number() OVER (ORDER BY place), {NOW_MS}, source_id,
               searched_name, searched_tag
        FROM judged WHERE NOT is_taken AND is_valid AND coalesce(nth <= max_plants, true) ORDER BY place
        RETURNING id, seq, added_at, source_id
    ), used AS (
        UPDATE token SET plants_added = plants_added + new.plants, last_used_at = {NOW_MS}
        FROM (SELECT source_id, count(*) AS plants FROM added GROUP BY source_id) AS new
        WHERE token.source_id = new.source_id
    ), next AS (
        UPDATE state SET position = position + 1, last_seq = last_seq + new.plants, plants = state.plants + new.plants
        FROM (SELECT count(*) AS plants FROM added) AS new WHERE new.plants > 0
        RETURNING position, last_seq, last_change
    ), noted AS (
        INSERT INTO commits (key, position, made_at, desk, seq, change)
        SELECT %(key)s, position, {NOW_MS}, %(desk)s, last_seq, last_change FROM next
    )
    SELECT added.seq, added.added_at, is_valid, max_plants, is_taken, (SELECT position FROM next),
           judged.id, owner_name, owner_tag, owner_added_at, owner_source, source.kind, source.label, owner_version,
           owner_note
    FROM judged LEFT JOIN added ON added.id = judged.id LEFT JOIN source ON source.id = owner_source ORDER BY place"""
#: The plants that a commit has added, also if they were changed or deleted since.
_ADDED_BY = """
    WITH range AS (SELECT (SELECT coalesce(max(seq), 0) FROM commits WHERE position = %(position)s - 1) AS first,
                          (SELECT seq FROM commits WHERE position = %(position)s) AS last)
    SELECT id, seq, added_at FROM plant, range WHERE seq > first AND seq <= last
    UNION SELECT plant_id, seq, added_at FROM before_image, range WHERE seq > first AND seq <= last"""


class _AddedRow(NamedTuple):
    """A row of `_ADD`: the result for one plant. If its id `is_taken`, `owner` has the columns of that plant."""

    seq: int | None
    added_at: int
    is_valid: bool
    max_plants: int | None
    is_taken: bool
    position: int | None
    owner: Sequence[Any]


def _insert_entries(connection: Connection, entries: Sequence[Entry], key: UUID, desk: str) -> AddResult:
    """Add plants of different ids, durably. Raises psycopg.Error; if the connection is lost, the outcome is unknown."""
    values = {"plants": _to_json(entries), "key": key, "desk": desk}
    with connection.pipeline():
        connection.execute("BEGIN")
        execute(connection, LOCK_STATE)
        cursor = execute(connection, _ADD, values)
        connection.execute("NOTIFY plantdesk")
        commit = connection.execute("COMMIT")
    rows = [_AddedRow._make((*row[:6], row[6:])) for row in cursor]
    if commit.statusmessage != "COMMIT":
        raise AssertionError(commit.statusmessage)
    outcomes = [_to_outcome(entry, row) for entry, row in zip(entries, rows, strict=True)]
    pairs = zip(outcomes, rows, strict=True)
    added = tuple(outcome for outcome, row in pairs if row.seq and isinstance(outcome, PlantRow))
    return AddResult(outcomes, added, rows[0].position)


def _read_added(connection: Connection, position: int, entries: Sequence[Entry]) -> dict[int, PlantRow]:
    """Return which of the entries the commit at a position has added, by their index. Raises psycopg.Error."""
    columns_by_id = {row[0]: row[1:] for row in execute(connection, _ADDED_BY, {"position": position})}
    return {
        index: _to_plant_row(plant, source, *columns_by_id[plant.id])
        for index, (plant, source) in enumerate(entries)
        if plant.id in columns_by_id
    }


def _to_json(entries: Sequence[Entry]) -> str:
    """Return plants and sources as one JSON value: psycopg takes far longer for arrays."""
    rows = [
        {
            "id": plant.id,
            "name": plant.name,
            "tag": plant.tag,
            "searched_name": fold(plant.name),
            "searched_tag": None if plant.tag is None else fold(plant.tag),
            "source_id": source.id,
            "token_id": source.token_id,
            "digest": source.digest and source.digest.hex(),
        }
        for plant, source in entries
    ]
    return json.dumps(rows, ensure_ascii=False)


def _to_outcome(entry: Entry, row: _AddedRow) -> Outcome:
    plant, source = entry
    if row.seq is not None:
        return _to_plant_row(plant, source, row.seq, row.added_at)
    if not row.is_valid:
        return TokenRefusedError()
    if not row.is_taken:
        return TokenUsedUpError(row.max_plants) if row.max_plants is not None else TablesChangedError()
    return outcome_for_taken_id(row_of(row.owner), plant, source)


def _to_plant_row(plant: NewPlant, source: Source, seq: int, added_at: int) -> PlantRow:
    return PlantRow(plant.id, plant.name, plant.tag, added_at, source, version=-seq)
