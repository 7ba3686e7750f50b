"""Moments in words, short enough for a table or a status line."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

if TYPE_CHECKING:
    from collections.abc import Callable

_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def now_ms() -> int:
    """Return the time in milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000


def ago(moment: int, now: int) -> str:
    """Say how long before `now` a moment was (both in milliseconds since 1970, UTC)."""
    seconds = max(0, now - moment) // 1000
    for limit, unit, text in _steps():
        if seconds < limit:
            return text(seconds // unit)
    return date(moment)


def date(moment: int) -> str:
    """Return the local day of a moment, as the person's locale writes it in short."""
    return QLocale().toString(QDateTime.fromMSecsSinceEpoch(moment).date(), QLocale.FormatType.ShortFormat)


def _steps() -> list[tuple[int, int, Callable[[int], str]]]:
    return [(2, 1, _just_now), (_MINUTE, 1, _seconds), (_HOUR, _MINUTE, _minutes), (_DAY, _HOUR, _hours)]


def _just_now(_count: int) -> str:
    return QCoreApplication.translate("times", "just now")


def _seconds(count: int) -> str:
    return QCoreApplication.translate("times", "{n} s ago").format(n=count)


def _minutes(count: int) -> str:
    return QCoreApplication.translate("times", "{n} min ago").format(n=count)


def _hours(count: int) -> str:
    return QCoreApplication.translate("times", "{n} h ago").format(n=count)
