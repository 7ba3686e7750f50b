import string
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.support import architecture as rules
from tests.support.architecture import Module, Rule

RULES: list[Rule] = [
    rules.plain_tool_tips,
    rules.possessive_groups,
    rules.file_operations,
    rules.texts_are_literals,
    rules.translations_are_found,
    rules.errors_are_translated,
    rules.short_files,
    rules.one_assignment_a_line,
]


@pytest.fixture(scope="module")
def plantdesk() -> rules.Modules:
    return rules.read(rules.ROOT / "plantdesk")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_plantdesk_keeps_the_rule(rule: Rule, plantdesk: rules.Modules) -> None:
    assert rule(plantdesk) == []


def test_layers_and_features_import_in_one_direction() -> None:
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True, no_logo=True))"
    linted = subprocess.run([sys.executable, "-c", code], cwd=rules.ROOT, capture_output=True, text=True, check=False)
    assert linted.returncode == 0, linted.stdout  # a process of its own, as it changes the loggers


def test_the_top_level_is_as_it_was_laid_out() -> None:
    assert rules.top_level(rules.ROOT) == []


# --- each rule can fail -------------------------------------------------------------------------


def violations(rule: Rule, **sources: str) -> list[str]:
    """Apply a rule to made-up modules: `store__writer` stands for plantdesk.store.writer."""
    modules = [Module(f"plantdesk.{name.replace('__', '.')}", textwrap.dedent(text)) for name, text in sources.items()]
    return rule({module.name: module for module in modules})


def test_a_tool_tip_of_its_own_is_found() -> None:
    source = "def f(widget): widget.setToolTip('x')"
    assert violations(rules.plain_tool_tips, ui__page=source)
    assert not violations(rules.plain_tool_tips, ui__widgets__plain_text=source)


@pytest.mark.parametrize("pattern", ["(?:ab?c)*+", "(ab?c)++", "(ab?c){{1,3}}+", "(?>ab?c)"])
def test_a_possessive_group_is_found(pattern: str) -> None:
    assert violations(rules.possessive_groups, domain__texts=f"A = rf'{{b}}{pattern}'")
    assert not violations(rules.possessive_groups, domain__texts="A = r'[^(]++(?:ab?c)*'")


@pytest.mark.parametrize(
    "call",
    [
        'open("plants.db")',
        "os.open(name, os.O_RDONLY)",
        'path.open("rb")',
        "file.chmod(0o600)",
        "path.replace(other)",
        "path.rename(other)",
        "shutil.rmtree(folder)",
        'path.write_text("x")',
    ],
)
def test_a_file_that_is_opened_or_changed_elsewhere_is_found(call: str) -> None:
    assert violations(rules.file_operations, transfer__columns=call)
    assert violations(rules.file_operations, store__sqlite__queries=f"def f():\n    {call}")


@pytest.mark.parametrize("call", ['text.replace("a", "b")', "dialog.open()", "tags.rename(a, b)", "row._replace(id=1)"])
def test_what_opens_or_changes_no_file_is_fine(call: str) -> None:
    assert violations(rules.file_operations, transfer__columns=call) == []


_ERRORS = "class PlantDeskError(Exception): ...\nclass OwnError(errors.PlantDeskError): ...\n"


@pytest.mark.parametrize(
    "source",
    [
        'raise OwnError(f"There is no plant {number}.")',
        'raise errors.OwnError("There is no plant {}.".format(number))',
        'raise OwnError("There is no plant %s." % number)',
        'raise OwnError("There is no plant " + name)',
        'raise OwnError(1, reason="There is no plant.")',
        'raise OwnError(Text("{first} {second}", first=text, second=f"Line {line}"))',
        'raise OwnError(joined([text, Text("{reason}", reason="Try again.")]))',
        'class TheError(OwnError):\n    def __init__(self): super().__init__("It is gone.")',
        "Text(template)",
        'Text(f"There is no plant {number}.")',
        'Text("{count} plants", one=f"{number} plant")',
        'text.filled(number="an odd number")',
        'InvalidField("id", "The ID is missing.")',
        'raise argparse.ArgumentTypeError(f"{text} is no port")',
    ],
)
def test_a_sentence_that_is_no_template_is_found(source: str) -> None:
    assert violations(rules.texts_are_literals, domain__errors=_ERRORS, store__files=source)


@pytest.mark.parametrize(
    "source",
    [
        'raise OwnError(Text("There is no plant {number:,}."), number=number)',
        'raise OwnError(file.name, Text("It is empty."), names=", ".join(f"“{name}”" for name in names))',
        'text = Text("{count} plants", one="1 plant").filled(count=count)',
        'raise MethodNotAllowedError("GET, HEAD")',
        'raise ValueError(f"{number} is no format")',
        'print(f"{count} plants")',
    ],
)
def test_a_template_with_values_is_fine(source: str) -> None:
    assert violations(rules.texts_are_literals, domain__errors=_ERRORS, store__files=source) == []


@pytest.mark.parametrize(
    "call", ['_tr("Undo")', 'tr("Undo")', 'page.tr("Undo")', 'self.tr(f"Undo {title}")', 'translate("Menus", text)']
)
def test_a_translation_that_is_not_collected_is_found(call: str) -> None:
    assert violations(rules.translations_are_found, ui__page=call)
    assert not violations(rules.translations_are_found, ui__page='self.tr("Undo"), translate("Menus", "Undo")')


@pytest.mark.parametrize("shown", ["str(error)", 'f"No: {error}"', "str(state.error)"])
def test_an_error_that_is_shown_in_english_is_found(shown: str) -> None:
    assert violations(rules.errors_are_translated, ui__page=f"label.setText({shown})")
    assert not violations(
        rules.errors_are_translated, cli__main=f"print({shown})", ui__page="f(str(), error_text(error))"
    )


def test_all_templates_can_be_listed(plantdesk: rules.Modules) -> None:
    found = rules.list_templates(plantdesk)
    assert found["{count:,} plants"] == "1 plant"
    assert found["There is no plant with ID {id}. `plantdesk list` shows the plants."] == ""
    for template in (*found, *found.values()):
        fields = [field for _, field, *_ in string.Formatter().parse(template) if field is not None]
        assert all(map(str.isidentifier, fields)), template


def test_a_long_file_is_found() -> None:
    assert violations(rules.short_files, a="x = 1\n" * 601)
    assert not violations(rules.short_files, a="x = 1\n" * 600)
    assert rules.short_files(rules.read(rules.ROOT / "tests")) == []


def test_several_values_assigned_together_are_found() -> None:
    assert len(violations(rules.one_assignment_a_line, a="x, y = 1, 2\nx, y = y, x")) == 1


def test_a_strange_thing_at_the_top_is_found(tmp_path: Path) -> None:
    (tmp_path / "packaging").mkdir()
    (tmp_path / ".venv").mkdir()
    assert not rules.top_level(tmp_path)
    (tmp_path / "scripts").mkdir()
    (tmp_path / "packaging" / "__init__.py").touch()
    assert len(rules.top_level(tmp_path)) == 3
