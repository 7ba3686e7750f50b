"""The OpenAPI 3.1.0 document, built from the pydantic models and from the table of error numbers."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from plantdesk import DEFAULT_PORT, HOME_PAGE
from plantdesk.domain.errors import ErrorNumber
from plantdesk.domain.models import Error, NewPlant, Plant

#: The version of the API, not of the program.
_VERSION = "1.0.0"
_TAG = "plants"
_EXAMPLE = {"name": "Monstera deliciosa", "tag": "office"}

_DESCRIPTION = """\
Adds plants to the PlantDesk that runs on this machine.

Numbers are read exactly: `7`, `7.0` and `7e0` are the integer 7. Members that NewPlant does not name are ignored; a \
member given twice is refused. Sending the same plant again answers 200 and changes nothing, so a program may retry.

Programs whose numbers are floats, such as JavaScript and jq before 1.7, round an ID above 9007199254740991 \
(2^53 - 1), and the plant is stored under the rounded one. They write its digits into the text of the body instead.
"""

#: The statuses of POST /plants besides 200, with the descriptions of the contract.
_ERROR_RESPONSES = {
    400: "unexpected error",
    401: "no valid bearer token",
    408: "the request did not arrive in time",
    500: "a defect of PlantDesk",
    503: "the store cannot take the plant now; nothing was written",
}


def build_openapi_document(port: int = DEFAULT_PORT) -> dict[str, Any]:
    """Return the document of the server on `port`, as a JSON object.

    The server's URL has a fixed port, since the code generators hey-api and orval cannot read a variable there.
    """
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "PlantDesk",
            "version": _VERSION,
            "description": _DESCRIPTION,
            "contact": {"name": "PlantDesk", "url": HOME_PAGE},
            "license": {"name": "MIT License", "identifier": "MIT"},
        },
        "servers": [{"url": f"http://127.0.0.1:{port}", "description": "this machine only"}],
        "tags": [{"name": _TAG, "description": "The plants in the store"}],
        "paths": {"/plants": {"post": _build_operation()}},
        "security": [{"bearerAuth": []}],
        "components": {
            "schemas": {model.__name__: _build_schema(model) for model in (Plant, NewPlant, Error)},
            "securitySchemes": {"bearerAuth": {"type": "http", "scheme": "bearer"}},
        },
    }


def _build_operation() -> dict[str, Any]:
    return {
        "operationId": "addPlant",
        "tags": [_TAG],
        "summary": "Create plant",
        "description": "Creates a new plant in the store",
        "requestBody": {"required": True, "content": _build_json_content("NewPlant", {"id": 7, **_EXAMPLE})},
        "responses": {
            "200": {"description": "plant response", "content": _build_json_content("Plant", _EXAMPLE)},
            **{str(status): _build_error_response(status) for status in _ERROR_RESPONSES},
        },
    }


def _build_error_response(status: int) -> dict[str, Any]:
    response: dict[str, Any] = {
        "description": _ERROR_RESPONSES[status],
        "content": _build_json_content("Error", _build_error_example(status)),
    }
    if status == ErrorNumber.TOKEN_MISSING.status:
        response["headers"] = {"WWW-Authenticate": {"required": True, "schema": {"type": "string"}}}
    if status == ErrorNumber.STORE_BUSY.status:
        response["headers"] = {"Retry-After": {"description": "seconds", "schema": {"type": "integer"}}}
    return response


def _build_error_example(status: int) -> dict[str, Any]:
    number = next(number for number in ErrorNumber if number.status == status)
    return {"error": int(number), "message": number.meaning}


def _build_json_content(schema: str, example: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}, "example": example}}


def _build_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a model without the titles that pydantic makes of its names."""
    schema = model.model_json_schema()
    fields = {
        name: {key: value for key, value in field.items() if key not in {"title", "default"}}
        for name, field in schema["properties"].items()
    }
    return {"type": "object", "required": schema["required"], "properties": fields}
