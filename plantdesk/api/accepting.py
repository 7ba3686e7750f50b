"""Taking connections on Windows, where asyncio's own way stops for good at the first client that comes and is gone.

Its proactor closes the listening socket when a connection fails between its coming and its being taken, so that any
program could turn the API off. Here such a connection is passed over, and the next one is taken.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

logger = logging.getLogger(__name__)

#: Seconds until the next try where connections cannot be taken at all, as without a free handle.
_PAUSE = 0.1
_NAME_DELETED = 64  # Windows' word for a connection that was reset before it was taken


class Acceptor:
    """Takes connections from one listening socket, from its making to `close`; on the loop's thread."""

    def __init__(self, listener: socket.socket, protocol: Callable[[], asyncio.Protocol]) -> None:
        self._listener = listener
        self._protocol = protocol
        self._task = asyncio.get_running_loop().create_task(self._accept())

    def close(self) -> None:
        """Take no more."""
        self._task.cancel()

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(self._listener)
                await loop.connect_accepted_socket(self._protocol, connection)
            except OSError as error:
                gone = isinstance(error, ConnectionError) or getattr(error, "winerror", None) == _NAME_DELETED
                logger.debug("A connection could not be taken: %s", error)
                await asyncio.sleep(0 if gone else _PAUSE)
