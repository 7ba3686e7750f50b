"""The decorator for overrides of Qt's methods.

`typing.override` is there from Python 3.12 on, and importing typing_extensions takes 36 ms, a sixth of the time to the
first window: so only the type checker sees it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import override
else:

    def override(method):  # noqa: ANN001, ANN201 - the type checker reads the line above
        """Mark a method as an override; nothing happens at run time."""
        return method


__all__ = ["override"]
