"""Runtime files, by which scripts find the running servers of a store and verify their identity.

Each server has its own file, `<store>-<server>.json`, so that a store may have several; `<store>` is a hash of the key
of its location. Its Unix domain socket is beside it. A server holds a lock on its file, which ends with its process:
a file without a lock is stale. The file holds the server's key, but never a token. The server works without it: where
the folder is not writable, it only logs a warning.

By a challenge a server proves to be the one that a runtime file describes. The key is in that file, which only its
owner can read, and is never sent. The proof covers the port, so that a program that took over a server's port cannot
forward the challenge to another server.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import hmac
import json
import logging
import os
import secrets
import socket
import stat
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from plantdesk import __version__
from plantdesk.api.sockets import foreign_owner, local_sockets
from plantdesk.domain.records import now_ms
from plantdesk.platform import paths
from plantdesk.platform.atomic_replace import replace

if TYPE_CHECKING:
    from io import TextIOWrapper
    from pathlib import Path

    from plantdesk.domain.locations import StoreLocation


_MAX_FILE = 65_536
_MAX_PORT = 65_535
#: Seconds. A server answers within milliseconds.
_PROBE_TIMEOUT = 1.0


class Runtime(NamedTuple):
    """The content of a runtime file. `socket` is empty without one; `started` is in milliseconds since 1970, UTC."""

    url: str
    port: int
    socket: str
    pid: int
    started: int
    database: str
    version: str
    key: str

    @property
    def identity(self) -> ServerIdentity:
        """What the server proves to be."""
        return ServerIdentity(self.key.encode(), self.port)


class RuntimeFile:
    """The runtime file of one server, from `write` to `close`. For one thread at a time."""

    def __init__(self, folder: Path, store: StoreLocation) -> None:
        """Choose a file name in `folder`; create nothing."""
        self._path = folder / f"{_store_name(store)}-{secrets.token_hex(4)}.json"
        self._runtime: Runtime | None = None
        self._locked: TextIOWrapper | None = None

    @property
    def socket_path(self) -> Path:
        """The path for the server's Unix domain socket."""
        return self._path.with_suffix(".sock")

    def prepare(self) -> None:
        """Create the folder, mode 0700, and remove stale files from it. Raises OSError."""
        folder = self._path.parent
        paths.create_folder(folder)
        if sys.platform != "win32" and folder.stat().st_uid != os.geteuid():  # as for root
            raise PermissionError(errno.EPERM, "it belongs to another user", str(folder))
        for file in folder.glob("*.json"):
            if _is_stale(file):
                for stale in (file, file.with_suffix(".sock")):
                    with contextlib.suppress(OSError):
                        stale.unlink(missing_ok=True)

    def write(self, runtime: Runtime) -> None:
        """Write the file atomically, mode 0600. Raises OSError."""
        self._runtime = runtime
        self._release()
        temporary = self._path.with_suffix(".new")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        file = os.fdopen(descriptor, "w", encoding="utf-8")
        _lock(descriptor)
        json.dump(runtime._asdict(), file, indent=2)
        file.write("\n")
        if sys.platform == "win32":  # an open file cannot be renamed there
            file.close()
        else:
            file.flush()
            self._locked = file
        replace(temporary, self._path)

    def restore(self) -> None:
        """Write the file again where it was removed. Raises OSError."""
        if self._runtime is not None and not self._path.exists():
            paths.create_folder(self._path.parent)
            self.write(self._runtime)

    def close(self) -> None:
        """Remove the file, if there is one."""
        self._release()
        if self._runtime is not None:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)

    def remove_folder(self) -> None:
        """Remove the folder if it is empty."""
        with contextlib.suppress(OSError):
            self._path.parent.rmdir()

    def _release(self) -> None:
        if self._locked is not None:
            self._locked.close()
            self._locked = None


def find_server(folder: Path, store: StoreLocation) -> Runtime | None:
    """Return the newest running server of a store, None where none runs. Creates nothing.

    Each candidate must prove its identity within a second.
    """
    return _newest(folder, f"{_store_name(store)}-*.json")


def find_server_on_port(folder: Path, port: int) -> Runtime | None:
    """Return the user's own running server on `port`, of any store."""
    return _newest(folder, "*.json", port)


def _newest(folder: Path, pattern: str, port: int | None = None) -> Runtime | None:
    found = [each for file in folder.glob(pattern) for each in _read(file) if port in {None, each.port}]
    for runtime in sorted(found, key=lambda each: each.started, reverse=True):
        if foreign_owner(runtime.port) is None and is_running(runtime.identity, timeout=_PROBE_TIMEOUT):
            return runtime
    return None


def _store_name(store: StoreLocation) -> str:
    return hashlib.sha256(os.fsencode(store.key)).hexdigest()[:16]


