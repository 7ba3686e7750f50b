"""The layout of the table that is remembered for each store, and its form in the settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plantdesk.ui.plants.table.cells import Column

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Widths beyond this, in digits, are not the user's.
_WIDEST = 500


@dataclass(frozen=True)
class TableLayout:
    """Order, hidden columns, density, and the widths that the user chose: in digits, for a wide and a narrow table."""

    column: Column = Column.ADDED
    descending: bool = True
    hidden: frozenset[Column] = frozenset()
    is_compact: bool = False
    widths: dict[Column, float] = field(default_factory=dict)
    narrow_widths: dict[Column, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """Return a JSON object, as `from_json` reads it."""
        return {
            "order": self.column.order,
            "descending": self.descending,
            "hidden": sorted(column.order for column in self.hidden),
            "compact": self.is_compact,
            "widths": {column.order: width for column, width in self.widths.items()},
            "narrow_widths": {column.order: width for column, width in self.narrow_widths.items()},
        }


def from_json(value: object) -> TableLayout:
    """Return the layout in a JSON object; whatever is not valid in it has its default."""
    values = value if isinstance(value, dict) else {}
    hidden = values.get("hidden")
    default = TableLayout()
    return TableLayout(
        column=_columns_by_name().get(str(values.get("order")), default.column),
        descending=values.get("descending") is not False,
        hidden=frozenset(
            column
            for name, column in _columns_by_name().items()
            if isinstance(hidden, list) and name in hidden and column is not Column.NAME
        ),
        is_compact=values.get("compact") is True,
        widths=dict(_widths(values.get("widths"))),
        narrow_widths=dict(_widths(values.get("narrow_widths"))),
    )


def _columns_by_name() -> dict[str, Column]:
    return {column.order: column for column in Column}


def _widths(value: object) -> Iterator[tuple[Column, float]]:
    for name, column in _columns_by_name().items():
        width = value.get(name) if isinstance(value, dict) else None
        if isinstance(width, int | float) and not isinstance(width, bool) and 1 <= width <= _WIDEST:
            yield column, width
