"""Editing, deleting, undo and the history, as every store must do it."""

from contextlib import closing
from queue import SimpleQueue
from typing import Any

import pytest

from plantdesk.domain.edits import (
    Delete,
    DeleteAll,
    Edit,
    Insert,
    MergeTags,
    RenameTag,
    Rewrite,
    SetTag,
    edited,
)
from plantdesk.domain.errors import EditConflictError, InvalidPlantError, NothingToUndoError
from plantdesk.domain.history import Change, ChangeKind
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import COMMAND, FORM, Changes, PlantRow, Source, SourceKind
from plantdesk.domain.rewriting import RewriteRule
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import HasTag, Selection
from plantdesk.domain.validation import new_plant, plant_fields
from plantdesk.store.rows import FIRST_UNCOUNTED_ID
from tests.store.contract.conftest import Open
from tests.support.adding import add_each, plant
from tests.support.plant_changes import add, apply, rows, titles, undo
from tests.support.waiting import SECONDS


@pytest.fixture
def plants(store: PlantStore) -> list[PlantRow]:
    """Three plants: a fern and an aloe with a tag, and a rose without one."""
    entries = [(3, "Fern", "kitchen"), (1, "Aloe", "kitchen"), (2, "Röschen", None)]
    return [add(store, plant_id, name, tag) for plant_id, name, tag in entries]


# --- edits -------------------------------------------------------------------------------------------------------


def test_an_edit_changes_only_the_fields_that_it_names(store: PlantStore, plants: list[PlantRow]) -> None:
    fern = plants[0]
    apply(store, edited(fern, name="Great fern", note="Water on Mondays"))
    row = rows(store)[0]
    assert (row.id, row.name, row.tag, row.note) == (3, "Great fern", "kitchen", "Water on Mondays")
    assert (row.added_at, row.source) == (fern.added_at, fern.source)
    assert titles(store) == ["Edit “Fern”, now “Great fern”"]


def test_an_edit_of_a_plant_that_changed_meanwhile_is_refused(store: PlantStore, plants: list[PlantRow]) -> None:
    fern, aloe, _ = plants
    apply(store, edited(fern, name="First"))
    failure = store.apply([edited(aloe, name="Aloe vera"), edited(fern, name="Second")], FORM).exception(SECONDS)
    assert isinstance(failure, EditConflictError)
    assert failure.current is not None
    assert failure.current.name == "First"
    assert [row.name for row in rows(store)] == ["First", "Aloe", "Röschen"]
    assert isinstance(store.apply([Delete(3, fern.version, "Fern")], FORM).exception(SECONDS), EditConflictError)


def test_a_plant_that_was_deleted_and_added_again_is_another_one(store: PlantStore, plants: list[PlantRow]) -> None:
    fern = plants[0]
    apply(store, Delete(fern.id, fern.version, fern.name))
    add(store, fern.id, "Another")
    assert isinstance(store.apply([edited(fern, name="Mine")], FORM).exception(SECONDS), EditConflictError)


def test_values_that_cannot_be_stored_are_refused(plants: list[PlantRow]) -> None:
    for values in ({"name": "\ud800"}, {"tag": "\ud800"}, {"note": "\ud800"}, {"note": "ä" * 50_001}):
        with pytest.raises(InvalidPlantError):
            edited(plants[0], **values)
    assert edited(plants[0], note="").note is None
    assert edited(plants[0], note="ä" * 50_000).note == "ä" * 50_000


def test_an_edit_that_changes_nothing_makes_no_entry(store: PlantStore, plants: list[PlantRow]) -> None:
    assert store.apply([edited(plants[0], name="Fern")], FORM).result(SECONDS).change is None
    assert store.apply([DeleteAll(parse_search("tag=attic"))], FORM).result(SECONDS).plants == 0
    assert titles(store) == []


def test_a_source_without_an_id_is_added_once(store: PlantStore, plants: list[PlantRow]) -> None:
    one, two = (Source(0, SourceKind.ASSISTANT, f"assistant {name}") for name in ("one", "two"))
    for source in (one, two, one):
        store.apply([Insert(plant_fields({"name": "Moss"}))], source).result(SECONDS)
    change = store.undo(None, one).result(SECONDS).change
    store.redo(one).result(SECONDS)
    three = Source(0, SourceKind.ASSISTANT, "assistant three")
    assert store.add_as_next(plant_fields({"name": "Ivy"}), three).result(SECONDS).source.label == three.label
    first, second, *_ = (row.source for row in rows(store)[len(plants) :])
    assert (first.label, second.label) == (one.label, two.label)
    assert (first.kind, change.source) == (SourceKind.ASSISTANT, first)
    assert {first.id, second.id}.isdisjoint({0, FORM.id, COMMAND.id})


