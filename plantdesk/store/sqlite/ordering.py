"""ORDER BY terms of the orders of plants."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any

from sqlalchemy import case, func, literal_column
from sqlmodel import col, select

from plantdesk.domain.folding import SEPARATOR
from plantdesk.domain.views import Order
from plantdesk.store.sqlite.id_reads import all_ids
from plantdesk.store.tables import PlantTable, SourceTable

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator

    from sqlalchemy import ColumnElement, Connection


#: The orders for which SQLite has no index.
SORTED = (Order.NAME, Order.TAG, Order.SOURCE)


def sorted_ids(connection: Connection, order: Order, size: int) -> Iterator[array[int]]:
    """Yield the ids of all plants in ascending order, about `size` at a time. Raises sqlite3.Error."""
    return all_ids(connection, select(PlantTable.id).order_by(*ordering(order, descending=False)), repeat(size))


def ordering(order: Order, *, descending: bool, all_plants: bool = True) -> list[ColumnElement[Any]]:
    """Return the terms of ORDER BY. Plants without a tag are the last ones by tag, both ways.

    Unless `all_plants` are read, those that match are sorted: the index of `seq` would read each row of the file alone.
    """
    keys = _keys(order) if all_plants or order is not Order.ADDED else [literal_column("+plant.seq")]
    columns = [each.desc() if descending else each.asc() for each in keys]
    untagged_last = [col(PlantTable.tag).is_(None)] if order is Order.TAG else []
    return [*untagged_last, *columns]


def _keys(order: Order) -> list[Any]:
    plant_id, seq, folded = col(PlantTable.id), col(PlantTable.seq), col(PlantTable.folded)
    name = func.coalesce(folded, PlantTable.name).collate("NOCASE")
    match order:
        case Order.ADDED:
            return [seq]
        case Order.ID:
            return [plant_id]
        case Order.NAME:
            return [name, plant_id]
        case Order.TAG:
            folded_tag = func.substr(folded, func.instr(folded, SEPARATOR) + 1)
            tag = case((folded.is_(None), func.coalesce(PlantTable.tag, "")), else_=folded_tag).collate("NOCASE")
            return [tag, name, plant_id]
        case Order.SOURCE:
            source = select(SourceTable.kind + SEPARATOR + SourceTable.label)
            return [source.where(col(SourceTable.id) == PlantTable.source_id).scalar_subquery(), seq]
