import logging
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from plantdesk.platform import logs

TOKEN = "plantdesk_" + "aB3-_" * 9
logger = logging.getLogger("tests")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "window.log"


@pytest.fixture
def log(file: Path) -> Iterator[Path]:
    with logs.log_to(file):
        yield file


def run(code: str, file: Path) -> subprocess.CompletedProcess[str]:
    head = "import logging, sys, threading, pathlib, faulthandler\nfrom plantdesk.platform import logs\n"
    head += f"file = {str(file)!r}\n"
    program = head + "with logs.log_to(pathlib.Path(file)):\n    " + code
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


def test_the_name_of_a_file_may_have_any_bytes(file: Path) -> None:
    done = run(r"logging.info('Listening with %s', 'plants\udcff.db')", file)  # pytest could not report it
    assert r"plants\udcff.db" in file.read_text(encoding="utf-8")
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("message", "arguments"), [("got " + TOKEN, ()), ("got %s", ([TOKEN],))], ids=["text", "argument"]
)
def test_tokens_are_masked(message: str, arguments: tuple[object, ...], log: Path) -> None:
    logger.info(message, *arguments)
    assert TOKEN not in log.read_text(encoding="utf-8")
    assert "got" in log.read_text(encoding="utf-8")


def test_tokens_in_tracebacks_are_masked(log: Path) -> None:
    try:
        int(TOKEN)
    except ValueError:
        logger.exception("failed")
    assert "plantdesk_…" in log.read_text(encoding="utf-8")
    assert TOKEN not in log.read_text(encoding="utf-8")


def test_the_log_rotates_and_stays_private(log: Path) -> None:
    for _ in range(5):
        logger.info("x" * (logs.MAX_BYTES // 2))
    files = sorted(log.parent.glob("window.log*"))
    assert len(files) == 1 + logs.BACKUP_COUNT
    if os.name == "posix":
        assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_the_block_restores_logging(file: Path) -> None:
    before = (sys.excepthook, threading.excepthook, logging.getLogger().level, list(logging.getLogger().handlers))
    with logs.log_to(file):
        pass
    logger.warning("too late")
    after = (sys.excepthook, threading.excepthook, logging.getLogger().level, list(logging.getLogger().handlers))
    assert after == before
    assert "too late" not in file.read_text(encoding="utf-8")


def test_an_unwritable_folder_does_not_matter(tmp_path: Path) -> None:
    with logs.log_to(tmp_path / "missing" / "window.log"):
        logger.info("nowhere")


def test_only_warnings_and_errors_go_to_the_console(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with logs.log_to(file, console=True):
        logger.info("quiet")
        logger.warning("loud")
    assert capsys.readouterr().err == "WARNING: loud\n"


def test_an_uncaught_exception_is_logged(file: Path) -> None:
    done = run("raise RuntimeError('lost')", file)
    assert "RuntimeError: lost" in file.read_text(encoding="utf-8")
    assert "RuntimeError: lost" in done.stderr


def test_an_exception_of_a_thread_is_logged(file: Path) -> None:
    run("t = threading.Thread(target=lambda: 1 / 0, name='writer'); t.start(); t.join()", file)
    assert "CRITICAL writer plantdesk.platform.logs: Uncaught exception in a thread" in file.read_text(encoding="utf-8")


def test_it_works_without_standard_error(file: Path) -> None:
    """As in a windowed program on Windows."""
    done = run("sys.stderr = sys.stdout = None; logging.warning('here'); 1 / 0", file)
    assert done.returncode == 1
    assert "WARNING MainThread root: here" in file.read_text(encoding="utf-8")
    assert "ZeroDivisionError" in file.read_text(encoding="utf-8")


def test_a_crash_of_the_interpreter_leaves_a_trace(file: Path) -> None:
    run("import os; os.abort()", file)
    assert "Fatal Python error: Aborted" in file.with_name("window-crash.log").read_text(encoding="utf-8")


@pytest.mark.skipif(os.name != "posix", reason="named pipes are files here")
def test_a_named_pipe_as_log_does_not_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "serve.log")
    with logs.log_to(tmp_path / "serve.log"):
        logging.getLogger().info("nobody reads this")


# --- core dumps -------------------------------------------------------------------------------------------------------


_ASK = """
import ctypes, resource, sys
from pathlib import Path
sys.frozen = {frozen}
from plantdesk.platform import process
process.forbid_core_dumps()
process.forbid_tracing()
list(Path("/dev/fd").iterdir())  # it may still look into itself
print(resource.getrlimit(resource.RLIMIT_CORE)[0], ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux")
@pytest.mark.parametrize(("frozen", "dumps"), [(True, "0 0"), (False, "1024 1")], ids=["packaged", "from source"])
def test_only_packaged_programs_forbid_core_dumps(frozen: bool, dumps: str) -> None:  # noqa: FBT001
    command = ["sh", "-c", 'ulimit -S -c 2 && exec "$@"', "sh", sys.executable, "-c", _ASK.format(frozen=frozen)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == dumps
