"""Three desks at once, whose connections are lost again and again: every answer is true, in one order."""

import random
import threading
import time
from contextlib import ExitStack, closing
from functools import partial

from plantdesk.domain.edits import Rewrite
from plantdesk.domain.imports import ImportRow, OnConflict
from plantdesk.domain.models import NewPlant
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import FORM
from plantdesk.domain.rewriting import RewriteRule
from plantdesk.domain.selections import Selection
from plantdesk.store.locations import PostgresLocation
from plantdesk.store.postgres.errors import ServerUnreachableError
from tests.support.operations import Kind, Outcome, User, add_registers, find_problems
from tests.support.postgres_server import PostgresServer
from tests.support.tcp_proxy import TcpProxy, proxy_to
from tests.support.waiting import SECONDS

_DESKS, _LOSSES = 3, 16
#: Seconds that 40,000 plants take by far not, unless each is compared with each.
_SOON = 30


def test_every_answer_is_true_and_all_happened_in_one_order(postgres: PostgresServer) -> None:
    database = postgres.new_store().name
    ended, chosen = threading.Event(), random.Random(1)
    with ExitStack() as stack:
        stores: list[PlantStore] = []
        proxies = [stack.enter_context(proxy_to(postgres.port)) for _ in range(_DESKS)]
        users = []
        for seed, proxy in enumerate(proxies):
            store = PostgresLocation.parse(postgres.url(database, proxy.port)).open()
            stack.callback(store.close)
            stores.append(store)
            users.append(User(store, seed))
            if seed == 0:
                add_registers(store)
        threads = [threading.Thread(target=user.work, args=(ended,), daemon=True) for user in users]
        stack.callback(ended.set)
        for thread in threads:
            thread.start()
        for _ in range(_LOSSES):
            _wait_for_more(users, threads)
            chosen.choice([_cut, _go_away, _lose_commit, _end_sessions])(chosen.choice(proxies), postgres)
        ended.set()
        for thread in threads:
            thread.join()
        for plant_id, store in enumerate(stores, -_DESKS):
            _add_in_the_end(store, plant_id)
    done = [operation for user in users for operation in user.operations]
    assert {Outcome.OK} < {each.outcome for each in done}
    assert {each.kind for each in done if each.outcome is Outcome.OK} == set(Kind)
    assert find_problems(postgres.url(database), done) == []


def test_large_changes_are_taken_back_as_fast_as_small_ones(postgres: PostgresServer) -> None:
    """The server has no statistics of rows that a transaction has just written: it compared each with each."""
    with closing(postgres.new_store().open()) as store:
        ids = range(1, 40_001)
        with closing(store.new_import()) as plants:
            plants.add([ImportRow(1, plant_id, plant_id, f"Rose {plant_id}", None, None) for plant_id in ids])
            plants.compare(OnConflict.REFUSE, ("id", "name"))
            plants.apply("roses.csv")
        store.apply([Rewrite(Selection(), RewriteRule(find="Rose", replacement="Rosa"))], FORM).result(SECONDS)
        for take_back in (partial(store.undo, None), store.redo):
            take_back(FORM).result(_SOON)
        with closing(store.reader()) as reader:
            assert {row.name for row in reader.rows([1, 40_000]).values()} == {"Rosa 1", "Rosa 40000"}


def _wait_for_more(users: list[User], threads: list[threading.Thread]) -> None:
    """Wait until each desk has done something more."""
    before = [len(user.operations) for user in users]
    while any(len(user.operations) < count + 3 for user, count in zip(users, before, strict=True)):
        assert all(thread.is_alive() for thread in threads)
        time.sleep(0.001)


def _add_in_the_end(store: PlantStore, plant_id: int) -> None:
    """Add a plant as soon as the server is reached again."""
    while True:
        try:
            store.add(NewPlant(id=plant_id, name="Rose"), FORM).result(SECONDS)
        except ServerUnreachableError:
            time.sleep(0.05)
        else:
            return


def _cut(proxy: TcpProxy, _server: PostgresServer) -> None:
    proxy.cut()


def _go_away(proxy: TcpProxy, _server: PostgresServer) -> None:
    """Let nobody reach the server for longer than a desk waits before it tries again."""
    proxy.is_off = True
    proxy.cut()
    time.sleep(0.7)
    proxy.is_off = False


def _lose_commit(proxy: TcpProxy, _server: PostgresServer) -> None:
    """Let the server commit, or not, and lose its answer."""
    proxy.lose_answer(b"COMMIT", reaches_server=bool(proxy.port % 2))


def _end_sessions(_proxy: TcpProxy, server: PostgresServer) -> None:
    server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'PlantDesk%'")
