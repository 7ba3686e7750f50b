"""Kills the primary of a PostgreSQL cluster under load, and compares the store with what desks were told.

    python -m tests.failover [--rounds 50]

Three servers run under Patroni. On two desks `plantdesk serve` takes posts, on three others plants are added, edited,
undone and read. In each round the primary is killed, in every fifth with its Patroni, as if the machine were gone. No
acknowledged plant may be missing, none may be there twice, edits and undo must have happened in one order
(`tests/support/operations`), the API must answer 200 or 503 with Retry-After, and each desk must go on within 2 s of
the cluster: a client of psycopg alone writes all the time, since a cluster that assigns its standby anew takes a write
and then none for two or three seconds. Needs root and Debian's packages of Patroni, etcd and PostgreSQL. Not part of
the test suite.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import psycopg

from plantdesk.store.locations import PostgresLocation
from tests.support.operations import Kind, Operation, Outcome, User, add_registers, find_problems
from tests.support.patroni import Cluster
from tests.support.programs import post

_ROOT = Path(__file__).parents[1]
_API_DESKS, _DESKS = 2, 3
#: Of so many rounds one ends Patroni as well.
_EVERY = 5
#: Seconds between two writes of the plain client, and for which one of them waits where the cluster pauses.
_PAUSE, _NOTICED = 0.02, 0.3
#: Seconds of load before a kill, within which a desk must go on, and after which a run is given up.
_LOAD, _LIMIT, _PATIENCE = 1.0, 2.0, 120.0
_FIRST_POSTED = 1_000_000


class Poster:
    """A script that posts plants to a desk's API, each again until it is there."""

    def __init__(self, number: int, url: str, home: Path) -> None:
        environment = {**os.environ, "PLANTDESK_HOME": str(home), "PYTHONPATH": str(_ROOT)}
        command = [sys.executable, "-m", "plantdesk"]
        create = [*command, "token", "create", f"script {number}", "--database", url]
        made = subprocess.run(create, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        self._token = made.stdout.strip()
        serve = [*command, "serve", "--port", "0", "--database", url]
        self.process = subprocess.Popen(serve, env=environment, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline() if self.process.stdout is not None else ""
        self._port = int(line.rsplit(":", 1)[1].split("/")[0].split()[0])
        self._next = _FIRST_POSTED * (number + 1)
        self.operations: list[Operation] = []
        self.answers: Counter[str] = Counter()

    def work(self, ended: threading.Event) -> None:
        """Post one plant after the other."""
        while not ended.is_set():
            self._next += 1
            operation = Operation(Kind.ADD, self._next, f"posted {self._next}")
            self.operations.append(operation)
            while not ended.is_set():
                if self._post(operation) == 200:
                    operation.end(Outcome.OK)
                    break
                ended.wait(0.05)

    def _post(self, operation: Operation) -> int:
        try:
            answer = post(self._port, self._token, {"id": operation.plant, "name": operation.value})
        except OSError as error:
            self.answers[type(error).__name__] += 1
            return 0
        waits = "" if answer.retry_after is None else " with Retry-After"
        self.answers[f"{answer.status}{waits}"] += 1
        return answer.status


class PlainClient:
    """Writes rows without PlantDesk, one after the other, to whichever server takes them."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        #: Of each acknowledged write, when its connection was opened, when it was begun and when it ended.
        self.writes: list[tuple[float, float, float]] = []

    def work(self, ended: threading.Event) -> None:
        """Write until the end."""
        while not ended.is_set():
            for port in self._cluster.ports:
                url = self._cluster.url("plants", port)
                with suppress(psycopg.Error), closing(psycopg.connect(url, connect_timeout=2)) as connection:
                    connection.autocommit, opened = True, time.monotonic()
                    connection.execute("CREATE TABLE IF NOT EXISTS public.probe ()")
                    while not ended.wait(_PAUSE):
                        begun = time.monotonic()
                        connection.execute("INSERT INTO public.probe DEFAULT VALUES")
                        self.writes.append((opened, begun, time.monotonic()))
            ended.wait(_PAUSE)

    def first_write(self, since: float) -> float:
        """Wait for a write on a connection that was opened after `since`, and return when it was acknowledged.

        A process of the server may outlive its kill for a moment. Raises TimeoutError.
        """
        while time.monotonic() < since + _PATIENCE:
            for opened, _, ended in self.writes[-100:]:
                if opened > since:
                    return ended
            time.sleep(_PAUSE)
        raise TimeoutError

    def last_pause(self, since: float) -> float:
        """Return when the last write that took long after `since` was acknowledged; `since` without one."""
        slow = (ended for _, begun, ended in self.writes if begun >= since and ended - begun > _NOTICED)
        return max(slow, default=since)


class Failover:
    """A run."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        """Open the store on all desks, and begin to use it."""
        self._cluster = cluster
        with psycopg.connect(cluster.url(), autocommit=True) as connection:
            connection.execute("CREATE DATABASE plants")
        self._url = cluster.url("plants")
        self._stores = [PostgresLocation.parse(self._url).open(create=True) for _ in range(_DESKS)]
        add_registers(self._stores[0])
        self._users = [User(store, seed) for seed, store in enumerate(self._stores)]
        self._posters = [Poster(number, self._url, folder / f"home{number}") for number in range(_API_DESKS)]
        self._ended = threading.Event()
        self._plain = PlainClient(cluster)
        self._delays: list[float] = []
        self._takeovers: list[float] = []
        self._desks: list[User | Poster] = [*self._users, *self._posters]
        workers = [*self._desks, self._plain]
        self._threads = [threading.Thread(target=worker.work, args=(self._ended,), daemon=True) for worker in workers]
        for thread in self._threads:
            thread.start()
        self._threads.pop()  # the plain client waits for an answer as long as the cluster does

    def rounds(self, count: int) -> list[str]:
        """Take so many rounds; return why they have ended earlier, where they did."""
        for number in range(1, count + 1):
            try:
                self._round(number)
            except TimeoutError:
                return [f"the cluster did not become safe before round {number}"]
        return []

    def _round(self, number: int) -> None:
        """Kill the primary, and measure until another one is there and every desk writes to it."""
        self._cluster.wait_until_safe()
        time.sleep(_LOAD)
        before, with_patroni = self._cluster.find_primary(), number % _EVERY == 0
        killed = time.monotonic()
        self._cluster.kill(before, with_patroni=with_patroni)
        first = self._plain.first_write(killed)
        self._takeovers.append(first - killed)
        written = [self._writes_again(desk.operations, first) for desk in self._desks]
        served = self._plain.last_pause(first)
        delays = [max(0, moment - served) for moment in written]
        self._delays += delays
        if with_patroni:
            self._cluster.let_return(before)
        listed = ", ".join(f"{delay:.2f}" for delay in delays)
        pause = f", a pause of {served - first:.1f} s" if served > first else ""
        primary = f"a primary after {first - killed:.1f} s"
        print(f"round {number}: {primary}{pause}, the desks go on after {listed} s", flush=True)

    def finish(self) -> list[str]:
        """End the use, and return what is wrong."""
        self._ended.set()
        for thread in self._threads:
            thread.join()
        self.close()
        done = [operation for desk in self._desks for operation in desk.operations]
        found = find_problems(self._url, done)
        answers = sum((poster.answers for poster in self._posters), Counter[str]())
        kinds = Counter(f"{operation.kind.name} {operation.outcome.name}" for operation in done)
        print(len(done), "operations:", dict(kinds))
        print("errors:", dict(sum((user.errors for user in self._users), Counter[str]())))
        print("answers of the API:", dict(answers))
        for event, delays in (("a new primary", self._takeovers), ("a desk goes on", self._delays)):
            print(f"{event} after {statistics.median(delays):.2f} s (median), {max(delays):.2f} s at most")
        found += [f"the API has answered {text}" for text in answers if text not in {"200", "503 with Retry-After"}]
        return found + [f"a desk went on after {delay:.1f} s" for delay in self._delays if delay > _LIMIT]

    def close(self) -> None:
        """End all desks."""
        self._ended.set()
        for poster in self._posters:
            poster.process.terminate()
            poster.process.wait(60)
        for store in self._stores:
            store.close()

    @staticmethod
    def _writes_again(operations: list[Operation], since: float) -> float:
        """Wait until a desk's write is acknowledged after `since`, and return when. Raises TimeoutError."""
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            for operation in operations[-100:]:
                if operation.kind is not Kind.READ and operation.outcome is Outcome.OK and since < operation.ended:
                    return operation.ended
            time.sleep(0.01)
        raise TimeoutError


def main() -> int:
    """Run; return 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50, metavar="N")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="plantdesk-failover-"))
    folder.chmod(0o755)
    cluster = Cluster(folder)
    try:
        run = Failover(cluster, folder)
        try:
            unsafe = run.rounds(options.rounds)
            found = [*unsafe, *run.finish()]
        finally:
            run.close()
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)
    print(*found[:20], f"{len(found)} problems", sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
