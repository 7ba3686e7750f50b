"""The text that the user gets for an exception, whether it was foreseen or not."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from plantdesk.errors import PlantDeskError


def in_words(error: Exception) -> str:
    """Return the text of a foreseen failure, or for a defect a reference to the log."""
    if isinstance(error, PlantDeskError):
        return str(error)
    return QCoreApplication.translate("failures", "That did not work. The log has the cause.")
