"""Whether the server on a port is the one that a runtime file describes: a challenge that only its key can answer.

The key stands in the runtime file, which nobody but its owner can read, and never goes over the wire. The proof covers
the port, so that a program that took over the port of a server cannot pass the challenge on to another one.
"""

from __future__ import annotations

import contextlib
import hmac
import secrets
import socket
import time
from typing import NamedTuple

#: The request header with 64 hexadecimal digits, new for each request, and the response header with the answer.
NONCE_HEADER, PROOF_HEADER = "PlantDesk-Nonce", "PlantDesk-Proof"
#: Bytes read of an answer, whoever sends it; the head of ours is a tenth of a kilobyte.
_MAX_HEAD = 65_536
_END = b"\r\n\r\n"


class Identity(NamedTuple):
    """By what a server is known: the key in its runtime file (256 bits in hexadecimal digits), and its port."""

    key: bytes
    port: int


def new_key() -> bytes:
    """Return a key for one run of a server."""
    return secrets.token_hex(32).encode()


def proof(identity: Identity, nonce: bytes) -> bytes:
    """Return what the server answers to `nonce`."""
    return hmac.new(identity.key, b"%b %d" % (nonce, identity.port), "sha256").hexdigest().encode()


def is_running(identity: Identity, *, within: float) -> bool:
    """Return whether the server on the port of 127.0.0.1 proves, within some seconds in all, that it has the key."""
    nonce = secrets.token_hex(32)
    head = b""
    with contextlib.suppress(OSError):
        head = _response_head(identity.port, f"{NONCE_HEADER}: {nonce}", time.monotonic() + within)
    return hmac.compare_digest(_field(head, PROOF_HEADER), proof(identity, nonce.encode()))


def _response_head(port: int, field: str, deadline: float) -> bytes:
    """Return the head of the response to HEAD /openapi.json, or what came of it. Raises OSError."""
    request = f"HEAD /openapi.json HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{field}\r\n\r\n"
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=_left(deadline)) as connection:
        connection.sendall(request.encode())
        while _END not in received and len(received) < _MAX_HEAD:
            connection.settimeout(_left(deadline))
            if not (piece := connection.recv(4096)):
                break
            received += piece
    return received


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _field(head: bytes, name: str) -> bytes:
    wanted = name.lower().encode()
    for line in head.partition(_END)[0].split(b"\r\n")[1:]:
        found, _, value = line.partition(b":")
        if found.lower() == wanted:
            return value.strip()
    return b""
