"""The languages of the window: one gettext catalogue for its texts and those of the base. Without Qt.

English is in the code. It stays in the API, files, logs and commands; only `plantdesk.ui.texts` asks for translations.
A catalogue is `resources/languages/LANGUAGE.mo`, compiled from LANGUAGE.po; CONTRIBUTING says how to add one.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from typing_extensions import override

from plantdesk.platform import paths

_SOURCE = "en"
#: The name of a catalogue: a language, and perhaps a country or a script.
_NAME = re.compile("[a-z]{2,3}(_[A-Za-z]{2,4})?")


class Catalogue:
    """The translations into one language. For any thread; what is missing is None."""

    def __init__(self, file: Path | None = None) -> None:
        """Read a catalogue of the program, whose texts `dev.py texts` has checked. Raises OSError."""
        self._translations: gettext.NullTranslations = _Missing()
        if file is not None:
            with file.open("rb") as stream:
                self._translations = gettext.GNUTranslations(stream)
            self._translations.add_fallback(_Missing())
        self._english: dict[str, str] = {}

    @property
    def is_english(self) -> bool:
        """Whether there are no translations."""
        return isinstance(self._translations, _Missing)

    def text(self, source: str, context: str = "") -> str | None:
        """Return the translation of a text; `context` separates texts that are the same in English."""
        if not source:
            return None
        find = self._translations
        return (find.pgettext(context, source) if context else find.gettext(source)) or None

    def sources(self, translation: str) -> str:
        """Return the English texts that have a translation, with a space between them; empty if there is none."""
        if not self._english:
            for source, text in getattr(self._translations, "_catalog", {}).items():  # gettext has no other way
                english = str(source).rpartition("\4")[2]
                self._english[text] = f"{self._english[text]} {english}" if text in self._english else english
        return self._english.get(translation, "")

    def plural(self, one: str, many: str, count: int) -> str | None:
        """Return the translation of a text for a count; English has two forms of such a text."""
        return self._translations.ngettext(one, many, count) or None


class _Missing(gettext.NullTranslations):
    """Answers for texts that a catalogue does not have."""

    @override
    def gettext(self, message: str) -> str:
        return ""

    @override
    def pgettext(self, context: str, message: str) -> str:
        return ""

    @override
    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return ""


def folder() -> Path:
    """Return the folder of the catalogues."""
    return paths.resources_folder() / "languages"


def catalogue_of(language: str) -> Catalogue:
    """Return the catalogue of one of the `available` languages."""
    return Catalogue(None if language == _SOURCE else folder() / f"{language}.mo")


def available() -> list[str]:
    """Return the languages that there are, such as `de` or `pt_BR`, with English."""
    files = [file for file in folder().glob("*.mo") if _NAME.fullmatch(file.stem) and file.is_file()]
    return sorted({_SOURCE, *(file.stem for file in files)})


def chosen(setting: str, of_system: Iterable[str], known: Collection[str]) -> str:
    """Return the language to use: that of the setting, else the first known one of the system's, else English.

    Languages of the system are BCP 47 tags, such as `de-AT`, in the order of the user's preference.
    """
    for tag in (setting, *of_system):
        parts = tag.replace("-", "_").split("_")
        for name in ("_".join(parts), "_".join((parts[0], parts[-1])), parts[0]):
            if name in known:
                return name
    return _SOURCE


_current = Catalogue()


def use(catalogue: Catalogue) -> None:
    """Translate with a catalogue from now on."""
    global _current  # noqa: PLW0603  as there is one QApplication
    _current = catalogue


def current() -> Catalogue:
    """Return the catalogue of the language in use."""
    return _current
