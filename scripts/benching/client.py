"""What is timed by programs: reading by bench_client (scripts/bench-client.cpp), with what the page cache has before
and after, and computing by bench_dequantise (scripts/bench-dequantise.cpp)."""

from __future__ import annotations

import ctypes
import json
import mmap
import tempfile
from pathlib import Path

from .commands import run
from .files import KIB, MIB, Range, whole

CAT_BLOCK, DIRECT_BLOCK = 128 * KIB, 16 * MIB
THREADS = 4  # that read at random places
LIBC = ctypes.CDLL(None, use_errno=True)


def cached_bytes(range_: Range) -> int:
    """How much of a range is in the page cache. A private mapping, for cache=direct has no other."""
    begin = range_.offset // mmap.PAGESIZE * mmap.PAGESIZE
    nbytes = range_.offset + range_.nbytes - begin
    are_there = (ctypes.c_ubyte * -(-nbytes // mmap.PAGESIZE))()
    with (range_.file.open("rb") as file,
          mmap.mmap(file.fileno(), nbytes, access=mmap.ACCESS_COPY, offset=begin) as mapped):
        memory = ctypes.c_char.from_buffer(mapped)
        result = LIBC.mincore(ctypes.byref(memory), ctypes.c_size_t(nbytes), are_there)
        del memory  # or the mapping cannot be closed
    if result != 0:
        raise OSError(ctypes.get_errno(), "mincore")
    return sum(byte & 1 for byte in bytes(are_there)) * mmap.PAGESIZE


def dequantise_speeds(scratch: Path, milliseconds: int) -> dict[str, dict[str, float]]:
    """By type, GB/s of values computed ("dequantise") and copied ("memcpy"), each of the two for so long."""
    with tempfile.TemporaryFile(dir=scratch) as output:
        run([scratch / "bench_dequantise", milliseconds], output)
        output.seek(0)
        return json.load(output)


class Client:
    """Runs bench_client as it lies in `scratch`. Whatever it reads, it reads all of it."""

    def __init__(self, scratch: Path):
        self._scratch = scratch

    def seconds(self, *words) -> float:
        """What bench_client measured, told what to do in its own words."""
        with tempfile.TemporaryFile(dir=self._scratch) as output:
            run([self._scratch / "bench_client", *words], output)
            output.seek(0)
            return int(output.read()) / 1e9

    def drop(self, *ranges: Range) -> None:
        self.seconds("drop", *ranges)

    def warm(self, *ranges: Range) -> None:
        """Brings files into the page cache as a sequential read does, whatever brought them there before."""
        self.drop(*(whole(file) for file in {range_.file for range_ in ranges}))
        for range_ in ranges:
            self.seconds("read", CAT_BLOCK, range_)

    def read_speed(self, *ranges: Range, how: str = "read", block: int = CAT_BLOCK) -> float:
        """GB/s, by a thread for each range."""
        return sum(range_.nbytes for range_ in ranges) / self.seconds(how, block, *ranges) / 1e9

    def map_speed(self, range_: Range, processes: int = 1) -> float:
        return processes * range_.nbytes / self.seconds("map", processes, range_) / 1e9

    def load_speed(self, ranges: list[Range], threads: int) -> float:
        """GB/s of a loader that maps the files, and whose threads take one range after the other."""
        with tempfile.NamedTemporaryFile("w", dir=self._scratch, suffix=".ranges") as listed:
            listed.writelines(f"{range_}\n" for range_ in ranges)
            listed.flush()
            return sum(range_.nbytes for range_ in ranges) / self.seconds("load", threads, listed.name) / 1e9

    def random_wait(self, range_: Range, reads: int) -> float:
        """Microseconds."""
        return self.seconds("random", THREADS, reads, range_) * THREADS / reads * 1e6
