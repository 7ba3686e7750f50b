from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from plantdesk.api import runtime_file
from plantdesk.api.runtime_file import Runtime

if TYPE_CHECKING:
    from pathlib import Path

    from tests.api.conftest import Serve

STALE = Runtime("http://127.0.0.1:9", 9, 1, "plants.db", "0", "somebody")


def test_a_server_that_runs_is_found(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "runtime.json"
    api = serve(runtime_file=path)
    found = runtime_file.running(path)
    assert found is not None
    assert found.port == api.port
    api.server.stop()
    assert runtime_file.running(path) is None


def test_a_file_that_outlived_its_server_is_stale(tmp_path: Path) -> None:
    path = tmp_path / "runtime.json"
    runtime_file.write(path, STALE)
    assert runtime_file.running(path) is None


def test_a_file_whose_port_another_server_has_by_now_is_stale(serve: Serve, tmp_path: Path) -> None:
    api = serve()
    path = tmp_path / "runtime.json"
    runtime_file.write(path, STALE._replace(port=api.port))
    assert runtime_file.running(path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"port": 1}', json.dumps({**STALE._asdict(), "port": "x"})])
def test_a_file_that_is_none_of_ours_tells_of_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "runtime.json"
    path.write_text(text)
    assert runtime_file.running(path) is None
    assert runtime_file.running(tmp_path / "missing.json") is None


def test_only_the_own_file_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "runtime.json"
    runtime_file.write(path, STALE)
    runtime_file.remove(path, "somebody else")
    assert path.exists()
    runtime_file.remove(path, STALE.instance)
    assert not path.exists()
    runtime_file.remove(path, STALE.instance)
