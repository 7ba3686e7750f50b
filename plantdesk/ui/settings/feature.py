"""The dialog around the settings: a list of the sections, a search, the rows that it finds; and its command."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QSignalBlocker, QSize, Qt, Slot
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListWidget, QListWidgetItem, QPushButton, QVBoxLayout, QWidget
from typing_extensions import override

from plantdesk.domain.errors import Text
from plantdesk.domain.folding import searched
from plantdesk.ui.feature import Feature
from plantdesk.ui.menus import Command, Section
from plantdesk.ui.qt import STRETCH, bring_to_front, fill
from plantdesk.ui.settings.rows import fit_rows
from plantdesk.ui.texts import quoted, shown
from plantdesk.ui.theme.metrics import EDGE, XL, L, M, S
from plantdesk.ui.widgets.containers import ReservedScrollBar, ScrollArea
from plantdesk.ui.widgets.dialog import ButtonRole, Dialog
from plantdesk.ui.widgets.fields import SearchEdit
from plantdesk.ui.widgets.plain_text import PlainLabel, announce, report_focus

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent, QResizeEvent

    from plantdesk.ui.feature import WindowContext
    from plantdesk.ui.server_control import ApiControl
    from plantdesk.ui.settings.page import SettingRows
    from plantdesk.ui.settings.rows import SettingCommands, SettingRow, SettingsSection
    from plantdesk.ui.theme.theme import Theme


#: For text of 13 px.
_WIDTH, _HEIGHT, _SECTIONS_WIDTH, _ITEM = 800, 640, 184, 30
#: In a narrower dialog the list of the sections is hidden.
_WIDE = 640


class SettingsDialog(Dialog):
    """Not modal. After `show_saved(are_saved=False)`, a line at the top says that the settings cannot be saved."""

    def __init__(self, theme: Theme, sections: Sequence[SettingsSection], parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Settings"), parent)
        self.setModal(False)
        self._theme, self._sections = theme, sections
        self._search = SearchEdit(theme, self.tr("Search the settings"))
        self._list = self._section_list(theme)
        self._unsaved = PlainLabel(
            self.tr("These settings last until PlantDesk is closed: their file cannot be written."),
            tone="warning",
            wrapped=True,
        )
        self._nothing = QWidget()
        self._nothing_text = PlainLabel(tone="muted")
        self._clear_button = QPushButton(self.tr("Clear search"))
        self._clear_button.clicked.connect(self._search.clear)
        self._page = QWidget()
        self._area = ScrollArea(self._page, horizontal=False)
        self.buttons.addButton(self.tr("Close"), ButtonRole.RejectRole)
        self._lay_out()
        self._search.textChanged.connect(self._find)
        self._area.verticalScrollBar().valueChanged.connect(self._show_section)
        self._list.currentRowChanged.connect(self._go_to)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self._search.setFocus)
        self._find("")
        self._list.setCurrentRow(0)
        self._search.setFocus()

    def show_saved(self, *, are_saved: bool) -> None:
        """Show whether the settings can be saved."""
        self._unsaved.setVisible(not are_saved)

    def focus_row(self, row: SettingRow) -> None:
        """Show a row, and put the focus into its first control."""
        self._search.clear()
        row.focus_target.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._area.ensureWidgetVisible(row)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Down and self._search.hasFocus():
            self._focus_first()
        else:
            super().keyPressEvent(event)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._pane.setVisible(self.width() >= self._theme.metrics.scaled(_WIDE))

    def _section_list(self, theme: Theme) -> QListWidget:
        found = QListWidget()
        found.setAccessibleName(self.tr("Sections"))
        found.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        found.setFrameShape(QFrame.Shape.NoFrame)
        found.setProperty("clear", "true")
        report_focus(found)
        for section in self._sections:
            QListWidgetItem(section.title, found)
        theme.changed.connect(self._fit)
        return found

    def _lay_out(self) -> None:
        theme = self._theme
        nothing = fill(
            QHBoxLayout(self._nothing), self._nothing_text, self._clear_button, STRETCH, margins=0, spacing=M
        )
        nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
        ReservedScrollBar(self._area)
        fill(QVBoxLayout(self._page), self._nothing, *self._sections, STRETCH, margins=(EDGE, 0, S, 0), spacing=0)
        self._pane = QFrame()
        self._pane.setProperty("pane", "sidebar")
        fill(QVBoxLayout(self._pane), self._list, margins=(S, M, S, M))
        line = QFrame()
        line.setProperty("pane", "lines")
        line.setFixedHeight(1)
        note = PlainLabel(self.tr("Changes apply at once."), tone="muted")
        foot = fill(QHBoxLayout(), note, STRETCH, self.buttons, margins=(EDGE, M, EDGE, M))
        head = fill(QVBoxLayout(), self._search, self._unsaved, margins=(EDGE, L, EDGE, XL), spacing=S)
        right = fill(QVBoxLayout(), head, (self._area, 1), line, foot, margins=0, spacing=0)
        fill(QHBoxLayout(self), self._pane, (right, 1), margins=0, spacing=0)
        self._unsaved.hide()
        self._fit()
        QWidget.setTabOrder(self._search, self._search.button)
        QWidget.setTabOrder(self._search.button, self._list)
        QWidget.setTabOrder(self._list, self._sections[0].rows[0].focus_target)
        self.resize_to_fit(QSize(theme.metrics.scaled(_WIDTH), theme.metrics.scaled(_HEIGHT)))

    @Slot()
    def _fit(self) -> None:
        """Follow the size of the text and the colours."""
        metrics = self._theme.metrics
        self._pane.setFixedWidth(metrics.scaled(_SECTIONS_WIDTH))
        for place, section in enumerate(self._sections):
            self._list.item(place).setSizeHint(QSize(0, metrics.scaled(_ITEM)))
            self._list.item(place).setIcon(self._theme.icons.icon(section.icon, "text_2"))
        fit_rows([row for section in self._sections for row in section.rows], self._theme)

    # --- searching ---

    @Slot(str)
    def _find(self, text: str) -> None:
        words = searched(text).split()
        counts = [section.show_found(words) for section in self._sections]
        for place, (section, count) in enumerate(zip(self._sections, counts, strict=True)):
            item = self._list.item(place)
            item.setText(f"{section.title}  {count}" if words and count else section.title)
            item.setFlags(
                Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable if count else Qt.ItemFlag.NoItemFlags
            )
        self._nothing.setVisible(not sum(counts))
        if not sum(counts):
            self._nothing_text.setText(self.tr("No setting is called {text}.").format(text=quoted(text)))
            announce(self, self._nothing_text.text())
        elif words:
            announce(self, shown(Text("{count:,} settings found.", one="1 setting found.", count=sum(counts))))

    def _focus_first(self) -> None:
        row = next((row for section in self._sections for row in section.rows if not row.isHidden()), None)
        if row is not None:
            row.focus_target.setFocus(Qt.FocusReason.TabFocusReason)

    # --- the list of the sections ---

    @Slot(int)
    def _go_to(self, place: int) -> None:
        if 0 <= place < len(self._sections) and not self._sections[place].isHidden():
            self._area.verticalScrollBar().setValue(self._top_of(place))

    def _top_of(self, place: int) -> int:
        return self._sections[place].mapTo(self._page, QPoint()).y()

    @Slot(int)
    def _show_section(self, position: int) -> None:
        """Mark the section at the top of the page; if it is scrolled to its end, the section that was chosen."""
        bar = self._area.verticalScrollBar()
        if position == bar.maximum() and self._list.currentRow() >= 0:
            return
        shown_ones = [place for place in range(len(self._sections)) if not self._sections[place].isHidden()]
        place = max(
            (each for each in shown_ones if self._top_of(each) <= position + self._area.height() // 4), default=0
        )
        with QSignalBlocker(self._list):
            self._list.setCurrentRow(place)


class SettingsPage(Feature):
    """Opens the dialog of the settings."""

    def __init__(self, context: WindowContext, server: ApiControl, commands: SettingCommands) -> None:
        super().__init__(context)
        self._server, self._other_commands = server, commands
        self._found: list[Command] = []
        self._dialog: SettingsDialog | None = None
        self._rows: SettingRows | None = None
        context.preferences.changed.connect(self._show_saved)
        command = context.menus.add(Section.EDIT_SETTINGS, self.tr("Sett&ings…"), self.open_dialog, "Ctrl+,")
        command.setMenuRole(QAction.MenuRole.PreferencesRole)
        context.menus.others = self._commands

    @override
    def release_store(self) -> None:
        if self._dialog is not None:
            self._dialog.close()

    @Slot()
    def open_dialog(self) -> SettingsDialog:
        """Open the dialog, or bring it to the front."""
        if self._dialog is None:
            self._dialog, self._rows = dialog, _ = self._made()
            dialog.finished.connect(self._forget)
            self._show_saved()
        bring_to_front(self._dialog)
        return self._dialog

    def _made(self) -> tuple[SettingsDialog, SettingRows]:
        from plantdesk.ui.settings.page import SettingRows

        rows = SettingRows(self.context, self._server, self._other_commands)
        dialog = SettingsDialog(self.context.theme, rows.sections, self.context.page)
        rows.setParent(dialog)
        return dialog, rows

    def _commands(self) -> list[Command]:
        """Return a command for each setting, which opens the dialog at its row."""
        if not self._found:
            dialog, rows = self._made()
            for place, section in enumerate(rows.sections):
                for number, row in enumerate(section.rows):
                    action, title = QAction(self), f"{dialog.windowTitle()}: {section.title}: {row.label}"
                    action.triggered.connect(partial(self._open_at, place, number))
                    self._found.append(Command(title, action, row.words))
            dialog.deleteLater()
        return self._found

    def _open_at(self, section: int, row: int) -> None:
        dialog = self.open_dialog()
        if self._rows is not None:
            dialog.focus_row(self._rows.sections[section].rows[row])

    @Slot()
    def show_last_backup(self) -> None:
        """Show the last backup, if the dialog is open."""
        if self._rows is not None:
            self._rows.backups.show_last()

    @Slot()
    def _show_saved(self) -> None:
        if self._dialog is not None:
            self._dialog.show_saved(are_saved=self.context.preferences.are_saved)

    @Slot()
    def _forget(self) -> None:
        self._dialog = self._rows = None

    @Slot()
    def open_at_port(self) -> None:
        """Open the dialog with the cursor in the port."""
        dialog = self.open_dialog()
        if self._rows is not None:
            dialog.focus_row(self._rows.port)
