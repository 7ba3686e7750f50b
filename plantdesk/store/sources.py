"""New sources of plants, in every kind of store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import insert

from plantdesk.domain.folding import searched
from plantdesk.domain.records import Source, SourceKind
from plantdesk.store.models import SOURCE

if TYPE_CHECKING:
    from plantdesk.store.database import Runner


def add_source(runner: Runner, kind: SourceKind, label: str) -> Source:
    """Add a source within the caller's transaction. Raises the driver's errors."""
    values = {"kind": str(kind), "label": label, "searched_label": searched(label)}
    (source_id,) = runner.run(insert(SOURCE).values(values).returning(SOURCE.c.id)).fetchone()
    return Source(source_id, kind, label)
