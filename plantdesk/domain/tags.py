"""Tags as a tree, and tags that look alike.

“garden/bed 3” is below “garden”: a tag is one string, and only its slashes say what is above it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from plantdesk.domain.duplicates import differences_of
from plantdesk.domain.folding import searched
from plantdesk.domain.spelling import distance
from plantdesk.domain.texts import Text

#: A deeper tag is shown on the last of them: each level is an entry, and a tag may have thousands of slashes.
_MAX_LEVELS = 20
#: Tags that are offered: nobody reads more.
_MAX_OFFERS = 100
#: Blanks, unless they keep two numbers apart.
_BLANKS = re.compile(r"(?<!\d)\s+|\s+(?!\d)")
_DIGITS = re.compile(r"[\d\s]+")
#: The fewest letters of tags that may differ in one, and the most plants of such a tag that is taken for a mistake.
_SHORTEST, _MOST_MISTAKEN = 4, 20
#: Longer ones are not compared letter by letter: each has as many parts as letters.
_LONGEST = 100


def levels(tag: str) -> list[str]:
    """Return the parts of a tag from the top; if a part would be blank, the whole tag is one part."""
    parts = tag.split("/", _MAX_LEVELS - 1)
    return parts if len(parts) == 1 or all(searched(part).strip() for part in parts) else [tag]


def tops(tag: str) -> list[str]:
    """Return the tags above one, from the top."""
    parts = levels(tag)
    return ["/".join(parts[:end]) for end in range(1, len(parts))]


def entered(text: str) -> str:
    """Return the tag that a user has typed: without blanks round it, and the slash that leads to the next level."""
    tag = text.strip()
    above = tag.removesuffix("/").rstrip()
    return above if above and len(levels(above)) == tag.count("/") else tag


def is_in_branch(tag: str, top: str) -> bool:
    """Return whether a tag is the one at the top of a branch, or below it."""
    return tag == top or tag.startswith(f"{top}/")


def moved(tag: str, old: str, new: str | None) -> str | None:
    """Return a tag after the branch `old` was renamed to `new` (None: removed); a tag of another branch stays."""
    if not is_in_branch(tag, old):
        return tag
    return None if new is None else new + tag[len(old) :]


def renamed(tag: str, names: Mapping[str, str]) -> str:
    """Return a tag after each tag in `names` was renamed with all below it, from the lowest level up."""
    branches = [*tops(tag), tag]
    while branches:
        branch = branches.pop()
        if branch in names:
            tag, branches = names[branch] + tag[len(branch) :], tops(names[branch])
    return tag


def completions(tags: Sequence[str], typed: str) -> list[str]:
    """Return what is offered for a text: the first tags that contain it, each up to the level in which it ends.

    Case does not matter. The levels below a tag that is typed whole are offered first.
    """
    text = re.escape(typed)
    containing, below = (re.compile(f"{text}{rest}[^/]*", re.IGNORECASE) for rest in ("", "/"))
    offers = _first(tag[: found.end()] for tag in tags if (found := containing.search(tag)))
    if any(offer.casefold() == typed.casefold() for offer in offers):
        offers = _first(found[0] for tag in tags if (found := below.match(tag))) | offers
    return list(offers)


def _first(offers: Iterable[str]) -> dict[str, None]:
    found: dict[str, None] = {}
    for offer in offers:
        found[offer] = None
        if len(found) == _MAX_OFFERS:
            break
    return found


class Likeness(NamedTuple):
    """The differences that similar tags may have."""

    case: bool = True
    blanks: bool = True
    letter: bool = True

    def key(self, tag: str) -> str:
        """Return a key that is equal for tags that differ only in case (and accents) or in blanks."""
        text = searched(tag) if self.case else tag
        return _BLANKS.sub("", text) if self.blanks else text

    def are_near(self, one: str, other: str) -> bool:
        """Return whether two keys differ in one letter."""
        is_compared = self.letter and _SHORTEST <= min(len(one), len(other)) <= _LONGEST
        return is_compared and distance(one, other, 1) is not None


class SimilarTag(NamedTuple):
    """A tag beside another one: the number of its plants, in what they differ, and whether it is used on purpose.

    The number includes the plants of the tags below it.
    """

    tag: str
    plants: int
    differs: list[Text]
    is_own: bool


def similar_groups(tags: Mapping[str, int], likeness: Likeness) -> list[dict[str, int]]:
    """Return groups of tags that look like their first one, with their numbers of plants, and of those below them.

    The first one is the most used one without spare blanks. The levels above a tag count as tags, even if no plant has
    them. Of tags that become equal when the tags above them are merged, a group has only one.

    Tags that differ only in a number, as those of beds, do not make a group, but may be in a group with others.
    """
    branches = Counter[str]()
    for tag, plants in tags.items():
        branches.update(dict.fromkeys([*tops(tag), tag], plants))
    groups = _alike(branches, likeness)
    names = {tag: next(iter(group)) for group in groups for tag in group}
    return [group for group in (_unlike(group, names) for group in groups) if group]


def _unlike(group: dict[str, int], names: Mapping[str, str]) -> dict[str, int]:
    """Return a group without tags that become equal when those above are merged; empty if only numbers differ."""
    unlike: dict[str, str] = {}
    for tag in group:
        unlike.setdefault(renamed_above(tag, names), tag)
    first, *others = unlike.values()
    is_group = any(not _differ_in_number(first, tag) for tag in others)
    return {tag: group[tag] for tag in unlike.values()} if is_group else {}


def _differ_in_number(one: str, other: str) -> bool:
    """Return whether tags, or their keys, are the same but for their digits."""
    one, other = map(Likeness(letter=False).key, (one, other))
    return one != other and _DIGITS.sub("", one) == _DIGITS.sub("", other)


def renamed_above(tag: str, names: Mapping[str, str]) -> str:
    """Return a tag after the tags above it, but not the tag itself, were renamed by `names`."""
    above = "/".join(levels(tag)[:-1])
    return renamed(above, names) + tag[len(above) :]


def _alike(tags: Mapping[str, int], likeness: Likeness) -> list[dict[str, int]]:
    same: dict[str, list[str]] = {}
    for tag in sorted(tags, key=lambda tag: (tag != " ".join(tag.split()), -tags[tag], tag)):
        same.setdefault(likeness.key(tag), []).append(tag)
    by_part: dict[str, list[str]] = {}
    for key in same:
        for part in _parts(key, likeness):
            by_part.setdefault(part, []).append(key)
    groups, taken = [], set[str]()
    for key in sorted(same, key=lambda key: -sum(map(tags.__getitem__, same[key]))):
        others = {other for part in _parts(key, likeness) for other in by_part[part]} - taken - {key}
        found = [] if key in taken else _group(key, same, others, likeness)
        if len(found) > 1:
            groups.append({tag: tags[tag] for tag in found})
            taken.update(map(likeness.key, found))
    return groups


def _group(key: str, same: Mapping[str, list[str]], others: set[str], likeness: Likeness) -> list[str]:
    """Return the tags of a key and of near keys among `others`; tags that differ only in a number make no group."""
    near = [other for other in same if other in others and likeness.are_near(key, other)] if others else []
    numbered = [other for other in near if _differ_in_number(key, other)]
    found = same[key] + [tag for other in near if other not in numbered for tag in same[other]]
    if len(found) > 1:
        found += [same[other][0] for other in numbered if len(same[other]) == 1]
    return found


def similar_to(kept: str, group: Mapping[str, int]) -> list[SimilarTag]:
    """Return the other tags of a group."""
    return [_similar(kept, tag, plants) for tag, plants in group.items() if tag != kept]


def _similar(kept: str, tag: str, plants: int) -> SimilarTag:
    one, other = map(Likeness(letter=False).key, (kept, tag))
    if _differ_in_number(kept, tag):
        return SimilarTag(tag, plants, [Text("another number, so not ticked")], is_own=True)
    if one == other:
        return SimilarTag(tag, plants, differences_of([kept, tag], partial(_BLANKS.sub, "")), is_own=False)
    if plants > _MOST_MISTAKEN:
        reasons = [Text("one letter off"), Text("used often itself, so not ticked")]
        return SimilarTag(tag, plants, reasons, is_own=True)
    return SimilarTag(tag, plants, [Text("one letter off")], is_own=False)


def _parts(key: str, likeness: Likeness) -> Iterator[str]:
    """Yield a key, and the key without each of its letters: keys that differ in one letter share one of these."""
    yield key
    if likeness.letter and len(key) <= _LONGEST:
        yield from {key[:at] + key[at + 1 :] for at in range(len(key))}
