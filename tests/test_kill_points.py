"""SIGKILL before each call that changes files, while a store is opened, created, backed up, restored or replaced.

Few calls as a rule, every one with PLANTDESK_KILL_POINTS=all. Needs a C compiler (Linux): it counts the calls of libc.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.kill_points import SCENARIOS
from tests.support.samples import some

_SOURCE = Path(__file__).parent / "support" / "kill_points.c"
_ROOT = Path(__file__).parents[1]
_KILL_POINTS = os.environ.get("PLANTDESK_KILL_POINTS")
#: Every so many calls; a prime, and another first call for each number of processes.
_STEP = 1 if _KILL_POINTS == "all" else 61

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None, reason="needs Linux and a C compiler"
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("kill_points") / "kill_points.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(target), str(_SOURCE), "-ldl"], check=True)
    return target


@pytest.mark.parametrize("others", some([0, 2], 1))
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_kill_before_any_call_loses_no_acknowledged_plant(library: Path, scenario: str, others: int) -> None:
    command = [sys.executable, "-m", "tests.support.kill_points", scenario, str(1 + others), str(_STEP), str(others)]
    environment = {**os.environ, "LD_PRELOAD": str(library), "PYTHONPATH": str(_ROOT)}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=3600)
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    assert result["problems"] == [], run.stderr
    assert result["kills"] > 0
    print(result)  # noqa: T201  pytest -s shows the figures
