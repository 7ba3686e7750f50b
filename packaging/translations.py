"""Collect the texts of the window and of the modules below it, and update the translations.

    python3 packaging/dev.py texts             write resources/languages
    python3 packaging/dev.py texts --check     before a release: only count, and fail where a translation is missing

`plantdesk.pot` has the texts, LANGUAGE.po the translations, which build_hook.py compiles. A new language is an empty
file LANGUAGE.po. Refuses translations that have other fields or mnemonics than their text, since the program shows all
without a check.
"""

from __future__ import annotations

import ast
import io
import re
import string
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

import project

if TYPE_CHECKING:
    from pathlib import Path

    from babel.messages.catalog import Message

FOLDER = project.RESOURCES / "languages"
TEMPLATE = "plantdesk.pot"
_WIDTH = 110
_TAGS = {"summary", "p", "li", "caption"}
_HEADER = "# Texts of PlantDesk's window. Made by `python3 packaging/dev.py texts`; translations are written by hand."
#: What begins or ends a field, or marks a mnemonic.
_MARKS = re.compile("[{}&]")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
#: What a file says of itself and PlantDesk does not use.
_UNUSED = (
    b"POT-Creation",
    b"PO-Revision",
    b"Generated-By",
    b"Project-Id",
    b"Report-Msgid",
    b"Last-Trans",
    b"Language-Team",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or count the texts; return 1 where a translation cannot be used, or with --check is missing."""
    is_check = "--check" in (sys.argv if arguments is None else arguments)
    template = extract_texts()
    catalogues = {file: update_catalogue(file, template) for file in sorted(FOLDER.glob("*.po"))}
    if not is_check:
        for file, catalogue in {FOLDER / TEMPLATE: template, **catalogues}.items():
            file.write_bytes(format_catalogue(catalogue))
    missing, problems = 0, []
    for file, catalogue in catalogues.items():
        translated = sum(is_translated(message) for message in catalogue if message.id)
        print(f"{file.stem}: {translated} of {len(catalogue)} texts")
        missing += len(catalogue) - translated
        problems += [f"{file.name}: {problem}" for problem in find_problems(catalogue)]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems or (is_check and missing) else 0


def extract_texts() -> Catalog:
    """Return the texts in the code, literals of `tr`, `translate` and `Text`, and of the desktop entry and metainfo.

    Those of commands stay English.
    """
    template = Catalog(header_comment=_HEADER, fuzzy=False)
    files = [file for file in (project.ROOT / "plantdesk").rglob("*.py") if "cli" not in file.parts]
    for file in sorted(files):
        locations = [(file.parent.relative_to(project.ROOT).as_posix(), 0)]  # a file moves more often than its folder
        for text, context in _find_texts(ast.parse(file.read_text(encoding="utf-8"))):
            template.add(text, locations=locations, context=context)
    for text in _find_resource_texts():
        template.add(text, locations=[("resources", 0)])
    return template


def _find_resource_texts() -> Iterator[str]:
    """Yield the texts of desktop entry and metainfo that msgfmt translates; those of releases stay English."""
    stem = project.RESOURCES / project.APP_ID
    entry = stem.with_name(f"{stem.name}.desktop").read_text(encoding="utf-8")
    yield from re.findall("^(?:GenericName|Comment|Keywords)=(.*)$", entry, re.MULTILINE)
    for part in ET.parse(stem.with_name(f"{stem.name}.metainfo.xml")).getroot():  # noqa: S314 - our own file
        elements = part.iter() if part.tag != "releases" else ()
        yield from (" ".join((element.text or "").split()) for element in elements if element.tag in _TAGS)


def _find_texts(tree: ast.AST) -> Iterator[tuple[str | tuple[str, str], str | None]]:
    """Yield each text to be translated, or singular and plural of a text with a count, and its context."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        name = ast.unparse(call.func).split(".")[-1]
        texts = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        if name == "translate" and len(texts) > 1:
            texts = texts[1:]
        elif name not in {"tr", "Text"} or not texts:
            continue
        one = next((ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg == "one"), None)
        if any(map(str.isalpha, texts[0])):
            yield (one, texts[0]) if name == "Text" and one else texts[0], texts[1] if len(texts) > 1 else None


def update_catalogue(file: Path, template: Catalog) -> Catalog:
    """Return the translations in a file for the texts of the template; those of texts that are gone are dropped."""
    with file.open("rb") as stream:
        catalogue = read_po(stream, locale=file.stem)
    catalogue.header_comment, catalogue.fuzzy = _HEADER, False
    catalogue.update(template, no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    return catalogue


def find_problems(catalogue: Catalog) -> list[str]:
    """Return why translations cannot be used: other fields or mnemonics than the text's."""
    return [
        f"{sources[-1]!r} is translated to {found!r}, with other fields or mnemonics"
        for message in catalogue
        if message.id and is_translated(message)
        for sources, found in pair_translations(message)
        if not any(is_usable(found, source) for source in sources)
    ]


def is_usable(translation: str, source: str) -> bool:
    """Return whether a translation is not blank, and has the fields (a count excepted) and mnemonics of its source."""
    if not translation.strip() or not set(_CONTROLS.findall(translation)) <= set(source):
        return False
    if not _MARKS.search(source + translation):
        return True
    try:
        fields, allowed = _count_fields(translation), _count_fields(source)
    except ValueError:  # a single brace
        return False
    missing = {name for name, *_ in allowed - fields}
    return not fields - allowed and missing <= {"count"} and _count_mnemonics(translation) == _count_mnemonics(source)


def _count_fields(template: str) -> Counter[tuple[str, str | None, str | None]]:
    parts = string.Formatter().parse(template)
    return Counter((name, spec, conversion) for _, name, spec, conversion in parts if name is not None)


def _count_mnemonics(text: str) -> int:
    return text.replace("&&", "").count("&")


def pair_translations(message: Message) -> list[tuple[tuple[str, ...], str]]:
    """Return each translation with the forms of its text in English."""
    if isinstance(message.id, str):
        return [((message.id,), str(message.string))]
    return [(tuple(message.id), translation) for translation in message.string or ()]


def is_translated(message: Message) -> bool:
    """Return whether all forms of a text are translated."""
    return all([message.string] if isinstance(message.id, str) else message.string or [""])


def format_catalogue(catalogue: Catalog) -> bytes:
    """Return a file of texts without dates and line numbers, which would differ after each change of the code."""
    stream = io.BytesIO()
    write_po(stream, catalogue, width=_WIDTH, include_lineno=False, omit_header=False, sort_by_file=True)
    lines = stream.getvalue().splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(tuple(b'"' + name for name in _UNUSED)))


if __name__ == "__main__":
    sys.exit(main())
