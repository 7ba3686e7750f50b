"""The URL of a plant, such as `plantdesk:42`, its “address” for users: the QR code on a label; the system opens it."""

from __future__ import annotations

import re

from plantdesk import URL_SCHEME
from plantdesk.domain.errors import InvalidPlantError, PlantDeskError
from plantdesk.domain.records import parse_id
from plantdesk.domain.texts import Text, shortened

_URL = re.compile(rf"{URL_SCHEME}(?P<id>[+-]?\d+)\s*\Z", re.ASCII | re.IGNORECASE)


class InvalidAddressError(PlantDeskError):
    """A URL of PlantDesk's scheme names no plant."""

    text = Text("“{address}” is not the address of a plant. Such an address is “plantdesk:” and an ID.")

    def __init__(self, address: str) -> None:
        super().__init__(address=shortened(" ".join(address.split())))


def url_of(plant_id: int) -> str:
    """Return the URL of a plant."""
    return f"{URL_SCHEME}{plant_id}"


def id_of_url(url: str) -> int:
    """Return the id in a URL. Raises InvalidAddressError."""
    before, plant_id = split_url(url)
    if before or plant_id is None:
        raise InvalidAddressError(url)
    return plant_id


def split_url(text: str) -> tuple[str, int | None]:
    """Return the text before a URL at its end, as a barcode reader types it, and the id.

    Without a URL, return the whole text and None.
    """
    match = _URL.search(text)
    if match is None:
        return text, None
    try:
        return text[: match.start()], parse_id(match["id"])
    except InvalidPlantError:
        return text, None
