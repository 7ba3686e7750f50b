"""Adding a group of plants in one transaction: a few statements, however many plants.

Python's sqlite3 releases the GIL at every step of a statement and then waits to have it back, so one statement for all
rows is several times as quick as one for each (`executemany` steps once per row as well).
"""

from __future__ import annotations

import time
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.errors import IdTakenError, PlantDeskError, TokenRefusedError, TokenUsedUpError
from plantdesk.records import PlantRow, Source, SourceKind
from plantdesk.store.folding import folded
from plantdesk.store.sqlite.row_reads import CHUNK, chunks, last_seq, next_free_id, rows_by_id

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from plantdesk.records import NewPlant, PlantFields


#: Characters in one statement with several rows.
_MAX_TEXT = 65_536


class Outcome(NamedTuple):
    """The result of a group: one outcome per entry, in order, and the new rows."""

    outcomes: list[PlantRow | PlantDeskError]
    added: list[PlantRow]


def now_ms() -> int:
    """Return the time in milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000


def add_group(
    connection: sqlite3.Connection,
    entries: Sequence[tuple[NewPlant, Source]],
    *,
    token_refusal: PlantDeskError | None = None,
) -> Outcome:
    """Add the plants of `entries`, each with its own outcome, within the caller's write transaction.

    `token_refusal` is the outcome of every new plant of a token, which is then not added.
    """
    now = now_ms()
    valid = _valid_tokens(connection, {source for _, source in entries if source.token_id is not None}, now)
    allowance = _Allowance(valid, token_refusal)
    known = rows_by_id(connection, {plant.id for plant, _ in entries})
    first = last_seq(connection) + 1
    outcomes: list[PlantRow | PlantDeskError] = []
    added: list[PlantRow] = []
    for plant, source in entries:
        row = known.get(plant.id)
        if source.token_id is not None and source not in valid:
            outcomes.append(TokenRefusedError())
        elif row is None and (refusal := allowance.refusal(source)) is not None:
            outcomes.append(refusal)
        elif row is None:
            row = known[plant.id] = _new_row(plant.id, plant, now, source, first + len(added))
            added.append(row)
            outcomes.append(row)
        else:
            outcomes.append(row if _is_retry(plant, source, row) else IdTakenError(row, plant.name))
    _insert(connection, added)
    _count_for_tokens(connection, {source.token_id for source in valid}, added, now)
    return Outcome(outcomes, added)


def add_as_next(connection: sqlite3.Connection, fields: PlantFields, source: Source) -> PlantRow:
    """Add a plant under the next free id, within the caller's write transaction."""
    row = _new_row(next_free_id(connection), fields, now_ms(), source, last_seq(connection) + 1)
    _insert(connection, [row])
    return row


def _new_row(plant_id: int, fields: PlantFields, now: int, source: Source, seq: int) -> PlantRow:
    return PlantRow(plant_id, fields.name, fields.tag, now, source, version=-seq)


def _is_retry(plant: NewPlant, source: Source, row: PlantRow) -> bool:
    """Whether a script repeats a plant that exists; the form always reports a used id."""
    return source.kind is not SourceKind.FORM and (row.name, row.tag) == (plant.name, plant.tag)


class _Limit(NamedTuple):
    plants_added: int
    max_plants: int | None


class _Allowance:
    """The plants that the tokens of a group may still add."""

    def __init__(self, limits: dict[Source, _Limit], refusal: PlantDeskError | None) -> None:
        self._refusal = refusal
        self._limits = limits
        self._added: Counter[Source] = Counter()

    def refusal(self, source: Source) -> PlantDeskError | None:
        """Return why `source` may not add a plant, or count one for it."""
        if source.token_id is None:
            return None
        limit = self._limits[source]
        if limit.max_plants is not None and limit.plants_added + self._added[source] >= limit.max_plants:
            return TokenUsedUpError(limit.max_plants)
        self._added[source] += 1
        return self._refusal


def _valid_tokens(connection: sqlite3.Connection, sources: Collection[Source], now: int) -> dict[Source, _Limit]:
    """Return the sources whose token is valid in this file; they may have been looked up in another one before."""
    sql = """SELECT plants_added, max_plants FROM token WHERE id = ? AND source_id = ? AND digest IS coalesce(?, digest)
             AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)"""
    found = (
        (source, connection.execute(sql, (source.token_id, source.id, source.digest, now)).fetchone())
        for source in sources
    )
    return {source: _Limit(*row) for source, row in found if row is not None}


def _insert(connection: sqlite3.Connection, rows: Sequence[PlantRow]) -> None:
    for chunk in _statements(rows):
        values: list[object] = []
        for row in chunk:
            values += (row.id, row.name, row.tag, -row.version, row.added_at, row.source.id, folded(row.name, row.tag))
        connection.execute(_insert_rows(len(chunk)), values)


def _statements(rows: Sequence[PlantRow]) -> Iterator[Sequence[PlantRow]]:
    """Split `rows` by statement; large plants get a statement each.

    sqlite3 caches a prepared statement for each number of rows, and each keeps its last values: these must not take
    much memory.
    """
    for chunk in chunks(rows):
        if sum(len(row.name) + len(row.tag or "") for row in chunk) <= _MAX_TEXT:
            yield chunk
        else:
            yield from ([row] for row in chunk)


def _count_for_tokens(
    connection: sqlite3.Connection, tokens: Iterable[int | None], added: Iterable[PlantRow], now: int
) -> None:
    counts = Counter(row.source.token_id for row in added)
    for token in tokens:
        connection.execute(
            "UPDATE token SET plants_added = plants_added + ?, last_used_at = ? WHERE id = ?",
            (counts[token], now, token),
        )


# One text per number of rows, so that sqlite3 finds the prepared statement again.
@lru_cache(maxsize=CHUNK)
def _insert_rows(count: int) -> str:
    rows = ",".join(["(?,?,?,?,?,?,?)"] * count)
    return f"INSERT INTO plant (id, name, tag, seq, added_at, source_id, folded) VALUES {rows}"
