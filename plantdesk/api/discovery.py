"""Runtime files: scripts find the running servers of a store by them, and verify their identity.

Each server has its own file, `<store>-<server>.json`, so that a store may have several; `<store>` is a hash of the key
of its location. Its Unix domain socket is beside it. A server locks its file until its process ends: a file
without a lock is stale. The file holds the server's key, but never a token. `announcement` writes it.

A server proves by a challenge that a runtime file describes it. The key is in that file. Only its owner can read
it, and it is never sent. The proof covers the port, so that a program on the port of an ended server cannot
forward the challenge to another server.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import socket
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from plantdesk import LARGEST_PORT
from plantdesk.platform.paths import open_regular

if TYPE_CHECKING:
    from plantdesk.domain.locations import StoreLocation

_MAX_FILE_BYTES = 65_536
#: Seconds to wait for a proof; a server answers within milliseconds.
_PROBE_TIMEOUT = 1.0
#: The request header with 64 random hexadecimal digits.
NONCE_HEADER = "PlantDesk-Nonce"
#: The response header with the proof.
PROOF_HEADER = "PlantDesk-Proof"
#: The most bytes to read of a response: another program may send it. PlantDesk's headers take about a hundred.
_MAX_RESPONSE_BYTES = 65_536
_PROC_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_PROC_LISTEN = "0A"
#: 127.0.0.1, ::1, ::ffff:127.0.0.1 and the wildcard addresses, as the kernel writes them on either byte order.
_LOOPBACK_ADDRESSES = {
    *("0100007F", "7F000001", "0" * 8, "0" * 32, "0" * 24 + "01000000", "0" * 31 + "1"),
    *("0" * 16 + "FFFF00000100007F", "0" * 20 + "FFFF7F000001"),
}


class Runtime(BaseModel):
    """The content of a runtime file. `socket` is empty without one; `started` is in milliseconds since 1970, UTC."""

    model_config = ConfigDict(strict=True, frozen=True)

    url: str
    port: int = Field(gt=0, le=LARGEST_PORT)
    socket: str
    pid: int
    started: int
    database: str
    version: str
    key: str = Field(pattern="^[0-9a-f]{64}$")

    @property
    def identity(self) -> ServerIdentity:
        """The key and the port, by which the server can prove that this file describes it."""
        return ServerIdentity(self.key.encode(), self.port)


def find_server(folder: Path, store: StoreLocation) -> Runtime | None:
    """Return the newest running server of a store, None if none runs. Creates nothing.

    Each candidate must prove its identity within a second.
    """
    return _find_newest(_read_runtimes(folder, f"{compute_store_digest(store)}-*.json"))


def find_server_on_port(folder: Path, port: int) -> Runtime | None:
    """Return the user's own running server on `port`, of any store."""
    return _find_newest(runtime for runtime in _read_runtimes(folder) if runtime.port == port)


def list_served_databases(folder: Path) -> list[str]:
    """Return the URLs of the databases of the user's running servers, sorted, without asking for proofs."""
    return sorted({runtime.database for runtime in _read_runtimes(folder)})


def _find_newest(runtimes: Iterable[Runtime]) -> Runtime | None:
    """Return the newest server that can prove its identity."""
    for runtime in sorted(runtimes, key=lambda runtime: runtime.started, reverse=True):
        if find_foreign_owner(runtime.port) is None and proves_key(runtime.identity, timeout=_PROBE_TIMEOUT):
            return runtime
    return None


def compute_store_digest(store: StoreLocation) -> str:
    """Return the part of a runtime file's name that identifies its store."""
    return hashlib.sha256(os.fsencode(store.key)).hexdigest()[:16]


def _read_runtimes(folder: Path, pattern: str = "*.json") -> Iterator[Runtime]:
    """Yield the content of each valid runtime file whose server still runs."""
    return filter(None, map(_read_runtime, folder.glob(pattern)))


