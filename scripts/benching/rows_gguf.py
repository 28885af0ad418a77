"""The rows about a GGUF split whose first part has a large vocabulary, which is passed over when it is mounted."""

from __future__ import annotations

import os

from .bench import Bench
from .commands import run
from .figures import Line, Target
from .mounts import unmount


def row_gguf(bench: Bench) -> None:
    """mounting a GGUF split of 10 parts, 2,000 tensors and 260,000 tokens, until it answers, and its private memory"""
    lines = [Line("gguf", "mounting a split with a vocabulary", "ms", Target("≤", 25, "figure")),
             Line("gguf", "private, of a split with a vocabulary", "MB", Target("≤", 8, "figure"))]
    model = bench.data.gguf
    at = bench.systems.new_folder()

    def mounting() -> float:
        try:
            took = run([bench.scratch / "tensorfs", model, at])
            os.listdir(at)
            return 1e3 * took
        finally:
            unmount(at)  # and the daemon ends

    def measure(name: str) -> tuple:
        took = mounting()
        with bench.systems.system(name, model) as mounted:
            return took, mounted.private_memory()
    mounting()  # so that the headers are in the page cache
    bench.alternate(lines, ["tensorfs"], measure)


ROWS = (row_gguf,)
