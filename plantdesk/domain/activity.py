"""The last requests and what was answered, in memory only: never written to disk, and without tokens.

Plants that a program adds one after the other are one entry with their number, as are its requests that are refused
for the same reason. Refused requests have a list of their own, so that a fast script does not displace failures.
The event loop appends, other threads read: each is a single operation on a deque or a list, which need no lock.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.domain.records import now_ms
from plantdesk.domain.validation import UnfitNumber

if TYPE_CHECKING:
    from plantdesk.domain.errors import ErrorNumber
    from plantdesk.domain.records import PlantRow, Source

    #: Numbers of the first and the latest request, how many, time in nanoseconds, token, id, name and tag of the
    #: latest plant, and whether they are new: what the event loop records.
    _Run = tuple[int, int, int, int, Source, int, str, str | None, bool]

#: Runs of added plants, and refused requests.
_MAX_ENTRIES = 500
#: A run ends when its program has added nothing for this time.
_RUN_NS = 60 * 10**9
#: Characters that are kept of a name, and of each text of a refused plant.
_MAX_NAME, _MAX_TEXT = 200, 10_000
_OK = 200
_FIELDS = ("id", "name", "tag")


class Answer(NamedTuple):
    """The answer to one request, or to the latest of several `requests` that added plants or were refused alike.

    `at` is in milliseconds since 1970, UTC. `source` is that of the token, None if there was no valid one.
    `number` and `reason` say why the request was refused; `number` is None if it was not. `sent` has id, name and
    tag as texts, as far as they were sent.
    `is_new`: the plant was added, and not there already. `key` stays the same while the number grows.
    """

    at: int
    source: Source | None
    number: ErrorNumber | None
    reason: str
    plant_id: int | None
    name: str
    sent: Mapping[str, str]
    is_new: bool = False
    requests: int = 1
    key: int = 0

    @property
    def status(self) -> int:
        """The HTTP status."""
        return _OK if self.number is None else self.number.status


class Activity:
    """Records requests. `listener` gets each answer on the thread of the event loop and must return at once."""

    def __init__(self, listener: Callable[[Answer], None] | None = None) -> None:
        self._runs: deque[list[_Run]] = deque(maxlen=_MAX_ENTRIES)  # each in a list of one, to be replaced
        self._growing: dict[tuple[Source, bool], list[_Run]] = {}
        self._refused: deque[tuple[int, Answer]] = deque(maxlen=_MAX_ENTRIES)  # with the number of the latest
        self._listener = listener
        #: The number of requests that were answered since the start.
        self.total = 0

    def answers(self) -> list[Answer]:
        """Return the last answers, newest first."""
        runs = [(run[1], _answer(run)) for (run,) in self._runs.copy()]
        return [answer for _, answer in sorted([*runs, *self._refused.copy()], key=itemgetter(0), reverse=True)]

    def record_added(self, source: Source, row: PlantRow, *, is_new: bool = True) -> None:
        """Record a plant that was added, or that was there already."""
        tag = row.tag and row.tag[:_MAX_NAME]
        now, number = time.time_ns(), self.total + 1
        added = now, source, row.id, row.name[:_MAX_NAME], tag, is_new
        run = self._growing.get((source, is_new))
        if run is not None and now - run[0][3] < _RUN_NS:
            first, _, count, *_ = run[0]
            run[0] = first, number, count + 1, *added
        else:
            if len(self._growing) >= _MAX_ENTRIES:
                self._growing.clear()
            self._growing[source, is_new] = run = [(number, number, 1, *added)]
            self._runs.append(run)
        self.total = number
        if self._listener is not None:
            self._listener(_answer((number, number, 1, *added)))

    def record_refused(
        self,
        number: ErrorNumber,
        reason: str,
        source: Source | None = None,
        sent: Mapping[str, object] | None = None,
    ) -> None:
        """Record a request that was refused; `sent` are the members of its body, as far as it could be parsed."""
        sent = sent or {}
        plant, plant_id = _plant_texts(sent), sent.get("id")
        answer = Answer(
            now_ms(),
            source,
            number,
            reason,
            plant_id if isinstance(plant_id, int) else None,
            plant.get("name", "")[:_MAX_NAME],
            plant,
            key=self.total + 1,
        )
        if source is not None:
            self._growing.pop((source, True), None)
            self._growing.pop((source, False), None)
        self.total += 1
        last = self._refused[-1][1] if self._refused else None
        if last is not None and _continues(answer, last):
            self._refused[-1] = self.total, answer._replace(requests=last.requests + 1, key=last.key)
        else:
            self._refused.append((self.total, answer))
        if self._listener is not None:
            self._listener(answer)


def _continues(answer: Answer, last: Answer) -> bool:
    """Return whether a request was refused for the same reason as the last one, within the time of a run."""
    is_same = (answer.source, answer.number, answer.reason) == (last.source, last.number, last.reason)
    return is_same and answer.at - last.at < _RUN_NS // 10**6


def _answer(run: _Run) -> Answer:
    first, _, count, at, source, plant_id, name, tag, is_new = run
    sent = {"id": str(plant_id), "name": name, **({} if tag is None else {"tag": tag})}
    return Answer(at // 1_000_000, source, None, "", plant_id, name, sent, is_new, count, first)


def _plant_texts(sent: Mapping[str, object]) -> dict[str, str]:
    """Return the fields of a plant as texts, without those that were not sent or are empty."""
    return {key: text for key, value in sent.items() if key in _FIELDS and (text := _text(value))}


def _text(value: object) -> str:
    """Return a member as text, as the form takes it; nothing for what is neither a text nor a number."""
    if isinstance(value, UnfitNumber):
        return value.text[:_MAX_TEXT]
    is_text = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value)[:_MAX_TEXT] if is_text else ""
