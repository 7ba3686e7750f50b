"""Packages for Linux, and the files beside the program: desktop entry, metainfo, manual page, completions."""

import configparser
import gzip
import os
import re
import shutil
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest

import project
from bundle import elf
from linux import completions, manual, tar, tree
from plantdesk import APP_ID, HOME_PAGE, URL_SCHEME, __version__
from plantdesk.cli import options
from plantdesk.store import DESK_FILE_SUFFIX
from tests.test_readme import commands

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="for Linux's packages")
STEM = project.RESOURCES / APP_ID
NEEDS_GETTEXT = pytest.mark.skipif(
    None in map(shutil.which, ("msgfmt", "appstreamcli", "desktop-file-validate")),
    reason="gettext, appstream or desktop-file-utils are not installed",
)


@pytest.fixture
def bundle_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small bundle."""
    monkeypatch.setattr(project, "DIST", tmp_path / "dist")
    monkeypatch.setattr(project, "WORK", tmp_path / "work")
    folder = project.program_folder()
    (folder / "_internal" / "resources").mkdir(parents=True)
    (folder / "_internal" / "libx.so.1").write_bytes(b"x")
    (folder / "_internal" / "libx.so").symlink_to("libx.so.1")
    (folder / "plantdesk").write_bytes(b"program")
    (folder / "plantdesk").chmod(0o755)
    monkeypatch.setattr("bundle.freeze.ensure_frozen", lambda: folder)
    return folder


# --- one source of truth ------------------------------------------------------------------------


def test_the_versions_agree() -> None:
    changelog = (project.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, day = re.findall(r"^## \[([^\]]+)\] - (\d{4}-\d{2}-\d{2})$", changelog, re.MULTILINE)[0]
    described = ET.parse(f"{STEM}.metainfo.xml").getroot().find("releases/release")  # noqa: S314 - our own file
    assert described is not None
    assert project.VERSION == version == described.get("version") == __version__
    assert (project.HOME_PAGE, project.APP_ID) == (HOME_PAGE, APP_ID)
    assert day == described.get("date")


def test_one_identifier_names_entry_metainfo_and_icon() -> None:
    entry = configparser.RawConfigParser()
    entry.read(f"{STEM}.desktop", encoding="utf-8")
    root = ET.parse(f"{STEM}.metainfo.xml").getroot()  # noqa: S314
    assert entry["Desktop Entry"]["Icon"] == APP_ID
    assert entry["Desktop Entry"]["Exec"] == f"{project.NAME} %u"
    described = ET.parse(f"{STEM}.mime.xml").getroot()  # noqa: S314
    (kind,) = described
    assert entry["Desktop Entry"]["MimeType"] == f"{kind.attrib['type']};x-scheme-handler/{URL_SCHEME[:-1]};"
    assert [each.attrib["pattern"] for each in kind.iter() if "pattern" in each.attrib] == [f"*{DESK_FILE_SUFFIX}"]
    assert root.findtext("id") == APP_ID
    assert root.findtext("launchable") == f"{APP_ID}.desktop"
    assert root.findtext("name") == entry["Desktop Entry"]["Name"] == project.TITLE


def test_the_metainfo_follows_the_quality_guidelines_of_flathub() -> None:
    root = ET.parse(f"{STEM}.metainfo.xml").getroot()  # noqa: S314
    name, summary = root.findtext("name", ""), root.findtext("summary", "")
    assert len(name) <= 20
    assert 10 <= len(summary) <= 35
    assert summary[0].isupper()
    assert not summary.startswith(("A ", "An ", "The "))
    assert not summary.endswith(".")
    assert name not in summary
    assert {element.attrib["scheme_preference"] for element in root.iter("color")} == {"light", "dark"}
    assert root.findtext("developer/name")
    assert {each.attrib["type"] for each in root.iter("url") if "type" in each.attrib} >= {"homepage", "bugtracker"}
    first, *_ = shots = list(root.iter("screenshot"))
    assert first.attrib["type"] == "default"
    for shot in shots:
        image, caption = shot.findtext("image", ""), shot.findtext("caption", "")
        assert (project.ROOT / image.partition("/main/")[2]).is_file()
        assert 0 < len(caption) <= 50
        assert not caption.endswith(".")
    assert root.findtext("releases/release/description/p")
    assert 3 <= len("".join(root.find("description").itertext()).split()) <= 150  # type: ignore[union-attr]


@NEEDS_GETTEXT
@pytest.mark.parametrize(
    ("kind", "suffix", "command"),
    [("desktop", "desktop", "desktop-file-validate"), ("xml", "metainfo.xml", "appstreamcli validate --no-net")],
)
def test_desktop_entry_and_metainfo_are_valid(tmp_path: Path, kind: str, suffix: str, command: str) -> None:
    file = tmp_path / f"{APP_ID}.{suffix}"
    tree.translate(kind, file)
    done = subprocess.run([*command.split(), file], capture_output=True, check=True)
    assert kind == "xml" or done.stdout == b""


@pytest.mark.slow  # a release has all translations
@pytest.mark.parametrize("language", sorted(file.stem for file in (project.RESOURCES / "languages").glob("*.po")))
@NEEDS_GETTEXT
def test_entry_and_metainfo_are_translated(language: str, tmp_path: Path) -> None:
    entry, metainfo = tmp_path / f"{APP_ID}.desktop", tmp_path / f"{APP_ID}.metainfo.xml"
    tree.translate("desktop", entry)
    tree.translate("xml", metainfo)
    translated = re.findall(rf"^(\w+)\[{language}]=", entry.read_text(encoding="utf-8"), re.MULTILINE)
    assert translated == ["GenericName", "Comment", "Keywords"]
    root = ET.parse(metainfo).getroot()  # noqa: S314
    code = "{http://www.w3.org/XML/1998/namespace}lang"
    counts = Counter(element.tag for element in root.iter() if element.get(code) == language)
    assert counts == {"summary": 1, "p": 1, "li": 4, "caption": 3}
    (summary,) = (element.text for element in root.iter("summary") if element.get(code) == language)
    assert len(summary or "") <= 35


# --- the manual ---------------------------------------------------------------------------------


@pytest.mark.skipif(None in (shutil.which("pandoc"), shutil.which("groff")), reason="pandoc or groff are not installed")
def test_the_manual_page_has_every_command_and_can_be_read(tmp_path: Path) -> None:
    manual.main(to=tmp_path)
    command = ["groff", "-man", "-Tutf8", "-ww", "-z", str(tmp_path / "plantdesk.1")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "plantdesk.1").read_text(encoding="ascii")
    assert set(re.findall(r"^\.SS (plantdesk.*)$", page, re.MULTILINE)) == commands(options.build_parser()).keys()
    assert not re.search("@[A-Z]+@", page)
    assert ".TS" not in page, "tables are lists of definitions"


@pytest.mark.parametrize("shell", completions.FILES)
def test_each_shell_can_parse_its_completions(shell: str, tmp_path: Path) -> None:
    text = completions.completion(shell)
    assert all(command.rpartition(" ")[2] in text for command in commands(options.build_parser()))
    if shutil.which(shell):
        (tmp_path / "completion").write_text(text, encoding="utf-8")
        subprocess.run([shell, "-n", str(tmp_path / "completion")], check=True)


# --- packages -----------------------------------------------------------------------------------


def test_the_archive_starts_with_one_folder_and_is_the_same_each_time(bundle_folder: Path) -> None:
    first = tar.make(quick=True).read_bytes()
    (bundle_folder / "plantdesk").touch()
    assert tar.make(quick=True).read_bytes() == first
    with tarfile.open(tar.path()) as archive:
        names = {entry.name: entry for entry in archive if entry.name}
    top = f"plantdesk-{__version__}"
    assert {name.split("/")[0] for name in names} == {top}
    assert names[f"{top}/plantdesk"].mode == 0o755
    assert names[f"{top}/_internal/libx.so"].issym()
    assert {entry.uid for entry in names.values()} == {0}
    assert {f"{top}/README.txt", f"{top}/LICENSE", f"{top}/_internal/resources/channel"} <= set(names)


def test_files_of_a_package_can_be_read_by_everyone(bundle_folder: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    shutil.copytree(bundle_folder, root / tree.PROGRAM, symlinks=True)
    (root / tree.PROGRAM / "_internal" / "libx.so.1").chmod(0o700)
    tree.normalize(root)
    assert (root / tree.PROGRAM / "plantdesk").stat().st_mode & 0o777 == 0o755
    assert (root / tree.PROGRAM / "_internal" / "libx.so.1").stat().st_mode & 0o777 == 0o644
    assert (root / tree.PROGRAM).stat().st_mtime == project.epoch()


def test_compressed_files_are_the_same_each_time(tmp_path: Path) -> None:
    for name in ("one", "two"):
        tree.compress(b"text", tmp_path / name)
        os.utime(tmp_path / name, (1, 1))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert gzip.decompress((tmp_path / "one").read_bytes()) == b"text"


# --- limits -------------------------------------------------------------------------------------


def test_the_newest_required_glibc_is_found() -> None:
    if shutil.which("readelf") is None:
        pytest.skip("binutils are not installed")
    assert elf.is_elf(Path(sys.executable).resolve())
    assert elf.find_required_glibc(Path(sys.executable).resolve()) >= (2, 2, 5)
