"""The dated lines of a note, as a log below it."""

from __future__ import annotations

import re
from datetime import date

from PySide6.QtCore import QDate, QLocale
from PySide6.QtWidgets import QVBoxLayout, QWidget

from plantdesk.ui.qt import fill
from plantdesk.ui.texts import one_line
from plantdesk.ui.theme.metrics import XS, L
from plantdesk.ui.widgets.plain_text import PlainLabel

#: A line of a note that begins with a date, such as “2026-11-23 watered”.
_DATED = re.compile(r"(\d{4}-\d\d-\d\d)[ :,\t]+(\S.*)", re.ASCII)
#: Lines that are shown; the note has all.
_MOST = 12
#: Characters of a line.
_LONGEST = 200


def dated_lines(note: str) -> list[tuple[date, str]]:
    """Return the day and the text of each dated line, newest first; of one day, the last one first."""
    found = []
    for line in reversed(note.splitlines()):
        if (parts := _DATED.fullmatch(line.strip())) is not None:
            try:
                found.append((date.fromisoformat(parts[1]), parts[2]))
            except ValueError:  # there is no such day
                continue
    return sorted(found, key=lambda each: each[0], reverse=True)


class NoteLog(QWidget):
    """Hidden while the note has no dated line."""

    def __init__(self) -> None:
        super().__init__()
        self._lines = PlainLabel(wrapped=True)
        self._lines.setMinimumWidth(1)  # a long word is cut instead of widening the card
        title = PlainLabel(self.tr("Log"), role="caption")
        fill(QVBoxLayout(self), title, self._lines, margins=(0, L, 0, 0), spacing=XS)
        self.hide()

    def show_note(self, note: str) -> None:
        """Show the dated lines of a note."""
        lines = [
            f"{QLocale().toString(QDate(day.year, day.month, day.day), QLocale.FormatType.ShortFormat)} · "
            f"{one_line(text[:_LONGEST])}"
            for day, text in dated_lines(note)[:_MOST]
        ]
        self._lines.setText("\n".join(lines))
        self.setVisible(bool(lines))
