"""The window in other languages, as tests drive it: they name widgets in English, whatever is shown.

The pseudo-language has brackets and long texts: “Delete {name}” becomes “[Delete {name}~~~~]”. What has no brackets was
never looked up, what lacks the last one is cut.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from typing_extensions import override

from plantdesk.platform import languages
from plantdesk.platform.languages import Catalogue

#: How much longer a text becomes, as translations of short ones do.
_LONGER = 0.4
_MARKED = re.compile(r"\[([^\[\]]*?)~+\]")
_FIELD = re.compile(r"\\\{(\w+)[^{}]*\\\}")
_WORD = re.compile(r"[^\W\d_]{2,}")


class Pseudo(Catalogue):
    """Translates every text into brackets."""

    @override
    def text(self, source: str, context: str = "") -> str | None:
        return f"[{source}{'~' * (1 + int(len(source) * _LONGER))}]"

    @override
    def plural(self, one: str, many: str, count: int) -> str | None:
        return self.text(one if count == 1 else many)

    def english(self, text: str) -> str:
        """Return a text without the marks."""
        while text != (text := _MARKED.sub(r"\1", text)):
            pass
        return text


class Language(Catalogue):
    """A language of PlantDesk, that knows what its texts are in English."""

    def __init__(self, name: str) -> None:
        super().__init__(languages.folder() / f"{name}.mo")
        self.name = name

    def english(self, text: str) -> str:
        """Return the English of a text without mnemonics, as far as it is one of the catalogue."""
        for pattern, source in self._sources:
            if found := pattern.fullmatch(text):
                return source.format_map(defaultdict(str, found.groupdict()))
        return text

    @cached_property
    def _sources(self) -> list[tuple[re.Pattern[str], str]]:
        from babel.messages.pofile import read_po

        import translations  # of packaging/, which pytest finds

        with (languages.folder() / f"{self.name}.po").open("rb") as file:
            messages = [message for message in read_po(file) if message.id and translations.is_translated(message)]
        pairs = [(found, sources) for message in messages for sources, found in translations.pair_translations(message)]
        found = {text.replace("&", ""): sources[-1].replace("&", "") for text, sources in pairs}
        texts = sorted(found, key=lambda text: ("{" in text, -len(text)))
        return [(_compile_pattern(text), re.sub(r"\{(\w+)[^{}]*\}", r"{\1}", found[text])) for text in texts]


def _compile_pattern(text: str) -> re.Pattern[str]:
    seen: set[str] = set()

    def group(field: re.Match[str]) -> str:
        name = field[1]
        if name in seen:
            return f"(?P={name})"
        seen.add(name)
        return f"(?P<{name}>.+)"

    return re.compile(_FIELD.sub(group, re.escape(text)), re.DOTALL)


def english(text: str) -> str:
    """Return in English what is shown in a language of these tests."""
    current = languages.current()
    return current.english(text) if isinstance(current, Pseudo | Language) else text


def find_unmarked_words(text: str, data: Iterable[str]) -> list[str]:
    """Return the words of a text that were not looked up; `data` are those of the user, of files and of the system."""
    text = text.replace("&", "")
    while text != (text := _MARKED.sub(" ", text)):
        pass
    for word in sorted(data, key=len, reverse=True):
        text = text.replace(word, " ")
    return _WORD.findall(text)


LANGUAGES = sorted(file.stem for file in languages.folder().glob("*.po"))
