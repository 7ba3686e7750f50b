"""Which users listen on a port of this machine's loopback, where the system says so (Linux)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
#: 127.0.0.1, ::1, ::ffff:127.0.0.1 and the wildcard addresses, as the kernel writes them on either byte order.
_ADDRESSES = {
    *("0100007F", "7F000001", "0" * 8, "0" * 32, "0" * 24 + "01000000", "0" * 31 + "1"),
    *("0" * 16 + "FFFF00000100007F", "0" * 20 + "FFFF7F000001"),
}
_LISTENING = "0A"


def port_owners(port: int) -> set[int]:
    """Return the uids of those who listen on `port`; empty where nobody does or the system does not say."""
    return {uid for table in _TABLES for uid in _owners(table, port)}


def foreign_owner(port: int) -> str | None:
    """Return the name of another user who listens on `port`; None when nobody else does, as far as is known."""
    if sys.platform != "win32":
        import pwd

        for uid in sorted(port_owners(port) - {os.geteuid()}):
            try:
                return pwd.getpwuid(uid).pw_name
            except KeyError:
                return f"number {uid}"
    return None


def _owners(table: str, port: int) -> set[int]:
    try:
        lines = Path(table).read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return set()
    found = set()
    for line in lines:
        fields = line.split()
        address, _, local_port = fields[1].partition(":")
        if fields[3] == _LISTENING and int(local_port, 16) == port and address in _ADDRESSES:
            found.add(int(fields[7]))
    return found
