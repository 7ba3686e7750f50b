import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dev import find_missing_programs
from tests.use.user import Screen, User


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip these tests where there is no X server, but not in CI."""
    missing = ["X11"] if sys.platform != "linux" else find_missing_programs()
    if missing and "CI" in os.environ:
        raise pytest.UsageError(f"not installed: {', '.join(missing)}")
    for item in items if missing else []:
        item.add_marker(pytest.mark.skip(reason=f"not installed: {', '.join(missing)}"))


@pytest.fixture(scope="session")
def screen() -> Iterator[Screen]:
    screen = Screen()
    yield screen
    screen.close()


@pytest.fixture
def user(screen: Screen, tmp_path: Path) -> Iterator[User]:
    """A user in front of an empty store."""
    with User(screen, tmp_path) as user:
        yield user
