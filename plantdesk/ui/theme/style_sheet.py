"""The style sheet, for all that Fusion and the palette do not cover.

Widgets are styled by class and by dynamic property, so that no widget holds a colour or a text size: `role`
(caption, detail, key, title, strong, drop, drag) and `tone` (muted, error, warning, ok) of labels;
`variant` (primary, icon, pill, chip, link, quiet, command, collapse) of buttons, `small` of buttons and combo boxes;
`card`, `pane` (lines, strip, list, sidebar, card, toast) and `bar` (info, warning, error) of frames;
`invalid` and `cell` (over one) of fields; `clear` of widgets that show the background behind them.
"""

from __future__ import annotations

from pathlib import Path
from string import Template

from PySide6.QtGui import QColor, QGuiApplication

from plantdesk.ui.theme.colors import Colors, mix_colors
from plantdesk.ui.theme.metrics import ICON, ICON_BUTTON, FontRole, Metrics

_FIELDS = """
QLineEdit, QPlainTextEdit {
  background: $surface; color: $text; border: 1px solid $border; border-radius: 6px;
  selection-background-color: $selection; selection-color: $text; placeholder-text-color: $placeholder;
}
QLineEdit { padding: 0 11px; min-height: ${inner}px; max-height: ${inner}px; }
QPlainTextEdit { padding: 7px; border-radius: 8px; }
QLineEdit:focus {
  border: 2px solid $focus; padding: 0 10px; min-height: ${focused_inner}px; max-height: ${focused_inner}px;
}
QPlainTextEdit:focus { border: 2px solid $focus; padding: 6px; }
QLineEdit[invalid="true"], QLineEdit[invalid="true"]:focus {
  border: 2px solid $error; padding: 0 10px; min-height: ${focused_inner}px; max-height: ${focused_inner}px;
}
QLineEdit[cell="true"], QLineEdit[cell="true"]:focus {
  border: 2px solid $focus; border-radius: 4px; padding: 0 10px; min-height: 0; max-height: 2000px;
}
QLineEdit[cell="true"][invalid="true"], QLineEdit[cell="true"][invalid="true"]:focus { border-color: $error; }
QLineEdit[filled="true"] { background: $selection; }
QLineEdit:disabled { color: $disabled; border-color: $line; }
QLineEdit:read-only { background: $window; }
"""

