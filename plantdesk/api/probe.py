"""Asking a server which one it is: the only proof that it answers, and that it is not another program on its port."""

from __future__ import annotations

import contextlib
import http.client

#: The header in which a running server names itself, anew at every start; it comes with GET /openapi.json.
INSTANCE_HEADER = "PlantDesk-Instance"


def instance_at(port: int, *, within: float) -> str | None:
    """Return the name of the PlantDesk that answers on `port`, or None when none does within some seconds."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=within)
    with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/openapi.json", headers={"Connection": "close"})
        response = connection.getresponse()
        response.read()
        return response.getheader(INSTANCE_HEADER)
    return None
