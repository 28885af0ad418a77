"""How fast floats are widened. It prints figures, and checks none: other tests run beside it."""

from __future__ import annotations

import mmap
import os
import time
from pathlib import Path

from checks import check_equal
from models import BITS, Tensor, random_tensor, write_shard
from mounts import Mount

MEBIBYTE = 1 << 20
OUTPUT = 256 * MEBIBYTE
ROUNDS = 8  # the daemon's time is counted in ticks of 10 ms


def read_all(path: Path, buffer: mmap.mmap) -> int:
    """Past the kernel's cache, so that each round is answered by the daemon."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        at = 0
        while got := os.preadv(descriptor, [buffer], at):
            at += got
        return at
    finally:
        os.close(descriptor)


def test_widened(program: str, folder: Path) -> None:
    """speed: widened floats"""
    elements = OUTPUT // 4
    with mmap.mmap(-1, MEBIBYTE) as buffer:
        tensors = []
        for dtype in ("F16", "BF16", "F8_E4M3", "F6_E3M2", "F4", "F32"):
            part = random_tensor(dtype, dtype, (MEBIBYTE * 8,))
            repeat = elements // part.shape[0]
            tensors.append(Tensor(dtype, dtype, (elements,), part.data * repeat))
        with Mount(program, write_shard(folder / "m.safetensors", tensors)) as mount:
            for tensor in tensors:
                path = mount.f32 / f"{tensor.name}.npy"
                check_equal(read_all(path, buffer), 4096 + OUTPUT, "bytes")
                user, system = mount.cpu_seconds()
                begin = time.monotonic()
                for _ in range(ROUNDS):
                    read_all(path, buffer)
                seconds = time.monotonic() - begin
                user, system = (after - before for after, before in zip(mount.cpu_seconds(), (user, system)))
                total = ROUNDS * OUTPUT / 1e9
                kind = "widened" if BITS[tensor.dtype] < 32 else "as it is"
                print(
                    f"{tensor.dtype:8} {kind:8} {total / seconds:6.2f} GB/s of output by the clock;"
                    f" a second of the daemon: {total / max(user + system, 0.01):6.2f} GB,"
                    f" in user space: {total / max(user, 0.01):6.2f} GB"
                )
            mount.check_lives()
