"""The quick entry: a small window for one plant, opened by `plantdesk quick` and from the tray."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QCursor, QGuiApplication
from PySide6.QtWidgets import QVBoxLayout

from plantdesk.domain.errors import InvalidPlantError
from plantdesk.ui.feature import WindowContext
from plantdesk.ui.plants.add_controller import parse_form
from plantdesk.ui.plants.add_queue import AddQueue
from plantdesk.ui.plants.form import FieldName, PlantForm
from plantdesk.ui.plants.name_completion import NameCompletion, open_known_names
from plantdesk.ui.plants.outbox import Submission, SubmissionState
from plantdesk.ui.qt import app_icon, bring_to_front, fill, fitted
from plantdesk.ui.texts import error_text
from plantdesk.ui.theme.metrics import S
from plantdesk.ui.widgets.dialog import Dialog
from plantdesk.ui.widgets.messages import MessageLine

#: For text of 13 px.
_WIDTH = 720


class QuickEntry(Dialog):
    """A small window with the form for a plant. It submits to the main window's queue; closing only hides it."""

    #: It is closed, and none of its plants is being saved.
    ended = Signal()
    #: (id) A barcode reader has typed the URL of a plant.
    scanned = Signal(object)

    def __init__(self, context: WindowContext, queue: AddQueue) -> None:
        super().__init__(self.tr("Add a plant"))
        self._context = context
        self._queue = queue
        self._is_open = False
        self.form = form = PlantForm(context.theme, MessageLine(context.theme), empties_on_escape=False)
        self._completion = NameCompletion(form, queue, partial(open_known_names, context), small_window=self)
        self._set_up_window()
        form.draft_due.connect(self._remember)
        form.submitted.connect(self._submit)
        for field in (form.name_field, form.tag_field):
            field.scanned.connect(self.accept)
            field.scanned.connect(self.scanned)
        self.finished.connect(self._on_closed)
        queue.refused.connect(self._on_refused)
        queue.changed.connect(self._report_end)
        queue.changed.connect(self._remember)
        queue.next_id_changed.connect(form.show_next_id)
        form.show_next_id(queue.next_id)
        match context.preferences.of_store(context.location.key).get("quick"):
            case [str(), str(), str()] as texts:
                form.fill(texts)

    def _set_up_window(self) -> None:
        if sys.platform == "win32":
            self.setWindowFlag(Qt.WindowType.Tool)  # which the task bar does not list
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, on=False)
        self.setWindowIcon(app_icon())
        width = self._context.theme.metrics.scaled(_WIDTH)
        self.form.setFixedWidth(fitted(self, QSize(width, 0)).width())
        layout = fill(QVBoxLayout(self), self.form, margins=(0, S, 0, S), spacing=0)
        layout.setSizeConstraint(QVBoxLayout.SizeConstraint.SetFixedSize)  # grows with a message

    def show_form(self, token: str, tags: Sequence[str], refusal: str) -> None:
        """Show the window on the screen with the pointer; a `refusal` is the reason why the form is disabled."""
        is_waiting = self._queue.outbox.is_store_unavailable
        hint = self.tr("The plant waits until the store can be reached.") if is_waiting else ""
        self._is_open = True
        self.form.set_tags(tags)
        self.form.set_refusal(refusal)
        self.form.message.set_hint(refusal or hint)
        if not self.isVisible():
            self.adjustSize()
            screen = QGuiApplication.screenAt(QCursor.pos()) or self.screen()
            room = screen.availableGeometry()
            size = self.sizeHint()
            self.move(room.center().x() - size.width() // 2, room.top() + (room.height() - size.height()) // 3)
        bring_to_front(self, token)
        self.form.focus_name()

    @Slot(bool)
    def _submit(self, keep_open: bool) -> None:
        """Submit the plant, and close the window unless `keep_open` is true."""
        self._completion.accept_or_remove()
        form = self.form
        try:
            entries = parse_form(form)
            texts = form.texts
        except InvalidPlantError as error:
            self._show_refusal(error)
            return
        self._completion.remember(entries[0].name, entries[0].tag)
        form.message.clear()
        form.start_next()
        self._queue.submit(Submission(entries, texts, is_quick=True))
        if not keep_open:
            self.accept()

    @Slot(object)
    def _on_refused(self, submission: Submission) -> None:
        """Show a refused plant in the form again; if the next one is being typed, the main window lists it."""
        error = submission.error
        if not submission.is_quick or submission.state is not SubmissionState.REFUSED or error is None:
            return
        if self.isVisible() or not self.form.is_empty:
            text = self.tr("{reason} PlantDesk lists the plant in its window.")
            self.form.show_errors([], text.format(reason=error_text(error)))
        else:
            self._queue.discard([submission])
            self.form.fill(submission.texts)
            self.form.focus_name()
            self._is_open = True
            bring_to_front(self)
            self._show_refusal(error)

    def _show_refusal(self, error: Exception) -> None:
        fields = [invalid.field for invalid in error.fields] if isinstance(error, InvalidPlantError) else [FieldName.ID]
        self.form.show_errors(fields, error_text(error))
        self.form.focus_field(fields[0])

    @Slot()
    def _on_closed(self) -> None:
        self.form.message.clear()
        self.form.clear_errors()
        self._remember()
        self._report_end()

    @Slot()
    def _remember(self) -> None:
        texts = [] if self.form.is_empty else list(self.form.texts)
        key = self._context.location.key
        if texts != (self._context.preferences.of_store(key).get("quick") or []):
            self._context.preferences.change_store(key, quick=texts)

    @Slot()
    def _report_end(self) -> None:
        if self._is_open and not self.isVisible() and not self._queue.outbox.saving:
            self._is_open = False
            self.ended.emit()
