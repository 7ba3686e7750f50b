"""`POST /plants`: the one operation of the interface."""

from __future__ import annotations

from json.encoder import encode_basestring
from typing import TYPE_CHECKING

from plantdesk.api.refusals import BodyTooLargeError, ClientGoneError, MethodNotAllowedError, WrongContentTypeError
from plantdesk.records import new_plant
from plantdesk.strict_json import parse_object

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from plantdesk.api.gate import Visitor
    from plantdesk.api.intake import Intake
    from plantdesk.records import PlantRow


class Plants:
    """The endpoint, as an ASGI application; refusals are raised, to be answered by who called."""

    def __init__(self, intake: Intake, *, body_limit: int) -> None:
        self._intake = intake
        self._body_limit = body_limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the plant that the request describes, and answer when it is durable."""
        if scope["method"] != "POST":
            raise MethodNotAllowedError("POST")
        visitor: Visitor = scope["visitor"]
        assert visitor.source is not None  # noqa: S101  the gate lets none in here without a token
        _check_type(visitor.fields)
        body = await self._body(visitor.fields, receive)
        row = await self._intake.add(new_plant(parse_object(body)), visitor.source)
        answer = _plant(row)
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(answer))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    async def _body(self, fields: dict[bytes, bytes], receive: Receive) -> bytes:
        # The parser lets nothing but digits through, and few enough for int() by the limit of the head.
        if int(fields.get(b"content-length", b"0")) > self._body_limit:
            raise BodyTooLargeError(self._body_limit)
        parts: list[bytes] = []
        left = self._body_limit
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientGoneError
            parts.append(message["body"])
            left -= len(parts[-1])
            if left < 0:
                raise BodyTooLargeError(self._body_limit)
            more = message["more_body"]
        return parts[0] if len(parts) == 1 else b"".join(parts)


def _check_type(fields: dict[bytes, bytes]) -> None:
    """Demand the one media type (the charset parameter has no meaning: RFC 8259, section 11), unencoded."""
    kind = fields.get(b"content-type", b"")
    if kind != b"application/json" and kind.partition(b";")[0].strip().lower() != b"application/json":
        came = f"What came is “{kind.decode('latin-1')[:60]}”." if kind else "What came has none."
        raise WrongContentTypeError(f"Send JSON with exactly one header “Content-Type: application/json”. {came}")
    if fields.get(b"content-encoding", b"identity").lower() != b"identity":
        raise WrongContentTypeError("Send the body as it is, without Content-Encoding.")
    if fields.get(b"transfer-encoding", b"chunked").lower() != b"chunked":
        raise WrongContentTypeError("Send the body as it is: no Transfer-Encoding but chunked is understood.")


def _plant(row: PlantRow) -> bytes:
    """Return the body of the answer; put together by hand, since an encoder takes ten times as long for two texts."""
    name = encode_basestring(row.name)
    if row.tag is None:
        return f'{{"name":{name}}}'.encode()
    return f'{{"name":{name},"tag":{encode_basestring(row.tag)}}}'.encode()
