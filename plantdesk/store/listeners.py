"""Who wants to hear of something: plain functions, added and removed by any thread."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)

_News = TypeVar("_News")


class Listeners(Generic[_News]):
    """Tells each of its listeners, on the thread that tells."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: tuple[Callable[[_News], None], ...] = ()

    def add(self, listener: Callable[[_News], None]) -> Callable[[], None]:
        """Tell `listener` from now on; returns the function that ends it."""
        with self._lock:
            self._all = (*self._all, listener)

        def remove() -> None:
            with self._lock:
                self._all = tuple(each for each in self._all if each is not listener)

        return remove

    def tell(self, news: _News) -> None:
        """Tell all; a listener's defect stops neither the others nor the one who tells."""
        for listener in self._all:
            try:
                listener(news)
            except Exception:  # noqa: BLE001  whatever it is, it is the listener's
                _log.exception("a listener failed")
