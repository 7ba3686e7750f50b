import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from plantdesk.domain.records import COMMAND, FORM, LARGEST_ID, SMALLEST_ID
from plantdesk.domain.validation import new_plant
from plantdesk.store import location_of
from plantdesk.store.sqlite import connections
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.plants.add_controller import AddPlantController
from plantdesk.ui.plants.add_queue import RememberedPlants
from plantdesk.ui.plants.form import PlantForm
from plantdesk.ui.plants.outbox import EnteredPlant, Submission, SubmissionState
from plantdesk.ui.plants.unsaved_plants import UnsavedPlants
from plantdesk.ui.preferences import Preferences
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.undo_stack import UndoStack
from plantdesk.ui.widgets.messages import MessageLine, Tone
from tests.support.adding import write_connection
from tests.support.waiting import SECONDS
from tests.support.window_driver import WindowDriver

Rows = list[tuple[int, str, str | None]]


class FormDriver(WindowDriver):
    """The form, the message under it, and what is in the file."""

    queries: StoreQueries

    def __init__(self, qtbot: QtBot, form: PlantForm, store: SqliteStore) -> None:
        super().__init__(qtbot, form)
        self.form = form
        self.store = store

    @property
    def next_id(self) -> str:
        return self.id.placeholderText()

    @property
    def actions(self) -> dict[str, QAbstractButton]:
        return WindowDriver(self.qtbot, self.message).buttons()

    def enter(self, field: QLineEdit | None = None) -> None:
        self.qtbot.keyClick(field or self.name, Qt.Key.Key_Return)

    def expect_message(self, text: str) -> None:
        self.qtbot.waitUntil(lambda: text in self.message.text)

    def expect_unsaved(self, **lines: str) -> None:
        """Wait until just these plants are listed as not saved, with a reason that contains the text."""

        def are_listed() -> bool:
            unsaved = self.unsaved()
            return list(unsaved) == list(lines) and all(lines[name] in reason for name, reason in unsaved.items())

        self.qtbot.waitUntil(are_listed)

    def expect_added(self, names: list[str]) -> None:
        """Wait until these plants were added to the first one."""
        self.qtbot.waitUntil(lambda: [name for _, name, _ in self.rows()[1:]] == names)

    def wait_for_answers(self) -> None:
        """Wait until all questions to the store are answered, such as the one whose an ID is."""
        answered: list[bool] = []
        self.queries.run(self.form, lambda _reader, _task: True, answered.append)
        self.qtbot.waitUntil(lambda: bool(answered))

    @property
    def box(self) -> WindowDriver:
        return WindowDriver(self.qtbot, self.form.findChildren(UnsavedPlants)[0])

    def select_in_box(self, *rows: int) -> None:
        """Click lines of what is not saved, the others with Ctrl."""
        view, modifiers = self.box.the(QAbstractItemView), Qt.KeyboardModifier.NoModifier
        for row in rows:
            place = view.visualRect(view.model().index(row, 0)).center()
            QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, modifiers, place)
            modifiers = Qt.KeyboardModifier.ControlModifier

    def press_in_box(self, label: str) -> None:
        self.box.buttons()[label].click()

    def enter_plant(self, name: str, plant_id: str = "") -> None:
        """Type a plant and Enter."""
        self.id.setText(plant_id)
        self.name.setFocus()
        self.qtbot.keyClicks(self.name, name)
        self.enter()

    def rows(self) -> Rows:
        with closing(sqlite3.connect(self.store.path)) as database:
            return database.execute("SELECT id, name, tag FROM plant ORDER BY seq").fetchall()


@pytest.fixture
def entry(qtbot: QtBot, theme: Theme, bridge: Bridge) -> AddPlantController:
    form = PlantForm(theme, MessageLine(theme))
    qtbot.addWidget(form)
    form.resize(900, 120)
    with qtbot.waitExposed(form):
        form.show()
    form.activateWindow()
    form.focus_name()
    return AddPlantController(form, bridge, UndoStack(bridge, form), form)


def restored(entry: AddPlantController, **kept: object) -> Callable[[], dict[str, object]]:
    """Restore what an earlier window has kept; return what returns what is kept now, which went through a file."""
    form, preferences, location = entry.parent(), Preferences(None), location_of(Path("plants.db"))
    assert isinstance(form, PlantForm)
    preferences.change_store(location.key, **kept)
    plants = RememberedPlants(preferences, form, entry.queue, entry)
    plants.restore(location)
    return lambda: json.loads(json.dumps(preferences.of_store(location.key)))


