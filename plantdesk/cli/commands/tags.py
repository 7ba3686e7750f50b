"""`plantdesk tag`: lists, renames, merges and removes tags."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import closing

from plantdesk.cli.commands.plants import report_change
from plantdesk.cli.stores import open_existing_store, open_reader
from plantdesk.cli.terminal import print_json, print_table
from plantdesk.domain.edits import Applied, MergeTags, RenameTag
from plantdesk.domain.errors import PlantDeskError, UnknownTagError
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import COMMAND
from plantdesk.domain.tags import is_in_branch
from plantdesk.domain.texts import Text, shortened
from plantdesk.domain.validation import plant_fields
from plantdesk.platform import output


def list_tags(options: argparse.Namespace) -> int:
    """Print the tags with the number of their plants. Raises StoreError."""
    with open_reader(options.database) as reader:
        counts = reader.tag_counts()
    if options.json:
        print_json([{"tag": tag, "plants": count} for tag, count in counts.items()])
    elif counts:
        print_table(("PLANTS", "TAG"), [(f"{count:,}", tag) for tag, count in counts.items()])
    return 0


def rename(options: argparse.Namespace) -> int:
    """Rename a tag. Raises UnknownTagError, InvalidPlantError, StoreError, PlantDeskError for a tag in use."""
    with open_existing_store(options.database) as store:
        known = _read_known_tags(store)
        edit = RenameTag(options.tag, options.new, options.branch)
        tags = edit.new_tags_by_old(lambda: known)
        if taken := [new for tag, new in tags.items() if new in known and new not in tags and tag in known]:
            text = Text("There is a tag “{tag}” already. To join both, type: plantdesk tag merge")
            raise PlantDeskError(text, tag=shortened(str(taken[0])))
        _report_tag_change(_apply_to_known(store, edit, [options.tag], known), options.new, options.database)
    return 0


def merge(options: argparse.Namespace) -> int:
    """Replace several tags by the last one, on all plants. Raises UnknownTagError, InvalidPlantError, StoreError."""
    with open_existing_store(options.database) as store:
        tags = tuple(dict.fromkeys(options.tags))
        applied = _apply_to_known(store, MergeTags(tags, options.into), tags, _read_known_tags(store))
        _report_tag_change(applied, options.into, options.database)
    return 0


def remove(options: argparse.Namespace) -> int:
    """Remove a tag from its plants. Raises UnknownTagError, StoreError."""
    with open_existing_store(options.database) as store:
        edit = RenameTag(options.tag, None, options.branch)
        report_change(_apply_to_known(store, edit, [options.tag], _read_known_tags(store)), options.database)
    return 0


def _report_tag_change(applied: Applied, tag: str, database: StoreLocation) -> None:
    report_change(applied, database)
    if not tag:  # perhaps a shell variable that is not set
        output.report("The plants have an empty tag now. To leave them without a tag, use: plantdesk tag remove TAG")


def _apply_to_known(store: PlantStore, edit: RenameTag | MergeTags, tags: Sequence[str], known: set[str]) -> Applied:
    """Apply an edit if all `tags` are `known`. Raises UnknownTagError otherwise; InvalidPlantError, StoreError."""
    is_branch = isinstance(edit, RenameTag) and edit.includes_branch
    for tag in tags:
        if tag not in known and not (is_branch and any(is_in_branch(known_tag, tag) for known_tag in known)):
            raise UnknownTagError(tag)
    new = edit.into if isinstance(edit, MergeTags) else edit.new
    if new is not None:
        plant_fields({"name": "", "tag": new})  # raises InvalidPlantError
    return store.apply([edit], COMMAND).result()


def _read_known_tags(store: PlantStore) -> set[str]:
    with closing(store.reader()) as reader:
        return set(reader.tag_counts())
