"""Undo and redo: finds the change and reverts it. The functions raise the driver's errors."""

from __future__ import annotations

from functools import partial

import sqlalchemy as sa

from plantdesk.domain.edits import Undone
from plantdesk.domain.errors import NothingToUndoError, UndoConflictError
from plantdesk.domain.history import Change, ChangeKind
from plantdesk.domain.records import Source
from plantdesk.domain.texts import Text, shortened
from plantdesk.store.change_writer import LARGE_CHANGE, ChangeWriter
from plantdesk.store.database import VERSION, Runner, version_of
from plantdesk.store.history import read_change
from plantdesk.store.models import BEFORE_IMAGE, CHANGE, IMAGE_COLUMNS, PLANT, SHARED_COLUMNS, TEXTS
from plantdesk.store.rows import find_first_new_id

#: The most ids of skipped plants, and of restored ones, that an undo lists.
_MAX_LISTED = 100

#: Before-images of the change that is undone, and of the undo.
UNDONE = BEFORE_IMAGE.alias("undone")
OWN = BEFORE_IMAGE.alias("undo")
#: The version of a plant that a before-image has.
VERSION_BEFORE = version_of(UNDONE.c.plant_change, UNDONE.c.seq)
_ROW = ["id", *SHARED_COLUMNS, "change"]
_NO_CHANGE = Text("There is no change to undo. A plant that was added is removed by `plantdesk delete ID`.")


def undo_change(writer: ChangeWriter, change: Change | int | None, source: Source) -> Undone:
    """Undo a change, given as such or by its number; None: the latest that is not undone, if it is of this desk.

    Raises NothingToUndoError and UndoConflictError.
    """
    target = _find_change_to_undo(writer.runner, change)
    return _revert(writer, target if change is not None else _check_desk(writer, target), source)


def redo_latest(writer: ChangeWriter, source: Source) -> Undone:
    """Undo the latest undo that is not undone itself, if nothing was changed since. Raises as `undo_change` does."""
    return _revert(writer, _check_desk(writer, _find_undo_to_redo(writer.runner)), source)


def _check_desk(writer: ChangeWriter, latest: Change) -> Change:
    """Return the change `latest`. Raises NothingToUndoError if another desk made it: undo needs its number."""
    if writer.desk and latest.desk not in {"", writer.desk}:
        reason = Text("{desk} has made this: {title}. To undo it all the same, type `plantdesk undo {number}`.")
        raise NothingToUndoError(reason, title=latest.title, desk=shortened(latest.desk), number=latest.number)
    return latest


def _find_change_to_undo(runner: Runner, change: Change | int | None) -> Change:
    """Return a change as it is stored. Raises NothingToUndoError if there is none, or another one under its number.

    None: the latest that is not undone, or its latest redo if only that can be undone.
    """
    if not isinstance(change, Change):
        return read_change(runner, _find_latest_to_undo(runner) if change is None else change)
    stored = read_change(runner, change.number)
    change.check_same(stored)
    return stored


def _find_latest_to_undo(runner: Runner) -> int:
    """Return the latest change that is not undone; its latest redo if only that has before-images."""
    change = CHANGE.c
    number = _find_latest(runner, change.undoes.is_(None) & (change.kind != str(ChangeKind.UNDO)), _NO_CHANGE)
    if runner.run(sa.select(change.size).where(change.number == number)).scalar_one() is not None:
        return number
    can_be_undone = (change.undone == 0) & change.size.is_not(None)
    later_changes = sa.select(change.number, change.undoes, can_be_undone).where(
        change.number > number, change.undoes.is_not(None)
    )
    in_force_by_number = {number: True}  # the original change, after each of its undos and redos
    latest = number
    for later, undoes, can_undo in runner.run(later_changes.order_by(change.number)):
        if undoes in in_force_by_number:
            in_force_by_number[later] = not in_force_by_number[undoes]
            latest = later if in_force_by_number[later] and can_undo else latest
    return latest


def _find_undo_to_redo(runner: Runner) -> Change:
    undo_number = _find_latest(runner, CHANGE.c.kind == str(ChangeKind.UNDO), Text("There is nothing to redo."))
    since = sa.select(sa.func.max(CHANGE.c.number)).where(CHANGE.c.undoes.is_(None), CHANGE.c.number > undo_number)
    later = runner.run(since).scalar_one()
    if later is not None:
        reason = Text("There is a later change: {title}. To redo what was before it, type: plantdesk undo {undo}")
        raise NothingToUndoError(reason, title=read_change(runner, later).title, undo=undo_number)
    return read_change(runner, undo_number)


