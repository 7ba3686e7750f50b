"""`plantdesk __complete KIND WORDS…`: prints names for shell completion, one per line; WORDS are those typed so far.

A hidden command, which fails silently: there is no place for a message after Tab.
"""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING

from plantdesk.domain.errors import PlantDeskError, shortened
from plantdesk.platform import output, paths

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_MAX_NAME = 300


def run(kind: str, words: Sequence[str]) -> int:
    """Print the names of `tokens`, `tags` or `backups` of the store in `words`. Creates nothing."""
    with contextlib.suppress(PlantDeskError, OSError):
        database = _database(words)
        if database.is_file():
            output.write("\n".join(shortened(name, _MAX_NAME) for name in _names(kind, database)))
    return 0


def _names(kind: str, database: Path) -> Iterable[str]:
    from plantdesk.store import Backups, quick_names

    if kind == "backups":
        return [backup.path.name for backup in Backups(database).newest_first()]
    tags, tokens = quick_names(database)
    return tags if kind == "tags" else tokens


def _database(words: Sequence[str]) -> Path:
    """Return the store in the words; bash splits `--database=FILE` into three."""
    split = [part for word in words for part in word.split("=", 1) if part]
    for option, value in itertools.pairwise(split):
        if option == "--database":
            return paths.expanded(value.strip("'\"").replace("\\ ", " "))
    return paths.database_file(with_folder=False)
