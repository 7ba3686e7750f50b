"""The rights of the server's users: SQL that makes roles for them, and what the user of a connection may do.

The members of the last role own the tables, so they can update them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.domain.errors import Text
from plantdesk.store.postgres.connections import RightsMissingError

if TYPE_CHECKING:
    from plantdesk.store.postgres.address import Address
    from plantdesk.store.postgres.connections import Connection

_RIGHTS = """SELECT has_table_privilege('plantdesk.plant', 'INSERT')
                    AND has_any_column_privilege('plantdesk.state', 'UPDATE'),
                    has_table_privilege('plantdesk.plant', 'DELETE')"""
_SQL = """\
-- Three roles for the users of the plant store in the database {database_text}.
--   {read_text}: reads.  {add_text}: also adds plants.  {all_text}: also changes, removes and updates the store.
-- Run it as an administrator of the server, in that database, when the store is there (plantdesk migrate --create).
-- It may be run again. Afterwards give each user a role:
--   CREATE ROLE anna LOGIN PASSWORD '…' IN ROLE {add};
BEGIN;
DO $roles$
DECLARE
    name text;
    owner name := (SELECT rolname FROM pg_roles JOIN pg_class ON relowner = pg_roles.oid
                   WHERE pg_class.oid = 'plantdesk.state'::regclass);
BEGIN
    FOREACH name IN ARRAY ARRAY[{read_text}, {add_text}, {all_text}] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', name);
        END IF;
    END LOOP;
    IF owner <> {all_text} THEN  -- who has made the store keeps all rights
        EXECUTE format('GRANT %I TO %I', {all_text}, owner);
    END IF;
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'plantdesk' LOOP
        EXECUTE format('ALTER TABLE plantdesk.%I OWNER TO %I', name, {all_text});
    END LOOP;
END
$roles$;
ALTER SCHEMA plantdesk OWNER TO {all};
GRANT CONNECT, TEMPORARY ON DATABASE {database} TO {read};
GRANT USAGE ON SCHEMA plantdesk TO {read};
GRANT SELECT ON ALL TABLES IN SCHEMA plantdesk TO {read};
ALTER DEFAULT PRIVILEGES FOR ROLE {all} IN SCHEMA plantdesk GRANT SELECT ON TABLES TO {read};
GRANT INSERT, UPDATE ON plantdesk.desk TO {read};
GRANT {read} TO {add};
GRANT INSERT ON plantdesk.plant, plantdesk.commits TO {add};
GRANT UPDATE (position, last_seq, last_change, tokens, plants) ON plantdesk.state TO {add};
GRANT UPDATE (plants_added, last_used_at) ON plantdesk.token TO {add};
GRANT {add} TO {all};
COMMIT;"""


class OnlyReadsError(RightsMissingError):
    """The server's user may read, and nothing else."""

    is_lasting = True
    text = Text("Your user may only read this shared store. Ask who administrates the server for more rights.")


class OnlyAddsError(RightsMissingError):
    """The server's user may add plants, but not change those that are there."""

    text = Text(
        "Your user may add plants to this shared store, but not change or remove them. Ask who administrates the "
        "server for more rights."
    )


def missing_rights(connection: Connection) -> RightsMissingError | None:
    """Return what the user of the connection may not do, None if nothing. Raises psycopg.Error."""
    adds, changes = connection.execute(_RIGHTS).fetchone() or (False, False)
    if not adds:
        return OnlyReadsError()
    return None if changes else OnlyAddsError()


def roles_sql(address: Address) -> str:
    """Return SQL that makes a role for each set of rights."""
    names = {"database": address.name, **{each: f"{address.name}_{each}" for each in ("read", "add", "all")}}
    quoted = {key: '"' + name.replace('"', '""') + '"' for key, name in names.items()}
    texts = {f"{key}_text": "'" + name.replace("'", "''") + "'" for key, name in names.items()}
    return _SQL.format(**quoted, **texts)
