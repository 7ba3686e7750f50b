import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import build
import dev
from plantdesk.cli.main import main
from plantdesk.cli.options import EPILOG, build_parser
from plantdesk.platform import manual
from tests.test_headless import serving

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "resources" / "manual").glob("*.md"))]
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
FOLDERS = ("packaging", "tests", "plantdesk/api", "plantdesk/store", "plantdesk/transfer", "plantdesk/ui")
#: Texts for those who change PlantDesk, and the bytes that each may have.
GUIDES = {CONTRIBUTING: 8 * 1024, **{ROOT / folder / "README.md": 5 * 1024 for folder in FOLDERS}}
README = PAGES[0].read_text(encoding="utf-8")
TEXTS = {page.stem: page.read_text(encoding="utf-8") for page in PAGES}
ALL_TEXT = re.sub(r"^(## |\| \[`).*$", "", "\n".join(TEXTS.values()), flags=re.MULTILINE)
SHOWN = sorted(set(re.findall(r"plantdesk(?: [a-z]+)?(?: (?:[A-Za-z0-9-]|\"[^\"\n]*\")+)*(?=`| >|\)| *\n)", ALL_TEXT)))


def commands(top: argparse.ArgumentParser, path: str = "plantdesk") -> dict[str, argparse.ArgumentParser]:
    """Return all parsers by command."""
    inner = [action for action in top._actions if isinstance(action, argparse._SubParsersAction)]  # noqa: SLF001
    if not inner:
        return {path: top}
    found = {} if path != "plantdesk" else {path: top}
    for name, command in inner[0].choices.items():
        found |= commands(command, f"{path} {name}")
    return found


ALL = commands(build_parser())


def name_of(page: Path) -> str:
    """Return the name of a page for the names of tests."""
    return "-".join(page.relative_to(ROOT).with_suffix("").parts)


@pytest.mark.parametrize("command", ALL)
def test_every_command_has_a_section_in_the_manual(command: str) -> None:
    assert f"\n## {command}\n" in TEXTS["commands"]
    assert f"[`{command}`](#{command.replace(' ', '-')})" in TEXTS["commands"]


@pytest.mark.parametrize("command", ALL)
def test_every_option_has_help_and_is_in_the_manual(command: str) -> None:
    for action in ALL[command]._actions:  # noqa: SLF001 - argparse has no public way to list them
        assert action.help or isinstance(action, argparse._SubParsersAction)  # noqa: SLF001
        if action.help != argparse.SUPPRESS:
            assert all(option in TEXTS["commands"] for option in action.option_strings if option.startswith("--"))


@pytest.mark.parametrize("line", [line for line in SHOWN if "ARGUMENTS" not in line])
def test_every_command_in_readme_and_manual_parses(line: str) -> None:
    build_parser().parse_args(shlex.split(line)[1:])


