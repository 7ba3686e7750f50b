"""The entry point: runs a command and reports its failure. Without arguments, as from a menu, it opens the window."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from urllib.parse import unquote_to_bytes, urlsplit

from plantdesk import URL_SCHEME
from plantdesk.domain.errors import OutOfMemoryError, PlantDeskError
from plantdesk.platform import output, process, windows
from plantdesk.platform.window_requests import WindowRequest
from plantdesk.store import location_of

_INTERRUPTED_EXIT_CODE = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code. Wrong usage and the help of a command raise SystemExit, as in argparse."""
    gc.disable()  # imported objects stay; `options` and the window decide when to collect
    argv = sys.argv[1:] if arguments is None else arguments
    if argv[:1] == ["-session"]:  # how an X11 session manager restarts a program of Qt, with an ID
        argv = argv[2:]
    process.forbid_core_dumps()
    windows.hold_running_mutex()
    if sys.stdout is None or sys.stderr is None:
        return output.run_without_console(lambda: _run(argv))
    return _run(argv)


def _run(argv: Sequence[str]) -> int:
    """Run one command or open the window; report a failure on standard error, and return the exit code."""
    try:
        if not argv or argv[0].lower().startswith(URL_SCHEME):  # the rest belongs to the URL
            return _open_default_window(" ".join(argv))
        code = _run_command(argv)
        output.flush()
    except output.BrokenPipeOutputError:  # as with `plantdesk … | head`
        return 1
    except (KeyboardInterrupt, InterruptedError):  # Ctrl+C in a query raises the latter
        return _INTERRUPTED_EXIT_CODE
    except (PlantDeskError, OSError, MemoryError) as error:
        failure = OutOfMemoryError() if isinstance(error, MemoryError) else error
        output.report(f"plantdesk: {_format_error(failure)}")
        return 1
    return code


def _run_command(argv: Sequence[str]) -> int:
    if len(argv) == 1 and argv[0].endswith(".plantdesk-store"):  # by a double click
        argv = ["--database", _to_path(argv[0])]
    from plantdesk.cli.options import run

    _escape_unencodable()
    return run(argv)


def _open_default_window(address: str) -> int:
    from plantdesk.cli.commands.start import open_window

    return open_window(location_of(None), None, WindowRequest(address=address))


def _to_path(argument: str) -> str:
    """Return the path of a file that the desktop may have given as a URL."""
    if not argument.startswith("file:"):
        return argument
    return os.fsdecode(unquote_to_bytes(urlsplit(argument).path))


def _escape_unencodable() -> None:
    """Let standard output write characters that its encoding lacks as escapes, instead of raising an error."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _format_error(error: PlantDeskError | OSError) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)