_BUTTONS = """
QPushButton {
  background: $surface; color: $text; border: 1px solid $border; border-radius: 6px;
  padding: 0 13px; min-height: ${inner}px; font-weight: 500; outline: 0;
}
QPushButton:hover { background: $hover; }
QPushButton:pressed, QPushButton:checked { background: $selection; }
QPushButton:focus { border: 2px solid $focus; padding: 0 12px; min-height: ${focused_inner}px; }
QPushButton:disabled { color: $disabled; border-color: $line; }
QPushButton[small="true"] { padding: 0 9px; min-height: ${small}px; }
QPushButton[small="true"]:focus { padding: 0 8px; min-height: ${focused_small}px; }

QComboBox {
  background: $surface; color: $text; border: 1px solid $border; border-radius: 6px; padding: 0 11px;
  min-height: ${inner}px;
}
QComboBox:hover { background: $hover; }
QComboBox:focus, QComboBox:on { border: 2px solid $focus; padding: 0 10px; min-height: ${focused_inner}px; }
QComboBox[small="true"] { min-height: ${compact}px; }
QComboBox[small="true"]:focus, QComboBox[small="true"]:on { min-height: ${focused_compact}px; }
QComboBox::drop-down { border: none; width: ${icon_button}px; }
QComboBox::down-arrow { image: url("$combo_arrow"); width: ${icon}px; height: ${icon}px; }
QComboBox QAbstractItemView { border: 1px solid $border; padding: 3px; outline: 0; }

QAbstractSpinBox {
  background: $surface; color: $text; border: 1px solid $border; border-radius: 6px; padding: 0 2px;
  min-height: ${inner}px; max-height: ${inner}px; selection-background-color: $selection; selection-color: $text;
}
QAbstractSpinBox:focus {
  border: 2px solid $focus; padding: 0 1px; min-height: ${focused_inner}px; max-height: ${focused_inner}px;
}
QAbstractSpinBox:disabled { color: $disabled; border-color: $line; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { border: none; border-radius: 3px; width: 22px; }
QAbstractSpinBox::up-button { subcontrol-position: top right; margin: 2px 2px 0 2px; }
QAbstractSpinBox::down-button { subcontrol-position: bottom right; margin: 0 2px 2px 2px; }
QAbstractSpinBox::up-button:hover, QAbstractSpinBox::down-button:hover { background: $hover; }
QAbstractSpinBox::up-arrow { image: url("$spin_up"); width: ${small_icon}px; height: ${small_icon}px; }
QAbstractSpinBox::down-arrow { image: url("$combo_arrow"); width: ${small_icon}px; height: ${small_icon}px; }
QAbstractSpinBox QLineEdit, QAbstractSpinBox QLineEdit:focus {
  border: none; padding: 0 0 0 9px; background: transparent; min-height: 0; max-height: 2000px;
}

QBalloonTip QPushButton { border: none; padding: 0; min-height: 0; }  /* of a message of the tray */

QPushButton[variant="primary"] {
  background: $accent; color: $on_accent; border: 1px solid $accent; padding: 0 15px; font-weight: 600;
}
QPushButton[variant="primary"]:hover { background: $accent_hover; border-color: $accent_hover; }
QPushButton[variant="primary"]:pressed { background: $accent_pressed; border-color: $accent_pressed; }
QPushButton[variant="primary"]:focus { border: 2px solid $text; padding: 0 14px; }
QPushButton[variant="primary"]:disabled { background: $primary_off; color: $disabled; border-color: $line; }

QToolButton, QPushButton[variant="icon"] {
  background: transparent; color: $text; border: 1px solid transparent; border-radius: 6px; padding: 3px;
  min-width: 18px; min-height: 18px;
}
QPushButton[variant="icon"] { min-width: 21px; max-width: 21px; min-height: 21px; }
QToolButton::menu-indicator { image: none; }
QToolButton:hover, QPushButton[variant="icon"]:hover { background: $hover; }
QToolButton:pressed, QToolButton:checked, QPushButton[variant="icon"]:pressed { background: $selection; }
QToolButton:focus, QPushButton[variant="icon"]:focus { border: 2px solid $focus; padding: 2px; }

QPushButton[variant="link"] {
  background: transparent; color: $accent; border: 2px solid transparent; padding: 0 4px; font-weight: 600;
  min-height: ${link}px;
}
QPushButton[variant="link"]:hover { background: $hover; }
QPushButton[variant="link"]:disabled { color: $disabled; }

QPushButton[variant="quiet"], QPushButton[variant="collapse"], QPushButton[variant="command"] {
  background: transparent; border: 2px solid transparent; padding: 0 6px; min-height: ${link}px; text-align: left;
}
QPushButton[variant="quiet"] { color: $muted; font-weight: 400; }
QPushButton[variant="collapse"] { font-weight: 600; padding: 0 4px 0 0; }
QPushButton[variant="command"] { padding: 0; }
QPushButton[variant="quiet"]:hover, QPushButton[variant="collapse"]:hover, QPushButton[variant="command"]:hover {
  background: $hover;
}
QPushButton[variant="link"]:focus, QPushButton[variant="quiet"]:focus, QPushButton[variant="collapse"]:focus,
QPushButton[variant="command"]:focus { border: 2px solid $focus; }

QPushButton[variant="pill"] {
  background: $accent; color: $on_accent; border: 1px solid $accent; border-radius: ${pill_radius}px;
  padding: 0 15px; min-height: ${pill}px; font-weight: 600;
}
QToolBar { background: transparent; border: none; padding: 0; spacing: 8px; }
QToolButton[variant="chip"] {
  background: $selection; border: 2px solid transparent; border-radius: ${chip_radius}px; padding: 0 8px;
  min-height: ${chip}px; font-size: ${caption}pt; font-weight: 400;
}
QToolButton[variant="chip"]:hover { background: $hover; }
QToolButton[variant="chip"]:focus { border: 2px solid $focus; padding: 0 8px; min-height: ${chip}px; }
QPushButton[variant="pill"]:hover { background: $accent_hover; border-color: $accent_hover; }
QPushButton[variant="pill"]:focus { border: 2px solid $text; padding: 0 14px; min-height: ${focused_pill}px; }

QCheckBox { spacing: 8px; min-height: 24px; padding-right: 4px; }
QCheckBox:focus { outline: 0; }
QCheckBox::indicator, QMenu::indicator, PlainTable::indicator {
  width: ${box}px; height: ${box}px; border: 1px solid $border; border-radius: 4px; background: $surface;
}
QCheckBox::indicator { margin: 2px 0; }
QCheckBox::indicator:hover { background: $hover; }
QCheckBox::indicator:focus { border: 2px solid $focus; width: ${focused_box}px; height: ${focused_box}px; }
QCheckBox::indicator:checked, PlainTable::indicator:checked {
  background: $accent; border-color: $accent; image: url("$check");
}
QCheckBox::indicator:indeterminate { background: $accent; border-color: $accent; image: url("$minus"); }
QCheckBox::indicator:checked:focus, QCheckBox::indicator:indeterminate:focus { border-color: $text; }
QCheckBox::indicator:disabled { border-color: $line; }
"""

