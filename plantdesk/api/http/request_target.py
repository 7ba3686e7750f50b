"""The request target: a path with an optional query; in absolute form also a host (RFC 9112, section 3.2)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import httptools

from plantdesk.api.errors import MalformedHttpError

if TYPE_CHECKING:
    from uvicorn._types import HTTPScope


class Target(NamedTuple):
    """A parsed request target; `host` is that of one in absolute form."""

    path: str = ""
    raw_path: bytes = b""
    query: bytes = b""
    host: bytes | None = None


def set_target(scope: HTTPScope, headers: list[tuple[bytes, bytes]], target: bytes, *, is_connect: bool) -> None:
    """Set the path of `scope`; the host of a target in absolute form replaces the Host in `headers`.

    Raises MalformedHttpError, or an error of httptools where it cannot parse the target.
    """
    parsed = Target() if is_connect else _parsed(target)
    scope["path"], scope["raw_path"], scope["query_string"] = parsed.path, parsed.raw_path, parsed.query
    if parsed.host is not None:
        hosts = [index for index, field in enumerate(headers) if field[0] == b"host"]
        if len(hosts) == 1:  # a missing or repeated Host is refused later
            headers[hosts[0]] = (b"host", parsed.host)


@lru_cache(maxsize=16)
def _parsed(target: bytes) -> Target:
    url: Any = httptools.parse_url(target)  # parts may be None, which its stub does not say
    if url.fragment is not None or url.userinfo is not None:
        raise MalformedHttpError("its target holds a fragment or a user")
    raw_path = url.path or b"/"
    path = raw_path.decode("ascii")
    host = None if url.schema is None else _authority(url.schema, url.host, url.port)
    return Target(unquote(path) if "%" in path else path, raw_path, url.query or b"", host)


def _authority(scheme: bytes, host: bytes, port: int | None) -> bytes:
    if scheme.lower() != b"http":
        raise MalformedHttpError("its target is not http")
    name = b"[%b]" % host if b":" in host else host
    return name if port is None else b"%b:%d" % (name, port)
