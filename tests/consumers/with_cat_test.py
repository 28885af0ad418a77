"""What `tensorfs cat` shows and slices is what NumPy prints and slices."""

from __future__ import annotations

import io
import random
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any, Iterator

from checks import TemporaryFolder, check, check_equal
from models import Tensor, write_shard

TYPES = {
    "F32": "<f4", "F64": "<f8", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I8": "|i1", "U8": "|u1", "U64": "<u8",
    "BOOL": "|b1", "C64": "<c8",
}  # fmt: skip
SHAPES = [
    (), (1,), (0,), (5,), (30,), (3, 4), (2, 3, 4), (1001,), (40, 40), (8, 3, 50), (2, 0, 3), (7, 7, 7, 7), (100, 2),
    (1, 1, 1), (6, 200),
]  # fmt: skip


def cat(program: str, path: Path, name: str, *options: str) -> bytes:
    done = subprocess.run([program, "cat", str(path), name, *options], capture_output=True, timeout=60)
    check_equal(done.returncode, 0, f"cat {name} {options}: {done.stderr!r}")
    return done.stdout


def reals(numpy: Any, rng: Any, count: int) -> Any:
    """Numbers of one of the kinds that NumPy prints in different ways."""
    values = rng.standard_normal(count)
    kind = rng.integers(0, 6)
    if kind == 1:
        values = values * 10.0 ** rng.integers(-8, 8, count)
    elif kind == 2:
        values = numpy.round(values, 2)
    elif kind == 3:
        values = values * 1e-6
    elif kind == 4:
        values = numpy.round(values * 100)
    elif kind == 5 and count:
        values[rng.integers(0, count)] = numpy.nan
        values[rng.integers(0, count)] = -numpy.inf
    return values


def random_array(numpy: Any, rng: Any, dtype: str, shape: tuple[int, ...]) -> Any:
    count = int(numpy.prod(shape))
    if dtype.startswith("F"):
        values = reals(numpy, rng, count)
    elif dtype == "C64":
        values = reals(numpy, rng, count) + 1j * numpy.round(rng.standard_normal(count), 1)
    elif dtype == "BOOL":
        values = rng.integers(0, 2, count)
    else:
        limits = numpy.iinfo(TYPES[dtype])
        low = max(limits.min, -1000) if rng.integers(0, 2) else limits.min
        high = limits.max if rng.integers(0, 2) else 100
        values = rng.integers(low, high, count, dtype=TYPES[dtype], endpoint=True)
    with numpy.errstate(all="ignore"):
        return values.astype(TYPES[dtype]).reshape(shape)


def write_arrays(numpy: Any, seed: int, path: Path) -> dict[str, Any]:
    rng = numpy.random.default_rng(seed)
    arrays = {
        f"{dtype} {number}": random_array(numpy, rng, dtype, shape)
        for dtype in TYPES
        for number, shape in enumerate(SHAPES)
    }
    write_shard(path, [Tensor(name, name.split()[0], a.shape, a.tobytes()) for name, a in arrays.items()])
    return arrays


def test_text(program: str, numpy: ModuleType) -> None:
    """cat: text is what NumPy prints"""
    for seed in range(8):
        with TemporaryFolder() as folder:
            path = folder / "m.safetensors"
            for name, array in write_arrays(numpy, seed, path).items():
                shown = cat(program, path, name, "--format", "text").decode()
                check(shown == str(array) + "\n", f"seed {seed}, {name} {array.shape}: NumPy prints\n{array}\nand cat\n{shown}")


def random_slices(rng: random.Random, shape: tuple[int, ...]) -> Iterator[tuple[str, Any]]:
    """For some dimensions a word and what it means in Python."""
    for size in shape[: rng.randint(1, len(shape))]:
        if size and rng.random() < 0.3:
            index = rng.randint(-size, size - 1)
            yield str(index), index
            continue
        start, stop = (rng.choice([None, rng.randint(-size - 2, size + 2)]) for _ in range(2))
        step = rng.choice([None, 1, 2, 3, 7])
        words = ["" if part is None else str(part) for part in (start, stop, step)]
        yield ":".join(words[: 2 + (step is not None)]), slice(start, stop, step)


def test_slices(program: str, numpy: ModuleType, folder: Path) -> None:
    """cat: slices are what NumPy slices"""
    rng = random.Random(1)
    path = folder / "m.safetensors"
    arrays = {name: array for name, array in write_arrays(numpy, 1, path).items() if array.ndim}
    for _ in range(300):
        name, array = rng.choice(list(arrays.items()))
        words, meaning = zip(*random_slices(rng, array.shape))
        written = cat(program, path, name, "--format", "npy", f"--slice={','.join(words)}")
        found = numpy.load(io.BytesIO(written), allow_pickle=False)
        wanted = array[meaning]
        what = f"{name} {array.shape}, slice {','.join(words)}"
        check_equal(found.shape, wanted.shape, f"{what}: shape")
        check(found.tobytes() == wanted.tobytes(), f"{what}: its bytes are others")
