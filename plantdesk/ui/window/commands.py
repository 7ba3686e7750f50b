"""The commands of the window: close and quit, appearance, help, undo and clipboard."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QAction, QGuiApplication, QKeyEvent, QTextDocument
from PySide6.QtWidgets import QAbstractItemView, QApplication, QLineEdit, QMenu, QMenuBar, QPlainTextEdit, QWidget
from shiboken6 import isValid
from typing_extensions import override

from plantdesk.domain.edits import Undone
from plantdesk.domain.history import Change, ChangeKind
from plantdesk.domain.protocols import PlantReader
from plantdesk.domain.records import Changes
from plantdesk.domain.texts import Text, shortened
from plantdesk.platform.settings import ThemeMode
from plantdesk.ui.background import Task
from plantdesk.ui.feature import Feature, OpenStore, WindowContext
from plantdesk.ui.main_window import MainWindow
from plantdesk.ui.menus import Key, Section, check_choice, key_text
from plantdesk.ui.qt import application, bring_to_front
from plantdesk.ui.texts import one_line, translated
from plantdesk.ui.undo_stack import AddedPlant, Step
from plantdesk.ui.widgets.plain_text import PlainLabel
from plantdesk.ui.window.command_dialogs import CommandSearch, ShortcutsDialog
from plantdesk.ui.window.help_dialogs import AboutDialog, ManualDialog

_UNDO = "undo"
_REDO = "redo"
_CUT = "cut"
_COPY = "copy"
_PASTE = "paste"
_SELECT_ALL = "selectAll"
_MAX_TITLE_LENGTH = 60


class WindowCommands(Feature):
    """Commands to close, quit and change the appearance. Applies the settings of the appearance."""

    def __init__(self, context: WindowContext, window: MainWindow) -> None:
        super().__init__(context)
        menus = context.menus
        section = Section.VIEW_APPEARANCE
        menus.add(Section.FILE_WINDOW, self.tr("&Close window"), window.close, Key.Close)
        quit_action = menus.add(Section.FILE_WINDOW, self.tr("&Quit"), window.quit, "Ctrl+Q")
        quit_action.setMenuRole(QAction.MenuRole.QuitRole)
        modes = (
            (self.tr("&System"), ThemeMode.SYSTEM.value),
            (self.tr("&Light"), ThemeMode.LIGHT.value),
            (self.tr("&Dark"), ThemeMode.DARK.value),
        )
        change = context.preferences.change
        self._modes = menus.add_choices(section, self.tr("&Theme"), modes, lambda mode: change(theme=mode))
        add = partial(menus.add, section, in_menu=False)  # the text size is in the settings, too
        add(self.tr("&Larger text"), partial(context.preferences.scale_text, 1), Key.ZoomIn, "Ctrl+=")
        add(self.tr("S&maller text"), partial(context.preferences.scale_text, -1), Key.ZoomOut)
        add(self.tr("N&ormal text"), lambda: change(text_scale=1.0), "Ctrl+0")
        context.preferences.changed.connect(self._apply)
        self._apply()

    @Slot()
    def _apply(self) -> None:
        """Apply settings that this or another window has changed."""
        theme = self.context.theme
        settings = self.context.preferences.settings
        check_choice(self._modes, settings.theme)
        if theme.mode.value != settings.theme:
            theme.set_mode(ThemeMode(settings.theme))
        if theme.text_scale != settings.text_scale:
            theme.set_text_scale(settings.text_scale)


class HelpCommands(Feature):
    """The commands of the Help menu: manual, shortcuts, search for a command, and About."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._manual: ManualDialog | None = None
        menus = context.menus
        menus.add(Section.HELP, self.tr("&Find a command…"), self._find_command, "Ctrl+Shift+P")
        menus.add(Section.HELP, self.tr("&Manual"), partial(self.show_page, ""), "F1")
        menus.add(Section.HELP, self.tr("What is &new"), partial(self.show_page, "news"))
        menus.add(Section.HELP, self.tr("&Keyboard shortcuts"), self._show_shortcuts, "Ctrl+/")
        if context.location.folder is not None:
            menus.add(Section.HELP, self.tr("Open &data folder"), self._open_data_folder, in_menu=False)
        about_action = menus.add(Section.HELP_ABOUT, self.tr("&About PlantDesk"), self._show_about)
        about_action.setMenuRole(QAction.MenuRole.AboutRole)

    def show_page(self, name: str, heading: str = "") -> None:
        """Raise the manual, and show a page, from a heading on; an empty name keeps the current page."""
        if self._manual is None or not isValid(self._manual):
            self._manual = ManualDialog(self.context.theme, self.context.page)
        bring_to_front(self._manual)
        if name:
            self._manual.show_page(name, heading)

    @Slot()
    def _find_command(self) -> None:
        CommandSearch(self.context.theme, self.context.menus.commands(), self.context.page).open()

    @Slot()
    def _show_shortcuts(self) -> None:
        ShortcutsDialog(self.context.menus, self.context.page).open()

    @Slot()
    def _open_data_folder(self) -> None:
        if (folder := self.context.location.folder) is not None:
            self.context.page.toast.open_file(folder)

    @Slot()
    def _show_about(self) -> None:
        checks_for_updates = self.context.preferences.settings.ask_for_updates
        AboutDialog(self.context.theme, checks_for_updates=checks_for_updates, parent=self.context.page).open()


