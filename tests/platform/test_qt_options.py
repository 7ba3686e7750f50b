import os
import subprocess
import sys

import pytest

from plantdesk.platform import display, paths
from tests.support.waiting import SECONDS

_MIRRORED = """
import sys
from PySide6.QtCore import QTimer
from plantdesk import desktop
from plantdesk.cli import main as cli

class Application(desktop.Application):
    def exec(self):
        print(self.layoutDirection().name)
        return 0

desktop.Application = Application
sys.exit(cli.main())
"""


@pytest.mark.parametrize(
    ("arguments", "of_qt", "ours"),
    [
        ("", "", ""),
        ("--port 0", "", "--port 0"),
        ("-reverse", "-reverse", ""),
        ("--port 0 -reverse --background", "-reverse", "--port 0 --background"),
        (
            "-platform offscreen -style=windows --database -reverse",
            "-platform offscreen -style=windows",
            "--database -reverse",
        ),
        ("--port 0 add --name -reverse", "", "--port 0 add --name -reverse"),
        ("--port", "", "--port"),
    ],
)
def test_qt_options_are_separated(arguments: str, of_qt: str, ours: str) -> None:
    assert display.split_qt_options(arguments.split()) == (of_qt.split(), ours.split())


def test_a_qt_option_reaches_qt() -> None:
    environment = {**os.environ, "PLANTDESK_HOME": str(paths.data_folder().parent)}
    command = [sys.executable, "-c", _MIRRORED, "--port", "0", "-reverse"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stdout.split()) == (0, ["RightToLeft"])
