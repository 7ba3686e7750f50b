from __future__ import annotations

import string
import textwrap
from typing import TYPE_CHECKING

import pytest

from tests.support import architecture as rules
from tests.support.architecture import Module

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.architecture import Rule

RULES: list[Rule] = [
    rules.layers,
    rules.store_internals_stay_inside,
    rules.ui_layers,
    rules.ui_threads_in_background_only,
    rules.qt_in_the_window_only,
    rules.web_in_the_api_only,
    rules.psycopg_in_its_store_only,
    rules.sqlmodel_in_the_store_only,
    rules.wrapped_widgets,
    rules.home_by_paths,
    rules.possessive_groups,
    rules.file_operations,
    rules.texts_are_literals,
    rules.translations_are_found,
    rules.errors_are_translated,
    rules.no_cycles,
    rules.short_files,
    rules.short_functions,
    rules.telling_names,
]


@pytest.fixture(scope="module")
def plantdesk() -> rules.Modules:
    return rules.read(rules.ROOT / "plantdesk")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_plantdesk_keeps_the_rule(rule: Rule, plantdesk: rules.Modules) -> None:
    assert rule(plantdesk) == []


def test_the_top_level_is_as_it_was_laid_out() -> None:
    assert rules.top_level(rules.ROOT) == []


# --- each rule can fail -------------------------------------------------------------------------


def violations(rule: Rule, **sources: str) -> list[str]:
    """Apply a rule to made-up modules: `store__writer` stands for plantdesk.store.writer."""
    modules = [Module(f"plantdesk.{name.replace('__', '.')}", textwrap.dedent(text)) for name, text in sources.items()]
    return rule({module.name: module for module in modules})


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("domain__records", "store"),
        ("domain__search", "platform.paths"),
        ("platform__paths", "store"),
        ("store", "ui"),
        ("store__writer", "api.app"),
        ("transfer", "ui"),
        ("transfer", "api"),
        ("ui__api_page", "api.server"),
        ("api", "ui"),
        ("api", "transfer"),
        ("ui", "desktop"),
        ("api", "cli"),
        ("headless", "cli.commands.opening"),
        ("desktop", "headless"),
        ("new_module", "store"),
        ("cli", "new_module"),
    ],
)
def test_an_import_against_the_layers_is_found(importer: str, imported: str) -> None:
    name = f"plantdesk.{imported}"
    assert violations(rules.layers, **{importer: f"import {name}"})
    assert violations(rules.layers, **{importer: f"from plantdesk import {imported.partition('.')[0]}"})
    assert violations(rules.layers, **{importer: f"def f():\n    from {name} import thing"})
    assert violations(rules.layers, **{importer: f"if TYPE_CHECKING:\n    from {name} import Thing"})


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("store", "domain.records"),
        ("ui", "store"),
        ("ui", "transfer"),
        ("cli__main", "cli.commands.tokens"),
        ("cli", "headless"),
    ],
)
def test_an_import_along_the_layers_is_fine(importer: str, imported: str) -> None:
    assert not violations(rules.layers, **{importer: f"import plantdesk.{imported}"})


def test_an_import_from_inside_the_store_is_found() -> None:
    behind = "from plantdesk.store.writer import Writer"
    assert violations(rules.store_internals_stay_inside, ui="from plantdesk.store import writer", store__writer="")
    assert violations(rules.store_internals_stay_inside, ui=behind, store__writer="")
    assert not violations(rules.store_internals_stay_inside, store__store=behind, store__writer="")
    assert not violations(rules.store_internals_stay_inside, ui="from plantdesk.store import Store", store__writer="")


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("theme__icons", "widgets.plain_label"),
        ("widgets__info_bar", "plants.form"),
        ("widgets__info_bar", "bridge"),
        ("texts", "theme.colors"),
        ("bridge", "plants.form"),
        ("backups__controller", "plants.form"),
        ("backups__controller", "workspace"),
    ],
)
def test_an_import_against_the_layers_of_the_window_is_found(importer: str, imported: str) -> None:
    assert violations(rules.ui_layers, **{f"ui__{importer}": f"import plantdesk.ui.{imported}", "ui__plants__form": ""})


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("widgets__info_bar", "theme.icons"),
        ("plants__form", "widgets.info_bar"),
        ("plants__form", "plants.table.view"),
        ("plants__form", "bridge"),
        ("workspace", "plants.form"),
        ("store_queries", "bridge"),
    ],
)
def test_an_import_along_the_layers_of_the_window_is_fine(importer: str, imported: str) -> None:
    source = f"from plantdesk.ui.{imported} import Thing"
    assert not violations(rules.ui_layers, **{f"ui__{importer}": source, "ui__plants__browser": ""})