# --- undo --------------------------------------------------------------------------------------------------------


def as_next(store: PlantStore, name: str) -> int:
    return store.add_as_next(plant_fields({"name": name}), FORM).result(SECONDS).id


def test_no_id_is_given_twice(open_store: Open) -> None:
    with closing(open_store()) as store:
        kept = [as_next(store, "Fern"), as_next(store, "Aloe")]
        number = apply(store, DeleteAll(Selection(ids=[2])))
        assert as_next(store, "Moss") == 3
        assert undo(store, number).moved == 0
        apply(store, DeleteAll(Selection()))
    with closing(open_store()) as store:
        assert as_next(store, "Ivy") == 4
        for _ in range(2):
            undo(store, None)
            store.redo(FORM).result(SECONDS)
        assert as_next(store, "Rose") == 5
    assert kept == [1, 2]


@pytest.mark.parametrize("chosen", [FIRST_UNCOUNTED_ID, 2**63 - 1])
def test_ids_that_leave_no_room_move_no_others(store: PlantStore, chosen: int) -> None:
    add(store, 5, "Fern")
    add(store, chosen, "Aloe")
    apply(store, DeleteAll(Selection()))
    assert as_next(store, "Moss") == 6


def test_a_gap_that_is_given_was_never_used(store: PlantStore) -> None:
    for plant_id in (1, 2, 4, FIRST_UNCOUNTED_ID - 1):
        add(store, plant_id, "Fern")
    apply(store, DeleteAll(Selection(ids=[1, 2])))
    assert [as_next(store, "Moss"), as_next(store, "Moss")] == [3, 5]


def test_plants_come_back_under_their_own_ids_and_under_others_by_one_undo(
    open_store: Open, store: PlantStore, plants: list[PlantRow]
) -> None:
    number = apply(store, DeleteAll(Selection()))
    add(store, 3, "Another")
    add(store, 2, plants[2].name)  # is there again
    received: SimpleQueue[Changes] = SimpleQueue()
    store.subscribe(received.put)
    with closing(open_store()) as other:
        undone = undo(other, number)
    assert (undone.change.plants, undone.skipped_ids, undone.moved_ids) == (2, (2,), ((3, 4),))
    assert str(undone.moved_text) == "1 plant came back under another ID, since its own is in use: 3 → 4."
    assert {row.id: row.name for row in rows(store)} == {1: "Aloe", 2: "Röschen", 3: "Another", 4: "Fern"}
    assert rows(store)[-1].id == 4
    assert 4 in {row.id for row in received.get(timeout=SECONDS).added}


def test_what_is_undone_or_unknown_cannot_be_undone(store: PlantStore, plants: list[PlantRow]) -> None:
    number = apply(store, DeleteAll(Selection()))
    undo(store, number)
    for requested in (number, 99, 0, 2**63 - 1):
        assert isinstance(store.undo(requested, FORM).exception(SECONDS), NothingToUndoError)
    assert rows(store) == plants


def test_a_change_of_another_history_is_not_undone(store: PlantStore, plants: list[PlantRow]) -> None:
    change = store.apply([DeleteAll(Selection(ids=[2]))], COMMAND).result(SECONDS).change
    assert change is not None
    failure = store.undo(change._replace(made_at=change.made_at - 1), FORM).exception(SECONDS)
    assert isinstance(failure, NothingToUndoError)
    store.undo(change, FORM).result(SECONDS)
    assert rows(store) == plants


# --- listeners ---------------------------------------------------------------------------------------------------


def test_listeners_and_other_processes_get_what_changed(
    store: PlantStore, open_store: Open, plants: list[PlantRow]
) -> None:
    own: SimpleQueue[Changes] = SimpleQueue()
    foreign: SimpleQueue[Changes] = SimpleQueue()
    with closing(open_store()) as other:
        store.subscribe(own.put)
        other.subscribe(foreign.put)
        apply(
            store,
            edited(plants[0], name="Great fern"),
            DeleteAll(Selection(ids=[1])),
            Insert(new_plant({"id": 9, "name": "Ivy"})),
        )
        for queue in (own, foreign):
            changes = queue.get(timeout=SECONDS)
            assert [row.name for row in changes.added] == ["Ivy"]
            assert [row.name for row in changes.updated] == ["Great fern"]
            assert (changes.removed, changes.needs_reload, changes.history_changed) == ((1,), False, True)
        undo(store)
        for queue in (own, foreign):
            changes = queue.get(timeout=SECONDS)
            assert sorted(row.name for row in changes.updated) == ["Aloe", "Fern"]
            assert (changes.added, changes.removed) == ((), (9,))


