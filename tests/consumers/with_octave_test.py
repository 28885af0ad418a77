"""Octave reads the views npy and f32, by read_npy.m beside this."""

from __future__ import annotations

import itertools
import math
import struct
from pathlib import Path

from checks import check_equal, need_program, run
from models import BITS, Tensor, every_pattern, random_tensor, write_shard
from mounts import Mount

# Octave's class for each type.
CLASS = {
    "BOOL": "uint8", "U8": "uint8", "I8": "int8", "I16": "int16", "U16": "uint16", "I32": "int32", "U32": "uint32",
    "F32": "single", "I64": "int64", "U64": "uint64", "F64": "double", "BF16": "uint16", "F8_E4M3": "uint8",
}  # fmt: skip


def in_columns(data: bytes, shape: tuple[int, ...], width: int) -> bytes:
    """Elements in C order, as they lie with the first index running fastest."""
    strides = [math.prod(shape[place + 1 :]) for place in range(len(shape))]
    parts = []
    for index in itertools.product(*(range(size) for size in reversed(shape))):
        at = sum(i * stride for i, stride in zip(reversed(index), strides)) * width
        parts.append(data[at : at + width])
    return b"".join(parts)


def octave(*statements: str) -> list[str]:
    """The lines that they print."""
    script = "; ".join([f"addpath('{Path(__file__).resolve().parent}')", *statements])
    return run(need_program("octave-cli"), "--no-init-file", "--no-history", "--quiet", "--eval", script).splitlines()


def statement(path: Path) -> str:
    quoted = str(path).replace("'", "''")
    return (
        f"a = read_npy('{quoted}'); printf('%s %s ', class(a), mat2str(size(a)));"
        "printf('%02x', typecast(a(:), 'uint8')); printf('\\n')"
    )


def size(shape: tuple[int, ...]) -> str:
    """As Octave tells it: of two dimensions at least, and without ones at the end."""
    sizes = list(shape) + [1] * (2 - len(shape))
    while len(sizes) > 2 and sizes[-1] == 1:
        sizes.pop()
    return "[" + " ".join(map(str, sizes)) + "]"


def line(tensor: Tensor) -> str:
    data = in_columns(tensor.data, tensor.shape, BITS[tensor.dtype] // 8)
    return f"{CLASS[tensor.dtype]} {size(tensor.shape)} {data.hex()}"


def test_every_type(program: str, folder: Path) -> None:
    """octave: reads arrays of every type that it has, in up to four dimensions"""
    need_program("octave-cli")
    tensors = [
        random_tensor(f"{dtype}_{'_'.join(map(str, shape))}", dtype, shape)
        for dtype in CLASS
        for shape in ((), (7,), (3, 5), (4, 2, 3), (2, 3, 4, 5))
    ]
    with Mount(program, write_shard(folder / "m.safetensors", tensors)) as mount:
        lines = octave(*(statement(mount.npy / f"{tensor.name}.npy") for tensor in tensors))
        check_equal(len(lines), len(tensors), "lines")
        for tensor, found in zip(tensors, lines):
            check_equal(found, line(tensor), tensor.name)


def test_known_values(program: str, folder: Path) -> None:
    """octave: known values, and sums of them"""
    need_program("octave-cli")
    tensors = [
        Tensor("f32", "F32", (2, 3), struct.pack("<6f", 0.5, -1.25, 3e38, 1e-45, -0.0, 7)),
        Tensor("f64", "F64", (3,), struct.pack("<3d", 1 / 3, -1e308, 5e-324)),
        Tensor("i8", "I8", (4,), struct.pack("<4b", -128, -1, 0, 127)),
        Tensor("i64", "I64", (2, 2), struct.pack("<4q", -(2**63), 2**63 - 1, 2**53 + 1, -1)),
        Tensor("u8", "U8", (2, 2, 2), bytes([0, 1, 2, 3, 4, 5, 6, 255])),
        Tensor("bf16", "BF16", (2, 2), struct.pack("<4H", 0x3F80, 0xC000, 0x3E80, 0x42C8)),
    ]
    with Mount(program, write_shard(folder / "m.safetensors", tensors)) as mount:
        found = octave(
            f"n = @(name) read_npy(['{mount.npy}/' name '.npy'])",
            "x = n('f32'); printf('%.9g %.9g %.9g %.9g\\n', x(1, 1), x(1, 2), x(2, 1), x(2, 3))",
            "x = n('f64'); printf('%.17g %.17g %.17g\\n', x)",
            "x = n('i8'); printf('%d %d %d %d\\n', x)",
            "x = n('i64'); printf('%d %d %d %d\\n', x(1, 1), x(1, 2), x(2, 1), x(2, 2))",
            "x = n('u8'); printf('%d %d %d %d\\n', x(1, 1, 2), x(1, 2, 1), x(2, 1, 1), x(2, 2, 2))",
            f"x = read_npy('{mount.f32}/bf16.npy'); printf('%s %g %g\\n', class(x), x(2, 2), sum(x(:)))",
        )
        wanted = [
            f"{0.5:.9g} {-1.25:.9g} {struct.unpack('<f', struct.pack('<f', 1e-45))[0]:.9g} 7",
            f"{1 / 3:.17g} {-1e308:.17g} {5e-324:.17g}",
            "-128 -1 0 127",
            f"{-(2**63)} {2**63 - 1} {2**53 + 1} -1",
            "1 2 4 255",
            "single 100 99.25",
        ]
        check_equal(found, wanted, "values")


def test_widened(program: str, folder: Path) -> None:
    """octave: reads all values of BF16, widened"""
    need_program("octave-cli")
    tensor = every_pattern("t", "BF16")
    with Mount(program, write_shard(folder / "m.safetensors", [tensor])) as mount:
        wide = b"".join(b"\0\0" + tensor.data[at : at + 2] for at in range(0, len(tensor.data), 2))
        check_equal(octave(statement(mount.f32 / "t.npy")), [f"single [65536 1] {wide.hex()}"], "f32")
