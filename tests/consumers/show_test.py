"""The pictures of `tensorfs show`, decoded with no more than Python's zlib."""

from __future__ import annotations

import math
import struct
import subprocess
import zlib
from pathlib import Path
from typing import NamedTuple

from checks import check, check_equal
from models import Tensor, write_shard

NAN = (60, 60, 60)
INFINITY = (255, 190, 0)
ZERO = (247, 247, 247)


class Picture(NamedTuple):
    width: int
    height: int
    rows: list[bytes]

    def at(self, x: int, y: int) -> tuple[int, int, int]:
        red, green, blue = self.rows[y][3 * x : 3 * x + 3]
        return red, green, blue

    def colours(self) -> dict[tuple[int, int, int], int]:
        """How many pixels have each colour."""
        counts: dict[tuple[int, int, int], int] = {}
        for row in self.rows:
            for x in range(0, len(row), 3):
                colour = (row[x], row[x + 1], row[x + 2])
                counts[colour] = counts.get(colour, 0) + 1
        return counts


def unfiltered(kind: int, line: bytes, above: bytes) -> bytes:
    """A line of pixels of three bytes, by the filters of the PNG specification."""
    if kind == 0:
        return line
    out = bytearray(line)
    for i in range(len(out)):
        left = out[i - 3] if i >= 3 else 0
        up = above[i]
        corner = above[i - 3] if i >= 3 else 0
        if kind == 4:
            base = left + up - corner
            guess = min((left, up, corner), key=lambda value: abs(base - value))
        else:
            guess = (left, up, (left + up) // 2)[kind - 1]
        out[i] = (out[i] + guess) & 0xFF
    return bytes(out)


def decode(path: Path) -> Picture:
    data = path.read_bytes()
    check_equal(data[:8], b"\x89PNG\r\n\x1a\n", "signature")
    packed = b""
    width = height = 0
    at = 8
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        kind = data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + size]
        check_equal(struct.unpack_from(">I", data, at + 8 + size)[0], zlib.crc32(kind + body), f"checksum of {kind!r}")
        if kind == b"IHDR":
            width, height, *rest = struct.unpack(">IIBBBBB", body)
            check_equal(rest, [8, 2, 0, 0, 0], "8 bits a channel, RGB, not interlaced")
        if kind == b"IDAT":
            packed += body
        at += 12 + size
    lines = zlib.decompress(packed)
    step = 1 + 3 * width
    check_equal(len(lines), step * height, "bytes of the picture")
    rows: list[bytes] = []
    for y in range(height):
        line = lines[y * step : (y + 1) * step]
        rows.append(unfiltered(line[0], line[1:], rows[-1] if rows else bytes(3 * width)))
    return Picture(width, height, rows)


def show(program: str, source: Path, *words: str) -> str:
    done = subprocess.run([program, "show", str(source), *words], capture_output=True, text=True, timeout=60)
    check_equal(done.returncode, 0, f"show {words}: {done.stderr!r}")
    return done.stdout


