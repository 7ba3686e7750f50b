"""Commands of a row's context menu that show the plants with its tag, of its source, or of its day."""

from __future__ import annotations

import sys
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from plantdesk.domain.selections import AddedBy, AddedOn, HasTag
from plantdesk.ui.filters import filter_icon
from plantdesk.ui.plants.table.model import PLANT_ROLE
from plantdesk.ui.plants.table.page_cache import MAX_TEXT
from plantdesk.ui.texts import quoted, source_text, tag_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QMenu

    from plantdesk.domain.records import PlantRow
    from plantdesk.domain.selections import Term
    from plantdesk.ui.plants.table.view import PlantTable
    from plantdesk.ui.theme.icons import Icons


def add_filters(menu: QMenu, table: PlantTable, icons: Icons, choose: Callable[[Term], object]) -> None:
    """Add the commands for the current row; `choose` gets the filter of the chosen one."""
    row: PlantRow | None = table.currentIndex().data(PLANT_ROLE)
    if row is None:
        return
    source = row.source
    text = QCoreApplication.translate("RowFilters", "Show only {filter}")
    filters: list[tuple[str, Term, str]] = []
    if row.tag is not None and len(row.tag) < MAX_TEXT:  # not shortened
        filters.append((text.format(filter=quoted(tag_text(row.tag), 40)), HasTag(row.tag, exact=True), "tag"))
    by = AddedBy(source.kind, source.label)
    filters.append((text.format(filter=quoted(source_text(source), 40)), by, filter_icon(by)))
    day = datetime.fromtimestamp(row.added_at / 1000).date()  # noqa: DTZ006 - the local day
    only_day = QCoreApplication.translate("RowFilters", "Show only this day")
    filters.append((only_day, AddedOn(day, day), "calendar-days"))
    for name, term, icon in filters:
        action = menu.addAction(name.replace("&", "&&"), partial(choose, term))
        if sys.platform != "darwin":
            icons.put_on(action, icon)
