"""The rows that read tensors: how fast, by one reader or several, from the page cache, the disk or a slow one."""

from __future__ import annotations

import contextlib
import functools
import itertools

from .bench import Bench
from .client import DIRECT_BLOCK, THREADS
from .figures import Line, Target
from .files import whole
from .machine import IS_ROOT, PEERS, drop_system_caches, need_root, set_read_ahead
from .systems import NATIVE, OURS, View

PROCESSES = 4
USER_READ_AHEAD_KIB = 128  # the kernel's default for a FUSE mount


def row_cat(bench: Bench) -> None:
    """first read of a tensor, as cat does it"""
    line = Line("cat", "first read", "GB/s", Target("≥", 0.42))
    bench.alternate_first([line], [*NATIVE, *OURS, *bench.systems.peers],
                          lambda view: (bench.client.read_speed(view.range),))


def row_again(bench: Bench) -> None:
    """reading it again, once it is cached"""
    line = Line("again", "second read", "GB/s", Target("≥", 0.80))
    requests: list[int] = []

    def measure(view: View) -> tuple:
        before = view.reads()
        speed = bench.client.read_speed(view.range)
        requests.append(view.reads() - before)
        return (speed,)
    bench.alternate_again([line], [*NATIVE, *OURS, *bench.systems.peers],
                          lambda view: bench.client.read_speed(view.range), measure)
    # Rarely not 0: kernels drop some pages of a FUSE mount's cache now and then, without a lack of memory.
    line.notes.append(f"{sum(requests)} READ requests to tensorfs")


def row_direct(bench: Bench) -> None:
    """reading past the page cache (O_DIRECT), 16 MiB at a time"""
    line = Line("direct", "O_DIRECT, 16 MiB blocks", "GB/s", Target("≥", 0.85))

    def measure(view: View) -> tuple:
        return (bench.client.read_speed(view.range, how="direct" if view.mounted else "read", block=DIRECT_BLOCK),)
    bench.alternate_first([line], [*NATIVE, *OURS, *bench.systems.peers], measure)


def row_map(bench: Bench) -> None:
    """first scan of a mapping, with a user's read-ahead, compared with the baseline"""
    line = Line("map", "first scan of a mapping", "GB/s", Target("≥", 2.4), reference="baseline")

    def measure(view: View) -> tuple:
        if view.mounted and IS_ROOT:
            set_read_ahead(view.mounted.at, USER_READ_AHEAD_KIB)
        return (bench.client.map_speed(view.range),)
    bench.alternate_first([line], [*NATIVE, *OURS], measure)


def row_map_root(bench: Bench) -> None:
    """the same with the read-ahead that tensorfs sets as root"""
    need_root()
    line = Line("map-root", "the same, mounted by root", "GB/s")
    bench.alternate_first([line], [*NATIVE, *OURS], lambda view: (bench.client.map_speed(view.range),))


def row_map_again(bench: Bench) -> None:
    """scans of a mapping by 4 processes at once, once it is cached"""
    line = Line("map-again", f"cached, {PROCESSES} processes", "GB/s", Target("≥", 0.95))
    bench.alternate_again([line], [*NATIVE, *OURS], lambda view: bench.client.map_speed(view.range),
                          lambda view: (bench.client.map_speed(view.range, PROCESSES),))


def row_random(bench: Bench) -> None:
    """4 KiB at random places, by 4 threads, first and cached"""
    lines = [Line("random", f"4 KiB, {what}, {THREADS} threads", "µs") for what in ("first", "cached")]

    def measure(view: View) -> tuple:
        first = bench.client.random_wait(view.range, bench.sizes.random_reads)
        bench.client.read_speed(view.range)
        return first, bench.client.random_wait(view.range, 10 * bench.sizes.random_reads)
    bench.alternate_first(lines, [*NATIVE, *OURS, *bench.systems.peers], measure)
    for line in lines:
        peers = [name for name in line.figures if name in PEERS]
        if peers:
            line.reference, line.target = min(peers, key=line.median), Target("≤", 1.0)


def row_cold(bench: Bench) -> None:
    """reading what is in no cache, through a fresh daemon"""
    line = Line("cold", "from the disk", "GB/s", Target("≥", 0.95))

    def measure(view: View) -> tuple:
        if IS_ROOT:
            drop_system_caches(3)
        else:
            bench.client.drop(whole(bench.data.big.file))
        return (bench.client.read_speed(view.range),)
    bench.alternate_first([line], ["native", *OURS], measure)


def row_slow(bench: Bench) -> None:
    """reading from a disk that takes 1, 5 or 10 ms more a request"""
    big, stretch, shard = bench.data.big, bench.sizes.slow_stretch, bench.data.big.file
    begins = itertools.cycle(range(0, big.nbytes - stretch + 1, stretch))

    def read_slowly(delay: int, name: str) -> tuple:
        fault = bench.systems.new_folder() / shard.name
        begin = next(begins)
        with contextlib.ExitStack() as stack:
            faulty = [bench.scratch / "faulty_fs", bench.data.model, fault.parent]
            disk = stack.enter_context(bench.systems.serving(faulty))
            range_ = big._replace(file=disk.at / shard.name)
            if name != "native":
                mounted = stack.enter_context(bench.systems.tensorfs(disk.at, "order=free"))  # it stands for a disk
                range_ = whole(mounted.at / "big/weight")
            fault.write_text(f"delay {delay}")
            stack.callback(fault.unlink)  # so that nothing waits longer than it must
            return (1e3 * bench.client.read_speed(range_.part(begin, stretch)),)

    bench.client.warm(big)
    for delay in (1, 5, 10) if bench.effort.is_whole else (5,):
        line = Line("slow", f"disk with {delay} ms a request", "MB/s", Target("≥", 0.9))
        bench.alternate([line], ["native", "tensorfs"], functools.partial(read_slowly, delay))


def row_readers(bench: Bench) -> None:
    """8 readers of 8 tensors at once, compared with one reader"""
    paths = [path for path, _ in sorted(bench.data.tensors.items(), key=lambda item: -item[1].nbytes)
             if path != "big/weight"][:8]
    nbytes = min(bench.data.tensors[path].nbytes for path in paths)  # so that all end at about the same time
    line = Line("readers", "8 readers together", "GB/s", Target("≥", 1.0), reference="one reader")
    bench.client.warm(*(bench.data.tensors[path].part(0, nbytes) for path in paths))
    with bench.systems.tensorfs(bench.data.model) as mounted:
        ranges = [whole(mounted.at / path).part(0, nbytes) for path in paths]

        def measure(name: str) -> tuple:
            bench.client.drop(*ranges)
            if name == "tensorfs":
                return (bench.client.read_speed(*ranges),)
            return (8 / sum(1 / bench.client.read_speed(range_) for range_ in ranges),)
        bench.alternate([line], ["tensorfs", "one reader"], measure)


ROWS = (row_cat, row_again, row_direct, row_map, row_map_root, row_map_again, row_random, row_cold, row_slow,
        row_readers)
