"""The rows about shards that are far away: behind a filesystem where jumping, or each request, costs time."""

from __future__ import annotations

import contextlib
import zipfile
from pathlib import Path
from typing import Iterator

from .bench import Bench
from .figures import Line, Target
from .files import KIB, Range, tensors_in, whole
from .systems import OURS

SEEK_MILLISECONDS = 50  # about what a web server in the next country takes to be asked for a range
DELAY_MILLISECONDS = 5
LOADER_THREADS = (1, 4)


@contextlib.contextmanager
def distant(bench: Bench, fault: str) -> Iterator[Path]:
    """The model on a filesystem that suffers from `fault` (tests/faulty), whichever shard is read."""
    faults = bench.systems.new_folder()
    with contextlib.ExitStack() as stack:
        faulty = [bench.scratch / "faulty_fs", bench.data.model, faults]
        below = stack.enter_context(bench.systems.serving(faulty))
        for shard in bench.data.model.glob("*.safetensors"):
            (faults / shard.name).write_text(fault)
            stack.callback((faults / shard.name).unlink)  # so that nothing waits longer than it must
        yield below.at


def row_seek(bench: Bench) -> None:
    """first read and first scan of a tensor where each jump costs 50 ms"""
    big, stretch = bench.data.big, bench.sizes.slow_stretch
    lines = [Line("seek", f"{what}, {SEEK_MILLISECONDS} ms a jump", "MB/s", Target("≥", 0.9))
             for what in ("first read", "first scan of a mapping")]
    bench.client.warm(big)

    def measure(name: str) -> tuple:
        speeds = []
        for speed in (bench.client.read_speed, bench.client.map_speed):
            with contextlib.ExitStack() as stack:
                folder = stack.enter_context(distant(bench, f"seek {SEEK_MILLISECONDS}"))
                range_ = big._replace(file=folder / big.file.name)
                if name != "native":
                    range_ = whole(stack.enter_context(bench.systems.system(name, folder)).at / "big/weight")
                speeds.append(1e3 * speed(range_.part(0, stretch)))
        return tuple(speeds)
    bench.alternate(lines, ["native", *OURS], measure)


def zipped_tensors(file: Path) -> dict[str, Range]:
    """The storages in a PyTorch checkpoint by the numbers that they have in it, where their bytes begin."""
    ranges = {}
    with zipfile.ZipFile(file) as archive, file.open("rb") as raw:
        for entry in archive.infolist():
            if "/data/" not in entry.filename:
                continue
            raw.seek(entry.header_offset + 26)
            lengths = raw.read(4)
            skip = 30 + int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
            ranges[entry.filename] = Range(file, entry.header_offset + skip, entry.file_size)
    return ranges


def loader_ranges(at: Path, how: str, stretch: int) -> list[Range]:
    """What a loader reads of a mount, or of the shards: small tensors, in file order, up to `stretch` bytes."""
    if how == "pytorch_model.bin":
        found = zipped_tensors(at / ".tensorfs/pytorch_model.bin")
    else:
        folder = at / ".tensorfs" if how == "model.safetensors" else at
        found = tensors_in(folder)
    ranges, total = [], 0
    for range_ in sorted((r for r in found.values() if r.nbytes >= 256 * KIB), key=lambda r: (str(r.file), r.offset)):
        if total >= stretch:
            break
        if range_.nbytes <= stretch:
            ranges.append(range_)
            total += range_.nbytes
    return ranges


def row_loaders(bench: Bench) -> None:
    """loaders that map, where each request takes 5 ms: over the merged files and the bare shards"""
    views = {"native": "shards", "tensorfs": "model.safetensors", "pytorch_model.bin": "pytorch_model.bin"}
    for order in ("file order", "by name"):
        for threads in LOADER_THREADS:
            line = Line("loaders", f"{order}, {threads} threads, {DELAY_MILLISECONDS} ms a request", "MB/s",
                        Target("≥", 1.0))

            def measure(name: str, order: str = order, threads: int = threads) -> tuple:
                with contextlib.ExitStack() as stack:
                    folder = stack.enter_context(distant(bench, f"delay {DELAY_MILLISECONDS}"))
                    if name != "native":
                        folder = stack.enter_context(bench.systems.tensorfs(folder, "order=free")).at  # it stands for a disk
                    ranges = loader_ranges(folder, views[name], bench.sizes.slow_stretch)
                    if order == "by name":  # by a hash of the place, which jumps as names do
                        ranges.sort(key=lambda range_: (range_.nbytes * 7919 + range_.offset // KIB * 104_729) % 1009)
                    return (1e3 * bench.client.load_speed(ranges, threads),)
            bench.alternate([line], list(views), measure)


ROWS = (row_seek, row_loaders)
