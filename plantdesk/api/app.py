"""The ASGI application: gate, routes, and the one place where a failure becomes an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Match, Route, Router
from typing_extensions import override

from plantdesk.api.access_control import Gate
from plantdesk.api.error_response import problem
from plantdesk.api.errors import ClientGoneError, NoSuchPathError
from plantdesk.api.openapi_endpoint import Document
from plantdesk.api.plants import Plants
from plantdesk.api.request_body import Bodies
from plantdesk.api.throttle import WrongTokenThrottle
from plantdesk.api.uses import Uses
from plantdesk.errors import StoreError, TokenRefusedError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from plantdesk.api.access_control import Visitor
    from plantdesk.api.batch_inserter import Intake
    from plantdesk.api.discovery.server_identity import Identity
    from plantdesk.api.limits import Limits
    from plantdesk.store import Store, TokenChecker

DOCUMENT_PATH = "/openapi.json"


class Application:
    """The interface as a whole. Raises nothing but what asyncio needs raised."""

    def __init__(self, gate: Gate, routes: ASGIApp, uses: Uses) -> None:
        self._gate = gate
        self._routes = routes
        self._uses = uses
        self._slowdown = WrongTokenThrottle()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            scope["visitor"] = self._gate.admit(scope)
            await self._routes(scope, receive, send)
        except ClientGoneError:
            pass
        except Exception as error:  # noqa: BLE001  the top of a request: whatever it is, the client gets an Error body
            self._note_use(scope, error)
            if isinstance(error, TokenRefusedError):
                await self._slowdown.wrong_token()
            answer = problem(error)
            await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
            await send({"type": "http.response.body", "body": answer.body})

    def _note_use(self, scope: Scope, error: Exception) -> None:
        visitor: Visitor | None = scope.get("visitor")
        if visitor is not None and visitor.source is not None and not isinstance(error, StoreError):
            self._uses.note(visitor.source)


def application(
    store: Store, checker: TokenChecker, intake: Intake, *, identity: Identity, limits: Limits
) -> Application:
    """Put the interface together; `checker` and `intake` belong to the thread that will serve it."""
    routes = Router(
        [
            _Exactly("/plants", Plants(intake, Bodies(limits))),
            _Exactly(DOCUMENT_PATH, Document(identity)),
        ],
        redirect_slashes=False,
        default=_nothing_here,
    )
    return Application(Gate(checker, open_path=DOCUMENT_PATH), routes, Uses(store.tokens))


class _Exactly(Route):
    """A route whose path must be the same text: Starlette's own pattern lets a line break follow it."""

    @override
    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return super().matches(scope) if scope["path"] == self.path else (Match.NONE, {})


async def _nothing_here(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise NoSuchPathError
