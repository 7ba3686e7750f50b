"""The errors that only the HTTP API raises, one class for each cause, and the responses that report errors.

A foreseen error is sent to the client and not logged.
"""

from __future__ import annotations

import logging
import re
from typing import NamedTuple

from starlette.responses import Response

from plantdesk.domain.errors import ErrorNumber, OutOfMemoryError, PlantDeskError
from plantdesk.domain.models import Error
from plantdesk.domain.texts import Text

_log = logging.getLogger(__name__)
#: Values of WWW-Authenticate. They need a parameter, and have an error code only if a token was sent (RFC 6750, 3).
_CHALLENGES = {
    ErrorNumber.TOKEN_MISSING: 'Bearer realm="plantdesk"',
    ErrorNumber.TOKEN_REFUSED: 'Bearer realm="plantdesk", error="invalid_token"',
}
#: A token, or the start of one, that a client sent as a field and a message would quote.
_TOKEN = re.compile(r"plantdesk_[A-Za-z0-9_-]{8,}…?")
_DEFECT_MESSAGE = Text("This failed because of a defect of PlantDesk. The cause is in PlantDesk's log.")


class MalformedHttpError(PlantDeskError):
    """The client sent bytes that are not HTTP/1.1; `reason` completes the sentence of the message."""

    number = ErrorNumber.MALFORMED_HTTP
    text = Text("This is not well-formed HTTP/1.1: {reason}.")

    def __init__(self, reason: Text) -> None:
        super().__init__(reason=reason)


class HostRefusedError(PlantDeskError):
    """The Host header is missing, repeated, or names another machine, as after DNS rebinding."""

    number = ErrorNumber.HOST_REFUSED
    text = Text("Send exactly one Host header: 127.0.0.1, localhost or [::1], with any port.")


class OriginRefusedError(PlantDeskError):
    """The request comes from a web page."""

    number = ErrorNumber.ORIGIN_REFUSED
    text = Text("Web pages cannot use PlantDesk. Programs must not send the headers Origin and Sec-Fetch-Site.")


class TokenMissingError(PlantDeskError):
    """The request has no Authorization header with a bearer token."""

    number = ErrorNumber.TOKEN_MISSING
    text = Text(
        "A token is missing. Send the header “Authorization: Bearer TOKEN”. "
        "Create a token under File > API access in PlantDesk or with `plantdesk token create NAME`."
    )


class PathNotFoundError(PlantDeskError):
    """There is no endpoint at the path."""

    number = ErrorNumber.PATH_NOT_FOUND
    text = Text("There is nothing at this path. Plants are added with POST /plants; see GET /openapi.json.")


class MethodNotAllowedError(PlantDeskError):
    """The path does not support the method; `allow` lists those it supports, as in the header Allow."""

    number = ErrorNumber.METHOD_NOT_ALLOWED
    text = Text("This path does not support the method. Use {allow}.")

    def __init__(self, allow: str) -> None:
        super().__init__(allow=allow)
        self.allow = allow


class WrongContentTypeError(PlantDeskError):
    """The body is not sent as plain `application/json`."""

    number = ErrorNumber.WRONG_CONTENT_TYPE


class BodyTooLargeError(PlantDeskError):
    """The body has more than `limit` bytes."""

    number = ErrorNumber.BODY_TOO_LARGE
    text = Text("The body is too large. Send at most {limit:,} bytes, one plant at a time.")

    def __init__(self, limit: int) -> None:
        super().__init__(limit=limit)


class RequestTimeoutError(PlantDeskError):
    """The client did not send the whole request within `seconds`."""

    number = ErrorNumber.REQUEST_TIMEOUT
    text = Text("The request did not arrive within {seconds:g} seconds. Send it again, all at once.")

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds=seconds)


class ClientDisconnectedError(Exception):
    """The client disconnected before its request was complete; there is nobody to answer."""


class Refusal(NamedTuple):
    """An error response, with the number and the message that are in its body."""

    number: ErrorNumber
    message: str
    response: Response


def build_refusal(error: Exception) -> Refusal:
    """Return the response to an error. An unforeseen one is logged, and sent without its cause."""
    if isinstance(error, MemoryError):
        error = OutOfMemoryError()
    if isinstance(error, PlantDeskError) and error.number is not ErrorNumber.DEFECT:
        return _format_refusal(error.number, error.text, _build_extra_headers(error))
    _log.error("A request could not be answered because of a defect.", exc_info=error)
    return _format_refusal(ErrorNumber.DEFECT, _DEFECT_MESSAGE, {})


def _format_refusal(number: ErrorNumber, text: Text, headers: dict[str, str]) -> Refusal:
    message = _TOKEN.sub("plantdesk_…", str(text)).encode(errors="replace").decode()
    body = Error(error=int(number), message=message).model_dump_json()
    return Refusal(number, message, Response(body, number.status, headers, media_type="application/json"))


def _build_extra_headers(error: PlantDeskError) -> dict[str, str]:
    headers = {}
    if error.number in _CHALLENGES:
        headers["www-authenticate"] = _CHALLENGES[error.number]
    if error.retry_after is not None:
        headers["retry-after"] = str(error.retry_after)
    if isinstance(error, MethodNotAllowedError):
        headers["allow"] = error.allow
    return headers
