"""The address of a database on a PostgreSQL server, with and without its secrets. It must not import the driver."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from getpass import getuser
from typing import Self
from urllib.parse import parse_qsl, quote, unquote, urlencode

from plantdesk import LARGEST_PORT
from plantdesk.domain.errors import StoreError, StoreUnreachableError
from plantdesk.domain.texts import Text

_URL = re.compile(
    r"postgres(?:ql)?://(?:(?P<user>[^:@/?#]*)(?::(?P<password>[^@/?#]*))?@)?(?P<hosts>[^@/?#]*)(?:/(?P<database>[^@?#]*))?"
    r"(?:\?(?P<parameters>[^#]*))?",
    re.IGNORECASE,
)
#: Parameters of libpq that are secrets.
_SECRET_PARAMETERS = {"password", "sslpassword", "oauth_client_secret"}
_DEFAULT_PORT = "5432"
#: Characters of a desk's name.
_MAX_DESK_LENGTH = 60


class ParameterError(StoreUnreachableError):
    """libpq knows no parameter of this name, or not this value. The message has no value: it may be a secret."""

    text = Text(
        "PostgreSQL does not know the parameter “{name}” in the address of the shared store, or not its value. Correct "
        "it or leave it out."
    )


class AddressSyntaxError(StoreUnreachableError):
    """The address of a shared store is not well-formed. The message does not repeat it: it may hold a password."""

    text = Text("This is no address of a shared store. Write it as postgresql://user@host/database.")


@dataclass(frozen=True)
class Address:
    """The address of a database on a server. `secrets` are never part of what is shown or stored."""

    user: str
    hosts: str
    database: str
    parameters: tuple[tuple[str, str], ...] = ()
    secrets: tuple[tuple[str, str], ...] = field(default=(), repr=False, compare=False)

    @classmethod
    def parse(cls, url: str) -> Self:
        """Parse a URL of libpq, such as postgresql://user@host/database. Raises AddressSyntaxError."""
        match = _URL.fullmatch(url)
        if match is None or "\0" in url:
            raise AddressSyntaxError
        parts = match.groupdict("")
        if not all(map(_has_matching_brackets, parts["hosts"].split(","))):
            message = Text("Brackets are only around an IPv6 address, both of them: postgresql://user@[::1]/database.")
            raise AddressSyntaxError(message)
        if not all(map(_has_valid_port, parts["hosts"].split(","))):
            message = Text("A port is a number from 1 to 65535: postgresql://user@host:5432/database.")
            raise AddressSyntaxError(message)
        pairs = parse_qsl(parts["parameters"], keep_blank_values=True)
        secrets = {name: value for name, value in pairs if _is_secret(name)}
        if parts["password"]:
            secrets["password"] = unquote(parts["password"])
        parameters = tuple((name, value) for name, value in pairs if not _is_secret(name))
        user, hosts, database = (unquote(parts[part]) for part in ("user", "hosts", "database"))
        return cls(user, hosts, database, parameters, tuple(secrets.items()))

    @property
    def url(self) -> str:
        """The address as a URL of libpq, without its secrets."""
        user = f"{quote(self.user, safe='')}@" if self.user else ""
        parameters = f"?{urlencode(self.parameters)}" if self.parameters else ""
        return f"postgresql://{user}{quote(self.hosts, safe=',:[]')}/{quote(self.database, safe='')}{parameters}"

    @property
    def name(self) -> str:
        """The name of the database; without one, that of the user, as libpq does."""
        return self.database or dict(self.parameters).get("dbname") or self.user or "PostgreSQL"

    @property
    def server(self) -> str:
        """The first host, as a message names it."""
        return self.conninfo.get("host", "").split(",")[0] or "localhost"

    @property
    def is_encrypted(self) -> bool:
        """Whether every connection is encrypted, as far as the address says."""
        from plantdesk.domain.locations import is_loopback

        mode = dict(self.parameters).get("sslmode", "prefer" if is_loopback(self.server) else "verify-full")
        return mode not in {"disable", "allow", "prefer"}

    @cached_property
    def desk(self) -> str:
        """The name of this desk: `application_name` of the address, else what the user has set, else the computer's.

        Window and commands of a user have the same name, so that each can undo what the other did.
        """
        import platform

        from plantdesk.platform.settings import read_saved

        name = dict(self.parameters).get("application_name", "").strip()
        return (name or read_saved().computer_name.strip() or platform.node() or "PlantDesk")[:_MAX_DESK_LENGTH]

    @cached_property
    def refusals(self) -> list[tuple[StoreError, float]]:
        """The last refusal to sign in, and the monotonic time of a retry: servers ban too many. `connect` sets it."""
        return []

    @cached_property
    def key(self) -> str:
        """Servers, database and service, independent of the user and the other parameters."""
        parameters = dict(self.parameters)
        hosts = self.hosts or ",".join(
            f"{host}:{port}" if port else host
            for host, port in zip(
                parameters.get("host", "").split(","),
                (parameters.get("port", "") + "," * parameters.get("host", "").count(",")).split(","),
                strict=False,
            )
        )
        servers = sorted(host.lower().removesuffix(f":{_DEFAULT_PORT}") for host in hosts.split(","))
        service = f"?service={parameters['service']}" if "service" in parameters else ""
        return f"postgresql://{','.join(servers)}/{self.name}{service}"

    @property
    def account(self) -> str:
        """The name under which the keyring keeps the password: the user and the server."""
        return f"{self.user}@{self.key.removeprefix('postgresql://')}"

    @cached_property
    def saved_password(self) -> str | None:
        """The password in the system's keyring, which is asked once, for 3 s at most."""
        from plantdesk.platform.passwords import load_password

        return load_password(self.account)

    def with_password(self, password: str) -> Self:
        """Return the address with this password instead of any other; an empty one removes the password."""
        secrets = {**dict(self.secrets), "password": password} if password else {}
        return replace(self, secrets=tuple(secrets.items()))

    @property
    def conninfo(self) -> dict[str, str]:
        """The parameters for libpq, with the secrets: not to be shown."""
        named = {"user": self.user, "dbname": self.database, **self._split_hosts()}
        from_keyring = {"password": self.saved_password} if vars(self).get("saved_password") else {}
        parameters = dict((*self.parameters, *self.secrets))
        return {**{name: value for name, value in {**named, **from_keyring}.items() if value}, **parameters}

    def setup_sql(self) -> str:
        """Return the SQL with which an administrator makes user and database; the password is left out."""
        user, database = map(_quote_identifier, (self.user or getuser(), self.name))  # as libpq signs in
        return (
            f"CREATE ROLE {user} LOGIN PASSWORD '…';\n"
            f"CREATE DATABASE {database} OWNER {user} ENCODING 'UTF8' TEMPLATE template0;"
        )

    def hba_line(self, client: str) -> str:
        """Return the line of pg_hba.conf that admits the user from the address `client`, or from the same network."""
        kind = "hostssl" if self.is_encrypted else "host"
        names = (
            name if re.fullmatch(r"[\w.-]+", name) else f'"{name}"' for name in (self.name, self.user or getuser())
        )
        network = f"{client}/{128 if ':' in client else 32}" if client else "samenet"
        return f"{kind}  {'  '.join(names)}  {network}  scram-sha-256"

    def _split_hosts(self) -> dict[str, str]:
        """Return the lists of hosts and ports as parameters of libpq; brackets around IPv6 addresses are left out."""
        hosts = []
        ports = []
        for address in self.hosts.split(","):
            host, colon, port = address.rpartition(":")
            is_port = bool(colon) and not port.endswith("]")
            hosts.append((host if is_port else address).strip("[]"))
            ports.append(port if is_port else "")
        return {"host": ",".join(hosts), "port": ",".join(ports) if any(ports) else ""}


def _has_matching_brackets(host: str) -> bool:
    return not {"[", "]"} & set(host) or re.fullmatch(r"\[[^\[\]]+\](:\d*)?", host) is not None


def _is_secret(parameter: str) -> bool:
    """Return whether the value must not be shown. That includes misspelt parameters, which libpq refuses."""
    name = parameter.lower()
    return name in _SECRET_PARAMETERS or ("pass" in name and name != "passfile")


def _quote_identifier(name: str) -> str:
    return name if re.fullmatch("[a-z_][a-z0-9_]*", name) else '"{}"'.format(name.replace('"', '""'))


def _has_valid_port(host: str) -> bool:
    port = re.sub(r"\[.*\]", "", host).partition(":")[2]
    return not port or (port.isascii() and port.isdecimal() and 0 < int(port[:6]) <= LARGEST_PORT)
