"""The tables of every kind of store, defined as SQLModel classes.

Nothing that runs imports them, as SQLModel takes longer to import than a command takes: the migrations create and
change the tables in SQL, and tests compare the result with these definitions.
"""

from __future__ import annotations

from sqlalchemy import CheckConstraint, ForeignKey, Index, LargeBinary, text
from sqlmodel import Field, SQLModel

from plantdesk.domain.records import SourceKind


class SourceTable(SQLModel, table=True):
    """An origin of plants: the form, the command line, one import, one token."""

    __tablename__ = "source"

    id: int | None = Field(default=None, primary_key=True)
    kind: str = Field(description=f"One of {', '.join(SourceKind)}")
    label: str = Field(description="Name of the import or token; empty for form and command line")
    searched_label: str = Field(default="", description="The label as it is searched")


class PlantTable(SQLModel, table=True):
    """A plant, its origin and the time when it was added."""

    __tablename__ = "plant"

    id: int = Field(primary_key=True)
    name: str
    tag: str | None = None
    seq: int = Field(unique=True, description="Order of arrival, growing; newest first is seq DESC")
    added_at: int = Field(description="Milliseconds since 1970, UTC")
    source_id: int = Field(sa_column_args=[ForeignKey("source.id")])
    note: str | None = None
    change: int = Field(default=0, description="Number of the last change that touched it; 0: none since it was added")
    searched_name: str = Field(description="The name as it is searched and sorted: `plantdesk.domain.folding.searched`")
    searched_tag: str | None = None
    searched_note: str | None = None


class ChangeTable(SQLModel, table=True):
    """An entry of the history."""

    __tablename__ = "change"

    number: int | None = Field(default=None, primary_key=True)
    made_at: int = Field(description="Milliseconds since 1970, UTC")
    source_id: int = Field(sa_column_args=[ForeignKey("source.id")])
    kind: str
    parameters: str = Field(description="A JSON object, see `plantdesk.domain.history.Change`")
    plants: int
    undoes: int | None = Field(default=None, description="Number of the change that this one takes back")
    undone: int = Field(default=0, description="1 when a later change has taken it back")
    size: int | None = Field(default=None, description="Bytes of its before-images; NULL when they were removed")


class BeforeImageTable(SQLModel, table=True):
    """A plant as it was before a change; all its columns are NULL where there was none."""

    __tablename__ = "before_image"

    change: int = Field(primary_key=True)
    plant_id: int = Field(primary_key=True)
    after: int | None = Field(default=None, description="Version of the plant after the change; NULL: deleted")
    name: str | None = None
    tag: str | None = None
    note: str | None = None
    seq: int | None = None
    added_at: int | None = None
    source_id: int | None = None
    plant_change: int | None = None
    searched_name: str | None = None
    searched_tag: str | None = None
    searched_note: str | None = None


class TokenTable(SQLModel, table=True):
    """A token, as its SHA-256 digest. A revoked one stays, so that its plants keep their origin."""

    __tablename__ = "token"
    __table_args__ = (Index("token_name", "name", unique=True, sqlite_where=text("revoked_at IS NULL")),)

    id: int | None = Field(default=None, primary_key=True)
    name: str
    digest: bytes = Field(sa_type=LargeBinary, unique=True)
    source_id: int = Field(sa_column_args=[ForeignKey("source.id")])
    created_at: int
    expires_at: int | None = None
    revoked_at: int | None = None
    last_used_at: int | None = None
    plants_added: int = 0
    max_plants: int | None = Field(default=None, description="Plants that it may add in all; NULL: any number")


class StoreTable(SQLModel, table=True):
    """One row: the identity of the store, and counters by which processes notice the commits of others."""

    __tablename__ = "store"
    __table_args__ = (CheckConstraint("id = 1"),)

    id: int | None = Field(default=None, primary_key=True)
    identity: str = Field(description="Random; backups keep that of their store")
    last_seq: int = Field(description="At least the seq of every deleted plant, so that none is used twice")
    other_commits: int = Field(description="The key of the last commit that has one: `sqlite/commit_key`")
    counted_seq: int = Field(description="The tokens' `plants_added` counts the plants up to this seq")
    last_id: int = Field(description="At least the id of every deleted plant below 2^62, so that none is given twice")
