"""What a run of the tests that is killed leaves is removed by the next one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import remove_folders_of_killed_runs

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a process cannot be asked for there")


def test_only_folders_of_processes_that_are_gone_are_removed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        folders = [tmp_path / f"plantdesk-tests-{pid}-x" for pid in (other.pid, os.getpid())]
        for folder in folders:
            (folder / "store").mkdir(parents=True)
        remove_folders_of_killed_runs(tmp_path)  # as a run at the same time does
        assert sorted(tmp_path.iterdir()) == sorted(folders)
        other.kill()
    remove_folders_of_killed_runs(tmp_path)
    assert [*tmp_path.iterdir()] == folders[1:]


def test_this_run_has_a_folder_of_its_process() -> None:
    assert Path(os.environ["TMPDIR"]).name.startswith(f"plantdesk-tests-{os.getpid()}-")
