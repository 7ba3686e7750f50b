"""What a rule would change, read in the background: the first places as they are shown, and the number of all."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.domain.rewriting import FIELDS, replaced
from plantdesk.domain.validation import is_blank

if TYPE_CHECKING:
    from plantdesk.domain.protocols import PlantStore
    from plantdesk.domain.records import PlantRow
    from plantdesk.domain.rewriting import Place, Rule
    from plantdesk.domain.selections import Selection
    from plantdesk.ui.background import Task

#: Places that are listed; the others are counted.
MAX_LISTED = 1000
#: Characters of a text that are shown; how many may be before its first place, and how many are where there are more.
_MAX_SHOWN, _MAX_BEFORE, _BEFORE = 300, 60, 20
#: Seconds after which the first places are shown, though not all are counted.
_FIRST_SECONDS = 0.3


class Segment(NamedTuple):
    """A part of a text as it is shown: `kind` is “same”, “old” or “new”."""

    kind: str
    text: str


class ChangedText(NamedTuple):
    """A name or note that would change. `is_blank`: the name would have no letter, and so stays."""

    id: int
    field: str
    segments: tuple[Segment, ...]
    places: int
    is_blank: bool

    @property
    def key(self) -> tuple[int, str]:
        """What identifies it."""
        return self.id, self.field

    def text(self, *, after: bool) -> str:
        """Return it as it would be, or as it is."""
        return "".join(part for kind, part in self.segments if kind != ("old" if after else "new"))


class Preview(NamedTuple):
    """The texts that would change, as far as they are listed, and how many places in how many of the plants there are.

    `since` is the position of the events at which this was read.
    """

    since: str = ""
    rows: tuple[ChangedText, ...] = ()
    places: int = 0
    changed: int = 0
    plants: int = 0
    is_complete: bool = False


def read_preview(store: PlantStore, rule: Rule, plants: Selection, task: Task) -> Preview:
    """Return the preview of a rule for a set of plants; report the first part of it before.

    Raises InterruptedError, StoreError, InvalidPatternError and InvalidPlantError.
    """
    rule.check()
    with closing(store.reader()) as reader, task.interrupted_by(reader.interrupt):
        since = reader.events(None).position
        rows: list[ChangedText] = []
        places = changed = count = 0
        report_at = time.monotonic() + _FIRST_SECONDS
        for row in reader.selected(plants):
            count += 1
            found = [*_changed_texts(rule, row, is_listed=len(rows) < MAX_LISTED)]
            rows += found if len(rows) < MAX_LISTED else []
            places += sum(each.places for each in found if not each.is_blank)
            changed += any(not each.is_blank for each in found)
            if time.monotonic() > report_at:
                if task.cancelled:
                    raise InterruptedError
                task.report(Preview(since, tuple(rows)))
                report_at = float("inf") if len(rows) >= MAX_LISTED else time.monotonic() + 1
    return Preview(since, tuple(rows), places, changed, count, is_complete=True)


def _changed_texts(rule: Rule, row: PlantRow, *, is_listed: bool) -> Iterator[ChangedText]:
    for field in FIELDS:
        text = str(getattr(row, field) or "")
        places = rule.places(field, text)
        if places:
            after = replaced(field, text, places)
            segments = tuple(_segments(text, places)) if is_listed else ()
            yield ChangedText(row.id, field, segments, len(places), field == "name" and is_blank(after))


def _segments(text: str, places: list[Place]) -> Iterator[Segment]:
    """Yield what is shown of a text: the part around its first place, where that is far from the start."""
    start = places[0].start - _BEFORE if places[0].start > _MAX_BEFORE or "\n" in text[: places[0].start] else 0
    start = max(0, start)
    end = start + _MAX_SHOWN
    if start:
        yield Segment("same", "… ")
    at = start
    for place in places:
        if place.start >= end:
            break
        yield Segment("same", text[at : place.start])
        yield Segment("old", text[place.start : min(place.end, end)])
        yield Segment("new", place.new[:_MAX_SHOWN])
        at = place.end
    if at < len(text):
        yield Segment("same", text[at:end] + ("…" if end < len(text) else ""))
