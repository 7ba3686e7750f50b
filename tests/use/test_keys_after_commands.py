"""Keys right behind a command, at the speed of a fast typist: they go where the command leads, to the right plant."""

from datetime import datetime
from pathlib import Path

import pytest

from tests.support.adding import store_at
from tests.support.waiting import until
from tests.use.user import Screen, User

COUNT = 10


@pytest.fixture
def ten_plants(tmp_path: Path) -> Path:
    """A folder with a store of some plants."""
    (tmp_path / "data").mkdir()
    store_at(tmp_path / "data" / "plants.db", *(f"Plant {number}" for number in range(1, COUNT + 1)))
    return tmp_path


@pytest.mark.parametrize("card", ["shown", "hidden"])
def test_every_letter_is_in_the_note_of_its_plant(screen: Screen, ten_plants: Path, card: str) -> None:
    with User(screen, ten_plants) as user:
        user.expect_text("10 plants")
        user.click_item(f"Plant {COUNT}")
        if card == "shown":
            user.press("ctrl+i")
            user.expect_text("Note")
        for number in range(COUNT, 0, -1):
            user.type_lines(f"watered {number}", key="Escape", after=["ctrl+semicolon"])
            user.press(*(["Down"] if card == "shown" else ["ctrl+i", "Down"]))
        day = f"{datetime.now().date():%Y-%m-%d}"  # noqa: DTZ005  the local day
        expected = [(number, f"{day} watered {number}") for number in range(1, COUNT + 1)]
        until(lambda: user.query("SELECT id, note FROM plant ORDER BY id") == expected, "all notes are stored")


def test_the_copies_are_renamed(screen: Screen, ten_plants: Path) -> None:
    with User(screen, ten_plants) as user:
        user.expect_text("10 plants")
        user.click_item(f"Plant {COUNT}")
        plants: list[tuple[str, str | None]] = [(f"Plant {number}", None) for number in range(1, COUNT + 1)]
        for number in range(COUNT):
            user.type_lines(f"Copy {number}", after=["ctrl+d", "F2"])
            plants.append((f"Copy {number}", None))
            user.expect_plants(plants)


# --- quick entry beside the window ------------------------------------------------------------------------------------


def test_quick_entry_takes_keys_at_once_and_gives_the_focus_back(user: User) -> None:
    before = user.active_window
    for name in ("Monstera adansonii", "Alocasia zebrina"):
        user.command("quick")
        until(lambda: user.active_window != before, "the window for a plant is active")
        user.type(name)
        user.press("Return")
        until(lambda: user.active_window == before, "the focus is back")
    user.expect_plants([("Monstera adansonii", None), ("Alocasia zebrina", None)])
