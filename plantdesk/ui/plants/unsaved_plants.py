"""The submitted plants that are not saved: the reason of each, what the user can do, and their list under the form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from plantdesk.domain.errors import IdTakenError, PlantDeskError, StoreUnreachableError, Text, id_taken
from plantdesk.ui.plants.add_queue import AddQueue, EnteredPlant, State, Submission, UnansweredError
from plantdesk.ui.qt import STRETCH, fill, set_properties
from plantdesk.ui.texts import error_text, one_line, shown
from plantdesk.ui.theme.metrics import XS, M, S
from plantdesk.ui.widgets.containers import MoreRow, ScrollArea
from plantdesk.ui.widgets.fields import OneClickButton
from plantdesk.ui.widgets.painting import Icon
from plantdesk.ui.widgets.plain_text import PlainLabel, announce, set_tool_tip

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent, QResizeEvent

    from plantdesk.ui.plants.form import PlantForm
    from plantdesk.ui.theme.theme import Theme
    from plantdesk.ui.widgets.messages import MessageAction


#: Milliseconds from a change or key until the list, and what is typed, are saved for the next start; more keys, such as
#: those of a barcode reader, do not delay it.
SETTLED = 500
#: Milliseconds in which the store usually takes a plant; else it is saved for the next start too.
_LATE = 100


class _Owner(NamedTuple):
    """The plant that had an ID when PlantDesk was closed."""

    id: int
    name: str
    tag: str | None


class UnsavedPlants(QObject):
    """Lists what the queue could not save in a box under the form, which is made for the first of them.

    `free_id_label` is the label of the action that adds a plant under the next free ID. `shown(box)`: the box was made.
    `edit_requested(submission)`: it is to be put into the form again, and is not listed any more. `discarded(text,
    submissions)`: what the user has discarded. `settled`: the list or the form was changed, and not for a moment.
    """

    shown = Signal(object)
    edit_requested = Signal(object)
    discarded = Signal(str, object)
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
        self._late = QTimer(self, singleShot=True, interval=_LATE)
        self._late.timeout.connect(self.settled)
        form.changed.connect(self._settle_soon)
        queue.changed.connect(self.show)
        queue.refused.connect(self._announce)

    @Slot()
    def show(self) -> None:
        """Show what is not saved now."""
        in_doubt, unsaved = self._queue.in_doubt, self._queue.unsaved
        self._listed = [each for each in self._queue.submissions if each in in_doubt or each in unsaved]
        if self._listed or "_box" in vars(self):
            self._box.show_lines([self._line(each) for each in self._listed], self._actions_for_all())
        if not any(map(_is_to_be_remembered, self._queue.submissions)):
            self._settle_soon()
        elif self._listed or len(self._queue.submissions) > 1 or not self._queue.has_store:
            self.settled.emit()  # the store does not take them at once: a kill must not lose what follows
        else:
            start_once(self._late)

    @Slot()
    def _settle_soon(self) -> None:
        start_once(self._settling)

    @property
    def count(self) -> int:
        """How many plants are not saved, with those that are being saved; 0 while none of them failed."""
        return _plants(self._queue.submissions) if self._queue.unsaved or self._queue.in_doubt else 0

    def put_back(self, submissions: Sequence[Submission]) -> None:
        """List again what was discarded, in its place."""
        self._queue.add_unsaved(submissions)

    def as_json(self) -> dict[str, list[Any]]:
        """Return what is typed, and what is not saved, or may not be, as `restore` takes it; it is remembered next."""
        draft = self._form.draft()
        self._form.is_remembered = bool(draft)
        edited = [] if self.edited is None or draft else [self.edited]
        return {"unsaved": [self._as_json(each) for each in [*edited, *self._queue.submissions]], "draft": draft}

    def _as_json(self, submission: Submission) -> dict[str, object]:
        submission.is_remembered, submission.is_draft = bool(submission.entries) and submission.can_be_sent, False
        reason = "" if submission.error is None else self._reason(submission)
        return {
            "waits": submission.is_remembered,
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
            self._form.is_remembered = True
        else:
            found.append(typed)
        self._queue.add_unsaved([each for each in found if each is not None])

    # --- inside ---

    @cached_property
    def _box(self) -> UnsavedBox:
        box = UnsavedBox(self._form.theme)
        box.discarded.connect(self._on_discarded)
        box.left.connect(self._form.focus_name)
        self._form.add_below(box)
        self.shown.emit(box)
        return box

    def _line(self, submission: Submission) -> Line:
        if submission in self._queue.in_doubt:
            reason = self.tr("Checking whether it was saved; it is not added twice.")
            return Line("refresh-cw", "muted", self._title(submission), reason, ())
        is_refused = submission.state is State.REFUSED
        icon = "circle-alert" if is_refused else "clock" if _waits_for_server(submission) else "history"
        tone = "error" if is_refused else "muted"
        actions = self._cures(submission)
        if submission.texts:
            actions.append((self.tr("Edit"), partial(self._edit, submission)))
        actions.append((self.tr("Discard"), partial(self._discard, [submission])))
        return Line(icon, tone, self._title(submission), self._reason(submission), actions)

    def _cures(self, submission: Submission) -> list[MessageAction]:
        """Return the actions that may save it as it is."""
        if submission.state is State.POSTPONED or submission.error is None or _waits_for_server(submission):
            return []
        if isinstance(submission.error, IdTakenError):
            return [(self.free_id_label, partial(self._queue.send_again, [submission], with_free_ids=True))]
        return [(self.tr("Try again"), partial(self._queue.send_again, [submission]))]

    def _actions_for_all(self) -> list[MessageAction]:
        """Return what can be done with all lines at once, where there are several for it."""
        unsaved = self._queue.unsaved
        taken = [each for each in unsaved if isinstance(each.error, IdTakenError)]
        failed = [each for each in unsaved if each.error and each not in taken and not _waits_for_server(each)]
        use_free_ids = partial(self._queue.send_again, taken, with_free_ids=True)
        actions = (
            (taken, self.tr("Use free IDs for all"), use_free_ids),
            (failed, self.tr("Try all again"), partial(self._queue.send_again, failed)),
            (unsaved, self.tr("Discard all"), partial(self._discard, unsaved)),
        )
        return [(label, action) for submissions, label, action in actions if len(submissions) > 1]

    def _title(self, submission: Submission) -> str:
        """Return the name in the form, or how many plants were pasted."""
        if submission.texts:
            return submission.texts[1] or submission.texts[0]
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

    @Slot(int)
    def _on_discarded(self, position: int) -> None:
        if self._listed[position] not in self._queue.in_doubt:
            self._discard([self._listed[position]])

    def _discard(self, submissions: Sequence[Submission]) -> None:
        self._queue.discard(submissions)
        self.discarded.emit(
            shown(Text("Discarded {count:,} plants.", one="Discarded 1 plant.", count=_plants(submissions))),
            submissions,
        )

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


def _is_to_be_remembered(submission: Submission) -> bool:
    """Whether the settings do not have it, or have one that waits as one that may be in the store."""
    is_known_to_wait = submission.state is State.WAITING and submission.can_be_sent
    return submission.is_remembered is None or (is_known_to_wait and not submission.is_remembered)


def start_once(timer: QTimer) -> None:
    """Start a timer that does not run; one that runs is not delayed."""
    if not timer.isActive():
        timer.start()


def _waits_for_server(submission: Submission) -> bool:
    """Whether it is sent as soon as the server answers."""
    error = submission.error
    return submission.can_be_sent and isinstance(error, StoreUnreachableError) and error.retry_after is not None


def _plants(submissions: Sequence[Submission]) -> int:
    return sum(max(len(each.entries), 1) for each in submissions)


def _owner(error: Exception | None) -> _Owner | None:
    """Return the plant that has the ID, if this is why a plant was refused."""
    owner = error.owner if isinstance(error, IdTakenError) else None
    return None if owner is None else _Owner(owner.id, owner.name, owner.tag)


def _is_entry(entry: tuple[Any, ...]) -> bool:
    name, tag, plant_id, note = entry
    texts = isinstance(name, str) and all(isinstance(text, str | None) for text in (tag, note))
    return texts and (plant_id is None or type(plant_id) is int)


#: Lines that are shown at first, and without scrolling; in a low window the table needs the room.
_FIRST, _MAX_VISIBLE = 3, 8
_LOW_WINDOW = 700
#: Lines of the whole list; the others follow when these are done.
_MAX_LINES = 200
_LINE = 30
_STEPS = {
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
}


class Line(NamedTuple):
    """What is shown of a plant: an icon, the tone of the reason why it is not saved, a name, and its actions."""

    icon: str
    tone: str
    name: str
    reason: str
    actions: Sequence[MessageAction]


class UnsavedBox(QFrame):
    """Hidden while there are no lines. The arrow keys move between lines and actions, Del discards a line.

    The actions for all lines are below them.
    `discarded(position)`: Del was pressed on a line. `left`: the focus was on a line, and there is none any more.
    """

    discarded = Signal(int)
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._lines: Sequence[Line] = ()
        self._actions_for_all: Sequence[MessageAction] = ()
        self._rows: list[_Row] = []
        self.setProperty("card", "true")
        self.setAccessibleName(self.tr("Plants that are not saved"))
        self._content = QWidget()
        self._list = fill(QVBoxLayout(self._content), STRETCH, margins=0, spacing=0)
        self._for_all = _Links()
        self._for_all.key_pressed.connect(self._on_key)
        self._footer = MoreRow()
        self._footer.toggled.connect(self._on_toggled)
        self._lay_out()
        theme.changed.connect(self._fit)
        self.hide()

    def show_lines(self, lines: Sequence[Line], actions_for_all: Sequence[MessageAction]) -> None:
        """Show these lines, the first ones until the user asks for all; the focus stays in its line."""
        focus = self._focus()
        self._lines, self._actions_for_all = lines, actions_for_all
        self._for_all.show_actions(actions_for_all)
        shown = lines[: _MAX_LINES if self._footer.shows_all else _FIRST]
        for row in self._rows[len(shown) :]:
            self._list.removeWidget(row)
            row.hide()
            row.deleteLater()
        del self._rows[len(shown) :]
        for place, line in enumerate(shown):
            if place == len(self._rows):
                self._rows.append(_Row(self._theme))
                self._rows[place].links.key_pressed.connect(self._on_key)
                self._list.insertWidget(place, self._rows[place])
            self._rows[place].show_line(line)
        self._footer.show_counts(len(lines), len(shown), _FIRST)
        self._footer.setVisible(len(lines) > _FIRST or bool(actions_for_all))
        self._fit()
        self.setVisible(bool(lines))
        if focus is not None:
            self._restore_focus(*focus)

    @Slot()
    def focus_first(self) -> None:
        """Move the focus to the first action."""
        self._restore_focus(0, 0)

    @Slot(int)
    def _on_key(self, key: int) -> None:
        focus = self._focus()
        if focus is None:
            return
        if key != Qt.Key.Key_Delete:
            down, across = _STEPS[Qt.Key(key)]
            across = -across if self.isRightToLeft() else across
            self._restore_focus(focus[0] + down, max(0, focus[1] + across))
        else:
            places = [place for place, row in enumerate(self._rows) if row.links.buttons]
            if focus[0] < len(places):
                self.discarded.emit(places[focus[0]])

    def _lay_out(self) -> None:
        self._area = ScrollArea(self._content, horizontal=False)
        self._footer.row.addWidget(self._for_all)
        fill(QVBoxLayout(self), self._area, self._footer, margins=(M + 2, S, M + 2, S), spacing=0)

    def _focus(self) -> tuple[int, int] | None:
        """Return the line and the action that have the focus."""
        for place, buttons in enumerate(self._buttons()):
            for number, button in enumerate(buttons):
                if button.hasFocus():
                    return place, number
        return None

    def _buttons(self) -> list[list[QPushButton]]:
        """Return the buttons of each line."""
        return [links.buttons for links in (*(row.links for row in self._rows), self._for_all) if links.buttons]

    def _restore_focus(self, place: int, number: int) -> None:
        lines = self._buttons()
        if not lines:
            self.left.emit()
            return
        buttons = lines[max(0, min(place, len(lines) - 1))]
        buttons[min(number, len(buttons) - 1)].setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _on_toggled(self) -> None:
        self.show_lines(self._lines, self._actions_for_all)

    @Slot()
    def _fit(self) -> None:
        height = max(self._theme.metrics.scaled(_LINE), self._theme.metrics.compact_row)
        for row in self._rows:
            row.setFixedHeight(height)
        most = _FIRST if self.window().height() < _LOW_WINDOW else _MAX_VISIBLE
        self._area.setFixedHeight(height * min(len(self._rows), most))
        self._footer.setFixedHeight(height)


class _Row(QWidget):
    """One line. Its texts are cut where there is no room for them; a tooltip shows them."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._icon = Icon(theme, "circle-alert", "error")
        self._name = _CutLabel(role="strong")
        self._reason = _CutLabel()
        self.links = _Links()
        fill(QHBoxLayout(self), self._icon, self._name, XS, (self._reason, 1), self.links, margins=0, spacing=S)

    def show_line(self, line: Line) -> None:
        """Show a line in the place of another."""
        self._icon.show_icon(line.icon, "error" if line.tone == "error" else "text_2")
        self._name.show_text(line.name)
        self._reason.show_text(line.reason, line.tone)
        self.setAccessibleName(f"{line.name}: {line.reason}")
        self.links.show_actions(line.actions)


