"""The row about exports: a model of several shards written as one file, compared with a copy of the shards."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from .bench import Bench
from .commands import run
from .figures import Line, Target


def copied(bench: Bench, at: Path) -> float:
    """Seconds until the shards' copies are on the disk, as what is exported is."""
    at.mkdir()
    return run(["sh", "-c", 'cp "$1"/* "$2" && sync "$2"/*', "sh", bench.data.model, at])


def row_export(bench: Bench) -> None:
    """exporting a model, with and without checksums, compared with cp of its shards and sync"""
    lines = {
        "safetensors": Line("export", "as safetensors", "GB/s", Target("≥", 0.95), reference="cp"),
        "pytorch": Line("export", "as pytorch, with checksums", "GB/s", reference="cp"),
    }
    nbytes = sum(shard.stat().st_size for shard in bench.data.model.iterdir())
    at = bench.scratch / "exported"

    def rate(seconds: float) -> float:
        return nbytes / seconds / 1e9

    run(["cat", *bench.data.model.iterdir()])  # into the page cache
    for number in bench.effort.rounds(list(lines.values())):
        bench.progress.tick(number + 1)
        took = copied(bench, at)
        shutil.rmtree(at)
        for format_name, line in lines.items():
            line.add("cp", rate(took))
            line.add("tensorfs", rate(run([bench.scratch / "tensorfs", "export", bench.data.model, "-o", at, "--format",
                                           format_name])))
            os.unlink(at)
    bench.lines += lines.values()


ROWS = (row_export,)
