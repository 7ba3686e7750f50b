"""The completions in the shells themselves: Tab is pressed, and the arguments that the program gets are compared."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import project
from linux import completions
from plantdesk.cli.main import main
from plantdesk.platform import paths
from plantdesk.store.sqlite.files.backup_folder import BackupFolder
from tests.support.terminals import Terminal
from tests.support.waiting import SECONDS

Press = Callable[[str], list[str]]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="for Linux's packages")
_READY, _END = "READY-FOR-KEYS", "END-OF-TEST"
_PROGRAM = f"""\
#!{sys.executable}
import sys
if sys.argv[1:2] == ["__complete"]:
    from plantdesk.cli.main import main
    sys.exit(main())
print(*(f"<{{argument}}>" for argument in sys.argv[1:]), sep="\\n")
"""


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Path:
    """A folder with a few files, a store with tokens and backups, and a program that prints its arguments."""
    program = tmp_path / "bin" / "plantdesk"
    program.parent.mkdir()
    program.write_text(_PROGRAM, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(project.ROOT))
    here = tmp_path / "here"
    here.mkdir()
    for name in ("my backup.db", "store.db"):
        (here / name).touch()
    monkeypatch.chdir(here)
    main(["token", "create", "my script"])
    main(["token", "create", "greenhouse"])
    main(["add", "--name", "Fern", "--tag", "hall"])
    main(["backup"])
    capfd.readouterr()
    return here


def backup_name() -> str:
    (backup,) = BackupFolder(paths.database_file()).newest_first()
    return backup.path.name


# --- bash -------------------------------------------------------------------------------------------------------


@pytest.fixture
def bash(folder: Path) -> Press:
    """Type a line into bash, with a Tab at its end and Enter; return the arguments that the program gets."""
    start = f"PS1={_READY}\nbind 'set bell-style none'\n{completions.completion('bash')}"
    (folder.parent / "start").write_text(start, encoding="utf-8")

    def press(typed: str) -> list[str]:
        command = ["bash", "--noprofile", "--rcfile", str(folder.parent / "start"), "-i"]
        environment = {**os.environ, "TERM": "dumb", "HISTFILE": ""}
        found = []
        with Terminal() as terminal:
            ends = {"stdin": terminal.end, "stdout": subprocess.PIPE, "stderr": terminal.end}
            with subprocess.Popen(command, **ends, text=True, start_new_session=True, env=environment) as process:
                terminal.read_until(_READY)  # only now is Tab a key and no character
                terminal.type(f"{typed}\t\necho {_END}\n")
                assert process.stdout is not None
                while (line := process.stdout.readline().rstrip("\n")) != _END:
                    found.append(line.removeprefix("<").removesuffix(">"))
                process.kill()
        return found

    return press


@needs("bash")
@pytest.mark.parametrize(
    ("typed", "called"),
    [
        ("plantdesk tok", ["token"]),
        ("plantdesk token rev", ["token", "revoke"]),
        ("plantdesk --database store.db serve --po", ["--database", "store.db", "serve", "--port"]),
        ("plantdesk backup my", ["backup", "my backup.db"]),
        ("plantdesk backup 'my", ["backup", "my backup.db"]),
        ("plantdesk add --database st", ["add", "--database", "store.db"]),
        ("plantdesk add --database=st", ["add", "--database=store.db"]),
        ("plantdesk restore st", ["restore", "store.db"]),
        ("plantdesk integration --login of", ["integration", "--login", "off"]),
        ("plantdesk token revoke my", ["token", "revoke", "my script"]),
        (r"plantdesk token revoke my\ s", ["token", "revoke", "my script"]),
        ('plantdesk token revoke "my', ["token", "revoke", "my script"]),
        ("plantdesk token revoke g", ["token", "revoke", "greenhouse"]),
        ("plantdesk token create g", ["token", "create", "g"]),
        ("plantdesk tag rename ha", ["tag", "rename", "hall"]),
        ("plantdesk edit --tagged ha", ["edit", "--tagged", "hall"]),
        ("plantdesk list --tag=ha", ["list", "--tag=hall"]),
        ("plantdesk names im", ["names", "import"]),
        ("plantdesk names import st", ["names", "import", "store.db"]),
        ("plantdesk merge 1 --in", ["merge", "1", "--into"]),
        ("plantdesk duplicates --keep lon", ["duplicates", "--keep", "longest-note"]),
        ("plantdesk add --name s", ["add", "--name", "s"]),
        ("plantdesk add --name token rev", ["add", "--name", "token", "rev"]),
        ("plantdesk help ser", ["help", "serve"]),
    ],
)
def test_bash_completes(typed: str, called: list[str], bash: Press) -> None:
    assert bash(typed) == called


@needs("bash")
@pytest.mark.parametrize("tag", ["evil`id`", "evil$HOME", "evil!!"])
def test_bash_offers_no_tag_that_it_would_run(tag: str, bash: Press) -> None:
    assert main(["add", "--name", "x", "--tag", tag]) == 0
    assert bash("plantdesk tag remove evi") == ["tag", "remove", "evi"]


@needs("bash")
def test_bash_completes_backups(bash: Press) -> None:
    assert bash("plantdesk restore plants.db-2") == ["restore", backup_name()]


# --- fish and zsh -----------------------------------------------------------------------------------------------

OFFERED = [
    ("plantdesk tok", {"token"}),
    ("plantdesk token ", {"create", "list", "revoke"}),
    ("plantdesk token create ", set()),
    ("plantdesk token revoke ", {"my script", "greenhouse"}),
    ("plantdesk tag merge ", {"hall"}),
    ("plantdesk add --tag ", {"hall"}),
    ("plantdesk edit --tagged=", {"hall"}),
    ("plantdesk integration --login o", {"on", "off"}),
    ("plantdesk backup s", {"store.db"}),
    ("plantdesk --database s", {"store.db"}),
    ("plantdesk --database=s", {"store.db"}),
    ("plantdesk add --name s", set()),
    ("plantdesk help ser", {"serve"}),
]


@needs("fish")
@pytest.mark.parametrize(("typed", "offered"), OFFERED)
def test_fish_completes(typed: str, offered: set[str], folder: Path) -> None:
    assert fish(folder, typed) == offered


@needs("fish")
def test_fish_completes_backups(folder: Path) -> None:
    assert fish(folder, "plantdesk restore plants.db-") == {backup_name()}


def fish(folder: Path, typed: str) -> set[str]:
    (folder.parent / "completion").write_text(completions.completion("fish"), encoding="utf-8")
    command = ["fish", "--no-config", "-c", f"source {folder.parent}/completion; complete -C {typed!r}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    found = {line.partition("\t")[0] for line in done.stdout.splitlines()}
    return {name.rpartition("=")[2] for name in found if not name.startswith("-") or "=" in name}


#: The start of a zsh that says when it is ready for keys, prints each match that is offered, and inserts none.
_ZSHRC = r"""
PS1=
fpath=(COMPLETIONS $fpath)
autoload -U compinit; compinit -u -D
compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return $?; fi
  typeset -a found; builtin compadd -A found "$@"; print -rl -- "<"${^found}">"; builtin compadd "$@"
}
finish() { compstate[insert]=; compstate[list]=; print END; }
comppostfuncs=(finish)
bindkey "^I" complete-word
zle-line-init() { print READY }
zle -N zle-line-init
"""
_ZSH = r"""
zmodload zsh/zpty
zpty inner zsh -i
zpty -r inner out '*READY*'
zpty -n -w inner "$1"$'\t'
zpty -r inner out '*END*'
print -r -- $out
zpty -d inner
"""


@needs("zsh")
@pytest.mark.parametrize(("typed", "offered"), OFFERED)
def test_zsh_completes(typed: str, offered: set[str], folder: Path) -> None:
    (folder.parent / "_plantdesk").write_text(completions.completion("zsh"), encoding="utf-8")
    (folder.parent / ".zshrc").write_text(_ZSHRC.replace("COMPLETIONS", str(folder.parent)), encoding="utf-8")
    command = ["zsh", "-f", "-c", _ZSH, "zsh", typed]
    environment = {**os.environ, "TERM": "dumb", "ZDOTDIR": str(folder.parent)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS, env=environment)
    found = {name.replace("\\ ", " ").removesuffix(":") for name in re.findall("<([^>]*)>", done.stdout)}
    assert {name for name in found if not name.startswith("-")} == offered, done.stdout
