"""The history dialog and its command. The dialog lists, searches, undoes and redoes changes of plants."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget
from shiboken6 import isValid
from typing_extensions import override

from plantdesk.domain.edits import Undone
from plantdesk.domain.history import Change, HistorySummary
from plantdesk.domain.records import Changes, Source
from plantdesk.domain.texts import Text
from plantdesk.ui.feature import Feature, OpenStore, WindowContext
from plantdesk.ui.history.change_list import ChangeList, HistoryModel
from plantdesk.ui.menus import Section
from plantdesk.ui.qt import bring_to_front, close_window, fill
from plantdesk.ui.questions import confirm_undo
from plantdesk.ui.texts import error_text, long_date, one_line, source_text, translated
from plantdesk.ui.theme.metrics import EDGE, L, M, S
from plantdesk.ui.widgets.dialog import ButtonRole, Dialog
from plantdesk.ui.widgets.fields import ComboBox, LineEdit
from plantdesk.ui.widgets.messages import MessageLine, Tone
from plantdesk.ui.widgets.plain_text import PlainLabel

#: For text of 13 px.
_SIZE = QSize(660, 600)
_MAX_LENGTH = 300


class HistoryDialog(Dialog):
    """The non-modal dialog that lists all changes, with search, Undo and Redo. It is reloaded after commits."""

    #: (change) Undo or redo this change.
    action_requested = Signal(object)

    def __init__(self, context: WindowContext, opened: OpenStore, parent: QWidget) -> None:
        super().__init__(self.tr("History"), parent)
        self._own_desk = opened.store.desk
        self._filters: list[Source | str | None] = [None]
        self._summary: HistorySummary | None = None
        self._current_number: int | None = None
        self._scroll_value = 0
        self._model = HistoryModel(opened.queries, context.theme, self)
        self._list = ChangeList(self._model, context.theme)
        self._search_edit = LineEdit(max_length=_MAX_LENGTH)
        self._search_edit.setPlaceholderText(self.tr("Search the history"))
        self._search_edit.setAccessibleName(self.tr("Search the history"))
        self._source_box = ComboBox(self.tr("Changes of"))
        self._source_box.addItem(self.tr("All changes"))
        self._empty_label = PlainLabel(tone="muted", alignment=Qt.AlignmentFlag.AlignCenter, wrapped=True)
        self._message = MessageLine(context.theme)
        self._message.set_hint("…")
        self.buttons.addButton(self.tr("Close"), ButtonRole.RejectRole)
        self._lay_out()
        self._connect(context)
        self.resize_to_fit(_SIZE * context.theme.metrics.scale)
        self._model.reload()

    def _lay_out(self) -> None:
        top = fill(QHBoxLayout(), (self._search_edit, 1), self._source_box, spacing=M)
        self._pages = QStackedLayout()
        self._card = self._list.make_frame()
        for page in (self._card, self._empty_label):
            self._pages.addWidget(page)
        bottom = fill(QHBoxLayout(), (self._message, 1), self.buttons)
        fill(QVBoxLayout(self), top, (self._pages, 1), bottom, margins=(EDGE, L, EDGE, L), spacing=S + 2)

    def _connect(self, context: WindowContext) -> None:
        self._search_edit.textChanged.connect(self._on_filter_changed)
        self._search_edit.returnPressed.connect(self._list.setFocus)
        self._source_box.currentIndexChanged.connect(self._on_filter_changed)
        self._list.action_requested.connect(self.action_requested)
        self._model.loaded.connect(self._on_loaded)
        self._model.extended.connect(self._show_count)
        self._model.failed.connect(self._on_failed)
        self._model.modelAboutToBeReset.connect(self._on_about_to_reset)
        context.bridge.changed.connect(self._on_changed)
        context.undo_stack.undone.connect(self._on_undone)
        context.undo_stack.failed.connect(self._on_failed)

    @Slot()
    def _on_filter_changed(self) -> None:
        source = self._filters[max(self._source_box.currentIndex(), 0)]
        self._model.set_filter(self._search_edit.text().strip(), source)

    @Slot()
    def _on_about_to_reset(self) -> None:
        self._current_number = self._list.current_number()
        self._scroll_value = self._list.verticalScrollBar().value()

    @Slot(object)
    def _on_loaded(self, summary: HistorySummary | None) -> None:
        if summary is not None:
            self._summary = summary
            self._show_summary(summary)
        row = None if self._current_number is None else self._model.row_of(self._current_number)
        if row is not None:
            self._list.setCurrentIndex(self._model.index(row, 0))
            self._list.verticalScrollBar().setValue(self._scroll_value)
        elif self._model.rowCount() > 1:
            self._list.setCurrentIndex(self._model.index(1, 0))  # row 0 is the heading of its day
        self._pages.setCurrentWidget(self._card if self._model.rowCount() else self._empty_label)

    def _show_summary(self, summary: HistorySummary) -> None:
        """Show the number of changes, and offer its computers and sources as filters."""
        no_changes = self.tr(
            "No changes yet. Edits, deletions, imports and restores are listed here, each with its undo."
        )
        self._empty_label.setText(self.tr("No changes match.") if self._is_filtered and summary.changes else no_changes)
        self._show_count()
        desks = sorted(summary.desks, key=lambda desk: desk != self._own_desk)
        filters = [None, *desks, *summary.sources]
        if filters != self._filters:
            self._filters = filters
            chosen = self._source_box.currentText()
            with QSignalBlocker(self._source_box):
                self._source_box.clear()
                self._source_box.addItems([self._filter_text(source_filter) for source_filter in filters])
                self._source_box.setCurrentIndex(max(self._source_box.findText(chosen), 0))

    def _filter_text(self, chosen: Source | str | None) -> str:
        if chosen is None:
            return self.tr("All changes")
        if isinstance(chosen, str):
            return self.tr("This computer") if chosen == self._own_desk else one_line(chosen)
        return source_text(chosen)

    @property
    def _is_filtered(self) -> bool:
        return bool(self._search_edit.text().strip()) or self._source_box.currentIndex() > 0

    @Slot()
    def _show_count(self) -> None:
        """Show the number of changes, and of matches, as far as they were read."""
        if self._summary is None or self._summary.since is None:
            self._message.set_hint("")
            return
        text = Text("{count:,} changes since {date}", one="1 change since {date}")
        if self._is_filtered and self._model.has_more:  # a whole page was read, so there is more than one change
            text = Text("Over {matching:,} of {count:,} changes since {date}")
        elif self._is_filtered:
            text = Text("{matching:,} of {count:,} changes since {date}", one="{matching:,} of 1 change since {date}")
        values = {"matching": self._model.entry_count(), "count": self._summary.changes}
        self._message.set_hint(translated(text.filled(**values, date=long_date(self._summary.since))))

    @Slot(object)
    def _on_changed(self, changes: Changes) -> None:
        if changes.history_changed or changes.needs_reload:
            self._model.reload()

    @Slot(object)
    def _on_undone(self, undone: Undone) -> None:
        """Show what an undo has left as it was or moved; without that, remove the message."""
        skipped = Text(
            "{count:,} plants have been changed since and were left as they are.",
            one="1 plant has been changed since and was left as it is.",
            count=undone.skipped,
        )
        texts = [skipped] if undone.skipped else []
        if undone.moved_text is not None:
            texts.append(undone.moved_text)
        if texts:
            self._message.show_message(Tone.WARNING, " ".join(map(translated, texts)))
        else:
            self._message.clear()

    @Slot(object)
    def _on_failed(self, error: Exception) -> None:
        self._message.show_message(Tone.ERROR, error_text(error))


class HistoryFeature(Feature):
    """The command that opens the history dialog, or raises it."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._dialog: HistoryDialog | None = None
        text = self.tr("&History…")
        self.enable_with_store(context.menus.add(Section.EDIT_HISTORY, text, self.open_dialog, "Ctrl+H"))

    @override
    def release_store(self) -> None:
        super().release_store()
        close_window(self._dialog)
        self._dialog = None

    @Slot()
    def open_dialog(self) -> None:
        """Open the history dialog, or raise it."""
        if self.opened is None:
            return
        if self._dialog is None or not isValid(self._dialog):
            self._dialog = HistoryDialog(self.context, self.opened, self.context.page)
            self._dialog.action_requested.connect(self._undo_or_redo)
        bring_to_front(self._dialog)

    @Slot(object)
    def _undo_or_redo(self, change: Change) -> None:
        if self.opened is not None and self._dialog is not None:
            undo = partial(self.context.undo_stack.revert, change)
            confirm_undo(self.context, self.opened.store, change, self._dialog, undo)
