"""Adding a group of plants in one transaction, by one statement as a rule, however many plants.

Python's sqlite3 releases the GIL at every step of a statement and then waits to have it back, so one statement for all
rows is several times as quick as one for each (`executemany` steps once per row as well).
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from plantdesk.domain.errors import PlantDeskError, TokenRefusedError, TokenUsedUpError
from plantdesk.domain.folding import searched_texts
from plantdesk.domain.models import NewPlant
from plantdesk.domain.records import PlantRow, Source, now_ms
from plantdesk.store.base import Outcome, outcome_of_taken
from plantdesk.store.rows import rows_by_id
from plantdesk.store.sqlite.database import insert_of, runner_of
from plantdesk.store.sqlite.numbers import last_seq

#: Plants in one statement.
_AT_ONCE = 500
#: Characters of a row on average, above which each is inserted by a statement of its own.
_MAX_TEXT = 1000
_TABLE, _COLUMNS = "plant (id, name, tag, seq, added_at, source_id, searched_name, searched_tag)", 8


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
    known = _known_plants(connection, {plant.id for plant, _ in entries})
    first = last_seq(connection) + 1
    outcomes: list[PlantRow | PlantDeskError] = []
    added: list[PlantRow] = []
    added_by: Counter[Source] = Counter()
    for plant, source in entries:
        row = known.get(plant.id)
        if source.token_id is not None and source not in valid:
            outcomes.append(TokenRefusedError())
        elif row is not None:
            outcomes.append(outcome_of_taken(row, plant, source))
        elif (refusal := _refusal(valid.get(source), added_by[source], token_refusal)) is not None:
            outcomes.append(refusal)
        else:
            row = known[plant.id] = PlantRow(plant.id, plant.name, plant.tag, now, source, version=-first - len(added))
            added.append(row)
            outcomes.append(row)
            added_by[source] += 1
    _insert(connection, added)
    used = [(added_by[source], now, source.token_id) for source in valid]
    connection.executemany("UPDATE token SET plants_added = plants_added + ?, last_used_at = ? WHERE id = ?", used)
    return Outcome(outcomes, tuple(added))


def _known_plants(connection: sqlite3.Connection, ids: Collection[int]) -> dict[int, PlantRow]:
    """Return the plants that have one of the ids: none as a rule, so that no row has to be read."""
    sql = "SELECT id FROM plant WHERE id IN (SELECT value FROM json_each(?))"
    known = [plant_id for (plant_id,) in connection.execute(sql, (json.dumps([*ids]),))]
    return rows_by_id(runner_of(connection), known) if known else {}


class _Token(NamedTuple):
    plants_added: int
    max_plants: int | None


def _refusal(token: _Token | None, added: int, of_tokens: PlantDeskError | None) -> PlantDeskError | None:
    """Return why a source, which has `added` plants in this group, may add no more; None if it may."""
    if token is None:
        return None
    if token.max_plants is not None and token.plants_added + added >= token.max_plants:
        return TokenUsedUpError(token.max_plants)
    return of_tokens


def _valid_tokens(connection: sqlite3.Connection, sources: Collection[Source], now: int) -> dict[Source, _Token]:
    """Return the sources that have a valid token in this file; they may have been looked up in another one before."""
    sql = """SELECT plants_added, max_plants FROM token
             WHERE id = ? AND source_id = ? AND digest IS coalesce(?, digest)
             AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
             AND source_id IN (SELECT id FROM source)"""
    found = (
        (source, connection.execute(sql, (source.token_id, source.id, source.digest, now)).fetchone())
        for source in sources
    )
    return {source: _Token(*row) for source, row in found if row is not None}


def _insert(connection: sqlite3.Connection, rows: Sequence[PlantRow]) -> None:
    """Insert rows together; large ones one by one, as each prepared statement of sqlite3 keeps its last values."""
    length = sum(len(row.name) + len(row.tag or "") for row in rows)
    at_once = 1 if length > _MAX_TEXT * len(rows) else _AT_ONCE
    for start in range(0, len(rows), at_once):
        values: list[object] = []
        for row in rows[start : start + at_once]:
            searched_name, searched_tag, _ = searched_texts(row.name, row.tag)
            values += (
                row.id,
                row.name,
                row.tag,
                -row.version,
                row.added_at,
                row.source.id,
                searched_name,
                searched_tag,
            )
        connection.execute(insert_of(_TABLE, _COLUMNS, len(values) // _COLUMNS), values)
