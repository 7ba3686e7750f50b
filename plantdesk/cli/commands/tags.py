"""`plantdesk tag`: lists, renames, merges and removes tags."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from plantdesk.cli.commands.plants import report
from plantdesk.cli.commands.stores import open_existing_store
from plantdesk.cli.commands.terminal import print_json, print_table
from plantdesk.domain.edits import MergeTags, RenameTag
from plantdesk.domain.errors import TagTakenError, UnknownTagError
from plantdesk.domain.records import COMMAND
from plantdesk.domain.validation import plant_fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plantdesk.domain.edits import Applied
    from plantdesk.domain.locations import StoreLocation
    from plantdesk.domain.protocols import PlantStore


def show(database: StoreLocation, *, as_json: bool) -> int:
    """Print the tags with the number of their plants. Raises StoreError."""
    with closing(open_existing_store(database)) as store, closing(store.reader()) as reader:
        counts = reader.tag_counts()
    if as_json:
        print_json([{"tag": tag, "plants": count} for tag, count in counts.items()])
    elif counts:
        print_table(("PLANTS", "TAG"), [(f"{count:,}", tag) for tag, count in counts.items()])
    return 0


def rename(database: StoreLocation, tag: str, new: str) -> int:
    """Rename a tag. Raises UnknownTagError, TagTakenError, InvalidPlantError, StoreError."""
    with closing(open_existing_store(database)) as store:
        known = _tags(store)
        if new in known and new != tag and tag in known:
            raise TagTakenError(new)
        report(_apply(store, RenameTag(tag, new), [tag], known), database)
    return 0


def merge(database: StoreLocation, tags: Sequence[str], into: str) -> int:
    """Give the plants of `tags` the tag `into`. Raises UnknownTagError, InvalidPlantError, StoreError."""
    with closing(open_existing_store(database)) as store:
        merged = tuple(dict.fromkeys(tags))
        report(_apply(store, MergeTags(merged, into), merged, _tags(store)), database)
    return 0


def remove(database: StoreLocation, tag: str) -> int:
    """Remove a tag from its plants. Raises UnknownTagError, StoreError."""
    with closing(open_existing_store(database)) as store:
        report(_apply(store, RenameTag(tag, None), [tag], _tags(store)), database)
    return 0


def _apply(store: PlantStore, edit: RenameTag | MergeTags, tags: Sequence[str], known: set[str]) -> Applied:
    for tag in tags:
        if tag not in known:
            raise UnknownTagError(tag)
    new = edit.into if isinstance(edit, MergeTags) else edit.new
    if new is not None:
        plant_fields({"name": "", "tag": new})  # raises InvalidPlantError
    return store.apply([edit], COMMAND).result()


def _tags(store: PlantStore) -> set[str]:
    with closing(store.reader()) as reader:
        return set(reader.tag_counts())
