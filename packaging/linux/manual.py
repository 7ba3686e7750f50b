"""The manual page, which pandoc makes of plantdesk.1.md.in and the manual's page of commands."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import dev
import project
from linux import completions
from plantdesk.cli import options
from plantdesk.platform import manual

if TYPE_CHECKING:
    from pathlib import Path


def main(*, to: Path) -> None:
    """Write the manual page and the completions."""
    to.mkdir(parents=True, exist_ok=True)
    for shell, name in completions.FILES.items():
        (to / name).write_text(completions.completion(shell), encoding="utf-8", newline="\n")
    source = to / "plantdesk.1.md"
    source.write_text(page(), encoding="utf-8", newline="\n")
    command = ["pandoc", "--from=markdown-smart", "--standalone", "--to=man", "--ascii"]
    dev.call([*command, str(source), f"--output={source.with_suffix('')}"])


def page() -> str:
    """Return the manual page in the Markdown of pandoc, with the help and the manual of all commands."""
    commands = manual.without_links(manual.page_text("commands").partition("\n\n")[2])
    # Its tables are lists of definitions here: troff breaks no line in a column of names.
    without_heads = re.sub(r"^\|.*\n\|---.*\n", "", commands, flags=re.MULTILINE)
    summary = project.DESCRIPTION.rstrip(".")
    values = {
        "DAY": time.strftime("%Y-%m-%d", time.gmtime(project.epoch())),
        "VERSION": project.VERSION,
        "SUMMARY": summary[0].lower() + summary[1:],
        "DESCRIPTION": options.DESCRIPTION,
        "EPILOG": options.EPILOG.rstrip(),
        "COMMANDS": re.sub(r"^\| (.+?) \| (.*) \|$", r"\1\n:   \2\n", without_heads, flags=re.MULTILINE),
    }
    return project.fill_template(project.HERE / "linux" / "plantdesk.1.md.in", values)
