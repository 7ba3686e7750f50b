"""Small queries to the store, asked by the window and answered off its thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QObject

    from plantdesk.store import Reader, Store
    from plantdesk.ui.bridge import Bridge

_Answer = TypeVar("_Answer")


class StoreQueries:
    """Asks one store, one question after the other, with one reader. Lives on the GUI thread."""

    def __init__(self, bridge: Bridge, store: Store) -> None:
        self._bridge = bridge
        self._store = store
        self._reader: Reader | None = None

    def ask(
        self,
        receiver: QObject,
        question: Callable[[Reader], _Answer],
        answered: Callable[[_Answer], object],
        failed: Callable[[Exception], object] | None = None,
    ) -> None:
        """Ask for `receiver`; `answered` or `failed` is called on the GUI thread unless it is deleted by then."""
        self._bridge.ask(receiver, lambda: question(self._opened()), answered, failed or _leave_it)

    def ask_next_free_id(
        self,
        receiver: QObject,
        answered: Callable[[int], object],
        failed: Callable[[Exception], object] | None = None,
    ) -> None:
        """Ask which id a new plant may have."""
        self.ask(receiver, _next_free_id, answered, failed)

    def close(self) -> None:
        """Close the reader after the queries already asked, and wait for that: the file is closed next."""
        self._bridge.run(self._close).result()

    # --- on the worker thread ---

    def _opened(self) -> Reader:
        if self._reader is None:
            self._reader = self._store.reader()
        return self._reader

    def _close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None


def _next_free_id(reader: Reader) -> int:
    return reader.next_free_id()


def _leave_it(_error: Exception) -> None:
    """Ignore: store failures are reported through health_changed."""
