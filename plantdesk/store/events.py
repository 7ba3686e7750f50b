"""Reconstructs what happened to plants since a position. No event is stored.

A plant that was added by itself has the next `seq`. Every other event belongs to a change, which stores an image of
each plant before it. What a plant was after a change is its image before the next change, or its present row. A change
also stores the largest `seq` before its end (`LAST_SEQ`), so that plants and changes have one order.

A position says what was read: all plants up to `seq`, all changes before `change`, and of `change` the plants up to
`plant`. So the events of a page may be returned in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import sqlalchemy as sa

from plantdesk.domain.events import (
    EventKind,
    EventPage,
    EventPosition,
    OutdatedPositionError,
    PlantEvent,
    UnknownPositionError,
)
from plantdesk.domain.records import LARGEST_ID, PlantContent
from plantdesk.store.database import VERSION_SQL, Runner, StoreState
from plantdesk.store.history import last_seq_of
from plantdesk.store.models import BEFORE_IMAGE

#: Plants that were added without a change, in their order; their texts may be in before-images by now. One that got a
#: new `seq` by an undo looks alike, but a before-image without a plant comes first.
_ADDED = sa.text("""
    SELECT seq, id, name, tag, note, added_at FROM (
        SELECT * FROM (
            SELECT seq, id, name, tag, note, added_at FROM plant
            WHERE seq > :seq AND seq <= :upto AND change = 0 ORDER BY seq LIMIT :limit) AS present
        UNION SELECT * FROM (
            SELECT DISTINCT seq, plant_id AS id, name, tag, note, added_at FROM before_image
            WHERE change > :since AND seq > :seq AND seq <= :upto AND plant_change = 0
            ORDER BY seq LIMIT :limit) AS past
    ) AS added
    WHERE (id, seq) NOT IN (
        SELECT plant_id, seq FROM (
            SELECT plant_id, -after AS seq, change AS born, NULL AS used FROM before_image
            WHERE change > :since AND seq IS NULL AND after < -:seq
            UNION ALL SELECT plant_id, seq, NULL, change FROM before_image
            WHERE change > :since AND seq > :seq AND plant_change = 0) AS uses
        GROUP BY plant_id, seq HAVING min(born) <= coalesce(min(used), min(born)))
    ORDER BY seq LIMIT :limit""")
#: The before-images in the order of changes, each with its change, and with version and texts of the plant now.
_CHANGED = sa.text(f"""
    SELECT x.change, x.plant_id, x.seq, x.after, entry.made_at, entry.parameters,
           {VERSION_SQL}, plant.name, plant.tag, plant.note
    FROM before_image AS x JOIN change AS entry ON entry.number = x.change LEFT JOIN plant ON plant.id = x.plant_id
    WHERE (x.change, x.plant_id) > (:change, :plant) ORDER BY x.change, x.plant_id LIMIT :limit""")
_IS_PRUNED = sa.text("SELECT 1 FROM change WHERE number >= :number AND size IS NULL LIMIT 1")
_ADDED_AT = sa.text("SELECT added_at FROM plant WHERE seq = :seq")
_MADE_AT = sa.text("SELECT made_at FROM change WHERE number = :number")

#: Characters of the identity in a position.
_IDENTITY_LENGTH = 12


class _ChangedPlant(NamedTuple):
    """A row of `_CHANGED`: a before-image, its change, and the plant's present version and texts (None if gone)."""

    change: int
    plant_id: int
    seq: int | None
    after: int | None
    made_at: int
    parameters: str
    version: int | None
    name: str | None
    tag: str | None
    note: str | None


def read_events(runner: Runner, since: str | None, limit: int) -> EventPage:
    """Return about `limit` events since a position, in one snapshot of the caller; None: only the present position.

    Raises UnknownPositionError, OutdatedPositionError, and the driver's errors.
    """
    state = runner.database.read_state(runner)
    if since is None:
        added_at, made_at = _read_times(runner, state.seq, state.change)
        position = EventPosition(state.identity[:_IDENTITY_LENGTH], state.seq, added_at, state.change, made_at)
        return EventPage([], str(position))
    position = EventPosition.parse(since)
    _check_position(runner, state, position)
    if (position.seq, position.change, position.plant) == (state.seq, state.change, LARGEST_ID):
        return EventPage([], since)
    return _PageReader(runner, state, position, limit).read()


def _read_times(runner: Runner, seq: int, change: int) -> tuple[int, int]:
    """Return when the plant with this `seq` was added, and when the change was made; 0 for one that does not exist."""
    return runner.run(_ADDED_AT, seq=seq).scalar() or 0, runner.run(_MADE_AT, number=change).scalar() or 0


def _check_position(runner: Runner, state: StoreState, position: EventPosition) -> None:
    """Raise UnknownPositionError if the store never had this state, OutdatedPositionError if later events are gone."""
    added_at, made_at = _read_times(runner, position.seq, position.change)
    is_known = (
        position.identity == state.identity[:_IDENTITY_LENGTH]
        and 0 <= position.seq <= state.seq
        and 0 <= position.change <= state.change
        and made_at == position.made_at
        and (added_at == position.added_at or 0 in {added_at, position.added_at})
    )
    if not is_known:
        raise UnknownPositionError(position=str(position))
    next_change = position.change + 1 if position.plant == LARGEST_ID else position.change
    if runner.run(_IS_PRUNED, number=next_change).first() is not None:
        raise OutdatedPositionError(position=str(position))


