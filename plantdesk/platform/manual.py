"""The manual in `resources/manual`: its pages, and the section about a command."""

from __future__ import annotations

import re
from pathlib import Path

from plantdesk.platform import paths

#: The pages, in the order of `index.md`.
PAGES = ("window", "commands", "api", "files", "data", "desks", "assistant", "recipes", "measurements", "news")

_PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n+", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def folder() -> Path:
    """Return the folder of the pages."""
    return paths.resources_folder() / "manual"


def page_text(name: str) -> str:
    """Return a page in Markdown, without pictures: packages have none. Raises OSError."""
    return _PICTURE.sub("", (folder() / f"{name}.md").read_text(encoding="utf-8"))


def command_section(command: str) -> str:
    """Return the section about a command, such as `token create`; empty for a group. Raises OSError."""
    text = page_text("commands")
    match = re.search(rf"^## plantdesk {re.escape(command)}\n+(.*?)\n*(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    return without_links(match[1]) if match else ""


def without_links(text: str) -> str:
    """Return Markdown for a terminal, with links as their texts."""
    return _LINK.sub(r"\1", text)
