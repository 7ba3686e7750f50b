"""`plantdesk tag`: lists, renames, merges and removes tags."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from plantdesk.cli.commands.plants import report
from plantdesk.cli.commands.stores import open_existing_store
from plantdesk.cli.commands.terminal import print_json, print_table
from plantdesk.domain.edits import SetTag
from plantdesk.domain.errors import TagTakenError, UnknownTagError, shortened
from plantdesk.domain.records import COMMAND, ChangeKind
from plantdesk.domain.selections import HasTag, Selection
from plantdesk.domain.validation import plant_fields

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from plantdesk.domain.edits import Applied
    from plantdesk.store import Store

#: A merge may list many tags.
_MAX_TITLE = 300


def show(database: Path, *, as_json: bool) -> int:
    """Print the tags with the number of their plants. Raises StoreError."""
    with closing(open_existing_store(database)) as store, closing(store.reader()) as reader:
        counts = reader.tag_counts()
    if as_json:
        print_json([{"tag": tag, "plants": count} for tag, count in counts.items()])
    elif counts:
        print_table(("PLANTS", "TAG"), [(f"{count:,}", tag) for tag, count in counts.items()])
    return 0


def rename(database: Path, tag: str, new: str) -> int:
    """Rename a tag. Raises UnknownTagError, TagTakenError, InvalidPlantError, StoreError."""
    with closing(open_existing_store(database)) as store:
        known = _tags(store)
        if new in known and new != tag and tag in known:
            raise TagTakenError(new)
        report(_set_tag(store, [tag], new, known, f"Rename tag {_quoted(tag)} to {_quoted(new)}"), database)
    return 0


def merge(database: Path, tags: Sequence[str], into: str) -> int:
    """Give the plants of `tags` the tag `into`. Raises UnknownTagError, InvalidPlantError, StoreError."""
    with closing(open_existing_store(database)) as store:
        merged = list(dict.fromkeys(tags))
        title = f"Merge {'tag' if len(merged) == 1 else 'tags'} {', '.join(map(_quoted, merged))} into {_quoted(into)}"
        report(_set_tag(store, merged, into, _tags(store), shortened(title, _MAX_TITLE), ChangeKind.MERGE), database)
    return 0


def remove(database: Path, tag: str) -> int:
    """Remove a tag from its plants. Raises UnknownTagError, StoreError."""
    with closing(open_existing_store(database)) as store:
        report(_set_tag(store, [tag], None, _tags(store), f"Remove tag {_quoted(tag)}"), database)
    return 0


def _set_tag(
    store: Store, tags: Sequence[str], new: str | None, known: set[str], title: str, kind: ChangeKind | None = None
) -> Applied:
    for tag in tags:
        if tag not in known:
            raise UnknownTagError(tag)
    if new is not None:
        plant_fields({"name": "", "tag": new})  # raises InvalidPlantError
    edits = [SetTag(Selection.of(HasTag(tag, exact=True)), new) for tag in tags]
    return store.apply(edits, COMMAND, title=title, kind=kind).result()


def _tags(store: Store) -> set[str]:
    with closing(store.reader()) as reader:
        return set(reader.tag_counts())


def _quoted(tag: str) -> str:
    return f"“{shortened(tag, 40)}”"
