"""Mounting by a daemon in the foreground, what is known of that daemon, and leaving nothing mounted behind."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Iterator, NamedTuple

from .commands import PATIENCE, Failed, end, run
from .files import KIB
from .machine import IS_ROOT


class Mounted(NamedTuple):
    """A mount and the daemon that serves it."""

    at: Path
    pid: int

    def stats(self) -> dict:
        return json.loads(os.getxattr(self.at, "user.tensorfs.stats"))

    def private_memory(self) -> float:
        """In MB."""
        lines = Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines()[1:]
        kib = dict(line.split(":") for line in lines)
        return sum(int(kib[key].split()[0]) for key in ("Private_Clean", "Private_Dirty")) * KIB / 1e6

    def largest_resident(self) -> float:
        """In MB, since it was mounted."""
        status = dict(line.split(":", 1) for line in Path(f"/proc/{self.pid}/status").read_text().splitlines())
        return int(status["VmHWM"].split()[0]) * KIB / 1e6


def is_mounted(at: Path) -> bool:
    """By the kernel's table: to ask the mount itself may wait for a daemon that is gone."""
    escaped = str(at).translate({ord(c): f"\\{ord(c):03o}" for c in " \t\n\\"})
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
        return any(line.split()[4] == escaped for line in table)


def unmount(at: Path) -> None:
    unmounting = [["umount"], ["umount", "-l"]] if IS_ROOT else [["fusermount3", "-u"], ["fusermount3", "-uz"]]
    for command in unmounting:
        if not is_mounted(at):
            return
        with contextlib.suppress(Failed):
            run([*command, at], timeout=30)


def new_folder(scratch: Path) -> Path:
    """To mount something on."""
    return Path(tempfile.mkdtemp(prefix="at-", dir=scratch))


def wait_until_mounted(process: subprocess.Popen, at: Path, name: str, log) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        if process.poll() is not None or time.monotonic() > deadline:
            log.seek(0)
            raise Failed(f"{name} does not mount: {log.read().decode(errors='replace').strip()}")
        if is_mounted(at):
            with contextlib.suppress(OSError):
                os.listdir(at)
                return
        time.sleep(0.002)


@contextlib.contextmanager
def serving(command: list, scratch: Path) -> Iterator[Mounted]:
    """Mounts on a new folder in `scratch`, which is the command's last argument, by a daemon in the foreground."""
    at = new_folder(scratch)
    name = Path(command[0]).name
    with tempfile.TemporaryFile(dir=scratch) as log:
        process = subprocess.Popen([*map(str, command), str(at)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   start_new_session=True)
        try:
            wait_until_mounted(process, at, name, log)
            yield Mounted(at, process.pid)
        finally:
            unmount(at)
            end(process)
            with contextlib.suppress(OSError):
                at.rmdir()
