"""`plantdesk serve`: runs the API without a window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk import headless
from plantdesk.cli.commands.stores import open_store
from plantdesk.platform import paths, settings

if TYPE_CHECKING:
    from plantdesk.domain.locations import StoreLocation


def run(database: StoreLocation, port: int | None, *, verbose: bool = False) -> int:
    """Serve until a signal. `port` None is that of the settings. Raises StoreError, ServerError."""
    if port is None:
        port = settings.load(paths.settings_file()).port
    headless.serve(database, lambda: open_store(database), port, verbose=verbose)
    return 0
