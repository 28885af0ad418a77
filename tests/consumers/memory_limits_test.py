"""A model far larger than what daemon and reader may have of memory is read whole, and nothing is killed."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path

from checks import REPOSITORY, check_equal, run
from memory_limit import MemoryLimit
from mounts import Mount

MIB = 1 << 20
DATA = 2048 * MIB  # bytes of BF16
DAEMON = 64 * MIB
READER = 256 * MIB
NPY_HEADER = 4096  # at most

# Reads a file to its end and prints how long it is and what its last 16 bytes are; all before must be zeros.
READ = """
import os
import sys

file = os.open(sys.argv[1], os.O_RDONLY)
zeros, tail, size = bytes((1 << 20) + 16), b"", 0
skip = int(sys.argv[2])
while piece := os.read(file, 1 << 20):
    whole = tail + piece
    start = max(skip - size + len(tail), 0)
    body = whole[start:-16]
    assert body == zeros[:len(body)], f"no zeros near {size}"
    tail, size = whole[-16:], size + len(piece)
print(size, tail.hex())
"""


def write_sparse(folder: Path) -> Path:
    """BF16 zeros, but for the last 4: the numbers 1 to 4."""
    header = json.dumps({"w": {"dtype": "BF16", "shape": [DATA // 2048, 1024], "data_offsets": [0, DATA]}}).encode()
    path = folder / "model.safetensors"
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.seek(DATA - 8, 1)
        file.write(b"".join(struct.pack("<f", n)[2:] for n in range(1, 5)))
    return path


def read_all(limit: MemoryLimit, path: Path, header: int) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path), str(header)], preexec_fn=limit.add_self, capture_output=True, timeout=280
    )  # fmt: skip
    check_equal((done.returncode, done.stderr), (0, b""), f"reading {path.name}")
    size, tail = done.stdout.decode().split()
    return int(size), tail


def check_read(program: str, source: Path, mode: str, wanted: list[tuple[str, int, bytes]]) -> None:
    """`wanted`: the paths, how many bytes at the beginning are no tensor's, and the last 16."""
    with MemoryLimit(DAEMON) as of_daemon, MemoryLimit(READER) as of_reader:
        with Mount(program, source, "-o", f"log=warning,cache={mode}") as mount:
            of_daemon.add(mount.daemon.pid)
            for name, header, end in wanted:
                path = mount.path / name
                check_equal(read_all(of_reader, path, header), (path.stat().st_size, end.hex()), f"{name}, {mode}")
            check_equal(mount.daemon.poll(), None, f"the daemon's exit code, {mode}")
        of_daemon.check_nothing_killed()
        of_reader.check_nothing_killed()


def check_mode(program: str, folder: Path, mode: str) -> None:
    raw = bytes(8) + b"".join(struct.pack("<f", n)[2:] for n in range(1, 5))
    widened = struct.pack("<4f", 1, 2, 3, 4)
    check_read(
        program, write_sparse(folder), mode, [("w", 0, raw), (".tensorfs/f32/w.npy", NPY_HEADER, widened)]
    )  # fmt: skip


def test_keep(program: str, folder: Path) -> None:
    """memory limits: 2 GiB and their 4 GiB in float32, cache=keep"""
    check_mode(program, folder, "keep")


def test_once(program: str, folder: Path) -> None:
    """memory limits: 2 GiB and their 4 GiB in float32, cache=once"""
    check_mode(program, folder, "once")


def test_direct(program: str, folder: Path) -> None:
    """memory limits: 2 GiB and their 4 GiB in float32, cache=direct"""
    check_mode(program, folder, "direct")


def test_whole(program: str, folder: Path) -> None:
    """memory limits: the whole model in float32, as one file"""
    widened = struct.pack("<4f", 1, 2, 3, 4)
    check_read(program, write_sparse(folder), "keep", [(".tensorfs/model-f32.safetensors", NPY_HEADER, widened)])


def test_gathered(program: str, folder: Path) -> None:
    """memory limits: a column-major matrix of 256 MiB, row-major, as a tensor and an array"""
    size = 8192
    path = folder / "w.npy"
    header = f"{{'descr': '<f4', 'fortran_order': True, 'shape': ({size}, {size}), }}".ljust(117) + "\n"
    with path.open("wb") as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode())
        begin = file.tell()
        for i in range(4):  # the last of the last row
            file.seek(begin + 4 * ((size - 4 + i) * size + size - 1))
            file.write(struct.pack("<f", i + 1))
    end = struct.pack("<4f", 1, 2, 3, 4)
    for mode in ("keep", "direct"):
        check_read(program, path, mode, [("w", 0, end), (".tensorfs/npy/w.npy", NPY_HEADER, end)])


def test_gguf(program: str, folder: Path) -> None:
    """memory limits: a quantised GGUF model, raw and in float32"""
    run(sys.executable, REPOSITORY / "scripts" / "make-model", "gguf", folder / "gguf", "--sparse")
    name = "blk/1/ffn_down/weight"  # Q4_K: an empty block is zeros; one of Q6_K is negative ones
    wanted = [(name, 0, bytes(16)), (f".tensorfs/f32/{name}.npy", NPY_HEADER, bytes(16))]
    check_read(program, folder / "gguf", "keep", wanted)
