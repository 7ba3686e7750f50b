"""What is not saved is in a file of its own, which damage and a full disk leave readable."""

import os
from pathlib import Path

import pytest

from plantdesk.platform.unsaved_file import FILE_NAME, UnsavedFile
from plantdesk.ui.preferences import Preferences

PLANTS = [{"texts": ["", "Fern", ""]}, {"texts": ["", "Ivy", ""]}]


def test_several_windows_keep_what_is_of_their_store(tmp_path: Path) -> None:
    one, other = UnsavedFile(tmp_path), UnsavedFile(tmp_path)
    one.change("a", {"unsaved": PLANTS, "draft": ["", "Rose", "bed"]})
    other.change("b", {"quick": ["", "Yew", ""], "notes": [{"id": 1}]})
    found = UnsavedFile(tmp_path)
    assert found.of_store("a") == {"unsaved": PLANTS, "draft": ["", "Rose", "bed"]}
    assert found.of_store("b") == {"quick": ["", "Yew", ""], "notes": [{"id": 1}]}
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o77 == 0 or os.name != "posix"
    one.change("a", {"unsaved": [], "draft": []})
    other.change("b", {"quick": [], "notes": []})
    assert not (tmp_path / FILE_NAME).exists()


@pytest.mark.parametrize("damage", ["{", "\0" * 50, "[]", "7", '{"store": "a"}', '{"store": 1, "draft": []}', "\udcff"])
def test_a_damaged_line_loses_no_other_and_stays_in_the_file(tmp_path: Path, damage: str) -> None:
    UnsavedFile(tmp_path).change("a", {"unsaved": PLANTS})
    file = tmp_path / FILE_NAME
    first, second = file.read_text().splitlines()
    file.write_text(f"{first}\n{damage}\n{second}\n", "utf-8", "surrogateescape")
    found = UnsavedFile(tmp_path)
    assert found.of_store("a") == {"unsaved": PLANTS}
    found.change("a", {"unsaved": []})
    assert file.read_text("utf-8", "surrogateescape") == f"{damage}\n"


def test_damaged_settings_lose_nothing_that_is_not_saved(tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    Preferences(settings).change_store("a", unsaved=PLANTS, searches=[])
    settings.write_text(settings.read_text()[:-3])
    found = Preferences(settings)
    assert found.quarantined is not None
    assert found.of_store("a") == {"unsaved": PLANTS}


def test_what_an_older_version_has_kept_in_the_settings_is_found_until_it_is_saved(tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text('{"layouts": {"a": {"draft": ["", "Fern", ""], "search": "x"}}}')
    before = Preferences(settings)
    assert before.of_store("a")["draft"] == ["", "Fern", ""]
    before.change_store("a", draft=[])
    assert Preferences(settings).of_store("a") == {"draft": [], "search": "x"}


@pytest.mark.skipif(os.name != "posix", reason="pipes with a name are of POSIX")
def test_a_pipe_of_the_name_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / FILE_NAME)
    assert UnsavedFile(tmp_path).of_store("a") == {}
