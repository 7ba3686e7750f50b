"""The addresses of a server's hosts. libpq and psycopg wait for name servers as long as these let them."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Mapping
from concurrent.futures import Future, wait
from ipaddress import ip_address

import psycopg


def addresses(conninfo: Mapping[str, str], timeout: float) -> dict[str, str]:
    """Return host, hostaddr and port with an entry for each address of each host; a name without one is left out.

    Nothing where there is no name to resolve. Waits for name servers up to `timeout` seconds, for all names together.
    Raises psycopg.OperationalError where no host has an address.
    """
    names, ports = conninfo.get("host", "").split(","), conninfo.get("port", "").split(",")
    ports = ports * len(names) if len(ports) == 1 else ports
    if all(map(_needs_no_lookup, names)) or "hostaddr" in conninfo or len(ports) != len(names):
        return {}
    found = [_lookup(name) for name in names]
    wait(found, timeout)
    entries = [
        (name, address, port)
        for name, port, future in zip(names, ports, found, strict=True)
        for address in (future.result() if future.done() else [])
    ]
    if not entries:
        raise psycopg.OperationalError("failed to resolve host")
    hosts, numbers, each_port = zip(*entries, strict=True)
    return {"host": ",".join(hosts), "hostaddr": ",".join(numbers), "port": ",".join(each_port)}


def _needs_no_lookup(host: str) -> bool:
    """Whether a host is the folder of a Unix domain socket, or an address already."""
    if not host or host.startswith(("/", "@")):
        return True
    with contextlib.suppress(ValueError):
        return bool(ip_address(host.partition("%")[0]))
    return False


def _lookup(host: str) -> Future[list[str]]:
    """Return the addresses of a host, which may come late or never; an empty list where there are none."""
    found: Future[list[str]] = Future()
    if _needs_no_lookup(host):
        found.set_result(["" if host.startswith(("/", "@")) else host])
    else:
        threading.Thread(target=_resolve, args=(host, found), name="name-lookup", daemon=True).start()
    return found


def _resolve(host: str, found: Future[list[str]]) -> None:
    resolved: list[str] = []
    with contextlib.suppress(OSError, UnicodeError):
        resolved = [str(each[4][0]) for each in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
    found.set_result(resolved)
