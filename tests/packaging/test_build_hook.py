"""The translations are compiled where PlantDesk is built, installed or started from a checkout."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from typing_extensions import override

import build_hook
import dev
import project
from plantdesk.platform.languages import Catalogue


def test_a_wheel_of_a_source_archive_has_the_translations_and_no_readme(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--directory", str(tmp_path), "--target"]
    subprocess.run([*build, "sdist"], cwd=project.ROOT, capture_output=True, check=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    subprocess.run([sys.executable, "-m", "tarfile", "--extract", str(archive), str(tmp_path)], check=True)
    unpacked = tmp_path / archive.name.removesuffix(".tar.gz")
    assert not [*unpacked.rglob("*.mo")]
    subprocess.run([*build, "wheel"], cwd=unpacked, capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = {Path(name).name for name in zipfile.ZipFile(wheel).namelist()}
    assert {file.with_suffix(".mo").name for file in build_hook.LANGUAGES.glob("*.po")} <= names
    assert "README.md" not in names


class ThisEnvironment(dev.Environment):
    """The environment of the tests."""

    @override
    def has(self, extra: str) -> bool:
        return True


@pytest.fixture
def languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of translations of a checkout."""
    folder = tmp_path / "resources" / "languages"
    folder.mkdir(parents=True)
    (tmp_path / "packaging").mkdir()
    shutil.copy(build_hook.__file__, tmp_path / "packaging")
    monkeypatch.setattr(dev, "ROOT", tmp_path)
    return folder


def test_a_changed_translation_is_compiled_before_the_next_start(languages: Path) -> None:
    environment = ThisEnvironment(Path(sys.prefix))
    text, compiled = languages / "de.po", languages / "de.mo"
    for translation in ("Abbrechen", "Zurück"):
        text.write_text(f'msgid "Cancel"\nmsgstr "{translation}"\n\nmsgid "Add"\nmsgstr ""\n', encoding="utf-8")
        environment.ensure("")
        assert (Catalogue(compiled).text("Cancel"), Catalogue(compiled).text("Add")) == (translation, None)
        assert not dev.have_translations_changed()
        os.utime(compiled, (0, 0))  # as old as a change a while later would find it
    text.rename(languages / "es.po")
    environment.ensure("")
    assert sorted(file.name for file in languages.iterdir()) == ["es.mo", "es.po"]
