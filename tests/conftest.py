"""What the tests in Python are given: the program, a folder, and modules that may be missing."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from types import ModuleType
from typing import Iterator

import pytest

from checks import REPOSITORY, TemporaryFolder


def pytest_configure() -> None:
    def stop(number: int, _: object) -> None:
        pytest.exit(f"ended by signal {number}", 128 + number)  # by way of all that cleans up

    signal.signal(signal.SIGTERM, stop)


@pytest.fixture(scope="session")
def program() -> str:
    """The path of the program tensorfs: $TENSORFS_PROGRAM, or what was built in build/."""
    path = Path(os.environ.get("TENSORFS_PROGRAM", REPOSITORY / "build" / "tensorfs")).absolute()
    assert os.access(path, os.X_OK), f"{path} cannot be run: build it, or set TENSORFS_PROGRAM"
    return str(path)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that is removed with all in it, as soon as the test has ended."""
    with TemporaryFolder() as path:
        yield path


@pytest.fixture(scope="session")
def numpy() -> ModuleType:
    return pytest.importorskip("numpy")


@pytest.fixture(scope="session")
def torch() -> ModuleType:
    return pytest.importorskip("torch")
