"""Prints one line for each request on standard error: `plantdesk serve --verbose`. Never a name, a tag or a token."""

from __future__ import annotations

import contextlib
import queue
import threading
from datetime import datetime
from typing import TYPE_CHECKING

from plantdesk.platform import output

if TYPE_CHECKING:
    from plantdesk.domain.activity import Answer

#: Lines that wait for a slow terminal; further ones are dropped.
_MAX_WAITING = 10_000


class RequestLog:
    """Prints on a thread of its own, so that no request waits for standard error."""

    def __init__(self) -> None:
        self._lines: queue.Queue[str | None] = queue.Queue(_MAX_WAITING)
        self._thread = threading.Thread(target=self._run, name="request-log", daemon=True)
        self._thread.start()

    def add(self, answer: Answer) -> None:
        """Print an answer, soon. Any thread."""
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(request_line(answer))

    def close(self) -> None:
        """Print what waits."""
        self._lines.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            output.report(line)


def request_line(answer: Answer) -> str:
    """Return time, token, status and reason of an answer, without the contents of a plant."""
    at = datetime.fromtimestamp(answer.at / 1000).astimezone().isoformat(timespec="seconds")
    token = "-" if answer.source is None else repr(answer.source.label)  # on one line, whatever it contains
    added = "Added." if answer.is_new else "This plant was there already."
    reason = added if answer.number is None else answer.number.meaning
    return f"{at} {token} {answer.status} {reason}"