def floats(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


def is_blue(colour: tuple[int, int, int]) -> bool:
    return colour[2] > colour[0]


def test_cells(program: str, folder: Path) -> None:
    """show --png: each element is a square of its colour, row by row"""
    numbers = (-1.0, 0.0, 1.0, math.nan, math.inf, 0.5)
    source = write_shard(folder / "m.safetensors", [Tensor("x", "F32", (2, 3), floats(*numbers))])
    show(program, source, "x", "--png", str(folder / "x.png"))
    picture = decode(folder / "x.png")
    # The first square of 64 x 64 pixels of one colour but white is the map's corner.
    dark_blue = (5, 40, 95)
    top = next(y for y in range(picture.height) if picture.rows[y].count(bytes(dark_blue) * 64))
    left = next(x for x in range(picture.width) if picture.at(x, top) == dark_blue)
    cells = [[picture.at(left + 64 * x + 32, top + 64 * y + 32) for x in range(3)] for y in range(2)]
    check_equal(cells[0], [dark_blue, ZERO, (95, 0, 30)], "the first row")
    check_equal(cells[1], [NAN, INFINITY, (225, 110, 85)], "the second row")
    counts = picture.colours()
    check(counts[NAN] > 64 * 64 and counts[INFINITY] > 64 * 64, "NaN and infinity are in the legend, too")
    check(counts[(0, 0, 0)] > 1000, "there are labels")


def test_largest(program: str, folder: Path) -> None:
    """show --png: no more than 1,024 cells a side, which are averages or the largest magnitudes"""
    side = 2048
    rows = [[0.0] * side for _ in range(2)]
    rows[0][0::2] = [1.0] * (side // 2)
    rows[0][1::2] = [-1.0] * (side // 2)
    rows[1][0] = -1.0
    data = b"".join(floats(*row) for row in rows)
    source = write_shard(folder / "m.safetensors", [Tensor("x", "F32", (2, side), data)])
    for words, has_red in (((), False), (("--largest",), True)):
        said = show(program, source, "x", "--png", str(folder / "x.png"), *words)
        check(("largest magnitudes" if has_red else "averages") in said, f"what the cells are: {said}")
        picture = decode(folder / "x.png")
        check(1024 < picture.width < 1400, f"width {picture.width}")
        # A line through the first row of cells: below it is the second, 24 pixels high, as is the first.
        row = max(range(picture.height), key=lambda y: picture.rows[y].count(bytes(ZERO))) if not has_red else None
        if row is not None:
            check(picture.rows[row].count(bytes(ZERO)) > 900, "averages of 1 and -1 are 0")
        reds = picture.colours().get((95, 0, 30), 0)
        check((reds > 1000 * 20) == has_red, f"{reds} pixels of the largest number {words}")


def test_slice(program: str, folder: Path) -> None:
    """show --png: --slice takes the matrix that it names, also of types whose elements share bytes"""
    numbers = [-1.0] * 9 + [1.0] * 9
    packed = bytes([0xAA] * 4 + [0x2A] + [0x22] * 4)  # F4: nine times -1, then nine times 1
    tensors = [Tensor("f32", "F32", (2, 1, 3, 3), floats(*numbers)), Tensor("f4", "F4", (2, 1, 3, 3), packed)]
    source = write_shard(folder / "m.safetensors", tensors)
    for name in ("f32", "f4"):
        for words, blue in (((), True), (("--slice=0,0",), True), (("--slice=1,0",), False), (("--slice=-1,0",), False)):
            said = show(program, source, name, "--png", str(folder / "x.png"), *words)
            check_equal("others by --slice" in said, not words, f"{name} {words}: says that there are others")
            counts = decode(folder / "x.png").colours()
            most = max((colour for colour in counts if colour != (255, 255, 255)), key=lambda colour: counts[colour])
            check_equal(is_blue(most), blue, f"{name} {words}: {most}")


def test_odd_shapes(program: str, folder: Path) -> None:
    """show --png: scalars, vectors, constants, all NaN, very wide, very tall and empty tensors are pictures"""
    tensors = [
        Tensor("scalar", "F32", (), floats(3.5)),
        Tensor("vector", "F32", (70,), floats(*range(70))),
        Tensor("constant", "F32", (5, 5), floats(*[2.0] * 25)),
        Tensor("zeros", "F32", (5, 5), bytes(100)),
        Tensor("nan", "F32", (5, 5), floats(*[math.nan] * 25)),
        Tensor("wide", "F32", (1, 5000), floats(*range(5000))),
        Tensor("tall", "F32", (5000, 1), floats(*range(5000))),
        Tensor("empty", "F32", (3, 0), b""),
        Tensor("n" * 500, "U8", (2, 2), b"\0\1\2\3"),
    ]
    source = write_shard(folder / "m.safetensors", tensors)
    for tensor in tensors:
        show(program, source, tensor.name, "--png", str(folder / "x.png"))
        width, height = struct.unpack_from(">II", (folder / "x.png").read_bytes(), 16)
        check(640 <= width <= 1500 and 50 < height < 1500, f"{tensor.name}: {width} x {height}")
        check((folder / "x.png").stat().st_mode & 0o400 != 0, f"{tensor.name}: it can be read")
