"""Limits on the memory of processes and of the page cache that they fill, by cgroups of either version."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from checks import Skip, check

ROOT = Path("/sys/fs/cgroup")


class MemoryLimit:
    """A cgroup of so many bytes, from `with` to its end, when nothing may run in it any more."""

    def __init__(self, nbytes: int) -> None:
        self._nbytes = nbytes

    def __enter__(self) -> MemoryLimit:
        is_v2 = (ROOT / "cgroup.controllers").exists()
        parent = ROOT if is_v2 else ROOT / "memory"
        if not (parent / "cgroup.procs").exists():
            raise Skip("no cgroups that limit memory")
        try:
            self.path = Path(tempfile.mkdtemp(prefix="tensorfs-tests-", dir=parent))
        except OSError as error:
            raise Skip(f"no cgroup can be made: {error.strerror}") from error
        limit = self.path / ("memory.max" if is_v2 else "memory.limit_in_bytes")
        self._events = self.path / ("memory.events" if is_v2 else "memory.oom_control")
        try:
            limit.write_text(str(self._nbytes))
        except OSError as error:
            self.path.rmdir()
            raise Skip(f"the cgroup cannot limit memory: {error.strerror}") from error
        return self

    def __exit__(self, *_: object) -> None:
        for _attempt in range(100):  # what has just been reaped can still be listed
            try:
                return self.path.rmdir()
            except OSError:
                time.sleep(0.05)
        self.path.rmdir()

    def add(self, pid: int) -> None:
        (self.path / "cgroup.procs").write_text(str(pid))

    def add_self(self) -> None:
        self.add(os.getpid())

    def check_nothing_killed(self) -> None:
        counts = dict(line.split() for line in self._events.read_text().splitlines())
        check(counts.get("oom_kill", "0") == "0", f"processes were killed for memory: {counts}")
