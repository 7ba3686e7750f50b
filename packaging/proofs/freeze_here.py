"""`build.py bundle` with the Python that runs this, for where no environment can be made: under wine."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import dev
from bundle import freeze


class ThisPython(dev.Environment):
    """The Python that runs this, with what is installed for it."""

    def __init__(self) -> None:
        super().__init__(Path(sys.prefix))
        self.python = Path(sys.executable)


vars(freeze)["prepare"] = ThisPython
freeze.make()
