"""Checks the files that users choose to be replaced: by an export, a token, labels."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plantdesk.domain.errors import PlantDeskError, shortened
from plantdesk.store import is_database
from plantdesk.transfer.formats import PIPE

if TYPE_CHECKING:
    from pathlib import Path

#: The files that belong to a database of this name.
_COMPANION = re.compile(r"(.+)-(?:wal|shm|journal)|\.(.+)\.lock", re.DOTALL)


def checked_target(file: Path) -> Path:
    """Return the file behind symlinks that is to be replaced. Raises PlantDeskError for a database, and OSError."""
    file = file.resolve()  # a symlink stays one
    companion = _COMPANION.fullmatch(file.name)
    databases = [file, *(file.with_name(name) for name in (companion.groups() if companion else ()) if name)]
    if any(map(is_database, databases)):
        raise PlantDeskError(f"“{shortened(file.name, 60)}” belongs to a database. Choose another file.")
    return file


def is_replaced(file: Path) -> bool:
    """Whether a finished file replaces `file`: not standard output, a pipe or a device, which are written to."""
    return str(file) != PIPE and (file.is_file() or not file.exists())
