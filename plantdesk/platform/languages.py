"""The languages of the window, each a gettext catalogue for the texts of the window and of the modules below it.

English is in the code. It stays in the API, files, logs and commands; only `plantdesk.ui.texts` asks for translations.
A catalogue is `resources/languages/LANGUAGE.mo`, compiled from LANGUAGE.po; CONTRIBUTING says how to add one.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from plantdesk.platform import paths

_SOURCE_LANGUAGE = "en"
#: The name of a catalogue: a language, and perhaps a country or a script.
_CATALOGUE_NAME = re.compile("[a-z]{2,3}(_[A-Za-z]{2,4})?")


class Catalogue:
    """The translations into one language. Without a file it is English, which needs none. For any thread."""

    def __init__(self, file: Path | None = None) -> None:
        """Read a catalogue of the program; `dev.py texts` has checked its texts. Raises OSError."""
        self._translations: gettext.GNUTranslations | None = None
        if file is not None:
            with file.open("rb") as stream:
                self._translations = gettext.GNUTranslations(stream)
        self._english: dict[str, str] = {}

    @property
    def is_english(self) -> bool:
        """Whether texts stay in English, as they are in the code."""
        return self._translations is None

    def text(self, source: str, context: str = "") -> str | None:
        """Return the translation of a text; None if it has no other one. `context` separates equal English texts."""
        if self._translations is None or not source:
            return None
        translation = self._translations.pgettext(context, source) if context else self._translations.gettext(source)
        return None if translation == source else translation

    def plural(self, singular: str, plural: str, count: int) -> str | None:
        """Return the translation of a text for a count, None if it has none; English has two forms of such a text."""
        translation = singular if self._translations is None else self._translations.ngettext(singular, plural, count)
        return None if translation in {singular, plural} else translation

    def sources(self, translation: str) -> str:
        """Return the English texts that have a translation, with a space between them; empty if there is none."""
        if not self._english:
            for source, text in getattr(self._translations, "_catalog", {}).items():  # gettext has no other way
                english = str(source).rpartition("\4")[2]
                self._english[text] = f"{self._english[text]} {english}" if text in self._english else english
        return self._english.get(translation, "")


def folder() -> Path:
    """Return the folder of the catalogues."""
    return paths.resources_folder() / "languages"


def catalogue_of(language: str) -> Catalogue:
    """Read the catalogue of one of the `available` languages. Raises OSError."""
    return Catalogue(None if language == _SOURCE_LANGUAGE else folder() / f"{language}.mo")


def available() -> list[str]:
    """Return the available languages, such as `de` or `pt_BR`, English included."""
    files = [file for file in folder().glob("*.mo") if _CATALOGUE_NAME.fullmatch(file.stem) and file.is_file()]
    return sorted({_SOURCE_LANGUAGE, *(file.stem for file in files)})


def choose(setting: str, system_languages: Iterable[str], known: Collection[str]) -> str:
    """Return the language to use: the setting, otherwise the first known one of the system, otherwise English.

    Languages of the system are BCP 47 tags, such as `de-AT`, in the order of the user's preference.
    """
    for tag in (setting, *system_languages):
        parts = tag.replace("-", "_").split("_")
        for name in ("_".join(parts), "_".join((parts[0], parts[-1])), parts[0]):
            if name in known:
                return name
    return _SOURCE_LANGUAGE


_current = Catalogue()


def set_current(catalogue: Catalogue) -> None:
    """Set the catalogue that `current` returns; texts on the screen do not change by it."""
    global _current  # noqa: PLW0603  as there is one QApplication
    _current = catalogue


def current() -> Catalogue:
    """Return the catalogue of the language in use: English, or that of the last `set_current`."""
    return _current
