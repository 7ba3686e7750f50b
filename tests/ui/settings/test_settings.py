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


def test_appearance_applies_at_once_and_is_saved(desk: SettingsDriver, context: WindowContext, tmp_path: Path) -> None:
    WindowCommands(context, cast("MainWindow", context.page.window()))
    assert desk.focused.accessibleName() == "Theme"
    desk.pick("Theme", "Dark")
    assert context.theme.mode is ThemeMode.DARK
    desk.button("Larger").click()
    desk.button("Larger").click()
    assert context.theme.text_scale == pytest.approx(1.21)
    assert desk.visible("121%")
    desk.pick("Language", "Deutsch")
    assert desk.visible("From the next start.")
    found = saved(context, tmp_path).settings
    assert (found.theme, found.text_scale, found.language) == ("dark", 1.21, "de")


def test_what_the_menu_changes_is_shown(desk: SettingsDriver, context: WindowContext) -> None:
    WindowCommands(context, cast("MainWindow", context.page.window()))
    context.preferences.change(theme="light")
    assert desk.the(QComboBox, "Theme").currentText() == "Light"
    command, box = desk.plants.view_commands.keep_tag_command, desk.button("Keep the tag for the next plant")
    command.trigger()
    assert box.isChecked()
    box.click()
    assert not command.isChecked()
    assert not type(desk)(desk.qtbot, context.page, desk.page, desk.server, desk.plants).button("Pin").isChecked()


def test_enter_in_name_goes_to_tag_where_it_is_set(desk: SettingsDriver, context: WindowContext) -> None:
    desk.pick("Enter key", "Goes")
    desk.widget.close()
    window = context.page.window()
    with desk.qtbot.waitActive(window):
        window.activateWindow()
    form = type(desk)(desk.qtbot, context.page, desk.page, desk.server, desk.plants)
    form.type(form.name, "Fern")
    form.press(Qt.Key.Key_Return)
    assert form.tag.hasFocus()
    assert form.name.text() == "Fern"


def test_the_api_and_the_daily_check_are_switched(desk: SettingsDriver, context: WindowContext) -> None:
    box = desk.the(QCheckBox, "Accept plants from programs on this computer")
    box.click()
    assert not box.isChecked()
    box.click()
    assert desk.server.asked == [8721]
    desk.button("Check once a day; nothing is installed").click()
    assert context.preferences.settings.ask_for_updates


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Tab])
def test_a_port_is_used_by_enter_or_when_it_is_left(desk: SettingsDriver, key: Qt.Key) -> None:
    desk.type(desk.port, "9000")
    assert desk.server.asked == []
    desk.qtbot.keyClick(desk.port, key)
    assert desk.server.asked == [9000]
    desk.server.show(On("http://127.0.0.1:9000", 9000))
    assert desk.visible("http://127.0.0.1:9000/plants")


@pytest.mark.parametrize("text", ["0", "70000", "web"])
def test_an_invalid_port_is_reported_under_it(desk: SettingsDriver, text: str) -> None:
    desk.type(desk.port, text)
    desk.press(Qt.Key.Key_Return)
    assert desk.server.asked == []
    assert desk.visible("A port is a whole number from 1 to 65535.")
    desk.type(desk.port, "9000")
    desk.press(Qt.Key.Key_Return)
    assert not desk.visible("A port is a whole number from 1 to 65535.")


def test_a_taken_port_names_a_free_one(desk: SettingsDriver) -> None:
    desk.server.show(Failed(PortInUseError(8721, 8722), 8721))
    assert desk.visible("Port 8721 is in use by another program. Choose another port. Port 8722 is free.")


def test_a_typed_port_of_another_program_leaves_the_api_where_it_is(desk: SettingsDriver) -> None:
    desk.server.taken = {9000}
    desk.type(desk.port, "9000")
    desk.press(Qt.Key.Key_Return)
    assert desk.server.asked == []
    text = "Port 9000 is in use by another program. Choose another port. Port 9001 is free. The API stays on port 8721."
    assert desk.visible(text)
    desk.type(desk.port, "9001")
    desk.press(Qt.Key.Key_Return)
    assert desk.server.asked == [9001]
    desk.server.show(On("http://127.0.0.1:9001", 9001))
    assert not desk.visible(text)
    assert desk.port.text() == "9001"


