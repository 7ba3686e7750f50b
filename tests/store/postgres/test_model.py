"""Three desks on one shared store beside one dict: what they do in turn is what one desk would do."""

from collections import Counter
from collections.abc import Iterable, Sequence
from unittest import mock

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule, run_state_machine_as_test
from typing_extensions import override

from plantdesk.domain.models import NewPlant
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import Source
from plantdesk.store import history
from plantdesk.store.postgres.connections import connect
from plantdesk.store.postgres.database import runner_of
from tests.support.cases import runs
from tests.support.postgres_server import PostgresServer
from tests.support.store_model import StoreBesideDict


class DesksBesideDict(StoreBesideDict):
    """Each rule is done by the desk whose turn it is."""

    server: PostgresServer

    @override
    def open_store(self) -> PlantStore:
        return self.location.open()

    @initialize()
    @override
    def open(self) -> None:
        self.location = self.server.new_store()
        self.desks = [self.open_store() for _ in range(3)]
        self.readers = [desk.reader() for desk in self.desks]
        self.take_turn(0)
        self.begin_following()

    @rule(desk=st.integers(0, 2))
    def take_turn(self, desk: int) -> None:
        self.store, self.reader = self.desks[desk], self.readers[desk]

    @rule()
    @override
    def reopen(self) -> None:
        at = self.desks.index(self.store)
        self.store.close()
        self.desks[at] = self.open_store()
        self.readers[at] = self.desks[at].reader()
        self.take_turn(at)

    @override
    def list_order(self, plants: Sequence[tuple[NewPlant, Source]]) -> Iterable[int]:
        """The second plant of an ID comes after the others: the first one may be refused for its token."""
        before, used = list[int](), Counter[int]()
        for plant, _ in plants:
            before.append(used[plant.id])
            used[plant.id] += 1
        return sorted(range(len(plants)), key=before.__getitem__)

    @rule()
    def prune(self) -> None:
        with (
            mock.patch.multiple(history, _MAX_IMAGE_BYTES=0, _PRUNED_ROWS=3),
            connect(self.location, "test") as connection,
        ):
            while history.prune(runner_of(connection)):
                pass
        self.record_pruning()

    @override
    def teardown(self) -> None:
        for desk in getattr(self, "desks", ()):
            desk.close()


def test_three_desks_beside_a_dict(postgres: PostgresServer) -> None:
    DesksBesideDict.server = postgres
    run_state_machine_as_test(DesksBesideDict, settings=runs(10))
