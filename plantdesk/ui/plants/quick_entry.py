"""The small window for one plant, in front of what the user is doing: `plantdesk quick`, and the tray."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from PySide6.QtCore import QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QCursor, QGuiApplication
from PySide6.QtWidgets import QVBoxLayout
from typing_extensions import override

from plantdesk.domain.errors import InvalidPlantError
from plantdesk.ui.background import StoreQueries, next_free_id
from plantdesk.ui.feature import WindowContext
from plantdesk.ui.plants.add_controller import entered_plants
from plantdesk.ui.plants.add_queue import AddQueue
from plantdesk.ui.plants.form import FieldName, PlantForm
from plantdesk.ui.plants.name_completion import NameCompletion, known_names_source
from plantdesk.ui.plants.outbox import Submission, SubmissionState
from plantdesk.ui.qt import app_icon, bring_to_front, fill, fitted
from plantdesk.ui.texts import error_text
from plantdesk.ui.theme.metrics import S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.dialog import Dialog
from plantdesk.ui.widgets.messages import MessageLine

#: For text of 13 px.
_WIDTH = 720


class QuickWindow(Dialog):
    """Closing only hides it. It opens on the screen with the pointer. `closed`: it was hidden."""

    closed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(self.tr("Add a plant"))
        if sys.platform == "win32":
            self.setWindowFlag(Qt.WindowType.Tool)  # which the task bar does not list
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, on=False)
        self.setWindowIcon(app_icon())
        self.form = PlantForm(theme, MessageLine(theme), empties_on_escape=False)
        self.form.setFixedWidth(fitted(self, QSize(theme.metrics.scaled(_WIDTH), 0)).width())
        layout = fill(QVBoxLayout(self), self.form, margins=(0, S, 0, S), spacing=0)
        layout.setSizeConstraint(QVBoxLayout.SizeConstraint.SetFixedSize)  # grows with a message

    def open_in_front(self, token: str) -> None:
        """Show the window in the middle of the upper part of the screen with the pointer; the cursor is in Name."""
        if not self.isVisible():
            self.adjustSize()
            screen = QGuiApplication.screenAt(QCursor.pos()) or self.screen()
            room, size = screen.availableGeometry(), self.sizeHint()
            self.move(room.center().x() - size.width() // 2, room.top() + (room.height() - size.height()) // 3)
        bring_to_front(self, token)
        self.form.focus_name()

    @override
    def done(self, result: int) -> None:
        super().done(result)
        self.closed.emit()


class QuickEntry(QObject):
    """Submits plants to the queue of the main window, which later lists those that wait or were refused.

    `done`: the window is closed, and nothing is pending. `scanned(id)`: the label of a plant was read into the name.
    """

    done = Signal()
    scanned = Signal(object)

    def __init__(self, context: WindowContext, queue: AddQueue, parent: QObject) -> None:
        super().__init__(parent)
        self._context, self._queue = context, queue
        self._queries: StoreQueries | None = None
        self._is_open = False
        self._window = window = QuickWindow(context.theme)
        self._form = form = window.form
        self._completion = NameCompletion(
            context.theme, form.name_field, form.tag_field, self, window, known_names_source(context)
        )
        form.draft_due.connect(self._remember)
        form.submitted.connect(self._submit)
        for field in (form.name_field, form.tag_field):
            field.scanned.connect(window.accept)
            field.scanned.connect(self.scanned)
        window.closed.connect(self._on_closed)
        queue.refused.connect(self._on_refused)
        queue.changed.connect(self._report_done)
        queue.changed.connect(self._remember)
        context.bridge.changed.connect(self._ask_next_id)
        self.destroyed.connect(window.deleteLater)
        texts = context.preferences.of_store(context.location.key).get("quick")
        if isinstance(texts, list) and all(isinstance(each, str) for each in texts):
            form.restore(texts)

    @Slot(object)
    def set_store(self, queries: StoreQueries | None) -> None:
        """Offer the names of a store; None: plants wait for one."""
        if queries is None:
            self.close()
        self._queries = queries
        self._completion.set_store(queries)
        self._form.show_next_id(None)
        self._ask_next_id()

    def open(self, token: str, tags: Sequence[str], refusal: str) -> None:
        """Open the window, or bring it to the front; with a `refusal` no plant can be typed."""
        hint = self.tr("The plant waits until the store can be reached.") if self._queue.outbox.is_away else ""
        self._is_open = True
        self._form.set_tags(tags)
        self._form.allow(refusal)
        self._form.message.set_hint(refusal or hint)
        self._window.open_in_front(token)

    def close(self) -> None:
        """Close the window; what is typed is remembered."""
        if self._window.isVisible():
            self._window.reject()

    @Slot(bool)
    def _submit(self, stay: bool) -> None:
        """Add what is typed; with `stay` the window is ready for the next plant at once."""
        self._completion.settle()
        form = self._form
        try:
            entries, texts = entered_plants(form), form.texts
        except InvalidPlantError as error:
            self._show_refusal(error)
            return
        self._completion.remember(entries[0].name, entries[0].tag)
        form.message.clear()
        form.start_next()
        self._queue.submit(Submission(entries, texts, is_quick=True))
        if not stay:
            self._window.accept()

    @Slot(object)
    def _on_refused(self, submission: Submission) -> None:
        """Open the window again for a refused plant; if the next one is being typed, the main window lists it."""
        error = submission.error
        if not submission.is_quick or submission.state is not SubmissionState.REFUSED or error is None:
            return
        if self._window.isVisible() or not self._form.is_empty:
            text = self.tr("{reason} PlantDesk lists the plant in its window.")
            self._form.show_errors([], text.format(reason=error_text(error)))
        else:
            self._queue.discard([submission])
            self._form.fill(submission.texts)
            self._is_open = True
            bring_to_front(self._window)
            self._show_refusal(error)

    def _show_refusal(self, error: Exception) -> None:
        fields = [each.field for each in error.fields] if isinstance(error, InvalidPlantError) else [FieldName.ID]
        self._form.show_errors(fields, error_text(error))
        self._form.focus_field(fields[0])

    @Slot()
    def _on_closed(self) -> None:
        self._form.message.clear()
        self._form.clear_errors()
        self._remember()
        self._report_done()

    @Slot()
    def _remember(self) -> None:
        """Remember what is typed, for the next time."""
        texts = [] if self._form.is_empty else list(self._form.texts)
        preferences, key = self._context.preferences, self._context.location.key
        if texts != (preferences.of_store(key).get("quick") or []):
            preferences.change_store(key, quick=texts)

    @Slot()
    def _report_done(self) -> None:
        if self._is_open and not self._window.isVisible() and not self._queue.outbox.saving:
            self._is_open = False
            self.done.emit()

    @Slot()
    def _ask_next_id(self) -> None:
        if self._queries is not None:
            self._queries.ask(self, next_free_id, self._form.show_next_id)
