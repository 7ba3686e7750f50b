"""The submitted plants that are not saved: the reason of each, what the user can do, and their list under the form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QEvent, QItemSelectionModel, QKeyCombination, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from plantdesk.domain.errors import IdTakenError, PlantDeskError, StoreUnreachableError, Text, id_taken
from plantdesk.ui.menus import ROW_KEYS
from plantdesk.ui.plants.add_queue import AddQueue, EnteredPlant, State, Submission, UnansweredError
from plantdesk.ui.qt import STRETCH, fill
from plantdesk.ui.texts import error_text, one_line, shown
from plantdesk.ui.theme.metrics import XS, S
from plantdesk.ui.widgets.fields import OneClickButton
from plantdesk.ui.widgets.plain_table import Cell, PlainTable
from plantdesk.ui.widgets.plain_text import announce

if TYPE_CHECKING:
    from plantdesk.ui.plants.form import PlantForm
    from plantdesk.ui.theme.theme import Theme
    from plantdesk.ui.widgets.messages import MessageAction


#: Milliseconds from a key until what is typed is saved for the next start; more keys do not delay it.
SETTLED = 500


_MAX_ACTIONS = 4
_SELECT_ROW = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows


class Line(NamedTuple):
    """What is shown of a plant: name and colour of its icon, its name, and why it is not saved, in a colour."""

    key: object
    icon: tuple[str, str]
    name: str
    reason: str
    color: str


class _Owner(NamedTuple):
    """The plant that had an ID when PlantDesk was closed."""

    id: int
    name: str
    tag: str | None


class UnsavedPlants(QObject):
    """Lists what the queue could not save in a box under the form, which is made for the first of them.

    `free_id_label` is the label of the action that adds a plant under the next free ID. `shown(box)`: the box was made.
    `edit_requested(submission)`: it is to be put into the form again, and is not listed any more.
    `discarded(submissions)`: by the user. `settled`: the list was changed, or the form, a moment ago.
    """

    shown = Signal(object)
    edit_requested = Signal(object)
    discarded = Signal(object)
    settled = Signal()

    def __init__(self, form: PlantForm, queue: AddQueue, parent: QObject) -> None:
        super().__init__(parent)
        self.free_id_label = ""
        #: What was put into the form again, and not submitted since.
        self.edited: Submission | None = None
        self._form = form
        self._queue = queue
        self._listed: list[Submission] = []
        self._settling = QTimer(self, singleShot=True, interval=SETTLED)
        self._settling.timeout.connect(self.settled)
        form.changed.connect(self._settle_soon)
        queue.changed.connect(self.show)
        queue.refused.connect(self._announce)

    @Slot()
    def show(self) -> None:
        """Show what is not saved now."""
        in_doubt, unsaved = self._queue.in_doubt, self._queue.unsaved
        self._listed = [each for each in self._queue.submissions if each in in_doubt or each in unsaved]
        if self._listed or "_box" in vars(self):
            self._box.show_lines([self._line(each) for each in self._listed])
            self._show_actions()
        self.settled.emit()

    @Slot()
    def _settle_soon(self) -> None:
        if not self._settling.isActive():
            self._settling.start()

    @property
    def count(self) -> int:
        """How many plants are not saved, with those that are being saved; 0 while none of them failed."""
        return plants_of(self._queue.submissions) if self._queue.unsaved or self._queue.in_doubt else 0

    def put_back(self, submissions: Sequence[Submission]) -> None:
        """List again what was discarded, in its place."""
        self._queue.add_unsaved(submissions)

    def as_json(self) -> dict[str, list[Any]]:
        """Return what is typed, and what is not saved, or may not be, as `restore` takes it."""
        draft = self._form.draft()
        edited = [] if self.edited is None or draft else [self.edited]
        return {"unsaved": [self._as_json(each) for each in [*edited, *self._queue.submissions]], "draft": draft}

    def _as_json(self, submission: Submission) -> dict[str, object]:
        reason = "" if submission.error is None else self._reason(submission)
        return {
            "waits": bool(submission.entries) and submission.can_be_sent,
            "texts": list(submission.texts),
            "plants": [list(entry) for entry in submission.entries],
            "reason": error_text(UnansweredError()) if submission.is_sent else reason,
            "owner": _owner(submission.error),
            "sent_at": submission.sent_at,
        }

    def restore(self, remembered: Mapping[str, object]) -> None:
        """List again what an earlier window could not save, and put what was typed into the form, if it is empty.

        What only waited is sent; the user adds the rest. What was sent is forgotten where the store has it.
        """
        unsaved, draft = remembered.get("unsaved"), remembered.get("draft")
        found = [_submission(each) for each in (unsaved if isinstance(unsaved, list) else [])]
        typed = _submission({"texts": draft, "plants": [], "reason": ""})
        if typed is not None and self._form.is_empty:
            self._form.restore(typed.texts)
        else:
            found.append(typed)
        self._queue.add_unsaved([each for each in found if each is not None])

    # --- inside ---

    @cached_property
    def _box(self) -> UnsavedBox:
        box = UnsavedBox(self._form.theme)
        box.selection_changed.connect(self._show_actions)
        box.discard_requested.connect(self._discard)
        box.left.connect(self._form.focus_name)
        self._form.add_below(box)
        self.shown.emit(box)
        return box

    def _line(self, submission: Submission) -> Line:
        if submission in self._queue.in_doubt:
            reason = self.tr("Checking whether it was saved; it is not added twice.")
            return Line(submission, ("refresh-cw", "text_2"), self._title(submission), reason, "text_2")
        if submission.state is State.REFUSED:
            icon = "circle-alert", "error"
        else:
            icon = "clock" if _waits_for_server(submission) else "history", "text_2"
        return Line(submission, icon, self._title(submission), self._reason(submission), icon[1])

    @property
    def _chosen(self) -> list[Submission]:
        """What the actions are for: what is selected, or all, without what may be saved already."""
        chosen = [self._listed[row] for row in self._box.selected] or self._listed
        return [each for each in chosen if each not in self._queue.in_doubt]

    @Slot()
    def _show_actions(self) -> None:
        chosen = self._chosen
        taken = [each for each in chosen if isinstance(each.error, IdTakenError)]
        failed = [each for each in chosen if each.error and each not in taken and not _waits_for_server(each)]
        actions: list[MessageAction] = []
        if taken:
            several = Text("Use free IDs for {count:,} plants", count=len(taken))
            label = self.free_id_label if len(taken) == 1 else shown(several)
            actions.append((label, partial(self._queue.send_again, taken, with_free_ids=True)))
        if failed:
            several = Text("Try {count:,} plants again", count=len(failed))
            label = self.tr("Try again") if len(failed) == 1 else shown(several)
            actions.append((label, partial(self._queue.send_again, failed)))
        if len(chosen) == 1 and chosen[0].texts:
            actions.append((self.tr("Edit"), partial(self._edit, chosen[0])))
        if chosen:
            several = Text("Discard {count:,} plants", count=len(chosen))
            label = self.tr("Discard") if len(chosen) == 1 else shown(several)
            actions.append((label, self._discard))
        self._box.show_actions(actions)

    def _title(self, submission: Submission) -> str:
        """Return the name in the form, or how many plants were pasted."""
        if submission.texts:
            return one_line(submission.texts[1] or submission.texts[0])
        return shown(Text("{count:,} plants", one="1 plant", count=len(submission.entries)))

    def _reason(self, submission: Submission) -> str:
        if submission.state is State.POSTPONED:
            return self.tr("put aside")
        if _waits_for_server(submission):
            return self.tr("waits for the server")
        if submission.error is None:
            return self.tr("waits until the store can be opened")
        return error_text(submission.error)

    def _edit(self, submission: Submission) -> None:
        self.edited = submission
        self._queue.discard([submission])
        self.edit_requested.emit(submission)

    @Slot()
    def _discard(self) -> None:
        discarded = self._chosen
        self._queue.discard(discarded)
        self.discarded.emit(discarded)

    @Slot(object)
    def _announce(self, submission: Submission) -> None:
        text = self.tr("{name} was not added: {reason}")
        text = text.format(name=self._title(submission), reason=self._reason(submission))
        announce(self._form, text)


def _submission(value: Mapping[str, Any]) -> Submission | None:
    """Return what `as_json` has described; None for anything else, as settings may hold anything."""
    try:
        texts, plants, reason, owner = value["texts"], value["plants"], value["reason"], value.get("owner")
        entries = [EnteredPlant(*plant) for plant in plants]
        owner = None if owner is None else _Owner(*owner)
    except (TypeError, KeyError, ValueError):
        return None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in (*texts, reason)):
        return None
    if len(texts) not in {0, 3} or not all(map(_is_entry, entries)) or not (texts or entries):
        return None
    if not entries:
        return Submission((), tuple(texts), State.POSTPONED)
    if value.get("waits") is True:
        return Submission(entries, tuple(texts), State.WAITING)
    is_taken = owner is not None and _is_entry(EnteredPlant(owner.name, owner.tag, owner.id))
    if owner is not None and is_taken:
        error: PlantDeskError = id_taken(owner, *entries[0][:2])
    elif reason:
        error = PlantDeskError(Text("{reason}", reason=reason))
    else:
        error = PlantDeskError(Text("PlantDesk was closed before it could be saved."))
    sent_at = value.get("sent_at")
    return Submission(entries, tuple(texts), State.REFUSED, error, sent_at=sent_at if isinstance(sent_at, int) else 0)


def _waits_for_server(submission: Submission) -> bool:
    """Whether it is sent as soon as the server answers."""
    error = submission.error
    return submission.can_be_sent and isinstance(error, StoreUnreachableError) and error.retry_after is not None


def plants_of(submissions: Sequence[Submission]) -> int:
    """Return how many plants are submitted; a half-typed one counts."""
    return sum(max(len(each.entries), 1) for each in submissions)


def _owner(error: Exception | None) -> _Owner | None:
    """Return the plant that has the ID, if this is why a plant was refused."""
    owner = error.owner if isinstance(error, IdTakenError) else None
    return None if owner is None else _Owner(owner.id, owner.name, owner.tag)


def _is_entry(entry: tuple[Any, ...]) -> bool:
    name, tag, plant_id, note = entry
    texts = isinstance(name, str) and all(isinstance(text, str | None) for text in (tag, note))
    return texts and (plant_id is None or type(plant_id) is int)


#: Lines that are seen without scrolling; in a low window the table needs the room.
_MAX_VISIBLE, _MAX_VISIBLE_LOW, _LOW_WINDOW = 8, 3, 700
_KEYS = {*ROW_KEYS, QKeyCombination(Qt.Key.Key_Delete)}


class UnsavedBox(QFrame):
    """A line for each plant, and what can be done with those that are selected, else with all; Del discards them.

    Keys of commands for the plants of the table do nothing while the focus is here.
    `selection_changed`: others are selected. `discard_requested`: Del was pressed. `left`: the focus was in the box,
    and there is nothing any more.
    """

    selection_changed = Signal()
    discard_requested = Signal()
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self.setAccessibleName(self.tr("Plants that are not saved"))
        headings = (self.tr("Name"), self.tr("Reason", "why a plant is not saved"))
        self._table = PlainTable(theme, self.accessibleName(), headings, wide=1, max_rows=_MAX_VISIBLE)
        self._table.horizontalHeader().hide()
        self._table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self._table.selectionModel().selectionChanged.connect(self.selection_changed)
        self._keys: Sequence[object] = ()
        self._actions: Sequence[MessageAction] = ()
        self._buttons = [self._button(place) for place in range(_MAX_ACTIONS)]
        buttons = fill(QHBoxLayout(), *self._buttons, STRETCH, margins=(S, 0, S, 0), spacing=S)
        fill(QVBoxLayout(self), self._table, buttons, margins=XS, spacing=0)
        self.hide()

    @property
    def selected(self) -> list[int]:
        """The numbers of the selected lines, in their order."""
        return sorted(index.row() for index in self._table.selectionModel().selectedRows())

    def show_lines(self, lines: Sequence[Line]) -> None:
        """Show these lines; those that were selected stay so, or the next one where these are gone."""
        had_focus = self.isAncestorOf(QApplication.focusWidget() or self)
        before = self.selected
        selected = [self._keys[row] for row in before]
        self._table.set_max_rows(_MAX_VISIBLE_LOW if self.window().height() < _LOW_WINDOW else _MAX_VISIBLE)
        keys = [line.key for line in lines]
        if keys != self._keys:
            self._table.clearSelection()
        rows = [(Cell(line.name, icon=line.icon), Cell(line.reason, line.reason, color=line.color)) for line in lines]
        self._table.show_rows([[*row] for row in rows], keys)
        if keys != self._keys:
            self._keys = keys
            rows_now = [row for row, key in enumerate(keys) if key in selected]
            if before and not rows_now and keys and had_focus:
                rows_now = [min(before[0], len(keys) - 1)]
            for row in rows_now:
                self._table.selectionModel().select(self._table.model().index(row, 0), _SELECT_ROW)
        self.setVisible(bool(lines))
        if had_focus and not lines:
            self.left.emit()

    def show_actions(self, actions: Sequence[MessageAction]) -> None:
        """Show what can be done with the selected lines, or with all."""
        self._actions = actions
        for place, button in enumerate(self._buttons):
            button.setVisible(place < len(actions))
            button.setText(actions[place][0] if place < len(actions) else "")

    @Slot()
    def focus_first(self) -> None:
        """Move the focus to the lines, and select one."""
        self._table.setFocus(Qt.FocusReason.OtherFocusReason)
        if not self.selected:
            self._table.selectRow(0)

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            event.setAccepted(event.keyCombination() in _KEYS)
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self.selected:
            self.discard_requested.emit()
        else:
            super().keyPressEvent(event)

    def _button(self, place: int) -> QPushButton:
        button = OneClickButton()
        button.setProperty("variant", "link")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the focus in the field
        button.clicked.connect(partial(self._run, place))
        return button

    def _run(self, place: int) -> None:
        _, action = self._actions[place]
        action()