@pytest.fixture
def user(qtbot: QtBot, entry: AddPlantController, store: SqliteStore, queries: StoreQueries) -> FormDriver:
    user = FormDriver(qtbot, entry.parent(), store)  # type: ignore[arg-type]
    user.queries = queries
    entry.set_store(store, queries)
    qtbot.waitUntil(lambda: user.next_id == "1")
    return user


@pytest.mark.parametrize("plant_id", [SMALLEST_ID, -1, 0, 2**53 + 1, LARGEST_ID])
def test_every_id_is_kept_digit_for_digit(user: FormDriver, plant_id: int) -> None:
    user.type(user.id, str(plant_id))
    user.type(user.name, "Aloe vera")
    user.type(user.tag, "kitchen")
    user.enter(user.tag)
    user.expect_message("Added")
    assert user.rows() == [(plant_id, "Aloe vera", "kitchen")]


def test_a_double_click_on_the_button_adds_once_and_leaves_the_cursor_in_name(user: FormDriver) -> None:
    user.name.setText("Aloe")
    QTest.mouseClick(user.button("Add"), Qt.MouseButton.LeftButton)
    user.expect_message("Added “Aloe”")
    user.button("Add").setFocus()  # as a real mouse does
    QTest.mouseClick(user.button("Add"), Qt.MouseButton.LeftButton)
    assert user.form.focusWidget() is user.name
    assert user.message.text == "Added “Aloe”."
    assert len(user.rows()) == 1


def test_spaces_around_a_text_are_nobodys_intention_nor_a_name_that_cannot_be_seen(user: FormDriver) -> None:
    user.name.setText("\u3000\u200b")
    user.enter()
    user.expect_message("The name is missing.")
    assert user.rows() == []
    user.type(user.name, "  Aloe vera ")
    user.type(user.tag, "   ")
    user.enter()
    user.expect_message("Added")
    assert user.rows() == [(1, "Aloe vera", None)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("twelve", "must be a whole number"),
        ("1.5", "must be a whole number"),
        (str(2**63), "too large. The largest is 9223372036854775807"),
        (str(-(2**63) - 1), "too small"),
    ],
)
def test_an_invalid_id_is_reported_and_the_input_is_kept(user: FormDriver, text: str, expected: str) -> None:
    user.type(user.id, text)
    user.type(user.name, "Aloe vera")
    user.type(user.tag, "kitchen")
    user.enter(user.tag)
    user.expect_message(expected)
    assert (user.id.text(), user.name.text(), user.tag.text()) == (text, "Aloe vera", "kitchen")
    assert user.id.hasFocus()
    assert (user.id.property("invalid"), user.name.property("invalid")) == ("true", "false")
    assert user.rows() == []
    user.actions["Use the next free ID"].click()
    assert (user.id.text(), user.next_id) == ("", "1")
    user.enter()
    user.expect_message("Added")
    assert user.rows() == [(1, "Aloe vera", "kitchen")]


@pytest.mark.parametrize("texts", [("", "", "kitchen"), ("", "   ", ""), ("5", "   ", "")])
def test_a_plant_needs_a_name(user: FormDriver, texts: tuple[str, str, str]) -> None:
    for field, text in zip((user.id, user.name, user.tag), texts, strict=True):
        user.type(field, text)
    user.enter()
    user.expect_message("The name is missing.")
    assert user.name.hasFocus()
    assert user.name.property("invalid") == "true"
    assert (user.id.text(), user.name.text(), user.tag.text()) == texts
    user.qtbot.keyClicks(user.name, "A")
    assert user.name.property("invalid") == "false"
    assert user.message.tone is Tone.HINT


@pytest.mark.parametrize("pinned", ["", "kitchen"])
def test_enter_in_an_empty_form_only_speaks(user: FormDriver, spoken: list[str], pinned: str) -> None:
    user.button("Pin").setChecked(bool(pinned))
    user.type(user.tag, pinned)
    user.enter(user.tag)
    assert (user.message.tone, user.rows(), spoken) == (Tone.HINT, [], ["The name is missing."])
    assert user.name.hasFocus()


