"""Edits that are computed before they are written: other texts for a set of plants by a rule, and merges.

They are computed in Python, as SQLite has no folding, by a reader and into a file beside the store, so that others
write meanwhile. The writer takes its lock for few statements; what was committed since the computation decides which
plants of a rule it looks at once more, and whether a merge is computed again.
"""

from __future__ import annotations

from contextlib import ExitStack, closing, suppress
from typing import TYPE_CHECKING

from plantdesk.domain.edits import Applied, MergePlants, Rewrite
from plantdesk.domain.records import Changes
from plantdesk.store.changes import finish, make_edit
from plantdesk.store.rewriting import ComputedEdit
from plantdesk.store.sqlite.changes import SqliteChange, apply
from plantdesk.store.sqlite.connections import transaction, translate_errors
from plantdesk.store.sqlite.files.table_file import connect_with_table_file
from plantdesk.store.sqlite.numbers import last_number

if TYPE_CHECKING:
    import sqlite3

    from plantdesk.domain.records import Source
    from plantdesk.store.sqlite.files.store_file import StoreFile
    from plantdesk.store.sqlite.writer import Writer

#: How often a merge is computed while others change its plants.
_MAX_TRIES = 3


class _StaleError(Exception):
    """Others have changed plants of a merge since it was computed."""


class Rewriting:
    """One edit as a change of its own. Belongs to one thread, which it blocks."""

    def __init__(self, file: StoreFile, writer: Writer, edit: Rewrite | MergePlants, source: Source) -> None:
        self._file, self._writer = file, writer
        self._edit, self._source = edit, source

    def run(self) -> Applied:
        """Compute and write. Raises InvalidPlantError, InvalidPatternError, UnknownPositionError and StoreError."""
        for _ in range(_MAX_TRIES):
            with suppress(_StaleError):
                return self._run(ComputedEdit(self._edit, schema="other"))
        return self._writer.submit(self._change_at_once).result()

    def _run(self, computed: ComputedEdit) -> Applied:
        with ExitStack() as stack:
            connection, file = connect_with_table_file(self._file, stack)
            with translate_errors(), closing(connection), transaction(connection, mode="DEFERRED"):
                if not computed.compute(SqliteChange(connection, last_number(connection) + 1)):
                    return Applied.without(computed.skipped, None)
            return self._writer.submit(lambda writing: self._change(writing, computed), attached=file).result()

    def _change(self, connection: sqlite3.Connection, computed: ComputedEdit) -> tuple[Applied, Changes]:
        """Write all rows as one change, on the writer thread. Raises _StaleError."""
        writer = SqliteChange(connection)
        if isinstance(self._edit, MergePlants) and not computed.touched(writer).isdisjoint(self._edit.groups.ids):
            raise _StaleError
        left = computed.write(writer)
        if left and isinstance(self._edit, Rewrite):
            make_edit(writer, self._edit._replace(plants=self._edit.plants.among(left)), self._source)
        change = finish(writer, [self._edit], self._source)
        return Applied.without(computed.skipped, change), Changes(history=change is not None)

    def _change_at_once(self, connection: sqlite3.Connection) -> tuple[Applied, Changes]:
        """Compute and write on the writer thread, which keeps others from changing plants."""
        applied = apply(connection, [self._edit], self._source)
        return applied, Changes(history=applied.change is not None)