def test_the_two_developer_commands_are_in_the_readme() -> None:
    assert "python3 packaging/dev.py run " in README
    assert "python3 packaging/dev.py test " in README


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`plantdesk` on the PATH."""
    if os.name != "posix":
        pytest.skip("the program is a shell script here")
    script = tmp_path / "bin" / "plantdesk"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m plantdesk "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.mark.usefixtures("program")
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_first_minute_of_the_readme(tmp_path: Path) -> None:
    minute = README.partition("## The first minute")[2].partition("\n## ")[0]
    (tmp_path / "plants.csv").write_text(re.findall("```csv\n(.*?)```", minute, re.DOTALL)[0], encoding="utf-8")
    with serving() as (_, port):
        commands = "".join(re.findall("```sh\n(.*?)```", minute, re.DOTALL)).replace("8721", str(port))
        run = ["sh", "-e", "-c", commands]
        done = subprocess.run(run, cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.endswith('{"name":"Ivy","tag":"hall"}')
    for plant_id, name in ((1, "Monstera deliciosa"), (7, "Ivy")):
        got = subprocess.run(["plantdesk", "get", str(plant_id)], stdout=subprocess.PIPE, text=True, check=True)
        assert name in got.stdout


@pytest.mark.usefixtures("program")
def test_the_python_sample_adds_its_plant(tmp_path: Path) -> None:
    sample = re.findall("```python\n(.*?)```", TEXTS["api"], re.DOTALL)[0]
    with serving():
        create = ["plantdesk", "token", "create", "garden-sync", "--output", "garden-sync.token"]
        subprocess.run(create, cwd=tmp_path, check=True)
        done = subprocess.run(
            [sys.executable, "-c", sample], cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True
        )
    assert done.stdout == "{'name': 'Monstera deliciosa', 'tag': 'office'}\n"


NODE = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")


@NODE
def test_the_recipe_for_node_adds_its_plant(tmp_path: Path) -> None:
    (sample,) = re.findall("```js\n(.*?)```", TEXTS["recipes"], re.DOTALL)
    with serving() as (_, port):
        main(["token", "create", "garden-sync", "--output", str(tmp_path / "garden-sync.token")])
        (tmp_path / "send.mjs").write_text(sample.replace("8721", str(port)), encoding="utf-8")
        command = ["node", "send.mjs"]
        done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == "200 { name: 'Monstera deliciosa', tag: 'office' }\n"


@NODE
def test_the_recipe_for_node_red_makes_a_request() -> None:
    (flow,) = re.findall("```json\n(.*?)```", TEXTS["recipes"], re.DOTALL)
    nodes = {node["id"]: node for node in json.loads(flow)}
    assert [wire for node in nodes.values() for wires in node["wires"] for wire in wires] == ["p2", "p3"]
    body = f"const msg = {{}}, env = {{get: name => name}}; const out = (() => {{{nodes['p2']['func']}}})();"
    command = ["node", "-e", f"{body} console.log(JSON.stringify(out))"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    assert json.loads(done.stdout) == {
        "headers": {"Authorization": "Bearer PLANTDESK_TOKEN"},
        "payload": {"id": 7, "name": "Monstera deliciosa", "tag": "office"},
    }


def test_the_recipe_for_cron_imports_what_is_new(tmp_path: Path) -> None:
    (line,) = re.findall(r"`15 3 \* \* \*  (.*)`", TEXTS["recipes"])
    file = tmp_path / "new-plants.csv"
    file.write_text("id,name\n1,Fern\n", encoding="utf-8")
    for _ in range(2):
        assert main(shlex.split(line.replace("$HOME", str(tmp_path)))[1:]) == 0
    assert main(["get", "1"]) == 0


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_the_units_for_systemd_are_valid(tmp_path: Path) -> None:
    for text in re.findall("```ini\n(.*?)```", TEXTS["recipes"], re.DOTALL):
        for name, unit in re.findall(r"# (\S+\.\w+)\n(.*?)(?=\n# |\Z)", text, re.DOTALL):
            (tmp_path / name).write_text(unit.replace("/usr/bin/plantdesk", sys.executable), encoding="utf-8")
    files = [str(file) for file in sorted(tmp_path.iterdir())]
    assert len(files) == 2
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    subprocess.run(["systemd-analyze", "verify", "--user", *files], env=environment, check=True)


def test_the_members_of_json_are_in_the_manual(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["add", "--name", "Fern", "--tag", "bed"]) == 0
    capfd.readouterr()
    found: dict[str, set[str]] = {}
    for command in (["list", "--json"], ["get", "1", "--json"], ["export", "-", "--format", "json"]):
        assert main(command) == 0
        plant = json.loads(capfd.readouterr().out)
        found[command[0]] = set(plant if isinstance(plant, dict) else plant[0])
    file = tmp_path / "plants.csv"
    file.write_text('name\n""\n', encoding="utf-8")
    main(["import", str(file), "--json", "--dry-run"])
    answer = json.loads(capfd.readouterr().out)
    table = TEXTS["files"]
    assert all(f"`{key}`" in table for members in (*found.values(), answer, answer["files"][0]) for key in members)
    assert found["list"] == found["get"]
    assert found["export"] == found["list"] - {"note", "source_name"}


@pytest.mark.parametrize(("page", "size"), [*GUIDES.items(), (PAGES[0], 6 * 1024)])
def test_a_guide_is_short(page: Path, size: int) -> None:
    assert len(page.read_bytes()) <= size


def test_each_entry_of_the_last_releases_is_one_sentence() -> None:
    """The releases since 0.1.0."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition("\n## [0.1.0]")[0]
    for part in text.split("\n## [")[1:]:
        assert len(part.splitlines()) <= 120
        entries = re.split("^- ", part, flags=re.MULTILINE)
        assert [entry for entry in entries if re.search(r"[.;] +[A-Z]", entry)] == []


@pytest.mark.parametrize(("page", "lines"), [("news", 40), ("recipes", 80)])
def test_a_page_of_the_manual_is_short(page: str, lines: int) -> None:
    assert len(TEXTS[page].splitlines()) <= lines


