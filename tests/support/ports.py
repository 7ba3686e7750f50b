"""Ports of this computer on which nothing listens."""

import random
import socket
from contextlib import suppress

#: Below those that the systems give to programs that ask for any port: no other test gets it meanwhile.
_RANGE = range(20_000, 32_000)


def free_port() -> int:
    """Return a port on which nothing listens, and on which only who asks for it by its number will."""
    for port in random.SystemRandom().sample(_RANGE, 100):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise OSError("No port is free.")