def _read_runtime(path: Path) -> Runtime | None:
    """Return the content of a runtime file; None if its server has ended, or if the file is not a valid one."""
    with contextlib.suppress(OSError, ValueError, RecursionError), _open_private(path) as descriptor:
        if _is_locked(descriptor):
            return Runtime.model_validate(json.loads(os.read(descriptor, _MAX_FILE_BYTES)))
    return None


def is_stale(path: Path) -> bool:
    """Return whether the process that wrote the file has ended; False for a file of another user."""
    result = False
    if sys.platform == "win32":  # files are not locked there
        runtime = _read_runtime(path)
        result = runtime is None or not proves_key(runtime.identity, timeout=_PROBE_TIMEOUT)
    else:
        with contextlib.suppress(OSError), _open_private(path) as descriptor:
            result = not _is_locked(descriptor)
    return result


@contextlib.contextmanager
def _open_private(path: Path) -> Iterator[int]:
    """Yield the descriptor of a file, open for the block. Raises OSError if it is not regular or not private."""
    descriptor = open_regular(path, os.O_RDONLY)
    try:
        status = os.fstat(descriptor)
        if sys.platform != "win32" and (status.st_uid != os.geteuid() or status.st_mode & 0o077):
            raise PermissionError(f"{path} is not a private file")
        yield descriptor
    finally:
        os.close(descriptor)


def _is_locked(descriptor: int) -> bool:
    """Return whether a process has locked the file; True if that is unknown."""
    if sys.platform != "win32":
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
    return True


class ServerIdentity(NamedTuple):
    """The key in a server's runtime file (256 bits in hexadecimal digits), and its port."""

    key: bytes
    port: int


def generate_key() -> bytes:
    """Return a random key for one run of a server."""
    return os.urandom(32).hex().encode()


def compute_proof(identity: ServerIdentity, nonce: bytes) -> bytes:
    """Return the HMAC-SHA-256 of a client's `nonce` and the server's port, with the server's key, in hexadecimal."""
    return hmac.new(identity.key, b"%b %d" % (nonce, identity.port), "sha256").hexdigest().encode()


def proves_key(identity: ServerIdentity, *, timeout: float) -> bool:
    """Ask the server on 127.0.0.1 to prove that it has the key; return whether it did, in about `timeout` seconds."""
    nonce = os.urandom(32).hex()
    deadline = time.monotonic() + timeout
    received = b""
    request = f"HEAD /openapi.json HTTP/1.0\r\nHost: localhost\r\n{NONCE_HEADER}: {nonce}\r\n\r\n"
    address = "127.0.0.1", identity.port
    with contextlib.suppress(OSError), socket.create_connection(address, timeout) as connection:
        connection.sendall(request.encode())
        while len(received) < _MAX_RESPONSE_BYTES and time.monotonic() < deadline and (chunk := connection.recv(4096)):
            received += chunk
    expected = b"%b: %b" % (PROOF_HEADER.lower().encode(), compute_proof(identity, nonce.encode()))
    return expected in received.lower().splitlines()


def find_foreign_owner(port: int) -> str | None:
    """Return the name of another user whose program listens on `port`; None if there is none, or not on Linux."""
    if sys.platform != "win32":
        import pwd

        uids = {uid for table in _PROC_TABLES for uid in _find_listening_uids(table, port)}
        for uid in sorted(uids - {os.geteuid()}):
            try:
                return pwd.getpwuid(uid).pw_name
            except KeyError:
                return f"number {uid}"
    return None


def _find_listening_uids(table: str, port: int) -> set[int]:
    """Return the IDs of the users who listen on `port`, from a kernel table; none if it cannot be read."""
    try:
        lines = Path(table).read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return set()
    addresses = {f"{address}:{port:04X}" for address in _LOOPBACK_ADDRESSES}
    uids = set()
    for line in lines:
        _slot, address, _remote, state, _queues, _timer, _retransmits, uid, *_ = line.split()
        if state == _PROC_LISTEN and address in addresses:
            uids.add(int(uid))
    return uids
