"""Makes the pictures of the README anew: `python -m tests.pictures [FOLDER]`, without a display.

The text is in Inter where it is installed (Debian: fonts-inter), else in the system's font.
"""

import argparse
import json
import os
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from plantdesk.desktop import Desktop
from plantdesk.domain.edits import SetTag, edited
from plantdesk.domain.records import COMMAND, FORM
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store import location_of
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.main_window import MainWindow
from tests.support.programs import post

FOLDER = Path(__file__).parents[1] / "resources" / "screenshots"
#: With the frame: the most that Flathub shows.
SIZE = 1000, 700
#: Pixels of the title bar, and around the window.
_TITLE, _BORDER, _RADIUS = 36, 1, 10
_TIMEOUT = 30.0
_SCREEN = {"screens": [{"name": "screen", "x": 0, "y": 0, "width": 1920, "height": 1200, "logicalDpi": 96, "dpr": 1}]}
#: Names and tags, the newest first.
_PLANTS = (
    ("Salvia nemorosa ‘Caradonna’", "bed 4"),
    ("Echinacea purpurea ‘Magnus’", "propagation"),
    ("Mentha × piperita ‘Chocolate’", "propagation"),
    ("Helleborus × hybridus", "cold frame"),
    ("Monstera deliciosa", "living room"),
    ("Phalaenopsis amabilis", "orchids"),
    ("Ocimum basilicum ‘Genovese’", "kitchen"),
    ("Digitalis × mertonensis", "propagation"),
    ("Acer palmatum ‘Osakazuki’", None),
    ("Solanum lycopersicum ‘Black Krim’", "greenhouse"),
    ("Lavandula angustifolia ‘Hidcote’", "bed 2"),
    ("Begonia rex ‘Escargot’", "living room"),
    ("Crocosmia × crocosmiiflora ‘Emily McKenzie’", "bed 4"),
    ("Salvia rosmarinus ‘Tuscan Blue’", "kitchen"),
)
_NOTE = "Beside the tap, in its own pot: runs. Cut back hard in June; cuttings root in water within a week."
#: The same for a picture in German.
_GERMAN = {
    "bed 2": "Beet 2",
    "bed 4": "Beet 4",
    "cold frame": "Frühbeet",
    "greenhouse": "Gewächshaus",
    "kitchen": "Küche",
    "living room": "Wohnzimmer",
    "orchids": "Orchideen",
    "propagation": "Vermehrung",
    _NOTE: "Neben dem Wasserhahn, im eigenen Topf: wuchert. Im Juni stark zurückschneiden; Stecklinge wurzeln in "
    "Wasser binnen einer Woche.",
}
_INSIDE = SIZE[0] - 2 * _BORDER, SIZE[1] - _TITLE - _BORDER
_FIRST_ID, _COUNT = 8300, 132
_SHOWN_ID = _FIRST_ID + _COUNT - 3