def test_a_used_id_names_and_shows_its_owner_and_offers_the_next_free_one(
    user: FormDriver, entry: AddPlantController
) -> None:
    user.store.add(new_plant({"id": 41, "name": "Aloe vera"}), COMMAND).result(SECONDS)
    user.enter_plant("Ficus lyrata", "41")
    user.expect_unsaved(**{"Ficus lyrata": "ID 41 already belongs to “Aloe vera”"})
    user.press_in_box("Edit")
    user.expect_message("ID 41 already belongs to “Aloe vera”")
    with user.qtbot.waitSignal(entry.plant_requested) as requested:
        user.actions["Show that plant"].click()
    assert requested.args == [41]
    user.actions["Use the next free ID"].click()
    assert (user.id.text(), user.name.text(), user.name.hasFocus()) == ("", "Ficus lyrata", True)
    user.enter()
    user.expect_message("Added")
    assert user.rows() == [(41, "Aloe vera", None), (42, "Ficus lyrata", None)]


def test_the_tag_is_kept_when_it_is_pinned(user: FormDriver) -> None:
    QTest.mouseClick(user.button("Pin"), Qt.MouseButton.LeftButton)
    user.type(user.tag, "kitchen")
    user.type(user.name, "Aloe")
    user.enter()
    user.expect_message("Added")
    assert user.tag.text() == "kitchen"


def test_a_plant_submitted_before_the_store_is_there_is_added_then(
    qtbot: QtBot, entry: AddPlantController, store: SqliteStore, queries: StoreQueries
) -> None:
    user = FormDriver(qtbot, entry.parent(), store)  # type: ignore[arg-type]
    user.type(user.id, "5")
    user.type(user.name, "Early bird")
    user.enter()
    user.enter_plant("Second bird")
    user.expect_message("Opening your plants…")
    user.qtbot.keyClicks(user.name, "half a na")
    entry.set_store(store, queries)
    user.expect_message("Added “Second bird”.")
    assert user.rows() == [(5, "Early bird", None), (6, "Second bird", None)]
    assert (user.name.text(), user.unsaved()) == ("half a na", {})


def test_an_empty_form_submitted_before_the_store_opens_adds_nothing(
    qtbot: QtBot, entry: AddPlantController, store: SqliteStore, queries: StoreQueries
) -> None:
    form = entry.parent()
    assert isinstance(form, PlantForm)
    user = FormDriver(qtbot, form, store)
    user.name.setFocus()
    user.enter()
    form.fill(("", "Half typed", ""))
    entry.set_store(store, queries)
    qtbot.waitUntil(lambda: user.next_id == "1")
    assert user.rows() == []
    assert (user.name.text(), user.name.property("invalid"), user.message.tone) == ("Half typed", "false", Tone.HINT)


def test_a_plant_submitted_before_the_next_id_is_known_gets_it(
    qtbot: QtBot, entry: AddPlantController, store: SqliteStore, queries: StoreQueries
) -> None:
    user = FormDriver(qtbot, entry.parent(), store)  # type: ignore[arg-type]
    entry.set_store(store, queries)  # asks; the answer comes through the event loop
    user.type(user.name, "Early bird")
    user.enter()
    assert user.next_id == ""
    user.expect_message("Added “Early bird”.")
    assert user.rows() == [(1, "Early bird", None)]


def test_without_an_id_a_plant_never_conflicts_with_one_of_a_script(user: FormDriver) -> None:
    user.name.setText("Aloe vera")
    user.store.add(new_plant({"id": 1, "name": "by a script"}), COMMAND).result(SECONDS)
    assert user.next_id == "1"  # the window does not know of the other yet
    user.enter()
    user.expect_message("Added")
    assert user.rows() == [(1, "by a script", None), (2, "Aloe vera", None)]


def test_escape_closes_the_message_and_then_empties_the_form(user: FormDriver) -> None:
    user.type(user.id, "five")
    user.type(user.name, "Aloe vera")
    user.enter()
    user.expect_message("must be a whole number")
    user.actions["Use the next free ID"].setFocus()
    user.qtbot.keyClick(user.actions["Use the next free ID"], Qt.Key.Key_Escape)
    assert (user.message.tone, user.id.property("invalid")) == (Tone.HINT, "false")
    assert (user.id.text(), user.name.text(), user.name.hasFocus()) == ("five", "Aloe vera", True)
    user.qtbot.keyClick(user.name, Qt.Key.Key_Escape)
    assert (user.id.text(), user.name.text(), user.next_id) == ("", "", "1")


