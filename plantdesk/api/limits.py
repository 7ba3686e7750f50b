"""The limits that a server holds its clients to, in one place so that tests can tighten them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in bytes, times in seconds."""

    #: The largest body that is taken.
    body: int = 1_048_576
    #: Of one head, give or take the kilobytes that are parsed at once.
    head: int = 65_536
    #: Header fields of one request; each takes about a microsecond, however short it is.
    fields: int = 200
    #: Chunks of one body, besides one for each 64 bytes.
    pieces: int = 1000
    #: Of one request as it came, with the framing of its chunks and its trailers.
    message: int = 2_097_152
    #: Connections at a time; one more, and that which has been idle for longest is given up.
    connections: int = 1000
    #: Bodies over 64 KiB that are in memory at a time; others wait.
    large_bodies: int = 2
    #: For such a body to arrive, so that slow ones do not keep the others out.
    large_within: float = 3.0
    #: From the first byte of a request to its last, and for a client to take in what was answered.
    request: float = 15.0
    #: Between the requests of a connection, and before its first.
    keep_alive: float = 60.0
    #: For a client to read the last answer and close.
    linger: float = 2.0
    #: For the answers that are due when the server stops.
    grace: float = 1.5
    #: Between two looks at the times above.
    tick: float = 1.0
    #: Between two requests with which the server asks itself, and for each answer.
    check_every: float = 5.0
    check_within: float = 3.0