_FRAMES = """
QFrame[pane="lines"] { background: $line; }
QFrame[pane="strip"], QFrame[pane="card"] { background: $window; }
QFrame[pane="sidebar"] { background: $sidebar; }
QFrame[pane="list"] { background: $surface; }
QFrame[pane="toast"] {
  background: $toast; border: 1px solid $toast_edge; border-radius: 10px; margin: 8px 0 16px;
  min-height: ${toast_height}px;
}
QFrame[pane="toast"] QLabel { color: $on_toast; }
QFrame[pane="toast"] QLabel[tone="muted"] { color: $toast_muted; }
QFrame[pane="toast"] QPushButton {
  background: transparent; color: $toast_link; border: 2px solid transparent; padding: 0 6px; font-weight: 600;
}
QFrame[pane="toast"] QPushButton:hover, QFrame[pane="toast"] QToolButton:hover { background: $toast_hover; }
QFrame[pane="toast"] QPushButton:focus { border: 2px solid $toast_link; padding: 0 6px; }
QFrame[pane="toast"] QToolButton:focus { border: 2px solid $toast_link; }
QFrame[popup="true"] { background: $surface; border: 1px solid $border; border-radius: 8px; }
QFrame[card="true"] { background: $surface; border: 1px solid $line; border-radius: 8px; }
QFrame[card="inset"] { background: $inset; border: 1px solid $line; border-radius: 8px; }
QFrame[bar="info"] { background: $info_bg; border: 1px solid $info; border-radius: 8px; }
QFrame[bar="warning"] { background: $warning_bg; border: 1px solid $warning; border-radius: 8px; }
QFrame[bar="error"] { background: $error_bg; border: 1px solid $error; border-radius: 8px; }

QLabel[role="caption"] { font-size: ${caption}pt; font-weight: 500; color: $muted; }
QLabel[role="drop"] {
  background: $drop; border: 2px solid $focus; border-radius: 8px; font-size: ${title}pt; font-weight: 600;
}
QLabel[role="drag"] {
  background: $selection; border: 1px solid $border; border-radius: ${pill_radius}px; padding: 0 11px;
  min-height: ${pill}px;
}
QLabel[role="detail"] { font-size: ${caption}pt; color: $muted; }
QScrollArea[clear="true"], QWidget[clear="true"] { background: transparent; border: none; }
QScrollArea[clear="true"]:focus { border: 2px solid $focus; border-radius: 6px; }
QLabel[role="key"] {
  background: $surface; color: $text; border: 1px solid $border; border-bottom-width: 2px; border-radius: 4px;
  padding: 1px 6px; min-width: 12px;
}
QLabel[role="title"] { font-size: ${title}pt; font-weight: 600; }

QProgressBar { background: $line; border: none; border-radius: 3px; margin-top: 4px; min-height: 6px; max-height: 6px; }
QProgressBar::chunk { background: $info; border-radius: 3px; }

QLabel[role="strong"] { font-weight: 600; }
QLabel[tone="muted"] { color: $muted; }
QLabel[tone="error"] { color: $error; }
QLabel[tone="warning"] { color: $warning; }
QLabel[tone="ok"] { color: $ok; }
QToolTip { background: $surface; color: $text; border: 1px solid $border; padding: 5px 8px; }
"""

