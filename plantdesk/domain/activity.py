"""The last requests and what was answered, in memory only: never written to disk, and without tokens.

Plants that a program adds one after the other are one entry with their number, as are its requests that are refused
for the same reason. Refused requests are counted by themselves, so that a fast script does not displace failures.
The event loop writes, other threads read a copy, which is a single operation on a dict and needs no lock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from plantdesk.domain.errors import ErrorNumber
from plantdesk.domain.records import PlantRow, Source, now_ms
from plantdesk.domain.validation import UnfitNumber

#: Runs of added plants, and refused requests.
_MAX_ENTRIES = 500
#: An entry grows no longer when its program has sent nothing like it for this time.
_RUN_MS = 60_000
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

    def __init__(self, listener: Callable[[Answer], object] | None = None) -> None:
        #: The entries by their keys; the one with the latest request is the last.
        self._answers: dict[int, Answer] = {}
        self._listener = listener
        #: The number of requests that were answered since the start.
        self.total = 0

    def answers(self) -> list[Answer]:
        """Return the last answers, newest first."""
        return [*reversed(self._answers.copy().values())]

    def record_added(self, source: Source, row: PlantRow, *, is_new: bool = True) -> None:
        """Record a plant that was added, or that was there already."""
        sent = {"id": str(row.id), "name": row.name[:_MAX_NAME]}
        if row.tag is not None:
            sent["tag"] = row.tag[:_MAX_NAME]
        self._record(Answer(now_ms(), source, None, "", row.id, sent["name"], sent, is_new))

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
        number_sent = plant_id if isinstance(plant_id, int) else None
        name = plant.get("name", "")[:_MAX_NAME]
        self._record(Answer(now_ms(), source, number, reason, number_sent, name, plant))

    def _record(self, answer: Answer) -> None:
        self.total += 1
        answer = answer._replace(key=self.total)
        before = self._before(answer)
        if before is None:
            self._answers[answer.key] = answer
            alike = [key for key, each in self._answers.items() if (each.number is None) == (answer.number is None)]
            if len(alike) > _MAX_ENTRIES:
                del self._answers[alike[0]]
        else:
            del self._answers[before.key]
            self._answers[before.key] = answer._replace(requests=before.requests + 1, key=before.key)
        if self._listener is not None:
            self._listener(answer)

    def _before(self, answer: Answer) -> Answer | None:
        """Return the entry to which a request belongs: the last refused one if it is refused for the same reason.

        That of an added plant is the last one of its program, unless the program was refused anything since.
        """
        same = answer.source, answer.number, answer.reason, answer.is_new
        for each in reversed(self._answers.values()):
            if answer.at - each.at >= _RUN_MS:
                break
            if (each.source, each.number, each.reason, each.is_new) == same:
                return each
            if each.number is not None and (answer.number is not None or each.source == answer.source):
                break
        return None


def _plant_texts(sent: Mapping[str, object]) -> dict[str, str]:
    """Return the fields of a plant as texts, without those that were not sent or are empty."""
    return {key: text for key, value in sent.items() if key in _FIELDS and (text := _text(value))}


def _text(value: object) -> str:
    """Return a member as text, as the form takes it; nothing for what is neither a text nor a number."""
    if isinstance(value, UnfitNumber):
        return value.text[:_MAX_TEXT]
    is_text = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value)[:_MAX_TEXT] if is_text else ""