class EditCommands(Feature):
    """Undo, redo and the clipboard. Commands that cannot act are disabled while the menu is open.

    Undo and Redo act on the focused field if it has something to undo, else on the undo stack.
    """

    #: (text) Text was pasted while no field had the focus.
    text_pasted = Signal(str)
    #: (ids) Show plants that an undo has skipped.
    plants_requested = Signal(object)
    #: There is nothing to undo in the window; show the history.
    history_requested = Signal()

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        commands = (
            (self.tr("Cu&t"), _CUT, Key.Cut),
            (self.tr("&Copy"), _COPY, Key.Copy),
            (self.tr("&Paste"), _PASTE, Key.Paste),
            (self.tr("Select &all"), _SELECT_ALL, Key.SelectAll),
        )
        add = context.menus.add
        run = self._run_command
        self._actions = {
            name: add(Section.EDIT_CLIPBOARD, text, partial(run, name), key) for text, name, key in commands
        }
        self._undo_action = add(Section.EDIT_UNDO, self.tr("&Undo"), partial(run, _UNDO), Key.Undo)
        self._redo_action = add(Section.EDIT_UNDO, self.tr("&Redo"), partial(run, _REDO), Key.Redo, "Ctrl+Y")
        self._focused: QWidget | None = None
        context.undo_stack.changed.connect(self._on_stack_changed)
        context.undo_stack.started.connect(self._on_started)
        context.undo_stack.undone.connect(self._on_undone)
        context.undo_stack.failed.connect(context.page.toast.show_error)
        context.bridge.changed.connect(self._on_changed)
        menu = context.menus.menu(Section.EDIT_CLIPBOARD)
        menu.aboutToShow.connect(self._on_menu_opens)
        menu.aboutToHide.connect(self._on_menu_closes)
        application().focusChanged.connect(self._on_focus_changed)

    @override
    def set_store(self, opened: OpenStore) -> None:
        super().set_store(opened)
        self.context.undo_stack.set_store(opened.store)

    @override
    def release_store(self) -> None:
        super().release_store()
        self.context.undo_stack.set_store(None)

    @Slot(object)
    def _on_changed(self, changes: Changes) -> None:
        """Remove the next step to undo if another window or computer has undone it."""
        step = self.context.undo_stack.next_undo
        if isinstance(step, AddedPlant) and step.row.id in changes.removed:
            self._forget(step)
        elif isinstance(step, Change) and changes.history_changed and self.opened is not None:
            read = partial(_is_undone, number=step.number)
            self.opened.queries.run(self, read, lambda is_undone: self._forget(step) if is_undone else None)

    def _forget(self, step: Step) -> None:
        """Remove a step that is undone already from the undo stack."""
        if self.context.undo_stack.contains(step):
            self.context.undo_stack.remove(step)

    @Slot()
    def _on_stack_changed(self) -> None:
        """Update the texts of Undo and Redo, and withdraw messages with an older Undo.

        Empty fields lose their undo history, or Ctrl+Z would first restore a text that was erased in them.
        """
        stack = self.context.undo_stack
        for field in self.context.page.findChildren(QLineEdit):
            if not field.text():
                field.setText("")
        for message in (self.context.page.toast, self.context.message):
            if {self.tr("Undo"), self.tr("Redo")}.intersection(message.labels):
                message.clear()
        self._undo_action.setText(_with_title(self.tr("&Undo"), self.tr("&Undo {title}"), stack.next_undo))
        self._redo_action.setText(_with_title(self.tr("&Redo"), self.tr("&Redo {title}"), stack.next_redo))

    @Slot(bool)
    def _on_started(self, is_redo: bool) -> None:
        self.context.page.toast.show_progress(self.tr("Redoing…") if is_redo else self.tr("Undoing…"))

    @Slot(object)
    def _on_undone(self, undone: Undone) -> None:
        """Report an undo or redo, with an action that takes it back and what could not be undone."""
        toast = self.context.page.toast
        stack = self.context.undo_stack
        step = undone.change
        text = self.tr("Redone: {title}") if step.kind is ChangeKind.REDO else self.tr("Undone: {title}")
        title = one_line(translated(step.title))
        kind, *_ = step.subject
        if kind is not ChangeKind.INSERT:
            title = text.format(title=one_line(translated(step.plain_title)))
        moved_text = "" if undone.moved_text is None else f" {translated(undone.moved_text)}"
        if not undone.skipped:
            if step == stack.next_redo:
                toast.show_message(f"{title}.{moved_text}", (self.tr("Redo"), stack.redo), key=key_text(Key.Redo))
            else:
                toast.show_message(f"{title}.{moved_text}", stack.make_undo_action(step), key=key_text(Key.Undo))
            return
        show_action = self.tr("Show"), partial(self.plants_requested.emit, undone.skipped_ids)
        template = Text(
            "{title}. {count:,} plants have been changed since and were left as they are.",
            one="{title}. 1 plant has been changed since and was left as it is.",
        )
        problem = f"{translated(template.filled(count=undone.skipped, title=title))}{moved_text}"
        toast.show_problem(problem, *([show_action] if undone.skipped_ids else []))

    @Slot(QWidget, QWidget)
    def _on_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        """Record the widget that the commands act on; menus and modal dialogs are left out."""
        if new is not None and not isinstance(new, QMenuBar | QMenu) and not new.window().isModal():
            self._focused = new

    @Slot()
    def _on_menu_opens(self) -> None:
        commands = self._find_commands()
        for name, action in (*self._actions.items(), (_UNDO, self._undo_action), (_REDO, self._redo_action)):
            action.setEnabled(name in commands)

    @Slot()
    def _on_menu_closes(self) -> None:
        """Enable all commands, so that their keys work; when pressed, they check if they can act."""
        for action in (*self._actions.values(), self._undo_action, self._redo_action):
            action.setEnabled(True)

    def _run_command(self, name: str) -> None:
        """Run a command on the focused widget if it can act; without anything to undo, offer the history."""
        command = self._find_commands().get(name)
        if command is not None:
            command()
        elif name == _UNDO:
            text = self.tr("There is nothing to undo here. Other changes are in the history.")
            self.context.page.toast.show_message(text, (self.tr("History…"), self.history_requested.emit))

    def _find_commands(self) -> dict[str, Callable[[], object]]:
        stack = self.context.undo_stack
        commands: dict[str, Callable[[], object]] = {}
        if stack.next_undo is not None or stack.is_pending:
            commands[_UNDO] = stack.undo
        if stack.next_redo is not None or stack.is_pending:
            commands[_REDO] = stack.redo
        text = QGuiApplication.clipboard().text()
        if text and not isinstance(self._focused, QLineEdit):
            commands[_PASTE] = partial(self.text_pasted.emit, text)
        return commands | self._find_focused_commands()

    def _find_focused_commands(self) -> dict[str, Callable[[], object]]:
        """Return the commands that can act on the focused widget."""
        widget = self._focused
        if widget is None or not isValid(widget):
            return {}
        if isinstance(widget, QLineEdit | QPlainTextEdit):
            return _find_field_commands(widget)
        if isinstance(widget, PlainLabel):
            copy = partial(QGuiApplication.clipboard().setText, widget.selectedText())
            return {_COPY: copy} if widget.hasSelectedText() else {}
        return _find_view_commands(widget) if isinstance(widget, QAbstractItemView) else {}


