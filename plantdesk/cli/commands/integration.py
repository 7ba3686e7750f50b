"""`plantdesk integration`: start at login and, on Windows, the entry in PATH; for scripts and installers."""

from __future__ import annotations

import sys
from pathlib import Path

from plantdesk.domain.errors import PlantDeskError, Text
from plantdesk.platform import output
from plantdesk.platform.login import login_item, switch_login


class PathNotSupportedError(PlantDeskError):
    """PlantDesk does not change PATH on this system or in this installation."""


def run(*, login: bool | None, path: bool | None) -> int:
    """Switch what is not None; print the state if both are. Raises PathNotSupportedError, OSError."""
    if path is not None:
        _switch_path(on=path)
    if login is not None:
        switch_login(on=login)
    if login is None and path is None:
        output.write("\n".join(_state()))
    return 0


def _state() -> list[str]:
    lines = [f"Start at login: {_on_off(on=login_item().is_on())}"]
    if sys.platform == "win32":
        from plantdesk.platform.windows import UserPath

        lines.append(f"On the PATH: {_on_off(on=UserPath().has(_folder()))}")
    return lines


def _on_off(*, on: bool) -> str:
    return "on" if on else "off"


def _switch_path(*, on: bool) -> None:
    if sys.platform == "win32":
        from plantdesk.platform.windows import UserPath

        if not getattr(sys, "frozen", False):
            raise PathNotSupportedError(Text("Only an installed PlantDesk can be added to PATH. Use its installer."))
        if on:
            UserPath().add(_folder())
        else:
            UserPath().remove(_folder())
    else:
        raise PathNotSupportedError(
            Text("On this system the package puts plantdesk on the PATH. --path is for Windows.")
        )


def _folder() -> str:
    return str(Path(sys.executable).parent)