def test_backups_are_kept_where_how_often_and_how_many_the_user_wants(
    desk: SettingsDriver, context: WindowContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drive = tmp_path / "drive"
    drive.mkdir()
    chosen = [str(drive), str(tmp_path / "gone"), str(tmp_path)]
    monkeypatch.setattr(FileDialog, "get_existing_folder", lambda *_arguments: chosen.pop(0))
    desk.button("Change…").click()
    desk.until(lambda: saved(context, tmp_path).settings.backup_folder == str(drive))
    desk.button("Change…").click()
    desk.until(lambda: bool(desk.visible("This folder cannot be written to.")))
    assert context.preferences.settings.backup_folder == str(drive)
    desk.button("Change…").click()  # beside the plants, as at first
    desk.until(lambda: not context.preferences.settings.backup_folder)
    assert not desk.visible("This folder cannot be written to.")
    desk.pick("Every", "Week")
    count = desk.the(QSpinBox, "Keep")
    desk.qtbot.keyClick(count, Qt.Key.Key_Down)
    found = saved(context, tmp_path).settings
    assert (found.backup_every, found.backup_count) == ("week", 49)
    context.preferences.change(backup_count=7)
    assert count.value() == 7


def test_the_buttons_lead_to_api_access_backups_and_the_manual(desk: SettingsDriver) -> None:
    for label in ("API access…", "Back up now", "How to bind a key"):
        desk.button(label).click()
    assert desk.pressed == ["API access", "back up", "window", "quick entry"]
    desk.until(lambda: bool(desk.visible("None yet.")))


def test_settings_that_cannot_be_saved_say_so(desk: SettingsDriver, context: WindowContext, tmp_path: Path) -> None:
    text = "These settings last until PlantDesk is closed: their file cannot be written."
    assert not desk.visible(text)
    (tmp_path / "settings.json").unlink(missing_ok=True)
    (tmp_path / "settings.json").mkdir()
    desk.button("Larger").click()
    assert desk.visible(text)
    assert context.preferences.settings.text_scale == 1.1


# --- keys and texts ---


def test_the_notice_about_the_port_leads_to_the_port(desk: SettingsDriver) -> None:
    desk.page.open_at_port()
    assert desk.port.hasFocus()


def cut_texts(viewport: QWidget) -> list[str]:
    """Return the texts of labels that are wider or higher than what is shown of them."""
    shown = [each for each in viewport.findChildren(QLabel) if each.isVisible() and each.text().strip()]
    return [
        each.text()
        for each in shown
        if each.mapTo(viewport, each.rect().topRight()).x() >= viewport.width()
        or each.height() < each.heightForWidth(each.width())
    ]


@pytest.mark.parametrize("width", [560, 420])
def test_in_a_narrow_dialog_no_text_is_cut_and_a_hint_is_not_a_column_of_words(
    desk: SettingsDriver, width: int
) -> None:
    row = next(each for each in desk.widget.findChildren(SettingRow) if each.focus_target is desk.port)
    row.show_error("Port 8721 is in use by another program. The API stays on port 8720, as long as that is free.")
    desk.widget.resize(width, 600)
    hint = next(each for each in desk.widget.findChildren(QLabel) if each.text() == "A small window for one plant.")
    most = 3 * hint.fontMetrics().lineSpacing()
    desk.until(lambda: hint.height() < most and not cut_texts(desk.the(QScrollArea).viewport()))


def test_where_there_is_no_tray_the_window_cannot_stay_in_it(
    desk: SettingsDriver, context: WindowContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = desk.button("Keep running when the window is closed")
    assert "This desktop has no tray." in desk.texts()
    assert not box.isEnabled()
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)
    context.preferences.changed.emit()
    assert "This desktop has no tray." not in desk.texts()
    assert box.isEnabled()


def test_a_folder_that_no_program_opens_is_reported(
    desk: SettingsDriver, context: WindowContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _url: False)
    desk.button("Show folder").click()
    assert context.page.toast.text.startswith("No program was found that opens")


def test_hints_belong_to_their_fields_so_that_opening_speaks_no_loose_sentences(desk: SettingsDriver) -> None:
    labels = [each for each in desk.widget.findChildren(QLabel) if each.isVisible() and " " in each.text().strip()]
    described = QAccessible.RelationFlag.Labelled
    loose = [each.text() for each in labels if not QAccessible.queryAccessibleInterface(each).relations(described)]
    assert len(labels) > 10
    assert loose == ["Changes apply at once."]
