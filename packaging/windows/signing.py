"""Sign files for Windows with the command in WINDOWS_SIGN_COMMAND, which is never printed.

makensis runs this file for installer and uninstaller. The command may hold a password: it is passed by the environment,
not as an argument of makensis, and neither it nor its output is in an error message, where a shell would quote it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def sign(file: Path) -> None:
    """Sign a file: a shell runs the command with the file name appended. Raises OSError."""
    command = f'{os.environ["WINDOWS_SIGN_COMMAND"]} "{file}"'
    done = subprocess.run(command, shell=True, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S602
    if done.returncode != 0:
        raise OSError(f"Signing {file.name} failed with exit code {done.returncode}.")


if __name__ == "__main__":
    try:
        sign(Path(sys.argv[1]))
    except OSError as reason:
        sys.exit(str(reason))
