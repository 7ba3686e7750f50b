"""The tables as SQLModel classes, for queries. They never leave this package.

The migrations create and change the tables; a test compares both. `table=True` classes do not validate their values:
input comes through `plantdesk.records.new_plant` alone.
"""

from __future__ import annotations

from sqlalchemy import CheckConstraint, ForeignKey, Index, LargeBinary, text
from sqlmodel import Field, SQLModel

from plantdesk.records import SourceKind


class SourceTable(SQLModel, table=True):
    """An origin of plants: the form, the command line, one import, one token."""

    __tablename__ = "source"

    id: int | None = Field(default=None, primary_key=True)
    kind: str = Field(description=f"One of {', '.join(SourceKind)}")
    label: str = Field(description="Name of the import or token; empty for form and command line")


class PlantTable(SQLModel, table=True):
    """A plant, its origin and the time when it was added."""

    __tablename__ = "plant"

    id: int = Field(primary_key=True)
    name: str
    tag: str | None = None
    seq: int = Field(unique=True, description="Order of arrival, growing; newest first is seq DESC")
    added_at: int = Field(description="Milliseconds since 1970, UTC")
    source_id: int = Field(sa_column_args=[ForeignKey("source.id")])
    folded: str | None = Field(
        default=None,
        description="Name, U+001F, tag without case and accents; NULL where ASCII rules are enough (most plants)",
    )


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
    rewritten: int = Field(description="Commits that changed or removed plants")
    other_commits: int = Field(description="Commits that changed no plant")
