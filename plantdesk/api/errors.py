"""The refusals that only the HTTP interface knows, one class for each cause. All are answered, none is logged."""

from __future__ import annotations

from plantdesk.errors import ErrorNumber, PlantDeskError


class MalformedHttpError(PlantDeskError):
    """The bytes are not HTTP/1.1; `text` says in what."""

    number = ErrorNumber.MALFORMED_HTTP

    def __init__(self, text: str) -> None:
        super().__init__(f"This is not well-formed HTTP/1.1: {text}.")


class HostRefusedError(PlantDeskError):
    """Host is missing, double or foreign (DNS rebinding)."""

    number = ErrorNumber.HOST_REFUSED

    def __init__(self) -> None:
        super().__init__("Give exactly one Host, and let it be 127.0.0.1, localhost or [::1], with any port.")


class OriginRefusedError(PlantDeskError):
    """The request comes from a web page."""

    number = ErrorNumber.ORIGIN_REFUSED

    def __init__(self) -> None:
        super().__init__(
            "Web pages may not use PlantDesk. A program may: leave out the headers Origin and Sec-Fetch-Site."
        )


class TokenMissingError(PlantDeskError):
    """There is no bearer token."""

    number = ErrorNumber.TOKEN_MISSING

    def __init__(self) -> None:
        super().__init__(
            "A token is missing. Send the header “Authorization: Bearer TOKEN”; "
            "make a token under File > API access in PlantDesk or with `plantdesk token create NAME`."
        )


class NoSuchPathError(PlantDeskError):
    """There is nothing at the path."""

    number = ErrorNumber.NO_SUCH_PATH

    def __init__(self) -> None:
        super().__init__("There is nothing at this path. Plants are added with POST /plants; see GET /openapi.json.")


class MethodNotAllowedError(PlantDeskError):
    """The path takes other methods: those of `allow`, as the header of that name lists them."""

    number = ErrorNumber.METHOD_NOT_ALLOWED

    def __init__(self, allow: str) -> None:
        super().__init__(f"This path does not take that method. Use {allow}.")
        self.allow = allow


class WrongContentTypeError(PlantDeskError):
    """The body does not come as plain `application/json`."""

    number = ErrorNumber.WRONG_CONTENT_TYPE


class BodyTooLargeError(PlantDeskError):
    """The body is over the limit."""

    number = ErrorNumber.BODY_TOO_LARGE

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body is too large. Send at most {limit:,} bytes, one plant at a time.")


class TooSlowError(PlantDeskError):
    """The request did not arrive in time."""

    number = ErrorNumber.TOO_SLOW

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The request did not arrive within {seconds:g} seconds. Send it again, all at once.")


class ClientGoneError(Exception):
    """The client went away before its request was whole; nobody is there to be answered."""


def refusal_in(error: Exception) -> PlantDeskError:
    """Return the refusal that a callback of the parser raised, or else one that says what the parser found."""
    cause = error.__context__
    return cause if isinstance(cause, PlantDeskError) else MalformedHttpError(str(error) or "it cannot be read")
