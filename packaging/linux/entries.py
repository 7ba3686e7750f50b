"""The desktop entry and the metainfo, with the translations of the window's catalogues."""

from __future__ import annotations

import functools
import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from gettext import GNUTranslations

import project

#: The context of their texts in the catalogues.
CONTEXT = "desktop entry"
_ENTRY = project.RESOURCES / f"{project.APP_ID}.desktop"
_METAINFO = project.RESOURCES / f"{project.APP_ID}.metainfo.xml"
_KEYS = re.compile("^(GenericName|Comment|Keywords)=(.*)$", re.MULTILINE)
_TAGS = {"summary", "p", "li", "caption"}


def texts() -> list[str]:
    """Return the texts that are translated; those of releases stay English."""
    described = [_text(element) for parent in _parents(_tree().getroot()) for element in parent if element.tag in _TAGS]
    return [*dict.fromkeys([found[2] for found in _KEYS.finditer(_ENTRY.read_text(encoding="utf-8"))] + described)]


def desktop_entry() -> bytes:
    """Return the desktop entry."""

    def with_translations(found: re.Match[str]) -> str:
        return "\n".join([found[0], *(f"{found[1]}[{code}]={text}" for code, text in _translations(found[2]))])

    return _KEYS.sub(with_translations, _ENTRY.read_text(encoding="utf-8")).encode()


def metainfo() -> bytes:
    """Return the metainfo."""
    tree = _tree()
    for parent in _parents(tree.getroot()):
        for element in [each for each in parent if each.tag in _TAGS]:
            for code, text in reversed([*_translations(_text(element))]):
                translated = ET.Element(element.tag, {"xml:lang": code})
                translated.text, translated.tail = text, element.tail
                parent.insert([*parent].index(element) + 1, translated)
    data: bytes = ET.tostring(tree.getroot(), encoding="utf-8", xml_declaration=True)
    return data


def _tree() -> ET.ElementTree[ET.Element]:
    return ET.parse(_METAINFO)  # noqa: S314 - our own file


def _parents(root: ET.Element) -> list[ET.Element]:
    """Return the elements whose texts are translated, those of releases left out."""
    return [root, *(each for part in root if part.tag != "releases" for each in part.iter())]


def _text(element: ET.Element) -> str:
    return " ".join((element.text or "").split())


def _translations(text: str) -> Iterator[tuple[str, str]]:
    """Yield each language and its translation, as far as there is one."""
    for code, catalog in _catalogs().items():
        found = catalog.pgettext(CONTEXT, text)
        if found != text:
            yield code, found


@functools.cache
def _catalogs() -> dict[str, GNUTranslations]:
    files = sorted((project.RESOURCES / "languages").glob("*.mo"))
    return {file.stem: GNUTranslations(io.BytesIO(file.read_bytes())) for file in files}
