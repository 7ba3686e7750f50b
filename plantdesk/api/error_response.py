"""Error responses: the Error body and its headers, for errors of the application and of the HTTP parser."""

from __future__ import annotations

import json
import logging
import re
from typing import NamedTuple

from plantdesk.api.errors import MethodNotAllowedError
from plantdesk.domain.errors import ErrorNumber, OutOfMemoryError, PlantDeskError

_log = logging.getLogger(__name__)

#: RFC 6750, section 3: parameters must follow the scheme, and an error code only when a token was sent.
_CHALLENGES = {
    ErrorNumber.TOKEN_MISSING: b'Bearer realm="plantdesk"',
    ErrorNumber.TOKEN_REFUSED: b'Bearer realm="plantdesk", error="invalid_token"',
}
#: A client's own token, or the start of one, where it was sent as a field and the message quotes it.
_TOKEN = re.compile(r"plantdesk_[A-Za-z0-9_-]{8,}…?")
_DEFECT = "This failed because of a defect of PlantDesk. The cause is in PlantDesk's log."


class ErrorResponse(NamedTuple):
    """The parts of an error response."""

    number: ErrorNumber
    message: str
    headers: list[tuple[bytes, bytes]]
    body: bytes

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.number.status


def error_response(error: Exception) -> ErrorResponse:
    """Return the response to an error. One that is not foreseeable is logged, and sent without its cause."""
    if isinstance(error, MemoryError):
        error = OutOfMemoryError()
    if isinstance(error, PlantDeskError) and error.number is not ErrorNumber.DEFECT:
        return _response(error.number, str(error), _extra_headers(error))
    _log.error("A request could not be answered because of a defect.", exc_info=error)
    return _response(ErrorNumber.DEFECT, _DEFECT, [])


def _response(number: ErrorNumber, message: str, extra: list[tuple[bytes, bytes]]) -> ErrorResponse:
    message = _TOKEN.sub("plantdesk_…", message)
    content = {"error": int(number), "message": message}
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), *extra]
    return ErrorResponse(number, message, headers, body)


def _extra_headers(error: PlantDeskError) -> list[tuple[bytes, bytes]]:
    headers = []
    if error.number in _CHALLENGES:
        headers.append((b"www-authenticate", _CHALLENGES[error.number]))
    if error.retry_after is not None:
        headers.append((b"retry-after", b"%d" % error.retry_after))
    if isinstance(error, MethodNotAllowedError):
        headers.append((b"allow", error.allow.encode()))
    return headers