def test_a_change_of_many_plants_is_not_listed(store: PlantStore) -> None:
    add_each(store, [(new_plant({"id": n, "name": "Fern"}), FORM) for n in range(1001)])
    received: SimpleQueue[Changes] = SimpleQueue()
    store.subscribe(received.put)
    apply(store, DeleteAll(Selection()))
    assert received.get(timeout=SECONDS) == Changes(needs_reload=True, history_changed=True)


# --- the history of one plant, and searches in the whole history --------------------------------------------------


def history_of(store: PlantStore, plant_id: int, limit: int = 100) -> list[tuple[str, str | None, str | None] | None]:
    """Name, tag and note of a plant before each of its changes, newest first."""
    with closing(store.reader()) as reader:
        found = [change.before for change in reader.plant_history(plant_id, limit)]
        return [None if row is None else (row.name, row.tag, row.note) for row in found]


def test_a_plant_knows_what_it_was_before_each_change(store: PlantStore, plants: list[PlantRow]) -> None:
    assert history_of(store, 3) == []
    apply(store, edited(plants[0], note="Dry"))
    apply(store, SetTag(Selection(ids=[1, 3]), "office"))
    apply(store, edited(rows(store)[0], name="Great fern"))
    expected = [("Fern", "office", "Dry"), ("Fern", "kitchen", "Dry"), ("Fern", "kitchen", None)]
    assert history_of(store, 3) == expected
    assert history_of(store, 3, limit=2) == expected[:2]
    assert history_of(store, 1) == [("Aloe", "kitchen", None)]
    with closing(store.reader()) as reader:
        newest, tagged, _ = reader.plant_history(3)
        assert (str(newest.change.title), tagged.change.plants) == ("Rename “Fern” to “Great fern”", 2)
        assert newest.before == plants[0]._replace(tag="office", note="Dry", version=tagged.change.number)


def test_what_was_undone_is_not_in_the_history_of_a_plant(store: PlantStore, plants: list[PlantRow]) -> None:
    apply(store, edited(plants[0], tag="office"))
    apply(store, DeleteAll(Selection(ids=[3])))
    assert history_of(store, 3) == []
    undo(store)
    assert history_of(store, 3) == [("Fern", "kitchen", None)]
    undo(store)
    assert history_of(store, 3) == []
    store.redo(COMMAND).result(SECONDS)
    assert history_of(store, 3) == [("Fern", "kitchen", None)]


def test_the_history_of_a_plant_begins_where_a_change_added_it(store: PlantStore) -> None:
    apply(store, Insert(new_plant({"id": 8, "name": "Ivy"})))
    apply(store, edited(rows(store)[0], tag="office"))
    assert history_of(store, 8) == [("Ivy", None, None), None]


@pytest.mark.parametrize("text", ["'magnus'", "‘MAGNUS’", "x piperita", "× Piperita"])
def test_the_history_is_searched_as_plants_are(store: PlantStore, text: str) -> None:
    for plant_id, name in enumerate(("Echinacea ‘Magnus’", "Mentha × piperita"), 1):
        add(store, plant_id, name)
    apply(store, DeleteAll(Selection()))
    with closing(store.reader()) as reader:
        assert [str(entry.change.title) for entry in reader.history_entries(text=text)] == ["Delete 2 plants"]


