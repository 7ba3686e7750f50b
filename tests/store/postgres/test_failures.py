"""What happens when the server, or the way to it, fails: nothing acknowledged is lost, nothing is there twice."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from queue import SimpleQueue

import psycopg
import pytest
from psycopg.pq import TransactionStatus
from sqlalchemy import func, select

from plantdesk.domain.edits import DeleteAll, Insert, SetTag
from plantdesk.domain.errors import IdTakenError, PlantDeskError, StoreError, StoreFullError
from plantdesk.domain.protocols import PlantReader, PlantStore
from plantdesk.domain.records import COMMAND, FORM, Changes, PlantRow
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import plant_fields
from plantdesk.store import location_of
from plantdesk.store.database import TablesChangedError
from plantdesk.store.locations import PostgresLocation
from plantdesk.store.postgres import desks, transactions
from plantdesk.store.postgres import store as postgres_store
from plantdesk.store.postgres.connections import connect, execute
from plantdesk.store.postgres.database import runner_of
from plantdesk.store.postgres.errors import ServerUnreachableError
from plantdesk.store.postgres.transactions import OutcomeUnknownError
from tests.support.adding import add_each, plant
from tests.support.postgres_server import PostgresServer, running_server
from tests.support.tcp_proxy import TcpProxy, proxy_to
from tests.support.waiting import SECONDS, until


def stored(location: PostgresLocation) -> list[int]:
    """The ids in insertion order, read past the proxy."""
    with closing(location.open_reader()) as plants:
        return [row.id for page in plants.pages(Selection()) for row in page]


@pytest.fixture
def proxy(postgres: PostgresServer) -> Iterator[TcpProxy]:
    with proxy_to(postgres.port) as proxy:
        yield proxy


@pytest.fixture
def store(postgres: PostgresServer, proxy: TcpProxy, location: PostgresLocation) -> Iterator[PlantStore]:
    """A desk behind the proxy."""
    with closing(location_of(postgres.url(location.name, proxy.port)).open()) as store:
        yield store


# --- answers that are lost -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("reaches_server", [True, False])
def test_plants_whose_answer_is_lost_are_there_once(
    store: PlantStore, proxy: TcpProxy, location: PostgresLocation, *, reaches_server: bool
) -> None:
    received: SimpleQueue[Changes] = SimpleQueue()
    store.subscribe(received.put)
    store.add(plant(1, "Rose"), FORM).result(SECONDS)
    proxy.lose_answer(b"COMMIT", reaches_server=reaches_server)
    outcomes = add_each(store, [(plant(number), FORM) for number in (1, 2, 3)])
    assert proxy.has_lost
    assert [type(outcome) for outcome in outcomes] == [IdTakenError, PlantRow, PlantRow]
    assert stored(location) == [1, 2, 3]
    with closing(store.reader()) as reader:
        assert list(reader.rows([2, 3]).values()) == outcomes[1:]
    seen: list[int] = []
    while len(seen) < 3:
        seen += [row.id for row in received.get(timeout=SECONDS).added]
    assert seen == [1, 2, 3]


@pytest.mark.parametrize("reaches_server", [True, False])
def test_a_change_whose_answer_is_lost_is_made_once_or_not_at_all(
    store: PlantStore, proxy: TcpProxy, location: PostgresLocation, *, reaches_server: bool
) -> None:
    store.add(plant(1), FORM).result(SECONDS)

    def numbers() -> list[int]:
        with closing(location.open_reader()) as reader:
            return [change.number for change in reader.history()]

    writes: list[Callable[[], object]] = [
        lambda: store.apply([Insert(plant(2))], FORM).result(SECONDS).change,
        lambda: store.apply([SetTag(Selection(), "hall")], FORM).result(SECONDS).change,
        lambda: store.undo(None, FORM).result(SECONDS).change,
        lambda: store.redo(FORM).result(SECONDS).change,
    ]
    for made, write in enumerate(writes):
        proxy.lose_answer(b"COMMIT", reaches_server=reaches_server)
        assert write() is not None
        assert proxy.has_lost
        assert numbers() == [*range(made + 1, 0, -1)]


def test_an_answer_lost_during_the_retry_of_another_one_is_found(
    store: PlantStore, proxy: TcpProxy, location: PostgresLocation
) -> None:
    proxy.lose_answer(b"COMMIT")
    proxy.lose_answer(b"INSERT INTO commits")
    proxy.lose_answer(b"before_image")
    assert store.add(plant(1), FORM).result(SECONDS).id == 1
    assert proxy.has_lost
    assert stored(location) == [1]


def test_a_stored_plant_is_reported_as_stored_though_later_ones_failed(
    store: PlantStore, proxy: TcpProxy, location: PostgresLocation
) -> None:
    store.add(plant(1), FORM).result(SECONDS)
    proxy.is_off = True
    proxy.lose_answer(b"Yew", reaches_server=False)
    outcomes = add_each(store, [(plant(2), FORM), (plant(2, "Yew"), FORM), (plant(3), FORM)])
    assert [type(outcome) for outcome in outcomes] == [PlantRow, OutcomeUnknownError, PlantRow]
    assert stored(location) == [1, 2, 3]


def test_a_plant_under_the_next_free_id_and_a_token_are_made_once(
    store: PlantStore, proxy: TcpProxy, location: PostgresLocation
) -> None:
    proxy.lose_answer(b"COMMIT")
    assert store.add_as_next(plant_fields({"name": "Fern"}), COMMAND).result(SECONDS).id == 1
    proxy.lose_answer(b"COMMIT")
    token = store.tokens.create("script").result(SECONDS)
    assert [row.name for row in store.tokens.list()] == ["script"]
    assert store.tokens.list()[0] == token.row
    assert stored(location) == [1]


@pytest.mark.slow
def test_while_the_server_cannot_be_asked_the_outcome_is_unknown(
    store: PlantStore, proxy: TcpProxy, location: PostgresLocation
) -> None:
    health: SimpleQueue[StoreError | None] = SimpleQueue()
    store.subscribe_health(health.put)
    proxy.is_off = True
    proxy.lose_answer(b"COMMIT")
    failure = store.add(plant(1), COMMAND).exception(SECONDS)
    assert isinstance(failure, OutcomeUnknownError)
    assert failure.retry_after is not None
    assert isinstance(health.get(timeout=SECONDS), ServerUnreachableError)
    proxy.is_off = False
    assert health.get(timeout=SECONDS) is None
    assert store.add(plant(1), COMMAND).result(SECONDS).id == 1
    assert stored(location) == [1]


@pytest.mark.slow
def test_the_form_may_send_a_plant_again_whose_outcome_was_unknown(store: PlantStore, proxy: TcpProxy) -> None:
    for plant_id, reaches_server in ((1, True), (2, False)):
        health: SimpleQueue[StoreError | None] = SimpleQueue()
        store.subscribe_health(health.put)
        proxy.is_off = True
        proxy.lose_answer(b"COMMIT", reaches_server=reaches_server)
        assert isinstance(store.add(plant(plant_id), FORM).exception(SECONDS), OutcomeUnknownError)
        proxy.is_off = False
        while health.get(timeout=SECONDS) is not None:
            pass
        assert store.add(plant(plant_id), FORM).result(SECONDS).id == plant_id
        assert isinstance(store.add(plant(plant_id), FORM).exception(SECONDS), IdTakenError)


# --- connections that end ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_desk_goes_on_after_its_connections_were_cut(
    store: PlantStore, proxy: TcpProxy, location: PostgresLocation
) -> None:
    received: SimpleQueue[Changes] = SimpleQueue()
    store.subscribe(received.put)
    with closing(store.reader()) as reader, closing(location.open()) as other:
        for plant_id in range(1, 9, 2):
            proxy.cut()
            store.add(plant(plant_id), FORM).result(SECONDS)
            other.add(plant(plant_id + 1), FORM).result(SECONDS)
            assert reader.count() == plant_id + 1
        seen: list[int] = []
        while len(seen) < 8:
            seen += [row.id for row in received.get(timeout=SECONDS).added]
    assert seen == [*range(1, 9)]


def test_while_sessions_are_ended_again_and_again_no_plant_is_lost_or_refused(
    postgres: PostgresServer, location: PostgresLocation
) -> None:
    """Each time after another plant was added, so that a slow machine has the time for new connections."""
    added = threading.Semaphore(0)
    ending = threading.Event()

    def end_sessions() -> None:
        while added.acquire() and not ending.wait(0.01):
            postgres.execute(
                f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{location.name}'"
            )

    thread = threading.Thread(target=end_sessions)
    with closing(location.open()) as store:
        thread.start()
        try:
            for plant_id in range(1, 101):
                assert store.add(plant(plant_id), FORM).result(SECONDS).id == plant_id
                added.release()
        finally:
            ending.set()
            added.release()
            thread.join()
    assert stored(location) == [*range(1, 101)]


@pytest.mark.slow
def test_a_server_that_stops_and_starts_is_noticed_both_times() -> None:
    with running_server() as server, closing(server.new_store().open()) as store:
        health: SimpleQueue[StoreError | None] = SimpleQueue()
        store.subscribe_health(health.put)
        server.stop()
        failure = store.add(plant(1), COMMAND).exception(SECONDS)
        assert isinstance(failure, ServerUnreachableError)
        assert failure.retry_after is not None
        assert isinstance(store.write_error, ServerUnreachableError)
        assert isinstance(health.get(timeout=SECONDS), ServerUnreachableError)
        server.start()
        assert health.get(timeout=SECONDS) is None
        assert store.add(plant(1), COMMAND).result(SECONDS).id == 1


@pytest.mark.slow
def test_a_server_that_is_killed_under_load_loses_nothing_that_was_acknowledged() -> None:
    with running_server() as server:
        location = server.new_store()
        acknowledged: set[int] = set()
        ending = threading.Event()
        desks = [location.open() for _ in range(2)]

        def add(store: PlantStore, start: int) -> None:
            plant_id = start
            while not ending.is_set():
                try:
                    store.add(plant(plant_id), COMMAND).result(SECONDS)
                except PlantDeskError:
                    continue  # the same request again is safe
                acknowledged.add(plant_id)
                plant_id += 1

        threads = [
            threading.Thread(target=add, args=(desks[each % 2], each * 10**6 + 1), daemon=True) for each in range(8)
        ]
        for thread in threads:
            thread.start()
        for _ in range(3):
            count = len(acknowledged)
            until(lambda count=count: len(acknowledged) > count + 200)  # type: ignore[misc]
            server.kill()
            server.start()
        count = len(acknowledged)
        until(lambda: len(acknowledged) > count + 200)
        ending.set()
        for thread in threads:
            thread.join(SECONDS)
        for desk in desks:
            desk.close()
        ids = stored(location)
        assert len(ids) == len(set(ids))
        assert acknowledged <= set(ids)
        assert server.execute("SELECT last_seq, plants FROM plantdesk.state", location.name) == [(len(ids), len(ids))]


def test_a_server_that_is_silent_is_given_up(
    store: PlantStore, proxy: TcpProxy, location: PostgresLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "_QUICK_TIMEOUT", 0.3)
    store.add(plant(1), COMMAND).result(SECONDS)
    proxy.freeze()
    assert isinstance(store.add(plant(2), COMMAND).exception(SECONDS), OutcomeUnknownError)
    proxy.thaw()
    until(lambda: store.write_error is None)
    assert store.add(plant(2), COMMAND).result(SECONDS).id == 2
    assert stored(location) == [1, 2]


def test_a_query_is_interrupted_at_once_and_the_next_one_runs(
    postgres: PostgresServer, location: PostgresLocation
) -> None:
    with closing(location.open()) as store, closing(store.reader()) as reader, closing(store.reader()) as other:
        assert other.count() == 0
        interrupted: SimpleQueue[type[BaseException] | None] = SimpleQueue()

        def query(reader: PlantReader) -> None:
            try:
                reader.tag_counts()
            except InterruptedError as error:
                interrupted.put(type(error))
            else:
                interrupted.put(None)

        with psycopg.connect(location.url) as blocking:
            blocking.execute("LOCK TABLE plantdesk.plant IN ACCESS EXCLUSIVE MODE")
            threads = [threading.Thread(target=query, args=(each,), daemon=True) for each in (reader, other)]
            threads[0].start()
            waiting = f"SELECT 1 FROM pg_stat_activity WHERE datname = '{location.name}' AND wait_event_type = 'Lock'"
            until(lambda: len(postgres.execute(waiting)) == 1)
            threads[1].start()
            reader.interrupt()
            assert interrupted.get(timeout=SECONDS) is InterruptedError
        assert interrupted.get(timeout=SECONDS) is None


def test_closing_ends_the_query_that_runs(postgres: PostgresServer, location: PostgresLocation) -> None:
    store = location.open()
    reader = store.reader()
    assert reader.count() == 0
    ended = threading.Event()

    def query() -> None:
        with pytest.raises(StoreError):
            reader.tag_counts()
        ended.set()

    with psycopg.connect(location.url) as blocking:
        blocking.execute("LOCK TABLE plantdesk.plant IN ACCESS EXCLUSIVE MODE")
        threading.Thread(target=query, daemon=True).start()
        waiting = f"SELECT 1 FROM pg_stat_activity WHERE datname = '{location.name}' AND wait_event_type = 'Lock'"
        until(lambda: len(postgres.execute(waiting)) == 1)
        store.close()
        assert ended.wait(SECONDS)


@pytest.mark.parametrize("action", ["RETURN NULL", "RAISE EXCEPTION 'not today'"])
def test_a_plant_that_a_trigger_leaves_out_is_not_acknowledged(
    store: PlantStore, postgres: PostgresServer, location: PostgresLocation, action: str
) -> None:
    body = f"CREATE FUNCTION plantdesk.refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN {action}; END$$"
    postgres.execute(body, location.name)
    trigger = (
        "CREATE TRIGGER refusing BEFORE INSERT ON plantdesk.plant FOR EACH ROW EXECUTE FUNCTION plantdesk.refuse()"
    )
    postgres.execute(trigger, location.name)
    for add in (store.add(plant(1), COMMAND), store.add_as_next(plant_fields({"name": "Fern"}), COMMAND)):
        assert isinstance(add.exception(SECONDS), TablesChangedError)
    postgres.execute("DROP TRIGGER refusing ON plantdesk.plant", location.name)
    until(lambda: store.write_error is None)
    assert store.add(plant(2), COMMAND).result(SECONDS).id == 2
    assert stored(location) == [2]


def test_a_plant_that_breaks_a_constraint_fails_alone(
    store: PlantStore, postgres: PostgresServer, location: PostgresLocation, caplog: pytest.LogCaptureFixture
) -> None:
    received: SimpleQueue[Changes] = SimpleQueue()
    store.subscribe(received.put)
    postgres.execute("ALTER TABLE plantdesk.plant ADD CHECK (name <> 'Yew')", location.name)
    outcomes = add_each(store, [(plant(1, "Yew"), FORM), (plant(2), FORM)])
    assert [type(outcome) for outcome in outcomes] == [PlantDeskError, PlantRow]
    assert "adding 2 plants failed" in caplog.text
    assert store.add(plant(3), FORM).result(SECONDS).id == 3
    assert [row.id for row in received.get(timeout=SECONDS).added] == [2]
    assert [row.id for row in received.get(timeout=SECONDS).added] == [3]
    assert stored(location) == [2, 3]


@pytest.mark.slow
def test_a_full_disk_of_the_server_refuses_writes_until_there_is_space(
    postgres: PostgresServer, store: PlantStore, location: PostgresLocation
) -> None:
    store.add(plant(1), FORM).result(SECONDS)
    postgres.execute(
        """CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = 'disk_full'; END $$;
           CREATE TRIGGER full_disk BEFORE INSERT ON plantdesk.plant EXECUTE FUNCTION full_disk()""",
        location.name,
    )
    with pytest.raises(StoreFullError, match="The disk of the server is full"):
        store.add(plant(2), FORM).result(SECONDS)
    with closing(store.reader()) as reader:
        assert reader.count() == 1
    postgres.execute("DROP TRIGGER full_disk ON plantdesk.plant", location.name)
    store.add(plant(2), FORM).result(SECONDS)
    assert stored(location) == [1, 2]


def test_a_write_whose_answer_is_lost_is_answered_when_the_server_can_be_asked(
    store: PlantStore, proxy: TcpProxy, location: PostgresLocation
) -> None:
    healthy: SimpleQueue[StoreError | None] = SimpleQueue()
    store.subscribe(lambda _changes: None)
    store.subscribe_health(healthy.put)
    for reaches_server, name in ((True, "Fern"), (False, "Ivy")):
        proxy.is_off = True
        proxy.lose_answer(b"COMMIT", reaches_server=reaches_server)
        added = store.add_as_next(plant_fields({"name": name}), FORM)
        assert isinstance(healthy.get(timeout=SECONDS), OutcomeUnknownError)
        assert not added.done()
        proxy.is_off = False
        if reaches_server:
            assert added.result(SECONDS).name == name
        else:
            assert isinstance(added.exception(SECONDS), ServerUnreachableError)
        assert healthy.get(timeout=SECONDS) is None
    assert stored(location) == [1]


def fails(query: Callable[[], object]) -> None:
    with pytest.raises(StoreError):
        query()


@pytest.mark.slow
@pytest.mark.parametrize("busy", ["writer", "reader", "nothing"])
def test_closing_does_not_wait_for_a_server_that_hangs(
    store: PlantStore, proxy: TcpProxy, location: PostgresLocation, busy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_store, "_CLOSE_INTERVAL", 0.2)
    monkeypatch.setattr(transactions, "_SETTLE_TIMEOUT", 0.2)
    store.subscribe(lambda _changes: None)
    assert store.add(plant(1), COMMAND).result(SECONDS).id == 1
    with closing(store.reader()) as reader:
        reader.count()
        proxy.freeze()
        threads: list[threading.Thread] = []
        waiting = None
        if busy == "writer":
            waiting = store.apply([DeleteAll(Selection())], FORM)
        elif busy == "reader":
            threads.append(threading.Thread(target=fails, args=(reader.count,), daemon=True))
            threads[0].start()
        store.close()
        for thread in threads:
            thread.join(SECONDS)
            assert not thread.is_alive()
    if waiting is not None:
        assert isinstance(waiting.exception(SECONDS), StoreError)
    proxy.thaw()
    assert stored(location) == [1]


@pytest.mark.slow
def test_closing_waits_for_a_change_that_a_server_works_on(
    store: PlantStore, location: PostgresLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_store, "_CLOSE_INTERVAL", 0.1)
    assert store.add(plant(1), COMMAND).result(SECONDS).id == 1
    with psycopg.connect(location.url) as other:
        other.execute("SELECT FROM plantdesk.state FOR UPDATE")
        deleted = store.apply([DeleteAll(Selection())], FORM)
        closes = threading.Thread(target=store.close)
        closes.start()
        closes.join(1)
        assert closes.is_alive()
        assert not deleted.done()
    closes.join(SECONDS)
    assert deleted.result(SECONDS).plants == 1
    assert stored(location) == []


@pytest.mark.slow
def test_a_notification_before_the_next_attempt_does_not_end_the_writer(
    store: PlantStore, proxy: TcpProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desks, "_RETRY_DELAY", 0.01)  # it polls as soon as it is connected again
    monkeypatch.setattr(postgres_store, "_RETRY_DELAY", 1.0)
    store.subscribe(lambda _changes: None)
    proxy.is_off = True
    proxy.cut()
    with pytest.raises(ServerUnreachableError):
        store.add(plant(1), FORM).result(SECONDS)
    proxy.is_off = False
    until(lambda: store.write_error is None)
    assert store.add(plant(1), FORM).result(SECONDS).id == 1


def test_ctrl_c_during_a_statement_leaves_the_transaction_open(location: PostgresLocation) -> None:
    """SQLAlchemy would close the connection, and only its owner knows what to do with the transaction."""

    def press_ctrl_c() -> None:
        with closing(connect(location, "observer")) as other:
            sleeping = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
            until(lambda: execute(other, sleeping).fetchone() is not None)
        signal.raise_signal(signal.SIGINT)

    with closing(connect(location, "test")) as connection:
        connection.execute("BEGIN")
        runner = runner_of(connection)
        threading.Thread(target=press_ctrl_c).start()
        with pytest.raises(KeyboardInterrupt):
            runner.run(select(func.pg_sleep(SECONDS)))
        assert connection.info.transaction_status is TransactionStatus.INERROR
