"""Writes labels to a PDF file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QCoreApplication, QIODevice, QMarginsF, QRect
from PySide6.QtGui import QPageLayout, QPageSize, QPdfWriter

from plantdesk.platform.atomic_replace import replaced_bytes
from plantdesk.transfer.targets import checked_target
from plantdesk.ui.labels.painting import paint_job

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.ui.labels.painting import Job

_DPI = 600


def write_pdf(file: Path, job: Job) -> None:
    """Write the pages of labels to a PDF file. Raises PlantDeskError for a database, and OSError."""
    file = checked_target(file)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(_DPI)
    writer.setPageLayout(page_layout(job))
    writer.setCreator("PlantDesk")
    writer.setTitle(QCoreApplication.translate("LabelPdf", "Plant labels"))
    layout = writer.pageLayout()
    paint_job(writer, job, QRect(layout.fullRectPixels(_DPI)))
    buffer.close()
    with replaced_bytes(file) as stream:
        stream.write(buffer.data().data())


def page_layout(job: Job) -> QPageLayout:
    """Return the page of a sheet, without margins."""
    layout = QPageLayout(QPageSize(job.sheet.page), QPageLayout.Orientation.Portrait, QMarginsF())
    layout.setMode(QPageLayout.Mode.FullPageMode)
    return layout