@pytest.mark.parametrize("page", [*PAGES, *GUIDES], ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            name, _, anchor = target.partition("#")
            file = page.parent / name if name else page
            assert file.exists(), target
            assert not anchor or anchor in anchors_of(file), target


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall("^#+ (.*)", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^a-z0-9 -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.fixture(scope="module")
def known_names() -> set[str]:
    """All names of files, folders and code."""
    files = [file for folder in ("plantdesk", "tests", "packaging") for file in (ROOT / folder).rglob("*.py")]
    known = {part for file in files for part in file.relative_to(ROOT).with_suffix("").parts}
    return known.union(*(re.findall(r"\w+", file.read_text("utf-8")) for file in files if file != Path(__file__)))


@pytest.mark.parametrize("guide", GUIDES, ids=name_of)
def test_the_names_in_a_guide_are_in_the_code(guide: Path, known_names: set[str]) -> None:
    text = guide.read_text(encoding="utf-8")
    named = {part for name in re.findall(r"`([A-Za-z_./]+)`", text) for part in re.split("[./]", name)}
    assert {name for name in named if re.search("_|[a-z][A-Z]", name)} - known_names == set()


#: What is named as a file or a folder: it has a slash or a suffix.
_FILE = re.compile(r"`(?!\.dev/)([\w.-]+/[\w./-]*|[\w.-]+\.(?:py|md|toml|tsv|txt|yml|nsi|sh|spec))`")


@pytest.mark.parametrize("guide", GUIDES, ids=name_of)
def test_the_files_in_a_guide_are_there(guide: Path) -> None:
    """Each is in the top folder, that of the guide, or one that its paragraph names; a module may lack its suffix."""
    for paragraph in re.split(r"\n(?=\n|- |\d\. |\|)", guide.read_text(encoding="utf-8")):
        names = _FILE.findall(paragraph)
        tops = [ROOT, guide.parent, ROOT / ".github" / "workflows"]
        folders = [*tops, *(top / name for top in tops for name in names)]
        places = {name: [folder / f"{name}{end}" for folder in folders for end in ("", ".py")] for name in names}
        assert [name for name in names if not any(place.exists() for place in places[name])] == []


@pytest.mark.parametrize("folder", [folder for folder in FOLDERS if "/" in folder])
def test_the_modules_in_the_table_of_a_folder_are_there(folder: str) -> None:
    table = re.findall(r"^\|.*", (ROOT / folder / "README.md").read_text("utf-8").partition("\n## ")[0], re.MULTILINE)
    modules = re.findall(r"`([a-z_/]+)`", "\n".join(table))
    assert len(modules) > len(table) - 2
    assert [name for name in modules if not any((ROOT / folder / f"{name}{end}").exists() for end in ("", ".py"))] == []


@pytest.mark.parametrize("guide", GUIDES, ids=name_of)
def test_the_commands_in_a_guide_are_there(guide: Path) -> None:
    text = guide.read_text(encoding="utf-8")
    assert set(re.findall(r"\bdev\.py ([a-z]+)", text)) <= dev.COMMANDS.keys()
    assert set(re.findall(r"\bbuild\.py ([a-z]+)", text)) <= build.RECIPES.keys()
    for module in re.findall(r"-m ([\w.]+)", text):
        assert find_spec(module) is not None, module


def test_the_help_lists_the_pages_of_the_manual() -> None:
    listed = EPILOG.partition("a page of the manual: ")[2].partition("\n\n")[0]
    assert tuple(listed.replace(",", "").split()) == manual.PAGES


@pytest.mark.parametrize("page", manual.PAGES)
def test_help_prints_a_page(page: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["help", page]) == 0
    printed = capfd.readouterr().out
    assert printed.startswith(TEXTS[page].partition("\n")[0])
    assert "](" not in printed


def test_help_of_a_command_has_what_the_manual_says(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        main(["help", "tag", "merge"])
    assert done.value.code == 0
    assert "plantdesk tag merge kitchen hall rooms" in capfd.readouterr().out


def test_no_text_has_a_conflict_of_a_merge() -> None:
    texts = [*PAGES, *GUIDES, *ROOT.glob("*.md"), *(ROOT / "resources" / "languages").glob("*.po*")]
    marked = [file.name for file in texts if re.search(r"^(<{7} |>{7} )", file.read_text("utf-8"), re.MULTILINE)]
    assert marked == []
