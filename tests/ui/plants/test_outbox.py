"""Nothing that is typed is lost or sent twice, whatever the store answers and whenever the window is ended."""

import json
from typing import Any

import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from plantdesk.domain.errors import IdTakenError, PlantDeskError, StoreBusyError
from plantdesk.domain.records import FORM, PlantRow
from plantdesk.store.postgres.transactions import OutcomeUnknownError
from plantdesk.ui.plants.outbox import (
    EnteredPlant,
    Outbox,
    StoreNotOpenError,
    Submission,
    SubmissionState,
    submission_from_json,
)

_OWNER = PlantRow(7, "Aloe", None, 0, FORM)
_ERRORS: list[PlantDeskError] = [StoreBusyError(), OutcomeUnknownError(), IdTakenError(_OWNER)]


class OutboxMachine(RuleBasedStateMachine):
    """Submissions have the numbers of their plants as names."""

    def __init__(self) -> None:
        super().__init__()
        self.outbox = Outbox()
        self.typed: list[str] = []
        self.stored_names: list[str] = []
        self.discarded: list[str] = []

    def names(self, submissions: list[Submission]) -> list[str]:
        return [entry.name for submission in submissions for entry in submission.entries]

    @rule(plants=st.integers(1, 3), plant_id=st.none() | st.just(7), note=st.none() | st.just("dry"))
    def submit(self, plants: int, plant_id: int | None, note: str | None) -> None:
        names = [str(len(self.typed) + number) for number in range(plants)]
        self.typed += names
        entries = [EnteredPlant(name, None, plant_id, note) for name in names]
        self.outbox.add([Submission(entries, ("7", names[0], "") if plants == 1 else ())])

    @rule()
    def send(self) -> None:
        waiting = [submission for submission in self.outbox.submissions if submission.state is SubmissionState.WAITING]
        was_sending = any(submission.state is SubmissionState.SENDING for submission in self.outbox.submissions)
        due = self.outbox.take_due()
        assert due == waiting[: len(due)], "none overtakes an earlier one"
        assert bool(due) is (bool(waiting) and not was_sending)
        assert len(due) <= 1 or all(each.is_single for each in due)

    def sending(self, data: st.DataObject) -> Submission:
        return data.draw(
            st.sampled_from([each for each in self.outbox.submissions if each.state is SubmissionState.SENDING])
        )

    @precondition(lambda self: any(each.state is SubmissionState.SENDING for each in self.outbox.submissions))
    @rule(data=st.data())
    def is_stored(self, data: st.DataObject) -> None:
        submission = self.sending(data)
        self.outbox.mark_stored(submission)
        self.stored_names += self.names([submission])

    @precondition(lambda self: any(each.state is SubmissionState.SENDING for each in self.outbox.submissions))
    @rule(data=st.data(), error=st.sampled_from(_ERRORS))
    def fails(self, data: st.DataObject, error: PlantDeskError) -> None:
        submission = self.sending(data)
        self.outbox.mark_failed(submission, error)
        assert submission in self.outbox.unsaved
        assert bool(submission.sent_at) is isinstance(error, OutcomeUnknownError)

    @rule(is_disconnected=st.booleans(), is_open=st.booleans())
    def store_changes(self, is_disconnected: bool, is_open: bool) -> None:  # noqa: FBT001
        self.outbox.is_disconnected = is_disconnected
        self.outbox.error = None if is_open else StoreNotOpenError()

    @precondition(lambda self: self.outbox.submissions)
    @rule(data=st.data(), with_free_ids=st.booleans())
    def retry(self, data: st.DataObject, with_free_ids: bool) -> None:  # noqa: FBT001
        chosen = data.draw(st.lists(st.sampled_from(self.outbox.submissions), min_size=1, unique_by=id))
        refused = [each for each in self.outbox.submissions if each in chosen and each.state is SubmissionState.REFUSED]
        free = [entry._replace(id=None) for each in refused for entry in each.entries]
        self.outbox.retry(chosen, with_free_ids=with_free_ids)
        assert all(each.state is not SubmissionState.REFUSED for each in chosen if each in self.outbox.submissions)
        if refused and with_free_ids:
            assert refused[0].entries == free

    @precondition(lambda self: self.outbox.submissions)
    @rule(data=st.data())
    def discard(self, data: st.DataObject) -> None:
        submission = data.draw(st.sampled_from(self.outbox.submissions))
        self.outbox.discard([submission])
        assert (submission in self.outbox.submissions) is (submission.state is SubmissionState.SENDING)
        if submission not in self.outbox.submissions:
            self.discarded += self.names([submission])

    @precondition(lambda self: self.outbox.edited is None)
    @rule(data=st.data())
    def edit(self, data: st.DataObject) -> None:
        refused = [each for each in self.outbox.submissions if each.state is SubmissionState.REFUSED]
        if refused:
            self.outbox.edit(data.draw(st.sampled_from(refused)))
            self.outbox.add([Submission((), ("", "half", ""), SubmissionState.POSTPONED)])

    @rule()
    def restore_postponed(self) -> None:
        edited = self.outbox.edited
        postponed = self.outbox.restore_postponed()
        assert postponed is None or postponed.state is SubmissionState.POSTPONED
        assert edited is None or edited in self.outbox.submissions

    @precondition(lambda self: self.outbox.edited is None)
    @rule()
    def start_again(self) -> None:
        """What was sent is not sent again by itself."""
        before = self.outbox.submissions
        kept: list[dict[str, Any]] = json.loads(json.dumps([each.to_json() for each in before]))
        self.outbox = Outbox()
        self.outbox.add([each for value in kept if (each := submission_from_json(value))])
        for old, new in zip(before, self.outbox.submissions, strict=True):
            assert (new.entries, new.texts) == (list(old.entries), old.texts)
            was_sent = old.state is SubmissionState.SENDING or old.is_outcome_unknown
            assert new.state is (SubmissionState.REFUSED if was_sent else old.state)
            assert new.sent_at == old.sent_at

    @invariant()
    def each_plant_is_in_one_place(self) -> None:
        edited = [] if self.outbox.edited is None else [self.outbox.edited]
        here = self.names([*self.outbox.submissions, *edited])
        assert sorted([*here, *self.stored_names, *self.discarded]) == sorted(self.typed)

    @invariant()
    def each_submission_is_saved_or_shown(self) -> None:
        outbox = self.outbox
        assert {*outbox.saving} | {*outbox.unsaved} == {*outbox.submissions}
        assert all(map(outbox.has_unknown_outcome, {*outbox.saving} & {*outbox.unsaved}))


TestOutbox = OutboxMachine.TestCase
