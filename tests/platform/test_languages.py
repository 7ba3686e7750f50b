"""The catalogues of the window's languages: what is chosen, what is refused, what is counted."""

import io
import itertools
from pathlib import Path

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

import project
import translations
from plantdesk.platform import languages
from plantdesk.platform.languages import Catalogue, choose

FILES = sorted(translations.FOLDER.glob("*.po"))
COUNTS = (0, 1, 2, 5, 21, 1_000_000)


def catalogue(folder: Path, texts: str, language: str = "de") -> Catalogue:
    """Return the catalogue of a file with these texts."""
    file = folder / "xx.mo"
    with file.open("wb") as compiled:
        write_mo(compiled, read_po(io.BytesIO(texts.encode()), locale=language))
    return Catalogue(file)


def test_a_text_that_is_not_translated_is_none(tmp_path: Path) -> None:
    known = catalogue(tmp_path, 'msgid "Cancel"\nmsgstr "Abbrechen"\n\nmsgid "Close"\nmsgstr ""\n')
    assert [known.text(text) for text in ("Cancel", "Close", "Open", "")] == ["Abbrechen", None, None, None]
    assert known.plural("1 plant", "{count} plants", 1) is None


def test_a_context_tells_texts_apart(tmp_path: Path) -> None:
    known = catalogue(tmp_path, 'msgctxt "tag"\nmsgid "None"\nmsgstr "Keines"\n')
    assert (known.text("None", "tag"), known.text("None")) == ("Keines", None)


@pytest.mark.parametrize(
    ("source", "translation"),
    [
        ("Delete {name}", "{nom} löschen"),
        ("Delete {name}", "Löschen"),
        ("Delete {name}", "{name} {name} löschen"),
        ("Delete {name}", "{name.__class__} löschen"),
        ("Delete {name}", "{name!r} löschen"),
        ("Delete {name}", "{name löschen"),
        ("{share:.0%}", "{share:.9999999%}"),
        ("&Delete", "Löschen"),
        ("Delete", "&Löschen"),
        ("Delete", "  "),
        ("Delete", "Lö\tschen"),
    ],
)
def test_a_translation_with_other_fields_or_mnemonics_is_not_usable(source: str, translation: str) -> None:
    assert not translations.is_usable(translation, source)


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("de", ["viele", "eine", "viele", "viele", "viele", "viele"]),
        ("fr", ["une", "une", "plusieurs", "plusieurs", "plusieurs", "plusieurs"]),
        ("ru", ["mnogo", "odna", "neskolko", "mnogo", "odna", "mnogo"]),
    ],
)
def test_plural_forms(tmp_path: Path, language: str, forms: list[str]) -> None:
    known = {"de": ["eine", "viele"], "fr": ["une", "plusieurs"], "ru": ["odna", "neskolko", "mnogo"]}[language]
    texts = "".join(f'msgstr[{number}] "{form}"\n' for number, form in enumerate(known))
    found = catalogue(tmp_path, f'msgid "1 plant"\nmsgid_plural "{{count}} plants"\n{texts}', language)
    assert [found.plural("1 plant", "{count} plants", count) for count in COUNTS] == forms


def test_only_files_named_like_a_language_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("de.mo", "pt_BR.mo", "DE.mo", ".mo", "x y&q.mo", "plantdesk.pot"):
        (tmp_path / name).touch()
    (tmp_path / "nl.mo").mkdir()
    monkeypatch.setattr(languages, "folder", lambda: tmp_path)
    assert languages.available() == ["de", "en", "pt_BR"]


@pytest.mark.parametrize(
    ("setting", "of_system", "language"),
    [
        ("", ["de-AT", "en-US"], "de"),
        ("", ["en-US", "de-AT"], "en"),
        ("", ["cy-GB", "fr-CA"], "fr"),
        ("", ["zh-Hant-TW"], "zh_TW"),
        ("", ["pt-PT"], "en"),
        ("", [], "en"),
        ("fr", ["de-DE"], "fr"),
        ("gone", ["de-DE"], "de"),
        ("en", ["de-DE"], "en"),
    ],
)
def test_the_language_is_the_setting_or_the_first_known_one_of_the_system(
    setting: str, of_system: list[str], language: str
) -> None:
    assert choose(setting, of_system, ["de", "en", "fr", "pt_BR", "zh_TW"]) == language


# --- the files of PlantDesk ---


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_translations_of_a_language_can_be_used(file: Path) -> None:
    assert not translations.find_problems(read_po(io.BytesIO(file.read_bytes()), locale=file.stem))
    assert file.stem in languages.available()


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of the translations of a program with two texts."""
    code = tmp_path / "plantdesk" / "page.py"
    code.parent.mkdir()
    code.write_text('self.tr("Cancel"), Text("{count:,} plants", one="1 plant", count=2)', encoding="utf-8")
    monkeypatch.setattr(project, "ROOT", tmp_path)
    monkeypatch.setattr(translations, "FOLDER", tmp_path)
    monkeypatch.setattr("translations._find_resource_texts", list)  # those of the desktop entry
    return tmp_path / "de.po"


CANCEL = 'msgid "Cancel"\nmsgstr "Abbrechen"\n\n'
PLANTS = 'msgid "1 plant"\nmsgid_plural "{count:,} plants"\nmsgstr[0] "eine"\nmsgstr[1] "viele"\n'


@pytest.mark.parametrize(("texts", "count"), [("", 0), (CANCEL, 1), (CANCEL + PLANTS, 2)])
def test_a_missing_translation_is_only_counted(
    file: Path, capfd: pytest.CaptureFixture[str], texts: str, count: int
) -> None:
    file.write_text(texts, encoding="utf-8")
    assert translations.main(["--check"]) == (0 if count == 2 else 1)
    assert file.read_text(encoding="utf-8") == texts
    assert translations.main([]) == 0
    assert 'msgid "Cancel"' in file.read_text(encoding="utf-8")
    assert capfd.readouterr() == (f"de: {count} of 2 texts\n" * 2, "")


def test_a_translation_with_other_fields_is_refused(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file.write_text(CANCEL.replace("Abbrechen", "Abbrechen {name}"), encoding="utf-8")
    assert translations.main([]) == 1
    assert "'Cancel' is translated to 'Abbrechen {name}'" in capfd.readouterr().err


def test_no_language_has_sentences_of_another() -> None:
    catalogues = [read_po(io.BytesIO(file.read_bytes())) for file in FILES]
    texts = [
        {(each.context, each.id): each.string for each in found if each.id and translations.is_translated(each)}
        for found in catalogues
    ]
    for one, other in itertools.combinations(texts, 2):
        same = [text for text, string in one.items() if string == other.get(text) and string != text[1]]
        assert not [text for text in same if " " in str(one[text])]
