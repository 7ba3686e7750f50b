"""The target of a request: a path, perhaps with a query; in absolute form a host before it (RFC 9112, section 3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import httptools

from plantdesk.api.errors import MalformedHttpError

if TYPE_CHECKING:
    from collections.abc import MutableMapping


def take_target(scope: MutableMapping[str, Any], url: bytes, *, connecting: bool) -> None:
    """Set the path; of a target in absolute form the host takes the place of the Host that came with it.

    Raises MalformedHttpError, or what httptools raises at what it cannot read.
    """
    scope["path"], scope["raw_path"], scope["query_string"] = "", b"", b""
    if connecting:
        return
    target: Any = httptools.parse_url(url)  # its stub knows of no None
    if target.fragment is not None or target.userinfo is not None:
        raise MalformedHttpError("its target holds a fragment or a user")
    raw_path = target.path or b"/"
    path = raw_path.decode("ascii")
    scope["path"] = unquote(path) if "%" in path else path
    scope["raw_path"] = raw_path
    scope["query_string"] = target.query or b""
    if target.schema is not None:
        _take_host(scope["headers"], target)


def _take_host(headers: list[tuple[bytes, bytes]], target: Any) -> None:  # noqa: ANN401 - httptools.parser.url_parser.URL
    if target.schema.lower() != b"http":
        raise MalformedHttpError("its target is not http")
    name = b"[%b]" % target.host if b":" in target.host else target.host
    authority = name if target.port is None else b"%b:%d" % (name, target.port)
    hosts = [index for index, field in enumerate(headers) if field[0] == b"host"]
    if len(hosts) == 1:  # missing and double ones are refused all the same
        headers[hosts[0]] = (b"host", authority)
