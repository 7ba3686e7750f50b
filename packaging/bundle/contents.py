"""What goes into the frozen program, and what of that stays out. Asked by plantdesk.spec; knows no PyInstaller."""

from __future__ import annotations

import re
import sys
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    #: Where it goes, where it comes from, and what it is: an entry of PyInstaller's tables.
    Entry = tuple[str, str, str]

#: Imported by name only, so that PyInstaller does not see them.
BY_NAME = ["anyio._backends._asyncio", "sqlalchemy.dialects.sqlite.pysqlite", "uvicorn.lifespan.on"]

#: Modules that somebody imports where he finds them, and that PlantDesk never uses.
EXCLUDED = [
    *(f"PySide6.Qt{name}" for name in ("Concurrent", "Designer", "Help", "OpenGL", "OpenGLWidgets", "Qml")),
    *(f"PySide6.Qt{name}" for name in ("Quick", "QuickWidgets", "Sql", "Test", "UiTools", "Xml")),
    *(f"sqlalchemy.dialects.{name}" for name in ("mssql", "mysql", "oracle", "postgresql")),
    *("pydantic.mypy", "pydantic.v1", "sqlalchemy.ext.mypy", "sqlalchemy.testing", "_pydecimal"),
    *("h11", "uvicorn.protocols.http.h11_impl", "uvicorn.protocols.websockets", "wsproto", "websockets"),
    *("_bz2", "_lzma", "bz2", "lzma"),  # the standard library asks for them and does without
    *("PyInstaller", "_pytest", "altgraph", "mypy", "pip", "pkg_resources", "pytest", "setuptools"),
    *("ftplib", "http.cookiejar", "netrc", "tarfile"),
    *(
        f"sqlalchemy.ext.{name}"
        for name in ("asyncio", "automap", "horizontal_shard", "hybrid", "mutable", "serializer")
    ),
    *("curses", "doctest", "lib2to3", "pydoc", "pydoc_data", "readline", "test", "tkinter", "unittest", "xmlrpc"),
]

#: What only macOS needs: our module that writes its property lists, and what that imports.
FOR_MACOS = ["plantdesk.integration.macos_login", "plistlib", "pyexpat", "xml"]

#: What PyInstaller would run before our entry, for programs that read their own source or start processes of Python.
#: Each imports much, so that a start would take a tenth longer.
LEFT_OUT_HOOKS = ["pyi_rth_inspect", "pyi_rth_multiprocessing"]

#: Qt's plugins that stay; all others drag in libraries that nobody needs, some of them the build machine's own.
PLUGINS = {
    "iconengines": {"qsvgicon"},
    "imageformats": {"qico", "qsvg"},
    "platforminputcontexts": {"composeplatforminputcontextplugin", "ibusplatforminputcontextplugin"},
    "platforms": {"qcocoa", "qoffscreen", "qwayland", "qwindows", "qxcb"},
    "platformthemes": {"qxdgdesktopportal"},
    "printsupport": {"cupsprintersupport"},
    "styles": {"qmacstyle", "qmodernwindowsstyle", "qwindowsvistastyle"},
    "wayland-decoration-client": {"adwaita", "bradient"},
    "wayland-graphics-integration-client": {"qt-plugin-wayland-egl"},
    "wayland-shell-integration": {"xdg-shell"},
    "xcbglintegrations": {"qxcb-egl-integration", "qxcb-glx-integration"},
}

#: The languages that PlantDesk speaks: Qt's own texts (in dialogs and menus) come in these.
LANGUAGES = ["en"]

#: The oldest macOS that PySide6's wheels run on.
OLDEST_MACOS = "14.0"

# Widgets paint without a graphics card; what tools tell of an installed distribution, nobody asks a frozen program.
_NEVER = re.compile(r"opengl32sw|d3dcompiler|\.dist-info/", re.IGNORECASE)
_TRANSLATION = re.compile(r"translations/(.+)\.qm$")
_PLUGIN = re.compile(r"PySide6/(?:Qt/)?plugins/([^/]+)/(?:lib)?([^/]+?)\.(?:so|dll|dylib)$")


def runs_first(hook: str) -> bool:
    """Whether one of PyInstaller's hooks runs before our entry.

    That for Qt imports it, for each command, to tell it where its plugins are; on Linux Qt finds them itself.
    """
    return hook not in LEFT_OUT_HOOKS and not (hook == "pyi_rth_pyside6" and sys.platform.startswith("linux"))


def excluded() -> list[str]:
    """The modules that do not go into this system's program."""
    return EXCLUDED if sys.platform == "darwin" else EXCLUDED + FOR_MACOS


def imported() -> list[str]:
    """The modules that go into it, whether PyInstaller sees somebody import them or not."""
    return [name for name in project.modules() + BY_NAME if name not in excluded()]


def resources() -> list[tuple[str, str]]:
    """The files of resources/ that the program reads, and the folders they go to."""
    return [
        (str(file), str(file.parent.relative_to(project.ROOT)))
        for file in sorted((project.RESOURCES / "icons").rglob("*"))
        if file.is_file() and file.suffix not in (".icns", ".ico")  # those two are the installers'
    ]


def host_libraries() -> frozenset[str]:
    """Libraries of Linux that must be the system's own."""
    lines = (project.HERE / "linux" / "host-libraries.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def wanted(entry: Entry, host: frozenset[str] = frozenset()) -> bool:
    """Whether an entry goes into the bundle, looked at alone."""
    destination = entry[0].replace("\\", "/")
    file = PurePosixPath(destination).name
    if file in host or _NEVER.search(destination):
        return False
    if found := _PLUGIN.search(destination):
        return found[2] in PLUGINS.get(found[1], set())
    if found := _TRANSLATION.search(destination):
        return found[1] in [f"qtbase_{language}" for language in LANGUAGES]
    return True


def needed(entries: Iterable[Entry], imports: Callable[[str], Iterable[str]]) -> list[Entry]:
    """Return the entries without the shared libraries that nothing in there loads.

    `imports` tells the libraries that a file asks the loader for. What Python imports and Qt's plugins are asked for
    by name; a library is needed when one of them, or another needed library, asks for it.
    """
    table = list(entries)
    libraries = {_key(entry[0]): entry for entry in table if _is_library(entry)}
    waiting = [entry for entry in table if not _is_library(entry) and entry[2] in ("BINARY", "EXTENSION")]
    reached: set[str] = set()
    while waiting:
        for asked in map(_key, imports(waiting.pop()[1])):
            if asked in libraries and asked not in reached:
                reached.add(asked)
                waiting.append(libraries[asked])
    kept = [entry for entry in table if not _is_library(entry) or _key(entry[0]) in reached]
    there = {_key(entry[0]) for entry in kept if entry[2] != "SYMLINK"}
    return [entry for entry in kept if entry[2] != "SYMLINK" or _key(entry[1]) in there]


def _key(path: str) -> str:
    return Path(path.replace("\\", "/")).name.lower()


def _is_library(entry: Entry) -> bool:
    """Whether it is there because something else links to it: neither a plugin nor imported nor Python itself."""
    destination = entry[0].replace("\\", "/")
    return (
        entry[2] == "BINARY"
        and not _PLUGIN.search(destination)
        and not re.search(r"(^|/)(lib)?python3|(^|/)Python$", destination)
    )
