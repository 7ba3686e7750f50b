"""What the features of files of plants need of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from array import array


class ShownPlants(Protocol):
    """What the table shows, and what is selected in it."""

    @property
    def search_text(self) -> str:
        """The search that the table shows the result of; empty for all plants."""

    def selected_ids(self) -> array[int]:
        """Return the ids of the selected rows."""
