"""PlantDesk's entries in the Windows registry; the test's own key replaces the user's PATH."""

import sys
from collections.abc import Iterator

import pytest

if sys.platform != "win32":
    pytest.skip("Windows' registry is needed", allow_module_level=True)
else:
    import winreg

    from plantdesk.platform import windows
    from plantdesk.platform.login import RunValue
    from plantdesk.platform.windows import UserPath

    KEY = r"Software\PlantDesk-tests"
    APPROVED = r"Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"

    @pytest.fixture
    def path() -> Iterator[UserPath]:
        yield UserPath(KEY)
        winreg.DeleteKey(winreg.HKEY_CURRENT_USER, KEY)

    def put(value: str, kind: int) -> None:
        with winreg.CreateKey(winreg.HKEY_CURRENT_USER, KEY) as key:
            winreg.SetValueEx(key, "Path", 0, kind, value)

    def got() -> tuple[object, int] | None:
        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, KEY) as key:
                return winreg.QueryValueEx(key, "Path")
        except FileNotFoundError:
            return None

    def test_a_folder_comes_to_the_end_once_and_goes_again(path: UserPath) -> None:
        put(r"%USERPROFILE%\bin;;C:\Tools", winreg.REG_EXPAND_SZ)
        path.add(r"C:\Plant Desk")
        path.add("c:\\plant desk\\")
        assert got() == (r"%USERPROFILE%\bin;;C:\Tools;C:\Plant Desk", winreg.REG_EXPAND_SZ)
        assert path.has(r"C:\PLANT DESK")
        path.remove(r"C:\Plant Desk")
        path.remove(r"C:\Plant Desk")
        assert got() == (r"%USERPROFILE%\bin;;C:\Tools", winreg.REG_EXPAND_SZ)

    def test_a_path_that_was_not_there_is_not_there_afterwards(path: UserPath) -> None:
        assert not path.has(r"C:\Plant Desk")
        path.add(r"C:\Plant Desk")
        assert got() == (r"C:\Plant Desk", winreg.REG_EXPAND_SZ)
        path.remove(r"C:\Plant Desk")
        assert got() is None

    def test_a_long_path_stays_whole_and_of_its_kind(path: UserPath) -> None:
        long = ";".join(rf"C:\Folder {number}" for number in range(400))
        put(long, winreg.REG_SZ)
        path.add(r"C:\Plant Desk")
        path.remove(r"C:\Plant Desk")
        assert got() == (long, winreg.REG_SZ)

    def test_it_starts_at_login_until_it_is_switched_off_here_or_in_the_task_manager() -> None:
        item = RunValue("PlantDesk-tests")
        item.turn_off()
        assert not item.is_on()
        item.turn_on([r"C:\Plant Desk\plantdeskw.exe", "--background"])
        assert item.is_on()
        with winreg.CreateKey(winreg.HKEY_CURRENT_USER, APPROVED) as key:
            winreg.SetValueEx(key, "PlantDesk-tests", 0, winreg.REG_BINARY, b"\x03" + bytes(11))
        assert not item.is_on()
        item.turn_on([r"C:\Plant Desk\plantdeskw.exe", "--background"])
        assert item.is_on()
        item.turn_off()
        assert not item.is_on()

    def test_only_what_the_installer_brought_is_marked_as_running() -> None:
        assert windows.hold_running_mutex("PlantDesk-tests") is None
