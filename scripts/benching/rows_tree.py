"""The rows about the tree: how long it takes to mount a model of many tensors and to list all that it shows."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Callable

from .bench import Bench
from .commands import Failed, run
from .figures import Line, Target
from .machine import IS_ROOT
from .mounts import unmount
from .systems import OURS

WALKERS = 4


def listed(bench: Bench, command: list, is_wanted: Callable[[bytes], bool], at_least: int) -> float:
    """Seconds that a command takes that lists; that it listed enough is checked."""
    with tempfile.TemporaryFile(dir=bench.scratch) as output:
        took = run(command, output)
        output.seek(0)
        count = sum(map(is_wanted, output))
    if count < at_least:
        raise Failed(f"{command[0]} lists {count} instead of {at_least}")
    return took


def find(bench: Bench, at: Path) -> float:
    """Milliseconds."""
    return 1e3 * listed(bench, ["find", at, "-type", "f", "-size", "+0"], bool, len(bench.data.moe_sizes))


def find_by_walkers(bench: Bench, at: Path) -> float:
    """Milliseconds. All but the few tensors that are in no layer."""
    script = f'ls -d "$0"/model/layers/* | xargs -P{WALKERS} -n16 sh -c \'exec find "$@" -type f -size +0\' sh'
    in_layers = sum(path.startswith("model/layers/") for path in bench.data.moe_sizes)
    return 1e3 * listed(bench, ["sh", "-c", script, at], bool, in_layers)


def row_mount(bench: Bench) -> None:
    """mounting a model of 104,806 tensors, until it answers"""
    line = Line("mount", f"{bench.sizes.tensors:,} tensors", "ms", Target("≤", 120, "figure"))
    at = bench.systems.new_folder()

    def measure(name: str) -> tuple:
        options = ["-o", "baseline"] if name == "baseline" else []
        try:
            took = run([bench.scratch / "tensorfs", *options, bench.data.moe, at])
            os.listdir(at)
            return (1e3 * took,)
        finally:
            unmount(at)  # and the daemon ends
    measure("tensorfs")  # so that the headers are in the page cache
    bench.alternate([line], list(OURS), measure)


def row_find(bench: Bench) -> None:
    """find -size over these, first and again"""
    lines = [Line("find", "first", "ms", Target("≤", 5.0), reference="tmpfs"),
             Line("find", "again", "ms", Target("≤", 1.1), reference="tmpfs")]

    def measure(name: str) -> tuple:
        with bench.systems.tree_through(name) as at:
            return find(bench, at), find(bench, at)
    names = ["tmpfs", *OURS]
    names += [bench.systems.filesystem] if IS_ROOT and bench.systems.filesystem != "tmpfs" else []
    names += ["squashfuse"] if "squashfuse" in bench.systems.peers else []
    bench.alternate(lines, names, measure, slow=("baseline", "squashfuse"))


def row_walkers(bench: Bench) -> None:
    """the same by 4 finds at once, first, compared with one find over a tmpfs"""
    line = Line("walkers", f"{WALKERS} finds at once, first", "ms", Target("≤", 2.5), reference="tmpfs")

    def measure(name: str) -> tuple:
        with bench.systems.tree_through(name) as at:
            return (find(bench, at) if name == "tmpfs" else find_by_walkers(bench, at),)
    bench.alternate([line], ["tmpfs", *OURS], measure, slow=("baseline",))


def row_ls(bench: Bench) -> None:
    """ls -lR over these again, and getfattr over one layer"""
    target = Target("≤", 0.5)
    lines = [Line("ls", "ls -lR, again", "ms", target, reference="baseline"),
             Line("ls", "getfattr -dR, each attribute", "µs", target, reference="baseline")]
    tensors = len(bench.data.moe_sizes)
    with contextlib.ExitStack() as stack:
        roots = {name: stack.enter_context(bench.systems.tree_through(name)) for name in ("tmpfs", *OURS)}
        layers = sorted(os.listdir(roots["tensorfs"] / "model/layers"), key=int)
        layer = Path("model/layers", layers[len(layers) // 2])
        attributes = sum(len(os.listxattr(Path(top, name))) for top, folders, files
                         in os.walk(roots["tensorfs"] / layer) for name in folders + files)

        def list_all(name: str) -> float:
            return 1e3 * listed(bench, ["ls", "-lR", roots[name]], lambda line: line.startswith(b"-"), tensors)

        def measure(name: str) -> tuple:
            listing = list_all(name)
            if name == "tmpfs":
                return (listing,)
            command = ["getfattr", "--absolute-names", "-dR", roots[name] / layer]
            took = listed(bench, command, lambda line: line.startswith(b"user."), attributes)
            return listing, 1e6 * took / attributes
        for name in roots:
            if bench.effort.is_whole or name != "baseline":  # which caches nothing
                list_all(name)
        bench.alternate(lines, list(roots), measure, slow=("baseline",))


ROWS = (row_mount, row_find, row_walkers, row_ls)
