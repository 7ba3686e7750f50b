from __future__ import annotations

import platform
import subprocess
import sys

import pytest

_COUNT_ARENAS = """
import ctypes, threading
from plantdesk.malloc import share_arenas
{call}
ready, kept = threading.Barrier(9), []
def allocate():
    kept.append(bytearray(5000))
    ready.wait()
    ready.wait()
threads = [threading.Thread(target=allocate) for _ in range(8)]
for thread in threads: thread.start()
ready.wait()
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
stream = libc.fdopen(1, b"w")
libc.malloc_info(0, ctypes.c_void_p(stream))
libc.fflush(ctypes.c_void_p(stream))
ready.wait()
"""


def arenas(call: str) -> int:
    program = _COUNT_ARENAS.format(call=call)
    return subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True).stdout.count(
        "<heap nr="
    )


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="arenas of glibc")
def test_threads_share_two_arenas() -> None:
    assert arenas("") > 2
    assert arenas("share_arenas()") <= 2
