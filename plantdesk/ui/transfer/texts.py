"""Texts about the progress of imports and exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale

from plantdesk.domain.errors import Text
from plantdesk.ui.texts import shown, translate

if TYPE_CHECKING:
    from plantdesk.ui.transfer.import_job import Progress

_MINUTE = 60


def progress_text(progress: Progress) -> str:
    """Return rows, rate and remaining time."""
    number = QLocale().toString
    parts = [shown(Text("{count:,} rows", one="1 row", count=progress.rows))]
    if progress.total:
        parts = [
            translate("Transfer", "{rows} of {total} plants").format(
                rows=number(progress.rows), total=number(progress.total)
            )
        ]
    parts.append(translate("Transfer", "{rate} a second").format(rate=number(round(progress.rate))))
    left = progress.seconds_left
    if left is not None and left >= _MINUTE:
        parts.append(translate("Transfer", "about {minutes} min left").format(minutes=number(round(left / _MINUTE))))
    elif left is not None:
        parts.append(translate("Transfer", "about {seconds} s left").format(seconds=number(round(left))))
    return " · ".join(parts)
