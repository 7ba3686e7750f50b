"""What the readers of table formats give: rows of cells, many at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plantdesk.transfer.columns import Layout


class Batch(NamedTuple):
    """Rows of a table and the line of each. A cell is None where there is none, or "" if `empty_is_none`.

    No cell has half a surrogate pair.
    """

    lines: Sequence[int]
    rows: Sequence[Sequence[str | None]]
    empty_is_none: bool = False


class Table(Protocol):
    """A table that is read once."""

    @property
    def layout(self) -> Layout | None:
        """The columns, where the format says them; then no row is a header."""

    def batches(self) -> Iterator[Batch]:
        """Yield all rows; at least one. Raises FileError and OSError."""
