"""What a person has set, and its file. A change is a new `Settings`: nothing changes under a reader's hands.

Of the outside only pydantic is imported: the window reads its settings before it shows.
"""

from __future__ import annotations

import logging
import os
import tempfile
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

logger = logging.getLogger(__name__)

DEFAULT_PORT = 8721


class WindowSettings(BaseModel):
    """The window as it was left, in device-independent pixels."""

    model_config = ConfigDict(frozen=True, extra="allow")

    width: int = Field(default=1180, ge=1, le=32767)
    height: int = Field(default=760, ge=1, le=32767)
    maximized: bool = False


class Settings(BaseModel):
    """All settings. Unknown ones are kept: a newer PlantDesk finds its own again after an older one has saved."""

    model_config = ConfigDict(frozen=True, extra="allow")

    theme: Literal["system", "light", "dark"] = "system"
    text_scale: float = Field(default=1.0, ge=0.5, le=3.0)
    api_enabled: bool = True
    port: int = Field(default=DEFAULT_PORT, ge=0, le=65535)
    window: WindowSettings = WindowSettings()

    def changed(self, **values: Any) -> Self:  # noqa: ANN401 - checked by pydantic
        """Return a copy with other values, checked as those of a file are."""
        return self.model_validate({**self.model_dump(), **values})


def load(file: Path) -> Settings:
    """Read the settings; a damaged file is set aside and the defaults are used, for no setting is worth a refusal."""
    try:
        return Settings.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return Settings()
    except ValidationError as error:
        aside = file.with_name(f"{file.stem}.damaged{file.suffix}")
        logger.warning("The settings in %s are damaged and were moved to %s: %s", file, aside.name, error)
        _set_aside(file, aside)
    except OSError as error:
        logger.warning("The settings cannot be read, the defaults are used: %s", error)
    return Settings()


def save(settings: Settings, file: Path) -> None:
    """Write the settings so that a crash leaves either the old file or the new one, whole.

    Raises OSError.
    """
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")  # 0600 from its first moment
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as temporary:
            temporary.write(settings.model_dump_json(indent=2) + "\n")
            temporary.flush()
            os.fsync(temporary.fileno())
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _set_aside(file: Path, aside: Path) -> None:
    try:
        file.replace(aside)
    except OSError as error:
        logger.warning("The damaged settings could not be moved: %s", error)
