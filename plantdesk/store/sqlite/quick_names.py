"""Tags and names of tokens for a shell that completes them: quickly, without the imports of a reader."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from plantdesk.domain.folding import natural_key
from plantdesk.store.sqlite.connections import connect, translate_errors
from plantdesk.store.sqlite.files.log_origin import has_own_log
from plantdesk.store.sqlite.files.open_checks import check_file, resolved
from plantdesk.store.sqlite.migrations import SCHEMA_VERSION, check_schema

if TYPE_CHECKING:
    from pathlib import Path

#: Milliseconds.
_QUICK_TIMEOUT = 500


def quick_names(path: Path) -> tuple[list[str], list[str]]:
    """Return the tags and the names of the valid tokens of the store at `path`, without its lock and changing nothing.

    Raises StoreError and OSError; what a shell completes must not wait.
    """
    path = resolved(path)
    check_file(path)
    with translate_errors(), closing(connect(path, read_only=True, immutable=not has_own_log(path))) as connection:
        connection.execute(f"PRAGMA busy_timeout = {_QUICK_TIMEOUT}")
        check_schema(connection, SCHEMA_VERSION)
        tags = connection.execute("SELECT DISTINCT tag FROM plant WHERE tag IS NOT NULL").fetchall()
        tokens = connection.execute("SELECT name FROM token WHERE revoked_at IS NULL ORDER BY created_at DESC, id DESC")
        return sorted((str(tag) for (tag,) in tags), key=natural_key), [str(name) for (name,) in tokens]