class _Links(QWidget):
    """The buttons of a line.

    `key_pressed(key)`: one of the keys of the box.
    """

    key_pressed = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._actions: Sequence[MessageAction] = ()
        self.buttons: list[QPushButton] = []
        self._layout = fill(QHBoxLayout(self), margins=0, spacing=S)

    def show_actions(self, actions: Sequence[MessageAction]) -> None:
        """Show a button for each action. Buttons stay, so that one that is pressed is not replaced."""
        self._actions = actions
        for button in self.buttons[len(actions) :]:
            self._layout.removeWidget(button)
            button.hide()
            button.deleteLater()
        del self.buttons[len(actions) :]
        self.buttons += [self._button() for _ in actions[len(self.buttons) :]]
        for button, (label, _) in zip(self.buttons, actions, strict=True):
            button.setText(label)

    def _button(self) -> QPushButton:
        button = _LinkButton()
        button.setProperty("variant", "link")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the focus in the field
        button.clicked.connect(self._on_clicked)
        button.key_pressed.connect(self.key_pressed)
        self._layout.addWidget(button)
        return button

    @Slot()
    def _on_clicked(self) -> None:
        button = self.sender()
        if isinstance(button, QPushButton):
            _, action = self._actions[self.buttons.index(button)]
            action()


class _LinkButton(OneClickButton):
    """Leaves the keys of the box to it: Qt's buttons move the focus by the arrow keys, and its scroll area scrolls."""

    key_pressed = Signal(int)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _STEPS or event.key() == Qt.Key.Key_Delete:
            self.key_pressed.emit(event.key())
        else:
            super().keyPressEvent(event)


class _CutLabel(PlainLabel):
    """A label on one line that ends in “…” where it is cut."""

    def __init__(self, *, role: str = "") -> None:
        super().__init__(role=role)
        self._whole = ""
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def show_text(self, text: str, tone: str = "") -> None:
        """Show a text in a tone of the style sheet."""
        self._whole = one_line(text)
        set_properties(self, tone=tone)
        set_tool_tip(self, text)
        self.updateGeometry()
        self._cut()

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(min(self.sizeHint().width(), 4 * self.fontMetrics().height()), super().minimumSizeHint().height())

    @override
    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self._whole) + 2, super().sizeHint().height())

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._cut()

    def _cut(self) -> None:
        self.setText(self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideRight, self.width()))
