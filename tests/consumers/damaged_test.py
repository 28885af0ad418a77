"""A shard is cut short while the model is mounted: every view of it gives an input/output error, never
zeros, and all else goes on."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Callable, Iterator

import pytest

from checks import PATIENCE, check, check_equal
from models import random_tensor, write_shard
from mounts import Mount
from reading import read_at, read_directly

SHAPE = (1000, 1001)
NBYTES = SHAPE[0] * SHAPE[1] * 2
DTYPES = ("BF16", "F16", "I16")


class Damaged:
    """Two shards, mounted, of which the first can be cut to half of its size."""

    def __init__(self, program: str, folder: Path) -> None:
        self.tensors = {
            name: [random_tensor(f"{name}_{dtype}", dtype, SHAPE) for dtype in DTYPES] for name in ("cut", "whole")
        }
        for name, tensors in self.tensors.items():
            # Pages of the merged header, too: of what shares a page with damaged bytes, nothing is read.
            write_shard(folder / f"{name}.safetensors", tensors, {name: "x" * 10_000})
        self.shard = folder / "cut.safetensors"
        self.mount = Mount(program, folder)

    def __enter__(self) -> Damaged:
        self.mount.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self.mount.__exit__(*exception)

    def cut(self) -> None:
        os.truncate(self.shard, self.shard.stat().st_size // 2)


@pytest.fixture
def damaged(program: str, folder: Path) -> Iterator[Damaged]:
    with Damaged(program, folder) as mounted:
        yield mounted


def check_refused(read: Callable[[], object], what: str) -> None:
    try:
        read()
    except OSError as error:
        check_equal(error.errno, errno.EIO, f"{what}: error number")
    else:
        check(False, f"{what}: it is read, though its shard is damaged")


def test_views(damaged: Damaged) -> None:
    """damaged: npy, f32 and raw give EIO, other shards go on"""
    mount = damaged.mount
    damaged.cut()
    for _ in range(2):
        for name, tensors in damaged.tensors.items():
            for tensor in tensors:
                for path, header in (
                    (mount.npy / f"{tensor.name}.npy", 4096),
                    (mount.f32 / f"{tensor.name}.npy", 4096),
                    (mount.hidden / "flat" / tensor.name, 0),
                    (mount.path / tensor.name, 0),
                ):
                    nbytes = path.stat().st_size
                    if name == "whole":
                        check_equal(len(path.read_bytes()), nbytes, f"{path.name}: bytes read")
                        continue
                    # Its first half is there, but who knows what else was changed.
                    check_refused(lambda: read_at(path, header, 10), f"{path}, first bytes")
                    check_refused(lambda: read_at(path, nbytes - 10, 10), f"{path}, last bytes")
                    check_refused(lambda: read_at(path, 0, nbytes), f"{path}, all")
                    check_refused(lambda: read_directly(path, nbytes // 2 // 4096 * 4096, 4096), f"{path}, O_DIRECT")
        mount.check_lives()


def test_whole_model(program: str, folder: Path, damaged: Damaged) -> None:
    """damaged: the merged file and the checkpoint give EIO where the shard is, and nowhere else"""
    mount = damaged.mount
    wanted = {name: [tensor.data for tensor in tensors] for name, tensors in damaged.tensors.items()}
    # Where each tensor lies. Read by another mount: what this one reads stays in the kernel's cache.
    places: dict[str, list[tuple[Path, int]]] = {"cut": [], "whole": []}
    with Mount(program, folder) as other:
        for path, theirs in ((mount.merged, other.merged), (mount.checkpoint, other.checkpoint)):
            content = theirs.read_bytes()
            for name, parts in wanted.items():
                places[name] += [(path, content.index(data)) for data in parts]
    damaged.cut()
    for path, place in places["cut"]:
        check_refused(lambda: read_at(path, place, NBYTES), f"{path.name}: all of a tensor")
        check_refused(lambda: read_at(path, place + NBYTES // 2, 1), f"{path.name}: a byte in the middle")
    for index, (path, place) in enumerate(places["whole"]):
        data = wanted["whole"][index % len(DTYPES)]
        if index % len(DTYPES) == 0:  # its first page begins with the damaged shard's last bytes
            place, data = place + 4096, data[4096:]
        check(read_at(path, place, len(data)) == data, f"{path.name}: a tensor of the other shard")
    check_equal(len(read_at(mount.merged, 0, 20_000)), 20_000, "the merged file's header")
    mount.check_lives()


def test_libraries(numpy: ModuleType, torch: ModuleType, damaged: Damaged) -> None:
    """damaged: NumPy and PyTorch say so"""
    mount = damaged.mount
    damaged.cut()
    for tensor in damaged.tensors["cut"]:
        for view in (mount.npy, mount.f32):
            # NumPy reads by fread, does not ask why it got no more, and finds the array too short.
            try:
                numpy.load(view / f"{tensor.name}.npy")
            except (OSError, ValueError, EOFError) as error:
                print(f"NumPy: {type(error).__name__}: {error}")
            else:
                check(False, "NumPy loads a tensor of a damaged shard")
    for tensor in damaged.tensors["whole"]:
        check_equal(numpy.load(mount.f32 / f"{tensor.name}.npy").shape, SHAPE, "shape")
    try:
        torch.load(mount.checkpoint)
    except (OSError, RuntimeError) as error:
        print(f"PyTorch: {type(error).__name__}: {str(error).splitlines()[0]}")
    else:
        check(False, "PyTorch loads a checkpoint of a damaged shard")
    mount.check_lives()


@pytest.mark.usefixtures("numpy")
def test_mapping(damaged: Damaged) -> None:
    """damaged: a mapping of it gets SIGBUS, and the daemon lives"""
    script = "import numpy, sys; a = numpy.load(sys.argv[1], mmap_mode='r'); input(); print(a.sum())"
    mount = damaged.mount
    readers = [
        subprocess.Popen([sys.executable, "-c", script, str(view / f"{name}_F16.npy")], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=no_core)
        for view in (mount.npy, mount.f32) for name in ("cut", "whole")
    ]  # fmt: skip
    try:
        for reader in readers:  # mapped, once its header was read
            wait_for_mapping(reader.pid, str(mount.path))
        damaged.cut()
        codes = [reader.communicate(b"\n", timeout=PATIENCE) and reader.returncode for reader in readers]
    finally:
        for reader in readers:
            reader.kill()
            reader.wait()
    check_equal(codes, [-signal.SIGBUS, 0, -signal.SIGBUS, 0], "exit codes")
    mount.check_lives()


def no_core() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def wait_for_mapping(pid: int, path: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while path not in Path(f"/proc/{pid}/maps").read_text():
        check(time.monotonic() < deadline, "a program does not map a file")
        time.sleep(0.005)
