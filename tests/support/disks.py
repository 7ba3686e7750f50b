"""Mounts disks of the tests: small ones in memory, and images (root, Linux)."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def tmpfs(size: str) -> tuple[str, ...]:
    """Return the arguments of `mount` for a disk in memory."""
    return ("-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs")


def new_image(file: Path, mebibytes: int) -> tuple[str, ...]:
    """Make an ext4 file system in a file; return the arguments of `mount`. Skip the test without mkfs.ext4."""
    if not shutil.which("mkfs.ext4"):
        pytest.skip("needs mkfs.ext4")
    with file.open("wb") as image:
        image.truncate(mebibytes * 2**20)
    subprocess.run(["mkfs.ext4", "-q", "-F", str(file)], check=True)
    return ("-o", "loop", str(file))


@contextmanager
def mounted(folder: Path, *arguments: str) -> Iterator[Path]:
    """Mount a disk at a folder, and unmount it; skip the test where that is not allowed."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("needs root on Linux")
    folder.mkdir(exist_ok=True)
    if subprocess.run(["mount", *arguments, str(folder)], check=False, capture_output=True).returncode != 0:
        pytest.skip("nothing may be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
