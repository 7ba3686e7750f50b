"""The list of unsaved plants under the form, with the reasons, and the actions for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QKeyCombination, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QVBoxLayout
from typing_extensions import override

from plantdesk.domain.errors import IdTakenError
from plantdesk.domain.texts import Text, plants_text
from plantdesk.ui.menus import ROW_KEYS
from plantdesk.ui.plants.add_queue import AddQueue
from plantdesk.ui.plants.outbox import Submission, SubmissionState
from plantdesk.ui.qt import STRETCH, fill, has_focus
from plantdesk.ui.texts import error_text, one_line, translated
from plantdesk.ui.theme.metrics import XS, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.containers import ActionRow
from plantdesk.ui.widgets.messages import MessageAction
from plantdesk.ui.widgets.plain_table import Cell, PlainTable
from plantdesk.ui.widgets.plain_text import announce

#: Lines that are visible without scrolling.
_MAX_VISIBLE_LINES = 4
_BLOCKED_KEYS = {*ROW_KEYS, QKeyCombination(Qt.Key.Key_Delete)}


def count_plants(submissions: Sequence[Submission]) -> int:
    """Return the number of plants in `submissions`; a half-typed plant, which has no entry, counts as one."""
    return sum(max(len(submission.entries), 1) for submission in submissions)


def _choose_label(submissions: Sequence[Submission], one: str, several: Text) -> str:
    return one if len(submissions) == 1 else translated(several.filled(count=len(submissions)))


class UnsavedPlants(QFrame):
    """The list of unsaved plants under the form, with reasons and actions. Del discards plants."""

    #: (submission) Put it into the form again.
    edit_requested = Signal(object)
    #: (submissions) The user has discarded them.
    discarded = Signal(object)
    #: The list had the focus and is hidden, as it is empty.
    focus_lost = Signal()

    def __init__(self, theme: Theme, queue: AddQueue) -> None:
        super().__init__()
        self._queue = queue
        self._outbox = queue.outbox
        self._listed: list[Submission] = []
        self.setProperty("card", "true")
        self.setAccessibleName(self.tr("Plants that are not saved"))
        headings = (self.tr("Name"), self.tr("Reason", "why a plant is not saved"))
        self._table = PlainTable(theme, self.accessibleName(), headings, wide=1, max_rows=_MAX_VISIBLE_LINES)
        self._table.horizontalHeader().hide()
        self._table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self._table.selectionModel().selectionChanged.connect(self._show_actions)
        self._action_row = fill(ActionRow(S, variant="link"), STRETCH, margins=(S, 0, S, 0))
        fill(QVBoxLayout(self), self._table, self._action_row, margins=XS, spacing=0)
        self.hide()
        queue.changed.connect(self.show_submissions)
        queue.refused.connect(self._announce)

    @property
    def count(self) -> int:
        """The number of plants in the outbox; 0 while none of them has failed."""
        return count_plants(self._outbox.submissions) if self._listed else 0

    @Slot()
    def show_submissions(self) -> None:
        """List the unsaved submissions of the outbox; without any, hide the list."""
        before = self._listed
        self._listed = self._outbox.unsaved
        if not self._listed and not before:
            return
        had_focus = has_focus(self)
        row = self._table.selected_row
        self._table.show_rows([*map(self._make_cells, self._listed)], self._listed)
        self.setVisible(bool(self._listed))
        if had_focus:
            self._keep_focus(row)
        self._show_actions()

    def _keep_focus(self, row: int | None) -> None:
        """If the selected `row` is gone, select the next line; without lines, emit `focus_lost`."""
        if not self._listed:
            self.focus_lost.emit()
        elif row is not None and self._table.selected_row is None:
            self._table.selectRow(min(row, len(self._listed) - 1))

    @Slot()
    def focus_first(self) -> None:
        """Move the focus to the lines, and select one."""
        self._table.setFocus(Qt.FocusReason.OtherFocusReason)
        if self._table.selected_row is None:
            self._table.selectRow(0)

    def _make_cells(self, submission: Submission) -> tuple[Cell, Cell]:
        reason = self._reason_text(submission)
        icon = "history"
        color = "muted"
        if self._outbox.has_unknown_outcome(submission):
            icon = "refresh-cw"
        elif submission.state is SubmissionState.REFUSED:
            icon = "circle-alert"
            color = "error"
        elif self._outbox.waits_for_server:
            icon = "clock"
        return Cell(self._title_text(submission), icon=(icon, color)), Cell(reason, reason, color=color)

    def _title_text(self, submission: Submission) -> str:
        if submission.texts:
            plant_id, name, _ = submission.texts
            return one_line(name or plant_id)
        return translated(plants_text(len(submission.entries)))

    def _reason_text(self, submission: Submission) -> str:
        if self._outbox.has_unknown_outcome(submission):
            return self.tr("Checking whether it was saved; it is not added twice.")
        if submission.state is SubmissionState.POSTPONED:
            return self.tr("put aside")
        if submission.state is SubmissionState.WAITING and self._outbox.waits_for_server:
            return self.tr("waits for the server")
        error = submission.error or self._outbox.error
        return "" if error is None else error_text(error)

    @Slot(object)
    def _announce(self, submission: Submission) -> None:
        text = self.tr("{name} was not added: {reason}")
        announce(self, text.format(name=self._title_text(submission), reason=self._reason_text(submission)))

    @property
    def _actionable(self) -> list[Submission]:
        """The selected submissions, or all if none is selected; not those with an unknown outcome."""
        chosen = [self._listed[row] for row in self._table.selected_rows] or self._listed
        return [submission for submission in chosen if not self._outbox.has_unknown_outcome(submission)]

    @Slot()
    def _show_actions(self) -> None:
        self._action_row.show_actions(self._make_actions(self._actionable))

    def _make_actions(self, chosen: Sequence[Submission]) -> Iterator[MessageAction]:
        """Yield the possible actions: use a free ID, try again, edit, discard."""
        taken = [submission for submission in chosen if isinstance(submission.error, IdTakenError)]
        states = {SubmissionState.REFUSED} | ({SubmissionState.WAITING} if self._outbox.can_retry else set())
        failed = [submission for submission in chosen if submission.state in states and submission not in taken]
        if taken:
            label = _choose_label(taken, self.tr("Use the next free ID"), Text("Use free IDs for {count:,} plants"))
            yield label, partial(self._queue.retry, taken, with_free_ids=True)
        if failed:
            label = _choose_label(failed, self.tr("Try again"), Text("Try {count:,} plants again"))
            yield label, partial(self._queue.retry, failed)
        if len(chosen) == 1 and chosen[0].texts:
            yield self.tr("Edit"), partial(self.edit_requested.emit, chosen[0])
        if chosen:
            yield _choose_label(chosen, self.tr("Discard"), Text("Discard {count:,} plants")), self._discard

    @Slot()
    def _discard(self) -> None:
        discarded = self._actionable
        self._queue.discard(discarded)
        self.discarded.emit(discarded)

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            event.setAccepted(event.keyCombination() in _BLOCKED_KEYS)
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self._table.selected_rows:
            self._discard()
        else:
            super().keyPressEvent(event)
