"""Ready commands that add a plant, for people who write scripts: with address and token already in them.

Loopback is kept away from proxies on purpose: proxy variables catch it otherwise.
"""

from __future__ import annotations

from enum import StrEnum


class Language(StrEnum):
    """What a snippet is written in."""

    CURL = "curl"
    POWERSHELL = "PowerShell"
    PYTHON = "Python"


#: Stands in a snippet where a token goes, as long as none was made just now.
PLACEHOLDER = "YOUR_TOKEN"

_SNIPPETS = {
    Language.CURL: """\
curl --noproxy 127.0.0.1 @ADDRESS@/plants \\
  -H "Authorization: Bearer @TOKEN@" \\
  -H "Content-Type: application/json" \\
  -d '{"id": @ID@, "name": "Aloe vera", "tag": "succulent"}'
""",
    Language.POWERSHELL: """\
Invoke-RestMethod @ADDRESS@/plants -Method Post `
  -Headers @{ Authorization = "Bearer @TOKEN@" } `
  -ContentType "application/json; charset=utf-8" `
  -Body '{"id": @ID@, "name": "Aloe vera", "tag": "succulent"}'
""",
    Language.PYTHON: """\
import json
from urllib.request import ProxyHandler, Request, build_opener

plant = {"id": @ID@, "name": "Aloe vera", "tag": "succulent"}
request = Request(
    "@ADDRESS@/plants",
    data=json.dumps(plant).encode(),
    headers={"Authorization": "Bearer @TOKEN@", "Content-Type": "application/json"},
)
with build_opener(ProxyHandler({})).open(request) as answer:
    print(json.load(answer))
""",
}


def snippet(language: Language, address: str, plant_id: int, token: str | None = None) -> str:
    """Return a command that adds a plant at `address` (`http://127.0.0.1:PORT`)."""
    filled = _SNIPPETS[language].replace("@ADDRESS@", address).replace("@ID@", str(plant_id))
    return filled.replace("@TOKEN@", token or PLACEHOLDER)
