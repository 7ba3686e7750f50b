"""The bar that reports a defect of PlantDesk itself, with a bug report for the user to send."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication

from plantdesk.platform import paths
from plantdesk.platform.bug_report import bug_report
from plantdesk.ui.feature import Feature
from plantdesk.ui.widgets.info_bar import BarKind

if TYPE_CHECKING:
    from plantdesk.ui.feature import WindowContext
    from plantdesk.ui.widgets.action_buttons import MessageAction
    from plantdesk.ui.widgets.info_bar import InfoBar

#: The report holds the first defects of a run; those after them are mostly their consequences.
_LISTED = 5


class DefectNotice(Feature):
    """Makes its bar when there is a defect to report."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._bar: InfoBar | None = None
        self._defects: list[str] = []

    def show_defect(self, what: str) -> None:
        """Report an unexpected failure; `what` is the text of the log, masked."""
        if len(self._defects) < _LISTED:
            self._defects.append(what)
        if self._bar is None:
            self._bar = self.context.page.add_bar()
        self._bar.show_state(
            BarKind.ERROR,
            self.tr("Something unexpected happened in PlantDesk"),
            self.tr(
                "PlantDesk keeps running, and what was saved is safe. A report helps to fix it: "
                "it contains no plants and no tokens, and is not sent by PlantDesk."
            ),
            (self.tr("Copy report"), self._copy_report),
            *self._log_actions(),
        )

    def _copy_report(self) -> None:
        QGuiApplication.clipboard().setText(bug_report("\n\n".join(self._defects)))

    def _log_actions(self) -> list[MessageAction]:
        """Offer the log folder where there is one."""
        try:
            url = QUrl.fromLocalFile(str(paths.log_folder()))
        except paths.NoHomeFolderError:
            return []
        return [(self.tr("Open log folder"), partial(QDesktopServices.openUrl, url))]
