"""Tags as a tree: “garden/bed 3” is below “garden”. A tag is one string; only its slashes say what is above it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from plantdesk.domain.folding import searched

#: A deeper tag is shown on the last of them: each level is an entry, and a tag may have thousands of slashes.
_MAX_LEVELS = 20
#: Tags that are offered: nobody reads more.
_MAX_OFFERS = 100


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
