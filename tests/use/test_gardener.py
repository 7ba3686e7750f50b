"""A day as gardener: three hundred plants by the keyboard, with mistakes, notes, corrections and undo."""

from pathlib import Path

from tests.support.waiting import until
from tests.use.user import Screen, User

SPECIES = [
    "Salvia nemorosa 'Caradonna'",
    "Echinacea purpurea",
    "Mentha x piperita",
    "Helleborus niger",
    "Rosa 'Gertrude Jekyll'",
    "Acer palmatum",
    "Allium sphaerocephalon",
    "Verbena bonariensis",
    "Dahlia 'Bishop of Llandaff'",
    "Thymus vulgaris",
]
BEDS = ["bed 1", "bed 2", "greenhouse", "cold frame", "Living Room"]


Garden = list[tuple[str, str | None]]


def test_a_day_as_gardener(screen: Screen, tmp_path: Path) -> None:
    garden: Garden = []
    with User(screen, tmp_path) as user:
        plant_beds(user, garden)
        plant_singly(user, garden)
        make_mistakes(user, garden)
        correct(user, garden)
        change_many(user, garden)
        user.press("Escape")
    with User(screen, tmp_path) as user:  # all is there the next day
        user.expect_plants(garden)
        user.expect_text(f"{len(garden)} plants")


def plant_beds(user: User, garden: Garden) -> None:
    """Type 250 plants, bed by bed, with the tag pinned."""
    user.click("Pin")
    for bed in BEDS:
        names = [f"{name} {number}" for number in range(5) for name in SPECIES]
        user.click("Tag")
        user.press("ctrl+a")
        user.type(bed)
        user.click("Name")
        user.type_lines(*names)
        garden += [(name, bed) for name in names]
    user.expect_plants(garden)
    user.click("Pin")
    user.click("Tag")
    user.press("ctrl+a", "BackSpace")
    user.click("Name")


def plant_singly(user: User, garden: Garden) -> None:
    """Use what the form has for a few plants: a quantity, Tab to the tag, Up for those of before."""
    user.type_lines("20 x Tulipa 'Queen of Night'")
    garden += [("Tulipa 'Queen of Night'", None)] * 20
    user.expect_text("Added 20 plants.")
    user.type_lines("Lavandula", key="Tab")
    user.type_lines("bed 1")
    user.press("Up", "Return")
    garden += [("Lavandula", "bed 1")] * 2
    user.expect_plants(garden)
    user.type("Nepeta")
    user.click("Tag")
    user.type("green")
    user.expect_text("greenhouse")  # offered below the field
    user.click("Add")
    garden.append(("Nepeta", "green"))
    user.expect_plants(garden)


def make_mistakes(user: User, garden: Garden) -> None:
    """Correct while typing, undo, and use an ID that another plant has."""
    user.type("Salvai")
    user.press("BackSpace", "BackSpace")
    user.type_lines("ia officinalis", "A mistake")
    garden.append(("Salvia officinalis", None))
    user.expect_text("Added “A mistake”.")
    user.press("ctrl+z")
    user.expect_text("Took back “A mistake”.")
    user.expect_plants(garden)
    user.press("shift+Tab")
    user.type_lines("7", "Hosta sieboldiana", "Hosta lancifolia")  # Enter goes from the ID on to the name
    garden += [("Hosta lancifolia", None), ("Hosta sieboldiana", None)]
    user.expect_text("ID 7 already belongs to")
    user.click(next(text for text in user.texts if text.startswith("Use ")))
    user.expect_no_text("ID 7 already belongs to")
    user.expect_plants(garden)


def correct(user: User, garden: Garden) -> None:
    """Write a note in the card, and correct name and tag in their cells."""
    user.search("lancifolia")
    user.click_item("Hosta lancifolia")
    user.press("ctrl+i")
    user.click("Note")
    user.type("Divide in spring, every third year.")
    user.click_item("Hosta lancifolia")
    note = "SELECT note FROM plant WHERE name = 'Hosta lancifolia'"
    until(lambda: user.query(note) == [("Divide in spring, every third year.",)])
    user.press("F2", "ctrl+a")
    user.type_lines("Hosta undulata", key="Tab")
    user.type_lines("shade")
    garden[garden.index(("Hosta lancifolia", None))] = ("Hosta undulata", "shade")
    user.expect_plants(garden)


def change_many(user: User, garden: Garden) -> None:
    """Move fifty plants at once, delete twenty-five, and take that back."""
    user.search("tag:greenhouse")
    user.expect_text("50 of")
    user.click_item("Thymus vulgaris 4")
    user.press("ctrl+a", "ctrl+t", into="Tag of")
    user.type_lines("bed 9")
    garden[:] = [(name, "bed 9" if tag == "greenhouse" else tag) for name, tag in garden]
    user.expect_plants(garden)
    user.search("Verbena")
    user.expect_text("25 of")
    user.click_item("Verbena bonariensis 4")
    user.press("ctrl+a", "Delete")
    user.expect_plants([each for each in garden if not each[0].startswith("Verbena")])
    user.press("ctrl+z")
    user.expect_plants(garden)
