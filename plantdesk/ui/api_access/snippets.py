"""Commands that add a plant, for the authors of scripts, and their panel. They read the token from a file.

A token in a command would be in the shell's history and, for every user of the machine, in the process list. Proxies
are disabled: proxy variables apply to the loopback otherwise.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from plantdesk.ui.qt import STRETCH, fill
from plantdesk.ui.theme.metrics import S
from plantdesk.ui.widgets.fields import ComboBox, CopyButton
from plantdesk.ui.widgets.plain_text import TextView

if TYPE_CHECKING:
    from plantdesk.ui.theme.theme import Theme


class Language(StrEnum):
    """What a snippet is written in."""

    CURL = "curl"
    POWERSHELL = "PowerShell"
    PYTHON = "Python"


#: A number of JSON.
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
#: The file that a snippet reads as long as no token was saved from the window, and how to make it.
TOKEN_FILE = "plantdesk.token"  # noqa: S105  the name of a file
_MAKE_FILE = f"# once: plantdesk token create my-script --output {TOKEN_FILE}\n"

_SNIPPETS = {
    Language.CURL: """\
printf 'Authorization: Bearer %s' "$(cat @FILE@)" |
  curl --noproxy 127.0.0.1 -H @- -H "Content-Type: application/json" \\
    -d '{"id": @ID@, "name": "Aloe vera", "tag": "succulent"}' \\
    @ADDRESS@/plants
""",
    Language.POWERSHELL: """\
$token = (Get-Content -Raw -LiteralPath @FILE@).Trim()
Invoke-RestMethod @ADDRESS@/plants -Method Post `
  -Headers @{ Authorization = "Bearer $token" } `
  -ContentType "application/json; charset=utf-8" `
  -Body '{"id": @ID@, "name": "Aloe vera", "tag": "succulent"}'
""",
    Language.PYTHON: """\
import json
from pathlib import Path
from urllib.request import ProxyHandler, Request, build_opener

token = Path(@FILE@).read_text(encoding="utf-8").strip()
plant = {"id": @ID@, "name": "Aloe vera", "tag": "succulent"}
request = Request(
    "@ADDRESS@/plants",
    data=json.dumps(plant).encode(),
    headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
)
with build_opener(ProxyHandler({})).open(request) as answer:
    print(json.load(answer))
""",
}


def snippet(language: Language, address: str, plant_id: int, token_file: str | None = None) -> str:
    """Return a command that adds a plant at `address` (`http://127.0.0.1:PORT`) with the token in `token_file`."""
    filled = _SNIPPETS[language].replace("@ADDRESS@", address).replace("@ID@", str(plant_id))
    filled = filled.replace("@FILE@", _QUOTED[language](token_file or TOKEN_FILE))
    return filled if token_file else _MAKE_FILE + filled


def _in_power_shell(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_QUOTED: dict[Language, Callable[[str], str]] = {
    Language.CURL: shlex.quote,
    Language.POWERSHELL: _in_power_shell,
    Language.PYTHON: repr,
}


def curl_of(address: str, plant: Mapping[str, str]) -> str:
    """Return the curl command for a plant whose id, name and tag are given as texts; without the token."""
    members = []
    for key, text in plant.items():
        is_number = key == "id" and _NUMBER.fullmatch(text) is not None
        members.append(f"{json.dumps(key)}: {text if is_number else json.dumps(text, ensure_ascii=False)}")
    body = shlex.quote("{" + ", ".join(members) + "}")
    return (
        _MAKE_FILE
        + f"""printf 'Authorization: Bearer %s' "$(cat {TOKEN_FILE})" |
  curl --noproxy 127.0.0.1 -H @- -H "Content-Type: application/json" \\
    -d {body} \\
    {address}/plants
"""
    )


_LINES = 6


class SnippetPanel(QWidget):
    """Shows the command for an address, the next free id, and the file of the token that was saved last."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._address = ""
        self._plant_id = 1
        self._token_file: str | None = None
        self._languages = ComboBox(self.tr("Language of the example"))
        for language in Language:
            self._languages.addItem(language.value)
        self._text = TextView(self.tr("Example command"))
        self._text.setFont(theme.metrics.fixed_font())
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._text.setFixedHeight(self._text.fontMetrics().lineSpacing() * _LINES + 32)
        self._copy_button = CopyButton(theme, self.tr("Copy &example"))
        self._lay_out()
        self._languages.currentIndexChanged.connect(self._show_snippet)

    @property
    def text(self) -> str:
        """The command that is shown."""
        return self._text.toPlainText()

    def set_example(self, address: str, plant_id: int) -> None:
        """Put the server's address and an id that is free into the commands."""
        self._address, self._plant_id = address, plant_id
        self._show_snippet()

    @Slot(str)
    def set_token_file(self, file: str) -> None:
        """Let the commands read the token from `file`."""
        self._token_file = file
        self._show_snippet()

    @Slot()
    def _show_snippet(self) -> None:
        text = snippet(list(Language)[self._languages.currentIndex()], self._address, self._plant_id, self._token_file)
        self._text.setPlainText(text)
        self._copy_button.set_content(text)

    def _lay_out(self) -> None:
        header = fill(QHBoxLayout(), self._languages, STRETCH, self._copy_button, spacing=S)
        fill(QVBoxLayout(self), header, self._text, margins=0, spacing=S)
