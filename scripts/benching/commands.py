"""Running other programs: how long they took, what they said, and how they failed."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import time
from pathlib import Path

PATIENCE = 300  # seconds, for any one command: some peers are very slow


class Failed(Exception):
    """Something could not be measured; the message says why."""


class Skipped(Exception):
    """Something cannot be measured by this user or on this machine."""


def ends_within(process: subprocess.Popen, timeout: float) -> bool:
    """As Popen.wait(), which looks every 50 ms only when there is a timeout: too seldom to time anything."""
    fd = os.pidfd_open(process.pid)
    try:
        return bool(select.select([fd], [], [], timeout)[0])
    finally:
        os.close(fd)


def run(command: list, output=subprocess.DEVNULL, timeout: float = PATIENCE) -> float:
    """Runs a command and answers how many seconds it took. Leaves none of its processes behind."""
    with tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=said, start_new_session=True)
        try:
            has_ended = ends_within(process, timeout)
            took = time.perf_counter() - start
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if not has_ended:
            raise Failed(f"{Path(command[0]).name} took longer than {timeout:.0f} s")
        if process.returncode != 0:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines() or [f"exit code {process.returncode}"]
            raise Failed(f"{Path(command[0]).name}: {lines[-1]}")
    return took


def output_of(*command) -> str:
    """What a command prints; empty if there is no such command or it fails."""
    try:
        return subprocess.check_output(command, stderr=subprocess.DEVNULL, text=True).strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def end(process: subprocess.Popen) -> None:
    """A daemon ends when its mount goes; one that does not is made to."""
    for stop in (lambda: None, process.terminate, process.kill):
        stop()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
            return
