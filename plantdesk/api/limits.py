"""The limits on what a client can cost, in one place so that tests can lower them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in bytes, times in seconds."""

    #: Largest body that is accepted.
    body: int = 1_048_576
    #: Size of a head, to within what is parsed at once.
    head: int = 65_536
    #: Header fields of a request; each takes about a microsecond, however short it is.
    fields: int = 200
    #: Chunks of a body, besides one for each 64 bytes.
    chunks: int = 1000
    #: Size of a request with the framing of its chunks and its trailers.
    message: int = 2_097_152
    #: Open connections; one more closes the one that has been idle for longest. Slow bodies may take half of them.
    connections: int = 1000
    #: Bodies over 64 KiB in memory at a time; others wait.
    large_bodies: int = 2
    #: For a body over 64 KiB to arrive, since others wait for it.
    large_body_timeout: float = 3.0
    #: From the first byte of a request (or from the connect) to its last, and for a client to read a response.
    request_timeout: float = 15.0
    #: Between two requests of a connection.
    keep_alive_timeout: float = 60.0
    #: For a client to read the last response and close.
    linger_timeout: float = 2.0
    #: For responses that are due when the server stops.
    shutdown_timeout: float = 1.5
    #: Between two checks of the timeouts above.
    deadline_interval: float = 1.0
    #: Between two requests by which the server checks itself, and for the response to each.
    check_interval: float = 5.0
    check_timeout: float = 3.0
