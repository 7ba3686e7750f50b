"""Commands of a row's context menu that show the plants with its tag or source."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from plantdesk.selections import AddedBy, HasTag
from plantdesk.ui.plants.table.model import PLANT_ROLE
from plantdesk.ui.plants.table.page_cache import MAX_TEXT
from plantdesk.ui.texts import quoted, source_text, tag_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QMenu

    from plantdesk.records import PlantRow
    from plantdesk.selections import Term
    from plantdesk.ui.plants.table.view import PlantTable


def add_filters(menu: QMenu, table: PlantTable, choose: Callable[[Term], object]) -> None:
    """Add the commands for the current row; `choose` gets the filter of the chosen one."""
    row: PlantRow | None = table.currentIndex().data(PLANT_ROLE)
    if row is None:
        return
    source = row.source
    filters: list[tuple[str, Term]] = [(source_text(source), AddedBy(source.kind, source.label))]
    if row.tag is not None and len(row.tag) < MAX_TEXT:  # not shortened
        filters.insert(0, (tag_text(row.tag), HasTag(row.tag, exact=True)))
    text = QCoreApplication.translate("RowFilters", "Show only {filter}")
    for name, term in filters:
        menu.addAction(text.format(filter=quoted(name, 40)).replace("&", "&&"), partial(choose, term))
