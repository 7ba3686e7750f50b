"""The model of the file that names a shared store. It is passed on to others, and has neither user nor password."""

from __future__ import annotations

from pydantic import BaseModel

#: Bytes that are read.
MAX_SIZE = 10_000


class DeskFile(BaseModel):
    """The content of such a file: JSON. A newer PlantDesk may add members."""

    format: str = "PlantDesk store"
    version: int = 1
    address: str
