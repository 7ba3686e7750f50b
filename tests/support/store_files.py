"""Makes, damages and reads the files of stores without PlantDesk."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.hostile_stores.generator import store as store_of


def ids_in(file: Path) -> list[int]:
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return [plant_id for (plant_id,) in database.execute("SELECT id FROM plant ORDER BY id")]


def damage(path: Path) -> None:
    """Overwrite all but the first page, as a faulty disk or program may."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\x5a" * (size - 4096))


def make_older(path: Path) -> None:
    """Make a store as the first version did."""
    store_of(path, "UPDATE plant SET id = 7, tag = NULL", version=1)