def _find_view_commands(view: QAbstractItemView) -> dict[str, Callable[[], object]]:
    commands: dict[str, Callable[[], object]] = {}
    if view.selectionModel().hasSelection():
        commands[_COPY] = partial(_press_copy, view)
    if view.selectionMode() is QAbstractItemView.SelectionMode.ExtendedSelection and view.model().rowCount():
        commands[_SELECT_ALL] = view.selectAll
    return commands


def _press_copy(view: QAbstractItemView) -> None:
    event = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    QApplication.sendEvent(view, event)


def _find_field_commands(field: QLineEdit | QPlainTextEdit) -> dict[str, Callable[[], object]]:
    """Return the commands that a text field can perform now, by their names."""
    typed: QLineEdit | QTextDocument
    if isinstance(field, QLineEdit):
        typed = field
        has_selection = field.hasSelectedText()
        is_empty = not field.text()
    else:
        typed = field.document()
        has_selection = field.textCursor().hasSelection()
        is_empty = field.document().isEmpty()
    is_editable = not field.isReadOnly()
    commands = {
        _UNDO: (is_editable and typed.isUndoAvailable(), field.undo),
        _REDO: (is_editable and typed.isRedoAvailable(), field.redo),
        _CUT: (has_selection and is_editable, field.cut),
        _COPY: (has_selection, field.copy),
        _PASTE: (is_editable and bool(QGuiApplication.clipboard().text()), field.paste),
        _SELECT_ALL: (not is_empty, field.selectAll),
    }
    return {name: command for name, (is_possible, command) in commands.items() if is_possible}


def _with_title(command: str, titled: str, step: Step | None) -> str:
    """Return the text of Undo or Redo, with the title of the step if there is one."""
    if step is None:
        return command
    return titled.format(title=shortened(translated(step.plain_title), _MAX_TITLE_LENGTH).replace("&", "&&"))


def _is_undone(reader: PlantReader, _task: Task, number: int) -> bool:
    entry = next(iter(reader.history_entries(1, number + 1)), None)
    return entry is not None and entry.change.number == number and entry.change.is_undone
