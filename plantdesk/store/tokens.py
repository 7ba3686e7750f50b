"""The tokens of a store: making, listing, revoking, and checking them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from concurrent.futures import Future

    from plantdesk.records import Source, TokenRow


class NewToken(NamedTuple):
    """A token just made: the only moment at which `token` itself is known."""

    token: str
    row: TokenRow


class Tokens:
    """The tokens of one store. All methods may be called from any thread."""

    def create(self, name: str, expires_at: int | None = None) -> Future[NewToken]:
        """Make a token; only its SHA-256 digest is kept. `expires_at` is in milliseconds since 1970, UTC.

        The Future's exceptions are InvalidTokenNameError (blank, too long, or in use) and StoreError.
        """

    def revoke(self, name: str) -> Future[None]:
        """Make the token of this name worthless at once; UnknownTokenError when there is none."""

    def list(self) -> list[TokenRow]:
        """Return the tokens that were not revoked, newest first. Raises StoreError."""

    def checker(self) -> TokenChecker:
        """Open a checker with a connection of its own, for one thread; the caller closes it."""


class TokenChecker:
    """Tells whose token a request bears. One thread may use it."""

    def source(self, token: str) -> Source:
        """Return the source that stands for the token; raises TokenRefusedError.

        A token made or revoked by any process counts at once (5 ms); the writer checks once more in its transaction.
        """

    def close(self) -> None:
        """Close the connection."""