def _find_latest(runner: Runner, condition: sa.ColumnElement[bool], message: Text) -> int:
    number = runner.run(sa.select(sa.func.max(CHANGE.c.number)).where(CHANGE.c.undone == 0, condition)).scalar_one()
    if number is None:
        raise NothingToUndoError(message)
    return int(number)


def _revert(writer: ChangeWriter, change: Change, source: Source) -> Undone:
    """Restore the plants of a change as they were before it, as a new change, and mark the old change as undone.

    Raises UndoConflictError, and NothingToUndoError, also if another program has written before-images that break a
    rule of the tables.
    """
    kind, parameters = change.inverse()
    if change.plants > LARGE_CHANGE:
        writer.allow_long_statements()
    try:
        with writer.bulk_planning(change.plants):
            make_result = _Reversal(writer, change).run()
    except writer.database.integrity_error as error:
        raise NothingToUndoError(Text("There is no valid state before this: {title}."), title=change.title) from error
    return make_result(writer.record(source, kind, parameters, change.number))


class _Reversal:
    """Reverts one change: restores its before-images, and writes those of the change that does so."""

    def __init__(self, writer: ChangeWriter, undone: Change) -> None:
        self._writer = writer
        self._undone = undone
        self._number = sa.literal(writer.number, PLANT.c.change.type)
        self._is_former = UNDONE.c.change == undone.number
        own = sa.and_(OWN.c.plant_id == UNDONE.c.plant_id, OWN.c.change == writer.number)
        #: The ids of deleted plants that the undo has brought back.
        self._revived = sa.select(UNDONE.c.plant_id).join(OWN, own).where(self._is_former, UNDONE.c.seq.is_not(None))
        owner = PLANT.alias("other")
        pairs = ((owner.c[text], UNDONE.c[text]) for text in TEXTS[:3])
        is_same = sa.and_(*(sa.func.coalesce(now, "") == sa.func.coalesce(before, "") for now, before in pairs))
        #: The ids of deleted plants that other plants have now; not of those that are there again with the same texts.
        self._displaced = (
            sa.select(UNDONE.c.plant_id)
            .join(owner, owner.c.id == UNDONE.c.plant_id)
            .where(self._is_former, UNDONE.c.after.is_(None), UNDONE.c.seq.is_not(None), sa.not_(is_same))
        )

    def run(self) -> partial[Undone]:
        """Restore the plants that nothing has changed since; return a function that adds the change to the result.

        Raises UndoConflictError.
        """
        undone = self._undone
        restored = self._restore_rows()
        first, moved = self._restore_under_new_ids() if restored < undone.plants else (0, 0)
        if restored + moved == 0:
            raise UndoConflictError(undone.plain_title, undone.plants, is_redo=undone.kind is ChangeKind.UNDO)
        _mark_undone(self._writer.runner, undone.number)
        skipped = max(0, undone.plants - restored - moved)
        old_ids = self._read_ids(self._displaced.order_by(UNDONE.c.plant_id).limit(_MAX_LISTED)) if moved else ()
        moved_ids = tuple(zip(old_ids, range(first, first + len(old_ids)), strict=True))
        revived = self._read_ids(self._revived.limit(_MAX_LISTED + 1))
        ids = (*revived, *(new for _, new in moved_ids)) if len(revived) + moved <= _MAX_LISTED else ()
        skipped_ids = self._read_skipped_ids(moved) if skipped else ()
        return partial(Undone, skipped=skipped, skipped_ids=skipped_ids, ids=ids, moved=moved, moved_ids=moved_ids)

    def _read_ids(self, statement: sa.Select[tuple[int]]) -> tuple[int, ...]:
        return tuple(self._writer.runner.run(statement).scalars())

    def _restore_rows(self) -> int:
        """Restore the rows of the plants that nothing has changed since; return their number.

        Most plants exist, with the same `seq`: to update their texts takes half as long as to delete and insert rows.
        """
        plants: int = self._writer.runner.run(self._images_insert()).rowcount
        present = self._writer.runner.run(
            sa.select(sa.func.count(OWN.c.seq)).where(OWN.c.change == self._writer.number)
        ).scalar_one()
        is_same = (PLANT.c[column] == UNDONE.c[column] for column in SHARED_COLUMNS[len(TEXTS) :])
        is_unchanged = sa.and_(PLANT.c.id == UNDONE.c.plant_id, self._is_former, UNDONE.c.after == VERSION)
        texts = {column: UNDONE.c[column] for column in TEXTS}
        give_back = sa.update(PLANT).where(is_unchanged, *is_same).values(**texts, change=UNDONE.c.plant_change)
        changed = self._writer.runner.run(give_back).rowcount if present else 0
        if changed < present:
            ids = sa.select(UNDONE.c.plant_id).join(PLANT, PLANT.c.id == UNDONE.c.plant_id)
            ids = ids.where(self._is_former, UNDONE.c.after == VERSION)
            self._writer.runner.run(sa.delete(PLANT).where(PLANT.c.id.in_(ids.correlate(None))))
        if changed < plants:
            self._writer.prepare_restoring(self._undone.number, self._revived)
            row = self._revived.add_columns(*(UNDONE.c[column] for column in (*SHARED_COLUMNS, "plant_change")))
            is_gone = sa.not_(sa.exists().where(PLANT.c.id == UNDONE.c.plant_id).correlate(UNDONE))
            self._writer.runner.run(sa.insert(PLANT).from_select(_ROW, row.where(is_gone) if changed else row))
        return plants

    def _images_insert(self) -> sa.Insert:
        """Return the INSERT of the undo's before-images: present rows of plants that nothing has changed since."""
        rows = (PLANT.c[column] for column in SHARED_COLUMNS)
        columns = (self._number, UNDONE.c.plant_id, VERSION_BEFORE, *rows, PLANT.c.change)
        is_gone = VERSION.is_(None) & UNDONE.c.after.is_(None)
        images = sa.select(*columns).outerjoin_from(UNDONE, PLANT, PLANT.c.id == UNDONE.c.plant_id)
        images = images.where(self._is_former, sa.func.coalesce(UNDONE.c.after == VERSION, is_gone))
        return sa.insert(BEFORE_IMAGE).from_select(IMAGE_COLUMNS, images)

    def _read_skipped_ids(self, moved: int) -> tuple[int, ...]:
        is_own = sa.exists().where(OWN.c.change == self._writer.number, OWN.c.plant_id == UNDONE.c.plant_id)
        skipped = sa.select(UNDONE.c.plant_id).where(self._is_former, sa.not_(is_own.correlate(UNDONE)))
        if moved:
            skipped = skipped.where(UNDONE.c.plant_id.not_in(self._displaced.correlate(None)))
        return self._read_ids(skipped.limit(_MAX_LISTED))

    def _restore_under_new_ids(self) -> tuple[int, int]:
        """Restore deleted plants whose ids are in use under new ids; return the first new id and their number."""
        (count,) = self._read_ids(self._displaced.with_only_columns(sa.func.count()))
        if not count:
            return 0, 0
        seq = self._writer.reserve_seqs(count)
        first = find_first_new_id(self._writer.runner, count)
        offset = sa.func.row_number().over(order_by=UNDONE.c.plant_id) - 1
        texts = (UNDONE.c[column] for column in TEXTS)
        id_type = PLANT.c.id.type
        columns = (sa.literal(first, id_type) + offset, *texts, sa.literal(seq, id_type) + offset)
        rows = self._displaced.with_only_columns(*columns, UNDONE.c.added_at, UNDONE.c.source_id, self._number)
        self._writer.runner.run(sa.insert(PLANT).from_select(_ROW, rows))
        self._writer.record_new_plants(PLANT.c.id.between(first, first + count - 1))
        return first, count


def _mark_undone(runner: Runner, number: int) -> None:
    """Mark a change as undone. If it is an undo itself, mark the change that it undid as not undone, and so on."""
    undoes: int | None = number
    later = number + 1
    is_undone = True
    while undoes is not None and undoes < later:  # else another program wrote it
        marked = sa.update(CHANGE).where(CHANGE.c.number == undoes).values(undone=int(is_undone))
        later = undoes
        undoes = runner.run(marked.returning(CHANGE.c.undoes)).scalar()
        is_undone = not is_undone
