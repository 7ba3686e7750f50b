"""The tables of a store, as SQLModel classes: from them new stores are created and statements built.

The tables of plants, sources, changes, images and tokens are the same in a file and on a server. Only a file has
`StoreTable`; only a server has `StateTable`, `CommitTable` and `DeskTable`.
"""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.schema import CreateIndex, CreateTable, ExecutableDDLElement
from sqlmodel import Field, SQLModel

from plantdesk.domain.folding import fold_plant
from plantdesk.domain.records import EARLIEST, LATEST, SourceKind

#: 64 bits in each database; in SQLite only a key declared as INTEGER is the row's own number.
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
#: Sorted by bytes in each database.
STRING = sa.TEXT().with_variant(sa.TEXT(collation="C"), "postgresql")
#: For columns that a migration has added to tables with rows.
_DEFAULT_ZERO = {"server_default": sa.text("0")}
#: The largest `seq` and number of a change that is accepted: larger ones would leave no room for later ones.
_LARGEST_NUMBER = 2**62

_SEQ_CHECK = f"seq BETWEEN 1 AND {_LARGEST_NUMBER}"
_TIME_CHECK = f"added_at BETWEEN {EARLIEST} AND {LATEST}"
_IMAGE_CHECK = f"""seq IS NULL OR (name IS NOT NULL AND searched_name IS NOT NULL AND source_id IS NOT NULL
    AND plant_change IS NOT NULL AND {_SEQ_CHECK} AND added_at IS NOT NULL AND {_TIME_CHECK})"""


def _constraint(condition: str, database: str = "sqlite") -> sa.CheckConstraint:
    """Return a CHECK constraint that only one of the databases gets."""
    return sa.CheckConstraint(condition).ddl_if(dialect=database)


class SourceTable(SQLModel, table=True):
    """An origin of plants: the form, the command line, one import, one token."""

    __tablename__ = "source"
    __table_args__: ClassVar[Any] = {"sqlite_strict": True}

    id: int | None = Field(default=None, primary_key=True, sa_type=NUMBER, sa_column_args=[sa.Identity(start=3)])
    kind: str = Field(sa_type=STRING, description=f"One of {', '.join(SourceKind)}")
    label: str = Field(sa_type=STRING, description="Name of the import or token; empty for form and command line")
    searched_label: str = Field(
        default="", sa_type=STRING, sa_column_kwargs={"server_default": ""}, description="The label as it is searched"
    )


class PlantTable(SQLModel, table=True):
    """A plant, its origin and the time when it was added."""

    __tablename__ = "plant"
    __table_args__: ClassVar[Any] = (
        _constraint(_SEQ_CHECK),
        _constraint("seq > 0", "postgresql"),
        _constraint(_TIME_CHECK),
        {"sqlite_strict": True},
    )

    id: int = Field(primary_key=True, sa_type=NUMBER, sa_column_kwargs={"autoincrement": False})
    name: str = Field(sa_type=STRING)
    tag: str | None = Field(default=None, sa_type=STRING)
    seq: int = Field(sa_type=NUMBER, unique=True, description="Order of arrival, growing; newest first is seq DESC")
    added_at: int = Field(sa_type=NUMBER, description="Milliseconds since 1970, UTC")
    source_id: int = Field(sa_type=NUMBER, sa_column_args=[sa.ForeignKey("source.id")])
    note: str | None = Field(default=None, sa_type=STRING)
    change: int = Field(
        default=0,
        sa_type=NUMBER,
        sa_column_kwargs=_DEFAULT_ZERO,
        description="Number of the last change of it; 0: none since it was added",
    )
    searched_name: str = Field(
        sa_type=STRING, description="The name as it is searched and sorted: `plantdesk.domain.folding.fold`"
    )
    searched_tag: str | None = Field(default=None, sa_type=STRING)
    searched_note: str | None = Field(default=None, sa_type=STRING)


class ChangeTable(SQLModel, table=True):
    """An entry of the history."""

    __tablename__ = "change"
    __table_args__: ClassVar[Any] = (
        sa.CheckConstraint("undoes < number"),
        _constraint(f"number BETWEEN 1 AND {_LARGEST_NUMBER}"),
        _constraint("plants >= 0"),
        _constraint("size >= 0"),
        {"sqlite_strict": True},
    )

    number: int = Field(primary_key=True, sa_type=NUMBER, sa_column_kwargs={"autoincrement": False})
    made_at: int = Field(sa_type=NUMBER, description="Milliseconds since 1970, UTC")
    source_id: int = Field(sa_type=NUMBER, sa_column_args=[sa.ForeignKey("source.id")])
    kind: str = Field(sa_type=STRING)
    parameters: str = Field(sa_type=STRING, description="A JSON object, see `plantdesk.domain.history.Change`")
    plants: int = Field(sa_type=NUMBER)
    undoes: int | None = Field(default=None, sa_type=NUMBER, description="Number of the change that it undoes")
    undone: int = Field(
        default=0, sa_type=NUMBER, sa_column_kwargs=_DEFAULT_ZERO, description="1 when a later change has taken it back"
    )
    size: int | None = Field(default=None, sa_type=NUMBER, description="Bytes of its before-images; NULL: removed")