def main(folder: Path) -> None:
    """Write window.png, card.png, dark.png, api-access.png and german.png into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        os.environ["PLANTDESK_HOME"] = home
        os.environ.pop("DBUS_SESSION_BUS_ADDRESS", None)
        config = Path(home) / "screen.json"
        config.write_text(json.dumps(_SCREEN))
        os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={config}"
        pictures = _Pictures(folder)
        pictures.take("en", Path(home) / "plants.db", {})
        pictures.take("de", Path(home) / "Pflanzen.db", _GERMAN)  # the last: its translators stay


def _fill(database: Path, words: dict[str, str]) -> str:
    """Make the store of the pictures, with these words for those in English; return a token of it."""
    with closing(SqliteStore(database)) as store:
        token = store.tokens.create("garden-sync").result()
        for number in range(_COUNT):
            name, tag = _PLANTS[(_COUNT - 1 - number) % len(_PLANTS)]
            plant = {"id": _FIRST_ID + number, "name": name, **({} if tag is None else {"tag": words.get(tag, tag)})}
            store.add(new_plant(plant), token.row.source if number % 3 == 0 else FORM).result()
        with closing(store.reader()) as reader:
            row = reader.rows([_SHOWN_ID])[_SHOWN_ID]
            store.apply([edited(row, note=words.get(_NOTE, _NOTE))], FORM).result()
            store.apply([SetTag(Selection(ids=[_SHOWN_ID]), words.get("kitchen", "kitchen"))], COMMAND).result()
    minute = 60_000
    with closing(sqlite3.connect(database)) as connection, connection:
        now = time.time_ns() // 1_000_000
        connection.execute("UPDATE plant SET added_at = ? - (? - id) * ?", (now, _FIRST_ID + _COUNT, 7 * minute))
        connection.execute("UPDATE change SET made_at = ? - (4 - number) * ?", (now, minute))
    return token.token


class _Pictures:
    """Runs the program, and takes its pictures one after the other."""

    def __init__(self, folder: Path) -> None:
        from PySide6.QtCore import QLocale
        from PySide6.QtGui import QFont, QFontInfo
        from PySide6.QtWidgets import QApplication

        self._folder = folder
        QLocale.setDefault(QLocale("en_GB"))
        app = QApplication.instance()
        self._app = app if isinstance(app, QApplication) else QApplication(["plantdesk"])
        self._app.setCursorFlashTime(0)
        font = QFont("Inter")
        font.setPixelSize(13)
        if QFontInfo(font).family().startswith("Inter"):
            font.setPointSizeF(9.75)
            self._app.setFont(font)

    def take(self, language: str, database: Path, words: dict[str, str]) -> None:
        """Take the pictures of a language: all in English, one in others."""
        from plantdesk import desktop

        self._token, self._words = _fill(database, words), words
        program = desktop.Desktop(self._app, location_of(database), 0)
        size = {"width": _INSIDE[0], "height": _INSIDE[1]}
        program.preferences.change(window=size, language=language, theme="light")
        program.preferences.change_store(str(database), sidebar=True, card=True)
        program.start()
        try:
            self._take(program, "" if language == "en" else "german")
        finally:
            program.close()

    def _take(self, program: Desktop, only: str) -> None:
        from plantdesk.domain.server_state import On
        from plantdesk.ui.card.note import NoteEdit
        from plantdesk.ui.plants.table.view import PlantTableView

        window = program.window
        assert window is not None
        self._until(lambda: bool(window.findChildren(PlantTableView)))
        assert program.session is not None
        api = program.session.api
        self._until(lambda: isinstance(api.state, On))
        window.resize(*_INSIDE)
        table = window.findChildren(PlantTableView)[0]
        self._until(lambda: table.model().rowCount() == _COUNT)
        self._post(api.state)
        self._until(lambda: table.model().rowCount() == _COUNT + 1)
        self._save(window, only or "window")
        if not only:
            _choose(window, "Tags")  # makes room for the card
            table.keeper.go_to_plant(_SHOWN_ID)
            self._until(lambda: any(note.toPlainText() for note in window.findChildren(NoteEdit)))
            self._save(window, "card")
            self._take_api(window)
            _choose(window, "Dark")
            self._save(window, "dark")
            _choose(window, "Light")  # as the colours are those of the application
        window.close()

    def _take_api(self, window: MainWindow) -> None:
        from PySide6.QtWidgets import QTableView

        from plantdesk.ui.api_access.dialog import ApiDialog

        _choose(window, "API access…")
        self._until(lambda: bool(window.findChildren(ApiDialog)))
        dialog = window.findChildren(ApiDialog)[0]
        self._until(lambda: all(table.model().rowCount() for table in dialog.findChildren(QTableView)))
        self._save(dialog, "api-access")
        dialog.close()

    def _post(self, state: object) -> None:
        """Send requests as a script does: two are refused, one adds a plant."""
        port = getattr(state, "port", 0)

        def send() -> None:
            post(port, "plantdesk_of_another_store", {"id": 1, "name": "Fern"})
            post(port, self._token, {"id": _FIRST_ID, "name": "Fern"})
            tag = self._words.get("bed 4", "bed 4")
            new = {"id": _FIRST_ID + _COUNT, "name": "Salvia nemorosa ‘Ostfriesland’", "tag": tag}
            post(port, self._token, new)

        sending = threading.Thread(target=send)
        sending.start()
        self._until(lambda: not sending.is_alive())

    def _save(self, widget: QWidget, name: str) -> None:
        until = time.monotonic() + 1.0  # what is loaded in the background, and the ends of animations
        self._until(lambda: time.monotonic() > until)
        _framed(widget).save(str(self._folder / f"{name}.png"), quality=0)  # the smallest file

    def _until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _TIMEOUT
        while not condition():
            assert time.monotonic() < deadline, "the program does not show what the picture needs"
            self._app.processEvents()
            time.sleep(0.005)


def _framed(window: QWidget) -> QImage:
    """Return a picture of a window with a plain frame."""
    from PySide6.QtCore import QPointF, QRectF, Qt
    from PySide6.QtGui import QImage, QPainter, QPainterPath, QPalette, QPen

    width, height = window.width() + 2 * _BORDER, window.height() + _TITLE + _BORDER
    image = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    path = QPainterPath()
    path.addRoundedRect(QRectF(0.5, 0.5, width - 1, height + _RADIUS), _RADIUS, _RADIUS)  # square at the bottom
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    palette = window.palette()
    painter.setPen(palette.color(QPalette.ColorRole.Mid))
    painter.setBrush(palette.color(QPalette.ColorRole.Window).darker(104))
    painter.drawPath(path)
    painter.setPen(QPen(palette.color(QPalette.ColorRole.WindowText), 1.2))
    painter.drawText(QRectF(0, 0, width, _TITLE), Qt.AlignmentFlag.AlignCenter, window.windowTitle())
    middle, size = QPointF(width - _TITLE / 2, _TITLE / 2), 4
    painter.drawLine(middle - QPointF(size, size), middle + QPointF(size, size))
    painter.drawLine(middle - QPointF(size, -size), middle + QPointF(size, -size))
    painter.setClipRect(_BORDER, _TITLE, window.width(), window.height())
    painter.drawPixmap(_BORDER, _TITLE, window.grab())
    painter.end()
    return image


def _choose(window: MainWindow, command: str) -> None:
    from PySide6.QtGui import QAction

    next(action for action in window.findChildren(QAction) if action.text().replace("&", "") == command).trigger()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    main(parser.parse_args().folder)
