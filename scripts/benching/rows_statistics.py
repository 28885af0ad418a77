"""The row about statistics: what `tensorfs stats` takes for one large tensor, on one core, compared with NumPy."""

from __future__ import annotations

import json
import struct
import subprocess
from pathlib import Path

from .bench import Bench
from .commands import Skipped, output_of, run
from .figures import Line, Target

PYTHON = "/usr/bin/python3"  # Debian's NumPy is for its own Python

MAKE = """
import numpy, sys
values = (numpy.random.default_rng(1).standard_normal(int(sys.argv[1]), "f4") * 0.02).view("<u4")
values.tofile(sys.argv[2])
(values >> 16).astype("<u2").tofile(sys.argv[3])
"""

# What stats prints, in float64; the time is without that of starting Python.
MEASURE = """
import numpy, sys, time
start = time.perf_counter()
values = numpy.fromfile(sys.argv[1], "<f4")
values.min(), values.max(), values.mean(dtype="f8"), values.std(dtype="f8")
numpy.isnan(values).sum(), (values == 0).sum()
print(time.perf_counter() - start)
"""


def write_model(path: Path, dtype: str, elements: int, data: Path) -> Path:
    tensor = {"dtype": dtype, "shape": [elements], "data_offsets": [0, data.stat().st_size]}
    header = json.dumps({"x": tensor}).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        with data.open("rb") as source:
            while block := source.read(1 << 20):
                file.write(block)
    return path


def row_statistics(bench: Bench) -> None:
    """statistics of a large tensor on one core, compared with NumPy's"""
    if subprocess.run([PYTHON, "-c", "import numpy"], capture_output=True).returncode != 0:
        raise Skipped("there is no NumPy (python3-numpy)")
    elements = bench.sizes.matrix**2
    raw = {"F32": bench.scratch / "statistics.f32", "BF16": bench.scratch / "statistics.bf16"}
    run([PYTHON, "-c", MAKE, str(elements), raw["F32"], raw["BF16"]])
    models = {dtype: write_model(bench.scratch / f"{dtype}.safetensors", dtype, elements, raw[dtype]) for dtype in raw}
    lines = {
        "F32": Line("statistics", "of F32", "GB/s", Target("≥", 1.0), reference="numpy"),
        "BF16": Line("statistics", "of BF16", "GB/s", Target("≥", 1.5, "figure")),
    }
    for number in bench.effort.rounds(list(lines.values())):
        bench.progress.tick(number + 1)
        lines["F32"].add("numpy", 4 * elements / 1e9 / float(output_of("taskset", "-c", "0", PYTHON, "-c", MEASURE,
                                                                       raw["F32"])))
        for dtype, line in lines.items():
            took = run(["taskset", "-c", "0", bench.scratch / "tensorfs", "stats", models[dtype]])
            line.add("tensorfs", raw[dtype].stat().st_size / 1e9 / took)
    for path in [*raw.values(), *models.values()]:
        path.unlink()
    bench.lines += lines.values()


ROWS = (row_statistics,)
