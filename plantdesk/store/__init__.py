"""The store: one SQLite file of plants, its one writer thread, and the readers of it.

Knows neither asyncio nor Qt: writes answer with `concurrent.futures.Future`, listeners are plain callables.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from plantdesk.store.restore_text import preview_text
from plantdesk.store.sqlite.backups.folder import Backup, BackupKind, Backups
from plantdesk.store.sqlite.files.open_checks import is_database
from plantdesk.store.sqlite.read_only import ReadOnlyStore, plants_of_file, quick_names

if TYPE_CHECKING:
    from plantdesk.store.sqlite.backups.difference import Difference, Group
    from plantdesk.store.sqlite.backups.jobs import AutomaticBackups, back_up, copy_store
    from plantdesk.store.sqlite.backups.restoring import Restored, RestorePreview, preview_restore, restore
    from plantdesk.store.sqlite.queries import Reader
    from plantdesk.store.sqlite.store import Store
    from plantdesk.store.sqlite.tokens import TokenChecker, Tokens

#: The modules of the names that need SQLAlchemy, whose import takes longer than a short command.
_LAZY = {
    "AutomaticBackups": "sqlite.backups.jobs",
    "Difference": "sqlite.backups.difference",
    "Group": "sqlite.backups.difference",
    "Reader": "sqlite.queries",
    "RestorePreview": "sqlite.backups.restoring",
    "Restored": "sqlite.backups.restoring",
    "Store": "sqlite.store",
    "TokenChecker": "sqlite.tokens",
    "Tokens": "sqlite.tokens",
    "back_up": "sqlite.backups.jobs",
    "copy_store": "sqlite.backups.jobs",
    "preview_restore": "sqlite.backups.restoring",
    "restore": "sqlite.backups.restoring",
}

__all__ = [
    "AutomaticBackups",
    "Backup",
    "BackupKind",
    "Backups",
    "Difference",
    "Group",
    "ReadOnlyStore",
    "Reader",
    "RestorePreview",
    "Restored",
    "Store",
    "TokenChecker",
    "Tokens",
    "back_up",
    "copy_store",
    "is_database",
    "plants_of_file",
    "preview_restore",
    "preview_text",
    "quick_names",
    "restore",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _LAZY:
            raise AttributeError(name)
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