def test_the_history_is_searched_by_text_and_source(store: PlantStore, plants: list[PlantRow]) -> None:
    apply(store, edited(plants[0], name="50_% fern"))
    store.apply([DeleteAll(Selection(ids=[1, 2]))], FORM).result(SECONDS)

    def found(text: str = "", source: Source | None = None, before: int | None = None) -> list[str]:
        return [str(entry.change.title) for entry in reader.history_entries(text=text, source=source, before=before)]

    with closing(store.reader()) as reader:
        assert found("delete") == ["Delete 2 plants"]
        assert found("0_% F") == ["Rename “Fern” to “50_% fern”"]
        assert found("_%_") == []
        assert found("rename 'fern' to \"50") == ["Rename “Fern” to “50_% fern”"]
        assert found("RÖSCHEN") == found("aloe") == ["Delete 2 plants"]
        assert found(source=FORM) == ["Delete 2 plants"]
        newest, oldest = reader.history()
        assert found(before=newest.number, source=COMMAND) == [str(oldest.title)]
        summary = reader.history_summary()
        assert (summary.changes, summary.since, summary.sources) == (2, oldest.made_at, (FORM, COMMAND))
        apply(
            store, *(Insert(new_plant({"id": plant_id, "name": name})) for plant_id, name in ((8, "Moss"), (9, "Ivy")))
        )
        assert found("moss") == found("IVY") == ["Add 2 plants"]


@pytest.mark.usefixtures("plants")
def test_a_change_that_was_taken_back_again_and_again_is_one_entry(store: PlantStore) -> None:
    change = apply(store, DeleteAll(Selection(ids=[1, 3])))
    retagged = apply(store, SetTag(Selection(ids=[2]), "office"))

    def entries(text: str = "") -> list[tuple[int, int, bool, bool]]:
        with closing(store.reader()) as reader:
            found = reader.history_entries(text=text)
            assert text or reader.history_summary().changes == 2
        return [(each.change.number, each.last.number, each.change.is_undone, each.last.can_undo) for each in found]

    assert entries() == [(retagged, retagged, False, True), (change, change, False, True)]
    last = change
    for is_undone in (True, False, True):
        last = undo(store, last).change.number
        assert entries() == [(retagged, retagged, False, True), (change, last, is_undone, True)]
    assert entries("fern") == [(change, last, True, True)]


def test_an_entry_names_one_of_its_plants(store: PlantStore, plants: list[PlantRow]) -> None:
    apply(store, edited(plants[2], tag="office"))
    apply(store, Insert(new_plant({"id": 8, "name": "Ivy"})))
    apply(store, DeleteAll(Selection()))
    with closing(store.reader()) as reader:
        entries = reader.history_entries()
    assert [entry.example for entry in entries] == [(1, "Aloe", "kitchen"), None, (2, "Röschen", None)]


@pytest.mark.parametrize(
    ("values", "kind", "title"),
    [
        ({"name": "Tree fern"}, ChangeKind.RENAME, "Rename “Fern” to “Tree fern”"),
        ({"tag": "office"}, ChangeKind.TAG, "Set the tag “office” for “Fern”"),
        ({"tag": None}, ChangeKind.TAG, "Remove the tag of “Fern”"),
        ({"note": "Water"}, ChangeKind.NOTE, "Change the note of “Fern”"),
        ({"tag": "office", "note": "Water"}, ChangeKind.EDIT, "Edit “Fern”"),
    ],
)
def test_the_title_of_an_edit_says_what_it_changed(
    store: PlantStore, plants: list[PlantRow], values: dict[str, Any], kind: ChangeKind, title: str
) -> None:
    apply(store, edited(plants[0], **values))
    with closing(store.reader()) as reader:
        assert [(change.kind, str(change.title)) for change in reader.history()] == [(kind, title)]


def tags_after(store: PlantStore, before: list[str | None], edit: Edit) -> list[str | None]:
    """Return the tags of new plants after an edit, which is one change and is undone as one."""
    for plant_id, tag in enumerate(before, start=100):
        store.add(plant(plant_id, "Élan", tag), FORM).result(SECONDS)
    apply(store, edit)
    after = [row.tag for row in rows(store) if row.id >= 100]
    with closing(store.reader()) as reader:
        searched = [tag for tag in after if tag is not None and not tag.endswith("/")]
        found = [reader.count_selected(Selection.of(HasTag(tag))) for tag in searched]
        assert found == [after.count(tag) for tag in searched], "searches find the new tags"
    undo(store)
    assert [row.tag for row in rows(store) if row.id >= 100] == before
    return after


BRANCH: list[str | None] = ["yard", "yard/bed 1", "yard/bed 1/ü", "yard 2", "Yard/x", "yard/", None]


