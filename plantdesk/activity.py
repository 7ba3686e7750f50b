"""The last requests and what was answered, in memory only: never written to disk, and without tokens.

The event loop appends, other threads read: both are single operations on a deque, which need no lock.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.timestamps import now_ms
from plantdesk.validation import UnfitNumber

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from plantdesk.errors import ErrorNumber
    from plantdesk.records import PlantRow, Source

    #: Time in nanoseconds, token, id, name and tag of a plant, and whether it is new: what the event loop records.
    _Added = tuple[int, Source, int, str, str | None, bool]

_MAX_REQUESTS = 500
#: Characters that are kept of a name, and of each text of a refused plant.
_MAX_NAME, _MAX_TEXT = 200, 10_000
_OK = 200
_FIELDS = ("id", "name", "tag")


class Answer(NamedTuple):
    """The answer to one request. `at` is in milliseconds since 1970, UTC.

    `source` is that of the token, None where there was no valid one. `number` and `reason` say why the request was
    refused; `number` is None where it was not. `sent` has id, name and tag as texts, as far as they were sent.
    `is_new`: the plant was added, and not there already.
    """

    at: int
    source: Source | None
    number: ErrorNumber | None
    reason: str
    plant_id: int | None
    name: str
    sent: Mapping[str, str]
    is_new: bool = False

    @property
    def status(self) -> int:
        """The HTTP status."""
        return _OK if self.number is None else self.number.status


class Activity:
    """Records requests. `listener` gets each answer on the thread of the event loop and must return at once."""

    def __init__(self, listener: Callable[[Answer], None] | None = None) -> None:
        self._answers: deque[Answer | _Added] = deque(maxlen=_MAX_REQUESTS)
        self._listener = listener
        self._total = 0

    @property
    def total(self) -> int:
        """The number of requests that were answered since the start."""
        return self._total

    def answers(self) -> list[Answer]:
        """Return the last answers, newest first."""
        return [_answer(each) for each in reversed(self._answers.copy())]

    def record_added(self, source: Source, row: PlantRow, *, is_new: bool = True) -> None:
        """Record a plant that was added, or that was there already."""
        tag = row.tag and row.tag[:_MAX_NAME]
        self._append((time.time_ns(), source, row.id, row.name[:_MAX_NAME], tag, is_new))

    def record_refused(
        self,
        number: ErrorNumber,
        reason: str,
        source: Source | None = None,
        sent: Mapping[str, object] | None = None,
    ) -> None:
        """Record a request that was refused; `sent` are the members of its body, as far as it could be parsed."""
        plant = {key: text for key, value in (sent or {}).items() if key in _FIELDS and (text := _text(value))}
        plant_id = (sent or {}).get("id")
        self._append(
            Answer(
                now_ms(),
                source,
                number,
                reason,
                plant_id if isinstance(plant_id, int) else None,
                plant.get("name", "")[:_MAX_NAME],
                plant,
            )
        )

    def _append(self, entry: Answer | _Added) -> None:
        self._answers.append(entry)
        self._total += 1
        if self._listener is not None:
            self._listener(_answer(entry))


def _answer(entry: Answer | _Added) -> Answer:
    if isinstance(entry, Answer):
        return entry
    at, source, plant_id, name, tag, is_new = entry
    sent = {"id": str(plant_id), "name": name, **({} if tag is None else {"tag": tag})}
    return Answer(at // 1_000_000, source, None, "", plant_id, name, sent, is_new)


def _text(value: object) -> str:
    """Return a member as text, as the form takes it; nothing for what is neither a text nor a number."""
    if isinstance(value, UnfitNumber):
        return value.text[:_MAX_TEXT]
    is_text = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value)[:_MAX_TEXT] if is_text else ""
