"""The migrations of a shared store: all missing steps run in one transaction, under an advisory lock.

New tables are made from `store/models`, which describe them; a test compares the results.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

from psycopg import Connection
from psycopg.errors import Error
from sqlalchemy.dialects import postgresql

from plantdesk.domain.errors import (
    NoStoreError,
    StoreError,
    StoreNewerError,
    StoreOutdatedError,
    StoreReadOnlyError,
    StoreTooNewError,
)
from plantdesk.domain.folding import fold_plant
from plantdesk.domain.texts import Text
from plantdesk.store.models import creation_statements

#: The number of the advisory lock of migrations: "PLNT" in ASCII.
_LOCK_NUMBER = 0x504C4E54

#: The indexes have only the beginnings of the sorted names and tags: an index entry has a maximum size.
LONGEST_TAG = 100
NAME_START = "left(plant.searched_name, 200)"
TAG_START = f"left(plant.searched_tag, {LONGEST_TAG})"

#: The expression of the generated column `searched` in tables before version 4.
_LOWER = """replace(lower({} COLLATE "C"), E'\\x1f', ' ')"""
_SEARCHED = f"""translate(coalesce(folded, {_LOWER.format("name")} || E'\\x1f' || {_LOWER.format("coalesce(tag, '')")}),
                          '×"`‘’“”', 'x{"''" * 6}')"""
#: Plants, or rows of another table, that a step reads and writes together.
_PAGE_SIZE = 10_000
#: The version of the oldest PlantDesk that can read these tables.
_READS_FROM = 4
#: Lets a session that only reads see tables of older versions as those of version 4: a temporary view is found before
#: the table of its name. Notes have their accents there until the tables are updated.
SHOW_AS_CURRENT = """
    DO $$ BEGIN
        IF to_regclass('plantdesk.state') IS NULL THEN
            RETURN;
        END IF;
        IF (SELECT version FROM plantdesk.state) < 4 THEN
            CREATE TEMP VIEW source AS SELECT id, kind, label, searched AS searched_label FROM plantdesk.source;
            CREATE TEMP VIEW plant AS
                SELECT id, name, tag, seq, added_at, source_id, note, change,
                    split_part(searched, E'\\x1f', 1) COLLATE "C" AS searched_name,
                    CASE WHEN tag IS NOT NULL THEN split_part(searched, E'\\x1f', 2) END COLLATE "C" AS searched_tag,
                    lower(note) COLLATE "C" AS searched_note
                FROM plantdesk.plant;
            CREATE TEMP VIEW before_image AS
                SELECT change, plant_id, after, name, tag, note, seq, added_at, source_id, plant_change,
                    lower(name) COLLATE "C" AS searched_name, lower(tag) COLLATE "C" AS searched_tag,
                    lower(note) COLLATE "C" AS searched_note
                FROM plantdesk.before_image;
        END IF;
    END $$;"""
#: Indexes for the first rows in an order, and for parts of words (trigrams). The latter needs an extension that only an
#: administrator can install; the store works without it.
INDEXES = ("plant_searched", "plant_by_name", "plant_by_tag")
_SORT_INDEXES = (
    f"CREATE INDEX IF NOT EXISTS plant_by_name ON plant (({NAME_START}), id)",
    f"CREATE INDEX IF NOT EXISTS plant_by_tag ON plant (({TAG_START}), ({NAME_START})) WHERE tag IS NOT NULL",
)
_EXTENSION = "CREATE EXTENSION IF NOT EXISTS pg_trgm"
_TRIGRAM_INDEX = """CREATE INDEX IF NOT EXISTS plant_searched ON plant USING gin (
                        searched_name {schema}.gin_trgm_ops, searched_tag {schema}.gin_trgm_ops)"""
_TRIGRAMS = """SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
               WHERE extname = 'pg_trgm'"""
#: The column `last_id`, which tables before version 3 lack.
LAST_ID = "coalesce((to_jsonb(state) ->> 'last_id')::bigint, 0)"
#: `reads_from` is not in the tables of version 1.
VERSION_COLUMNS = "version, coalesce((to_jsonb(state) ->> 'reads_from')::integer, version)"


def _fill_searched_columns(connection: Connection[Any]) -> None:
    """Fill the columns of folded texts, page by page: only Python can fold a text."""
    connection.execute("""CREATE TEMP TABLE given (a bigint, b bigint, searched_name text COLLATE "C",
                                                 searched_tag text COLLATE "C", searched_note text COLLATE "C")""")
    for table, keys in (("plant", "id, id"), ("before_image", "change, plant_id")):
        last = (-(2**63), -(2**63))
        sql = (
            f"SELECT {keys}, name, tag, note FROM {table} WHERE ({keys}) > (%s, %s) ORDER BY {keys} LIMIT {_PAGE_SIZE}"
        )
        while page := connection.execute(sql.encode(), last).fetchall():
            last = page[-1][:2]
            connection.execute("TRUNCATE given")
            with connection.cursor() as cursor, cursor.copy("COPY given FROM STDIN") as copy:
                for a, b, name, tag, note in page:
                    if name is not None:
                        copy.write_row((a, b, *fold_plant(name, tag, note)))
            connection.execute(
                f"""UPDATE {table} AS t SET searched_name = given.searched_name, searched_tag = given.searched_tag,
                        searched_note = given.searched_note
                    FROM given WHERE ({", ".join(f"t.{key}" for key in keys.split(", "))}) = (a, b)""".encode()
            )
    connection.execute("DROP TABLE given")


#: Step n brings a store from version n to n + 1.
MIGRATIONS: tuple[tuple[str | Callable[[Connection[Any]], None], ...], ...] = (
    (
        "CREATE SCHEMA plantdesk",
        """CREATE TABLE state (
            id smallint PRIMARY KEY CHECK (id = 1),
            identity text NOT NULL,
            version integer NOT NULL,
            position bigint NOT NULL,
            last_seq bigint NOT NULL,
            last_change bigint NOT NULL,
            tokens bigint NOT NULL,
            plants bigint NOT NULL
        ) WITH (fillfactor = 10)""",
        "INSERT INTO state VALUES (1, replace(gen_random_uuid()::text, '-', ''), 0, 0, 0, 0, 0, 0)",
        """CREATE TABLE commits (
            key uuid PRIMARY KEY,
            position bigint UNIQUE,
            made_at bigint NOT NULL,
            desk text NOT NULL,
            seq bigint,
            change bigint
        )""",
        """CREATE TABLE source (
            id bigint PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY (START 3),
            kind text NOT NULL COLLATE "C",
            label text NOT NULL COLLATE "C",
            searched text NOT NULL COLLATE "C" DEFAULT ''
        )""",
        "INSERT INTO source (id, kind, label) VALUES (1, 'form', ''), (2, 'command', '')",
        f"""CREATE TABLE plant (
            id bigint PRIMARY KEY,
            name text NOT NULL COLLATE "C",
            tag text COLLATE "C",
            seq bigint NOT NULL UNIQUE CHECK (seq > 0),
            added_at bigint NOT NULL,
            source_id bigint NOT NULL REFERENCES source (id),
            folded text COLLATE "C",
            note text COLLATE "C",
            change bigint NOT NULL DEFAULT 0,
            searched text COLLATE "C" GENERATED ALWAYS AS ({_SEARCHED}) STORED
        )""",
        """CREATE TABLE change (
            number bigint PRIMARY KEY,
            made_at bigint NOT NULL,
            source_id bigint NOT NULL REFERENCES source (id),
            kind text NOT NULL COLLATE "C",
            parameters text NOT NULL COLLATE "C",
            plants bigint NOT NULL,
            undoes bigint CHECK (undoes < number),
            undone bigint NOT NULL DEFAULT 0,
            size bigint
        )""",
        """CREATE TABLE before_image (
            change bigint NOT NULL,
            plant_id bigint NOT NULL,
            after bigint,
            name text COLLATE "C",
            tag text COLLATE "C",
            note text COLLATE "C",
            seq bigint,
            added_at bigint,
            source_id bigint,
            folded text COLLATE "C",
            plant_change bigint,
            PRIMARY KEY (change, plant_id)
        )""",
        """CREATE TABLE token (
            id bigint PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY,
            name text NOT NULL COLLATE "C",
            digest bytea NOT NULL UNIQUE,
            source_id bigint NOT NULL REFERENCES source (id),
            created_at bigint NOT NULL,
            expires_at bigint,
            revoked_at bigint,
            last_used_at bigint,
            plants_added bigint NOT NULL DEFAULT 0,
            max_plants bigint
        ) WITH (fillfactor = 50)""",
        "CREATE UNIQUE INDEX token_name ON token (name) WHERE revoked_at IS NULL",
    ),
    (
        # `reads_from`: the version of the oldest PlantDesk that can read these tables.
        "ALTER TABLE state ADD COLUMN reads_from integer NOT NULL DEFAULT 1",
        """CREATE TABLE desk (
            name text PRIMARY KEY COLLATE "C",
            version text NOT NULL,
            tables integer NOT NULL,
            last_seen bigint NOT NULL
        ) WITH (fillfactor = 50)""",
    ),
    (
        "ALTER TABLE state ADD COLUMN last_id bigint NOT NULL DEFAULT 0",
        """UPDATE state SET last_id = greatest(0, (SELECT max(plant_id) FROM before_image
                                                   WHERE plant_id < 4611686018427387904))""",
    ),
    (
        # Each row has its texts as they are searched and sorted, so that no statement has to fold.
        "ALTER TABLE source RENAME COLUMN searched TO searched_label",
        *(
            f"""ALTER TABLE {table} ADD COLUMN searched_name text COLLATE "C", ADD COLUMN searched_tag text COLLATE "C",
                ADD COLUMN searched_note text COLLATE "C" """
            for table in ("plant", "before_image")
        ),
        _fill_searched_columns,
        # CASCADE: the views `SHOW_AS_CURRENT` of open sessions
        "ALTER TABLE plant DROP COLUMN searched CASCADE",
        "ALTER TABLE plant DROP COLUMN folded CASCADE, ALTER COLUMN searched_name SET NOT NULL",
        "ALTER TABLE before_image DROP COLUMN folded CASCADE",
    ),
)

#: The version that this PlantDesk writes and reads.
SCHEMA_VERSION = len(MIGRATIONS)


class NoSharedStoreError(NoStoreError):
    """The database has no tables of PlantDesk, and opening does not make them."""

    text = Text(
        "The database “{database}” on {server} has no plant store yet, and nothing was created in it. "
        "Open it in the window, or type `plantdesk migrate --create`, to start there without plants."
    )


class UpdateRightsError(StoreReadOnlyError):
    """The server's user does not own the tables."""

    text = Text(
        "Your user may not update this shared store. Members of “{owner}” may; ask one of them, or who administrates "
        "the server."
    )


