"""The window. Imports nothing of `plantdesk.api`, and nothing heavy before the first paint."""

import sys

import PySide6.QtCore  # noqa: F401 - it makes the module below

# PySide reads the source of each imported module, for `from __feature__ import …`, which PlantDesk does not use:
# 15 ms of a start from a checkout. In the frozen program there is no source, and modules are treated in the same way.
_feature = sys.modules.get("__feature__")
if _feature is not None and hasattr(_feature, "_mod_uses_pyside"):
    vars(_feature)["_mod_uses_pyside"] = lambda _module: False
