"""Publishing of events to callbacks, which any thread may add and remove."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

_log = logging.getLogger(__name__)

_Event = TypeVar("_Event")


class Listeners(Generic[_Event]):
    """The callbacks (listeners) for one kind of event. They run on the thread that calls `notify`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: tuple[Callable[[_Event], None], ...] = ()

    def add(self, listener: Callable[[_Event], None]) -> Callable[[], None]:
        """Call `listener` from now on; return the function that ends the subscription."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def remove() -> None:
            with self._lock:
                self._listeners = tuple(added for added in self._listeners if added is not listener)

        return remove

    def notify(self, event: _Event) -> None:
        """Call all listeners. An exception of one is logged and stops neither the others nor the caller."""
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:  # noqa: BLE001  a defect of the listener
                _log.exception("a listener failed")
