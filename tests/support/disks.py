"""Mounts disks of the tests: small ones in memory, and images (root, Linux)."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def tmpfs(size: str) -> tuple[str, ...]:
    """Return the arguments of `mount` for a disk in memory."""
    return ("-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs")


@contextmanager
def mounted(at: Path, *arguments: str) -> Iterator[Path]:
    """Mount a disk at a folder, and unmount it; skip the test where that is not allowed."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("needs root on Linux")
    at.mkdir(exist_ok=True)
    if subprocess.run(["mount", *arguments, str(at)], check=False, capture_output=True).returncode != 0:
        pytest.skip("nothing may be mounted here")
    try:
        yield at
    finally:
        subprocess.run(["umount", "--lazy", str(at)], check=True)