_MENUS = """
QMenuBar { background: $window; border: none; border-bottom: 1px solid $line; padding: 0 6px; }
QMenuBar::item { background: transparent; color: $text; border-radius: 6px; padding: 5px 12px; }
QMenuBar::item:selected, QMenuBar::item:pressed { background: $selection; }
QMenuBar::item:disabled { color: $disabled; }
QMenu { background: $surface; border: 1px solid $border; border-radius: 8px; padding: 5px; }
QMenu::item {
  background: transparent; color: $text; border-radius: 5px; padding: 0 28px 0 10px; min-height: ${menu_item}px;
}
QMenu::item:selected { background: $selection; }
QMenu::item:disabled { color: $disabled; }
QMenu::icon { padding-left: 10px; }
QMenu::separator { background: $line; height: 1px; margin: 5px 6px; }
QMenu::indicator { border: none; background: transparent; width: 18px; height: 18px; padding-left: 6px; }
QMenu::indicator:checked { image: url("$menu_check"); }
QStatusBar { background: $window; border-top: 1px solid $line; }
QStatusBar::item { border: none; }
"""

_LISTS = """
QAbstractItemView { background: $surface; color: $text; border: none; selection-color: $text;
  selection-background-color: $selection; }
PlantTableView { selection-background-color: transparent; }
QListView { border: 1px solid $border; padding: 2px; outline: 0; }
QListWidget { border-color: $line; border-radius: 8px; }
QListWidget:focus { border: 2px solid $focus; padding: 1px; }
QTextBrowser { border: 1px solid $line; border-radius: 8px; padding: 1px;
  selection-background-color: $accent; selection-color: $on_accent; }
QTextBrowser:focus { border: 2px solid $focus; padding: 0; }
QTreeView[pane="sidebar"] { background: $sidebar; border: none; padding: $sidebar_pad; }
QListView::item { border-radius: 4px; padding: 0 8px; height: ${item}px; color: $text; }
QTabBar { background: transparent; border: none; outline: 0; }
QTabBar::tab {
  background: transparent; color: $muted; border: none; border-bottom: 2px solid $line; padding: 6px 14px;
}
QTabBar::tab:hover { color: $text; }
QTabBar::tab:selected { color: $text; border-bottom-color: $accent; }
QTabBar::tab:selected:focus { border: 2px solid $focus; border-radius: 6px; padding: 4px 12px 6px 12px; }
PlainTable { outline: 0; border: 2px solid $surface; border-radius: 6px; padding: 2px; }
PlainTable::item { padding: 0 9px; }
PlainTable:focus { border: 2px solid $focus; }
QListView::item:hover { background: $hover; }
QListView::item:selected { background: $selection; }
QListView::item:disabled { color: $disabled; }
QHeaderView { background: $surface; border: none; }
QHeaderView::section {
  background: $surface; color: $muted; border: none; border-bottom: 1px solid $line;
  padding: 0 ${header_pad}px; min-height: ${row}px;
}
QHeaderView::section:hover { color: $text; background: $hover; }
QHeaderView::down-arrow, QHeaderView::up-arrow { image: none; width: 0; }
PlantTableView QHeaderView::section { font-size: ${caption}pt; font-weight: 500; }
PlantTableView QHeaderView::section:hover { background: $surface; }
PlantTableView QHeaderView::section:first { margin-left: ${header_pad}px; padding-left: 0; }
PlantTableView QHeaderView::section:last { margin-right: ${header_pad}px; padding-right: 0; }

QScrollBar { background: transparent; border: none; }
QScrollBar:vertical { width: 14px; margin: 0; }
QScrollBar[reserved="true"]:vertical { width: 18px; }
QScrollBar[reserved="true"]::handle:vertical { margin: 3px 5px; }
QScrollBar[reserved="slim"]:vertical { width: 8px; }
QScrollBar[reserved="slim"]::handle:vertical { margin: 2px 1px; border-radius: 3px; }
QScrollBar:horizontal { height: 14px; margin: 0; }
QScrollBar::handle { background: $border; border-radius: 4px; margin: 3px; }
QScrollBar::handle:vertical { min-height: 32px; }
QScrollBar::handle:horizontal { min-width: 32px; }
QScrollBar::handle:hover { background: $muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; border: none; background: none; }
QScrollBar::add-page, QScrollBar::sub-page { background: none; }
QAbstractScrollArea::corner { background: transparent; border: none; }
"""

