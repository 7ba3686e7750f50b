"""Announces a running server to scripts: its runtime file and, where available, its Unix domain socket.

The server works without either: where the folder is not writable, it only logs a warning.
"""

from __future__ import annotations

import contextlib
import logging
import os
from typing import TYPE_CHECKING

from plantdesk import __version__
from plantdesk.api.discovery.runtime_file import Runtime, RuntimeFile
from plantdesk.api.sockets import local_sockets
from plantdesk.domain.timestamps import now_ms

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator
    from pathlib import Path

    from plantdesk.api.discovery.server_identity import Identity

_log = logging.getLogger(__name__)


class Announcement:
    """Announces one server of `database` in `folder`. For the server's thread."""

    def __init__(self, folder: Path, database: Path) -> None:
        self._database = database
        self._file = RuntimeFile(folder, database)
        self._socket = ""
        self._is_published = False
        self._has_warned = False

    @contextlib.contextmanager
    def local_socket(self) -> Iterator[list[socket.socket]]:
        """Listen on a Unix domain socket during the block, mode 0600; none on Windows."""
        path = self._file.socket_path
        found: list[socket.socket] = []
        with self._log_failure():
            self._file.prepare()
            try:
                found = local_sockets(path)
            except OSError as error:  # its path is too long, or the file system has no sockets
                _log.info("There is no Unix domain socket: %s", error)
        try:
            self._socket = str(path) if found else ""
            yield found
        finally:
            if found:
                found[0].close()
                path.unlink(missing_ok=True)
            self._file.remove_folder()

    def publish(self, url: str, identity: Identity) -> None:
        """Write the runtime file, by which `find_server` finds the server; again where it was removed."""
        with self._log_failure():
            if self._is_published:
                self._file.restore()
            else:
                self._is_published = True
                self._file.write(self._runtime(url, identity))

    def _runtime(self, url: str, identity: Identity) -> Runtime:
        started = now_ms()
        key = identity.key.decode()
        database = str(self._database)
        return Runtime(url, identity.port, self._socket, os.getpid(), started, database, __version__, key)

    def withdraw(self) -> None:
        """Remove the runtime file."""
        self._file.close()

    @contextlib.contextmanager
    def _log_failure(self) -> Iterator[None]:
        """Suppress an OSError of the block; log the first."""
        try:
            yield
        except OSError as error:
            if not self._has_warned:
                _log.warning("Scripts may not find this server: %s", error)
            self._has_warned = True
