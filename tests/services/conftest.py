"""What tests of services are given."""

from __future__ import annotations

from typing import Iterator

import pytest

from booted import Booted


@pytest.fixture
def systemd(program: str) -> Iterator[Booted]:
    """A systemd of the test's own."""
    with Booted(program) as booted:
        yield booted