class BeforeImageTable(SQLModel, table=True):
    """A plant as it was before a change; all its columns are NULL if it did not exist."""

    __tablename__ = "before_image"
    __table_args__: ClassVar[Any] = (_constraint(_IMAGE_CHECK), {"sqlite_strict": True, "sqlite_with_rowid": False})

    change: int = Field(primary_key=True, sa_type=NUMBER)
    plant_id: int = Field(primary_key=True, sa_type=NUMBER)
    after: int | None = Field(default=None, sa_type=NUMBER, description="Version after the change; NULL: deleted")
    name: str | None = Field(default=None, sa_type=STRING)
    tag: str | None = Field(default=None, sa_type=STRING)
    note: str | None = Field(default=None, sa_type=STRING)
    seq: int | None = Field(default=None, sa_type=NUMBER)
    added_at: int | None = Field(default=None, sa_type=NUMBER)
    source_id: int | None = Field(default=None, sa_type=NUMBER)
    plant_change: int | None = Field(default=None, sa_type=NUMBER)
    searched_name: str | None = Field(default=None, sa_type=STRING)
    searched_tag: str | None = Field(default=None, sa_type=STRING)
    searched_note: str | None = Field(default=None, sa_type=STRING)


_IS_VALID = sa.text("revoked_at IS NULL")


class TokenTable(SQLModel, table=True):
    """A token, as its SHA-256 digest. A revoked one stays, so that its plants keep their origin."""

    __tablename__ = "token"
    __table_args__: ClassVar[Any] = (
        sa.Index("token_name", "name", unique=True, sqlite_where=_IS_VALID, postgresql_where=_IS_VALID),
        _constraint("length(digest) = 32"),
        {"sqlite_strict": True, "postgresql_with": {"fillfactor": 50}},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=NUMBER, sa_column_args=[sa.Identity()])
    name: str = Field(sa_type=STRING)
    digest: bytes = Field(sa_type=sa.LargeBinary, unique=True)
    source_id: int = Field(sa_type=NUMBER, sa_column_args=[sa.ForeignKey("source.id")])
    created_at: int = Field(sa_type=NUMBER)
    expires_at: int | None = Field(default=None, sa_type=NUMBER)
    revoked_at: int | None = Field(default=None, sa_type=NUMBER)
    last_used_at: int | None = Field(default=None, sa_type=NUMBER)
    plants_added: int = Field(default=0, sa_type=NUMBER, sa_column_kwargs=_DEFAULT_ZERO)
    max_plants: int | None = Field(default=None, sa_type=NUMBER, description="Plants that it may add; NULL: any")


class StoreTable(SQLModel, table=True):
    """The single row of state of a file: its identity, and counters by which processes notice commits of others."""

    __tablename__ = "store"
    __table_args__: ClassVar[Any] = (
        sa.CheckConstraint("id = 1"),
        sa.CheckConstraint(f"last_seq BETWEEN 0 AND {_LARGEST_NUMBER}"),
        sa.CheckConstraint(f"counted_seq BETWEEN 0 AND {_LARGEST_NUMBER}"),
        sa.CheckConstraint(f"last_id BETWEEN 0 AND {_LARGEST_NUMBER - 1}"),
        {"sqlite_strict": True, "info": {"database": "sqlite"}},
    )

    id: int = Field(primary_key=True, sa_type=NUMBER)
    identity: str = Field(sa_type=STRING, description="Random; backups keep that of their store")
    last_seq: int = Field(sa_type=NUMBER, description="At least the seq of every deleted plant")
    other_commits: int = Field(sa_type=NUMBER, description="Counts commits, see `sqlite/counters`")
    counted_seq: int = Field(sa_type=NUMBER, description="The tokens' `plants_added` counts the plants up to this seq")
    last_id: int = Field(
        default=0,
        sa_type=NUMBER,
        sa_column_kwargs=_DEFAULT_ZERO,
        description="At least the id of every deleted plant below 2^62",
    )


