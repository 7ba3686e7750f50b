"""`POST /plants`: the one operation of the interface."""

from __future__ import annotations

from contextlib import closing
from json.encoder import encode_basestring
from typing import TYPE_CHECKING

from plantdesk.api.errors import MethodNotAllowedError, WrongContentTypeError
from plantdesk.records import new_plant
from plantdesk.strict_json import parse_object

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from plantdesk.api.access_control import Visitor
    from plantdesk.api.batch_inserter import Intake
    from plantdesk.api.request_body import Bodies
    from plantdesk.records import PlantRow


class Plants:
    """The endpoint, as an ASGI application; refusals are raised, to be answered by who called."""

    def __init__(self, intake: Intake, bodies: Bodies) -> None:
        self._intake = intake
        self._bodies = bodies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the plant that the request describes, and answer when it is durable."""
        if scope["method"] != "POST":
            raise MethodNotAllowedError("POST")
        visitor: Visitor = scope["visitor"]
        assert visitor.source is not None  # noqa: S101  the gate lets none in here without a token
        _check_type(visitor.fields)
        with closing(self._bodies.of(visitor.fields, receive)) as body:
            plant = new_plant(parse_object(await body.read()))
            await _answer(send, await self._intake.add(plant, visitor.source))


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


async def _answer(send: Send, row: PlantRow) -> None:
    body = _plant(row)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _plant(row: PlantRow) -> bytes:
    """Return the body of the answer; put together by hand, since an encoder takes ten times as long for two texts."""
    name = encode_basestring(row.name)
    if row.tag is None:
        return f'{{"name":{name}}}'.encode()
    return f'{{"name":{name},"tag":{encode_basestring(row.tag)}}}'.encode()
