"""A messy list of 20,000 plants, as spreadsheets leave it, imported and cleaned in the window."""

import random
from pathlib import Path

from tests.support.waiting import until
from tests.use.user import Screen, User

ROWS = 20_000
NAMES = ["Ficus benjamina", "Monstera deliciosa", "Süßkartoffel", "Épinard", "Rosa 'Gertrude Jekyll'", "Basil, sweet"]
#: What each place is called, and how it is written: other cases, blanks, a slip of the pen.
PLACES = {"kitchen": ["kitchen", "Kitchen", "kitchen ", "kichen"], "office": ["office", "offfice"], "": [""]}
#: As the sidebar shows it, as it is stored, and what it becomes.
TIDIED = [("kichen", "kichen", "kitchen"), ("Kitchen", "Kitchen", "kitchen"), ("kitchen␣", "kitchen ", "kitchen")]
TIDIED += [("offfice", "offfice", "office")]


def messy_list(file: Path) -> list[tuple[str, str]]:
    """Write a list as a German spreadsheet does: Windows-1252, semicolons, a column that PlantDesk has not."""
    chosen = random.Random(1)
    rows = [(chosen.choice(NAMES), chosen.choice(chosen.choice(list(PLACES.values())))) for _ in range(ROWS)]
    lines = [f'{number};"{name}";{place};2026' for number, (name, place) in enumerate(rows, start=1)]
    file.write_bytes("\r\n".join(["Nr;Sorte;Standort;Jahr", *lines, ""]).encode("cp1252"))
    return rows


def import_list(user: User, file: Path) -> None:
    """Import it as it is."""
    user.press("ctrl+shift+i")
    user.expect_text("Look in")  # the file dialog of Qt, as there is no desktop
    user.type_lines(str(file))
    user.click("Import 20,000 plants")
    user.expect_text("20,000 plants")


def test_a_messy_list_is_cleaned(screen: Screen, tmp_path: Path) -> None:
    rows = messy_list(tmp_path / "plants.csv")
    with User(screen, tmp_path) as user:
        import_list(user, tmp_path / "plants.csv")
        plants: dict[int, tuple[str, str | None]] = {
            number: (name, tag or None) for number, (name, tag) in enumerate(rows, 1)
        }
        check(user, plants)

        user.click_item("No tag")  # so that the tags are in the sidebar alone
        for shown, wrong, right in TIDIED:  # renaming a tag to one that is there merges both
            user.click_item(shown)
            user.press("F2", "ctrl+a")
            user.type_lines(right)
            user.click("Merge")
            plants = {key: (name, right if tag == wrong else tag) for key, (name, tag) in plants.items()}
            check(user, plants)
            user.expect_no_item(shown)  # then the tags below it are where they stay

        user.click_item("No tag")  # of those without a place, all of one kind move to the office, at once
        user.search("Ficus")
        user.expect_text("of 20,000 plants")
        user.click_item("Ficus benjamina")
        user.press("ctrl+a", "ctrl+t", into="Tag of")
        user.type_lines("office")
        plants = {key: moved(*plant) for key, plant in plants.items()}
        check(user, plants)

        user.click_item("All plants")
        user.search("basil -tag:office")
        user.click_item("Basil, sweet")
        user.press("ctrl+a", "Delete")
        check(user, {key: plant for key, plant in plants.items() if plant[0] != "Basil, sweet" or plant[1] == "office"})
        user.press("ctrl+z")
        check(user, plants)


def moved(name: str, tag: str | None) -> tuple[str, str | None]:
    """Return a plant after those without a place have moved."""
    return (name, "office") if name == "Ficus benjamina" and tag is None else (name, tag)


def check(user: User, plants: dict[int, tuple[str, str | None]]) -> None:
    """Wait until these are all plants."""
    until(lambda: {key: (name, tag) for key, name, tag in user.plants()} == plants, "the store has these plants")
