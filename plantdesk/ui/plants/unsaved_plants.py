"""The submitted plants that are not saved: why, what the user can do, and what is remembered for the next start."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

from plantdesk.domain.errors import IdTakenError, PlantDeskError
from plantdesk.ui.plants.add_queue import AddQueue, Entry, State, Submission
from plantdesk.ui.texts import error_text, plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plantdesk.ui.plants.form import PlantForm
    from plantdesk.ui.plants.unsaved_box import Line, UnsavedBox
    from plantdesk.ui.widgets.action_buttons import MessageAction

#: Milliseconds without a change, after which the list is saved for the next start.
_SETTLED = 500


class _Owner(NamedTuple):
    """The plant that had an ID when PlantDesk was closed."""

    id: int
    name: str
    tag: str | None


class UnsavedPlants(QObject):
    """Lists what the queue could not save in a box under the form, which is made for the first of them.

    `free_id_label` is the label of the action that adds a plant under the next free ID. `shown(box)`: the box was made.
    `edit_requested(submission)`: it is to be put into the form again, and is not listed any more. `discarded(text,
    submissions)`: what the user has discarded. `settled`: the list was changed, and not for a moment.
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
        self._settling = QTimer(self, singleShot=True, interval=_SETTLED)
        self._settling.timeout.connect(self.settled)
        queue.changed.connect(self.show)
        queue.refused.connect(self._announce)

    @Slot()
    def show(self) -> None:
        """Show what is not saved now."""
        if self._queue.unsaved or "_box" in vars(self):
            self._box.show_lines([self._line(each) for each in self._queue.unsaved], self._actions_for_all())
        self._settling.start()

    @property
    def count(self) -> int:
        """How many plants are not saved, with those that are being saved; 0 while none of them failed."""
        return _plants(self._queue.submissions) if self._queue.unsaved else 0

    def put_back(self, submissions: Sequence[Submission]) -> None:
        """List again what was discarded, in its place."""
        self._queue.add_unsaved(submissions)

    def as_json(self) -> list[dict[str, object]]:
        """Return what is not saved, or may not be, as `restore` takes it: also what is being saved and corrected."""
        edited = [] if self.edited is None else [self.edited]
        return [
            {
                "texts": list(each.texts),
                "plants": [list(entry) for entry in each.entries],
                "reason": "" if each.error is None else self._reason(each),
                "owner": _owner(each.error),
            }
            for each in [*edited, *self._queue.submissions]
        ]

    def restore(self, values: object) -> None:
        """List again what an earlier window could not save; the user adds it, as it may be saved by now."""
        found = map(_submission, values if isinstance(values, list) else [])
        submissions = [each for each in found if each is not None]
        for each in submissions:
            if each.state is State.REFUSED and not str(each.error):
                each.error = PlantDeskError(self.tr("PlantDesk was closed before it could be saved."))
        self._queue.add_unsaved(submissions)

    # --- inside ---

    @cached_property
    def _box(self) -> UnsavedBox:
        from plantdesk.ui.plants.unsaved_box import UnsavedBox

        box = UnsavedBox(self._form.theme)
        box.discarded.connect(self._on_discarded)
        box.left.connect(self._form.focus_name)
        self._form.add_below(box)
        self.shown.emit(box)
        return box

    def _line(self, submission: Submission) -> Line:
        from plantdesk.ui.plants.unsaved_box import Line

        is_refused = submission.state is State.REFUSED
        icon, tone = ("circle-alert", "error") if is_refused else ("history", "muted")
        actions = self._cures(submission)
        if submission.texts:
            actions.append((self.tr("Edit"), partial(self._edit, submission)))
        actions.append((self.tr("Discard"), partial(self._discard, [submission])))
        return Line(icon, tone, self._title(submission), self._reason(submission), actions)

    def _cures(self, submission: Submission) -> list[MessageAction]:
        """Return the actions that may save it as it is."""
        if submission.state is State.PUT_ASIDE or submission.error is None:
            return []
        if isinstance(submission.error, IdTakenError):
            return [(self.free_id_label, partial(self._queue.send_again, [submission], with_free_ids=True))]
        return [(self.tr("Try again"), partial(self._queue.send_again, [submission]))]

    def _actions_for_all(self) -> list[MessageAction]:
        """Return what can be done with all lines at once, where there are several for it."""
        unsaved = self._queue.unsaved
        taken = [each for each in unsaved if isinstance(each.error, IdTakenError)]
        failed = [each for each in unsaved if each.error is not None and each not in taken]
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
        return plural(len(submission.entries), self.tr("1 plant"), self.tr("{count} plants"))

    def _reason(self, submission: Submission) -> str:
        if submission.state is State.PUT_ASIDE:
            return self.tr("put aside")
        if submission.error is None:
            return self.tr("waits until the file can be opened")
        return error_text(submission.error)

    def _edit(self, submission: Submission) -> None:
        self.edited = submission
        self._queue.discard([submission])
        self.edit_requested.emit(submission)

    @Slot(int)
    def _on_discarded(self, position: int) -> None:
        self._discard([self._queue.unsaved[position]])

    def _discard(self, submissions: Sequence[Submission]) -> None:
        self._queue.discard(submissions)
        one, many = self.tr("Discarded 1 plant."), self.tr("Discarded {count} plants.")
        self.discarded.emit(plural(_plants(submissions), one, many), submissions)

    @Slot(object)
    def _announce(self, submission: Submission) -> None:
        text = self.tr("{name} was not added: {reason}")
        text = text.format(name=self._title(submission), reason=self._reason(submission))
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._form, text))


def _submission(value: Mapping[str, Any]) -> Submission | None:
    """Return what `as_json` has described; None for anything else, as settings may hold anything."""
    try:
        texts, plants, reason, owner = value["texts"], value["plants"], value["reason"], value.get("owner")
        entries = [Entry(*plant) for plant in plants]
        owner = None if owner is None else _Owner(*owner)
    except (TypeError, KeyError, ValueError):
        return None
    is_valid = isinstance(reason, str) and len(texts) in {0, 3} and all(isinstance(text, str) for text in texts)
    if not is_valid or not all(map(_is_entry, entries)) or not (texts or entries):
        return None
    if not entries:
        return Submission((), tuple(texts), State.PUT_ASIDE)
    is_taken = owner is not None and _is_entry(Entry(owner.name, owner.tag, owner.id))
    error = IdTakenError(owner) if owner is not None and is_taken else PlantDeskError(reason)
    return Submission(entries, tuple(texts), State.REFUSED, error)


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
