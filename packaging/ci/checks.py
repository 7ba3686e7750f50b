"""`build.py check`: desktop entry, metainfo, manual page and completions, by the validators that there are."""

from __future__ import annotations

import argparse
import shutil
import subprocess

import dev
import project
from bundle import freeze
from linux import apt

#: The second is there to compile Windows' installer with, as the tests do.
TOOLS = ["desktop-file-utils", "nsis", "appstream", "groff-base", "bash"]


def main(arguments: list[str]) -> None:
    """Run all validators; tell the first that refuses."""
    argparse.ArgumentParser(prog="build.py check", description=__doc__).parse_args(arguments)
    apt.need(TOOLS)
    stem = project.RESOURCES / project.desktop_id()
    silent("desktop-file-validate", f"{stem}.desktop")
    dev.call(["appstreamcli", "validate", "--no-net", f"{stem}.metainfo.xml"])
    made = project.WORK / "manual"
    freeze.run(freeze.prepare(), "linux/manual.py", made)
    silent("groff", "-man", "-Tutf8", "-ww", "-z", str(made / "plantdesk.1"))
    for shell, name in (("bash", "plantdesk.bash"), ("zsh", "_plantdesk"), ("fish", "plantdesk.fish")):
        if shutil.which(shell):  # the first always is
            silent(shell, "-n", str(made / name))
    dev.say("Desktop entry, metainfo, manual page and completions are valid.")


def silent(*command: str) -> None:
    """Run what says nothing when all is well. Raises RefusedError with what it said."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or done.stdout or done.stderr:
        raise dev.RefusedError(f"{command[0]}: {done.stdout}{done.stderr}")
