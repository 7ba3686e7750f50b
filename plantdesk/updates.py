"""Whether a newer PlantDesk is out: one question over HTTPS, asked only if the user has switched that on.

On every channel, as no package repository brings new versions. Nothing is sent but the request itself, and nothing is
ever installed: the answer is a page to look at. It waits for the network: not for the GUI thread. The libraries for
that are imported only then.
"""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from typing_extensions import override

from plantdesk import HOME_PAGE, __version__

if TYPE_CHECKING:
    import ssl
    from urllib.request import HTTPRedirectHandler, Request

logger = logging.getLogger(__name__)

#: Where the newest release is told, as GitHub has it for a project's home page.
LATEST = HOME_PAGE.replace("https://github.com/", "https://api.github.com/repos/") + "/releases/latest"
#: Seconds from one question to the next.
DAY = 24 * 60 * 60
_TIMEOUT = 15
_MAX_ANSWER = 1024 * 1024
#: Where systems keep the certificates that they trust, for OpenSSL looks where it was built to.
_CERTIFICATES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


class Release(NamedTuple):
    """A version of PlantDesk and the page that tells about it."""

    version: str
    page: str


def is_due(asked_at: int, now: float) -> bool:
    """Whether a day has gone since the last question (seconds since 1970); a clock set back starts anew."""
    return not 0 <= now - asked_at < DAY


def newer_release(address: str = LATEST, current: str = __version__) -> Release | None:
    """Ask once for the newest release; return it if it is newer than `current`.

    None, too, when there is no answer or no useful one: the log tells why. Uses the system's proxy.
    """
    try:
        release = _asked(address)
    except (OSError, ValueError, KeyError, TypeError) as error:
        logger.info("Could not ask for a newer version: %s", error)
        return None
    newer = _numbers(release.version) > _numbers(current)
    logger.info("The newest version is %s", release.version)
    return release if newer else None


def _asked(address: str) -> Release:
    import urllib.request

    headers = {"User-Agent": f"PlantDesk/{__version__}", "Accept": "application/json"}
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 - the address is no input
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=_trusting()), _https_redirects())
    with opener.open(request, timeout=_TIMEOUT) as answer:
        tag = str(json.loads(answer.read(_MAX_ANSWER))["tag_name"])
    version = tag.removeprefix("v")
    _numbers(version)
    # The page is opened by a click, so its address is made here, of what was checked.
    return Release(version, f"{HOME_PAGE}/releases/tag/{tag}")


def _https_redirects() -> HTTPRedirectHandler:
    """Return a handler that follows no redirect away from HTTPS."""
    from urllib.error import URLError
    from urllib.request import HTTPRedirectHandler

    class HttpsRedirects(HTTPRedirectHandler):
        @override
        def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
            if not newurl.startswith("https://"):
                raise URLError("redirected away from HTTPS")
            return super().redirect_request(req, fp, code, msg, headers, newurl)

    return HttpsRedirects()


def _numbers(version: str) -> tuple[int, ...]:
    """Return what versions are compared by; trailing zeros say nothing. Raises ValueError."""
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9}){0,3}", version) is None:
        raise ValueError(f"“{version[:40]}” is no version")
    numbers = [int(number) for number in version.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _trusting() -> ssl.SSLContext:
    import ssl

    context = ssl.create_default_context()
    if not context.cert_store_stats()["x509_ca"]:
        found = next((file for file in _CERTIFICATES if Path(file).is_file()), None)
        context.load_verify_locations(cafile=found) if found else None
    return context
