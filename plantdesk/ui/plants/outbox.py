"""The outbox: unsaved plants, as a state machine without Qt and without a store.

Submissions are sent in their order, so that no plant gets an ID before an earlier one. Each is WAITING until it is due,
SENDING until the store has answered, and removed when it is stored. One that the store cannot save now waits again; one
that it refuses is REFUSED until the user corrects or discards it. A half-typed plant is POSTPONED.
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
    """No store could be opened yet, so plants wait."""

    text = Text("waits until the store can be opened")


class EnteredPlant(NamedTuple):
    """A plant that the user wants to add; without an `id` it gets the next free one."""

    name: str
    tag: str | None
    id: int | None = None
    note: str | None = None


class SubmissionState(Enum):
    """The states of a submission; the docstring of this module explains them."""

    WAITING = auto()
    SENDING = auto()
    REFUSED = auto()
    POSTPONED = auto()


@dataclass(eq=False)
class Submission:
    """Plants that were submitted together: all are added, or none.

    `texts` are the texts of the form (id, name, tag), or empty for copies (`is_copy`). `error` is the reason why
    it is not saved. `sent_at` is the time of sending in milliseconds since 1970, UTC, if the plants may be in the
    store, else 0. `is_quick`: from the quick entry. `number` is the order of submission.
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
        """Whether it is one plant without a note: such a plant is added without a change in the history."""
        return len(self.entries) == 1 and self.entries[0].note is None

    @property
    def is_outcome_unknown(self) -> bool:
        """Whether it was sent, and the answer does not tell whether the store has it."""
        return (
            self.state is SubmissionState.WAITING
            and isinstance(self.error, StoreError)
            and self.error.may_have_committed
        )

    def to_json(self, format_error: Callable[[Exception], str] = str) -> dict[str, object]:
        """Return a JSON object for `submission_from_json`; `format_error` returns the text of an error."""
        error = UnansweredError() if self.state is SubmissionState.SENDING else self.error
        return {
            "waits": self.state is SubmissionState.WAITING and not self.is_outcome_unknown,
            "texts": list(self.texts),
            "plants": [list(entry) for entry in self.entries],
            "reason": "" if error is None else format_error(error),
            "sent_at": self.sent_at,
        }


