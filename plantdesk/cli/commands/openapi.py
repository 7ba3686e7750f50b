"""`plantdesk openapi`: prints the OpenAPI document, as `GET /openapi.json` returns it."""

from __future__ import annotations

import json

from plantdesk.api.openapi import description
from plantdesk.platform import output


def run() -> int:
    """Print the document."""
    output.write(json.dumps(description(), indent=2, ensure_ascii=False))
    return 0
