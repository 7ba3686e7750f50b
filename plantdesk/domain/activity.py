"""A log of the latest API requests and their answers, in memory only and without tokens.

Consecutive additions by one program share one entry, which counts them; so do its requests that are refused for the
same reason. Refused requests have a limit of their own, so that a fast script does not displace failures. The event
loop writes; other threads read a copy. Copying a dict is atomic, so it needs no lock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from plantdesk.domain.errors import ErrorNumber
from plantdesk.domain.records import PlantRow, Source, now_ms
from plantdesk.domain.validation import UnfitNumber

#: The most entries of added plants, and as many of refused requests.
_MAX_ENTRIES = 500
#: Milliseconds without a similar request, after which the next one makes a new entry.
_MAX_GAP_MS = 60_000
#: Characters that are kept of a name.
_MAX_NAME_LENGTH = 200
#: Characters that are kept of each text of a refused plant.
_MAX_TEXT_LENGTH = 10_000
_HTTP_OK = 200
_PLANT_FIELDS = ("id", "name", "tag")


class ActivityEntry(NamedTuple):
    """An entry of the log: the latest of one or more similar requests, and its answer.

    `requests` is their number; `key` identifies the entry while it grows. `at` is in milliseconds since 1970, UTC.
    `source` is that of the token, None without a valid one. `sent` has id, name and tag as texts, as far as they were
    sent. `number` and `reason` say why the request was refused; `number` is None if it was not. `is_new`: the plant did
    not exist yet.
    """

    at: int
    source: Source | None
    plant_id: int | None
    name: str
    sent: Mapping[str, str]
    number: ErrorNumber | None = None
    reason: str = ""
    is_new: bool = False
    requests: int = 1
    key: int = 0

    @property
    def status(self) -> int:
        """The HTTP status of the answer: 200, or that of the error `number`."""
        return _HTTP_OK if self.number is None else self.number.status


class Activity:
    """Records requests to the API. `listener` gets each, on the thread of the event loop, and must not block."""

    def __init__(self, listener: Callable[[ActivityEntry], object] | None = None) -> None:
        #: The entries by their keys, in the order of their latest requests.
        self._entries: dict[int, ActivityEntry] = {}
        self._listener = listener
        #: The number of requests that were answered since the start.
        self.total = 0

    def entries(self) -> list[ActivityEntry]:
        """Return a copy of the entries, that of the latest request first. May be called from any thread."""
        return [*reversed(self._entries.copy().values())]

    def record_added(self, source: Source, row: PlantRow, *, is_new: bool = True) -> None:
        """Record a request that succeeded: it has added `row`, or, unless `is_new`, the same plant existed already."""
        sent = {"id": str(row.id), "name": row.name[:_MAX_NAME_LENGTH]}
        if row.tag is not None:
            sent["tag"] = row.tag[:_MAX_NAME_LENGTH]
        name = sent["name"]
        self._record(ActivityEntry(at=now_ms(), source=source, plant_id=row.id, name=name, sent=sent, is_new=is_new))

    def record_refused(
        self,
        number: ErrorNumber,
        reason: str,
        source: Source | None = None,
        sent: Mapping[str, object] | None = None,
    ) -> None:
        """Record a request that was refused; `sent` are the members of its body, as far as it could be parsed."""
        sent = sent or {}
        texts = _extract_texts(sent)
        plant_id = sent.get("id")
        self._record(
            ActivityEntry(
                at=now_ms(),
                source=source,
                plant_id=plant_id if isinstance(plant_id, int) else None,
                name=texts.get("name", "")[:_MAX_NAME_LENGTH],
                sent=texts,
                number=number,
                reason=reason,
            )
        )

    def _record(self, entry: ActivityEntry) -> None:
        """Add an entry, or extend a similar one; remove the oldest if there are too many. Notify the listener."""
        self.total += 1
        entry = entry._replace(key=self.total)
        earlier = self._find_entry_to_extend(entry)
        if earlier is None:
            self._entries[entry.key] = entry
            keys = [key for key, logged in self._entries.items() if (logged.number is None) == (entry.number is None)]
            if len(keys) > _MAX_ENTRIES:
                del self._entries[keys[0]]
        else:
            del self._entries[earlier.key]
            self._entries[earlier.key] = entry._replace(requests=earlier.requests + 1, key=earlier.key)
        if self._listener is not None:
            self._listener(entry)

    def _find_entry_to_extend(self, new: ActivityEntry) -> ActivityEntry | None:
        """Return the entry that a request extends; None if it needs a new one.

        A refused request extends the latest refused one if the reasons are equal. An added plant extends the latest
        addition of its program, unless a request of the program was refused since.
        """
        key = new.source, new.number, new.reason, new.is_new
        for entry in reversed(self._entries.values()):
            if new.at - entry.at >= _MAX_GAP_MS:
                break
            if (entry.source, entry.number, entry.reason, entry.is_new) == key:
                return entry
            if entry.number is not None and (new.number is not None or entry.source == new.source):
                break
        return None


def _extract_texts(sent: Mapping[str, object]) -> dict[str, str]:
    """Return the fields of a plant as texts, except missing and empty ones."""
    texts = {key: _to_text(value) for key, value in sent.items() if key in _PLANT_FIELDS}
    return {key: text for key, text in texts.items() if text}


def _to_text(value: object) -> str:
    """Return a JSON string or number as text, cut to the maximum length; an empty text for any other value."""
    if isinstance(value, UnfitNumber):
        return value.text[:_MAX_TEXT_LENGTH]
    is_text = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value)[:_MAX_TEXT_LENGTH] if is_text else ""
