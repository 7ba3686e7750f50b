"""Hosts of servers: their names, and hosts that do not answer."""

from __future__ import annotations

import socket
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from plantdesk.store import location_of
from plantdesk.store.postgres.connections import HostUnknownError, ServerUnreachableError

if TYPE_CHECKING:
    from plantdesk.store.postgres.location import PostgresLocation


def test_a_store_is_opened_by_the_name_of_its_server(location: PostgresLocation) -> None:
    with closing(location_of(location.url.replace("127.0.0.1", "localhost")).open_reader()) as reader:
        assert reader.count() == 0


def test_what_cannot_be_a_name_belongs_to_no_computer() -> None:
    with pytest.raises(HostUnknownError, match=r"plants\.\.server"):
        location_of("postgresql://plants@plants..server/plants").open_reader()


@pytest.mark.network
def test_of_several_hosts_one_with_an_unknown_name_is_left_out(location: PostgresLocation) -> None:
    port = location.address.conninfo["port"]
    hosts = f"plants.invalid:{port},127.0.0.1:{port}"
    with closing(location_of(f"postgresql://plants@{hosts}/{location.name}?sslmode=disable").open_reader()) as reader:
        assert reader.count() == 0
    with pytest.raises(HostUnknownError, match=r"plants\.invalid"):
        location_of(f"postgresql://plants@plants.invalid:{port}/{location.name}").open_reader()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_host_that_is_silent_is_given_up(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(ServerUnreachableError):
            location_of(f"postgresql://plants@{host}:{port}/plants").open_reader()
