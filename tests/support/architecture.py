"""Rules of the code that no linter knows: functions from source code to lists of violations, for test_architecture.py.

What may import what is checked by import-linter; complexity, docstrings and banned classes by ruff (pyproject.toml).
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).resolve().parents[2]
MAX_FILE_LINES = 600
PLAIN_TEXT = "plantdesk.ui.widgets.plain_text"

TOP_LEVEL = {"pyproject.toml", "plantdesk", "resources", "tests", "packaging"}
TOP_LEVEL |= {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE"}
PACKAGING = {"dev.py", "build.py", "pins.py", "project.py", "translations.py", "build_hook.py"}
PACKAGING |= {"README.md", "icons.sh", "plantdesk.spec"}
PACKAGING |= {"hashes", "bundle", "linux", "windows", "macos", "package_tests"}
MADE_BY_TOOLS = {"__pycache__", "build", "dist", "uv.lock"}  # git ignores them
# Functions that change what is under a name, or open it; of `os` and `shutil`, and methods of `Path`.
FILE_FUNCTIONS = {"open", "chmod", "unlink", "remove", "rename", "replace", "rmdir", "rmtree", "mkdir", "makedirs"}
FILE_FUNCTIONS |= {"link", "symlink", "truncate", "utime", "chown", "mkfifo", "copyfile", "copy", "copy2", "move"}
FILE_METHODS = {"chmod", "unlink", "rmdir", "mkdir", "touch", "write_text", "write_bytes", "symlink_to", "hardlink_to"}
# The modules that may use them, since somebody else may have put something under the name (SECURITY, promise 5), and a
# descriptor of a database releases its locks when it is closed. What each must do is in the comment.
FILE_OPERATIONS = {
    # Beside a store, which may come from anywhere, others use `open_regular`.
    # An overwritten file, of whose name and inode it is sure; the name of an index, which is no database.
    "plantdesk.store.sqlite.files.store_file": {"copyfile", "unlink"},
    "plantdesk.store.sqlite.files.backup_folder": {"unlink", "rename", "mkdir"},  # backups by their names, links too
    "plantdesk.platform.atomic_files": {"open", "replace", "unlink"},  # names of mkstemp, O_EXCL
    # In folders of the user alone: 0700, or of `tempfile`.
    "plantdesk.platform.paths": {"mkdir", "chmod", "open"},  # O_NOFOLLOW, O_PATH, then fstat
    "plantdesk.platform.settings": {"replace"},
    "plantdesk.platform.unsaved_file": {"open", "unlink"},
    "plantdesk.platform.languages": {"open"},
    "plantdesk.platform.logs": {"open"},
    "plantdesk.api.sockets": {"chmod"},
    "plantdesk.api.announcement": {"open", "unlink", "rmdir"},
    "plantdesk.platform.login": {"mkdir", "write_text", "write_bytes", "unlink"},
    "plantdesk.transfer.known_names": {"unlink"},  # the name itself; what it opens is checked before
    # What the user names: no database (`is_database`), or a new file (O_EXCL).
    "plantdesk.transfer.files": {"open"},
    "plantdesk.cli.commands.tokens": {"open"},
    # Devices and pipes.
    "plantdesk.platform.output": {"open"},
    "plantdesk.platform.window_requests": {"open"},  # Windows
}
# What takes a text for users, besides the exceptions.
TAKE_TEXTS = {"Text", "filled", "InvalidField", "Refused", "FileSyntaxError", "ArgumentTypeError", "ArgumentError"}


@dataclass(frozen=True)
class Module:
    """One source file. `name` is the dotted one, of a package without `__init__`."""

    name: str
    source: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)


Modules: TypeAlias = "Mapping[str, Module]"
Rule: TypeAlias = "Callable[[Modules], list[str]]"


def read(package: Path) -> Modules:
    """Return the modules of a package on disk, by name."""
    modules = {}
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        modules[name] = Module(name, file.read_text(encoding="utf-8"))
    return modules


def plain_tool_tips(modules: Modules) -> list[str]:
    """Qt shows a tool tip that looks like HTML as HTML; text from outside is plain."""
    return [
        f"{module.name} calls setToolTip; use {PLAIN_TEXT}"
        for module in modules.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute) and node.attr == "setToolTip" and module.name != PLAIN_TEXT
    ]


#: A group that gives nothing back: `(…)*+`, `(?>…)`.
_POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{+[^{}]*\}+)\+|\(\?>")


def possessive_groups(modules: Modules) -> list[str]:
    """Python before 3.11.5 matches too much by them (gh-106052): Debian 12 has 3.11.2. Single characters are fine."""
    return [
        f"{module.name}, line {node.lineno}: a possessive or atomic group"
        for module in modules.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _POSSESSIVE_GROUP.search(node.value)
    ]


def file_operations(modules: Modules) -> list[str]:
    """Only the modules that were checked for links and locks open or change files by their names."""
    return [
        f"{module.name}, line {node.lineno}: {operation} of a file"
        for module in modules.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and (operation := _find_file_operation(node)) is not None
        if operation not in FILE_OPERATIONS.get(module.name, ())
    ]


def _find_file_operation(call: ast.Call) -> str | None:
    """Return the name of a function that opens or changes a file."""
    match call.func:
        case ast.Name("open"):
            return "open"
        case ast.Attribute(ast.Name("os" | "shutil"), name) if name in FILE_FUNCTIONS:
            return name
        case ast.Attribute(_, name) if name in FILE_METHODS:
            return name
        case ast.Attribute(_, "replace" | "rename" as name) if len(call.args) == 1:  # those of `str` take two
            return name
        case ast.Attribute(_, "open") if call.args and _is_mode(call.args[0]):
            return "open"
    return None


def _is_mode(argument: ast.expr) -> bool:
    return isinstance(argument, ast.Constant) and set(str(argument.value)) <= set("rwxabt+")


def texts_are_literals(modules: Modules) -> list[str]:
    """A text for users is a template that tools can collect, and values; nothing else puts sentences together."""
    errors = _with_subclasses("PlantDeskError", modules)
    calls = [(module, call) for module in modules.values() for call in _find_calls(module.tree)]
    takers = [(module, call) for module, call in calls if _find_name(call) in TAKE_TEXTS | errors]
    takers += [
        (module, call)
        for module in modules.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef) and node.name in errors
        for call in _find_calls(node)
        if _find_name(call) == "__init__"
    ]
    violations = {
        f"{module.name}, line {call.lineno}: {ast.unparse(sentence)} is not the template of a Text"
        for module, call in takers
        for part in _find_values(call)
        for sentence in _find_sentences(part)
    }
    violations |= {
        f"{module.name}, line {call.lineno}: the template of a Text is not a literal"
        for module, call in calls
        if _find_name(call) == "Text" and not _are_literals(_find_templates(call))
    }
    return sorted(violations)


def translations_are_found(modules: Modules) -> list[str]:
    """`dev.py texts` collects literals of `self.tr` and `translate`; the context of `tr` is the class around it."""
    return [
        f"{module.name}, line {call.lineno}: {ast.unparse(call)}"
        for module in modules.values()
        for call in _find_calls(module.tree)
        if (
            _find_name(call) in {"tr", "_tr"}
            and (ast.unparse(call.func) != "self.tr" or not _are_literals(call.args[:1]))
        )
        or (_find_name(call) == "translate" and len(call.args) == 2 and not _are_literals(call.args))
    ]


def errors_are_translated(modules: Modules) -> list[str]:
    """The window shows errors by `error_text`: their `str()` is English."""
    return [
        f"{module.name}, line {node.lineno}: {ast.unparse(node)}"
        for module in modules.values()
        if module.name.startswith(("plantdesk.ui.", "plantdesk.desktop"))
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FormattedValue | ast.Call)
        if any(ast.unparse(value).split(".")[-1] == "error" for value in _find_converted(node))
    ]


def _find_converted(node: ast.FormattedValue | ast.Call) -> list[ast.expr]:
    """Return what a node converts to a string."""
    if isinstance(node, ast.FormattedValue):
        return [node.value]
    return node.args if _find_name(node) == "str" else []


def _are_literals(nodes: list[ast.expr]) -> bool:
    return all(isinstance(node, ast.Constant) for node in nodes)


def list_templates(modules: Modules) -> dict[str, str]:
    """Return the templates of all texts in English, with that for a count of one, or nothing: what is translated."""
    calls = [call for module in modules.values() for call in _find_calls(module.tree)]
    texts = [_find_templates(call) for call in calls if _find_name(call) == "Text"]
    return {many: one for many, one, *_ in ((*map(ast.literal_eval, text), "") for text in texts)}


def _with_subclasses(name: str, modules: Modules) -> set[str]:
    classes = [node for module in modules.values() for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef)]
    known: set[str] = set()
    new = {name}
    while new:
        known |= new
        bases = {node.name: {ast.unparse(base).split(".")[-1] for base in node.bases} for node in classes}
        new = {node for node in bases if known & bases[node]} - known
    return known


def _find_calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _find_name(call: ast.Call) -> str:
    return ast.unparse(call.func).split(".")[-1]


def _find_templates(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "one")]


def _find_values(call: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call that are no templates of a Text."""
    if _find_name(call) == "Text":
        return [keyword.value for keyword in call.keywords if keyword.arg != "one"]
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _find_sentences(node: ast.AST) -> list[ast.AST]:
    """Return what in an expression is a sentence for users, or puts strings together."""
    match node:
        case ast.Constant(str(text)):
            return [node] if " " in text and any(map(str.islower, text)) else []
        case ast.JoinedStr(parts):
            fixed = "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
            return [node] if any(map(str.isalpha, fixed)) else []
        case ast.BinOp(ast.Constant(str()) | ast.JoinedStr()) | ast.BinOp(_, _, ast.Constant(str()) | ast.JoinedStr()):
            return [node]
        case ast.Call(ast.Attribute(ast.Constant(str()), "format")):
            return [node]
        case ast.Call():
            parts = _find_values(node) if _find_name(node) in {"Text", "filled", "joined", "str"} else []
            return [sentence for part in parts for sentence in _find_sentences(part)]
    return [sentence for child in ast.iter_child_nodes(node) for sentence in _find_sentences(child)]


