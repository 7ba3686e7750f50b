"""A challenge by which a server proves to be the one that a runtime file describes.

The key is in the runtime file, which only its owner can read, and is never sent. The proof covers the port, so that a
program that took over a server's port cannot forward the challenge to another server.
"""

from __future__ import annotations

import contextlib
import hmac
import secrets
import socket
import time
from typing import NamedTuple

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
