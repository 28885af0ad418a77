"""What every test asks: that something holds, and that what it needs is there."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from types import ModuleType

REPOSITORY = Path(__file__).resolve().parents[3]
PATIENCE = 60  # seconds; a machine that is busy with other tests is slow


class Skip(unittest.SkipTest):
    """What a test needs is missing; the message says what."""


def check(holds: bool, message: str) -> None:
    """Like assert, but also where Python is told to optimize."""
    if not holds:
        raise AssertionError(message)


def check_equal(found: object, wanted: object, what: str) -> None:
    def short(value: object) -> str:
        text = repr(value)
        return text if len(text) < 200 else text[:200] + "…"

    check(found == wanted, f"{what}: {short(found)}, not {short(wanted)}")


def need(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise Skip(f"no {module} for {sys.executable}: {error}") from error


def need_program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise Skip(f"no {name}")
    return found


def need_data(name: str) -> Path:
    """A file of the test data that is kept outside the project."""
    path = Path(os.environ.get("TENSORFS_TEST_DATA", REPOSITORY.parent / "shared")) / name
    if not path.exists():
        raise Skip(f"no test data: {path}")
    return path


def need_fuse() -> None:
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError as error:
        raise Skip(f"/dev/fuse cannot be opened: {error.strerror}") from error


def run(*command: object, expect: int = 0, patience: float = PATIENCE * 3) -> str:
    """What a program prints."""
    done = subprocess.run([str(word) for word in command], capture_output=True, timeout=patience)
    output = (done.stdout + done.stderr).decode(errors="replace")
    check(done.returncode == expect, f"{' '.join(map(str, command))}: exit code {done.returncode}:\n{output}")
    return done.stdout.decode()


class TemporaryFolder(tempfile.TemporaryDirectory):
    def __init__(self) -> None:
        super().__init__(prefix="tensorfs-tests-")

    def __enter__(self) -> Path:
        return Path(super().__enter__()).resolve()