@pytest.mark.parametrize(
    ("edit", "after"),
    [
        (
            RenameTag("yard", "hof", includes_branch=True),
            ["hof", "hof/bed 1", "hof/bed 1/ü", "yard 2", "Yard/x", "hof/", None],
        ),
        (RenameTag("yard", None, includes_branch=True), [None, None, None, "yard 2", "Yard/x", None, None]),
        (
            RenameTag("yard/bed 1", "yard", includes_branch=True),
            ["yard", "yard", "yard/ü", "yard 2", "Yard/x", "yard/", None],
        ),
        (
            RenameTag("yard", "yard/bed 1", includes_branch=True),
            ["yard/bed 1", "yard/bed 1/bed 1", "yard/bed 1/bed 1/ü", "yard 2", "Yard/x", "yard/bed 1/", None],
        ),
        (RenameTag("yard", "hof"), ["hof", *BRANCH[1:]]),
        (
            MergeTags(("yard/bed 1", "yard", "yard/bed 1/ü"), "yard"),
            ["yard", "yard", "yard", "yard 2", "Yard/x", "yard/", None],
        ),
    ],
)
def test_tags_are_renamed_and_merged_as_one_change(store: PlantStore, edit: Edit, after: list[str | None]) -> None:
    assert tags_after(store, BRANCH, edit) == after


@pytest.mark.parametrize(
    ("rule", "fern", "rose"),
    [
        (RewriteRule(find="ern", replacement="ärn"), ("Färn", "kitchen", None), ("Röschen", None, None)),
        (RewriteRule(note_line="fed", sets_tag=True), ("Fern", None, "fed"), ("Röschen", None, "fed")),
        (
            RewriteRule(
                name=" all  alike ",
                note="a  \n\n b ",
                fields=("name", "note"),
                tidies_blanks=True,
                find="b",
                replacement="c",
            ),
            ("all alike", "kitchen", "a\n\n c"),
            ("all alike", None, "a\n\n c"),
        ),
    ],
)
@pytest.mark.usefixtures("plants")
def test_many_plants_are_rewritten_as_one_change(
    store: PlantStore,
    rule: RewriteRule,
    fern: tuple[str, str | None, str | None],
    rose: tuple[str, str | None, str | None],
) -> None:
    before = rows(store)
    apply(store, Rewrite(Selection(ids=[2, 3]), rule))
    after = {row.id: (row.name, row.tag, row.note) for row in rows(store)}
    assert after == {1: ("Aloe", "kitchen", None), 2: rose, 3: fern}
    with closing(store.reader()) as reader:
        assert reader.count_selected(parse_search(f'"{fern[0].upper()}"')) >= 1, "searches find the new names"
        (change,) = reader.history()
    changed = [row for row in before if after[row.id] != (row.name, row.tag, row.note)]
    assert (change.kind, change.plants) == (ChangeKind.EDIT, len(changed))
    undo(store)
    assert rows(store) == before


@pytest.mark.usefixtures("plants")
def test_a_note_that_would_be_too_long_refuses_the_whole_change(store: PlantStore) -> None:
    before = rows(store)
    with pytest.raises(InvalidPlantError):
        apply(store, Rewrite(Selection(), RewriteRule(note_line="x" * 100_001)))
    assert rows(store) == before
    assert store.apply([Rewrite(Selection(), RewriteRule(find="no such"))], COMMAND).result(SECONDS).change is None


@pytest.mark.usefixtures("plants")
def test_a_rewriting_leaves_fields_that_it_is_told_to(store: PlantStore) -> None:
    rule = RewriteRule(find="e", replacement="o", note_line="old")
    apply(store, Rewrite(Selection(), rule, leave=frozenset({(1, "name"), (2, "note"), (3, "name"), (3, "note")})))
    after = {row.id: (row.name, row.note) for row in rows(store)}
    assert after == {1: ("Aloe", "old"), 2: ("Röschon", None), 3: ("Fern", None)}


@pytest.mark.usefixtures("plants")
def test_what_was_changed_since_a_position_stays_as_it_is(store: PlantStore) -> None:
    with closing(store.reader()) as reader:
        since = reader.events(None).position
        fern = reader.plant(3)
    assert fern is not None
    apply(store, edited(fern, name="Tree fern"))
    add(store, 4, "Fern tree")
    rule = RewriteRule(find="e", replacement="E")
    done = store.apply([Rewrite(Selection(), rule, since=since)], COMMAND).result(SECONDS)
    assert (done.plants, done.skipped, done.skipped_ids) == (2, 1, (3,))
    assert {row.name for row in rows(store)} == {"AloE", "RöschEn", "Tree fern", "Fern tree"}
    undo(store)
    assert {row.name for row in rows(store)} == {"Aloe", "Röschen", "Tree fern", "Fern tree"}
    skipped = store.apply([Rewrite(Selection(ids=[3]), rule, since=since)], COMMAND).result(SECONDS)
    assert (skipped.change, skipped.skipped) == (None, 1)


