"""The limits that a server holds its clients to, in one place so that tests can tighten them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in bytes, times in seconds."""

    #: The largest body that is taken.
    body: int = 1_048_576
    #: Of one head; what is told apart is whole pieces of this size, so that up to twice as much may pass.
    head: int = 65_536
    #: Of one request as it came, with the framing of its chunks and its trailers.
    message: int = 8_388_608
    #: From the first byte of a request to its last, and for a client to take in what was answered.
    request: float = 15.0
    #: Between the requests of a connection, and before its first.
    keep_alive: float = 60.0
    #: For a client to read the last answer and close.
    linger: float = 2.0
    #: For the answers that are due when the server stops.
    grace: float = 3.0
    #: Between two looks at the times above.
    tick: float = 1.0
    #: Between two requests with which the server asks itself, and for each answer.
    check_every: float = 5.0
    check_within: float = 3.0
