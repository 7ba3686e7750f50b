"""Tags as a tree, and tags that look alike.

A tag is one string whose slashes separate levels: “garden/bed 3” is below “garden”.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from plantdesk.domain.duplicates import kinds_of_difference
from plantdesk.domain.folding import fold
from plantdesk.domain.spelling import edit_distance
from plantdesk.domain.texts import Text

#: The most levels of a tag; further slashes belong to the last one, as a tag may have thousands.
_MAX_LEVELS = 20
#: The most completions: nobody reads more.
_MAX_COMPLETIONS = 100
#: Blanks, unless they keep two numbers apart.
_BLANKS = re.compile(r"(?<!\d)\s+|\s+(?!\d)")
_DIGITS = re.compile(r"[\d\s]+")
#: Letters of tags that are compared letter by letter: shorter ones differ anyway, longer ones take too much memory.
_MIN_LETTERS = 4
_MAX_LETTERS = 100
#: The most plants of a tag that is taken for a misspelling of another one.
_MAX_MISSPELT_PLANTS = 20


def levels(tag: str) -> list[str]:
    """Return the parts of a tag from the top; if a part would be blank, the whole tag is one part."""
    parts = tag.split("/", _MAX_LEVELS - 1)
    return parts if len(parts) == 1 or all(fold(part).strip() for part in parts) else [tag]


def ancestors(tag: str) -> list[str]:
    """Return the tags above a tag in the tree, from the top: “a” and “a/b” for “a/b/c”."""
    parts = levels(tag)
    return ["/".join(parts[:end]) for end in range(1, len(parts))]


def tag_from_input(text: str) -> str:
    """Return the tag that a user has typed, without blanks around it and without a slash at its end."""
    tag = text.strip()
    without_slash = tag.removesuffix("/").rstrip()
    is_slash_a_level = without_slash and len(levels(without_slash)) == tag.count("/")
    return without_slash if is_slash_a_level else tag


def is_in_branch(tag: str, top: str) -> bool:
    """Return whether a tag is the top of a branch, or below it."""
    return tag == top or tag.startswith(f"{top}/")


def renamed_with_branch(tag: str, old: str, new: str | None) -> str | None:
    """Return a tag after the branch `old` was renamed to `new`, or removed (None). A tag of another branch stays."""
    if not is_in_branch(tag, old):
        return tag
    return None if new is None else new + tag[len(old) :]


def renamed(tag: str, names: Mapping[str, str]) -> str:
    """Return a tag after each branch in `names` got its new name, from the lowest level up."""
    branches = [*ancestors(tag), tag]
    while branches:
        branch = branches.pop()
        if branch in names:
            tag = names[branch] + tag[len(branch) :]
            branches = ancestors(names[branch])
    return tag


def tag_completions(tags: Sequence[str], typed: str) -> list[str]:
    """Return the first tags that contain a text, in any case, each up to the level where the text ends.

    The levels below a tag that is typed whole come first.
    """
    text = re.escape(typed)
    containing = re.compile(f"{text}[^/]*", re.IGNORECASE)
    below = re.compile(f"{text}/[^/]*", re.IGNORECASE)
    completions = dict.fromkeys(tag[: match.end()] for tag in tags if (match := containing.search(tag)))
    if any(completion.casefold() == typed.casefold() for completion in completions):
        completions = dict.fromkeys(match[0] for tag in tags if (match := below.match(tag))) | completions
    return list(completions)[:_MAX_COMPLETIONS]


class SimilarityOptions(NamedTuple):
    """The differences that similar tags may have: case and accents, blanks, one letter."""

    ignore_case: bool = True
    ignore_blanks: bool = True
    ignore_letter: bool = True

    def key(self, tag: str) -> str:
        """Return a key that is equal for tags that differ only in ignored case, accents or blanks."""
        text = fold(tag) if self.ignore_case else tag
        return _BLANKS.sub("", text) if self.ignore_blanks else text

    def are_near(self, key: str, other_key: str) -> bool:
        """Return whether two keys differ in one letter; False unless `ignore_letter`, and for short or long keys."""
        is_compared = self.ignore_letter and _MIN_LETTERS <= min(len(key), len(other_key)) <= _MAX_LETTERS
        return is_compared and edit_distance(key, other_key, 1) is not None


class SimilarTag(NamedTuple):
    """A tag that looks like another one. `plants` includes the plants of the tags below it.

    `differs` has the kinds of difference. `is_intended`: it is probably no mistake.
    """

    tag: str
    plants: int
    differs: list[Text]
    is_intended: bool


def similar_groups(tags: Mapping[str, int], options: SimilarityOptions) -> list[dict[str, int]]:
    """Return groups of tags that look like their first one, with the numbers of plants of their branches.

    The first one is the most used one without spare blanks. The levels above a tag count as tags, even if no plant has
    them. A group has only one of the tags that become equal when the tags above are merged. Tags that differ only in
    a number, such as those of beds, make no group, but may be in a group with others.
    """
    branches = Counter[str]()
    for tag, plants in tags.items():
        branches.update(dict.fromkeys([*ancestors(tag), tag], plants))
    groups = _group_similar(branches, options)
    names = {tag: next(iter(group)) for group in groups for tag in group}
    return [group for group in (_drop_merged(group, names) for group in groups) if group]


def _drop_merged(group: dict[str, int], names: Mapping[str, str]) -> dict[str, int]:
    """Return a group without tags that become equal when their ancestors merge; empty if only numbers differ."""
    tag_of_renamed: dict[str, str] = {}
    for tag in group:
        tag_of_renamed.setdefault(renamed_ancestors(tag, names), tag)
    first, *other_tags = tag_of_renamed.values()
    is_group = any(not _differ_only_in_number(first, tag) for tag in other_tags)
    return {tag: group[tag] for tag in tag_of_renamed.values()} if is_group else {}


def _differ_only_in_number(key: str, other_key: str) -> bool:
    """Return whether tags, or their keys, are the same but for their digits."""
    key, other_key = map(SimilarityOptions(ignore_letter=False).key, (key, other_key))
    return key != other_key and _DIGITS.sub("", key) == _DIGITS.sub("", other_key)


def renamed_ancestors(tag: str, names: Mapping[str, str]) -> str:
    """Return a tag after the tags above it, but not its last level, were renamed by `names`."""
    above = "/".join(levels(tag)[:-1])
    return renamed(above, names) + tag[len(above) :]


def _group_similar(tags: Mapping[str, int], options: SimilarityOptions) -> list[dict[str, int]]:
    """Return groups of tags with equal or near keys, each tag in one group at most, the most used first."""
    tags_by_key: dict[str, list[str]] = {}
    for tag in sorted(tags, key=lambda tag: (tag != " ".join(tag.split()), -tags[tag], tag)):
        tags_by_key.setdefault(options.key(tag), []).append(tag)
    keys_by_variant: dict[str, list[str]] = {}
    for key in tags_by_key:
        for variant in _iter_deletions(key, options):
            keys_by_variant.setdefault(variant, []).append(key)
    groups = []
    grouped = set[str]()
    for key in sorted(tags_by_key, key=lambda key: -sum(map(tags.__getitem__, tags_by_key[key]))):
        variants = _iter_deletions(key, options)
        candidates = {candidate for variant in variants for candidate in keys_by_variant[variant]} - grouped - {key}
        group = [] if key in grouped else _collect_group(key, tags_by_key, candidates, options)
        if len(group) > 1:
            groups.append({tag: tags[tag] for tag in group})
            grouped.update(map(options.key, group))
    return groups


def _collect_group(
    key: str, tags_by_key: Mapping[str, list[str]], candidates: set[str], options: SimilarityOptions
) -> list[str]:
    """Return the tags of a key and of near keys among `candidates`; tags that differ only in a number make no group."""
    if not candidates:
        return tags_by_key[key]
    near = [candidate for candidate in tags_by_key if candidate in candidates and options.are_near(key, candidate)]
    numbered = [candidate for candidate in near if _differ_only_in_number(key, candidate)]
    tags = tags_by_key[key] + [tag for candidate in near if candidate not in numbered for tag in tags_by_key[candidate]]
    if len(tags) > 1:
        tags += [tags_by_key[candidate][0] for candidate in numbered if len(tags_by_key[candidate]) == 1]
    return tags


def similar_to(kept: str, group: Mapping[str, int]) -> list[SimilarTag]:
    """Return the tags of a group other than `kept`, each with its differences from that."""
    return [_describe_similar(kept, tag, plants) for tag, plants in group.items() if tag != kept]


def _describe_similar(kept: str, tag: str, plants: int) -> SimilarTag:
    kept_key, tag_key = map(SimilarityOptions(ignore_letter=False).key, (kept, tag))
    if _differ_only_in_number(kept, tag):
        return SimilarTag(tag, plants, [Text("another number, so not ticked")], is_intended=True)
    if kept_key == tag_key:
        return SimilarTag(tag, plants, kinds_of_difference([kept, tag], partial(_BLANKS.sub, "")), is_intended=False)
    if plants > _MAX_MISSPELT_PLANTS:
        reasons = [Text("one letter off"), Text("used often itself, so not ticked")]
        return SimilarTag(tag, plants, reasons, is_intended=True)
    return SimilarTag(tag, plants, [Text("one letter off")], is_intended=False)


def _iter_deletions(key: str, options: SimilarityOptions) -> Iterator[str]:
    """Yield a key, and it without each of its letters: keys that differ in one letter have one of these in common."""
    yield key
    if options.ignore_letter and len(key) <= _MAX_LETTERS:
        yield from {key[:index] + key[index + 1 :] for index in range(len(key))}
