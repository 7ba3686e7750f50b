"""`plantdesk integration`: start at login, and on Windows a place on the PATH, for scripts and installers."""

from __future__ import annotations

import sys
from pathlib import Path

from plantdesk import output
from plantdesk.errors import PlantDeskError
from plantdesk.integration import login


class NotOnThePathError(PlantDeskError):
    """The PATH is nothing that PlantDesk changes here."""


def run(login_on: bool | None, path_on: bool | None) -> int:  # noqa: FBT001 - None leaves it as it is
    """Switch what is asked for; asked for nothing, print how things are. Raises NotOnThePathError, OSError."""
    if path_on is not None:
        _switch_path(on=path_on)
    if login_on is not None:
        login.switch(on=login_on)
    if login_on is None and path_on is None:
        output.write("\n".join(_state()))
    return 0


def _state() -> list[str]:
    lines = [f"Start at login: {_word(on=login.item().is_on())}"]
    if sys.platform == "win32":
        from plantdesk.integration.windows_path import UserPath

        lines.append(f"On the PATH: {_word(on=UserPath().has(_folder()))}")
    return lines


def _word(*, on: bool) -> str:
    return "on" if on else "off"


def _switch_path(*, on: bool) -> None:
    if sys.platform == "win32":
        from plantdesk.integration.windows_path import UserPath

        if not getattr(sys, "frozen", False):
            raise NotOnThePathError("Only an installed PlantDesk has a folder for the PATH. Use its installer.")
        if on:
            UserPath().add(_folder())
        else:
            UserPath().remove(_folder())
    else:
        raise NotOnThePathError("On this system the package puts plantdesk on the PATH. --path is for Windows.")


def _folder() -> str:
    return str(Path(sys.executable).parent)
