"""The rows about other formats than safetensors: what their headers cost, and tensors that do not lie in a row."""

from __future__ import annotations

import os
from pathlib import Path

from .bench import Bench
from .commands import run
from .figures import Line, Target
from .files import whole
from .mounts import unmount


def measure_mounting(bench: Bench, lines: list[Line], model: Path) -> None:
    """Fills two lines: how long mounting takes until it answers, and the daemon's private memory."""
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


def row_gguf(bench: Bench) -> None:
    """mounting a GGUF split of 10 parts, 2,000 tensors and 260,000 tokens, until it answers, and its private memory"""
    lines = [Line("gguf", "mounting a split with a vocabulary", "ms", Target("≤", 25, "figure")),
             Line("gguf", "private, of a split with a vocabulary", "MB", Target("≤", 8, "figure"))]
    measure_mounting(bench, lines, bench.data.gguf)


def row_checkpoint(bench: Bench) -> None:
    """mounting a PyTorch checkpoint of 20,000 storages, until it answers, and its private memory"""
    what = f"a checkpoint of {bench.sizes.storages:,} storages"
    lines = [Line("checkpoint", f"mounting {what}", "ms", Target("≤", 150, "figure")),
             Line("checkpoint", f"private, of {what}", "MB", Target("≤", 12, "figure"))]
    measure_mounting(bench, lines, bench.data.checkpoint)


def row_gather(bench: Bench) -> None:
    """first read of a transposed F32 matrix of a PyTorch checkpoint, which is gathered row by row"""
    line = Line("gather", "a transposed matrix", "GB/s", Target("≥", 0.5, "figure"))
    model = bench.data.transposed
    bench.client.warm(whole(model))

    def measure(name: str) -> tuple:
        with bench.systems.system(name, model) as mounted:
            return (bench.client.read_speed(whole(mounted.at / "turned")),)
    bench.alternate([line], ["tensorfs"], measure)


ROWS = (row_gguf, row_checkpoint, row_gather)
