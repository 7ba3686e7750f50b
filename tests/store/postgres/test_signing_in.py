"""Encryption, certificates and passwords: what is demanded of the server, and where a password comes from."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from plantdesk.domain.errors import StoreError
from plantdesk.domain.locations import StoreLocation, is_loopback
from plantdesk.platform import passwords
from plantdesk.platform.passwords import KeyringUnusableError
from plantdesk.store import location_of
from plantdesk.store.locations import PostgresLocation
from plantdesk.store.postgres.connections import encryption_parameters
from plantdesk.store.postgres.errors import (
    EncryptionError,
    NotListedError,
    PasswordMissingError,
    ServerUnreachableError,
    SignInRefusedError,
)
from tests.support.postgres_server import PostgresServer, running_server
from tests.support.secret_service import SecretService, secret_service
from tests.support.tcp_proxy import proxy_to
from tests.support.tls_proxy import make_certificate, tls_proxy_to

HOST = "plants.example"


@pytest.fixture(autouse=True)
def user_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder, in which libpq looks for passwords, services and certificates."""
    home = tmp_path / "user"
    (home / ".postgresql").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    return home


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificate(tmp_path_factory.mktemp("certificates"), HOST)


@pytest.fixture(scope="session")
def guarded() -> Iterator[PostgresServer]:
    """A server that asks `anna` for a password, and lets others in without one."""
    with running_server() as server:
        server.execute("CREATE ROLE anna LOGIN PASSWORD 's3cret' SUPERUSER")
        server.execute("CREATE ROLE berta LOGIN")
        lines = ["host all anna all scram-sha-256", "host all plants all trust"]
        (server.folder / "data" / "pg_hba.conf").write_text("\n".join(lines))
        server.execute("SELECT pg_reload_conf()")
        yield server


def remote(location: PostgresLocation, port: int, host: str = HOST, parameters: str = "") -> StoreLocation:
    """The store as one on another computer, which is reached at this port."""
    return location_of(f"postgresql://plants@{host}:{port}/{location.name}?hostaddr=127.0.0.1{parameters}")


def opens(location: StoreLocation) -> bool:
    with closing(location.open()) as store:
        return store.write_error is None


def test_which_hosts_are_this_computer() -> None:
    own = ["", "localhost", "127.0.0.1", "127.1.2.3", "::1", "/run/postgresql"]
    assert [host for host in [*own, "plants.example", "10.0.0.1", "localhost.example"] if is_loopback(host)] == own


