"""The window. Imports nothing of `plantdesk.api`, and nothing heavy before the first paint."""

import builtins

from plantdesk.ui.enumerations import make_quickly

make_quickly()  # before PySide, which makes the first of them

import PySide6.QtCore  # noqa: E402, F401 - it replaces `__import__`

# PySide looks for `from __feature__ import …`, which PlantDesk does not use, at each of the 4,000 imports of a start,
# and reads the source of what is imported: 3 % of the start.
builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)
