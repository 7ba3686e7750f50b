import pytest

from plantdesk.domain.errors import ErrorNumber
from tests.api.client import Api, one_answer, plant
from tests.api.conftest import Serve

_INVALID = 'Bearer realm="plantdesk", error="invalid_token"'
_NONE_SENT = 'Bearer realm="plantdesk"'


# --- Host and Origin ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "127.0.0.1:8721", "localhost:1", "[::1]:65535", "LocalHost", "localhost:"],
)
@pytest.mark.parametrize("blanks", ["", " \t"], ids=["", "blanks"])
def test_the_names_of_this_machine_are_accepted(api: Api, host: str, blanks: str) -> None:
    (answer,) = api.exchange(api.whole(plant(), host=f"{blanks}{host}{blanks}"))
    assert answer.status == 200


@pytest.mark.parametrize(
    "host",
    [
        *(None, "", "evil.example", "localhost.evil.example", "evil-localhost", "localhost.", "user@localhost"),
        *("127.1", "127.0.0.2", "0.0.0.0", "2130706433", "0x7f.0.0.1"),  # noqa: S104  names to be refused
        *("::1", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]"),
        *("localhost:port", "localhost:80:80", "localhost, localhost", "localhost/"),
    ],
)
def test_any_other_host_is_refused(api: Api, host: str | None) -> None:
    (answer,) = api.exchange(api.whole(plant(), host=host))
    assert answer.number is ErrorNumber.HOST_REFUSED


def test_a_repeated_host_is_refused(api: Api) -> None:
    (answer,) = api.exchange(api.whole(plant(), "Host: localhost", "Connection: close"))
    assert answer.number is ErrorNumber.HOST_REFUSED


@pytest.mark.parametrize(
    ("target", "host", "number"),
    [
        *((f"{start}/plants", "evil.example", None) for start in ("http://localhost", "HTTP://127.0.0.1:8721")),
        ("http://[::1]:1/plants?x", "evil.example", None),
        ("http://evil.example/plants", "localhost", ErrorNumber.HOST_REFUSED),
        ("http://localhost/plants", None, ErrorNumber.HOST_REFUSED),
        *((f"{start}localhost/plants", "localhost", ErrorNumber.MALFORMED_HTTP) for start in ("https://", "http://a@")),
        ("/plants#there", "localhost", ErrorNumber.MALFORMED_HTTP),
    ],
)
def test_the_host_of_a_target_in_absolute_form_replaces_the_header(
    api: Api, target: str, host: str | None, number: ErrorNumber | None
) -> None:
    (answer,) = api.exchange(api.whole(plant(), target=target, host=host))
    assert answer.status == 200 if number is None else answer.number is number


def test_a_target_that_cannot_be_parsed_is_named(api: Api) -> None:
    (answer,) = api.exchange(api.whole(plant(), target="/" + "a" * 70_000))
    assert "its target is not valid" in answer.message


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost", "http://127.0.0.1:8721", ""])
def test_web_pages_are_refused(api: Api, origin: str) -> None:
    assert api.post(plant(), origin=origin).number is ErrorNumber.ORIGIN_REFUSED


@pytest.mark.parametrize("site", ["cross-site", "same-site", "same-origin", ""])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_embedded_resources_of_a_page_are_refused(api: Api, site: str, method: str) -> None:
    """Scripts, images and frames are requested without an Origin."""
    headers = {**api.bearer, "Sec-Fetch-Site": site}
    assert api.request(method, "/openapi.json", headers=headers).number is ErrorNumber.ORIGIN_REFUSED


def test_an_address_typed_into_a_browser_is_answered(api: Api) -> None:
    assert api.request("GET", "/openapi.json", headers={"Sec-Fetch-Site": "none"}).status == 200


