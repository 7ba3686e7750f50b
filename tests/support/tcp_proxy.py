"""A TCP proxy before a server, which loses answers, cuts connections, stops forwarding, or adds latency."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

_RECEIVE_SIZE = 65_536


class TcpProxy:
    """Forwards connections to a port of 127.0.0.1, on threads of its own."""

    def __init__(self, server: int) -> None:
        self._server = server
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        #: Seconds before what arrives is passed on, in each direction.
        self.latency = 0.0
        #: Whether new connections are refused.
        self.is_off = False
        self._losing: list[tuple[bytes, bool]] = []
        self._passing = threading.Event()
        self._passing.set()
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        #: Clients whose answer is lost; they are cut when the server is done, lest their next question overtakes it.
        self._unanswered: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def lose_answer(self, request: bytes, *, reaches_server: bool = True) -> None:
        """Cut the next connection whose client sends `request`, after or before it is passed on."""
        self._losing.append((request, reaches_server))

    @property
    def has_lost(self) -> bool:
        """Whether every answer that was to be lost is lost."""
        return not self._losing

    def cut(self) -> None:
        """End all connections."""
        with self._lock:
            sockets, self._sockets = self._sockets, set()
        for connection in sockets:
            _close_socket(connection)

    def freeze(self) -> None:
        """Pass nothing on, but leave the connections open."""
        self._passing.clear()

    def thaw(self) -> None:
        """Pass on again, also what has arrived meanwhile."""
        self._passing.set()

    def close(self) -> None:
        """End everything."""
        self.is_off = True
        self.thaw()
        self._listening.close()
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                if self.is_off:
                    client.close()
                    continue
                try:
                    server = socket.create_connection(("127.0.0.1", self._server))
                except OSError:
                    client.close()
                    continue
                for connection in (client, server):
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with self._lock:
                    self._sockets |= {client, server}
                threading.Thread(target=self._forward_requests, args=(client, server), daemon=True).start()
                threading.Thread(target=self._forward_answers, args=(client, server), daemon=True).start()

    def _forward_requests(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(_RECEIVE_SIZE):
                self._wait()
                found = next((request for request in self._losing if request[0] in data), None)
                if found is None:
                    server.sendall(data)
                    continue
                self._losing.remove(found)
                if found[1]:
                    self._unanswered.add(client)
                    server.sendall(data)
                    server.shutdown(socket.SHUT_WR)
                    while server.recv(_RECEIVE_SIZE):  # until it has done what was asked
                        pass
                break
        _close_socket(client)
        _close_socket(server)

    def _forward_answers(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(_RECEIVE_SIZE):
                self._wait()
                if client not in self._unanswered:
                    client.sendall(data)
        _close_socket(client)

    def _wait(self) -> None:
        self._passing.wait()
        if self.latency:
            time.sleep(self.latency)


def _close_socket(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


@contextlib.contextmanager
def proxy_to(server: int) -> Iterator[TcpProxy]:
    """Run a proxy."""
    with contextlib.closing(TcpProxy(server)) as proxy:
        yield proxy
