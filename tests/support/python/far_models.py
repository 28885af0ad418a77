"""A model that is served from afar, and what must hold of it however it gets here."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from pathlib import Path
from typing import Callable, NamedTuple

from checks import check, check_equal, run
from models import Tensor, random_tensor, write_shard
from mounts import Mount

MIB = 1 << 20
BIG = 12 * MIB
# What may be fetched besides: a window that was asked for ahead, and what lies in the buffers of sockets.
AHEAD = 9 * MIB
SHARDS = 2


def write_model(folder: Path, seed: int = 0, big: int = BIG) -> list[Tensor]:
    """Two tensors of at least `big` bytes, one of 1 MB and a small one. Each shard appears at once."""
    folder.mkdir(exist_ok=True)
    first = [random_tensor("big", "U8", (big + 17,), seed), random_tensor("a.b", "BF16", (100, 30), seed)]
    second = [random_tensor("small", "F32", (250, 1000), seed), random_tensor("rest", "F16", (big // 2,), seed)]
    for number, tensors in enumerate((first, second), 1):
        write_shard(folder / "new", tensors).rename(folder / f"model-{number:05}-of-{SHARDS:05}.safetensors")
    return first + second


def file_of(mount: Mount, tensor: Tensor) -> Path:
    return mount.path / tensor.name.replace(".", "/")


def check_tensor(mount: Mount, tensor: Tensor) -> None:
    digest = hashlib.sha256(file_of(mount, tensor).read_bytes()).hexdigest()
    check_equal(digest, hashlib.sha256(tensor.data).hexdigest(), f"{tensor.name}: SHA-256")


# In a process of its own: a thread that waits for a page keeps Python's lock, and the wire would wait for it.
MAP = """
import hashlib, mmap, sys
with open(sys.argv[1], "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
    print(mapped[-5:].hex(), hashlib.sha256(mapped).hexdigest())
"""


def check_mapped(mount: Mount, tensor: Tensor) -> None:
    """Its end first."""
    wanted = f"{tensor.data[-5:].hex()} {hashlib.sha256(tensor.data).hexdigest()}\n"
    check_equal(run(sys.executable, "-c", MAP, file_of(mount, tensor)), wanted, f"{tensor.name}: the mapping")


class Far(NamedTuple):
    """A filesystem that shows the server's folder."""

    mount: Callable[[], contextlib.AbstractContextManager[Path]]  # anew, with nothing cached
    fetched: Callable[[], int]  # bytes that came from the server so far


def check_model(program: str, far: Far, tensors: list[Tensor], *, fetches_headers_alone: bool = True) -> None:
    """It mounts by its headers, all bytes are right, by reads and by mappings, and a tensor is read by itself."""
    big, small = tensors[0], tensors[2]
    with far.mount() as at:
        names = sorted(os.listdir(at / "model"))  # what a listing costs is the filesystem's own
        check_equal(len(names), SHARDS, "shards")
        before = far.fetched()
        with Mount(program, at / "model") as mount:
            check_equal(sorted(os.listdir(mount.path)), ["a", "big", "rest", "small"], "listing")
            headers = far.fetched() - before
            print(f"mounting fetched {headers} bytes")
            if fetches_headers_alone:
                check(headers <= SHARDS * 1.1 * MIB, f"mounting fetched {headers} bytes")
            before = far.fetched()
            check_tensor(mount, small)
            read = far.fetched() - before
            print(f"a tensor of {small.nbytes} bytes fetched {read}")
            if fetches_headers_alone:
                check(read <= small.nbytes + AHEAD, f"a tensor of {small.nbytes} bytes fetched {read}")
            for tensor in tensors:
                check_tensor(mount, tensor)
            mount.check_lives()
    with far.mount() as at, Mount(program, at / "model") as mount:
        check_mapped(mount, big)
        check_mapped(mount, small)
        check((mount.hidden / "npy/small.npy").read_bytes().endswith(small.data), "small.npy")
        mount.check_lives()
