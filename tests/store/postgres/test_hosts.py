"""Names of servers: which addresses they get, and name servers that do not answer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from plantdesk.store import location_of
from plantdesk.store.postgres.connections import HostUnknownError, addresses
from tests.support.waiting import SECONDS

if TYPE_CHECKING:
    from plantdesk.store.postgres.location import PostgresLocation


@pytest.fixture
def silence(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let no name server answer for names that end in `.silent`."""
    end, resolve = threading.Event(), socket.getaddrinfo

    def wait_for_ever(host: str, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  those of the original
        if host.endswith(".silent"):
            end.wait(SECONDS)
            raise socket.gaierror
        return resolve(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", wait_for_ever)
    yield
    end.set()


@pytest.mark.parametrize("host", ["", "/run/postgresql", "127.0.0.1", "::1", "fe80::1%lo", "127.0.0.1,::1"])
def test_what_is_no_name_is_left_alone(host: str) -> None:
    assert addresses({"host": host, "port": "1"}, SECONDS) == {}


def test_each_address_of_each_host_gets_the_port_of_its_host() -> None:
    found = addresses({"host": "localhost,/run/postgresql,127.0.0.9", "port": "1,2,3"}, SECONDS)
    hosts, numbers, ports = (found[name].split(",") for name in ("host", "hostaddr", "port"))
    entries = list(zip(hosts, numbers, ports, strict=True))
    assert ("localhost", "127.0.0.1", "1") in entries
    assert entries[-2:] == [("/run/postgresql", "", "2"), ("127.0.0.9", "127.0.0.9", "3")]


def test_a_store_is_opened_by_the_name_of_its_server(location: PostgresLocation) -> None:
    with closing(location_of(location.url.replace("127.0.0.1", "localhost")).open_read_only()) as plants:
        assert plants.reader().count() == 0


@pytest.mark.usefixtures("silence")
def test_a_silent_name_server_is_given_up_and_other_hosts_are_tried(location: PostgresLocation) -> None:
    port = location.address.conninfo["port"]
    with pytest.raises(HostUnknownError, match=r"plants\.silent"):
        location_of(f"postgresql://plants@plants.silent:{port}/{location.name}").open_read_only()
    hosts = f"plants.silent:{port},127.0.0.1:{port}"
    with closing(
        location_of(f"postgresql://plants@{hosts}/{location.name}?sslmode=disable").open_read_only()
    ) as plants:
        assert plants.reader().count() == 0
