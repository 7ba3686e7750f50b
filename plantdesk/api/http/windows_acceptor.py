"""Accepts connections on Windows, where asyncio's event loop stops accepting after an aborted connection.

Its proactor closes the listening socket where a connection is reset between its arrival and accept(), so that any
program could turn the API off. Here a thread accepts, ignores such connections, and passes the others to the loop.
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

_log = logging.getLogger(__name__)

#: Seconds until the next try where accept() fails, as without a free handle.
_RETRY_DELAY = 0.1


class WindowsAcceptor:
    """Accepts connections of one listening socket until `close`. Construct it on the loop's thread."""

    def __init__(self, listener: socket.socket, protocol: Callable[[], asyncio.BaseProtocol]) -> None:
        self._listener = listener
        self._protocol = protocol
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[object]] = set()
        self._stop_receiver, self._stop_sender = socket.socketpair()
        self._thread = threading.Thread(target=self._accept, name="api-accept", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop accepting; the listening socket can be closed afterwards."""
        self._stop_sender.close()
        self._thread.join()
        self._stop_receiver.close()

    def _accept(self) -> None:
        while self._stop_receiver not in select.select([self._listener, self._stop_receiver], [], [])[0]:
            try:
                connection, _ = self._listener.accept()
            except (BlockingIOError, ConnectionError):  # the client is gone
                continue
            except OSError as error:
                _log.debug("A connection could not be accepted: %s", error)
                select.select([self._stop_receiver], [], [], _RETRY_DELAY)
            else:
                connection.setblocking(False)
                self._loop.call_soon_threadsafe(self._connect, connection)

    def _connect(self, connection: socket.socket) -> None:
        task = self._loop.create_task(self._serve(connection))
        self._tasks.add(task)  # the loop keeps only a weak reference
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):  # the client is gone
            await self._loop.connect_accepted_socket(self._protocol, connection)
