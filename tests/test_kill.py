"""Ends the program at a random moment while 16 connections post: SIGKILL, or SIGTERM.

PLANTDESK_KILLS sets how many rounds there are of each (100 for the figures in the README).
"""

import os
import signal
from pathlib import Path

import pytest

from tests.support.attackers import Target
from tests.support.clients import CONNECTIONS, Clients, open_rude_connections
from tests.support.programs import SERVE, WINDOW, Home, find_left_over_processes, ids_in, running
from tests.support.waiting import SECONDS

KILLS = int(os.environ.get("PLANTDESK_KILLS", "2"))
WAYS = pytest.mark.parametrize("how", [SERVE, WINDOW], ids=["serve", "window"])
POSIX = pytest.mark.skipif(os.name != "posix", reason="there are no such signals on Windows")


@pytest.fixture
def program_home(tmp_path: Path) -> Home:
    return Home(tmp_path / "program")


@WAYS
def test_acknowledged_plants_survive_a_kill(program_home: Home, how: tuple[str, ...]) -> None:
    token = program_home.new_token()
    acknowledged: set[int] = set()
    for number in range(KILLS):
        with running(program_home, how) as process:
            clients = Clients(program_home.port(process), token, number * 1_000_000, enough=50 + 350 * number // KILLS)
            clients.wait_for_enough()
            process.kill()
            clients.join()
        acknowledged |= clients.acknowledged
        found = ids_in(program_home.database)
        assert acknowledged <= found
        assert len(found - acknowledged) <= CONNECTIONS * (number + 1)  # those whose answer was on its way
    print(f"{KILLS} kills, {len(acknowledged)} plants acknowledged, 0 lost")  # noqa: T201 - pytest -s shows the figure


@POSIX
@WAYS
def test_a_stop_under_load_loses_nothing(program_home: Home, how: tuple[str, ...]) -> None:
    """What is stored is what was acknowledged: neither less nor more."""
    token = program_home.new_token()
    acknowledged: set[int] = set()
    for number in range(KILLS):
        with running(program_home, how) as process:
            port = program_home.port(process)
            clients = Clients(port, token, number * 1_000_000)
            rude = open_rude_connections(Target(port, token))
            clients.wait_for_enough()
            process.send_signal(signal.SIGTERM)
            assert process.wait(SECONDS) == 0
            clients.join()
            for connection in rude:
                connection.close()
            assert find_left_over_processes(process) == []
        acknowledged |= clients.acknowledged
        assert clients.cut_short == []
        assert acknowledged == ids_in(program_home.database)
        assert not program_home.runtime_folder.exists()
    print(f"{KILLS} ends, {len(acknowledged)} plants acknowledged, 0 lost")  # noqa: T201
