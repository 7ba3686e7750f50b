"""Starlette and uvicorn alone: validates the plant with a model of pydantic, and stores nothing.

python service_bare.py PORT
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import uvicorn
from pydantic import BaseModel, ConfigDict
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request


class NewPlant(BaseModel):
    """A plant to be added."""

    model_config = ConfigDict(strict=True)

    id: int
    name: str
    tag: str | None = None


async def create_plant(request: Request) -> JSONResponse:
    """Check the plant and send it back."""
    plant = NewPlant.model_validate_json(await request.body())
    return JSONResponse({"name": plant.name, "tag": plant.tag})


app = Starlette(routes=[Route("/plants", create_plant, methods=["POST"])])

if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]), loop="uvloop", http="httptools", access_log=False, log_level="warning")
