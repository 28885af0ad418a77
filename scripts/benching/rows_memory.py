"""The rows about memory: what the daemon takes, and what the page cache holds of what was read."""

from __future__ import annotations

import functools
from pathlib import Path

from .bench import Bench
from .client import cached_bytes
from .figures import Line, Target
from .files import whole
from .systems import OURS


def row_memory(bench: Bench) -> None:
    """the daemon's private memory, for 104,806 and 1,000,000 tensors"""
    def measure(model: Path, name: str) -> tuple:
        with bench.systems.system(name, model) as mounted:
            return (mounted.private_memory(),)
    models = [(bench.sizes.tensors, bench.data.moe, 24)]
    if bench.sizes.many_tensors and bench.effort.is_whole:
        models.append((bench.sizes.many_tensors, bench.data.many, 240))
    for tensors, model, limit in models:
        line = Line("memory", f"private, {tensors:,} tensors", "MB", Target("≤", limit, "figure"))
        bench.alternate([line], ["tensorfs"], functools.partial(measure, model))


def row_stream(bench: Bench) -> None:
    """how much larger the daemon gets while the whole model is read"""
    line = Line("stream", "growth while all is read", "MB", Target("≤", 32, "figure"))
    bench.client.warm(*bench.data.tensors.values())

    def measure(name: str) -> tuple:
        with bench.systems.system(name, bench.data.model) as mounted:
            before = mounted.private_memory()
            Path(f"/proc/{mounted.pid}/clear_refs").write_text("5\n")  # the largest starts anew
            for path in bench.data.tensors:
                bench.client.read_speed(whole(mounted.at / path))
            return (mounted.largest_resident() - before,)
    bench.alternate([line], list(OURS), measure)


def row_once(bench: Bench) -> None:
    """copies in the page cache with cache=once, and its speed"""
    lines = [Line("once", "copies in the page cache", "copies", Target("≤", 1.05, "figure"), reference="default"),
             Line("once", "first read", "GB/s", Target("≥", 0.95), reference="default")]

    def measure(name: str) -> tuple:
        bench.client.warm(bench.data.big)
        with bench.systems.tensorfs(bench.data.model, *(["cache=once"] if name == "tensorfs" else [])) as mounted:
            big = whole(mounted.at / "big/weight")
            speed = bench.client.read_speed(big)
            return (cached_bytes(bench.data.big) + cached_bytes(big)) / big.nbytes, speed
    bench.alternate(lines, ["default", "tensorfs"], measure)


def row_uncached(bench: Bench) -> None:
    """growth of the page cache with cache=direct"""
    line = Line("uncached", "growth of the page cache", "MB", Target("≤", 64, "figure"), reference="default")

    def measure(name: str) -> tuple:
        shard = whole(bench.data.big.file)
        bench.client.drop(shard)
        with bench.systems.tensorfs(bench.data.model, *(["cache=direct"] if name == "tensorfs" else [])) as mounted:
            big = whole(mounted.at / "big/weight")
            before = cached_bytes(shard) + cached_bytes(big)
            bench.client.read_speed(big)
            return ((cached_bytes(shard) + cached_bytes(big) - before) / 1e6,)
    bench.alternate([line], ["default", "tensorfs"], measure)


ROWS = (row_memory, row_stream, row_once, row_uncached)
