"""The limits of connections: sizes, times and numbers."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from plantdesk.domain.server_state import TooFewDescriptorsError

#: The most bytes of a body that is received at once; larger bodies take turns. Hardly any plant has more.
MAX_SMALL_BODY_BYTES = 65_536
#: The least descriptors with which a server is of use.
_MIN_DESCRIPTORS = 64


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """What a client may send, and how long it may take: sizes in bytes, times in seconds."""

    #: Largest body that is accepted.
    body: int = 1_048_576
    #: Size of a request without its body: request line, headers, chunk framing, trailers. Checked after each piece.
    overhead: int = 65_536
    #: Number of header fields of a request.
    headers: int = 200
    #: Number of open connections; one more closes the one that has been idle for longest.
    connections: int = 256
    #: Time for a body over 64 KiB to arrive, since others wait for it.
    large_body_timeout: float = 3.0
    #: Time from the first byte of a request (or from the connect) to its last, and for a client to read a response.
    request_timeout: float = 15.0
    #: Time between two requests of a connection.
    keep_alive_timeout: float = 60.0
    #: Time for a client to read the last response and close.
    linger_timeout: float = 2.0
    #: Time to finish the requests in progress when the server stops.
    shutdown_timeout: float = 1.5


def compute_max_connections(limit: int) -> int:
    """Return how many connections may be open: `limit`, or half of the process's descriptors if these are fewer.

    Raises TooFewDescriptorsError.
    """
    if sys.platform != "win32":
        import resource

        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if descriptors != resource.RLIM_INFINITY:
            if descriptors < _MIN_DESCRIPTORS:
                raise TooFewDescriptorsError
            return min(limit, descriptors // 2)
    return limit
