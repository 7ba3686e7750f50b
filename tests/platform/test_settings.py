import json
import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from plantdesk.platform import settings
from plantdesk.platform.settings import Settings


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings.json"


def test_without_a_file_there_are_defaults(file: Path) -> None:
    loaded = settings.load(file)
    assert (loaded.theme, loaded.port, loaded.api_enabled) == ("system", 8721, True)
    assert (loaded.window.width, loaded.window.height) == (1180, 760)
    assert not file.exists()


def test_a_path_of_undecodable_bytes_is_kept(file: Path) -> None:
    path = os.fsdecode(b"/gard\xff/plants.db")
    changed = Settings().changed(backup_folder=path, recent_stores=[path], layouts={path: {"filter": path}})
    settings.save(changed, file)
    assert settings.load(file) == changed


@pytest.mark.parametrize("values", [{"port": 70000}, {"theme": "pink"}, {"text_scale": 9}, {"window": {"width": 0}}])
def test_an_invalid_change_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Settings().changed(**values)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"3", b"\xff\xfe"])
def test_a_damaged_file_is_renamed(content: bytes, file: Path, caplog: pytest.LogCaptureFixture) -> None:
    file.write_bytes(content)
    assert settings.load(file) == Settings()
    assert not file.exists()
    assert file.with_name("settings.damaged.json").read_bytes() == content
    assert "settings.damaged.json" in caplog.text
    assert "pydantic" not in caplog.text
    file.write_bytes(b"again")
    settings.load(file)
    assert file.with_name("settings.damaged.json").read_bytes() == b"again"


def test_a_byte_order_mark_of_an_editor_is_no_damage(file: Path) -> None:
    file.write_text('{"port": 9000}', encoding="utf-8-sig")
    assert settings.load(file).port == 9000


@pytest.mark.parametrize(
    "invalid",
    [
        {"port": "yes"},
        {"theme": None},
        {"window": 3},
        {"window": {"width": -1}},
        {"backup_every": []},
        {"layouts": 0},
        {"shared_store": "\0"},
        {"recent_stores": ["\0"]},
    ],
)
def test_an_invalid_value_resets_nothing_else(
    invalid: dict[str, object], file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = {"language": "fr", "text_scale": 1.5, "of_a_newer_version": [1]}
    file.write_text(json.dumps({**kept, **invalid}))
    assert settings.load(file) == Settings.model_validate(kept)
    assert "The setting" in caplog.text
    assert file.exists()
    settings.update(file, lambda now: now.changed(port=9000), Settings())
    assert kept.items() <= json.loads(file.read_text()).items()


def test_of_an_invalid_size_of_the_window_the_rest_stays(file: Path) -> None:
    file.write_text('{"window": {"width": "wide", "height": 500, "split": 7}}')
    window = settings.load(file).window
    assert (window.width, window.height, window.model_extra) == (1180, 500, {"split": 7})


def test_what_becomes_invalid_while_the_window_is_open_stays_as_it_was(file: Path) -> None:
    file.write_text('{"theme": "bright", "port": 9000}')
    now = settings.read(file, Settings(theme="dark"))
    assert (now.theme, now.port) == ("dark", 9000)


def test_an_unreadable_file_is_unchanged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert settings.load(tmp_path) == Settings()  # a folder
    assert tmp_path.is_dir()
    assert "cannot be read" in caplog.text


def test_a_failed_save_leaves_the_old_file_and_nothing_else(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.save(Settings().changed(port=9000), file)

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        settings.save(Settings(), file)
    assert settings.load(file).port == 9000
    assert [entry.name for entry in file.parent.iterdir()] == ["settings.json"]


@pytest.mark.skipif(os.name != "posix", reason="named pipes are files here")
def test_a_named_pipe_as_settings_does_not_wait(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    os.mkfifo(file)
    assert settings.load(file) == settings.Settings()
    with pytest.raises(OSError, match="regular"):
        settings.update(file, lambda now: now, settings.Settings())
