"""What the server records of its requests, in memory only."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from plantdesk.domain.activity import ActivityEntry
from plantdesk.domain.errors import ErrorNumber
from plantdesk.domain.records import FORM
from plantdesk.domain.validation import new_plant
from tests.api.client import Api
from tests.api.conftest import Serve


@pytest.fixture
def served(serve: Serve) -> Api:
    return serve()


def last(api: Api) -> ActivityEntry:
    return api.server.activity.entries()[0]


def test_an_added_plant_is_recorded_with_its_token_and_id(served: Api) -> None:
    served.post({"id": 7, "name": "Aloe", "tag": "kitchen"})
    answer = last(served)
    assert answer.source is not None
    assert answer.source.label == f"tests {served.port}"
    assert (answer.status, answer.plant_id, answer.name) == (200, 7, "Aloe")
    assert (answer.reason, dict(answer.sent)) == ("", {"id": "7", "name": "Aloe", "tag": "kitchen"})
    assert served.server.activity.total == 1
    assert answer.is_new


def test_a_plant_that_was_there_already_is_recorded_as_such(served: Api) -> None:
    for _ in range(2):
        assert served.post({"id": 7, "name": "Aloe"}).status == 200
    assert [answer.is_new for answer in served.server.activity.entries()] == [False, True]
    served.store.add(new_plant({"id": 8, "name": "Fern"}), FORM).result()
    assert served.post({"id": 8, "name": "Fern"}).status == 200
    assert not last(served).is_new


def test_of_concurrent_posts_of_a_plant_one_is_recorded_as_added(served: Api) -> None:
    with ThreadPoolExecutor(8) as threads:
        posts = [threads.submit(served.post, {"id": 7, "name": "Aloe"}) for _ in range(40)]
    assert {post.result().status for post in posts} == {200}
    assert [answer.is_new for answer in served.server.activity.entries()].count(True) == 1


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        ({"id": 7, "name": "Basil"}, {"id": "7", "name": "Basil"}),
        ({"id": 9, "tag": "kitchen"}, {"id": "9", "tag": "kitchen"}),
        ({"id": 1e99, "name": "Fern"}, {"id": "1e+99", "name": "Fern"}),
        ({"id": None, "name": ["Fern"], "tag": True}, {}),
        ([7], {}),
    ],
)
def test_a_refused_plant_is_recorded_as_it_was_sent(served: Api, body: object, sent: dict[str, str]) -> None:
    served.post({"id": 7, "name": "Aloe"})
    refusal = served.post(body)
    answer = last(served)
    assert (answer.number, answer.reason) == (refusal.number, refusal.message)
    assert dict(answer.sent) == sent


def test_a_request_without_a_valid_token_has_no_source(served: Api) -> None:
    served.post({"id": 7, "name": "Aloe"}, authorization="Bearer plantdesk_unknown")
    assert (last(served).source, last(served).number) == (None, ErrorNumber.TOKEN_REFUSED)
    assert served.token not in repr(served.server.activity.entries())


def test_a_revoked_token_is_named_there_and_not_to_its_client(served: Api) -> None:
    unknown = served.post({"id": 7, "name": "Aloe"}, authorization="Bearer plantdesk_unknown")
    served.store.tokens.revoke(f"tests {served.port}").result()
    refusal = served.post({"id": 7, "name": "Aloe"})
    assert (refusal.status, refusal.message) == (unknown.status, unknown.message)
    source = last(served).source
    assert source is not None
    assert source.label == f"tests {served.port}"


def test_what_is_not_http_is_recorded(served: Api) -> None:
    served.exchange(b"no http\r\n\r\n")
    assert (last(served).source, last(served).number) == (None, ErrorNumber.MALFORMED_HTTP)


def test_only_the_last_requests_are_kept_and_long_texts_are_cut(served: Api) -> None:
    served.post({"id": 1, "name": "x" * 100_000})
    assert len(last(served).name) == 200
    served.post({"id": 1, "name": "y" * 100_000})
    assert len(last(served).sent["name"]) == 10_000
    for number in range(510):
        served.server.activity.record_refused(ErrorNumber.NOT_JSON, f"The body is not JSON: {number}.")
    refused = [answer for answer in served.server.activity.entries() if answer.number is not None]
    assert (len(refused), served.server.activity.total) == (500, 512)


def test_the_check_of_the_server_itself_and_the_document_are_not_recorded(served: Api) -> None:
    assert served.request("GET", "/openapi.json").status == 200
    assert served.server.activity.total == 0


def test_nothing_of_it_is_written_to_disk(served: Api) -> None:
    served.post({"id": "secret id", "name": "a very private name"})
    served.server.stop()
    files = [file for file in served.path.parent.rglob("*") if file.is_file()]
    assert files
    assert all(b"very private" not in file.read_bytes() for file in files)
