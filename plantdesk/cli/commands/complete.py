"""`plantdesk __complete KIND WORDS…`: prints names for shell completion, one per line; WORDS are those typed so far.

A hidden command. It fails silently: a shell cannot show a message after Tab.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.texts import shortened
from plantdesk.platform import output, paths
from plantdesk.store import location_of

if TYPE_CHECKING:
    from plantdesk.domain.locations import StoreLocation  # imports pydantic, for which a shell would wait

_MAX_NAME_LENGTH = 300


def run(kind: str, words: Sequence[str]) -> int:
    """Print the `tokens`, `tags` or `backups`, as `kind` says, of the store in `words`; never create a store."""
    with contextlib.suppress(PlantDeskError, OSError):
        database = _find_database(words)
        output.write("\n".join(shortened(name, _MAX_NAME_LENGTH) for name in _list_names(kind, database)))
    return 0


def _list_names(kind: str, database: StoreLocation) -> Iterable[str]:
    if kind == "backups":
        return [backup.path.name for backup in database.backups.newest_first()]
    tags, tokens = database.completion_names()
    return tags if kind == "tags" else tokens


def _find_database(words: Sequence[str]) -> StoreLocation:
    """Return the store of --database, otherwise the default; bash splits `--database=FILE` into three words."""
    parts = [part for word in words for part in word.split("=", 1) if part]
    for option, value in itertools.pairwise(parts):
        if option == "--database":
            return location_of(paths.expand_path(value.strip("'\"").replace("\\ ", " ")))
    return location_of(None)