def test_a_thread_of_a_feature_is_found() -> None:
    source = "def f():\n    import threading"
    assert violations(rules.ui_threads_in_background_only, ui__plants__form=source)
    assert not violations(rules.ui_threads_in_background_only, ui__background=source, store__writer=source)


@pytest.mark.parametrize("importer", ["records", "store", "api", "transfer", "cli", "headless", "commands__token"])
def test_qt_outside_the_window_is_found(importer: str) -> None:
    assert violations(rules.qt_in_the_window_only, **{importer: "def f():\n    from PySide6.QtCore import QObject"})


@pytest.mark.parametrize("importer", ["ui__main_window", "desktop"])
def test_qt_in_the_window_is_fine(importer: str) -> None:
    assert not violations(rules.qt_in_the_window_only, **{importer: "import PySide6.QtCore"})


@pytest.mark.parametrize("importer", ["store", "ui", "desktop", "headless"])
@pytest.mark.parametrize("library", ["starlette.routing", "uvicorn"])
def test_the_web_outside_the_api_is_found(importer: str, library: str) -> None:
    assert violations(rules.web_in_the_api_only, **{importer: f"import {library}"})
    assert not violations(rules.web_in_the_api_only, api__app=f"import {library}")


def test_the_driver_of_postgresql_outside_its_store_is_found() -> None:
    source = "def f():\n    from psycopg import errors"
    assert violations(rules.psycopg_in_its_store_only, store__sqlite__queries=source, store__locations=source)
    assert not violations(rules.psycopg_in_its_store_only, store__postgres__reader=source)


@pytest.mark.parametrize("imported", ["sqlmodel", "sqlalchemy.pool"])
def test_sqlmodel_outside_the_store_is_found(imported: str) -> None:
    source = f"def f():\n    import {imported}"
    assert violations(rules.sqlmodel_in_the_store_only, ui__page=source)
    assert not violations(rules.sqlmodel_in_the_store_only, store__reader=source)


@pytest.mark.parametrize("name", ["QLabel", "QMessageBox", "QDialog"])
def test_a_widget_that_has_a_wrapper_is_found(name: str) -> None:
    source = f"from PySide6.QtWidgets import {name}"
    assert violations(rules.wrapped_widgets, ui__page=source)
    wrapper = rules.WRAPPED[name].removeprefix("plantdesk.").replace(".", "__")
    assert not violations(rules.wrapped_widgets, **{wrapper: source})


def test_a_tool_tip_of_its_own_is_found() -> None:
    source = "def f(widget): widget.setToolTip('x')"
    assert violations(rules.wrapped_widgets, ui__page=source)
    assert not violations(rules.wrapped_widgets, ui__widgets__plain_text=source)


def test_a_home_folder_asked_elsewhere_is_found() -> None:
    source = "def f(): return Path.home()"
    assert violations(rules.home_by_paths, ui__page=source)
    assert not violations(rules.home_by_paths, platform__paths=source)


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
    found = rules.templates(plantdesk)
    assert found["{count:,} plants"] == "1 plant"
    assert found["There is no plant with ID {id}. `plantdesk list` shows the plants."] == ""
    for template in (*found, *found.values()):
        fields = [field for _, field, *_ in string.Formatter().parse(template) if field is not None]
        assert all(map(str.isidentifier, fields)), template


def test_a_cycle_is_found() -> None:
    back = "if TYPE_CHECKING:\n    from plantdesk.c import C"
    found = violations(
        rules.no_cycles, a=back, b="from plantdesk.a import A", c="def f():\n    from plantdesk import b"
    )
    assert len(found) == 1
    assert found[0].count("→") == 3
    assert not violations(rules.no_cycles, a="", b="import plantdesk.a", c="import plantdesk.a, plantdesk.b")


def test_a_long_file_is_found() -> None:
    assert violations(rules.short_files, a="x = 1\n" * 601)
    assert not violations(rules.short_files, a="x = 1\n" * 600)


def test_long_functions_are_found() -> None:
    long, short = "def f():\n" + "    x = 1\n" * 19, "def g():\n    pass\n"
    assert violations(rules.short_functions, a=long)
    assert not violations(rules.short_functions, a=long + short)


def test_a_name_that_says_nothing_is_found() -> None:
    assert violations(rules.telling_names, ui__helpers="")


def test_a_strange_thing_at_the_top_is_found(tmp_path: Path) -> None:
    (tmp_path / "packaging").mkdir()
    (tmp_path / ".venv").mkdir()
    assert not rules.top_level(tmp_path)
    (tmp_path / "scripts").mkdir()
    (tmp_path / "packaging" / "__init__.py").touch()
    assert len(rules.top_level(tmp_path)) == 3
