import sqlite3
from contextlib import closing

import pytest

from plantdesk.api import plants
from plantdesk.api.errors import build_refusal
from plantdesk.api.limits import ConnectionLimits
from plantdesk.domain import errors
from plantdesk.domain.errors import ErrorNumber
from plantdesk.domain.texts import Text
from plantdesk.store.sqlite import connections
from tests.api.conftest import Serve

FERN = {"id": 1, "name": "Fern"}


def test_a_locked_store_is_reported_with_retry_after(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "LOCK_SECONDS", 0.1)
    api = serve()
    with closing(sqlite3.connect(api.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        answer = api.post(FERN)
        other.execute("ROLLBACK")
    assert answer.number is ErrorNumber.STORE_BUSY
    assert int(answer.headers["Retry-After"]) > 0
    assert api.stored() == {}
    assert api.post(FERN).status == 200


def test_a_server_stops_although_the_store_is_locked(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connections, "LOCK_SECONDS", 1.0)
    api = serve(limits=ConnectionLimits(shutdown_timeout=0.05))
    with closing(sqlite3.connect(api.path, isolation_level=None)) as other, api.opened() as connection:
        other.execute("BEGIN IMMEDIATE")
        connection.sendall(api.whole(FERN, "Expect: 100-continue", "Connection: close"))
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")  # it is in work
        api.server.stop()
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: " in answer.lower()
        assert str(ErrorNumber.STORE_CLOSED.value).encode() in answer
        other.execute("ROLLBACK")
    assert [record for record in caplog.records if record.levelname in {"WARNING", "ERROR"}] == []


def test_a_defect_is_logged_with_its_cause_and_answered_without(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def defective(_values: object) -> None:
        raise ZeroDivisionError("the cause")

    api = serve()
    monkeypatch.setattr(plants, "new_plant", defective)
    answer = api.post(FERN)
    assert answer.number is ErrorNumber.DEFECT
    assert "ZeroDivision" not in answer.message
    assert "ZeroDivisionError: the cause" in caplog.text
    assert api.token not in caplog.text
    monkeypatch.undo()
    assert api.post(FERN).status == 200


@pytest.mark.parametrize(
    ("error", "status", "waits"),
    [
        (errors.StoreFullError(), 503, False),
        (errors.StoreReadOnlyError(), 503, False),
        (errors.StoreDamagedError(), 503, False),
        (errors.StoreUnreachableError(), 503, False),
        (errors.StoreBusyError(), 503, True),
        (errors.StoreClosedError(), 503, True),
        (MemoryError(), 503, True),
        (errors.PlantDeskError(Text("no number of its own")), 500, False),
    ],
)
def test_a_failing_store_is_a_503_with_retry_after_where_a_retry_helps(
    error: Exception,
    status: int,
    waits: bool,  # noqa: FBT001
) -> None:
    response = build_refusal(error).response
    assert response.status_code == status
    assert ("retry-after" in response.headers) is waits


def test_errors_of_clients_are_not_logged(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    api = serve()
    caplog.clear()
    api.exchange(b"rubbish\x1b[31m\r\n\r\n")
    api.request("POST", "/plants?access_token=secret", b"{", {"Authorization": "Bearer secret"})
    api.post({"id": 1})
    api.exchange(api.head("Connection: Upgrade, close", "Upgrade: websocket", method="GET"), half_close=True)
    assert "secret" not in caplog.text
    assert [
        record for record in caplog.records if record.name.startswith(("plantdesk.api", "uvicorn", "asyncio"))
    ] == []
