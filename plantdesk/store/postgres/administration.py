"""Makes and updates the tables of a shared store, tests an address; SQL of its roles; the rights of its user.

The role with all rights owns the tables, so that its members can update them.
"""

from __future__ import annotations

import time
from contextlib import closing

from plantdesk.domain.errors import StoreError, StoreUnreachableError
from plantdesk.domain.locations import ConnectionProbe, ConnectionStage, TablesUpdate
from plantdesk.domain.texts import Text
from plantdesk.store.postgres.address import Address
from plantdesk.store.postgres.connections import LONG_TIMEOUT, Connection, connect
from plantdesk.store.postgres.desks import read_desks
from plantdesk.store.postgres.errors import (
    DatabaseMissingError,
    EncodingRefusedError,
    EncryptionError,
    NotListedError,
    RightsMissingError,
    ServerUnreachableError,
    SignInRefusedError,
    translate_errors,
)
from plantdesk.store.postgres.schema import SCHEMA_VERSION, check_readable, migrate, read_version, write_refusal

#: The role of the connection that makes or updates the tables.
_ROLE = "migration"
_RIGHTS = """SELECT has_table_privilege('plantdesk.plant', 'INSERT')
                    AND has_any_column_privilege('plantdesk.state', 'UPDATE'),
                    has_table_privilege('plantdesk.plant', 'DELETE')"""
_ROLES_SQL = """\
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
#: Seconds that each statement of a connection test may take.
_PROBE_TIMEOUT = 5
_MAY_CREATE = "SELECT has_database_privilege(current_database(), 'CREATE')"
_DESKS = """SELECT desk FROM commits
            WHERE desk <> '' AND made_at > extract(epoch FROM date_trunc('day', now())) * 1000
            GROUP BY desk ORDER BY max(made_at) DESC LIMIT 3"""


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


def read_missing_rights(connection: Connection) -> RightsMissingError | None:
    """Return the error for what the user of the connection may not do; None if all is allowed. Raises psycopg.Error."""
    ((can_add, can_change),) = connection.execute(_RIGHTS)
    if not can_add:
        return OnlyReadsError()
    return None if can_change else OnlyAddsError()


def roles_sql(address: Address) -> str:
    """Return SQL that makes a role for each set of rights."""
    names = {"database": address.name, **{right: f"{address.name}_{right}" for right in ("read", "add", "all")}}
    quoted = {key: '"' + name.replace('"', '""') + '"' for key, name in names.items()}
    texts = {f"{key}_text": "'" + name.replace("'", "''") + "'" for key, name in names.items()}
    return _ROLES_SQL.format(**quoted, **texts)


# --- the test of an address ---

#: The errors that an administrator solves by `Address.setup_sql` or `Address.hba_line`.
_ADMINISTRATOR_ERRORS = (NotListedError, DatabaseMissingError, RightsMissingError)
_STAGES: tuple[tuple[type[StoreError], ConnectionStage], ...] = (
    (EncryptionError, ConnectionStage.ENCRYPTION),
    (SignInRefusedError, ConnectionStage.SIGN_IN),
    (DatabaseMissingError, ConnectionStage.PLANTS),
    (EncodingRefusedError, ConnectionStage.PLANTS),
)


def probe(address: Address) -> ConnectionProbe:
    """Test an address with one attempt to sign in. Changes nothing."""
    try:
        connection = connect(address, "test", _PROBE_TIMEOUT)
    except StoreError as error:
        stage = next((stage for cause, stage in _STAGES if isinstance(error, cause)), ConnectionStage.SERVER)
        if type(error) is ServerUnreachableError:
            port = address.conninfo.get("port", "").split(",")[0] or "5432"
            message = Text("Nothing answers at {server}, port {port}. Check both, and whether the server runs.")
            error = StoreUnreachableError(message, server=address.server, port=port)
        return ConnectionProbe(stage, error, isinstance(error, _ADMINISTRATOR_ERRORS))
    with connection:
        probed = ConnectionProbe(
            server=connection.info.parameter_status("server_version") or "",
            is_encrypted=bool(connection.pgconn.ssl_in_use),
        )
        try:
            with translate_errors(address):
                return _probe_tables(connection, address, probed)
        except StoreError as error:
            is_repairable = isinstance(error, _ADMINISTRATOR_ERRORS)
            return probed._replace(failed=ConnectionStage.PLANTS, error=error, needs_administrator=is_repairable)


def _probe_tables(connection: Connection, address: Address, probed: ConnectionProbe) -> ConnectionProbe:
    """Test the tables and the user's rights; return `probed` with the results. Raises StoreError and psycopg.Error."""
    started = time.monotonic()
    version = read_version(connection)
    probed = probed._replace(milliseconds=(time.monotonic() - started) * 1000)
    if version is None:
        if connection.execute(_MAY_CREATE).fetchone() != (True,):
            raise RightsMissingError
        return probed
    check_readable(version, address.name, address.server)
    ((plants,),) = connection.execute("SELECT plants FROM state")
    desks = tuple(str(name) for (name,) in connection.execute(_DESKS))
    probed = probed._replace(plants=int(plants), refusal=write_refusal(version), desks=desks)
    missing = probed.refusal or read_missing_rights(connection)
    return probed._replace(can_add=missing is None or isinstance(missing, OnlyAddsError), can_change=missing is None)


def create_tables(address: Address) -> None:
    """Make the tables of a store if there are none. Raises StoreError."""
    with translate_errors(address), closing(connect(address, _ROLE)) as connection:
        if read_version(connection) is None:
            migrate(connection)


def needed_update(address: Address) -> TablesUpdate | None:
    """Return the update that the tables need; None if they are of this version or newer. Raises StoreError."""
    with translate_errors(address), closing(connect(address, _ROLE)) as connection:
        tables = check_readable(read_version(connection), address.name, address.server)
        if tables.version >= SCHEMA_VERSION:
            return None
        listed = read_desks(connection, address.desk)
        worst_first = sorted(listed, key=lambda desk: (not desk.is_own, desk.tables, -desk.last_seen))
        return TablesUpdate(tables.version, SCHEMA_VERSION, tuple(worst_first))


def update_tables(address: Address) -> None:
    """Bring the tables of all desks to this version, in one transaction. Raises StoreError; then nothing has changed.

    If the answer to the commit is lost, the version of the tables shows whether they were updated.
    """
    try:
        with translate_errors(address), closing(connect(address, _ROLE, LONG_TIMEOUT)) as connection:
            migrate(connection)
    except ServerUnreachableError:
        if needed_update(address) is not None:
            raise