class Outbox:
    """The unsaved submissions, in the order in which they are sent.

    `error` is the reason why none can be stored now. `is_disconnected`: the connection to the server is broken; the
    store will find out which sent ones it has. `edited` was taken out, to be corrected in the form.
    """

    def __init__(self) -> None:
        self.submissions: list[Submission] = []
        self.error: StoreError | None = None
        self.is_disconnected = False
        self.edited: Submission | None = None

    @property
    def is_store_unavailable(self) -> bool:
        """Whether submissions wait for a store that is not open, or whose server does not answer."""
        return self.is_disconnected or isinstance(self.error, StoreNotOpenError)

    @property
    def waits_for_server(self) -> bool:
        """Whether waiting submissions are sent by themselves when the server answers again."""
        return isinstance(self.error, StoreUnreachableError) and self.error.retry_after is not None

    @property
    def can_retry(self) -> bool:
        """Whether the user can send waiting submissions; not if they wait for a store or its server."""
        return not (self.waits_for_server or isinstance(self.error, StoreNotOpenError))

    @property
    def saving(self) -> list[Submission]:
        """The submissions that are being saved, or are sent when the store is open."""
        return [submission for submission in self.submissions if self._is_saving(submission)]

    @property
    def unsaved(self) -> list[Submission]:
        """The listed submissions: those that could not be saved, have an unknown outcome, or were postponed."""
        return [item for item in self.submissions if not self._is_saving(item) or self.has_unknown_outcome(item)]

    def has_unknown_outcome(self, submission: Submission) -> bool:
        """Return whether it is unknown if the store has a submission, as the connection broke before the answer."""
        return submission.is_outcome_unknown or (self.is_disconnected and submission.state is SubmissionState.SENDING)

    def _is_saving(self, submission: Submission) -> bool:
        if submission.state is SubmissionState.WAITING:
            return self.error is None and not submission.is_outcome_unknown
        return submission.state is SubmissionState.SENDING

    def add(self, submissions: Iterable[Submission]) -> None:
        """Add submissions, in the order of their numbers."""
        self.submissions = sorted([*self.submissions, *submissions], key=lambda submission: submission.number)

    def discard(self, submissions: Iterable[Submission]) -> None:
        """Drop submissions, except those that are being saved."""
        for submission in submissions:
            if submission in self.submissions and submission.state is not SubmissionState.SENDING:
                self.submissions.remove(submission)

    def edit(self, submission: Submission) -> None:
        """Take a submission out of the list, as the user corrects it in the form."""
        self.discard([submission])
        self.edited = submission

    def restore_postponed(self) -> Submission | None:
        """Add the edited submission again, unchanged; take out and return the postponed one, if any."""
        if self.edited is None:
            return None
        postponed = [item for item in self.submissions if item.state is SubmissionState.POSTPONED][-1:]
        self.discard(postponed)
        self.add([self.edited])
        self.edited = None
        return postponed[0] if postponed else None

    def retry(self, submissions: Collection[Submission], *, with_free_ids: bool = False) -> None:
        """Let refused submissions wait again; with free IDs they become one submission, and so one undo."""
        refused = [item for item in self.submissions if item in submissions and item.state is SubmissionState.REFUSED]
        if with_free_ids and refused:
            first, *others = refused
            first.entries = [entry._replace(id=None) for submission in refused for entry in submission.entries]
            first.texts = ("", *first.texts[1:]) if first.texts and not others else ()
            self.discard(others)
        for submission in refused:
            submission.state = SubmissionState.WAITING
            submission.error = None
            submission.sent_at = 0

    def take_due(self) -> list[Submission]:
        """Mark the submissions to send as SENDING, and return them; none while others are being sent.

        Single plants are sent together. After a failure of the store the first one is sent alone, so that no other
        one is stored before it.
        """
        waiting = [submission for submission in self.submissions if submission.state is SubmissionState.WAITING]
        if not waiting or any(submission.state is SubmissionState.SENDING for submission in self.submissions):
            return []
        is_stuck = self.error is not None or waiting[0].is_outcome_unknown
        due = [*takewhile(lambda submission: submission.is_single and not is_stuck, waiting)] or waiting[:1]
        for submission in due:
            submission.state = SubmissionState.SENDING
            submission.error = None
            submission.sent_at = now_ms()
        return due

    def mark_stored(self, submission: Submission) -> None:
        """Remove a submission that the store has saved; this also clears `error`."""
        self.submissions.remove(submission)
        self.error = None

    def mark_failed(self, submission: Submission, error: Exception) -> None:
        """Let a submission wait after a StoreError; after any other error it is refused."""
        self.error = error if isinstance(error, StoreError) else None
        submission.state = SubmissionState.REFUSED if self.error is None else SubmissionState.WAITING
        submission.error = error
        if not submission.is_outcome_unknown:
            submission.sent_at = 0

    @property
    def sent_by_earlier_window(self) -> list[Submission]:
        """The submissions that an earlier window was sending when it ended."""
        return [item for item in self.submissions if item.state is SubmissionState.REFUSED and item.sent_at]

    def drop_stored(self, rows: Sequence[PlantRow]) -> None:
        """Remove plants that an earlier window has stored; `rows` are the latest plants of the form, oldest first."""
        for submission in self.sent_by_earlier_window:
            other_rows = _without_submission(rows, submission)
            if other_rows is None:
                submission.sent_at = 0
            else:
                rows = other_rows
                self.submissions.remove(submission)


def _without_submission(rows: Sequence[PlantRow], submission: Submission) -> Sequence[PlantRow] | None:
    """Return the rows without those of a submission; None if one is missing: then none of them is stored."""
    remaining = [*rows]
    for entry in submission.entries:
        for row in remaining:
            is_same = (row.name, row.tag, row.note) == (entry.name, entry.tag, entry.note)
            if is_same and entry.id in {None, row.id} and row.added_at >= submission.sent_at:
                remaining.remove(row)
                break
        else:
            return None
    return remaining


def submission_from_json(value: object) -> Submission | None:
    """Return the submission from `Submission.to_json`; None for an invalid value, as a user may edit the file."""
    match value:
        case {"texts": [str(), str(), str()] | [] as texts, "plants": list(plants), "reason": str(reason), **others}:
            entries = [*filter(None, map(_parse_entry, plants))]
        case _:
            return None
    if len(entries) < len(plants) or not (texts or plants):
        return None
    if not entries:
        return Submission((), tuple(texts), SubmissionState.POSTPONED)
    if others.get("waits") is True:
        return Submission(entries, tuple(texts))
    sent_at = others.get("sent_at")
    text = Text("{reason}", reason=reason) if reason else Text("PlantDesk was closed before it could be saved.")
    return Submission(
        entries, tuple(texts), SubmissionState.REFUSED, PlantDeskError(text), sent_at if isinstance(sent_at, int) else 0
    )


def _parse_entry(plant: object) -> EnteredPlant | None:
    match plant:
        case [str(name), str() | None as tag, int() | None as plant_id, str() | None as note]:
            return None if isinstance(plant_id, bool) else EnteredPlant(name, tag, plant_id, note)
    return None
