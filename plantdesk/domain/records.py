"""The immutable rows that the store returns, the parser of ids, and timestamps.

`plantdesk.store.models` defines the tables.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from typing_extensions import override

from plantdesk.domain.errors import InvalidField, InvalidPlantError
from plantdesk.domain.texts import Text

SMALLEST_ID = -(2**63)
LARGEST_ID = 2**63 - 1
#: The most bytes of a note in UTF-8.
MAX_NOTE_BYTES = 100_000

#: Messages for ids that are invalid.
ID_TYPE = Text("The ID must be a whole number.")
ID_TOO_LARGE = Text("That ID is too large. The largest is {largest}.", largest=LARGEST_ID)
ID_TOO_SMALL = Text("That ID is too small. The smallest is {smallest}.", smallest=SMALLEST_ID)
#: The timestamps that Python's datetime supports, the years 1 to 9999: milliseconds since 1970, UTC.
EARLIEST = -62_135_596_800_000
LATEST = 253_402_300_799_999
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_id(text: str) -> int:
    """Return the id that a user typed, with an optional sign and surrounding spaces. Raises InvalidPlantError.

    Only ASCII digits are accepted, and they are counted before the conversion: int() takes quadratic time.
    """
    match = re.fullmatch("([+-]?)0*([0-9]+)", text.strip())
    if match is None:
        raise InvalidPlantError([InvalidField("id", ID_TYPE)])
    sign, digits = match.groups()
    number = int(sign + digits[:20])  # twenty digits are too many already
    if number > LARGEST_ID:
        raise InvalidPlantError([InvalidField("id", ID_TOO_LARGE)])
    if number < SMALLEST_ID:
        raise InvalidPlantError([InvalidField("id", ID_TOO_SMALL)])
    return number


class SourceKind(StrEnum):
    """The ways in which plants are added."""

    FORM = "form"
    COMMAND = "command"
    IMPORT = "import"
    TOKEN = "token"  # noqa: S105  not a secret
    ASSISTANT = "assistant"
    #: A value that a newer PlantDesk or another program has written.
    OTHER = "other"

    @classmethod
    @override
    def _missing_(cls, _value: object) -> SourceKind:
        return cls.OTHER


class Source(NamedTuple):
    """Who added a plant or made a change, a row of table `source`. `label` names the import, token or assistant.

    The id 0 means the row with this kind and label, which the store adds if there is none. `token_id` and `digest`
    identify the token of a request, which is checked when its plant is written; a source read from a store has neither.
    """

    id: int
    kind: SourceKind
    label: str = ""
    token_id: int | None = None
    digest: bytes | None = None

    def without_token(self) -> Source:
        """Return the source without `token_id` and `digest`, as it is when it is read from the store."""
        return self._replace(token_id=None, digest=None)


#: The sources that the first migration creates in every store.
FORM = Source(1, SourceKind.FORM)
COMMAND = Source(2, SourceKind.COMMAND)


class PlantRow(NamedTuple):
    """A plant in the store. `added_at` is in milliseconds since 1970, UTC. `note` is None also in rows without notes.

    Two rows with the same id and version have the same content.
    """

    id: int
    name: str
    tag: str | None
    added_at: int
    source: Source
    note: str | None = None
    version: int = 0


class PlantContent(NamedTuple):
    """The id and the texts of a plant, without the values that the store adds."""

    id: int
    name: str
    tag: str | None
    note: str | None


class TokenRow(NamedTuple):
    """A token without its secret. Times are in milliseconds since 1970, UTC."""

    name: str
    created_at: int
    expires_at: int | None
    last_used_at: int | None
    plants_added: int
    source: Source
    max_plants: int | None = None

    def is_expired(self, now: int) -> bool:
        """Return whether the token has expired at `now` (milliseconds since 1970, UTC)."""
        return self.expires_at is not None and self.expires_at <= now


class Changes(NamedTuple):
    """The changes of one commit, passed to listeners after it is durable.

    `added` are the new plants in the order of adding, `updated` the edited and restored ones, `removed` the ids of
    deleted ones. `needs_reload` is true when something else may have changed as well:
    another program wrote to the file, or there were too many plants to list.
    """

    added: tuple[PlantRow, ...] = ()
    updated: tuple[PlantRow, ...] = ()
    removed: tuple[int, ...] = ()
    needs_reload: bool = False
    tokens_changed: bool = False
    history_changed: bool = False


def now_ms() -> int:
    """Return the current time in milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000


def utc_time(timestamp: int) -> datetime:
    """Return a timestamp as a time in UTC, or the nearest that Python supports: other programs may write any number."""
    # Windows has no datetime.fromtimestamp() for times before 1970 and after 3000.
    return _EPOCH + timedelta(milliseconds=max(EARLIEST, min(LATEST, timestamp)))


class Desk(NamedTuple):
    """A computer that uses a shared store. `last_seen` is in milliseconds since 1970, UTC.

    `version` is its version of PlantDesk, empty if unknown; `tables` the version of tables it can write, 0 if unknown.
    """

    name: str
    version: str
    tables: int
    last_seen: int
    is_own: bool = False


class NewToken(NamedTuple):
    """A new token. Only its digest is stored, so `token` is not available later."""

    token: str
    row: TokenRow
