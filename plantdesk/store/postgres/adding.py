"""Adding a group of plants: one transaction in one round trip, which decides about each plant on the server.

The order of commits is that of the locks on `state`; the statement after the lock sees all that is committed, so no
other desk can take an id or a `seq` meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from plantdesk.domain.errors import PlantDeskError, TokenRefusedError, TokenUsedUpError
from plantdesk.domain.folding import searched
from plantdesk.domain.models import NewPlant
from plantdesk.domain.records import PlantRow, Source
from plantdesk.store.base import Outcome, outcome_of_taken
from plantdesk.store.database import VERSION_SQL, TablesChangedError
from plantdesk.store.postgres.connections import LOCK, NOW, Connection, execute
from plantdesk.store.rows import row_of

Entry = tuple[NewPlant, Source]

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
        FROM given LEFT JOIN plant ON plant.id = given.id
        LEFT JOIN token ON token.id = given.token_id AND token.source_id = given.source_id
            AND token.digest = coalesce(decode(given.digest, 'hex'), token.digest) AND token.revoked_at IS NULL
            AND (token.expires_at IS NULL OR token.expires_at > {NOW})
    ), added AS (
        INSERT INTO plant (id, name, tag, seq, added_at, source_id, searched_name, searched_tag)
        SELECT id, name, tag, (SELECT last_seq FROM state) + row_number() OVER (ORDER BY place), {NOW}, source_id,
               searched_name, searched_tag
        FROM judged WHERE NOT is_taken AND is_valid AND coalesce(nth <= max_plants, true) ORDER BY place
        RETURNING id, seq, added_at, source_id
    ), used AS (
        UPDATE token SET plants_added = plants_added + new.plants, last_used_at = {NOW}
        FROM (SELECT source_id, count(*) AS plants FROM added GROUP BY source_id) AS new
        WHERE token.source_id = new.source_id
    ), next AS (
        UPDATE state SET position = position + 1, last_seq = last_seq + new.plants, plants = state.plants + new.plants
        FROM (SELECT count(*) AS plants FROM added) AS new WHERE new.plants > 0
        RETURNING position, last_seq, last_change
    ), noted AS (
        INSERT INTO commits (key, position, made_at, desk, seq, change)
        SELECT %(key)s, position, {NOW}, %(desk)s, last_seq, last_change FROM next
    )
    SELECT added.seq, added.added_at, is_valid, max_plants, is_taken, (SELECT position FROM next),
           judged.id, owner_name, owner_tag, owner_added_at, owner_source, source.kind, source.label, owner_version,
           owner_note
    FROM judged LEFT JOIN added ON added.id = judged.id LEFT JOIN source ON source.id = owner_source ORDER BY place"""
_OWNER = 6
#: What a commit has added, wherever it is by now.
_ADDED_BY = """
    WITH range AS (SELECT (SELECT coalesce(max(seq), 0) FROM commits WHERE position = %(position)s - 1) AS first,
                          (SELECT seq FROM commits WHERE position = %(position)s) AS last)
    SELECT id, seq, added_at FROM plant, range WHERE seq > first AND seq <= last
    UNION SELECT plant_id, seq, added_at FROM before_image, range WHERE seq > first AND seq <= last"""


def add_group(connection: Connection, entries: Sequence[Entry], key: UUID, desk: str) -> Outcome:
    """Add plants of different ids, durably. Raises psycopg.Error; the outcome of a lost connection is open."""
    values = {"plants": _as_json(entries), "key": key, "desk": desk}
    with connection.pipeline():
        connection.execute("BEGIN")
        execute(connection, LOCK)
        cursor = execute(connection, _ADD, values)
        connection.execute("NOTIFY plantdesk")
        commit = connection.execute("COMMIT")
    rows = cursor.fetchall()
    if commit.statusmessage != "COMMIT":
        raise AssertionError(commit.statusmessage)
    outcomes = [_outcome(entry, row) for entry, row in zip(entries, rows, strict=True)]
    added = tuple(each for each, row in zip(outcomes, rows, strict=True) if row[0] and isinstance(each, PlantRow))
    return Outcome(outcomes, added, rows[0][5])


def added_by(connection: Connection, position: int, entries: Sequence[Entry]) -> dict[int, PlantRow]:
    """Return which of the entries the commit at a position has added, by their index. Raises psycopg.Error."""
    found = {row[0]: row[1:] for row in execute(connection, _ADDED_BY, {"position": position})}
    return {
        place: _new_row(plant, source, *found[plant.id])
        for place, (plant, source) in enumerate(entries)
        if plant.id in found
    }


def _as_json(entries: Sequence[Entry]) -> str:
    """Return plants and sources as one value, which takes a fraction of the time that psycopg's arrays take."""
    rows = [
        {
            "id": plant.id,
            "name": plant.name,
            "tag": plant.tag,
            "searched_name": searched(plant.name),
            "searched_tag": None if plant.tag is None else searched(plant.tag),
            "source_id": source.id,
            "token_id": source.token_id,
            "digest": source.digest and source.digest.hex(),
        }
        for plant, source in entries
    ]
    return json.dumps(rows, ensure_ascii=False)


def _outcome(entry: Entry, row: Sequence[Any]) -> PlantRow | PlantDeskError:
    (plant, source), (seq, added_at, is_valid, max_plants, is_taken) = entry, row[:5]
    if seq is not None:
        return _new_row(plant, source, seq, added_at)
    if not is_valid:
        return TokenRefusedError()
    if not is_taken:
        return TokenUsedUpError(max_plants) if max_plants is not None else TablesChangedError()
    return outcome_of_taken(row_of(row[_OWNER:]), plant, source)


def _new_row(plant: NewPlant, source: Source, seq: int, added_at: int) -> PlantRow:
    return PlantRow(plant.id, plant.name, plant.tag, added_at, source, version=-seq)
