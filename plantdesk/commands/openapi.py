"""`plantdesk openapi`: the description of the HTTP API, as `GET /openapi.json` gives it."""

from __future__ import annotations

import json

from plantdesk import output
from plantdesk.api.openapi import description


def run() -> int:
    """Print the document."""
    output.write(json.dumps(description(), indent=2, ensure_ascii=False))
    return 0
