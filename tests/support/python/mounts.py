"""Mounts of models, each by a daemon of its own."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from checks import PATIENCE, check, need_fuse


def end_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


class Mount:
    """A mount of SOURCE, by a daemon that is this process's child, from `with` to its end."""

    def __init__(self, program: str, source: Path, *options: str) -> None:
        self._command = [program, "-f", str(source)]
        self._options = list(options)

    def __enter__(self) -> Mount:
        need_fuse()
        self._folder = tempfile.mkdtemp(prefix="tensorfs-tests-")
        self.path = Path(self._folder).resolve() / "mnt"
        self.path.mkdir()
        self.log = Path(self._folder) / "log"
        with self.log.open("wb") as log:
            self.daemon = subprocess.Popen(
                [*self._command, str(self.path), *self._options], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=end_with_parent,
            )  # fmt: skip
        try:
            deadline = time.monotonic() + PATIENCE
            while not self._answers():
                ended = self.daemon.poll() is not None
                check(not ended, f"it does not mount: {self.log.read_text(errors='replace')}")
                check(time.monotonic() < deadline, "the mount does not answer")
                time.sleep(0.002)
        except BaseException as failure:
            self.__exit__(failure)
            raise
        return self

    def __exit__(self, failure: object = None, *_: object) -> None:
        lived = self.daemon.poll() is None
        if lived:
            self.daemon.terminate()  # the program unmounts by itself
        try:
            self.daemon.wait(PATIENCE / 2)
        except subprocess.TimeoutExpired:
            pass
        if self.path.is_mount():
            subprocess.run(["fusermount3", "-u", "-z", str(self.path)], check=False)
        if self.daemon.poll() is None:
            self.daemon.kill()
            self.daemon.wait()
        log = self.log.read_text(errors="replace")
        shutil.rmtree(self._folder, ignore_errors=True)
        if failure is None:  # else that is what is told of
            check(lived and self.daemon.returncode == 0, f"the daemon ended with {self.daemon.returncode}:\n{log}")

    def _answers(self) -> bool:
        try:
            return self.path.is_mount() and self.hidden.is_dir()
        except OSError:
            return False

    @property
    def hidden(self) -> Path:
        return self.path / ".tensorfs"

    @property
    def npy(self) -> Path:
        return self.hidden / "npy"

    @property
    def f32(self) -> Path:
        return self.hidden / "f32"

    @property
    def merged(self) -> Path:
        return self.hidden / "model.safetensors"

    @property
    def checkpoint(self) -> Path:
        return self.hidden / "pytorch_model.bin"

    def check_lives(self) -> None:
        check(self.daemon.poll() is None, f"the daemon has ended: {self.log.read_text(errors='replace')}")
        json.loads(os.getxattr(self.path, "user.tensorfs.stats"))

    def cpu_seconds(self) -> tuple[float, float]:
        """Of the daemon: in user space, and in the kernel."""
        fields = Path(f"/proc/{self.daemon.pid}/stat").read_text().rpartition(")")[2].split()
        ticks = os.sysconf("SC_CLK_TCK")
        return int(fields[11]) / ticks, int(fields[12]) / ticks
