"""Golden dumps of the schema of each version of a store, in `tests/store/schemas`.

`python -m tests.support.schemas` writes them anew.
"""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

from plantdesk.store.postgres import schema
from plantdesk.store.sqlite import migrations
from tests.support.postgres_server import PostgresServer, running_server

FOLDER = Path(__file__).parents[1] / "store" / "schemas"

_COLUMNS = """
    SELECT concat_ws(' ', table_name, column_name, data_type, 'COLLATE ' || collation_name,
                     'DEFAULT ' || column_default, CASE is_nullable WHEN 'NO' THEN 'NOT NULL' END,
                     'IDENTITY ' || identity_start, 'AS ' || generation_expression)
    FROM information_schema.columns WHERE table_schema = 'plantdesk' ORDER BY table_name, ordinal_position"""
_CONSTRAINTS = """
    SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
    WHERE connamespace = 'plantdesk'::regnamespace AND contype <> 'n' ORDER BY 1"""
_INDEXES = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'plantdesk' ORDER BY 1"
_OPTIONS = """
    SELECT concat_ws(' ', relname, reloptions) FROM pg_class
    WHERE relnamespace = 'plantdesk'::regnamespace AND relkind = 'r' ORDER BY 1"""


def of_file(connection: sqlite3.Connection) -> str:
    """Return the statements of a schema, with single blanks, a line for each."""
    rows = connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC, name")
    return "".join(f"{' '.join(sql.split())}\n" for (sql,) in rows)


def of_server(connection: psycopg.Connection[Any]) -> str:
    """Return columns, constraints, indexes and options of all tables, a line for each."""
    connection.execute("SET search_path = plantdesk")
    found = (connection.execute(query.encode()).fetchall() for query in (_COLUMNS, _CONSTRAINTS, _INDEXES, _OPTIONS))
    return "\n".join("".join(f"{line}\n" for (line,) in rows) for rows in found)


def migrated_file(version: int) -> str:
    """Return the schema of a file after all steps to a version."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrations.apply_steps(connection, 0, version)
        return of_file(connection)


def migrated_server(server: PostgresServer, version: int) -> str:
    """Return the schema of a server after all steps to a version."""
    with psycopg.connect(server.url(server.new_database())) as connection:
        connection.execute("SET search_path = plantdesk")
        schema.apply_steps(connection, 0, version)
        return of_server(connection)


def main() -> None:
    """Write the dumps anew."""
    for version in range(1, migrations.SCHEMA_VERSION + 1):
        (FOLDER / f"sqlite-{version}.txt").write_text(migrated_file(version), encoding="utf-8")
    with running_server() as server:
        for version in range(1, schema.SCHEMA_VERSION + 1):
            (FOLDER / f"postgres-{version}.txt").write_text(migrated_server(server, version), encoding="utf-8")
    sys.stdout.write(f"{FOLDER}\n")


if __name__ == "__main__":
    main()