class TablesVersion(NamedTuple):
    """The version of the tables, and that of the oldest PlantDesk that can read them."""

    version: int
    reads_from: int


def read_version(connection: Connection[Any]) -> TablesVersion | None:
    """Return the version of the store's tables; None if there are none. Raises psycopg.Error."""
    ((oid,),) = connection.execute("SELECT to_regclass('plantdesk.state')")
    if oid is None:
        return None
    row = connection.execute(f"SELECT {VERSION_COLUMNS} FROM plantdesk.state".encode()).fetchone()
    return TablesVersion(*(row or (0, 0)))


def write_refusal(tables: TablesVersion) -> StoreError | None:
    """Return, as an error, why this PlantDesk must not write to tables of a version; None if it may."""
    if tables.reads_from > SCHEMA_VERSION:
        return StoreTooNewError(
            Text("The shared store was updated by a newer PlantDesk. Update PlantDesk on this computer.")
        )
    if tables.version > SCHEMA_VERSION:
        return StoreNewerError()
    return StoreOutdatedError() if tables.version < SCHEMA_VERSION else None


def check_readable(tables: TablesVersion | None, database: str, server: str) -> TablesVersion:
    """Raise NoSharedStoreError or StoreTooNewError unless this PlantDesk can read the tables; return their version."""
    if tables is None:
        raise NoSharedStoreError(database=database, server=server)
    if isinstance(refusal := write_refusal(tables), StoreTooNewError):
        raise refusal
    return tables