class _PageReader:
    """Reads one page of events, and the position after them."""

    def __init__(self, runner: Runner, state: StoreState, position: EventPosition, limit: int) -> None:
        self._runner = runner
        self._state = state
        self._limit = limit
        self._position = position
        #: The before-images of later changes may have the texts of plants that were added since the position.
        self._since = position.change if position.plant == LARGEST_ID else position.change - 1
        self._events: list[PlantEvent] = []

    def read(self) -> EventPage:
        """Read the events, move the position to their end, and return both as a page; to be called once."""
        changed, has_all_changes = self._read_changed()
        marks = [*_iter_seqs_before(changed)]
        upto = self._state.seq if has_all_changes else max(self._position.seq, marks[-1])
        added = self._query(_ADDED, seq=self._position.seq, upto=upto, since=self._since, limit=self._limit + 1)
        has_all_added = len(added) <= self._limit
        added = added[: self._limit]
        events = self._iter_change_events(changed, has_all_changes=has_all_changes)
        for row, mark, event in zip(changed, marks, events, strict=True):
            while added and added[0][0] <= mark:
                self._add(*added.pop(0))
            if not has_all_added and not added:
                break  # there may be more before this change
            self._skip_to(mark)
            self._position = self._position._replace(change=row.change, made_at=row.made_at, plant=event.end)
            self._events.append(PlantEvent(str(self._position), event.kind, row.plant_id, event.plant, row.change))
        else:
            for plant in added:
                self._add(*plant)
            if has_all_changes and has_all_added:
                self._skip_to(self._state.seq)
        return EventPage(self._events, str(self._position))

    def _query(self, statement: sa.TextClause, **values: object) -> list[Any]:
        return [*self._runner.run(statement, **values)]

    def _read_changed(self) -> tuple[list[_ChangedPlant], bool]:
        """Return the next before-images, at most `_limit`, and whether there are no more."""
        position = {"change": self._position.change, "plant": self._position.plant}
        rows = self._query(_CHANGED, **position, limit=self._limit + 1)
        return [_ChangedPlant(*row) for row in rows[: self._limit]], len(rows) <= self._limit

    def _add(self, seq: int, plant_id: int, name: str, tag: str | None, note: str | None, added_at: int) -> None:
        self._position = self._position._replace(seq=seq, added_at=added_at)
        content = PlantContent(plant_id, name, tag, note)
        self._events.append(PlantEvent(str(self._position), EventKind.ADDED, plant_id, content, None))

    def _skip_to(self, seq: int) -> None:
        """Move the position to a `seq` up to which all added plants were read."""
        if seq > self._position.seq:
            self._position = self._position._replace(seq=seq, added_at=0)

    def _iter_change_events(self, changed: list[_ChangedPlant], *, has_all_changes: bool) -> Iterator[_ChangeEvent]:
        """Yield the event of each row. The texts after a change are in the next before-image, or the present row."""
        later_images = self._read_later_images(changed)
        for index, row in enumerate(changed):
            is_whole = has_all_changes if index + 1 == len(changed) else changed[index + 1].change != row.change
            end = LARGEST_ID if is_whole else row.plant_id
            if row.after is None:
                yield _ChangeEvent(EventKind.DELETED, None, end)
                continue
            texts = (row.name, row.tag, row.note)
            if row.after != row.version:
                images = later_images.get(row.plant_id, ())
                texts = next((image[2:] for image in images if image[1] > row.change), texts)
            kind = EventKind.ADDED if row.seq is None else EventKind.CHANGED
            yield _ChangeEvent(kind, PlantContent(row.plant_id, texts[0] or "", texts[1], texts[2]), end)

    def _read_later_images(self, changed: list[_ChangedPlant]) -> dict[int, list[Any]]:
        """Return, by plant, the later before-images of plants that were changed again: these have the texts between."""
        ids = sorted({row.plant_id for row in changed if row.after is not None and row.after != row.version})
        images: dict[int, list[Any]] = {}
        if ids:
            image = BEFORE_IMAGE.c
            query = sa.select(image.plant_id, image.change, image.name, image.tag, image.note).where(
                image.change > changed[0].change, self._runner.database.is_one_of(image.plant_id, ids)
            )
            for row in self._runner.run(query.order_by(image.change)):
                images.setdefault(row[0], []).append(row)
        return images


class _ChangeEvent(NamedTuple):
    """One event of a change. `end` is the `plant` of the position after it: LARGEST_ID if it ends the change."""

    kind: EventKind
    plant: PlantContent | None
    end: int


def _iter_seqs_before(changed: Iterable[_ChangedPlant]) -> Iterator[int]:
    """Yield, for each row of `changed`, the largest `seq` that is known to be used before the end of its change."""
    mark = number = stored = 0
    for row in changed:
        if row.change != number:
            number = row.change
            stored = last_seq_of(row.parameters)
        mark = max(mark, stored, row.seq or 0)
        yield mark
