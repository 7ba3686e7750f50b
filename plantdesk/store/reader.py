"""Reads a store of either kind: sets and orders of plants, pages of rows, names, tags, counts and history."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, TypeVar

import sqlalchemy as sa
from typing_extensions import override

from plantdesk.domain.duplicates import PlantGroups
from plantdesk.domain.events import EventPage
from plantdesk.domain.folding import SEPARATOR, natural_key
from plantdesk.domain.history import Change, HistoryEntry, HistorySummary, PlantChange
from plantdesk.domain.protocols import PlantReader
from plantdesk.domain.records import PlantRow, Source, SourceKind
from plantdesk.domain.selections import AddedOn, Counts, KnownName, Selection, View
from plantdesk.domain.spelling import MAX_COMPARED, near_candidates, nearest_spellings
from plantdesk.store.conditions import condition_of, has_length, name_begins, ordering
from plantdesk.store.database import VERSION, Database, Runner
from plantdesk.store.events import read_events
from plantdesk.store.history import read_history_entries, read_history_summary, read_newest_changes, read_plant_history
from plantdesk.store.models import PLANT
from plantdesk.store.rows import (
    PAGE_SIZE,
    find_first_new_id,
    read_row,
    read_rows,
    read_shortened_rows,
    read_sources,
    row_of,
    rows_after,
)

_Result = TypeVar("_Result")

#: Ids in the first chunk of a view, a few screens, and in later ones: the window repaints its rows after each.
FIRST_CHUNK = 512
CHUNK = 200_000
#: Plants among which names are counted.
_MAX_COUNTED = 50_000


class StoreReader(PlantReader, ABC):
    """The queries that are the same for both databases; a subclass runs them by `ask`."""

    database: Database

    @abstractmethod
    def ask(self, query: Callable[[Runner], _Result], *, snapshot: bool = False) -> _Result:
        """Return the result of a query; with `snapshot` all its statements read one state of the store."""

    def _fetch_all(self, statement: sa.Select[Any], **values: object) -> Sequence[Any]:
        return self.ask(lambda runner: runner.run(statement, **values).all())

    def _condition(self, selection: Selection) -> sa.ColumnElement[bool]:
        return condition_of(selection, self.database)

    def _ids(self, selection: Selection, *conditions: sa.ColumnElement[bool]) -> sa.Select[Any]:
        """Return the SELECT of the ids of a set of plants that meet further conditions."""
        return sa.select(PLANT.c.id).where(self._condition(selection), *conditions)

    @override
    def rows(self, ids: Sequence[int]) -> dict[int, PlantRow]:
        return self.ask(lambda runner: read_rows(runner, ids))

    @override
    def shortened_rows(self, ids: Sequence[int], longest: int) -> dict[int, PlantRow]:
        return self.ask(lambda runner: read_shortened_rows(runner, ids, longest))

    @override
    def plant(self, plant_id: int) -> PlantRow | None:
        return self.ask(lambda runner: read_row(runner, plant_id))

    @override
    def count(self) -> int:
        return self.count_selected(Selection())

    @override
    def count_selected(self, selection: Selection) -> int:
        ((count,),) = self._fetch_all(sa.select(sa.func.count()).select_from(PLANT).where(self._condition(selection)))
        return int(count)

    @override
    def tag_counts(self) -> dict[str, int]:
        tag = PLANT.c.tag
        counts = self._fetch_all(sa.select(tag, sa.func.count()).where(tag.is_not(None)).group_by(tag))
        return dict(sorted(((tag, count) for tag, count in counts), key=lambda item: natural_key(item[0])))

    @override
    def known_names(self, start: str, limit: int) -> list[KnownName]:
        return self._read_names(name_begins(start, self.database), limit)

    @override
    def near_names(self, name: str, limit: int) -> list[KnownName]:
        near = near_candidates(name) if self.database.is_storable(name) else None
        if near is None:
            return []
        plants, lengths = near
        names = self._read_names(sa.and_(has_length(lengths), self._condition(plants)), MAX_COMPARED)
        return nearest_spellings(name, names, limit, attrgetter("name"))

    def _read_names(self, condition: sa.ColumnElement[bool], limit: int) -> list[KnownName]:
        """Return the names of plants, the most frequent first, each with the tag of its newest plant."""
        plants = sa.select(PLANT.c.name, PLANT.c.seq).where(condition).order_by(PLANT.c.id.desc())
        counted = plants.limit(_MAX_COUNTED).subquery().c
        frequency = sa.func.count()
        newest = sa.func.max(counted.seq)
        names = sa.select(counted.name, frequency, newest).group_by(counted.name)
        names = names.order_by(frequency.desc(), newest.desc()).limit(limit)

        def read(runner: Runner) -> list[KnownName]:
            rows = runner.run(names).all()
            is_newest = self.database.is_one_of(PLANT.c.seq, [seq for _, _, seq in rows])
            tags = dict(runner.run(sa.select(PLANT.c.seq, PLANT.c.tag).where(is_newest)).all())
            return [KnownName(name, tags.get(seq), count) for name, count, seq in rows]

        return self.ask(read)

    @override
    def find_first_by_name_start(self, view: View, start: str) -> int | None:
        matching = self._ids(view.plants, name_begins(start, self.database))
        rows = self._fetch_all(matching.order_by(*ordering(view, self.database)).limit(1))
        return rows[0][0] if rows else None

    @override
    def names_in_use(self, names: Collection[str]) -> set[str]:
        is_listed = self.database.is_one_of(PLANT.c.name, [*filter(self.database.is_storable, names)])
        rows = self._fetch_all(sa.select(PLANT.c.name).distinct().where(is_listed))
        return {name for (name,) in rows}

    @override
    def counts(self) -> Counts:
        columns = (PLANT.c.tag, PLANT.c.source_id)
        day = AddedOn(0, 0).milliseconds()
        is_of_today = PLANT.c.added_at.between(day.start, day.stop - 1)
        counted = sa.select(*columns, sa.func.count(), sa.func.sum(sa.case((is_of_today, 1), else_=0)))

        def read(runner: Runner) -> Counts:
            sources_by_id = {source.id: source for source in read_sources(runner)}
            tags = Counter[str | None]()
            sources = Counter[Source]()
            today = 0
            for tag, source_id, count, count_today in runner.run(counted.group_by(*columns)):
                tags[tag] += count
                sources[sources_by_id.get(source_id, Source(source_id, SourceKind.OTHER))] += count
                today += int(count_today)
            return Counts(tags, sources, today)

        return self.ask(read, snapshot=True)

    @override
    def next_free_id(self) -> int:
        return self.ask(find_first_new_id)

    @override
    def duplicates(self, *, by_tag: bool) -> PlantGroups:
        alike = self.database.alike_key(by_tag=by_tag).label("alike")
        size = sa.func.count().over(partition_by=alike).label("size")
        plants = sa.select(PLANT.c.id, VERSION.label("version"), alike, size).subquery().c
        groups = sa.select(plants.id, plants.version, plants.alike).where(plants.size > 1)
        groups_of_plants = PlantGroups(array("q"), array("q"), array("q"))
        for key, rows in groupby(self._fetch_all(groups.order_by(plants.alike, plants.id)), itemgetter(2)):
            if key and not key.startswith(SEPARATOR):
                ids, versions, _ = zip(*rows, strict=True)
                groups_of_plants.ids.extend(ids)
                groups_of_plants.versions.extend(versions)
                groups_of_plants.sizes.append(len(ids))
        return groups_of_plants

    @override
    def sources(self) -> list[Source]:
        return self.ask(read_sources)

    @override
    def selected(self, selection: Selection, limit: int | None = None) -> Iterator[PlantRow]:
        order = ordering(View(selection), self.database, by_index=limit is not None)
        ids = [plant_id for (plant_id,) in self._fetch_all(self._ids(selection).order_by(*order).limit(limit))]
        for start in range(0, len(ids), PAGE_SIZE):
            yield from self.rows(ids[start : start + PAGE_SIZE]).values()

    @override
    def pages(self, selection: Selection) -> Iterator[list[PlantRow]]:
        statement = rows_after(self._condition(selection)).limit(PAGE_SIZE)
        last = 0
        while page := self._fetch_all(statement, after=last):
            yield [row_of(row[1:]) for row in page]
            last = page[-1][0]

    @override
    def history(self, limit: int = 100) -> list[Change]:
        return self.ask(lambda runner: read_newest_changes(runner, limit))

    @override
    def history_entries(
        self,
        limit: int = 100,
        before: int | None = None,
        text: str = "",
        source: Source | str | None = None,
        shown: Callable[[Change], str] | None = None,
    ) -> list[HistoryEntry]:
        return self.ask(lambda runner: read_history_entries(runner, limit, before, text, source, shown), snapshot=True)

    @override
    def history_summary(self) -> HistorySummary:
        return self.ask(read_history_summary, snapshot=True)

    @override
    def plant_history(self, plant_id: int, limit: int = 100) -> list[PlantChange]:
        return self.ask(lambda runner: read_plant_history(runner, plant_id, limit), snapshot=True)

    @override
    def events(self, since: str | None, limit: int = PAGE_SIZE) -> EventPage:
        return self.ask(lambda runner: read_events(runner, since, limit), snapshot=True)
