"""Which encryption a connection needs if address, service file and environment do not specify it.

Across a network, names and passwords go only to a server with a checked certificate. On the computer itself libpq's
own default is kept.
"""

from __future__ import annotations

import atexit
import os
import re
import ssl
import tempfile
from collections.abc import Mapping
from functools import cache
from ipaddress import ip_address
from pathlib import Path

import psycopg
from psycopg import pq
from psycopg.conninfo import make_conninfo

from plantdesk.platform import paths
from plantdesk.store.postgres.address import AddressSyntaxError, ParameterError

#: libpq's default: encrypted if the server offers it, whichever server it is. In a service file or the environment
#: this value counts as no choice.
_NO_CHOICE = "prefer"
#: Certificates of the system's authorities. The OpenSSL of psycopg's wheels looks for them in a folder of its own.
_SYSTEM_FILES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


def encryption(conninfo: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of libpq to add to those of an address. Reads files, but opens no connection."""
    options = _with_defaults(conninfo)
    mode = conninfo.get("sslmode") or options.get("sslmode", _NO_CHOICE)
    if mode == _NO_CHOICE and "sslmode" not in conninfo and not _is_local(options):
        mode = "verify-full"
    if mode != "verify-full":
        return {}
    has_root = "sslrootcert" in options or _own_root().exists()
    return {"sslmode": mode} if has_root else {"sslmode": mode, "sslrootcert": _system_root()}


def is_loopback(host: str) -> bool:
    """Return whether a host is this computer: a loopback address, or the folder of a Unix domain socket."""
    if not host or host.startswith(("/", "@")) or host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _is_local(options: Mapping[str, str]) -> bool:
    hosts = options.get("host") or options.get("hostaddr", "")
    return all(map(is_loopback, hosts.split(",")))


def _with_defaults(conninfo: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters with those of service file and environment, as libpq itself resolves them.

    The invalid value ends the attempt before anything is connected to.
    """
    try:
        valid = make_conninfo(**{**conninfo, "gssencmode": "none"})
    except psycopg.ProgrammingError as error:
        name = re.search('connection option "(\\w+)"', str(error))
        raise (AddressSyntaxError() if name is None else ParameterError(name=name[1])) from None
    attempt = pq.PGconn.connect_start(valid.encode())
    try:
        return {each.keyword.decode(): each.val.decode(errors="replace") for each in attempt.info if each.val}
    finally:
        attempt.finish()


def _own_root() -> Path:
    """Return the file in which libpq looks for the user's own authorities."""
    if os.name == "nt":
        return Path(os.environ.get("APPDATA", "")) / "postgresql" / "root.crt"
    return paths.home_folder() / ".postgresql" / "root.crt"


def _system_root() -> str:
    """Return the file of the system's authorities; “system” if OpenSSL is to find them itself."""
    if "SSL_CERT_FILE" in os.environ or "SSL_CERT_DIR" in os.environ:
        return "system"
    if os.name == "nt":
        return _exported_root()
    return next((each for each in _SYSTEM_FILES if Path(each).exists()), "system")


@cache
def _exported_root() -> str:
    """Return a file with the authorities of Windows' certificate store, until the program ends."""
    authorities = ssl.create_default_context().get_ca_certs(binary_form=True)
    with tempfile.NamedTemporaryFile("w", prefix="plantdesk-", suffix=".pem", delete=False) as file:
        file.write("".join(map(ssl.DER_cert_to_PEM_cert, authorities)))
    atexit.register(Path(file.name).unlink, missing_ok=True)
    return file.name
