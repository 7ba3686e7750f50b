"""What a person is told of a failure, whether it was foreseen or not."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from plantdesk.errors import PlantDeskError


def in_words(error: Exception) -> str:
    """Return the text of a foreseen failure; of a defect only that the log tells more."""
    if isinstance(error, PlantDeskError):
        return str(error)
    return QCoreApplication.translate("failures", "That did not work. The log tells why.")
