"""Changes of plants that exist: edits, and edits of whole sets, as one entry of the history.

A change stores each plant as it was before (its before-image) and the version that it has afterwards.
The functions raise the driver's errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import sqlalchemy as sa

from plantdesk.domain.duplicates import merge_pages
from plantdesk.domain.edits import (
    Applied,
    Delete,
    DeleteAll,
    Edit,
    Insert,
    MergePlants,
    MergeTags,
    RenameTag,
    Rewrite,
    SetTag,
    Update,
    assign_ids,
    kind_of,
    parameters_of,
)
from plantdesk.domain.errors import EditConflictError, SelectionChangedError, id_taken
from plantdesk.domain.events import EventPosition
from plantdesk.domain.folding import fold
from plantdesk.domain.models import Plant
from plantdesk.domain.records import PlantContent, PlantRow, Source
from plantdesk.domain.rewriting import rewritten_plants
from plantdesk.store.change_writer import LARGE_CHANGE, ChangeWriter, is_plant_in
from plantdesk.store.conditions import condition_of
from plantdesk.store.database import TablesChangedError
from plantdesk.store.models import BEFORE_IMAGE, NUMBER, PLANT, STRING, TEXTS, temporary_table, text_columns
from plantdesk.store.rows import find_first_new_id, read_row, read_rows

#: The old tags and the new ones.
_REPLACED = temporary_table("replaced", tag=STRING, new=STRING, searched=STRING)
#: The new texts of plants, and the plants that a merge deletes.
_REWRITTEN = temporary_table("rewritten", id=NUMBER, **dict.fromkeys(TEXTS, STRING))
_DELETED = temporary_table("deleted", id=NUMBER)


def make_change(
    writer: ChangeWriter, edits: Sequence[Edit], source: Source, parameters: dict[str, Any] | None = None
) -> Applied:
    """Make one change of `edits`; its parameters are by default those of the edits.

    Raises EditConflictError, IdTakenError, SelectionChangedError and NulRefusedError, and for a Rewrite
    InvalidPlantError, InvalidPatternError and UnknownPositionError; then nothing may be committed.
    """
    if any(map(_may_be_large, edits)):
        writer.allow_long_statements()
    ids = _assign_ids([edit.id for edit in edits if isinstance(edit, Insert)], writer)
    next_ids = iter(ids)
    skipped: set[int] = set()
    for edit in edits:
        if isinstance(edit, Insert):
            _insert(writer, edit, next(next_ids), source)
        else:
            skipped |= _apply_edit(writer, edit)
    size = writer.measure()
    if not size.plants:
        return Applied.of(None, skipped)
    if parameters is None:
        parameters = parameters_of(edits, size.name if size.plants == 1 else None, -size.growth)
    return Applied.of(writer.record(source, kind_of(edits), parameters, size=size), skipped, ids)


def insert_as_next(writer: ChangeWriter, fields: Plant, source: Source) -> PlantRow:
    """Add a plant under the next free id, without a change. Raises NulRefusedError and TablesChangedError."""
    writer.database.check_storable(fields.name, fields.tag)
    plant_id = find_first_new_id(writer.runner)
    seq = writer.reserve_seqs()
    values = {"id": plant_id, "seq": seq, "added_at": writer.database.now(), "source_id": source.id, "change": 0}
    added = sa.insert(PLANT).values(**values, **_text_values(fields.name, fields.tag, None)).returning(PLANT.c.added_at)
    rows = writer.runner.run(added).all()
    if not rows:
        raise TablesChangedError
    writer.add_to_plant_count(1)
    return PlantRow(plant_id, fields.name, fields.tag, rows[0][0], source, version=-seq)


def _assign_ids(requested: Sequence[int | None], writer: ChangeWriter) -> Sequence[int]:
    requested_ids = [plant_id for plant_id in requested if plant_id is not None]
    if len(requested_ids) == len(requested):
        return requested_ids
    return assign_ids(requested, find_first_new_id(writer.runner, len(requested)))


def _may_be_large(edit: Edit) -> bool:
    match edit:
        case SetTag() | DeleteAll():
            return edit.plants.ids is None or len(edit.plants.ids) > LARGE_CHANGE
    return isinstance(edit, RenameTag | MergeTags | MergePlants | Rewrite)


def _apply_edit(writer: ChangeWriter, edit: Edit) -> set[int]:
    """Make one edit, except an Insert; return the ids of skipped plants. Raises as `make_change` does."""
    match edit:
        case Update():
            _update(writer, edit)
        case Delete():
            _read_unchanged_plant(writer, edit.id, edit.version, edit.name)
            writer.delete(PLANT.c.id == edit.id)
        case SetTag():
            _set_tag(writer, edit)
        case DeleteAll():
            is_chosen = is_plant_in(writer.collect(condition_of(edit.plants, writer.database)))
            if edit.expected_size is not None:
                _check_size(writer, is_chosen, edit.expected_size)
            writer.delete(is_chosen)
        case RenameTag() | MergeTags():
            _replace_tags(writer, edit)
        case MergePlants():
            _merge(writer, edit)
        case Rewrite():
            return _rewrite(writer, edit)
    return set()


def _insert(writer: ChangeWriter, edit: Insert, plant_id: int, source: Source) -> None:
    plant = edit.plant
    writer.database.check_storable(plant.name, plant.tag, edit.note)
    if (owner := read_row(writer.runner, plant_id)) is not None:
        raise id_taken(owner, plant.name, plant.tag)
    writer.add(plant_id, {**_text_values(plant.name, plant.tag, edit.note), "source_id": source.id})


def _update(writer: ChangeWriter, edit: Update) -> None:
    row = _read_unchanged_plant(writer, edit.seen.id, edit.seen.version, edit.seen.name)
    if (row.name, row.tag, row.note) == (edit.name, edit.tag, edit.note):
        return
    writer.database.check_storable(edit.name, edit.tag, edit.note)
    writer.change(PLANT.c.id == row.id, _text_values(edit.name, edit.tag, edit.note))


def _read_unchanged_plant(writer: ChangeWriter, plant_id: int, version: int, name: str) -> PlantRow:
    """Return the plant if it still has `version`. Raises EditConflictError, with `name`, if it has not or is gone."""
    row = read_row(writer.runner, plant_id)
    if row is None or row.version != version:
        raise EditConflictError(name, row)
    return row


def _text_values(name: str, tag: str | None, note: str | None) -> dict[str, str | None]:
    return dict(zip(TEXTS, text_columns(name, tag, note), strict=True))


# --- edits of whole sets ---


def _check_size(writer: ChangeWriter, is_chosen: sa.ColumnElement[bool], expected: int) -> None:
    size = writer.runner.run(sa.select(sa.func.count(PLANT.c.id)).where(is_chosen)).scalar_one()
    if size != expected:
        raise SelectionChangedError(expected, size)


def _set_tag(writer: ChangeWriter, edit: SetTag) -> None:
    plants, tag = edit
    writer.database.check_storable(tag)
    differs = PLANT.c.tag.is_distinct_from(tag)
    is_chosen = is_plant_in(writer.collect(sa.and_(condition_of(plants, writer.database), differs)))
    writer.change(is_chosen, {"tag": tag, "searched_tag": None if tag is None else fold(tag)})


def _replace_tags(writer: ChangeWriter, edit: RenameTag | MergeTags) -> None:
    """Give each plant the new tag for its present one, in one pass, so that two tags can be exchanged."""
    tag = PLANT.c.tag
    database = writer.database
    all_tags = sa.select(tag).where(tag.is_not(None)).distinct()
    tags = edit.new_tags_by_old(lambda: writer.runner.run(all_tags).scalars().all())
    tags = {old: new for old, new in tags.items() if database.is_storable(old)}
    database.check_storable(*tags.values())
    database.prepare_table(writer.runner, _REPLACED)
    database.insert_rows(writer.runner, _REPLACED, ((old, new, new and fold(new)) for old, new in tags.items()))
    database.analyze(writer.runner, _REPLACED)
    writer.change(tag == _REPLACED.c.tag, {"tag": _REPLACED.c.new, "searched_tag": _REPLACED.c.searched})


# --- edits with texts that Python computes, since databases have no folding ---


def _rewrite(writer: ChangeWriter, edit: Rewrite) -> set[int]:
    """Rewrite the texts of a set of plants; return the ids of those that stay because others have changed them."""
    since = None if edit.since is None else EventPosition.parse(edit.since)
    writer.database.prepare_table(writer.runner, _REWRITTEN)
    for page in _read_pages(writer, writer.collect(condition_of(edit.plants, writer.database))):
        _insert_rewritten(writer, list(rewritten_plants(edit.rule, page, edit.leave)))
    skipped = set[int]() if since is None else _discard_changed(writer, since)
    _apply_rewritten(writer)
    return skipped


def _merge(writer: ChangeWriter, edit: MergePlants) -> None:
    """Give the plants that stay the notes of those that are deleted. Raises as `duplicates.merge_pages` does."""
    for table in (_REWRITTEN, _DELETED):
        writer.database.prepare_table(writer.runner, table)
    for deleted, kept in merge_pages(*edit, partial(read_rows, writer.runner)):
        writer.database.insert_rows(writer.runner, _DELETED, ((plant_id,) for plant_id in deleted))
        _insert_rewritten(writer, kept)
    _apply_rewritten(writer)
    writer.database.analyze(writer.runner, _DELETED)
    writer.delete(is_plant_in(_DELETED))


def _read_pages(writer: ChangeWriter, table: sa.Table) -> Iterator[Sequence[Any]]:
    """Yield id, name, tag and note of the plants whose ids are in a table, page by page."""
    columns = PLANT.c
    chosen = table.c.id
    plants = sa.select(columns.id, columns.name, columns.tag, columns.note).join(table, chosen == columns.id)
    plants = plants.order_by(chosen).limit(LARGE_CHANGE)
    page = writer.runner.run(plants).all()
    while page:
        yield page
        page = writer.runner.run(plants.where(chosen > page[-1][0])).all()


def _insert_rewritten(writer: ChangeWriter, contents: Sequence[PlantContent]) -> None:
    writer.database.check_storable(*(text for _, *texts in contents for text in texts))
    rows = ((plant_id, *text_columns(name, tag, note)) for plant_id, name, tag, note in contents)
    writer.database.insert_rows(writer.runner, _REWRITTEN, rows)


def _discard_changed(writer: ChangeWriter, since: EventPosition) -> set[int]:
    """Discard the new texts of plants that others added or changed since a position; return the changed ones' ids."""
    image = BEFORE_IMAGE.c
    ids = _REWRITTEN.c.id
    is_changed = ids.in_(sa.select(image.plant_id).where(image.change > since.change, image.change != writer.number))
    changed = {*writer.runner.run(sa.select(ids).where(is_changed)).scalars()}
    is_added = ids.in_(sa.select(PLANT.c.id).where(PLANT.c.seq > since.seq))
    writer.runner.run(sa.delete(_REWRITTEN).where(sa.or_(is_changed, is_added)))
    return changed


def _apply_rewritten(writer: ChangeWriter) -> None:
    writer.database.analyze(writer.runner, _REWRITTEN)
    new = _REWRITTEN.c
    writer.change(PLANT.c.id == new.id, {column: new[column] for column in TEXTS})
