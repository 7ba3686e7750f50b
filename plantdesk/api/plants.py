"""`POST /plants`: the one operation of the API."""

from __future__ import annotations

from json.encoder import encode_basestring
from typing import TYPE_CHECKING

from plantdesk.api.errors import MethodNotAllowedError, TokenMissingError, WrongContentTypeError
from plantdesk.domain.strict_json import parse_object
from plantdesk.domain.validation import new_plant

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from plantdesk.api.access_control import Client
    from plantdesk.api.batch_inserter import BatchInserter
    from plantdesk.api.request_body import RequestBodies
    from plantdesk.domain.activity import Activity
    from plantdesk.domain.records import PlantRow


class PlantsEndpoint:
    """The endpoint, as an ASGI application. Errors are raised; `Application` turns them into responses."""

    def __init__(self, inserter: BatchInserter, bodies: RequestBodies, activity: Activity) -> None:
        self._inserter = inserter
        self._bodies = bodies
        self._activity = activity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the plant in the request, and answer when it is durable. Raises PlantDeskError."""
        if scope["method"] != "POST":
            raise MethodNotAllowedError("POST")
        client: Client = scope["client_access"]
        if client.source is None:
            raise TokenMissingError
        _check_content_type(client.fields)
        with self._bodies.open(client.fields, receive) as body:
            scope["sent"] = sent = parse_object(await body.read())
            row = await self._inserter.add(new_plant(sent), client.source)
            self._activity.record_added(client.source, row, is_new=row.source == client.source)
            await _send_plant(send, row)


def _check_content_type(fields: dict[bytes, bytes]) -> None:
    """Accept only unencoded JSON. The charset parameter has no meaning (RFC 8259, section 11)."""
    kind = fields.get(b"content-type", b"")
    if kind != b"application/json" and kind.partition(b";")[0].strip().lower() != b"application/json":
        received = f"Received “{kind.decode('latin-1')[:60]}”." if kind else "The request has none."
        raise WrongContentTypeError(f"Send JSON with exactly one header “Content-Type: application/json”. {received}")
    if fields.get(b"content-encoding", b"identity").lower() != b"identity":
        raise WrongContentTypeError("Send the body as it is, without Content-Encoding.")
    if fields.get(b"transfer-encoding", b"chunked").lower() != b"chunked":
        raise WrongContentTypeError("Send the body as it is: no Transfer-Encoding but chunked is understood.")


async def _send_plant(send: Send, row: PlantRow) -> None:
    body = _plant_json(row)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _plant_json(row: PlantRow) -> bytes:
    """Return the body of the response. Formatted here: an encoder takes ten times as long for two strings."""
    name = encode_basestring(row.name)
    if row.tag is None:
        return f'{{"name":{name}}}'.encode()
    return f'{{"name":{name},"tag":{encode_basestring(row.tag)}}}'.encode()
