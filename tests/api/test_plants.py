import itertools
import json

import pytest

from plantdesk.domain.errors import ErrorNumber
from tests.api.client import Api

_ids = itertools.count(1)


@pytest.fixture
def new_id() -> int:
    return next(_ids)


# --- what is taken -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("Fern", "shade"),
        ("Fern", None),
        ("", ""),
        (" ", "\t\n"),
        ("a\0b", "\0"),
        ("🌵" * 100, "Grünlilie \u200f\u05e2\u05d1"),
        ('"\\/\u2028', "\ufeff"),
        ("x" * 100_000, "y" * 100_000),
    ],
)
def test_a_plant_is_stored_exactly_as_sent_and_answered(api: Api, new_id: int, name: str, tag: str | None) -> None:
    fields = {"name": name} if tag is None else {"name": name, "tag": tag}
    answer = api.post({"id": new_id, **fields})
    assert (answer.status, answer.json) == (200, fields)
    assert api.stored()[new_id] == (name, tag)


@pytest.mark.parametrize("written", ["{}", "{}.0", "{}e0", "{}0E-1"])
def test_an_integer_may_have_any_notation(api: Api, new_id: int, written: str) -> None:
    assert api.post(f'{{"id": {written.format(new_id)}, "name": "Fern"}}'.encode()).status == 200
    assert new_id in api.stored()


def test_an_id_that_is_no_float_is_exact(api: Api) -> None:
    assert api.post(b'{"id": 9007199254740993.0, "name": "Exact"}').status == 200
    assert 9007199254740993 in api.stored()


def test_unknown_members_are_ignored(api: Api, new_id: int) -> None:
    body = rb'{"id": %d, "name": "Fern", "x": [1.5, 1e999999999, {"a": 1, "a": 2}], "y": null, "\ud800": "\ud800"}'
    answer = api.post(body % new_id)
    assert (answer.status, answer.json) == (200, {"name": "Fern"})


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON", "application/json;charset=x"])
def test_the_content_type_may_have_parameters_and_any_case(api: Api, new_id: int, kind: str) -> None:
    assert api.post({"id": new_id, "name": "Fern"}, content_type=kind).status == 200


def test_a_query_is_ignored(api: Api, new_id: int) -> None:
    body = json.dumps({"id": new_id, "name": "Fern"}).encode()
    headers = {**api.bearer, "Content-Type": "application/json"}
    assert api.request("POST", "/plants?a=b", body, headers).status == 200


def test_a_body_of_exactly_1_mib_passes(api: Api, new_id: int) -> None:
    assert api.post(f'{{"id": {new_id}, "name": "Fern"}}'.encode().ljust(1_048_576)).status == 200


def test_a_chunked_body_of_exactly_1_mib_passes_and_a_byte_more_does_not(api: Api, new_id: int) -> None:
    body = f'{{"id": {new_id}, "name": "Fern"}}'.encode().ljust(1_048_576)
    head = api.head("Transfer-Encoding: chunked", "Connection: close")
    (answer,) = api.exchange(head, b"100000\r\n", body, b"\r\n0\r\n\r\n")
    assert answer.status == 200
    (answer,) = api.exchange(head, b"100001\r\n", body, b" \r\n0\r\n\r\n")
    assert answer.number is ErrorNumber.BODY_TOO_LARGE


# --- the same again, and taken ids -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("there", "sent", "expected"),
    [
        ({"name": "Fern", "tag": "shade"}, {"name": "Fern"}, "“Fern” with tag “shade”."),
        ({"name": "Fern", "tag": "shade"}, {"name": "Fern", "tag": "sun"}, "“Fern” with tag “shade”."),
        ({"name": "Fern"}, {"name": "Fern", "tag": "sun"}, "“Fern” without a tag."),
        ({"name": "Fern", "tag": ""}, {"name": "Fern"}, "“Fern” with tag “”."),
        ({"name": "Fern"}, {"name": "Aloe"}, "“Fern”."),
        ({"name": "Fern", "tag": "shade"}, {"name": "fern", "tag": "shade"}, "“Fern” with tag “shade”."),
    ],
)
def test_another_plant_with_a_used_id_is_refused_with_the_difference(
    api: Api, new_id: int, there: dict[str, str], sent: dict[str, str], expected: str
) -> None:
    api.post({"id": new_id, **there})
    answer = api.post({"id": new_id, **sent})
    assert answer.number is ErrorNumber.ID_TAKEN
    assert f"ID {new_id} already belongs to {expected}" in answer.message
    assert api.stored()[new_id] == (there["name"], there.get("tag"))


def test_responses_have_no_blanks_between_members(api: Api, new_id: int) -> None:
    assert api.post({"id": new_id, "name": "a", "tag": "b"}).body == b'{"name":"a","tag":"b"}'
    assert api.post({}).body.startswith(b'{"error":40020,"message":"')


@pytest.mark.parametrize("fields", [{"name": "Fern"}, {"name": "Fern", "tag": ""}])
def test_the_same_plant_again_changes_nothing(api: Api, new_id: int, fields: dict[str, str]) -> None:
    assert api.post({"id": new_id, **fields}).status == 200
    before = api.stored()
    answer = api.post({"id": new_id, **fields})
    assert (answer.status, answer.json) == (200, fields)
    assert api.stored() == before


