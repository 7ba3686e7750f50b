"""`plantdesk watch`: prints the events of a store, whichever program causes them, until it is interrupted."""

from __future__ import annotations

import argparse
import json
import threading
from collections.abc import Iterator
from contextlib import closing

from plantdesk.cli.stores import open_existing_store
from plantdesk.cli.terminal import interrupt_on_termination
from plantdesk.domain.errors import StoreError, StoreFullError, StoreReadOnlyError
from plantdesk.domain.events import PlantEvent
from plantdesk.domain.protocols import PlantReader, PlantStore
from plantdesk.domain.texts import shortened
from plantdesk.platform import output

#: Seconds between two checks of the reader of the output, and two attempts to read an unresponsive store.
_CHECK_INTERVAL = 1.0


def watch(options: argparse.Namespace) -> int:
    """Print events until a signal, or until the pipe's reader has ended. Raises the errors of `_poll_events`."""
    with (
        interrupt_on_termination(),
        open_existing_store(options.database) as store,
        closing(store.reader()) as reader,
    ):
        for events in _poll_events(store, reader, options.since):
            for event in events:
                output.write(_format_event_json(event) if options.json else _format_event_text(event))
            if not output.has_reader():
                break
    return 1  # the exit code for a closed pipe


def _poll_events(store: PlantStore, reader: PlantReader, since: str | None) -> Iterator[list[PlantEvent]]:
    """Yield new events, or an empty list when a second has passed. If the store does not answer, retry.

    Raises StoreError, UnknownPositionError and OutdatedPositionError.
    """
    has_changed = threading.Event()
    reporter = _HealthReporter()
    store.subscribe(lambda _changes: has_changed.set())
    page = reader.events(since)
    while True:
        yield page.events
        is_new = bool(page.events) or has_changed.wait(_CHECK_INTERVAL)
        has_changed.clear()
        problem = store.write_error
        if not is_new and problem is None and reporter.is_healthy:
            continue
        try:
            page = reader.events(page.position)
        except StoreError as error:
            if error.retry_after is None:
                raise
            page = page._replace(events=[])
            problem = error
            has_changed.wait(_CHECK_INTERVAL)
        reporter.report(problem)


class _HealthReporter:
    """Reports once that the store does not answer, and once that it answers again."""

    def __init__(self) -> None:
        self._problem: str | None = None

    @property
    def is_healthy(self) -> bool:
        """Whether no problem was reported, or its end was."""
        return self._problem is None

    def report(self, problem: StoreError | None) -> None:
        """Print a problem if it is new, or its end. A read-only or full store can be read, so it is no problem."""
        text = None if problem is None or isinstance(problem, StoreReadOnlyError | StoreFullError) else str(problem)
        if text != self._problem:
            self._problem = text
            output.report(f"plantdesk: {text or 'The plants can be read again.'}")


def _format_event_json(event: PlantEvent) -> str:
    plant = None if event.plant is None else event.plant._asdict()
    values = {"position": event.position, "event": str(event.kind), "id": event.id, "plant": plant}
    return json.dumps({**values, "change": event.change})


def _format_event_text(event: PlantEvent) -> str:
    line = f"{event.kind:<7} {event.id:>8}"
    if event.plant is None:
        return line
    tag = "" if event.plant.tag is None else f"  [{shortened(event.plant.tag)}]"
    return f"{line}  {shortened(event.plant.name)}{tag}"
