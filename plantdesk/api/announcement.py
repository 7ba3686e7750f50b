"""Announces a running server: writes its runtime file for `discovery`, and makes its Unix domain socket.

The server works without them: if the folder is not writable, it only logs a warning.
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import socket
import sys
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path

from plantdesk import __version__
from plantdesk.api.discovery import Runtime, ServerIdentity, compute_store_digest, is_stale
from plantdesk.api.sockets import listen_on_path
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.records import now_ms
from plantdesk.platform import paths
from plantdesk.platform.atomic_files import remove_abandoned, replace, temporary_file
from plantdesk.platform.file_locks import try_lock

_log = logging.getLogger(__name__)


class Announcement:
    """The runtime file and the Unix domain socket of one running server. Not thread-safe."""

    def __init__(self, folder: Path, store: StoreLocation) -> None:
        """Choose a random file name in `folder`, but create nothing yet."""
        self._path = folder / f"{compute_store_digest(store)}-{os.urandom(4).hex()}.json"
        self._store = store
        #: The path of the server's Unix domain socket.
        self.socket_path = self._path.with_suffix(".sock")
        self._has_socket = False
        self._started_at = now_ms()
        self._locked_file: TextIOWrapper | None = None
        self._has_warned = False

    @contextlib.contextmanager
    def listen_on_unix_socket(self) -> Iterator[socket.socket | None]:
        """Yield a Unix domain socket that listens until the block ends; None if the system has none, as Windows."""
        listener: socket.socket | None = None
        with self._suppress_os_errors():
            self._prepare_folder()
            try:
                listener = listen_on_path(self.socket_path)
            except OSError as error:  # its path is too long, or the file system has no sockets
                _log.info("There is no Unix domain socket: %s", error)
        try:
            self._has_socket = listener is not None
            yield listener
        finally:
            if listener is not None:
                listener.close()
                self.socket_path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # another server has files in it
                self._path.parent.rmdir()

    def publish(self, url: str, identity: ServerIdentity) -> None:
        """Write the runtime file, by which `find_server` finds this server, unless it is there already."""
        path = str(self.socket_path) if self._has_socket else ""
        with self._suppress_os_errors():
            self.write(
                Runtime(
                    url=url,
                    port=identity.port,
                    socket=path,
                    pid=os.getpid(),
                    started=self._started_at,
                    database=self._store.url,
                    version=__version__,
                    key=identity.key.decode(),
                )
            )

    def write(self, runtime: Runtime) -> None:
        """Write the runtime file atomically, mode 0600, and lock it, unless it exists. Raises OSError."""
        if self._path.exists():
            return
        paths.create_folder(self._path.parent)
        self._release_lock()
        with temporary_file(self._path) as temporary:
            self._locked_file = file = temporary.open("w", encoding="utf-8")
            with contextlib.suppress(OSError):  # a file system without locks: no file is stale there
                try_lock(file.fileno())
            file.write(json.dumps(runtime.model_dump(), indent=2) + "\n")
            file.flush()
            if sys.platform == "win32":  # an open file cannot be renamed there
                self._release_lock()
            replace(temporary, self._path)

    def close(self) -> None:
        """Unlock and remove the runtime file, so that scripts no longer find the server."""
        self._release_lock()
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _prepare_folder(self) -> None:
        """Create the folder, mode 0700, and remove stale files from it. Raises OSError."""
        folder = self._path.parent
        paths.create_folder(folder)
        if sys.platform != "win32" and folder.stat().st_uid != os.geteuid():  # another user's, as root may find it
            raise PermissionError(errno.EPERM, "it belongs to another user", str(folder))
        remove_abandoned(folder)
        for file in folder.glob("*.json"):
            if is_stale(file):
                for stale in (file, file.with_suffix(".sock")):
                    with contextlib.suppress(OSError):
                        stale.unlink(missing_ok=True)
        if sys.platform != "win32":  # Windows has no Unix domain sockets
            for path in folder.glob("*.sock"):
                with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
                    client.setblocking(False)
                    has_runtime = path.with_suffix(".json").exists()
                    if not has_runtime and client.connect_ex(str(path)) == errno.ECONNREFUSED:
                        path.unlink()  # its server was killed before it wrote its runtime file

    def _release_lock(self) -> None:
        if self._locked_file is not None:
            self._locked_file.close()
            self._locked_file = None

    @contextlib.contextmanager
    def _suppress_os_errors(self) -> Iterator[None]:
        """Suppress an OSError of the block, as the server works without these files; log only the first."""
        try:
            yield
        except OSError as error:
            if not self._has_warned:
                _log.warning("Scripts may not find this server: %s", error)
            self._has_warned = True