def test_what_is_demanded_unless_somebody_has_chosen(user_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def mode(**parameters: str) -> str | None:
        return encryption_parameters(parameters).get("sslmode")

    services = user_home / "services"
    services.write_text(f"[far]\nhost={HOST}\n[near]\nhost=localhost\n[chosen]\nhost={HOST}\nsslmode=require\n")
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    assert mode(host=HOST) == mode(host=f"localhost,{HOST}") == mode(hostaddr="10.0.0.1") == "verify-full"
    assert mode(service="far") == "verify-full"
    assert encryption_parameters({"host": HOST})["sslrootcert"]
    for free in ({"host": "localhost"}, {"host": "/run/pg"}, {"service": "near"}, {"service": "chosen"}):
        assert encryption_parameters(free) == {}
    assert encryption_parameters({"host": HOST, "sslmode": "prefer"}) == {}
    monkeypatch.setenv("PGSSLMODE", "require")
    assert encryption_parameters({"host": HOST}) == {}


def test_a_server_elsewhere_needs_encryption_and_a_trusted_certificate_of_its_name(
    postgres: PostgresServer, location: PostgresLocation, certificate: Path, user_home: Path
) -> None:
    with pytest.raises(EncryptionError, match=f"{HOST}” offers no encryption"):
        remote(location, postgres.port).open()
    assert opens(remote(location, postgres.port, parameters="&sslmode=disable"))
    with tls_proxy_to(postgres.port, certificate) as port:
        with pytest.raises(EncryptionError, match=f"{HOST}” is not trusted"):
            remote(location, port).open()
        assert opens(remote(location, port, parameters="&sslmode=require"))
        trusted = f"&sslrootcert={certificate}"
        assert opens(remote(location, port, parameters=trusted))
        with pytest.raises(EncryptionError, match=r"is not that of “other\.example”"):
            remote(location, port, "other.example", trusted).open()
        (user_home / ".postgresql" / "root.crt").write_bytes(certificate.read_bytes())
        assert opens(remote(location, port))


def test_a_client_certificate_is_libpqs(
    postgres: PostgresServer, location: PostgresLocation, certificate: Path, user_home: Path, tmp_path: Path
) -> None:
    own = make_certificate(tmp_path, "plants", certificate)
    given = f"&sslrootcert={certificate}"
    with tls_proxy_to(postgres.port, certificate, clients=certificate) as port:
        assert opens(remote(location, port, parameters=f"{given}&sslcert={own}&sslkey={own.with_suffix('.key')}"))
        own.rename(user_home / ".postgresql" / "postgresql.crt")
        own.with_suffix(".key").rename(user_home / ".postgresql" / "postgresql.key")
        assert opens(remote(location, port, parameters=given))
        with pytest.raises(EncryptionError, match="service or a certificate"):
            remote(location, port, parameters=f"{given}&sslkey={tmp_path / 'none.key'}").open()


@pytest.mark.parametrize(
    ("user", "error"), [("anna", PasswordMissingError), ("anna:wrong", SignInRefusedError), ("berta", NotListedError)]
)
def test_each_refused_login_has_its_error(guarded: PostgresServer, user: str, error: type[StoreError]) -> None:
    with pytest.raises(error) as refused:
        location_of(f"postgresql://{user}@127.0.0.1:{guarded.port}/postgres").open()
    assert type(refused.value) is error


def test_libpq_reads_password_files_and_services(
    guarded: PostgresServer, user_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = guarded.new_store().name
    passwords = user_home / ".pgpass"
    passwords.write_text(f"127.0.0.1:{guarded.port}:*:anna:s3cret\n")
    passwords.chmod(0o600)
    assert opens(location_of(f"postgresql://anna@127.0.0.1:{guarded.port}/{name}"))
    passwords.unlink()
    (user_home / ".pg_service.conf").write_text(
        f"[garden]\nhost=127.0.0.1\nport={guarded.port}\nuser=anna\npassword=s3cret\ndbname={name}\n"
    )
    assert opens(location_of("postgresql://?service=garden"))
    with pytest.raises(EncryptionError, match="service or a certificate"):
        location_of("postgresql://?service=other").open()
    monkeypatch.setenv("PGPASSWORD", "s3cret")
    assert opens(location_of(f"postgresql://anna@127.0.0.1:{guarded.port}/{name}"))


# --- the keyring ---


@pytest.fixture
def keyring() -> Iterator[SecretService]:
    with secret_service() as service:
        yield service


def anna(guarded: PostgresServer) -> PostgresLocation:
    name = guarded.new_store().name
    return PostgresLocation.parse(f"postgresql://anna@127.0.0.1:{guarded.port}/{name}")


def test_a_password_in_the_keyring_is_used_where_the_server_asks_for_one(
    guarded: PostgresServer, keyring: SecretService
) -> None:
    location = anna(guarded)
    with pytest.raises(PasswordMissingError):
        location.open()
    passwords.save_password(location.account, "s3cret")
    assert [*keyring.passwords.values()] == ["s3cret"]
    assert opens(location_of(location.url))
    passwords.save_password(location.account, "old")
    with pytest.raises(SignInRefusedError):
        location_of(location.url).open()
    assert "s3cret" not in repr(location)


def test_a_keyring_that_is_locked_missing_or_silent_holds_nothing_up(
    guarded: PostgresServer, keyring: SecretService, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = anna(guarded).account
    passwords.save_password(account, "s3cret")

    def check() -> None:
        with pytest.raises(PasswordMissingError):
            anna(guarded).open()
        with pytest.raises(KeyringUnusableError):
            passwords.save_password(account, "new")

    keyring.is_locked = True
    check()
    keyring.is_silent = True
    monkeypatch.setattr(passwords, "_TIMEOUT", 0.2)
    check()
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS")
    check()


def test_nothing_of_the_keyring_is_imported_without_need(guarded: PostgresServer) -> None:
    code = "import sys; from plantdesk.store import location_of; location_of(sys.argv[1]).open().close()"
    location = guarded.new_store()
    command = [sys.executable, "-c", f"{code}; print(*sys.modules)", location.url]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "psycopg" in done.stdout
    assert not {"jeepney", "keyring", "plantdesk.platform.passwords"} & {*done.stdout.split()}


def test_a_refused_user_is_not_tried_again_at_once(guarded: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with proxy_to(guarded.port) as proxy:
        location = location_of(f"postgresql://anna:wrong@127.0.0.1:{proxy.port}/postgres")
        with pytest.raises(SignInRefusedError):
            location.open()
        proxy.is_off = True
        with pytest.raises(SignInRefusedError):
            location.open()
        monkeypatch.setattr("plantdesk.store.postgres.connections.time.monotonic", lambda: float("inf"))
        with pytest.raises(ServerUnreachableError):
            location.open()
