"""Adding a group of plants in one transaction, by one statement as a rule, however many plants.

Python's sqlite3 releases the GIL at every step of a statement and then waits to have it back, so one statement for all
rows is several times as quick as one for each (`executemany` steps once per row as well).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.domain.errors import PlantDeskError, SamePlantError, TokenRefusedError, TokenUsedUpError, id_taken
from plantdesk.domain.folding import searched_texts
from plantdesk.domain.records import PlantRow, Source, SourceKind, now_ms
from plantdesk.store.base import Outcome
from plantdesk.store.rows import rows_by_id
from plantdesk.store.sqlite.connections import placeholders
from plantdesk.store.sqlite.database import runner
from plantdesk.store.sqlite.numbers import count_plants, last_seq

if TYPE_CHECKING:
    import sqlite3

    from plantdesk.domain.models import NewPlant, Plant


#: Plants in one statement. With 8 values for each this is far below SQLite's limit of 32,766 variables.
_CHUNK = 500
#: Characters in one statement with several rows.
_MAX_TEXT = 65_536
_COLUMNS = ("id", "name", "tag", "seq", "added_at", "source_id", "searched_name", "searched_tag")


def add_group(
    connection: sqlite3.Connection,
    entries: Sequence[tuple[NewPlant, Source]],
    *,
    token_refusal: PlantDeskError | None = None,
) -> Outcome:
    """Add the plants of `entries`, each with its own outcome, within the caller's write transaction.

    `token_refusal` is the outcome of every new plant of a token, which is then not added. Raises sqlite3.Error.
    """
    now = now_ms()
    sources = {source for _, source in entries if source.token_id is not None}
    valid = _valid_tokens(connection, sources, now)
    allowance = _Allowance(valid, token_refusal)
    known = _known_plants(connection, {plant.id for plant, _ in entries})
    first = last_seq(connection) + 1
    outcomes: list[PlantRow | PlantDeskError] = []
    added: list[PlantRow] = []
    for plant, source in entries:
        row = known.get(plant.id)
        if source.token_id is not None and source not in valid:
            outcomes.append(TokenRefusedError())
        elif row is not None:
            outcomes.append(_outcome_of_taken(row, plant, source))
        elif (refusal := allowance.refusal(source)) is not None:
            outcomes.append(refusal)
        else:
            row = known[plant.id] = _new_row(plant.id, plant, now, source, first + len(added))
            added.append(row)
            outcomes.append(row)
    _insert(connection, added)
    count_plants(connection)
    for source in valid.keys() - {row.source for row in added}:  # `count_plants` notes the use of the others
        connection.execute("UPDATE token SET last_used_at = ? WHERE id = ?", (now, source.token_id))
    return Outcome(outcomes, tuple(added))


def _known_plants(connection: sqlite3.Connection, ids: Collection[int]) -> dict[int, PlantRow]:
    """Return the plants that have one of the ids: none as a rule, so that no row has to be read."""
    sql = "SELECT id FROM plant WHERE id IN (SELECT value FROM json_each(?))"
    known = [plant_id for (plant_id,) in connection.execute(sql, (json.dumps([*ids]),))]
    return rows_by_id(runner(connection), known) if known else {}


def _new_row(plant_id: int, fields: NewPlant | Plant, now: int, source: Source, seq: int) -> PlantRow:
    return PlantRow(plant_id, fields.name, fields.tag, now, source, version=-seq)


def _outcome_of_taken(owner: PlantRow, plant: NewPlant, source: Source) -> PlantRow | PlantDeskError:
    """Return the outcome for a plant with the id of `owner`: a program may add the same plant again."""
    refusal = id_taken(owner, plant.name, plant.tag)
    is_retry = isinstance(refusal, SamePlantError) and source.kind is not SourceKind.FORM
    return _as_read(owner) if is_retry else refusal


def _as_read(row: PlantRow) -> PlantRow:
    """Return the row as it is read from the file; the plant may have been added by the same group."""
    return row._replace(source=Source(row.source.id, row.source.kind, row.source.label))


class _Token(NamedTuple):
    plants_added: int
    max_plants: int | None
    expires_at: int | None


class _Allowance:
    """The plants that the tokens of a group may still add."""

    def __init__(self, limits: dict[Source, _Token], refusal: PlantDeskError | None) -> None:
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


def _valid_tokens(connection: sqlite3.Connection, sources: Collection[Source], now: int) -> dict[Source, _Token]:
    """Return the sources that have a valid token in this file; they may have been looked up in another one before."""
    sql = """SELECT plants_added, max_plants, expires_at FROM token
             WHERE id = ? AND source_id = ? AND digest IS coalesce(?, digest)
             AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
             AND source_id IN (SELECT id FROM source)"""
    found = (
        (source, connection.execute(sql, (source.token_id, source.id, source.digest, now)).fetchone())
        for source in sources
    )
    return {source: _Token(*row) for source, row in found if row is not None}


def _insert(connection: sqlite3.Connection, rows: Sequence[PlantRow]) -> None:
    for chunk in _statements(rows):
        connection.execute(_insert_rows(len(chunk)), _values(chunk))


def _values(rows: Sequence[PlantRow]) -> list[object]:
    values: list[object] = []
    for row in rows:
        searched_name, searched_tag, _ = searched_texts(row.name, row.tag)
        values += (row.id, row.name, row.tag, -row.version, row.added_at, row.source.id, searched_name, searched_tag)
    return values


def _statements(rows: Sequence[PlantRow]) -> Iterator[Sequence[PlantRow]]:
    """Split `rows` by statement; large plants get a statement each.

    sqlite3 caches a prepared statement for each number of rows, and each keeps its last values: these must not take
    much memory.
    """
    for start in range(0, len(rows), _CHUNK):
        chunk = rows[start : start + _CHUNK]
        if _length(chunk) <= _MAX_TEXT:
            yield chunk
        else:
            yield from ([row] for row in chunk)


def _length(rows: Iterable[PlantRow]) -> int:
    return sum(len(row.name) + len(row.tag or "") for row in rows)


@lru_cache(maxsize=_CHUNK)
def _insert_rows(count: int) -> str:
    """Return one text per number of rows, so that sqlite3 finds the prepared statement again."""
    rows = ", ".join([f"({placeholders(len(_COLUMNS))})"] * count)
    return f"INSERT INTO plant ({', '.join(_COLUMNS)}) VALUES {rows}"
