"""`plantdesk help`, `openapi`, `selfcheck` and `integration`: about the program; none opens a store."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from plantdesk import __version__
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.texts import Text
from plantdesk.platform import output, paths

if TYPE_CHECKING:
    from plantdesk.ui.qt import QtDiagnostics

_PLATFORMS = {"linux": "xcb", "darwin": "cocoa", "win32": "windows"}
_IMAGE_FORMATS = {"png", "svg"}
#: A package that an installation may lack.
_OPTIONAL_PACKAGE = "mcp"


def show_help(options: argparse.Namespace) -> int:
    """Print a page of the manual, or the options of a command and its section. Raises SystemExit, OSError."""
    from plantdesk.platform import manual

    words = options.command
    if len(words) == 1 and words[0] in manual.PAGES:
        output.write(manual.without_links(manual.page_text(words[0])))
        return 0
    try:
        options.top.parse_args([*words, "--help"])
    except SystemExit as exiting:
        if words and not exiting.code and (text := manual.command_section(" ".join(words))):
            output.write(f"\n{text}")
        raise
    return 0


def openapi(_options: argparse.Namespace) -> int:
    """Print the OpenAPI document, as `GET /openapi.json` on the default port returns it."""
    from plantdesk.api.openapi import build_openapi_document

    output.write(json.dumps(build_openapi_document(), indent=2, ensure_ascii=False))
    return 0


def selfcheck(_options: argparse.Namespace) -> int:
    """Print versions and problems of this installation as JSON; return 1 if there are problems."""
    from plantdesk.platform import display

    display.use_offscreen()
    from plantdesk.ui.qt import qt_diagnostics
    from plantdesk.ui.translation import words_for_cancel

    qt = qt_diagnostics(paths.resources_folder() / "icons" / "plantdesk.svg")
    words = words_for_cancel()
    problems = [*_find_import_problems(), *_find_qt_problems(qt), *_find_data_problems()]
    problems += [f"the texts of {language} are not complete" for language in words if len({*words[language]}) > 1]
    output.write(
        json.dumps({"problems": problems, **_describe_installation(), **qt._asdict(), "cancel": words}, indent=2)
    )
    return 1 if problems else 0


def _describe_installation() -> dict[str, object]:
    import platform
    import sqlite3
    import ssl

    return {
        "version": __version__,
        "channel": paths.package_channel(),
        "frozen": bool(getattr(sys, "frozen", False)),
        "system": platform.platform(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "ssl": ssl.OPENSSL_VERSION,
        "resources": str(paths.resources_folder()),
    }


def _find_import_problems() -> list[str]:
    """Import every module of PlantDesk, and return a text for each that fails: most are not imported at the start."""
    import pkgutil
    from importlib import import_module

    import plantdesk

    problems = []
    for module in pkgutil.walk_packages(plantdesk.__path__, "plantdesk."):
        try:
            import_module(module.name)
        except ImportError as error:  # this module or one of its imports is missing
            if error.name != _OPTIONAL_PACKAGE:
                problems.append(f"{module.name} cannot be imported: {error}")
    return problems


def _find_qt_problems(qt: QtDiagnostics) -> list[str]:
    problems = [f"Qt has no {name} images" for name in sorted(_IMAGE_FORMATS.difference(qt.image_formats))]
    own_platform = _PLATFORMS.get(sys.platform)
    if own_platform is not None and own_platform not in qt.platforms:
        problems.append(f"Qt has no plugin for this system's windows, {own_platform}")
    if not qt.draws_icon:
        problems.append(f"no icon could be drawn from {paths.resources_folder()}")
    return problems


def _find_data_problems() -> list[str]:
    try:
        folder = paths.data_folder()
    except PlantDeskError as error:
        return [str(error)]
    return [] if os.access(folder, os.W_OK) else [f"nothing can be written to {folder}"]


def integration(options: argparse.Namespace) -> int:
    """Switch start at login and, on Windows, the entry in PATH; without options, print whether they are on.

    Raises OSError, and PlantDeskError if PlantDesk does not change PATH here.
    """
    from plantdesk.platform.login import set_start_at_login

    if options.path is not None:
        _switch_path(on=options.path == "on")
    if options.login is not None:
        set_start_at_login(on=options.login == "on")
    if options.login is None and options.path is None:
        output.write("\n".join(_describe_integration()))
    return 0


def _describe_integration() -> list[str]:
    from plantdesk.platform.login import login_item

    lines = [f"Start at login: {'on' if login_item().is_on() else 'off'}"]
    if sys.platform == "win32":
        from plantdesk.platform.windows import UserPath

        lines.append(f"On the PATH: {'on' if UserPath().has(_find_program_folder()) else 'off'}")
    return lines


def _switch_path(*, on: bool) -> None:
    """Add the folder of the program to PATH, or remove it. Raises PlantDeskError if that is not possible here."""
    if sys.platform == "win32":
        from plantdesk.platform.windows import UserPath

        if not getattr(sys, "frozen", False):
            raise PlantDeskError(Text("Only an installed PlantDesk can be added to PATH. Use its installer."))
        if on:
            UserPath().add(_find_program_folder())
        else:
            UserPath().remove(_find_program_folder())
    else:
        raise PlantDeskError(Text("On this system the package puts plantdesk on the PATH. --path is for Windows."))


def _find_program_folder() -> str:
    return str(Path(sys.executable).parent)
