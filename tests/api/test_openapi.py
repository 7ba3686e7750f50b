import sqlite3
from contextlib import closing
from typing import Any

import pytest
import schemathesis
from schemathesis.engine import events, from_schema

from plantdesk.api.openapi import build_openapi_document
from plantdesk.domain.errors import ErrorNumber
from tests.api.client import Api
from tests.api.conftest import Serve
from tests.support import cases
from tests.support.waiting import SECONDS

_CREATE = build_openapi_document()["paths"]["/plants"]["post"]
_SCHEMAS = build_openapi_document()["components"]["schemas"]


# --- the document ------------------------------------------------------------------------------------------------


def test_the_document_is_served_without_a_token(api: Api) -> None:
    answer = api.request("GET", "/openapi.json")
    assert answer.status == 200
    assert answer.json == build_openapi_document(api.port)
    assert answer.json["servers"][0]["url"] == f"http://127.0.0.1:{api.port}"
    assert api.request("GET", "/openapi.json", headers={"Authorization": "Bearer wrong"}).status == 200


def test_the_document_has_a_head_without_a_body(api: Api) -> None:
    answer = api.request("HEAD", "/openapi.json")
    assert (answer.status, answer.body) == (200, b"")


def test_the_document_refuses_other_methods(api: Api) -> None:
    answer = api.request("DELETE", "/openapi.json", headers=api.bearer)
    assert answer.number is ErrorNumber.METHOD_NOT_ALLOWED
    assert answer.headers["Allow"] == "GET, HEAD"
    assert api.request("DELETE", "/openapi.json").number is ErrorNumber.TOKEN_MISSING


def test_the_document_is_that_of_the_contract() -> None:
    document = build_openapi_document()
    assert document["openapi"] == "3.1.0"
    assert document["info"]["version"] == "1.0.0"
    assert list(document["paths"]) == ["/plants"]
    assert list(document["paths"]["/plants"]) == ["post"]
    assert document["security"] == [{"bearerAuth": []}]
    assert document["components"]["securitySchemes"] == {"bearerAuth": {"type": "http", "scheme": "bearer"}}
    assert _CREATE["requestBody"]["required"] is True
    assert _content(_CREATE["requestBody"]) == "NewPlant"
    assert _content(_CREATE["responses"]["200"]) == "Plant"
    assert _CREATE["responses"]["400"]["description"] == "unexpected error"


def test_the_document_follows_the_rules_of_linters() -> None:
    """Redocly's and Spectral's recommended rules."""
    document = build_openapi_document()
    assert document["servers"][0]["url"] == "http://127.0.0.1:8721"
    assert document["info"]["license"]["identifier"] == "MIT"
    assert document["info"]["contact"]["url"]
    assert _CREATE["tags"] == [tag["name"] for tag in document["tags"]]


def test_the_examples_are_accepted_and_returned(serve: Serve) -> None:
    api = serve()
    answer = api.post(_CREATE["requestBody"]["content"]["application/json"]["example"])
    assert (answer.status, answer.json) == (200, _CREATE["responses"]["200"]["content"]["application/json"]["example"])
    for status in ("400", "401", "408", "500", "503"):
        example = _CREATE["responses"][status]["content"]["application/json"]["example"]
        assert example["error"] // 100 == int(status)


def test_the_schemas_are_those_of_the_contract() -> None:
    new, plain, error = (_SCHEMAS[name] for name in ("NewPlant", "Plant", "Error"))
    kinds = {name: (field["type"], field.get("format")) for name, field in new["properties"].items()}
    assert kinds == {"id": ("integer", "int64"), "name": ("string", None), "tag": ("string", None)}
    assert (new["required"], plain["required"]) == (["id", "name"], ["name"])
    assert list(plain["properties"]) == ["name", "tag"]
    assert error["required"] == ["error", "message"]
    assert (error["properties"]["error"]["type"], error["properties"]["error"]["format"]) == ("integer", "int32")


@pytest.mark.parametrize("status", [400, 401, 408, 500, 503])
def test_every_failure_of_the_operation_is_declared_as_an_error(status: int) -> None:
    assert _content(_CREATE["responses"][str(status)]) == "Error"


def test_every_error_number_is_documented() -> None:
    documented = _SCHEMAS["Error"]["properties"]["error"]["description"]
    for number in ErrorNumber:
        assert f"| {int(number)} | {number.meaning} |" in documented


def _content(part: dict[str, Any]) -> str:
    assert list(part["content"]) == ["application/json"]
    reference: str = part["content"]["application/json"]["schema"]["$ref"]
    return reference.removeprefix("#/components/schemas/")


# --- what is declared is what is enforced, in both directions -----------------------------------------------------


#: Before each case, so that the ids of earlier ones are unused.
_DELETE = "DELETE FROM plant"


def test_schemathesis_finds_no_difference(serve: Serve) -> None:
    api = serve()
    few = cases.number(0) == 0
    config: dict[str, Any] = {
        "generation": {"mode": "all", "deterministic": few, "max-examples": cases.number(150), "database": "none"},
        "auth": {"openapi": {"bearerAuth": {"bearer": api.token}}},
    }
    url = f"http://127.0.0.1:{api.port}/openapi.json"
    if few:
        config["seed"] = 1
    schema = schemathesis.openapi.from_url(url, config=schemathesis.Config.from_dict(config))
    options: dict[str, Any] = {"isolation_level": None, "check_same_thread": False, "timeout": SECONDS}
    with closing(sqlite3.connect(api.path, **options)) as database:
        empty = schemathesis.hook("before_call")(lambda context, case, kwargs: database.execute(_DELETE))  # noqa: ARG005
        try:
            failures, statuses, calls = _outcome(list(from_schema(schema).execute()))
        finally:
            schemathesis.hooks.unregister(empty)
    assert failures == []
    assert statuses >= {200, 400, 401, 405}
    assert calls >= cases.number(150)
    print(f"{calls} cases, 0 differences")  # noqa: T201 - pytest -s shows the figure


def _outcome(emitted: list[Any]) -> tuple[list[object], set[int], int]:
    failures: list[object] = [event for event in emitted if isinstance(event, events.NonFatalError | events.FatalError)]
    statuses, calls = set(), 0
    for event in emitted:
        if isinstance(event, events.ScenarioFinished):
            statuses |= {value.response.status_code for value in event.recorder.interactions.values() if value.response}
            calls += len(event.recorder.interactions)
            checks = (check for checks in event.recorder.checks.values() for check in checks)
            failures += [check.failure_info for check in checks if check.failure_info]
    return failures, statuses, calls