@pytest.mark.usefixtures("plants")
def test_a_plant_that_an_undo_has_changed_since_a_position_stays_as_well(store: PlantStore) -> None:
    with closing(store.reader()) as reader:
        fern = reader.plant(3)
    assert fern is not None
    apply(store, edited(fern, name="Tree fern"))
    with closing(store.reader()) as reader:
        since = reader.events(None).position
    undo(store)
    done = store.apply([Rewrite(Selection(), RewriteRule(find="F", replacement="f"), since=since)], COMMAND).result(
        SECONDS
    )
    assert (done.change, done.skipped_ids) == (None, (3,))


def test_a_change_has_a_kind_and_parameters_and_so_has_its_undo(store: PlantStore, plants: list[PlantRow]) -> None:
    apply(store, edited(plants[0], name="Tree fern"))
    apply(store, RenameTag("kitchen", "hall"))
    apply(store, MergeTags(("hall", "none"), "attic"))
    apply(store, RenameTag("attic", None))
    apply(store, SetTag(Selection(ids=[1, 2]), "office"))
    apply(store, Rewrite(Selection(), RewriteRule(find="e", replacement="E")))
    apply(store, Delete(1, rows(store)[1].version, "AloE"))
    undo(store)
    store.redo(COMMAND).result(SECONDS)
    with closing(store.reader()) as reader:
        redone, undone, *changes = reader.history()
    assert [(str(change.kind), change.parameters, str(change.title)) for change in reversed(changes)] == [
        ("rename", {"name": "Fern", "new_name": "Tree fern"}, "Rename “Fern” to “Tree fern”"),
        ("tag", {"tags": ["kitchen"], "tag": "hall"}, "Rename tag “kitchen” to “hall”"),
        ("merge", {"tags": ["hall", "none"], "tag": "attic"}, "Merge tags “hall”, “none” into “attic”"),
        ("tag", {"tags": ["attic"], "tag": None}, "Remove tag “attic”"),
        ("tag", {"tag": "office"}, "Set the tag “office” for 2 plants"),
        ("edit", {"find": "e", "replacement": "E"}, "Replace “e” with “E” in 3 plants"),
        ("delete", {"name": "AloE"}, "Delete “AloE”"),
    ]
    of = {"kind": "delete", "parameters": {"name": "AloE"}, "plants": 1}
    assert undone.parameters == redone.parameters == {"of": of}
    assert (str(undone.title), str(redone.title)) == ("Undo: Delete “AloE”", "Redo: Delete “AloE”")


def test_the_undo_of_an_addition_is_called_so(store: PlantStore, plants: list[PlantRow]) -> None:
    apply(store, edited(plants[1], name="Old aloe"))
    undone = apply(store, Delete(3, plants[0].version, "Fern", undoes_addition=True))
    assert str(store.redo(COMMAND).result(SECONDS).change.title) == "Added “Fern” again"
    assert [row.id for row in rows(store)] == [3, 1, 2]
    assert str(undo(store, undone + 1).change.title) == "Took back “Fern”"
    assert [row.id for row in rows(store)] == [1, 2]
    assert str(undo(store).change.title) == "Undo: Rename “Aloe” to “Old aloe”", "not the redo of the addition"
    with closing(store.reader()) as reader:
        newest, _ = reader.history_entries()
    of = {"kind": "insert", "parameters": {"name": "Fern"}, "plants": 1}
    assert (newest.change.kind, newest.change.undoes, newest.change.parameters) == ("undo", None, {"of": of})


def test_the_history_is_searched_by_parameters_and_by_what_is_shown(store: PlantStore, plants: list[PlantRow]) -> None:
    apply(store, edited(plants[0], name="n" * 80 + " end of a long name"))

    def german(change: Change) -> str:
        return f"{change.parameters['name']} umbenennen"

    with closing(store.reader()) as reader:
        assert len(reader.history_entries(text="END of a long")) == 1  # the title has only its first letters
        assert len(reader.history_entries(text="fern umbe", shown=german)) == 1
        assert reader.history_entries(text="rename", shown=german) == []
