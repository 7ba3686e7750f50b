"""What is typed or copied and not in the store yet: a state machine, without Qt and without a store.

Submissions are sent in their order, so that no plant gets an ID before an earlier one. Each is WAITING until it is due,
SENDING until the store has answered, and gone when it is stored. What the store cannot save now waits again; what it
refuses is REFUSED until the user corrects or discards it. A half-typed plant that was put aside is POSTPONED.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import count, takewhile
from typing import NamedTuple

from plantdesk.domain.errors import PlantDeskError, StoreError, StoreUnreachableError
from plantdesk.domain.records import PlantRow, now_ms
from plantdesk.domain.texts import Text


class UnansweredError(StoreError):
    """The window was closed before the store had answered."""

    may_have_committed = True
    text = Text("PlantDesk was closed before it was known whether this was saved.")


class StoreNotOpenError(StoreError):
    """The store could not be opened."""

    text = Text("waits until the store can be opened")


class EnteredPlant(NamedTuple):
    """A plant to be added; without an `id` it gets the next free one."""

    name: str
    tag: str | None
    id: int | None = None
    note: str | None = None


class SubmissionState(Enum):
    """What a submission waits for: to be due, for the answer of the store, or for the user."""

    WAITING = auto()
    SENDING = auto()
    REFUSED = auto()
    POSTPONED = auto()


@dataclass(eq=False)
class Submission:
    """The plants of one Enter, or copies; all are added, or none.

    `texts` are those of the form (id, name, tag); empty for copies. `error` is the reason why they are not saved.
    If it may be in the store, `sent_at` is the time of sending in milliseconds since 1970, UTC; else 0. `is_copy`:
    copies of other plants. `is_quick`: of the small window. The `number` is the order of submission.
    """

    entries: Sequence[EnteredPlant]
    texts: tuple[str, ...] = ()
    state: SubmissionState = SubmissionState.WAITING
    error: Exception | None = None
    sent_at: int = 0
    is_copy: bool = False
    is_quick: bool = False
    number: int = field(default_factory=count().__next__)

    @property
    def is_single(self) -> bool:
        """Whether it is added without a change in the history, like the plants of scripts."""
        return len(self.entries) == 1 and self.entries[0].note is None

    @property
    def is_unknown(self) -> bool:
        """Whether it is not known yet if it has reached the store."""
        return (
            self.state is SubmissionState.WAITING
            and isinstance(self.error, StoreError)
            and self.error.may_have_committed
        )

    def as_json(self, text_of: Callable[[Exception], str] = str) -> dict[str, object]:
        """Return the submission as `from_json` takes it, with the text of its error."""
        error = UnansweredError() if self.state is SubmissionState.SENDING else self.error
        return {
            "waits": self.state is SubmissionState.WAITING and not self.is_unknown,
            "texts": list(self.texts),
            "plants": [list(entry) for entry in self.entries],
            "reason": "" if error is None else text_of(error),
            "sent_at": self.sent_at,
        }


class Outbox:
    """The submissions in their order.

    `error` is the reason why none can be stored now. `is_lost`: the connection to the server broke. The store finds out
    which of those that were sent it has. `edited` is in the form again, and was not submitted since.
    """

    def __init__(self) -> None:
        self.submissions: list[Submission] = []
        self.error: StoreError | None = None
        self.is_lost = False
        self.edited: Submission | None = None

    @property
    def is_away(self) -> bool:
        """Whether submissions wait: the store could not be opened, or its server does not answer."""
        return self.is_lost or isinstance(self.error, StoreNotOpenError)

    @property
    def waits_for_server(self) -> bool:
        """Whether what waits is sent as soon as the server answers."""
        return isinstance(self.error, StoreUnreachableError) and self.error.retry_after is not None

    @property
    def can_retry(self) -> bool:
        """Whether the user may send what waits; else it is sent automatically as soon as possible."""
        return not (self.waits_for_server or isinstance(self.error, StoreNotOpenError))

    @property
    def saving(self) -> list[Submission]:
        """What is being saved, or is sent as soon as the store is open."""
        return [each for each in self.submissions if self._is_saving(each)]

    @property
    def unsaved(self) -> list[Submission]:
        """What the user sees in the list: submissions that could not be saved, are in doubt, or were put aside."""
        return [each for each in self.submissions if not self._is_saving(each) or self.is_in_doubt(each)]

    def is_in_doubt(self, submission: Submission) -> bool:
        """Return whether a submission may be in the store or not: the connection broke before the answer."""
        return submission.is_unknown or (self.is_lost and submission.state is SubmissionState.SENDING)

    def _is_saving(self, submission: Submission) -> bool:
        is_due = submission.state is SubmissionState.WAITING and self.error is None and not submission.is_unknown
        return is_due or submission.state is SubmissionState.SENDING

    def add(self, submissions: Iterable[Submission]) -> None:
        """Add what was submitted, was discarded before, or is from an earlier window, each by its number."""
        self.submissions = sorted([*self.submissions, *submissions], key=lambda each: each.number)

    def discard(self, submissions: Iterable[Submission]) -> None:
        """Drop submissions, except those that are being saved."""
        for each in submissions:
            if each in self.submissions and each.state is not SubmissionState.SENDING:
                self.submissions.remove(each)

    def edit(self, submission: Submission) -> None:
        """Take a submission out, to be corrected."""
        self.discard([submission])
        self.edited = submission

    def give_back(self) -> Submission | None:
        """Add again, unchanged, what was taken out for editing; take out and return what was put aside for it."""
        if self.edited is None:
            return None
        postponed = [each for each in self.submissions if each.state is SubmissionState.POSTPONED][-1:]
        self.discard(postponed)
        self.add([self.edited])
        self.edited = None
        return postponed[0] if postponed else None

    def retry(self, submissions: Collection[Submission], *, with_free_ids: bool = False) -> None:
        """Let refused submissions be sent again; on request with the next free IDs as one submission, with one undo."""
        refused = [each for each in self.submissions if each in submissions and each.state is SubmissionState.REFUSED]
        if with_free_ids and refused:
            first, *others = refused
            first.entries = [entry._replace(id=None) for each in refused for entry in each.entries]
            first.texts = ("", *first.texts[1:]) if first.texts and not others else ()
            self.discard(others)
        for each in refused:
            each.state, each.error, each.sent_at = SubmissionState.WAITING, None, 0

    def send(self) -> list[Submission]:
        """Return what is due, which then counts as sent; nothing until the store has answered what was sent before.

        Plants without notes go together. If the store could not save the last one, the first goes alone: the others
        follow when it is stored, so that none overtakes it.
        """
        waiting = [each for each in self.submissions if each.state is SubmissionState.WAITING]
        if not waiting or any(each.state is SubmissionState.SENDING for each in self.submissions):
            return []
        is_stuck = self.error is not None or waiting[0].is_unknown
        due = [*takewhile(lambda each: each.is_single and not is_stuck, waiting)] or waiting[:1]
        for each in due:
            each.state, each.error, each.sent_at = SubmissionState.SENDING, None, now_ms()
        return due

    def stored(self, submission: Submission) -> None:
        """Drop a submission: the store has it."""
        self.submissions.remove(submission)
        self.error = None

    def failed(self, submission: Submission, error: Exception) -> None:
        """Let a submission wait if the store cannot save it now, or mark it as refused for any other reason."""
        self.error = error if isinstance(error, StoreError) else None
        submission.state = SubmissionState.REFUSED if self.error is None else SubmissionState.WAITING
        submission.error = error
        if not submission.is_unknown:
            submission.sent_at = 0

    # --- what an earlier window had sent ---

    @property
    def sent_before(self) -> list[Submission]:
        """What an earlier window had sent when it was ended, and the user has not sent again."""
        return [each for each in self.submissions if each.state is SubmissionState.REFUSED and each.sent_at]

    def drop_stored(self, rows: Sequence[PlantRow]) -> None:
        """Drop what an earlier window has added, according to `rows`: the plants of the form, oldest first."""
        for each in self.sent_before:
            left = _without(rows, each)
            if left is None:
                each.sent_at = 0
            else:
                rows = left
                self.submissions.remove(each)


def _without(rows: Sequence[PlantRow], submission: Submission) -> Sequence[PlantRow] | None:
    """Return the rows without those of a submission; None if one is missing, as all are stored or none is."""
    left = [*rows]
    for entry in submission.entries:
        for row in left:
            is_same = (row.name, row.tag, row.note) == (entry.name, entry.tag, entry.note)
            if is_same and entry.id in {None, row.id} and row.added_at >= submission.sent_at:
                left.remove(row)
                break
        else:
            return None
    return left


def from_json(value: object) -> Submission | None:
    """Return the submission from `Submission.as_json`; None for anything else, as settings may hold anything."""
    match value:
        case {"texts": [str(), str(), str()] | [] as texts, "plants": list(plants), "reason": str(reason), **others}:
            entries = [*filter(None, map(_entry, plants))]
        case _:
            return None
    if len(entries) < len(plants) or not (texts or plants):
        return None
    if not entries:
        return Submission((), tuple(texts), SubmissionState.POSTPONED)
    if others.get("waits") is True:
        return Submission(entries, tuple(texts))
    sent_at = sent_at if isinstance(sent_at := others.get("sent_at"), int) else 0
    text = Text("{reason}", reason=reason) if reason else Text("PlantDesk was closed before it could be saved.")
    return Submission(entries, tuple(texts), SubmissionState.REFUSED, PlantDeskError(text), sent_at)


def _entry(plant: object) -> EnteredPlant | None:
    match plant:
        case [str(name), str() | None as tag, int() | None as plant_id, str() | None as note]:
            return None if isinstance(plant_id, bool) else EnteredPlant(name, tag, plant_id, note)
    return None