class StateTable(SQLModel, table=True):
    """The single row of state of a shared store: last numbers and versions. Each writing transaction locks it first."""

    __tablename__ = "state"
    __table_args__: ClassVar[Any] = (
        sa.CheckConstraint("id = 1"),
        {"postgresql_with": {"fillfactor": 10}, "info": {"database": "postgresql"}},
    )

    id: int = Field(primary_key=True, sa_type=sa.SmallInteger, sa_column_kwargs={"autoincrement": False})
    identity: str = Field(sa_type=sa.TEXT)
    version: int = Field(sa_type=sa.Integer, description="Of the tables")
    position: int = Field(sa_type=NUMBER, description="Number of the last commit")
    last_seq: int = Field(sa_type=NUMBER)
    last_change: int = Field(sa_type=NUMBER)
    tokens: int = Field(sa_type=NUMBER, description="Grows with each change of a token")
    plants: int = Field(sa_type=NUMBER, description="Their number")
    reads_from: int = Field(
        sa_type=sa.Integer,
        sa_column_kwargs={"server_default": sa.text("1")},
        description="The oldest version whose PlantDesk can read these tables",
    )
    last_id: int = Field(sa_type=NUMBER, sa_column_kwargs=_DEFAULT_ZERO, description="As in `store`")


class CommitTable(SQLModel, table=True):
    """A commit of a server, by the key that its desk has made: a desk that got no answer looks for it."""

    __tablename__ = "commits"
    __table_args__: ClassVar[Any] = {"info": {"database": "postgresql"}}

    key: UUID = Field(primary_key=True)
    position: int | None = Field(default=None, unique=True, sa_type=NUMBER)
    made_at: int = Field(sa_type=NUMBER)
    desk: str = Field(sa_type=sa.TEXT)
    seq: int | None = Field(default=None, sa_type=NUMBER)
    change: int | None = Field(default=None, sa_type=NUMBER)


class DeskTable(SQLModel, table=True):
    """A computer that uses a shared store, with its versions of PlantDesk and of the tables that it can write."""

    __tablename__ = "desk"
    __table_args__: ClassVar[Any] = {"postgresql_with": {"fillfactor": 50}, "info": {"database": "postgresql"}}

    name: str = Field(primary_key=True, sa_type=STRING)
    version: str = Field(sa_type=sa.TEXT)
    tables: int = Field(sa_type=sa.Integer)
    last_seen: int = Field(sa_type=NUMBER)


PLANT, SOURCE, CHANGE, BEFORE_IMAGE, TOKEN, STORE, STATE, COMMIT = (
    SQLModel.metadata.tables[name]
    for name in ("plant", "source", "change", "before_image", "token", "store", "state", "commits")
)
#: The texts of a plant.
TEXTS = ("name", "tag", "note", "searched_name", "searched_tag", "searched_note")
#: The columns that plants and their before-images have in common.
SHARED_COLUMNS = (*TEXTS, "seq", "added_at", "source_id")
#: The columns of a before-image.
IMAGE_COLUMNS = ["change", "plant_id", "after", *SHARED_COLUMNS, "plant_change"]


def text_columns(name: str, tag: str | None, note: str | None) -> tuple[str | None, ...]:
    """Return the values of the columns `TEXTS` of a plant: its texts as they are, and folded for searching."""
    return name, tag, note, *fold_plant(name, tag, note)


def temporary_table(name: str, schema: str | None = None, /, **types: Any) -> sa.Table:  # noqa: ANN401  mypy does not take what `with_variant` returns
    """Return a temporary table; its first column is the key. A `schema` is given if all tables in it are temporary."""
    columns = [
        sa.Column(column, type_, primary_key=not index, autoincrement=False)
        for index, (column, type_) in enumerate(types.items())
    ]
    return sa.Table(name, sa.MetaData(), *columns, schema=schema, prefixes=[] if schema else ["TEMPORARY"])


_FIRST_SOURCES = "INSERT INTO source (id, kind, label) VALUES (1, 'form', ''), (2, 'command', '')"


def creation_statements(dialect: sa.Dialect) -> list[str]:
    """Return the statements that create the tables and indexes of a new store, and the sources that each store has."""
    statements: list[ExecutableDDLElement] = []
    for table in SQLModel.metadata.sorted_tables:
        if table.info.get("database", dialect.name) == dialect.name:
            statements += [CreateTable(table), *map(CreateIndex, table.indexes)]
    return [*(str(statement.compile(dialect=dialect)).strip() for statement in statements), _FIRST_SOURCES]