@pytest.mark.parametrize("path", ["/openapi.json", "/nothing"])
def test_every_response_has_the_security_headers(api: Api, path: str) -> None:
    headers = api.request("GET", path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
    assert headers["Cache-Control"] == "no-store"


def test_a_preflight_gets_no_cors_headers(api: Api) -> None:
    headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    answer = api.request("OPTIONS", "/plants", headers=headers)
    assert answer.number is ErrorNumber.ORIGIN_REFUSED
    assert not any(name.lower().startswith("access-control") for name in answer.headers)


# --- tokens ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer  "])
def test_the_scheme_is_case_insensitive(api: Api, scheme: str) -> None:
    assert api.post(plant(), authorization=f"{scheme} {api.token}").status == 200


@pytest.mark.parametrize("sent", [None, "", "Bearer", "Bearer ", "Basic dTpw", "Token {token}", "{token}"])
def test_without_a_bearer_token_the_challenge_has_no_error_code(api: Api, sent: str | None) -> None:
    answer = api.post(plant(), authorization=sent and sent.format(token=api.token))
    assert answer.number is ErrorNumber.TOKEN_MISSING
    assert answer.headers.get_all("WWW-Authenticate") == [_NONE_SENT]


@pytest.mark.parametrize(
    "sent", ["x", "plantdesk_", "{token}x", "{token} x", "{token},", '"{token}"', "é", "{token}\tx"]
)
def test_an_unknown_token_is_refused_and_not_repeated(api: Api, sent: str) -> None:
    answer = api.post(plant(), authorization=f"Bearer {sent.format(token=api.token)}")
    assert answer.number is ErrorNumber.TOKEN_REFUSED
    assert answer.headers.get_all("WWW-Authenticate") == [_INVALID]
    assert api.token not in answer.message


def test_blanks_around_a_header_value_are_ignored(api: Api) -> None:
    """RFC 9110, section 5.5; llhttp removes only leading blanks."""
    request = api.whole(plant(), "Content-Encoding: identity \t", "Connection: close").replace(b"json\r", b"json\t \r")
    (answer,) = api.exchange(request.replace(api.token.encode(), api.token.encode() + b" \t"))
    assert answer.status == 200


def test_two_tokens_are_refused(api: Api) -> None:
    (answer,) = api.exchange(api.whole(plant(), f"Authorization: Bearer {api.token}", "Connection: close"))
    assert answer.number is ErrorNumber.TOKEN_REFUSED


def test_a_token_in_the_query_is_ignored(api: Api) -> None:
    for name in ("access_token", "token"):
        answer = api.request("POST", f"/plants?{name}={api.token}", b"{}", {"Content-Type": "application/json"})
        assert answer.number is ErrorNumber.TOKEN_MISSING


def test_a_revoked_token_is_refused_at_once_also_on_an_open_connection(api: Api) -> None:
    token = api.new_token("short-lived")
    with api.opened() as connection:
        request = api.whole(plant(), "Connection: keep-alive").replace(api.token.encode(), token.encode())
        connection.sendall(request)
        assert one_answer(connection).status == 200
        api.store.tokens.revoke("short-lived").result()
        connection.sendall(request)
        assert one_answer(connection).number is ErrorNumber.TOKEN_REFUSED


def test_a_used_up_token_is_refused_and_recorded(serve: Serve) -> None:
    api = serve()
    limited = f"Bearer {api.store.tokens.create('limited', max_plants=2).result().token}"
    added = [api.post({"id": plant_id, "name": "Fern"}, authorization=limited).status for plant_id in (1, 2, 1)]
    used_up = api.post({"id": 3, "name": "Moss"}, authorization=limited)
    assert added == [200, 200, 200]
    assert used_up.number is ErrorNumber.TOKEN_USED_UP
    last, *_ = api.server.activity.entries()
    assert (last.number, last.name) == (ErrorNumber.TOKEN_USED_UP, "Moss")
    assert [token.plants_added for token in api.store.tokens.list() if token.name == "limited"] == [2]


# --- the order of the checks -------------------------------------------------------------------------------------


def test_host_is_checked_first(api: Api) -> None:
    request = b"PATCH /nowhere HTTP/1.1\r\nHost: evil.example\r\nOrigin: null\r\nContent-Length: 2000000\r\n\r\n"
    (answer,) = api.exchange(request)
    assert answer.number is ErrorNumber.HOST_REFUSED


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/plants"), ("GET", "/plants"), ("POST", "/nowhere"), ("GET", "/")]
)
def test_credentials_are_checked_before_path_method_and_body(api: Api, method: str, path: str) -> None:
    assert api.request(method, path, b"{").number is ErrorNumber.TOKEN_MISSING
    wrong = {"Authorization": "Bearer x"}
    assert api.request(method, path, b"{", wrong).number is ErrorNumber.TOKEN_REFUSED


def test_path_method_and_content_type_are_checked_before_the_body(api: Api) -> None:
    assert api.request("POST", "/nowhere", b"{", api.bearer).number is ErrorNumber.PATH_NOT_FOUND
    assert api.request("PUT", "/plants", b"{", api.bearer).number is ErrorNumber.METHOD_NOT_ALLOWED
    assert api.post(b"{", content_type="text/plain").number is ErrorNumber.WRONG_CONTENT_TYPE


def test_a_refused_request_counts_as_use_of_its_token(api: Api) -> None:
    token = api.new_token("clumsy")
    assert api.post({"id": "seven"}, authorization=f"Bearer {token}").status == 400
    api.store.tokens.create("a write that comes after the note").result()
    (row,) = [row for row in api.store.tokens.list() if row.name == "clumsy"]
    assert row.last_used_at is not None
    assert row.plants_added == 0
