"""The store: one SQLite file of plants, its one writer thread, and the readers of it.

Knows neither asyncio nor Qt: writes answer with `concurrent.futures.Future`, listeners are plain callables.
"""

from __future__ import annotations

from plantdesk.store.queries import Order, Reader, View
from plantdesk.store.store import Store
from plantdesk.store.tokens import NewToken, TokenChecker, Tokens

__all__ = ["NewToken", "Order", "Reader", "Store", "TokenChecker", "Tokens", "View"]
