"""Three PostgreSQL servers under Patroni and etcd, of which a standby takes over from a dead primary.

Needs root, and Debian's packages patroni, python3-etcd, etcd-server and postgresql.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

from tests.support.ports import free_port

_PACKAGES = "patroni python3-etcd etcd-server postgresql"
_NOBODY = 65534
#: Seconds until a server that does not return is copied anew, and until waiting is given up.
_COPY_AFTER, _PATIENCE = 20, 300
_USER, _PASSWORD = "postgres", "of-this-test"
#: Strict: else a primary acknowledges what no other server has while there is no standby, and loses it with a failover.
#: With `primary_start_timeout` 0 a standby takes over at once from a primary that crashed while its Patroni runs; where
#: Patroni is dead as well, when its lease has ended, of which 20 seconds is the least.
_SETTINGS = """
scope: plants
name: n{number}
restapi: {{listen: "127.0.0.1:{api}", connect_address: "127.0.0.1:{api}"}}
etcd3: {{host: "127.0.0.1:{etcd}"}}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 1
    retry_timeout: 3
    master_start_timeout: 0
    primary_start_timeout: 0
    synchronous_mode: true
    synchronous_mode_strict: true
    postgresql: {{use_pg_rewind: false, parameters: {{max_connections: 100}}}}
  initdb: [{{encoding: UTF8}}, {{locale: C.UTF-8}}, data-checksums]
postgresql:
  listen: 127.0.0.1:{port}
  connect_address: 127.0.0.1:{port}
  data_dir: {folder}/data
  bin_dir: {programs}
  pgpass: {folder}/pgpass
  basebackup: {{checkpoint: fast}}
  remove_data_directory_on_diverged_timelines: true
  authentication:
    superuser: {{username: {user}, password: {password}}}
    replication: {{username: copier, password: {password}}}
    rewind: {{username: rewinder, password: {password}}}
  parameters: {{unix_socket_directories: "{folder}"}}
  pg_hba:
    - local all all trust
    - host all all 127.0.0.1/32 scram-sha-256
    - host replication all 127.0.0.1/32 scram-sha-256
"""


class Cluster:
    """The servers in a folder, on free ports of 127.0.0.1."""

    def __init__(self, folder: Path) -> None:
        """Start the servers, and wait until one of them takes writes and the others follow."""
        programs = max(Path("/usr/lib/postgresql").glob("*/bin"), default=None, key=lambda path: int(path.parent.name))
        if programs is None or not shutil.which("patroni") or not shutil.which("etcd") or os.geteuid():
            sys.exit(f"This needs root and Debian's packages: apt-get install {_PACKAGES}")
        etcd, peer, *ports = (free_port() for _ in range(8))
        self._folders = [folder / f"n{number}" for number in (1, 2, 3)]
        self.ports, self._apis = ports[:3], ports[3:]
        self._processes = [_start_etcd(folder, etcd, peer)]
        for number, path in enumerate(self._folders):
            path.mkdir()
            values: dict[str, object] = {
                "number": number + 1,
                "api": self._apis[number],
                "etcd": etcd,
                "port": self.ports[number],
            }
            values |= {"folder": path, "programs": programs, "user": _USER, "password": _PASSWORD}
            (path / "patroni.yml").write_text(_SETTINGS.format(**values))
            os.chown(path, _NOBODY, -1)
            self._processes.append(_start_patroni(path))
        self.wait_until_safe()

    def url(self, database: str = _USER, port: int | None = None) -> str:
        """Return the address of a database on the primary, or on the server of a port."""
        hosts = ",".join(f"127.0.0.1:{host_port}" for host_port in ([port] if port else self.ports))
        attributes = "any" if port else "read-write"
        return f"postgresql://{_USER}:{_PASSWORD}@{hosts}/{database}?target_session_attrs={attributes}"

    def wait_until_safe(self) -> None:
        """Wait until there is a primary, and a standby that has each commit before it is acknowledged.

        A server that does not follow, since its log has diverged, is copied anew, as an administrator does.
        """
        deadline, copy_at = time.monotonic() + _PATIENCE, time.monotonic() + _COPY_AFTER
        while [self._count("primary"), self._count("replica"), self._count("sync")] != [1, 2, 1]:
            if time.monotonic() > deadline:
                raise TimeoutError
            if time.monotonic() > copy_at:
                copy_at = time.monotonic() + _COPY_AFTER
                for server in range(3):
                    is_safe = self._has_role("primary", server) or self._has_role("sync", server)
                    if self._count("primary") and not is_safe:
                        self._ask(server, "reinitialize", b'{"force": true}')
            time.sleep(0.1)

    def find_primary(self) -> int:
        """Return the number of the server that takes writes."""
        return next(server for server in range(3) if self._has_role("primary", server))

    def kill(self, server: int, *, with_patroni: bool) -> None:
        """Kill a server, without a word to its clients; its Patroni as well, until `let_return`.

        A Patroni that is stopped and continued instead takes the leadership back from the new primary, whose plants
        are lost then: Debian's 3.0.2 trusts what it knew of etcd.
        """
        if with_patroni:
            self._processes[1 + server].kill()
            self._processes[1 + server].wait()
        os.kill(int((self._folders[server] / "data" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    def let_return(self, server: int) -> None:
        """Let a killed server become a standby."""
        self._processes[1 + server] = _start_patroni(self._folders[server])

    def stop(self) -> None:
        """End everything."""
        for process in reversed(self._processes):
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(30)
            process.kill()

    def _count(self, role: str) -> int:
        return sum(self._has_role(role, server) for server in range(3))

    def _has_role(self, role: str, server: int) -> bool:
        return self._ask(server, role) == 200

    def _ask(self, server: int, path: str, body: bytes | None = None) -> int:
        url = f"http://127.0.0.1:{self._apis[server]}/{path}"
        with suppress(OSError), urllib.request.urlopen(url, body, timeout=1) as answer:
            return int(answer.status)
        return 0


def _start_patroni(folder: Path) -> subprocess.Popen[bytes]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    with folder.with_suffix(".log").open("ab") as log:
        command = ["patroni", str(folder / "patroni.yml")]
        return subprocess.Popen(command, user=_NOBODY, cwd=folder, env=environment, stdout=log, stderr=log)


def _start_etcd(folder: Path, port: int, peer: int) -> subprocess.Popen[bytes]:
    client_url, peer_url = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer}"
    command = ["etcd", "--data-dir", str(folder / "etcd"), "--listen-client-urls", client_url]
    command += ["--advertise-client-urls", client_url, "--listen-peer-urls", peer_url]
    command += ["--initial-advertise-peer-urls", peer_url, "--initial-cluster", f"default={peer_url}"]
    with (folder / "etcd.log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)
