"""A proxy that adds TLS to a PostgreSQL server, as the wheel's server is built without it, and its certificates."""

import asyncio
import contextlib
import shutil
import ssl
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

_RECEIVE_SIZE = 65_536
#: The first message of a client that wants TLS: its length, and the number of the request.
_SSL_REQUEST = struct.pack("!ii", 8, 80877103)


def make_certificate(folder: Path, name: str, authority: Path | None = None) -> Path:
    """Make a certificate of a host or user, beside its key (`.key`), signed by itself or an authority."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("there is no program openssl, which makes the certificates")
    certificate = folder / f"{name}.crt"
    command = [program, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-days", "9"]
    command += ["-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"]
    command += ["-keyout", str(certificate.with_suffix(".key")), "-out", str(certificate)]
    if authority is None:
        command += ["-addext", "keyUsage=critical,digitalSignature,keyCertSign"]  # Python 3.13 asks for it
    else:
        command += ["-CA", str(authority), "-CAkey", str(authority.with_suffix(".key"))]
        command += ["-addext", "basicConstraints=critical,CA:FALSE"]
    subprocess.run(command, check=True, capture_output=True)
    certificate.with_suffix(".key").chmod(0o600)
    return certificate


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError), contextlib.closing(writer):
        while data := await reader.read(_RECEIVE_SIZE):
            writer.write(data)
            await writer.drain()


@contextmanager
def tls_proxy_to(server: int, certificate: Path, clients: Path | None = None) -> Iterator[int]:
    """Run a proxy with a certificate, and return its port; `clients` must have certificates of that authority."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError), contextlib.closing(writer):
            if await reader.readexactly(len(_SSL_REQUEST)) != _SSL_REQUEST:
                return
            writer.write(b"S")
            await writer.start_tls(context)
            to_server = await asyncio.open_connection("127.0.0.1", server)
            await asyncio.gather(_forward(reader, to_server[1]), _forward(to_server[0], writer))

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=clients)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    if clients is not None:
        context.verify_mode = ssl.CERT_REQUIRED
    with asyncio.Runner() as runner:  # ends what still runs
        loop = runner.get_loop()
        loop.set_exception_handler(lambda _loop, _context: None)  # a client that refuses the certificate
        listening = runner.run(asyncio.start_server(serve, "127.0.0.1", 0))
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        try:
            yield listening.sockets[0].getsockname()[1]
        finally:
            loop.call_soon_threadsafe(listening.close)
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