# --- reading runtime files ---


def _read(path: Path) -> Iterator[Runtime]:
    """Yield the content of the file of a running process; nothing where `write` cannot have written it."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError, RecursionError), _opened(path) as descriptor:
        if not _is_locked(descriptor):
            return
        fields = json.loads(os.read(descriptor, _MAX_FILE))
        found = Runtime(**{name: fields[name] for name in Runtime._fields})
        is_valid = all(type(value) is kind for value, kind in zip(found, _TYPES, strict=True))
        if is_valid and 0 < found.port <= _MAX_PORT:
            yield found


_TYPES = (str, int, str, int, int, str, str, str)


def _is_stale(path: Path) -> bool:
    """Return whether the process that wrote the file has ended; False for a file of another user."""
    with contextlib.suppress(OSError), _opened(path) as descriptor:
        if sys.platform != "win32":
            return not _is_locked(descriptor)
    return sys.platform == "win32" and not any(
        is_running(each.identity, timeout=_PROBE_TIMEOUT) for each in _read(path)
    )


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Open a regular file that only the user can read. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        status = os.fstat(descriptor)
        own = sys.platform == "win32" or (status.st_uid == os.geteuid() and not status.st_mode & 0o077)
        if not (own and stat.S_ISREG(status.st_mode)):
            raise PermissionError(f"{path} is not a private file")
        yield descriptor
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    """Lock the file until it is closed or the process ends."""
    if sys.platform != "win32":
        import fcntl

        with contextlib.suppress(OSError):  # a file system without locks: no file is stale there
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_locked(descriptor: int) -> bool:
    """Return whether a process has locked the file; True where that is unknown."""
    if sys.platform != "win32":
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
    return True


_log = logging.getLogger(__name__)


class Announcement:
    """Announces one server of a store in `folder`. For the server's thread."""

    def __init__(self, folder: Path, store: StoreLocation) -> None:
        self._store = store
        self._file = RuntimeFile(folder, store)
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

    def publish(self, url: str, identity: ServerIdentity) -> None:
        """Write the runtime file, by which `find_server` finds the server; again where it was removed."""
        with self._log_failure():
            if self._is_published:
                self._file.restore()
            else:
                self._is_published = True
                self._file.write(self._runtime(url, identity))

    def _runtime(self, url: str, identity: ServerIdentity) -> Runtime:
        started = now_ms()
        key = identity.key.decode()
        return Runtime(url, identity.port, self._socket, os.getpid(), started, self._store.url, __version__, key)

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


#: The request header with 64 random hexadecimal digits, and the response header with the proof.
NONCE_HEADER, PROOF_HEADER = "PlantDesk-Nonce", "PlantDesk-Proof"
#: Bytes read of a response, which another program may send; PlantDesk's headers take about a hundred.
_MAX_HEADERS = 65_536
_END = b"\r\n\r\n"


class ServerIdentity(NamedTuple):
    """The key in a server's runtime file (256 bits in hexadecimal digits), and its port."""

    key: bytes
    port: int


def new_key() -> bytes:
    """Return a random key for one run of a server."""
    return secrets.token_hex(32).encode()


def proof(identity: ServerIdentity, nonce: bytes) -> bytes:
    """Return the server's proof for `nonce`."""
    return hmac.new(identity.key, b"%b %d" % (nonce, identity.port), "sha256").hexdigest().encode()


def is_running(identity: ServerIdentity, *, timeout: float) -> bool:
    """Return whether the server on 127.0.0.1 proves within `timeout` seconds that it has the key."""
    nonce = secrets.token_hex(32)
    headers = b""
    with contextlib.suppress(OSError):
        headers = _response_headers(identity.port, f"{NONCE_HEADER}: {nonce}", time.monotonic() + timeout)
    return hmac.compare_digest(_field(headers, PROOF_HEADER), proof(identity, nonce.encode()))


def _response_headers(port: int, field: str, deadline: float) -> bytes:
    """Return the headers of the response to HEAD /openapi.json, or the part that was received. Raises OSError."""
    request = f"HEAD /openapi.json HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{field}\r\n\r\n"
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=_remaining(deadline)) as connection:
        connection.sendall(request.encode())
        while _END not in received and len(received) < _MAX_HEADERS:
            connection.settimeout(_remaining(deadline))
            if not (piece := connection.recv(4096)):
                break
            received += piece
    return received


def _remaining(deadline: float) -> float:
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


def _field(headers: bytes, name: str) -> bytes:
    requested = name.lower().encode()
    for line in headers.partition(_END)[0].split(b"\r\n")[1:]:
        found, _, value = line.partition(b":")
        if found.lower() == requested:
            return value.strip()
    return b""
