"""`typing.override`, since Python 3.12, for all modules: typing_extensions takes long to import."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import override as override  # noqa: PLC0414 - exported
else:
    override = getattr(typing, "override", lambda method: method)
