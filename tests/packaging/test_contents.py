"""The contents of the frozen program, and their licences."""

import ast
import json
import sys
from pathlib import Path

import pytest

import project
from bundle import contents, notices

ENTRIES = [
    ("libpython3.11.so.1.0", "/python", "BINARY"),
    ("plantdesk_native.so", "/native", "EXTENSION"),
    ("PySide6/Qt/plugins/platforms/libqxcb.so", "/xcb", "BINARY"),
    ("PySide6/Qt/lib/libQt6XcbQpa.so.6", "/qpa", "BINARY"),
    ("libQt6XcbQpa.so.6", "PySide6/Qt/lib/libQt6XcbQpa.so.6", "SYMLINK"),
    ("libgtk-3.so.0", "/gtk", "BINARY"),
    ("libgtk.so", "libgtk-3.so.0", "SYMLINK"),
    ("icons/plantdesk.svg", "/svg", "DATA"),
]
LINKS = {"/xcb": ["libQt6XcbQpa.so.6", "libc.so.6"], "/gtk": ["libQt6XcbQpa.so.6"]}


def test_a_library_that_nothing_links_to_is_left_out_with_its_symlinks() -> None:
    kept = [entry[0] for entry in contents.drop_unlinked_libraries(ENTRIES, lambda file: LINKS.get(file, []))]
    assert set(kept) == {entry[0] for entry in ENTRIES} - {"libgtk-3.so.0", "libgtk.so"}


@pytest.mark.parametrize(
    "name",
    [
        "PySide6/Qt/plugins/platformthemes/libqgtk3.so",
        "PySide6\\plugins\\sqldrivers\\qsqlite.dll",
        "PySide6/Qt/plugins/platforms/libqeglfs.so",
        "PySide6/Qt/translations/qtbase_it.qm",
        "PySide6\\opengl32sw.dll",
        "click-8.5.1.dist-info/METADATA",
        "libstdc++.so.6",
    ],
)
def test_unused_files_and_system_libraries_are_left_out(name: str) -> None:
    assert not contents.belongs_in_bundle((name, "/somewhere", "BINARY"), contents.read_host_libraries())


@pytest.mark.parametrize(
    "name",
    [
        "PySide6/Qt/plugins/platforms/libqxcb.so",
        "PySide6\\plugins\\platforms\\qwindows.dll",
        "PySide6/Qt/plugins/platforms/libqcocoa.dylib",
        "PySide6/Qt/translations/qtbase_en.qm",
        "libxcb-cursor.so.0",
        "psycopg-3.3.2.dist-info/METADATA",
    ],
)
def test_files_that_the_program_needs_are_kept(name: str) -> None:
    assert contents.belongs_in_bundle((name, "/somewhere", "BINARY"), contents.read_host_libraries())


def test_no_module_that_the_program_imports_is_excluded() -> None:
    imported = set()
    left_out = {project.ROOT / f"{name.replace('.', '/')}.py" for name in contents.EXCLUDED}
    for file in {*(project.ROOT / "plantdesk").rglob("*.py")} - left_out:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    assert not imported.intersection(contents.EXCLUDED)


def test_all_modules_of_the_program_are_included() -> None:
    assert {"plantdesk.cli.main", "plantdesk.ui.api_access.dialog"} <= set(contents.list_imported_modules())


@pytest.mark.parametrize(("system", "is_kept"), [("linux", False), ("win32", True), ("darwin", True)])
def test_no_slow_hook_runs_before_the_entry(system: str, is_kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001
    monkeypatch.setattr(sys, "platform", system)
    assert contents.keeps_hook("pyi_rth_pyside6") == is_kept  # it imports Qt, for each command
    assert not any(map(contents.keeps_hook, ("pyi_rth_inspect", "pyi_rth_multiprocessing")))
    assert contents.keeps_hook("entry")


def test_every_icon_that_the_program_reads_is_a_resource() -> None:
    found = {Path(source).name: folder for source, folder in contents.list_data()}
    assert found["plantdesk.svg"] == str(Path("resources/icons"))
    assert found["check.svg"] == str(Path("resources/icons/lucide"))
    assert "plantdesk.icns" not in found


# --- licences -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "plantdesk",
        "_internal/libxcb-cursor.so.0",
        "_internal/PySide6/Qt/lib/libicudata.so.73",
        "_internal/python3.11/lib-dynload/_ssl.cpython-311-x86_64-linux-gnu.so",
        "plantdesk.exe",
        "_internal/python313.dll",
        "_internal/_ssl.pyd",
        "_internal/VCRUNTIME140.dll",
        "_internal/PySide6/Qt6Core.dll",
        "_internal/PySide6/QtCore.pyd",
        "_internal/sqlite3.dll",
        "Contents/Frameworks/PySide6/Qt/lib/QtCore.framework/Versions/A/QtCore",
        "Contents/Frameworks/libssl.3.dylib",
        "Contents/MacOS/plantdesk",
    ],
)
def test_libraries_on_each_system_have_a_licence(name: str) -> None:
    assert notices.BINARY.search(name)
    assert notices.find_uncovered([name], notices.read_libraries()) == []


def test_a_library_of_unknown_origin_is_named() -> None:
    unknown = "_internal/libunknown.so.3"
    assert notices.find_uncovered([unknown, "_internal/resources/icons/x.svg"], notices.read_libraries()) == [unknown]


def test_the_notices_hold_each_licence_once_and_say_how_to_replace_qt() -> None:
    text = notices.format_notices([*notices.read_libraries(), *notices.list_packages()], "MIT")
    assert text.count("GNU LESSER GENERAL PUBLIC LICENSE\n") == 3  # version 2.1 names itself twice
    assert text.count("GNU GENERAL PUBLIC LICENSE\n") == 1
    assert "_internal/PySide6" in text
    for package in ("starlette", "uvicorn", "psycopg", "SQLAlchemy", "OpenSSL", "PyInstaller"):
        assert package in text
    assert str(project.ROOT) not in text


def test_every_python_package_brings_its_licence() -> None:
    assert [part.name for part in notices.list_packages() if not part.texts or part.licence == "NOASSERTION"] == []


def test_the_sbom_lists_what_is_there_and_is_the_same_each_time() -> None:
    parts = notices.select_present(["_internal/libssl.so.3"], notices.read_libraries())
    assert "OpenSSL" in [part.name for part in parts]
    assert "SQLite" not in [part.name for part in parts]
    document = notices.build_sbom([*parts, *notices.list_packages()])
    references = [component["purl"] for component in document["components"]]  # type: ignore[attr-defined]
    assert len(set(references)) == len(references)
    assert json.dumps(document) == json.dumps(notices.build_sbom([*parts, *notices.list_packages()]))
