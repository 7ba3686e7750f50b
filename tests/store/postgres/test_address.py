"""Addresses of shared stores."""

import subprocess
import sys
from pathlib import Path

import pytest

from plantdesk.cli.main import main
from plantdesk.domain.errors import StoreUnreachableError
from plantdesk.store import location_of
from plantdesk.store.postgres.address import Address, AddressSyntaxError


@pytest.mark.parametrize(
    ("url", "conninfo"),
    [
        ("postgresql://anna@desk.example/plants", {"user": "anna", "host": "desk.example", "dbname": "plants"}),
        ("postgres://desk.example/plants", {"host": "desk.example", "dbname": "plants"}),
        ("POSTGRESQL://desk.example:5433/plants", {"host": "desk.example", "port": "5433", "dbname": "plants"}),
        ("postgresql:///plants", {"dbname": "plants"}),
        (
            "postgresql:///plants?host=/run/pg&sslmode=require",
            {"dbname": "plants", "host": "/run/pg", "sslmode": "require"},
        ),
        ("postgresql://one:1,two:2/plants", {"host": "one,two", "port": "1,2", "dbname": "plants"}),
        ("postgresql://one,two:2/plants", {"host": "one,two", "port": ",2", "dbname": "plants"}),
        ("postgresql://[::1]:5432/plants", {"host": "::1", "port": "5432", "dbname": "plants"}),
        ("postgresql://[fe80::1]/plants", {"host": "fe80::1", "dbname": "plants"}),
        ("postgresql://a%40b@host/my%20plants", {"user": "a@b", "host": "host", "dbname": "my plants"}),
        ("postgresql://?service=garden", {"service": "garden"}),
    ],
)
def test_an_address_is_parsed_into_parameters_of_libpq(url: str, conninfo: dict[str, str]) -> None:
    assert Address.parse(url).conninfo == conninfo
    assert Address.parse(Address.parse(url).url).conninfo == conninfo


@pytest.mark.parametrize(
    "url", ["postgresql://anna:s%3Acret@host/plants", "postgresql://anna@host/plants?password=s:cret&sslmode=require"]
)
def test_a_password_is_used_and_never_shown(url: str) -> None:
    location = location_of(url)
    address = Address.parse(url)
    assert "s:cret" in address.conninfo.values()
    for shown in (location.url, location.name, location.key, repr(location), repr(address), str(address)):
        assert "cret" not in shown


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://a@b@c/plants",
        "postgresql://u:secret@h/pl#ants",
        "postgresql://u:sec/ret@h/plants",
        "postgresql:/u:secret@h/plants",
        "host=h user=u password=secret dbname=plants",
        "postgresql://h/p\0",
        "postgresql://u:secret/plants",
        "postgresql://h:0/plants",
        "postgresql://g,h:65536/plants",
        "postgresql://[::1]:x/plants",
        "postgresql://::1/plants",
    ],
)
def test_a_malformed_address_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(AddressSyntaxError) as refused:
        location_of(url)
    assert "secret" not in str(refused.value)


def test_a_desk_file_that_is_not_there_is_missing_not_wrong(tmp_path: Path) -> None:
    with pytest.raises(StoreUnreachableError, match="There is no file"):
        location_of(tmp_path / "none.plantdesk-store")


def test_an_unknown_parameter_is_refused_and_a_misspelt_password_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    for parameter in ("foo=bar", "PASSWORD=secret"):
        url = f"postgresql://u@127.0.0.1:1/plants?{parameter}"
        assert main(["list", "--database", url]) == 1
        main(["info", "--database", url])
    shown = "".join(capsys.readouterr())
    assert "Traceback" not in shown
    assert "secret" not in shown


def test_the_key_is_the_same_for_each_way_to_write_it() -> None:
    urls = [
        "postgresql://anna@Desk.example/plants",
        "postgres://berta@desk.example:5432/plants?sslmode=require",
        "postgresql:///plants?host=desk.example",
        "postgresql:///?host=desk.example&port=5432&dbname=plants",
    ]
    assert len({location_of(url).key for url in urls}) == 1
    assert location_of("postgresql://desk.example:5433/plants").key != location_of(urls[0]).key
    assert location_of(urls[0]).name == "plants"


def test_a_location_imports_nothing_of_the_driver() -> None:
    code = "import sys; from plantdesk.store import location_of; location_of('postgres://h').key; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "plantdesk.store.postgres.address" in done.stdout
    assert "psycopg" not in done.stdout