def test_without_a_store_the_form_stays_usable_and_the_plant_is_added_later(
    qtbot: QtBot, entry: AddPlantController, store: SqliteStore, queries: StoreQueries
) -> None:
    user = FormDriver(qtbot, entry.parent(), store)  # type: ignore[arg-type]
    user.enter_plant("Early bird")
    entry.show_no_store()
    assert user.message.text == "Typed plants wait until the store can be opened."
    user.expect_unsaved(**{"Early bird": "until the store can be opened"})
    user.enter_plant("Late bird")
    user.expect_unsaved(**{"Early bird": "until", "Late bird": "until"})
    user.select_in_box(1)
    user.press_in_box("Discard")
    entry.set_store(store, queries)
    user.expect_message("Added “Early bird”.")
    assert (user.rows(), user.unsaved()) == ([(1, "Early bird", None)], {})


@pytest.fixture
def locked(user: FormDriver, bridge: Bridge, monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    """Another program that holds the store's write lock."""
    unsubscribe = user.store.subscribe_health(bridge.notify_health)
    user.store.add(new_plant({"id": 1, "name": "x"}), COMMAND).result(SECONDS)
    monkeypatch.setattr(connections, "LOCK_SECONDS", 0.01)
    write_connection(user.store).execute("PRAGMA busy_timeout = 10")  # else the test waits for 5 s
    with closing(sqlite3.connect(user.store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other
    unsubscribe()


def test_they_are_added_by_themselves_once_the_store_is_healthy(user: FormDriver, locked: sqlite3.Connection) -> None:
    user.enter_plant("Patience")
    user.enter_plant("Fern", "70")
    user.expect_unsaved(Patience="Another program", Fern="Another program")
    locked.execute("ROLLBACK")
    user.expect_added(["Patience", "Fern"])
    user.expect_unsaved()
    assert user.rows()[1:] == [(2, "Patience", None), (70, "Fern", None)]


def test_plants_get_their_ids_in_the_order_in_which_they_were_typed(
    user: FormDriver, entry: AddPlantController, locked: sqlite3.Connection
) -> None:
    user.enter_plant("Patience")
    user.expect_unsaved(Patience="Another program")
    write_connection(user.store).execute("PRAGMA busy_timeout = 5000")  # it waits
    user.enter_plant("Fern")
    entry.add_copies([EnteredPlant(name, None) for name in ("Salvia", "Thyme")])
    user.enter_plant("Basil")
    locked.execute("ROLLBACK")
    user.expect_added(["Patience", "Fern", "Salvia", "Thyme", "Basil"])
    assert [plant_id for plant_id, _, _ in user.rows()] == [1, 2, 3, 4, 5, 6]


def test_what_cannot_be_saved_is_tried_again_at_once(
    user: FormDriver, entry: AddPlantController, locked: sqlite3.Connection
) -> None:
    reasons = [{"texts": ["", name, ""], "plants": [[name, None, None, None]], "reason": "Closed."} for name in "abc"]
    reasons[2]["reason"] = ""  # it was being saved
    restored(entry, unsaved=reasons)
    user.expect_unsaved(a="Closed", b="Closed", c="was closed before")
    locked.execute("ROLLBACK")
    user.press_in_box("Try 3 plants again")
    user.expect_added(["a", "b", "c"])
    user.expect_unsaved()


@pytest.mark.parametrize(
    ("label", "added"), [("Use free IDs for 2 plants", [42, 43]), ("Discard 2 plants", []), ("Discard", [42])]
)
def test_several_plants_with_used_ids_are_handled_at_once_by_keys(
    user: FormDriver, label: str, added: list[int]
) -> None:
    user.store.add(new_plant({"id": 41, "name": "Aloe vera"}), COMMAND).result(SECONDS)
    user.enter_plant("Aster", "41")
    user.expect_unsaved(Aster="already belongs")
    user.qtbot.waitUntil(lambda: [*user.box.buttons()] == ["Use the next free ID", "Edit", "Discard"])
    user.enter_plant("Basil", "41")
    user.expect_unsaved(Aster="already belongs", Basil="already belongs")
    assert [*user.box.buttons()] == ["Use free IDs for 2 plants", "Discard 2 plants"]
    user.form.findChildren(UnsavedPlants)[0].focus_first()
    assert [*user.box.buttons()] == ["Use the next free ID", "Edit", "Discard"]
    if label != "Discard":
        user.press(Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(user.box.buttons()[label], Qt.Key.Key_Space)
    if label == "Discard":
        user.expect_unsaved(Basil="already belongs")
        user.press_in_box("Use the next free ID")
    user.expect_unsaved()
    user.expect_added(["Aster", "Basil"][-len(added) :] if added else [])
    assert [plant_id for plant_id, _, _ in user.rows()[1:]] == added


# --- typing while plants are saved ------------------------------------------------------------------------------------


def test_what_is_typed_while_a_plant_is_saved_stays(user: FormDriver, locked: sqlite3.Connection) -> None:
    write_connection(user.store).execute("PRAGMA busy_timeout = 5000")  # it waits
    user.enter_plant("Fern")
    user.qtbot.keyClicks(user.name, "Basil")
    user.qtbot.waitUntil(lambda: user.next_id == "3")  # the one that is being saved gets the ID before
    user.enter()
    user.qtbot.keyClicks(user.name, "Mint")
    user.qtbot.waitUntil(lambda: user.next_id == "4")
    locked.execute("ROLLBACK")
    user.expect_message("Added “Basil”.")
    assert user.rows()[1:] == [(2, "Fern", None), (3, "Basil", None)]
    assert user.name.text() == "Mint"


def test_a_refused_plant_is_listed_and_leaves_the_form_alone(user: FormDriver) -> None:
    user.store.add(new_plant({"id": 41, "name": "Aloe vera"}), COMMAND).result(SECONDS)
    user.enter_plant("Ficus lyrata", "41")
    user.qtbot.keyClicks(user.name, "Basi")
    user.expect_unsaved(**{"Ficus lyrata": "ID 41 already belongs to “Aloe vera”"})
    user.qtbot.keyClicks(user.form.focusWidget(), "l")
    assert (user.id.text(), user.name.text()) == ("", "Basil")
    user.qtbot.waitUntil(lambda: user.next_id == "42")
    user.press_in_box("Use the next free ID")
    user.expect_message("Added “Ficus lyrata”.")
    assert (user.unsaved(), user.name.text()) == ({}, "Basil")
    assert user.rows() == [(41, "Aloe vera", None), (42, "Ficus lyrata", None)]


def test_a_refused_plant_is_edited_and_what_was_typed_is_put_aside(user: FormDriver) -> None:
    user.store.add(new_plant({"id": 41, "name": "Aloe vera"}), COMMAND).result(SECONDS)
    user.enter_plant("Ficus", "41")
    user.expect_unsaved(Ficus="already belongs")
    user.qtbot.keyClicks(user.name, "Basi")
    user.press_in_box("Edit")
    assert (user.id.text(), user.name.text(), user.id.property("invalid")) == ("41", "Ficus", "true")
    user.expect_unsaved(Basi="put aside")
    user.qtbot.keyClick(user.id, Qt.Key.Key_Escape)
    user.qtbot.keyClick(user.id, Qt.Key.Key_Escape)
    assert (user.id.text(), user.name.text()) == ("", "Basi")
    user.expect_unsaved(Ficus="already belongs")
    user.press_in_box("Edit")
    user.type(user.id, "43")
    user.enter(user.id)
    user.expect_message("Added “Ficus”.")
    user.expect_unsaved(Basi="put aside")
    user.press_in_box("Edit")
    assert (user.name.text(), user.unsaved()) == ("Basi", {})


def test_the_list_is_used_by_keys(user: FormDriver) -> None:
    user.store.add(new_plant({"id": 41, "name": "Aloe vera"}), COMMAND).result(SECONDS)
    for name in ("a", "b", "c", "d", "e"):
        user.enter_plant(name, "41")
    user.expect_unsaved(a="already", b="already", c="already", d="already", e="already")
    user.form.findChildren(UnsavedPlants)[0].focus_first()
    user.hit(Qt.Key.Key_Down, Qt.Key.Key_Delete)
    user.expect_unsaved(a="already", c="already", d="already", e="already")
    for left in (3, 2, 1, 0):
        user.press(Qt.Key.Key_Delete)
        assert len(user.unsaved()) == left
    assert user.name.hasFocus()


def test_the_list_survives_a_restart_and_hostile_settings(user: FormDriver, entry: AddPlantController) -> None:
    user.store.add(new_plant({"id": 41, "name": "Aloe vera"}), COMMAND).result(SECONDS)
    entry.queue.submit(Submission([EnteredPlant("Ficus", "hall", 41)], ("41", "Ficus", "hall")))
    entry.queue.submit(Submission([EnteredPlant("Salvia", None, 41), EnteredPlant("Thyme", None, None, "a note")]))
    entry.queue.submit(Submission((), ("", "half", ""), SubmissionState.POSTPONED))
    entry.queue.submit(Submission([EnteredPlant("Aloe vera", None, 41)], ("41", "Aloe vera", "")))
    outbox = entry.queue.outbox
    user.qtbot.waitUntil(lambda: len(outbox.unsaved) == 4)
    kept = json.loads(json.dumps([submission.to_json() for submission in outbox.unsaved]))
    entry.queue.discard(outbox.unsaved)
    hostile: list[object] = [None, 7, {}]
    hostile += [{"texts": ["a"], "plants": [], "reason": ""}, {"texts": [], "plants": [], "reason": ""}]
    hostile += [{"texts": [], "plants": [["x", 5, None, None]], "reason": ""}, {"texts": 5, "plants": 6, "reason": 7}]
    hostile += [{"texts": [], "plants": [["x"]], "reason": ""}, {"texts": ["a", "b", 3], "plants": [], "reason": ""}]
    restored(entry, unsaved="nonsense", draft="7")
    now = restored(entry, unsaved=[*hostile, *kept], draft=["", 7, ""])
    user.expect_unsaved(**{"Ficus": "already", "2 plants": "already", "half": "put aside", "Aloe vera": "already"})
    assert now() == {"unsaved": kept, "draft": []}
    user.press_in_box("Try 3 plants again")
    user.qtbot.waitUntil(lambda: "Use free IDs for 3 plants" in user.box.buttons())
    user.press_in_box("Use free IDs for 3 plants")
    user.expect_unsaved(half="put aside")
    user.expect_added(["Ficus", "Salvia", "Thyme", "Aloe vera"])
    assert [row[:2] for row in user.rows()[1:]] == [(42, "Ficus"), (43, "Salvia"), (44, "Thyme"), (45, "Aloe vera")]


def test_a_half_typed_plant_of_another_store_replaces_a_pinned_tag(entry: AddPlantController, user: FormDriver) -> None:
    user.form.tag_field.setText("office")
    user.form.tag_field.set_pinned(pinned=True)
    restored(entry, draft=["", "Fern", "kitchen"])
    assert user.form.texts == ("", "Fern", "kitchen")


@pytest.mark.parametrize("kills", [0, 1])
def test_what_was_sent_before_a_kill_is_listed_only_where_the_store_lacks_it(
    user: FormDriver, entry: AddPlantController, store: SqliteStore, queries: StoreQueries, kills: int
) -> None:
    user.enter_plant("Fern")
    user.enter_plant("Fern")
    user.enter_plant("2 x Salvia")
    user.expect_added(["Fern", "Salvia", "Salvia"])
    entry.queue.release_store()
    fern, salvia = ["", "Fern", ""], ["", "Salvia", ""]
    sent = {"waits": False, "reason": "?", "sent_at": 1}
    ferns = [{"texts": fern, "plants": [["Fern", None, None, None]], **sent}] * 3
    salvias = [{"texts": salvia, "plants": [["Salvia", None, None, None]] * 2, **sent}] * 2
    kept: dict[str, object] = {"unsaved": [*ferns, *salvias]}
    outbox = entry.queue.outbox
    for _ in range(1 + kills):  # the window before this one was killed before it could look
        entry.queue.discard(outbox.unsaved)
        kept = restored(entry, **kept)()
    entry.set_store(store, queries)
    user.qtbot.waitUntil(lambda: len(outbox.unsaved) == 2)
    user.expect_unsaved(Fern="?", Salvia="?")
    entry.queue.release_store()
    user.store.add(new_plant({"id": 41, "name": "Fern"}), FORM).result(SECONDS)  # another one
    entry.set_store(store, queries)
    user.wait_for_answers()
    user.expect_unsaved(Fern="?", Salvia="?")


def test_one_enter_adds_once_however_long_it_is_held(user: FormDriver) -> None:
    user.qtbot.keyClicks(user.name, "Fern")
    for repeated in (False, True, True):
        event = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier, "", repeated)
        QApplication.sendEvent(user.name, event)
    assert user.message.tone is not Tone.ERROR
    user.expect_message("Added “Fern”.")
    assert len(user.rows()) == 1