# --- what is refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"name": "Fern"}', "ID is missing"),
        (b'{"id": "7", "name": "Fern"}', "the text “7”"),
        (b'{"id": true, "name": "Fern"}', "true"),
        (b'{"id": 1e1000000000, "name": "Fern"}', "It is the number 1e1000000000"),
        (b'{"id": 1e-1000000000, "name": "Fern"}', "must be a whole number"),
        (b'{"id": 9223372036854775808, "name": "Fern"}', "too large"),
        (b'{"id": -9223372036854775809, "name": "Fern"}', "too small"),
        (b'{"id": [], "name": "Fern"}', "a list"),
        (b'{"id": {}, "name": "Fern"}', "an object"),
        (b'{"id": 7}', "name is missing"),
        (b'{"id": 7, "name": {"a": 1, "a": 2}}', "an object"),
        (b'{"id": 7, "name": "Fern", "tag": null}', "leave “tag” out"),
        (b'{"id": 7, "name": "Fern", "tag": 7}', "tag must be text"),
        (rb'{"id": 7, "name": "Fern", "tag": "a\udfff"}', "tag cannot be stored"),
    ],
)
def test_an_invalid_field_is_named_with_its_value(api: Api, body: bytes, expected: str) -> None:
    answer = api.post(body)
    assert answer.number is ErrorNumber.INVALID_PLANT
    assert expected in answer.message


def test_all_invalid_fields_are_named(api: Api) -> None:
    message = api.post(b'{"id": "seven", "name": 7, "tag": null}').message
    assert "ID" in message
    assert "name" in message
    assert "tag" in message
    missing = api.post(b"{}").message
    assert "ID is missing" in missing
    assert "name is missing" in missing


@pytest.mark.parametrize(
    ("body", "number"),
    [
        (b"", ErrorNumber.NOT_JSON),
        (b"id=7&name=Fern", ErrorNumber.NOT_JSON),
        (b'{"id": 7, "name": "\xff"}', ErrorNumber.NOT_JSON),
        (b"\xef\xbb\xbf" + b'{"id": 7, "name": "Fern"}', ErrorNumber.NOT_JSON),
        (b'{"id": 7, "name": ' + b"[" * 100_000, ErrorNumber.NOT_JSON),
        (b'[{"id": 7, "name": "Fern"}]', ErrorNumber.NOT_AN_OBJECT),
        (b"null", ErrorNumber.NOT_AN_OBJECT),
        (b'{"id": 7, "id": 8, "name": "Fern"}', ErrorNumber.REPEATED_MEMBER),
        (b'{"id": ' + b"1" * 500_000 + b', "name": "Fern"}', ErrorNumber.INVALID_PLANT),
    ],
)
def test_a_body_that_is_not_a_plant_is_refused(api: Api, body: bytes, number: ErrorNumber) -> None:
    assert api.post(body).number is number


@pytest.mark.parametrize(
    "kind",
    [None, "", "text/plain", "application/x-www-form-urlencoded", "application/jsonx", "application/json, text/plain"],
)
def test_a_content_type_that_is_not_json_is_refused(api: Api, kind: str | None) -> None:
    answer = api.post({"id": 7, "name": "Fern"}, content_type=kind)
    assert answer.number is ErrorNumber.WRONG_CONTENT_TYPE
    assert "Content-Type: application/json" in answer.message


@pytest.mark.parametrize(
    "line", ["Content-Type: application/json", "Content-Encoding: gzip", "Content-Encoding: identity, gzip"]
)
def test_a_second_content_type_or_an_encoded_body_is_refused(api: Api, line: str) -> None:
    (answer,) = api.exchange(api.whole({"id": 7, "name": "Fern"}, line, "Connection: close"))
    assert answer.number is ErrorNumber.WRONG_CONTENT_TYPE


def test_a_transfer_encoding_besides_chunked_is_refused(api: Api) -> None:
    (answer,) = api.exchange(api.head("Transfer-Encoding: gzip, chunked", "Connection: close"), b"0\r\n\r\n")
    assert answer.number is ErrorNumber.WRONG_CONTENT_TYPE


@pytest.mark.parametrize("length", [1_048_577, 10**12, 10**18])
def test_too_large_a_content_length_is_refused_before_the_body_is_read(api: Api, length: int) -> None:
    (answer,) = api.exchange(api.head(f"Content-Length: {length}"))
    assert answer.number is ErrorNumber.BODY_TOO_LARGE
    assert answer.headers["Connection"] == "close"
    assert "1,048,576" in answer.message


def test_a_too_large_body_is_refused_after_it_was_sent(api: Api) -> None:
    (answer,) = api.exchange(api.head("Content-Length: 3000000"), b" " * 3_000_000)
    assert answer.number is ErrorNumber.BODY_TOO_LARGE


def test_nothing_that_was_refused_is_stored(api: Api) -> None:
    before = api.stored()
    api.post({"id": 10**6, "name": "Fern"}, content_type="text/plain")
    api.post({"id": 10**6, "name": "Fern", "tag": None})
    api.post(b'{"id": 1000000, "name": "Fern"} ]')
    api.request("PUT", "/plants", b'{"id": 1000000, "name": "Fern"}', api.bearer | {"Content-Type": "application/json"})
    assert api.stored() == before


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
def test_another_method_is_refused_with_the_allowed_ones(api: Api, method: str) -> None:
    answer = api.request(method, "/plants", b"", api.bearer)
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")
    assert answer.headers.get_content_type() == "application/json"
    assert method == "HEAD" or answer.number is ErrorNumber.METHOD_NOT_ALLOWED


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/plants/", "//plants", "/plants/7", "/Plants", "/PLANTS", "/./plants", "/docs", "*"),
        *("/plants%2F", "/plants%00", "/%FF"),
    ],
)
def test_there_is_nothing_at_another_path(api: Api, path: str) -> None:
    assert api.request("POST", path, b"{}", api.bearer).number is ErrorNumber.PATH_NOT_FOUND
