"""The list of known names: its command, and the dialog that makes it from a file or removes it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QProgressBar, QPushButton, QWidget

from plantdesk.domain.texts import Text
from plantdesk.transfer.known_names import KnownNames, NamesListInfo
from plantdesk.ui.background import Task
from plantdesk.ui.feature import Feature, WindowContext
from plantdesk.ui.menus import Section
from plantdesk.ui.qt import documents_folder
from plantdesk.ui.texts import error_text, long_date, one_line, translated
from plantdesk.ui.widgets.dialog import START_ROLE, ButtonRole, Dialog, FileDialog
from plantdesk.ui.widgets.messages import MessageLine, Tone
from plantdesk.ui.widgets.plain_text import PlainLabel

if TYPE_CHECKING:
    from plantdesk.transfer.files import InputFile

#: For text of 13 px.
_WIDTH = 560


class KnownNamesFeature(Feature):
    """The command that opens the dialog of the list of known names."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        context.menus.add(Section.TOOLS_PLANTS, self.tr("&Known names…"), self._open_dialog)

    @Slot()
    def _open_dialog(self) -> None:
        NamesDialog(self.context, self.context.page).open()


class NamesDialog(Dialog):
    """Makes the list from a file in the background; closing the dialog cancels that."""

    def __init__(self, context: WindowContext, parent: QWidget) -> None:
        super().__init__(self.tr("Known names"), parent)
        self._context = context
        self._names = KnownNames(context.location.names_file)
        intro = self.tr(
            "While a name is typed, names of a list are offered after those of your plants. The list is a text with "
            "one name on each line, or a table with a column of names, such as that of World Flora Online, unpacked."
        )
        self._intro_label = PlainLabel(intro, wrapped=True)
        self._info_label = PlainLabel(role="strong", wrapped=True)
        self._progress_bar = QProgressBar()
        self._progress_bar.setTextVisible(False)
        self._progress_bar.setAccessibleName(self.tr("Reading the list"))
        self._message = MessageLine(context.theme)
        self._remove_button: QPushButton = self.buttons.addButton(self.tr("Remove the list"), START_ROLE)
        self.buttons.addButton(self.tr("Close"), ButtonRole.RejectRole)
        self._choose_button: QPushButton = self.buttons.addButton(self.tr("Choose a file…"), ButtonRole.ActionRole)
        self._choose_button.setProperty("variant", "primary")
        self._remove_button.clicked.connect(self._remove)
        self._choose_button.clicked.connect(self._choose)
        self.arrange(self._intro_label, self._info_label, self._progress_bar, self._message)
        self._set_reading(is_reading=False)
        self._remove_button.hide()
        self._choose_button.setEnabled(False)  # or this answer could come after that about a new list
        context.bridge.short_tasks.run(self, lambda _task: self._names.info(), self._on_info_read, self._on_failed)

    def make_list(self, file: Path) -> None:
        """Begin to make the list from a file on another thread; closing the dialog cancels that."""
        from plantdesk.transfer.files import input_file

        source = input_file(file)
        self._message.clear()
        self._set_reading(is_reading=True)
        self._progress_bar.setRange(0, 0)
        task = self._context.bridge.long_tasks.run(
            self,
            lambda task: _replace_list(self._names, source, task),
            self._on_read,
            self._on_failed,
            progress=self._show_progress,
        )
        self.finished.connect(task.cancel)

    def _on_info_read(self, info: NamesListInfo | None) -> None:
        self._choose_button.setEnabled(True)
        self._show_list_info(info)

    def _show_list_info(self, info: NamesListInfo | None) -> None:
        """Show size and source of the list, or that there is none."""
        text = self.tr("There is no list yet.")
        if info is not None:
            names = Text("{count:,} names", one="1 name", count=info.names)
            text = translated(
                Text(
                    "{names} from “{file}”, {date}",
                    names=names,
                    file=one_line(info.source),
                    date=long_date(info.made_at),
                )
            )
        self._info_label.setText(text)
        self._remove_button.setVisible(info is not None)
        self._fit_height()
        self._choose_button.setFocus()  # Qt would choose the other one while this one is disabled

    def _set_reading(self, *, is_reading: bool) -> None:
        self._progress_bar.setVisible(is_reading)
        self._fit_height()
        for button in (self._choose_button, self._remove_button):
            button.setEnabled(not is_reading)

    @Slot()
    def _choose(self) -> None:
        name = FileDialog.get_open_file(self, self.tr("Choose a list of names"), str(documents_folder()))
        if name:
            self.make_list(Path(name))

    def _show_progress(self, fraction: float) -> None:
        self._progress_bar.setRange(0, 1000)
        self._progress_bar.setValue(round(1000 * fraction))

    def _on_read(self, result: tuple[NamesListInfo, int]) -> None:
        new_list, skipped_count = result
        self._set_reading(is_reading=False)
        self._show_list_info(new_list)
        if skipped_count:
            text = Text(
                "{count:,} names are left out, as they are not accepted, not of plants or fungi, or cannot be read.",
                one="1 name is left out, as it is not accepted, not of a plant or fungus, or cannot be read.",
                count=skipped_count,
            )
            self._message.show_message(Tone.HINT, translated(text))
            self._fit_height()

    def _on_failed(self, error: Exception) -> None:
        self._set_reading(is_reading=False)
        self._choose_button.setFocus()
        self._message.show_message(Tone.ERROR, error_text(error))
        self._fit_height()

    def _fit_height(self) -> None:
        self.fit_height(self._context.theme.metrics.scaled(_WIDTH))

    @Slot()
    def _remove(self) -> None:
        self._context.bridge.short_tasks.run(
            self, lambda _task: self._names.remove(), lambda _none: self._show_list_info(None), self._on_failed
        )


def _replace_list(known: KnownNames, source: InputFile, task: Task) -> tuple[NamesListInfo, int]:
    """Make the list from a file unless the task is cancelled; return it, and how many names are not in it."""
    from plantdesk.transfer.name_lists import replace_list

    return replace_list(known, source, source.fraction_reporter(task.report_or_raise))
