"""The desks of a shared store, the computers that work on it, and what an update of its tables means for them."""

from __future__ import annotations

from typing import NamedTuple


class Desk(NamedTuple):
    """A desk that was seen lately, in milliseconds since 1970, UTC.

    `version` is that of its PlantDesk, `tables` that of the tables that it writes to; if unknown, they are empty and 0.
    """

    name: str
    version: str
    tables: int
    last_seen: int
    is_own: bool = False


class TablesUpdate(NamedTuple):
    """An update that a shared store needs: from which version of the tables to which, and the desks of 30 days.

    The desks that can only read afterwards come first.
    """

    before: int
    after: int
    desks: tuple[Desk, ...]

    def goes_on(self, desk: Desk) -> bool:
        """Return whether a desk can change plants afterwards."""
        return desk.tables >= self.after or desk.is_own
