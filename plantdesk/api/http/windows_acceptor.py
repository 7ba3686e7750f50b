"""Taking connections on Windows, where asyncio's own way stops for good at the first client that comes and is gone.

Its proactor closes the listening socket when a connection fails between its coming and its being taken, so that any
program could turn the API off. Here a thread takes them, passes over such a one, and hands the others to the loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import select
import socket
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)

#: Seconds until the next try where no connection can be taken at all, as without a free handle.
_PAUSE = 0.1


class Acceptor:
    """Takes connections from one listening socket, from its making on the loop's thread to `close`."""

    def __init__(self, listener: socket.socket, protocol: Callable[[], asyncio.BaseProtocol]) -> None:
        self._listener = listener
        self._protocol = protocol
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[object]] = set()
        self._woken, self._waking = socket.socketpair()
        self._thread = threading.Thread(target=self._accept, name="api-accept", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Take no more; the listening socket is free to be closed then."""
        self._waking.close()
        self._thread.join()
        self._woken.close()

    def _accept(self) -> None:
        while self._woken not in select.select([self._listener, self._woken], [], [])[0]:
            try:
                connection, _ = self._listener.accept()
            except (BlockingIOError, ConnectionError):  # it is gone
                continue
            except OSError as error:
                logger.debug("A connection could not be taken: %s", error)
                select.select([self._woken], [], [], _PAUSE)
            else:
                self._hand_over(connection)

    def _hand_over(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._loop.call_soon_threadsafe(self._connect, connection)

    def _connect(self, connection: socket.socket) -> None:
        task = self._loop.create_task(self._serve(connection))
        self._tasks.add(task)  # the loop itself keeps no hold of it
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):  # it is gone
            await self._loop.connect_accepted_socket(self._protocol, connection)
