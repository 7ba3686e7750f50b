"""The languages of the window: one gettext catalogue for its texts and those of the base. Without Qt.

English is in the code. It stays in the API, files, logs and commands; only `plantdesk.ui.texts` asks for translations.
A catalogue is `resources/languages/LANGUAGE.mo`, compiled from LANGUAGE.po; CONTRIBUTING says how to add one.
"""

from __future__ import annotations

import gettext
import logging
import re
import string
from collections import Counter
from collections.abc import Collection, Iterable
from functools import cache
from typing import TYPE_CHECKING

from typing_extensions import override

from plantdesk.platform import paths

if TYPE_CHECKING:
    from pathlib import Path

_log = logging.getLogger(__name__)

_SOURCE = "en"
#: What begins or ends a field, or marks a mnemonic.
_MARKS = re.compile("[{}&]")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
#: The most bytes of a catalogue: gettext reads 8 million a second; ours have a hundred thousand.
_MAX_SIZE = 2_000_000
#: The name of a catalogue: a language, and perhaps a country or a script.
_NAME = re.compile("[a-z]{2,3}(_[A-Za-z]{2,4})?")


class Catalogue:
    """The translations into one language. For any thread; raises nothing: what is missing or unusable is None."""

    def __init__(self, file: Path | None = None) -> None:
        """Read a catalogue; one that cannot be read has no translations."""
        self._translations: gettext.NullTranslations = _Missing()
        try:
            if file is not None:
                _refuse_unfit(file)
                with file.open("rb") as stream:
                    self._translations = gettext.GNUTranslations(stream)
                self._translations.add_fallback(_Missing())
        except Exception as error:  # noqa: BLE001  a file may be damaged in any way
            self._translations = _Missing()
            _log.warning("The translations in %s cannot be used: %s", file, error)
        self.text = cache(self._text)
        self._english: dict[str, str] = {}

    @property
    def is_english(self) -> bool:
        """Whether there are no translations."""
        return isinstance(self._translations, _Missing)

    def _text(self, source: str, context: str = "") -> str | None:
        """Return the translation of a text; `context` separates texts that are the same in English."""
        if not source:
            return None
        find = self._translations
        try:
            found = find.pgettext(context, source) if context else find.gettext(source)
        except Exception:  # noqa: BLE001  also here the rule of the plural forms is asked; Qt calls this
            return None
        return found if found and is_usable(found, source) else None

    def sources(self, translation: str) -> str:
        """Return the English texts that have a translation, with a space between them; empty if there is none."""
        if not self._english:
            for source, text in getattr(self._translations, "_catalog", {}).items():  # gettext has no other way
                english = str(source).rpartition("\4")[2]
                self._english[text] = f"{self._english[text]} {english}" if text in self._english else english
        return self._english.get(translation, "")

    def plural(self, one: str, many: str, count: int) -> str | None:
        """Return the translation of a text for a count; English has two forms of such a text."""
        try:
            found = self._translations.ngettext(one, many, count)
        except Exception:  # noqa: BLE001  the rule of the plural forms is an expression in the file
            return None
        return found if found and (is_usable(found, many) or is_usable(found, one)) else None


def _refuse_unfit(file: Path) -> None:
    """Raise ValueError for a file that is too large, or not regular, so that it may have no end. Raises OSError."""
    if not file.is_file() or file.stat().st_size > _MAX_SIZE:
        raise ValueError(f"it is no file of at most {_MAX_SIZE:,} bytes")


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


def is_usable(translation: str, source: str) -> bool:
    """Return whether a translation is not blank, and has the fields (a count excepted) and mnemonics of its source."""
    if not translation.strip() or not set(_CONTROLS.findall(translation)) <= set(source):
        return False
    if not _MARKS.search(source + translation):
        return True
    try:
        fields, allowed = _fields(translation), _fields(source)
    except ValueError:  # a single brace
        return False
    missing = {name for name, *_ in allowed - fields}
    return not fields - allowed and missing <= {"count"} and _mnemonics(translation) == _mnemonics(source)


def _fields(template: str) -> Counter[tuple[str, str | None, str | None]]:
    parts = string.Formatter().parse(template)
    return Counter((name, spec, conversion) for _, name, spec, conversion in parts if name is not None)


def _mnemonics(text: str) -> int:
    return text.replace("&&", "").count("&")


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
