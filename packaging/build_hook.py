"""Hatchling's build hook: compile the translations before they go into a wheel, or a checkout is installed.

`dev.py` runs it as a script where a translation has changed since. A text that is not translated stays English.
"""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LANGUAGES = Path(__file__).resolve().parent.parent / "resources" / "languages"


class BuildHook(BuildHookInterface[BuilderConfig]):
    """Runs before each wheel, also that of an editable installation."""

    def initialize(self, _version: str, _build_data: dict[str, Any]) -> None:
        """Compile the translations, which the wheel takes from resources/."""
        compile_translations()


def compile_translations() -> None:
    """Compile each LANGUAGE.po to LANGUAGE.mo, with a fixed date, and remove .mo files without a .po file."""
    for file in LANGUAGES.glob("*.mo"):
        if not file.with_suffix(".po").exists():
            file.unlink()
    for file in LANGUAGES.glob("*.po"):
        with file.open("rb") as stream:
            catalogue = read_po(stream, locale=file.stem)
        catalogue.creation_date = catalogue.revision_date = datetime.fromtimestamp(0, UTC)
        compiled = io.BytesIO()
        write_mo(compiled, catalogue)
        file.with_suffix(".mo").write_bytes(compiled.getvalue())


if __name__ == "__main__":
    compile_translations()
