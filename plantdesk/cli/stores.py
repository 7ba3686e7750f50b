"""What commands share for a store: opening it, progress, suggested commands, and the selection of plants by options."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

from plantdesk.cli.terminal import TerminalLine
from plantdesk.domain.errors import NoStoreError, PlantDeskError
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.protocols import PlantReader, PlantStore
from plantdesk.domain.records import SourceKind
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import AddedBy, HasTag, Selection, Term
from plantdesk.domain.texts import Text, shortened

#: SQLite accepts expressions up to a depth of 1,000.
_MAX_SEARCH_WORDS = 300
#: A command in a message; --database is added to it.
_SUGGESTED_COMMAND = r"`plantdesk [^`]+|: plantdesk [^).]+"


def format_command(database: StoreLocation, command: str) -> str:
    """Return the command line that runs a command on this database."""
    return f"plantdesk {command}{_format_database_option(database)}"


def add_database_option(text: Text, database: StoreLocation) -> Text:
    """Add --database to the commands that a message suggests, which would use the default store without it."""
    option = _format_database_option(database).replace("{", "{{").replace("}", "}}")
    return text.mapped(lambda template: re.sub(_SUGGESTED_COMMAND, lambda command: command[0] + option, template))


def _format_database_option(database: StoreLocation) -> str:
    if database.is_own:
        return ""
    return f" --database {shlex.quote(database.url)}"


@contextmanager
def open_reader(database: StoreLocation) -> Iterator[PlantReader]:
    """Open a store that must exist, to read it, and close it at the end. Raises NoStoreError, StoreError."""
    _check_exists(database)
    with closing(database.open_reader()) as reader:
        yield reader


@contextmanager
def open_existing_store(database: StoreLocation) -> Iterator[PlantStore]:
    """Open a store that must exist, and close it at the end. Raises NoStoreError, StoreError."""
    _check_exists(database)
    with open_store(database) as store:
        yield store


@contextmanager
def open_store(database: StoreLocation) -> Iterator[PlantStore]:
    """Open or create a store, and close it at the end. Raises StoreError."""
    with closing(database.open()) as store:
        yield store


def _check_exists(database: StoreLocation) -> None:
    if not database.exists():
        raise NoStoreError(file=database.name)


@contextmanager
def show_progress(title: str) -> Iterator[Callable[[float], None] | None]:
    """Yield a function that shows a fraction (0 to 1) after `title`; None if standard error is no terminal."""
    line = TerminalLine()
    try:
        yield (lambda fraction: line.show(f"{title}: {fraction:.0%}")) if line.is_shown else None
    finally:
        line.clear()


class Filter(NamedTuple):
    """The values of options that select plants. By default all; `since` is in milliseconds since 1970, UTC."""

    text: str | None = None
    tag: str | None = None
    without_tag: bool = False
    source: str | None = None
    since: int | None = None


def parse_filter_options(options: argparse.Namespace) -> Filter:
    """Return the filter in the options --search, --tag, --no-tag, --from and --since."""
    if options.no_tag and options.tag is not None:
        options.parser.error(Text("--no-tag has no effect with --tag"))
    if options.search is not None and len(options.search.split()) > _MAX_SEARCH_WORDS:
        options.parser.error(Text("--search takes at most {most} words", most=_MAX_SEARCH_WORDS))
    return Filter(options.search, options.tag, options.no_tag, options.source, options.since)


def build_selection(reader: PlantReader, requested: Filter) -> Selection:
    """Return the set of plants that a filter selects. Raises StoreError, PlantDeskError for an unknown source."""
    groups: list[tuple[Term, ...]] = []
    if requested.text is not None:
        groups += parse_search(requested.text).groups
    if requested.without_tag or requested.tag is not None:
        groups.append((HasTag(requested.tag, is_exact=True),))
    if requested.source is not None:
        groups.append(_find_source_terms(reader, requested.source))
    return Selection(tuple(groups), requested.since)


def _find_source_terms(reader: PlantReader, name: str) -> tuple[AddedBy, ...]:
    """Return the conditions for a kind of source, otherwise for the sources with this label. Raises PlantDeskError."""
    if name in set(SourceKind):
        return (AddedBy(SourceKind(name)),)
    kinds = {source.kind for source in reader.sources() if source.label == name}
    if not kinds:
        text = Text(
            "“{name}” is no source of plants. Give form, command, import, token, assistant, or the name of one."
        )
        raise PlantDeskError(text, name=shortened(name))
    return tuple(AddedBy(kind, name) for kind in sorted(kinds))
