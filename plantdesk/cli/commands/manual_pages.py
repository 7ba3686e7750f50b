"""`plantdesk help`: the help of a command with what the manual says about it, or a page of the manual."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.platform import manual, output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plantdesk.cli.parser import Parser


def run(words: Sequence[str], top: Parser) -> int:
    """Print the page that `words` name, or the help of that command. Raises SystemExit and OSError."""
    if len(words) == 1 and words[0] in manual.PAGES:
        output.write(manual.plain(manual.page(words[0])))
        return 0
    try:
        top.parse_args([*words, "--help"])
    except SystemExit as done:
        if words and not done.code and (text := manual.about(" ".join(words))):
            output.write(f"\n{text}")
        raise
    return 0
