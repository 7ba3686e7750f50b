"""Notes as they are searched, in SQL: PostgreSQL has no folding like that of `domain/folding`."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import groupby

from plantdesk.domain.folding import searched
from plantdesk.domain.values import NamedTuple

#: Beyond it there are symbols, and letters of scripts without case and accents.
_LAST_CODE = 0x10000
_SURROGATES = range(0xD800, 0xE000)


class _Foldings(NamedTuple):
    """What becomes of characters: those that become one other, by that; those that become several; those that go."""

    alike: dict[str, str]
    several: dict[str, str]
    dropped: str


def folded_note(word: str, bind: Callable[[object], str]) -> str:
    """Return the expression of a note in which a `word` is found that is `searched`; `bind` returns a placeholder.

    Only what may become a character of the word is replaced: `translate` compares each character with all of them.
    """
    foldings, letters = _foldings(), sorted(set(word))
    pairs = [(each, letter) for letter in letters for each in foldings.alike.get(letter, "")]
    source, target = ("".join(each) for each in zip(*pairs, strict=True)) if pairs else ("", "")
    plain = [(one, other) for one, other in pairs if one.isascii() and not one.isalpha()]
    ascii_note = 'lower(plant.note COLLATE "C")'
    if plain:
        ascii_note = f"translate({ascii_note}, {bind(_first(plain))}, {bind(_second(plain))})"
    note = f"regexp_replace(plant.note, {bind(f'[{foldings.dropped}]')}, '', 'g')"
    for one, several in foldings.several.items():
        if not set(several).isdisjoint(letters):
            note = f"replace({note}, {bind(one)}, {bind(several)})"
    note = f"translate({note}, {bind(source)}, {bind(target)})"
    return f"CASE WHEN octet_length(plant.note) = char_length(plant.note) THEN {ascii_note} ELSE {note} END"


def _first(pairs: list[tuple[str, str]]) -> str:
    return "".join(one for one, _ in pairs)


def _second(pairs: list[tuple[str, str]]) -> str:
    return "".join(other for _, other in pairs)


@lru_cache(maxsize=1)
def _foldings() -> _Foldings:
    alike: dict[str, str] = {}
    several, dropped = {}, []
    for code in range(1, _LAST_CODE):
        if code in _SURROGATES:
            continue
        character = chr(code)
        folded = searched(character)
        if not folded:
            dropped.append(code)
        elif len(folded) > 1 and folded.isalpha():
            several[character] = folded
        elif len(folded) == 1 and folded != character:
            alike[folded] = alike.get(folded, "") + character
    return _Foldings(alike, several, _ranges(dropped))


def _ranges(codes: list[int]) -> str:
    """Return the inside of a bracket expression."""
    runs = [[code for _, code in run] for _, run in groupby(enumerate(codes), lambda each: each[1] - each[0])]
    return "".join(chr(run[0]) if len(run) == 1 else f"{chr(run[0])}-{chr(run[-1])}" for run in runs)