def migrate(connection: Connection[Any]) -> None:
    """Create the tables, or update them. Raises psycopg.Error and UpdateRightsError; then nothing has changed."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK_NUMBER,))
        tables = read_version(connection)
        if tables is None:
            _create_tables(connection)
        else:
            _become_owner(connection)
        if tables is not None and tables.version < SCHEMA_VERSION:
            apply_steps(connection, tables.version, SCHEMA_VERSION)
            connection.execute("UPDATE state SET version = %s, reads_from = %s", (SCHEMA_VERSION, _READS_FROM))
            connection.execute("NOTIFY plantdesk")
    add_indexes(connection)


def _create_tables(connection: Connection[Any]) -> None:
    connection.execute("CREATE SCHEMA plantdesk")
    for statement in creation_statements(postgresql.dialect()):  # type: ignore[no-untyped-call]
        connection.execute(statement.encode())
    connection.execute(
        """INSERT INTO state (id, identity, version, position, last_seq, last_change, tokens, plants, reads_from)
           VALUES (1, replace(gen_random_uuid()::text, '-', ''), %s, 0, 0, 0, 0, 0, %s)""",
        (SCHEMA_VERSION, _READS_FROM),
    )
    connection.execute("NOTIFY plantdesk")


def apply_steps(connection: Connection[Any], first: int, last: int) -> None:
    """Bring the tables from version `first` to `last`. Raises psycopg.Error."""
    for step in itertools.chain.from_iterable(MIGRATIONS[first:last]):
        if callable(step):
            step(connection)
        else:
            connection.execute(step.encode())


def _become_owner(connection: Connection[Any]) -> None:
    """Become the role that owns the tables, so that it owns new ones, too. Raises UpdateRightsError."""
    sql = """SELECT quote_ident(rolname), rolname, pg_has_role(oid, 'MEMBER') FROM pg_roles
             WHERE oid = (SELECT relowner FROM pg_class WHERE oid = 'plantdesk.state'::regclass)"""
    ((name, plain_name, is_member),) = connection.execute(sql)
    if not is_member:
        raise UpdateRightsError(owner=plain_name)
    connection.execute(f"SET LOCAL ROLE {name}".encode())


def add_indexes(connection: Connection[Any]) -> None:
    """Make the missing indexes, if that is allowed. Raises psycopg.Error if the connection is lost."""

    def create(statement: str) -> None:
        try:
            connection.execute(statement.encode())
        except Error:  # not installed, or not allowed
            if connection.closed:
                raise

    for statement in (*_SORT_INDEXES, _EXTENSION):
        create(statement)
    for (schema,) in connection.execute(_TRIGRAMS).fetchall():
        create(_TRIGRAM_INDEX.format(schema=schema))
