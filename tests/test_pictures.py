import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from tests.pictures import FOLDER, SIZE


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="made on Linux")
def test_the_pictures_of_the_manual_can_be_made_anew(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "tests.pictures", str(tmp_path)], cwd=FOLDER.parents[1], check=True)
    made = {file.name: QImage(str(file)) for file in tmp_path.glob("*.png")}
    assert set(made) == {file.name for file in FOLDER.glob("*.png")}
    for name in ("window.png", "card.png", "dark.png", "german.png"):
        assert made[name].size().toTuple() == SIZE
    corners = {name: picture.pixelColor(5, 5).lightness() for name, picture in made.items()}
    assert corners["dark.png"] < 60
    assert min(corners["window.png"], corners["german.png"]) > 200


def test_every_picture_is_as_small_as_flathub_asks_for() -> None:
    sizes = [QImage(str(file)).size().toTuple() for file in FOLDER.glob("*.png")]
    assert all(width <= SIZE[0] and height <= SIZE[1] for width, height in sizes)


def test_the_manual_shows_every_picture() -> None:
    pages = (FOLDER.parent / "manual").glob("*.md")
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    assert [file.name for file in FOLDER.glob("*.png") if f"screenshots/{file.name}" not in text] == []
