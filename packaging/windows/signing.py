"""Sign a file for Windows with the command in WINDOWS_SIGN_COMMAND, which is printed nowhere.

    python signing.py FILE     what makensis starts for installer and uninstaller

The command may hold a password. It reaches this script through the environment, not through an argument of makensis,
and neither it nor its output is in a message of failure: a shell quotes the command in its own messages.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import dev


def has_command() -> bool:
    """Whether files are signed at all."""
    return bool(os.environ.get("WINDOWS_SIGN_COMMAND"))


def sign(file: Path) -> None:
    """Sign a file: a shell runs the command with the file's name after it. Raises RefusedError."""
    command = f'{os.environ["WINDOWS_SIGN_COMMAND"]} "{file}"'
    done = subprocess.run(command, shell=True, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S602
    if done.returncode != 0:
        raise dev.RefusedError(f"Signing {file.name} failed with exit code {done.returncode}.")


def main() -> int:
    """Sign the file that the command line names."""
    try:
        sign(Path(sys.argv[1]))
    except dev.RefusedError as reason:
        dev.say(str(reason))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
