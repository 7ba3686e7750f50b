import os
import sys
import threading
from pathlib import Path

import pytest

from plantdesk.platform.atomic_files import atomic_writer, replace, temporary_file


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    temporary, file = tmp_path / "temporary", tmp_path / "file"
    temporary.write_text("new", encoding="utf-8")
    file.write_text("old", encoding="utf-8")
    return temporary, file


def keep_open(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail `times` renames, as Windows does while another process has the file open."""
    left, real_replace = [times], Path.replace

    def fail_first(temporary: Path, file: Path) -> Path:
        left[0] -= 1
        if left[0] >= 0:
            raise PermissionError(13, "Access is denied")
        return real_replace(temporary, file)

    monkeypatch.setattr(Path, "replace", fail_first)


def test_a_rename_is_retried_on_windows(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    temporary, file = files
    keep_open(3, monkeypatch)
    replace(temporary, file, platform="win32")
    assert file.read_text(encoding="utf-8") == "new"


def test_a_file_with_a_reader_is_replaced(files: tuple[Path, Path]) -> None:
    temporary, file = files
    with file.open(encoding="utf-8") as reader:
        closing = threading.Timer(0.1, reader.close)
        closing.start()
        replace(temporary, file)
        closing.join()
    assert file.read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize("platform", ["win32", "linux"])
def test_a_failed_rename_leaves_the_file_and_no_temporary(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    _, file = files
    keep_open(10_000, monkeypatch)
    with pytest.raises(PermissionError), temporary_file(file) as temporary:
        replace(temporary, file, platform=platform)
    assert file.read_text(encoding="utf-8") == "old"
    assert not temporary.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are POSIX")
def test_a_full_disk_is_reported_with_the_name_of_the_file(tmp_path: Path) -> None:
    import resource

    file = tmp_path / "plants.csv"
    file.write_text("old", encoding="utf-8")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(OSError, match="too large") as raised, atomic_writer(file) as temporary:
            temporary.write(b"x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert raised.value.filename == str(file)
    assert [(each.name, each.read_text(encoding="utf-8")) for each in tmp_path.iterdir()] == [("plants.csv", "old")]


def test_a_rename_that_fails_names_the_file(tmp_path: Path) -> None:
    (folder := tmp_path / "plants.csv").mkdir()
    with pytest.raises(OSError) as raised, atomic_writer(folder):  # noqa: PT011 - its text is of the system
        pass
    assert (raised.value.filename, [*tmp_path.iterdir()]) == (str(folder), [folder])


def test_what_killed_processes_left_a_day_ago_is_removed(tmp_path: Path) -> None:
    left, new, foreign = (
        ".plantdesk-leftleft.new",
        ".plantdesk-workwork.new",
        {".plantdesk-20261122", ".plantdesk-toolong12.new"},
    )
    for name in (left, new, *foreign):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, None if name == new else (1, 1))
    (tmp_path / ".plantdesk-foldfold.new").mkdir()
    with atomic_writer(tmp_path / "plants.csv") as file:
        file.write(b"1")
    kept = {each.name for each in tmp_path.iterdir()}
    assert kept == {"plants.csv", ".plantdesk-foldfold.new", new, *foreign}
