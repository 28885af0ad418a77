"""A C program reads the views npy and f32: read_npy.c beside this."""

from __future__ import annotations

import struct
from pathlib import Path

from checks import check_equal, need_program, run
from models import Tensor, random_tensor, write_shard
from mounts import Mount


def shortest(number: str) -> str:
    """One text for a number that can be written in several ways, as C's %a can."""
    return number if "nan" in number else float.fromhex(number).hex()


def test_reads(program: str, folder: Path) -> None:
    """C: reads length, header and elements"""
    compiler = need_program("cc")
    floats = [0.0, -0.0, 1.5, -3.4e38, 1e-45, float("inf"), -float("inf"), 1 / 3]
    integers = [-(2**63), -1, 0, 2**63 - 1]
    tensors = [
        Tensor("f32", "F32", (2, 4), struct.pack("<8f", *floats)),
        Tensor("f64", "F64", (8,), struct.pack("<8d", *floats)),
        Tensor("i64", "I64", (2, 1, 2), struct.pack("<4q", *integers)),
        Tensor("scalar", "F32", (), struct.pack("<f", 2.5)),
        Tensor("none", "F32", (0, 3)),
        Tensor("bf16", "BF16", (3,), struct.pack("<3H", 0x3F80, 0xC000, 0x0001)),
        Tensor("f4", "F4", (4,), bytes([0x21, 0xF8])),
        random_tensor("u8", "U8", (3000,)),
    ]
    with Mount(program, write_shard(folder / "m.safetensors", tensors)) as mount:
        reader = folder / "read_npy"
        source = Path(__file__).resolve().with_name("read_npy.c")
        run(compiler, "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-o", reader, source)

        def read(path: Path) -> tuple[str, list[str]]:
            first, *lines = run(reader, path).splitlines()
            return first, lines

        def check_floats(path: Path, first: str, wanted: list[float]) -> None:
            found_first, lines = read(path)
            check_equal(found_first, first, str(path))
            check_equal([shortest(line) for line in lines], [number.hex() for number in wanted], str(path))

        singles = list(struct.unpack("<8f", tensors[0].data))
        check_floats(mount.npy / "f32.npy", "<f4 (2, 4)", singles)
        check_floats(mount.npy / "f64.npy", "<f8 (8,)", floats)
        check_floats(mount.npy / "scalar.npy", "<f4 ()", [2.5])
        check_floats(mount.npy / "none.npy", "<f4 (0, 3)", [])
        check_floats(mount.f32 / "bf16.npy", "<f4 (3,)", [1.0, -2.0, 2.0**-133])
        check_floats(mount.f32 / "f4.npy", "<f4 (4,)", [0.5, 1.0, -0.0, -6.0])
        check_equal(read(mount.npy / "i64.npy"), ("<i8 (2, 1, 2)", list(map(str, integers))), "i64")
        check_equal(read(mount.npy / "u8.npy"), ("|u1 (3000,)", list(map(str, tensors[-1].data))), "u8")
        check_equal(read(mount.npy / "f4.npy"), ("|u1 (2,)", ["33", "248"]), "f4 as packed bytes")
