"""Failures as answers: the Error body and the headers that go with it, for the application and the parser alike."""

from __future__ import annotations

import json
import logging
import re
from typing import NamedTuple

from plantdesk.api.errors import MethodNotAllowedError
from plantdesk.errors import ErrorNumber, PlantDeskError

_log = logging.getLogger(__name__)

#: RFC 6750, section 3: parameters must follow the scheme, and an error code only when a token was sent.
_CHALLENGES = {
    ErrorNumber.TOKEN_MISSING: b'Bearer realm="plantdesk"',
    ErrorNumber.TOKEN_REFUSED: b'Bearer realm="plantdesk", error="invalid_token"',
}
#: A client's own token, or the beginning of one, where it put it into a field and the message tells what came.
_TOKEN = re.compile(r"plantdesk_[A-Za-z0-9_-]{8,}…?")
_DEFECT = "PlantDesk could not do this because of a defect in it. Its log tells more; please report it."


class Problem(NamedTuple):
    """An answer that tells of a failure."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


def problem(error: Exception) -> Problem:
    """Return the answer to a failure. What nobody foresaw is logged, and told without its cause."""
    if isinstance(error, PlantDeskError) and error.number is not ErrorNumber.DEFECT:
        return _problem(error.number, str(error), _more_headers(error))
    _log.error("A request could not be answered because of a defect.", exc_info=error)
    return _problem(ErrorNumber.DEFECT, _DEFECT, [])


def _problem(number: ErrorNumber, message: str, more: list[tuple[bytes, bytes]]) -> Problem:
    told = {"error": int(number), "message": _TOKEN.sub("plantdesk_…", message)}
    body = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), *more]
    return Problem(number.status, headers, body)


def _more_headers(error: PlantDeskError) -> list[tuple[bytes, bytes]]:
    headers = []
    if error.number in _CHALLENGES:
        headers.append((b"www-authenticate", _CHALLENGES[error.number]))
    if error.retry_after is not None:
        headers.append((b"retry-after", b"%d" % error.retry_after))
    if isinstance(error, MethodNotAllowedError):
        headers.append((b"allow", error.allow.encode()))
    return headers
