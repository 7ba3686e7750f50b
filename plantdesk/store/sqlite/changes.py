"""What a change of plants in a file does differently, in the caller's write transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, exists, func, select, update
from typing_extensions import override

from plantdesk.store.change_writer import PAGE, ChangeWriter
from plantdesk.store.ids import NO_ROOM
from plantdesk.store.models import BEFORE_IMAGE, PLANT, STORE
from plantdesk.store.sqlite.database import runner
from plantdesk.store.sqlite.numbers import last_number, last_seq
from plantdesk.store.undo import FORMER, VERSION_BEFORE

if TYPE_CHECKING:
    import sqlite3

    from sqlalchemy import ColumnElement, ScalarSelect, Select, Update

    from plantdesk.store.change_writer import Extent

_LARGEST_SEQ = select(func.coalesce(func.max(PLANT.c.seq), 0)).scalar_subquery()
_KEEP_SEQ = update(STORE).where(STORE.c.last_seq < _LARGEST_SEQ).values(last_seq=_LARGEST_SEQ)


class SqliteChange(ChangeWriter):
    """A change in a file."""

    def __init__(self, connection: sqlite3.Connection, number: int | None = None) -> None:
        """Begin a change, or go on with that of a number."""
        if number is None:
            runner(connection).run(_KEEP_SEQ)  # no `seq` of a plant that the change deletes is used again
            number = last_number(connection) + 1
        super().__init__(runner(connection), number)
        self._connection = connection

    @property
    @override
    def last_seq(self) -> int:
        return last_seq(self._connection)

    @override
    def next_seq(self, count: int = 1) -> int:
        return self.last_seq + 1

    @override
    def complete(self, extent: Extent, largest_id: ScalarSelect[int]) -> Update:
        last = func.min(func.max(STORE.c.last_id, func.coalesce(largest_id, 0)), NO_ROOM - 1)
        return update(STORE).values(last_id=last)

    @override
    def delete(self, condition: ColumnElement[bool]) -> None:
        """Delete the plants of a condition. If these are all, omit the condition: SQLite then frees whole pages."""
        count = self.runner.run(self.images(condition, deletes=True)).rowcount
        is_all = count > PAGE and self.runner.run(select(func.count()).select_from(PLANT)).fetchone() == (count,)
        self.runner.run(delete(PLANT) if is_all else delete(PLANT).where(condition))

    @override
    def before_return(self, undone: int, back: Select[Any]) -> None:
        """Give plants a new sequence number if theirs is taken, which a restored backup may cause."""
        taken = back.where(exists().where(PLANT.c.seq == FORMER.c.seq, PLANT.c.id != FORMER.c.plant_id))
        if not self.runner.run(select(taken.exists())).fetchone()[0]:
            return
        place = func.row_number().over(order_by=FORMER.c.seq).label("place")
        moved = taken.with_only_columns(FORMER.c.plant_id, place).subquery()
        image, at_end = BEFORE_IMAGE.c, update(BEFORE_IMAGE).values(seq=moved.c.place + self.last_seq)
        self.runner.run(at_end.where(image.change == undone, image.plant_id == moved.c.plant_id))
        is_own = (image.change == self.number) & (image.plant_id == FORMER.c.plant_id)
        self.runner.run(update(BEFORE_IMAGE).values(after=VERSION_BEFORE).where(is_own, FORMER.c.change == undone))
