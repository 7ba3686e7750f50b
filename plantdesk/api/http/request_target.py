"""The request target: a path with an optional query; in absolute form also a host (RFC 9112, section 3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import httptools

from plantdesk.api.errors import MalformedHttpError

if TYPE_CHECKING:
    from uvicorn._types import HTTPScope


def set_target(scope: HTTPScope, headers: list[tuple[bytes, bytes]], target: bytes, *, is_connect: bool) -> None:
    """Set the path of `scope`; the host of a target in absolute form replaces the Host in `headers`.

    Raises MalformedHttpError, or an error of httptools where it cannot parse the target.
    """
    scope["path"], scope["raw_path"], scope["query_string"] = "", b"", b""
    if is_connect:
        return
    url: Any = httptools.parse_url(target)  # parts may be None, which its stub does not say
    if url.fragment is not None or url.userinfo is not None:
        raise MalformedHttpError("its target holds a fragment or a user")
    raw_path = url.path or b"/"
    path = raw_path.decode("ascii")
    scope["path"] = unquote(path) if "%" in path else path
    scope["raw_path"] = raw_path
    scope["query_string"] = url.query or b""
    if url.schema is not None:
        _replace_host(headers, url.schema, url.host, url.port)


def _replace_host(headers: list[tuple[bytes, bytes]], scheme: bytes, host: bytes, port: int | None) -> None:
    if scheme.lower() != b"http":
        raise MalformedHttpError("its target is not http")
    name = b"[%b]" % host if b":" in host else host
    authority = name if port is None else b"%b:%d" % (name, port)
    hosts = [index for index, field in enumerate(headers) if field[0] == b"host"]
    if len(hosts) == 1:  # a missing or repeated Host is refused later
        headers[hosts[0]] = (b"host", authority)