def short_files(modules: Modules) -> list[str]:
    lengths = {module.name: len(module.source.splitlines()) for module in modules.values()}
    return [f"{name} has {length} lines" for name, length in lengths.items() if length > MAX_FILE_LINES]


def one_assignment_a_line(modules: Modules) -> list[str]:
    """Only values that need each other, as in a swap, are assigned together."""
    return [
        f"{module.name}:{node.lineno} assigns several values"
        for module in modules.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)
        if not {*map(ast.unparse, node.targets[0].elts)} & {ast.unparse(part) for part in ast.walk(node.value)}
    ]


def top_level(root: Path) -> list[str]:
    """The folder that a stranger opens holds what is fixed, dot files, and what tools made."""
    entries = {entry.name for entry in root.iterdir() if not entry.name.startswith(".")}
    strange = entries - TOP_LEVEL - MADE_BY_TOOLS
    violations = [f"{name} does not belong there" for name in sorted(strange) if not name.endswith(".egg-info")]
    recipes = {entry.name for entry in (root / "packaging").iterdir()}
    violations += [f"packaging/{name} does not belong there" for name in sorted(recipes - PACKAGING - MADE_BY_TOOLS)]
    if "__init__.py" in recipes:
        violations.append("packaging/__init__.py shadows the library packaging")
    return violations
