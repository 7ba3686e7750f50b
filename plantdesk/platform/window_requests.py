"""Requests of a second PlantDesk to the window that is already open, and their socket. Without Qt."""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

#: The response of the window.
ANSWER = b"raised\n"
#: The most bytes of a request.
MAX_REQUEST = 1 << 16
#: Seconds to wait for the answer of an open window.
_TIMEOUT = 5.0
#: Bytes of the longest folder for a Unix socket: sun_path has 108 bytes with its NUL on Linux, 104 elsewhere.
_MAX_FOLDER_BYTES = 103 - len("/w-01234567")


class InvalidRequestError(ValueError):
    """A line received on the socket is no request, as of another program."""


class WindowRequest(NamedTuple):
    """Asks to raise the window, or with `quick` to show the small window for a new plant.

    `address` is that of a plant to show, unchecked. `token` is the activation token of the desktop; it lets the window
    come to the front.
    """

    quick: bool = False
    address: str = ""
    token: str = ""

    def encoded(self) -> bytes:
        """Return the request as one line of JSON, which `parse_request` reads."""
        return json.dumps(self._asdict()).encode() + b"\n"


def parse_request(line: bytes) -> WindowRequest:
    """Parse and check a line that may come from any program of the user. Raises InvalidRequestError."""
    try:
        values = json.loads(line)
        request = WindowRequest(values["quick"], values["address"], values["token"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidRequestError from error
    if [type(value) for value in request] != [bool, str, str]:
        raise InvalidRequestError
    return request


def activation_token(environment: Mapping[str, str] = os.environ) -> str:
    """Return the desktop's activation token for this process; empty if there is none.

    On Windows, allow other processes to come to the front instead.
    """
    if sys.platform == "win32":
        import ctypes

        ctypes.windll.user32.AllowSetForegroundWindow(-1)  # ASFW_ANY
    return environment.get("XDG_ACTIVATION_TOKEN") or environment.get("DESKTOP_STARTUP_ID", "")


def window_key(store_key: str) -> str:
    """Return the part of the names of lock and socket that identifies a store. CRC-32 suffices for a user's stores."""
    return f"{zlib.crc32(store_key.encode('utf-8', 'surrogateescape')):08x}"


def socket_name(key: str, folder: Path | None, platform: str = sys.platform) -> str:
    """Return the path of the socket, if possible in a folder that only this user can change; on Windows of a pipe."""
    if platform == "win32":
        return f"plantdesk-{key}"
    folders = [Path(name) for name in (folder, os.environ.get("XDG_RUNTIME_DIR")) if name]
    usable = [path for path in folders if len(os.fsencode(path)) <= _MAX_FOLDER_BYTES and _is_private_folder(path)]
    return str((usable or folders or [Path()])[0] / f"w-{key}")


def send_request(name: str, request: WindowRequest) -> bool:
    """Send a request, and return whether a window has answered; False if none is open."""
    try:
        return _exchange(name, request.encoded()) == ANSWER
    except OSError:
        return False


def _exchange(name: str, line: bytes) -> bytes:
    """Send a line and return the response; empty if the other process is not the user's. Raises OSError."""
    if sys.platform == "win32":
        with open(rf"\\.\pipe\{name}", "r+b", buffering=0) as pipe:  # noqa: PTH123  not a path in a folder
            pipe.write(line)
            return bytes(pipe.read(len(ANSWER)) or b"")
    else:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_TIMEOUT)
            connection.connect(name)
            if not is_same_user(connection.fileno()):
                return b""
            connection.sendall(line)
            return connection.recv(len(ANSWER))


def is_same_user(descriptor: int) -> bool:
    """Return whether the peer of a socket runs as the same user; True if unknown (not Linux)."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    credentials = struct.Struct("3i")  # struct ucred: pid, uid, gid
    try:
        with socket.socket(fileno=os.dup(descriptor)) as peer:
            raw = peer.getsockopt(socket.SOL_SOCKET, option, credentials.size)
    except OSError:  # disconnected already
        return False
    _, uid, _ = credentials.unpack(raw)
    return bool(uid == _get_user_id())


def _is_private_folder(folder: Path) -> bool:
    """Return whether nobody else can put a socket into `folder`."""
    try:
        status = folder.stat()
    except OSError:
        return False
    return status.st_uid == _get_user_id() and not status.st_mode & 0o022


def _get_user_id() -> int | None:
    """Return the user id of this process; None on Windows."""
    getuid = getattr(os, "getuid", None)
    return None if getuid is None else int(getuid())
