from collections.abc import Iterator

import pytest
from PySide6.QtCore import QLocale
from typing_extensions import override

from plantdesk.domain.errors import SelectionChangedError, StoreReadOnlyError, UndoConflictError
from plantdesk.domain.texts import Text
from plantdesk.platform import languages
from plantdesk.platform.languages import Catalogue
from plantdesk.ui.texts import age_text, error_text, tag_text, translated

NOW = 1_795_197_210_000


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-5, "just now"), (1, "just now"), (8, "8 s ago"), (60, "1 min ago"), (3599, "59 min ago"), (86399, "23 h ago")],
)
def test_the_age_of_a_timestamp(seconds: int, words: str) -> None:
    assert age_text(NOW - seconds * 1000, NOW) == words


def test_the_age_of_an_older_time_is_its_day() -> None:
    assert "26" in age_text(NOW - 90_000_000, NOW)


@pytest.mark.parametrize(
    ("tag", "shown"),
    [
        ("kitchen", "kitchen"),
        ("living room", "living room"),
        ("kitchen ", "kitchen␣"),
        ("  kitchen", "␣␣kitchen"),
        ("living  room", "living ␣room"),
        ("living\u00a0room", "living␣room"),
        (" ", "(blank tag)"),
    ],
)
def test_blanks_by_which_tags_differ_can_be_seen(tag: str, shown: str) -> None:
    assert tag_text(tag) == shown


@pytest.fixture
def german() -> Iterator[None]:
    """Show numbers and some texts in German."""

    class German(Catalogue):
        @override
        def text(self, source: str, context: str = "") -> str | None:
            return {
                "The plant store": "Der Speicher",
                "{what} is read-only. Allow writing to the file and its folder.": "Nur lesbar ist: {what}.",
            }.get(source)

        @override
        def plural(self, one: str, many: str, count: int) -> str | None:
            if many != "{count:,} plants":
                return None
            return "eine Pflanze" if count == 1 else "{count:,} Pflanzen"

    QLocale.setDefault(QLocale("de_DE"))  # until the end of the test
    languages.set_current(German())
    yield
    languages.set_current(Catalogue())


@pytest.mark.usefixtures("german")
def test_a_text_is_translated_and_then_filled_in() -> None:
    assert error_text(StoreReadOnlyError()) == "Nur lesbar ist: Der Speicher."
    assert str(StoreReadOnlyError()) == "The plant store is read-only. Allow writing to the file and its folder."
    plants = Text("{count:,} plants", one="1 plant")
    assert [translated(plants.filled(count=count)) for count in (1, 2000)] == ["eine Pflanze", "2.000 Pflanzen"]


@pytest.mark.usefixtures("german")
def test_a_text_without_a_translation_is_english_with_the_numbers_of_the_locale() -> None:
    assert error_text(SelectionChangedError(1, 2000)).startswith("2.000 plants match now instead of 1.")
    assert "the plant has been changed" in error_text(UndoConflictError(Text("Add “{name}”", name="Fern"), 1))
    assert "all 2.000 plants have" in error_text(UndoConflictError(Text("Add “{name}”", name="Fern"), 2000))