_SHEET = Template(_FIELDS + _BUTTONS + _FRAMES + _MENUS + _LISTS)


def make_style_sheet(colors: Colors, metrics: Metrics, indicators: Path) -> str:
    """Return the style sheet. Qt loads its check marks and arrows from SVG files in the folder `indicators`."""
    shade = "dark" if colors.is_dark else "light"
    values = {name: getattr(colors, name) for name in colors._fields if name != "is_dark"}
    return _SHEET.substitute(
        values,
        **_derive_colors(colors),
        **_make_sizes(metrics),
        check=(indicators / f"check-{shade}.svg").as_posix(),
        minus=(indicators / f"minus-{shade}.svg").as_posix(),
        spin_up=(indicators / f"up-{shade}.svg").as_posix(),
        combo_arrow=(indicators / f"arrow-{shade}.svg").as_posix(),
        menu_check=(indicators / f"menu-check-{shade}.svg").as_posix(),
    )


def _derive_colors(colors: Colors) -> dict[str, str]:
    text = colors.color("text")
    accent = colors.color("accent")
    drop = colors.color("window")
    drop.setAlphaF(0.85)
    return {
        "drop": drop.name(QColor.NameFormat.HexArgb),
        "hover": colors.hover().name(),
        "toast_hover": mix_colors(colors.color("on_toast"), colors.color("toast"), 0.14).name(),
        "toast_muted": mix_colors(colors.color("on_toast"), colors.color("toast"), 0.7).name(),
        "toast_edge": "#59634F" if colors.is_dark else colors.toast,
        "inset": colors.window if colors.is_dark else colors.sidebar,
        "disabled": mix_colors(text, colors.color("window"), 0.5).name(),
        "primary_off": colors.window if colors.is_high_contrast else colors.line,
        "accent_hover": mix_colors(accent, text, 0.88).name(),
        "accent_pressed": mix_colors(accent, text, 0.76).name(),
    }


def _make_sizes(metrics: Metrics) -> dict[str, str]:
    """Return the sizes in pixels. Those of `focused_…` are inside a border of two pixels instead of one."""
    pill = metrics.compact_row + metrics.compact_row % 2
    return {
        "inner": str(metrics.control - 2),
        "focused_inner": str(metrics.control - 4),
        "small": str(max(24, metrics.compact_row - 4)),
        "focused_small": str(max(24, metrics.compact_row - 4) - 2),
        "compact": str(metrics.compact_row - 2),
        "focused_compact": str(metrics.compact_row - 4),
        "chip": str(metrics.scaled(22)),
        "chip_radius": str((metrics.scaled(22) + 4) // 2),
        "pill": str(pill - 2),
        "focused_pill": str(pill - 4),
        "pill_radius": str(pill // 2),
        "icon": str(metrics.scaled(ICON)),
        "icon_button": str(metrics.scaled(ICON_BUTTON)),
        "small_icon": str(metrics.scaled(12)),
        "box": str(metrics.scaled(18)),
        "focused_box": str(metrics.scaled(18) - 2),
        "menu_item": str(metrics.line + 14),
        "link": str(max(20, metrics.line + 2)),
        "row": str(metrics.row),
        "toast_height": str(metrics.control + 8),
        "header_pad": "12",
        "sidebar_pad": "8px 8px 8px 0" if QGuiApplication.isRightToLeft() else "8px 0 8px 8px",
        "item": str(metrics.compact_row),
        "caption": f"{metrics.points[FontRole.CAPTION]:.2f}",
        "title": f"{metrics.points[FontRole.TITLE]:.2f}",
    }
