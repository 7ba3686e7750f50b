"""Checks for a newer release: one HTTPS request a day, only if the user has enabled it.

Offered in every package, since no package repository has new versions. Nothing but the request is sent, and nothing is
installed. `newer_release` waits for the network, so it must not run on the GUI thread.
"""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from typing_extensions import override

from plantdesk import HOME_PAGE, __version__
from plantdesk.platform import paths

if TYPE_CHECKING:
    import ssl
    from urllib.request import HTTPRedirectHandler, Request

_log = logging.getLogger(__name__)

#: GitHub's API for the newest release.
LATEST_RELEASE_URL = HOME_PAGE.replace("https://github.com/", "https://api.github.com/repos/") + "/releases/latest"
#: Seconds between two checks.
CHECK_INTERVAL = 24 * 60 * 60
_TIMEOUT_SECONDS = 15
_MAX_RESPONSE_BYTES = 1024 * 1024


class Release(NamedTuple):
    """A version of PlantDesk and the page of its release."""

    version: str
    page: str


def is_due(asked_at: int, now: float) -> bool:
    """Return whether the last check (seconds since 1970) is a day ago, or in the future: the clock was set back."""
    return not 0 <= now - asked_at < CHECK_INTERVAL


def newer_release(address: str = LATEST_RELEASE_URL, current: str = __version__) -> Release | None:
    """Return the newest release if it is newer than `current`; None otherwise, or after a failure, which it logs.

    Uses the system's proxy.
    """
    from http.client import HTTPException
    from urllib.error import HTTPError

    try:
        release = _fetch(address)
    except (OSError, HTTPException, ValueError, KeyError, TypeError, RecursionError) as error:
        _log.info("The check for a newer version failed: %s", error)
        if isinstance(error, HTTPError):
            error.close()  # an HTTPError is also the response
        return None
    is_newer = _parse_version(release.version) > _parse_version(current)
    _log.info("The newest version is %s", release.version)
    return release if is_newer else None


def _fetch(address: str) -> Release:
    """Return the newest release that GitHub names. Raises the exceptions that `newer_release` catches."""
    import urllib.request

    headers = {"User-Agent": f"PlantDesk/{__version__}", "Accept": "application/json"}
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 - a constant address
    https = urllib.request.HTTPSHandler(context=_create_ssl_context())
    opener = urllib.request.build_opener(https, _create_redirect_handler())
    with opener.open(request, timeout=_TIMEOUT_SECONDS) as response:
        tag = str(json.loads(response.read(_MAX_RESPONSE_BYTES))["tag_name"])
    version = tag.removeprefix("v")
    _parse_version(version)
    # A click opens the page, so its address is built from the validated version.
    return Release(version, f"{HOME_PAGE}/releases/tag/{tag}")


def _create_redirect_handler() -> HTTPRedirectHandler:
    """Return a handler that refuses redirects to other schemes than HTTPS."""
    from urllib.error import URLError
    from urllib.request import HTTPRedirectHandler

    class HttpsRedirects(HTTPRedirectHandler):
        @override
        def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
            if not newurl.startswith("https://"):
                raise URLError("redirected away from HTTPS")
            return super().redirect_request(req, fp, code, msg, headers, newurl)

    return HttpsRedirects()


def _parse_version(version: str) -> tuple[int, ...]:
    """Return the numbers of a version for comparison: without trailing zeros, as 1.0 is 1.0.0. Raises ValueError."""
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9}){0,3}", version) is None:
        raise ValueError(f"“{version[:40]}” is not a version")
    numbers = [int(number) for number in version.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _create_ssl_context() -> ssl.SSLContext:
    import ssl

    context = ssl.create_default_context()
    if not context.cert_store_stats()["x509_ca"]:
        for file in (name for name in paths.CERTIFICATE_FILES if Path(name).is_file()):
            context.load_verify_locations(cafile=file)
            break
    return context
