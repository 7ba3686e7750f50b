"""The settings page: each setting applies at once, wherever it is changed."""

from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QDesktopServices
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QScrollArea, QSpinBox, QSystemTrayIcon, QWidget

from plantdesk.domain.server_state import Failed, On, PortInUseError
from plantdesk.platform.settings import ThemeMode
from plantdesk.ui.feature import WindowContext
from plantdesk.ui.main_window import MainWindow
from plantdesk.ui.preferences import Preferences
from plantdesk.ui.settings.layout import SettingRow
from plantdesk.ui.widgets.dialog import FileDialog
from plantdesk.ui.window.commands import WindowCommands
from tests.ui.settings.conftest import SettingsDriver


def saved(context: WindowContext, tmp_path: Path) -> Preferences:
    assert context.preferences.are_saved
    return Preferences(tmp_path / "settings.json")


# --- each setting ----------------------------------------------------------------------------------------------------


def test_appearance_applies_at_once_and_is_saved(user: SettingsDriver, context: WindowContext, tmp_path: Path) -> None:
    WindowCommands(context, cast("MainWindow", context.page.window()))
    assert user.focused.accessibleName() == "Theme"
    user.pick("Theme", "Dark")
    assert context.theme.mode is ThemeMode.DARK
    user.button("Larger").click()
    user.button("Larger").click()
    assert context.theme.text_scale == pytest.approx(1.21)
    assert user.visible("121%")
    user.pick("Language", "Deutsch")
    assert user.visible("From the next start.")
    found = saved(context, tmp_path).settings
    assert (found.theme, found.text_scale, found.language) == ("dark", 1.21, "de")


def test_what_the_menu_changes_is_shown(user: SettingsDriver, context: WindowContext) -> None:
    WindowCommands(context, cast("MainWindow", context.page.window()))
    context.preferences.change(theme="light")
    assert user.the(QComboBox, "Theme").currentText() == "Light"
    command, box = user.plants.view_commands.keep_tag_command, user.button("Keep the tag for the next plant")
    command.trigger()
    assert box.isChecked()
    box.click()
    assert not command.isChecked()
    assert not type(user)(user.qtbot, context.page, user.page, user.server, user.plants).button("Pin").isChecked()


def test_enter_in_name_goes_to_tag_where_it_is_set(user: SettingsDriver, context: WindowContext) -> None:
    user.pick("Enter key", "Goes")
    user.widget.close()
    window = context.page.window()
    with user.qtbot.waitActive(window):
        window.activateWindow()
    form = type(user)(user.qtbot, context.page, user.page, user.server, user.plants)
    form.type(form.name, "Fern")
    form.press(Qt.Key.Key_Return)
    assert form.tag.hasFocus()
    assert form.name.text() == "Fern"


def test_the_api_and_the_daily_check_are_switched(user: SettingsDriver, context: WindowContext) -> None:
    box = user.the(QCheckBox, "Accept plants from programs on this computer")
    box.click()
    assert not box.isChecked()
    box.click()
    assert user.server.asked == [8721]
    user.button("Check once a day; nothing is installed").click()
    assert context.preferences.settings.ask_for_updates


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Tab])
def test_a_port_is_used_by_enter_or_when_it_is_left(user: SettingsDriver, key: Qt.Key) -> None:
    user.type(user.port, "9000")
    assert user.server.asked == []
    user.qtbot.keyClick(user.port, key)
    assert user.server.asked == [9000]
    user.server.show(On("http://127.0.0.1:9000", 9000))
    assert user.visible("http://127.0.0.1:9000/plants")


@pytest.mark.parametrize("text", ["0", "70000", "web"])
def test_an_invalid_port_is_reported_under_it(user: SettingsDriver, text: str) -> None:
    user.type(user.port, text)
    user.press(Qt.Key.Key_Return)
    assert user.server.asked == []
    assert user.visible("A port is a whole number from 1 to 65535.")
    user.type(user.port, "9000")
    user.press(Qt.Key.Key_Return)
    assert not user.visible("A port is a whole number from 1 to 65535.")


def test_a_taken_port_names_a_free_one(user: SettingsDriver) -> None:
    user.server.show(Failed(PortInUseError(8721, 8722), 8721))
    assert user.visible("Port 8721 is in use by another program. Choose another port. Port 8722 is free.")


def test_a_typed_port_of_another_program_leaves_the_api_where_it_is(user: SettingsDriver) -> None:
    user.server.taken = {9000}
    user.type(user.port, "9000")
    user.press(Qt.Key.Key_Return)
    assert user.server.asked == []
    text = "Port 9000 is in use by another program. Choose another port. Port 9001 is free. The API stays on port 8721."
    assert user.visible(text)
    user.type(user.port, "9001")
    user.press(Qt.Key.Key_Return)
    assert user.server.asked == [9001]
    user.server.show(On("http://127.0.0.1:9001", 9001))
    assert not user.visible(text)
    assert user.port.text() == "9001"


