"""The rows about a model that takes another's place under a mount: how long it takes, and who notices."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

from .bench import Bench
from .commands import PATIENCE, Failed, run
from .figures import Line
from .mounts import Mounted, unmount
from .rows_tree import find


class Reader(threading.Thread):
    """Asks the daemon for the root's attributes, which nobody caches, again and again."""

    def __init__(self, at: Path):
        super().__init__()
        self._at = at
        self._ended = threading.Event()
        self.longest_wait = 0.0  # in seconds

    def run(self) -> None:
        while not self._ended.is_set():
            start = time.monotonic()
            os.getxattr(self._at, "user.model.source")
            self.longest_wait = max(self.longest_wait, time.monotonic() - start)
            time.sleep(0.0005)

    def end(self) -> float:
        self._ended.set()
        self.join()
        return self.longest_wait


def reload(mounted: Mounted, source: Path) -> float:
    """Milliseconds from the signal until the model is shown anew, since one of its shards was touched."""
    before = mounted.stats()["models"]
    os.utime(max(source.glob("*.safetensors")))
    start = time.monotonic()
    os.kill(mounted.pid, signal.SIGHUP)
    while (now := mounted.stats()["models"])["reloads"] == before["reloads"]:
        if now["failed_reloads"] != before["failed_reloads"] or time.monotonic() - start > PATIENCE:
            raise Failed(f"not reloaded: {now}")
        time.sleep(0.001)
    return 1e3 * (time.monotonic() - start)


def row_reload(bench: Bench) -> None:
    """reloading a model of 104,806 tensors, all of it being cached, compared with mounting it"""
    tensors = f"{bench.sizes.tensors:,} tensors"
    lines = [Line("reload", tensors, "ms", reference="mount"),
             Line("reload", "longest wait of a reader meanwhile", "ms"),
             Line("reload", "private memory after it", "MB", reference="before")]
    at = bench.systems.new_folder()

    def measure_mount() -> float:
        try:
            return 1e3 * run([bench.scratch / "tensorfs", bench.data.moe, at])
        finally:
            unmount(at)

    def measure(name: str) -> tuple:
        if name == "mount":
            return (measure_mount(),)
        with bench.systems.system(name, bench.data.moe) as mounted:
            lines[2].add("before", mounted.private_memory())
            find(bench, mounted.at)  # so that there is much to be forgotten
            reader = Reader(mounted.at)
            reader.start()
            try:
                took = reload(mounted, bench.data.moe)
            finally:
                waited = reader.end()
            lines[1].add(name, 1e3 * waited)
            lines[2].add(name, mounted.private_memory())
            return (took,)
    measure_mount()  # so that the headers are in the page cache
    bench.alternate(lines[:1], ["mount", "tensorfs"], measure)
    bench.lines += lines[1:]


ROWS = (row_reload,)
