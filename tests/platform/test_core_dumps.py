import subprocess
import sys

import pytest

_ASK = """
import ctypes, resource, sys
from pathlib import Path
sys.frozen = {frozen}
from plantdesk.platform import core_dumps
core_dumps.forbid_core_dumps()
core_dumps.forbid_tracing()
list(Path("/dev/fd").iterdir())  # it may still look into itself
print(resource.getrlimit(resource.RLIMIT_CORE)[0], ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux")
@pytest.mark.parametrize(("frozen", "dumps"), [(True, "0 0"), (False, "1024 1")], ids=["packaged", "from source"])
def test_only_packaged_programs_forbid_core_dumps(frozen: bool, dumps: str) -> None:  # noqa: FBT001
    command = ["sh", "-c", 'ulimit -S -c 2 && exec "$@"', "sh", sys.executable, "-c", _ASK.format(frozen=frozen)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == dumps
