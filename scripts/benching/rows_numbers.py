"""The row about numbers: how fast the values of GGUF's quantised types are computed, by one thread, in the cache."""

from __future__ import annotations

from .bench import Bench
from .client import dequantise_speeds
from .figures import Line, Target

# GB/s of values. The first are what most GGUF files consist of; none needs to be slower than a disk.
COMMON, COMMON_LIMIT, LIMIT = ("Q4_0", "Q8_0", "Q4_K", "Q6_K", "IQ4_XS", "MXFP4"), 2, 0.7


def row_numbers(bench: Bench) -> None:
    """values of quantised types, compared with a memcpy of as many bytes"""
    lines: dict[str, Line] = {}
    for number in range(bench.effort.least):
        bench.progress.tick(number + 1)
        for dtype, speeds in dequantise_speeds(bench.scratch, bench.sizes.kernel_milliseconds).items():
            limit = COMMON_LIMIT if dtype in COMMON else LIMIT
            line = lines.setdefault(dtype, Line("numbers", f"values of {dtype}", "GB/s", Target("≥", limit, "figure"),
                                                reference="memcpy"))
            line.add("tensorfs", speeds["dequantise"])
            line.add("memcpy", speeds["memcpy"])
    bench.lines += lines.values()


ROWS = (row_numbers,)