def test_backups_are_kept_where_how_often_and_how_many_the_user_wants(
    user: SettingsDriver, context: WindowContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drive = tmp_path / "drive"
    drive.mkdir()
    chosen = [str(drive), str(tmp_path / "gone"), str(tmp_path)]
    monkeypatch.setattr(FileDialog, "get_existing_folder", lambda *_arguments: chosen.pop(0))
    user.button("Change…").click()
    user.until(lambda: saved(context, tmp_path).settings.backup_folder == str(drive))
    user.button("Change…").click()
    user.until(lambda: bool(user.visible("This folder cannot be written to.")))
    assert context.preferences.settings.backup_folder == str(drive)
    user.button("Change…").click()  # beside the plants, as at first
    user.until(lambda: not context.preferences.settings.backup_folder)
    assert not user.visible("This folder cannot be written to.")
    user.pick("Every", "Week")
    count = user.the(QSpinBox, "Keep")
    user.qtbot.keyClick(count, Qt.Key.Key_Down)
    found = saved(context, tmp_path).settings
    assert (found.backup_every, found.backup_count) == ("week", 49)
    context.preferences.change(backup_count=7)
    assert count.value() == 7


def test_the_buttons_lead_to_api_access_backups_and_the_manual(user: SettingsDriver) -> None:
    for label in ("API access…", "Back up now", "How to bind a key"):
        user.button(label).click()
    assert user.pressed == ["API access", "back up", "window", "quick entry"]
    user.until(lambda: bool(user.visible("None yet.")))


def test_settings_that_cannot_be_saved_say_so(user: SettingsDriver, context: WindowContext, tmp_path: Path) -> None:
    text = "These settings last until PlantDesk is closed: their file cannot be written."
    assert not user.visible(text)
    (tmp_path / "settings.json").unlink(missing_ok=True)
    (tmp_path / "settings.json").mkdir()
    user.button("Larger").click()
    assert user.visible(text)
    assert context.preferences.settings.text_scale == 1.1


# --- keys and texts ---


def test_the_notice_about_the_port_leads_to_the_port(user: SettingsDriver) -> None:
    user.page.open_at_port()
    assert user.port.hasFocus()


def cut_texts(viewport: QWidget) -> list[str]:
    """Return the texts of labels that are wider or higher than what is shown of them."""
    shown = [label for label in viewport.findChildren(QLabel) if label.isVisible() and label.text().strip()]
    return [
        each.text()
        for each in shown
        if each.mapTo(viewport, each.rect().topRight()).x() >= viewport.width()
        or each.height() < each.heightForWidth(each.width())
    ]


@pytest.mark.parametrize("width", [560, 420])
def test_in_a_narrow_dialog_no_text_is_cut_and_a_hint_is_not_a_column_of_words(
    user: SettingsDriver, width: int
) -> None:
    row = next(each for each in user.widget.findChildren(SettingRow) if each.focus_target is user.port)
    row.show_error("Port 8721 is in use by another program. The API stays on port 8720, as long as that is free.")
    user.widget.resize(width, 600)
    hint = next(label for label in user.widget.findChildren(QLabel) if label.text() == "A small window for one plant.")
    most = 3 * hint.fontMetrics().lineSpacing()
    user.until(lambda: hint.height() < most and not cut_texts(user.the(QScrollArea).viewport()))


def test_where_there_is_no_tray_the_window_cannot_stay_in_it(
    user: SettingsDriver, context: WindowContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = user.button("Keep running when the window is closed")
    assert "This desktop has no tray." in user.texts()
    assert not box.isEnabled()
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)
    context.preferences.changed.emit()
    assert "This desktop has no tray." not in user.texts()
    assert box.isEnabled()


def test_a_folder_that_no_program_opens_is_reported(
    user: SettingsDriver, context: WindowContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _url: False)
    user.button("Show folder").click()
    assert context.page.toast.text.startswith("No program was found that opens")


def test_hints_belong_to_their_fields_so_that_opening_speaks_no_loose_sentences(user: SettingsDriver) -> None:
    labels = [label for label in user.widget.findChildren(QLabel) if label.isVisible() and " " in label.text().strip()]
    described = QAccessible.RelationFlag.Labelled
    loose = [label.text() for label in labels if not QAccessible.queryAccessibleInterface(label).relations(described)]
    assert len(labels) > 10
    assert loose == ["Changes apply at once."]
