"""NumPy reads the views npy and f32."""

from __future__ import annotations

import json
import os
import random
import struct
from pathlib import Path
from types import ModuleType

import pytest

import floats
from checks import TemporaryFolder, check, check_equal, need
from models import BITS, Tensor, every_pattern, random_tensor, stored_shape, write_at, write_shard, write_sparse
from mounts import Mount

# What NumPy is to take each type for.
NUMPY_TYPE = {
    "BOOL": "|b1", "U8": "|u1", "I8": "|i1", "I16": "<i2", "U16": "<u2", "F16": "<f2", "BF16": "<u2", "I32": "<i4",
    "U32": "<u4", "F32": "<f4", "C64": "<c8", "F64": "<f8", "I64": "<i8", "U64": "<u8",
}  # fmt: skip
NARROW = [dtype for dtype in floats.VALUE if BITS[dtype] <= 8]


def expected(tensor: Tensor) -> tuple[str, tuple[int, ...]]:
    """Type and shape of a tensor in the view npy: bit for bit where NumPy has no such type, and packed
    bytes where elements are narrower than a byte."""
    if BITS[tensor.dtype] < 8:
        return "|u1", stored_shape(tensor)
    return NUMPY_TYPE.get(tensor.dtype, "|u1"), tensor.shape


def check_loads(path: Path, tensor: Tensor) -> None:
    numpy = need("numpy")
    dtype, shape = expected(tensor)
    for mode in (None, "r", "c"):
        array = numpy.load(path, mmap_mode=mode, allow_pickle=False)
        what = f"{tensor.name} ({tensor.dtype} {tensor.shape}, mmap_mode={mode})"
        check_equal(array.dtype, numpy.dtype(dtype), f"{what}: dtype")
        check_equal(array.shape, shape, f"{what}: shape")
        check(array.flags.c_contiguous, f"{what}: it is not in C order")
        check(array.tobytes() == tensor.data, f"{what}: its bytes are others")
        if mode is not None and tensor.nbytes:
            aligned = 4096 if tensor.nbytes >= 4096 else 64
            check_equal(array.offset % aligned, 0, f"{what}: where the data begins")
            check_equal(array.offset + tensor.nbytes, path.stat().st_size, f"{what}: size of the file")


def check_model(program: str, tensors: list[Tensor]) -> None:
    with TemporaryFolder() as folder, Mount(program, write_shard(folder / "m.safetensors", tensors)) as mount:
        for tensor in tensors:
            check_loads(mount.npy / f"{tensor.name}.npy", tensor)


@pytest.mark.usefixtures("numpy")
def test_every_dtype(program: str) -> None:
    """numpy: every dtype, with every value of the 8- and 16-bit ones"""
    check_equal(len(BITS), 22, "dtypes")
    tensors = []
    for dtype, bits in BITS.items():
        if bits <= 16:
            tensors.append(every_pattern(f"all_{dtype}", dtype))
        tensors.append(random_tensor(f"some_{dtype}", dtype, (5, 3, 4)))
        tensors.append(random_tensor(f"many_{dtype}", dtype, (1001, 1000)))
    check_model(program, tensors)


@pytest.mark.usefixtures("numpy")
def test_small_shapes(program: str) -> None:
    """numpy: scalars and tensors without elements, mapped too"""
    tensors = []
    for dtype, bits in BITS.items():
        if bits >= 8:
            tensors.append(random_tensor(f"scalar_{dtype}", dtype, ()))
        for shape in ((0,), (3, 0, 2), (0, 0), (1, 0), (1 << 40, 0)):
            tensors.append(Tensor(f"empty_{'_'.join(map(str, shape))}_{dtype}", dtype, shape))
        tensors.append(random_tensor(f"ones_{dtype}", dtype, (1, 1, 8, 1)))
    check_model(program, tensors)


def test_many_dimensions(program: str, numpy: ModuleType, folder: Path) -> None:
    """numpy: as many dimensions as NumPy has, and one more is refused"""
    most = 1
    while True:
        try:
            numpy.empty((1,) * (most + 1))
        except ValueError as error:
            message = str(error)
            break
        most += 1
    print(f"NumPy {numpy.__version__} has up to {most} dimensions")
    shape = (1,) * (most - 3) + (2, 1, 3)
    fits = random_tensor("fits", "I32", shape)
    beyond = random_tensor("beyond", "I32", (1, *shape))
    with Mount(program, write_shard(folder / "m.safetensors", [fits, beyond])) as mount:
        check_loads(mount.npy / "fits.npy", fits)
        for mode in (None, "r"):
            try:
                numpy.load(mount.npy / "beyond.npy", mmap_mode=mode)
            except ValueError as error:
                check_equal(str(error), message, "what NumPy says")
            else:
                check(False, f"NumPy loads {most + 1} dimensions, though it has {most}")
        mount.check_lives()


def test_widened_f16(program: str, numpy: ModuleType, folder: Path) -> None:
    """numpy: f32 of F16 is what NumPy makes of it"""
    tensor = every_pattern("t", "F16")
    with Mount(program, write_shard(folder / "m.safetensors", [tensor])) as mount:
        found = numpy.load(mount.f32 / "t.npy")
        wanted = numpy.frombuffer(tensor.data, "<f2").astype("<f4")
        check_widened(found, wanted)
        for code in range(1 << 16):
            check(floats.same(found[code], floats.VALUE["F16"](code)), f"F16 {code:#06x} is {found[code]}")
        # Of NaNs, sign and mantissa are kept.
        codes = numpy.frombuffer(tensor.data, "<u2").astype("<u4")
        nans = numpy.isnan(wanted)
        bits = (codes & 0x8000) << 16 | 0x7F800000 | (codes & 0x3FF) << 13
        check((found.view("<u4")[nans] == bits[nans]).all(), "the bits of NaNs")


def test_widened_bf16(program: str, numpy: ModuleType, folder: Path) -> None:
    """numpy: f32 of BF16 is its bits, shifted"""
    tensor = every_pattern("t", "BF16")
    with Mount(program, write_shard(folder / "m.safetensors", [tensor])) as mount:
        found = numpy.load(mount.f32 / "t.npy")
        bits = numpy.load(mount.npy / "t.npy").astype("<u4") << 16
        check_widened(found, bits.view("<f4"))
        check((found.view("<u4") == bits).all(), "a BF16 is not the upper half of its float32")


def check_widened(found, wanted) -> None:  # arrays
    numpy = need("numpy")
    check_equal(found.dtype, numpy.dtype("<f4"), "dtype")
    check_equal(found.shape, wanted.shape, "shape")
    nans = numpy.isnan(wanted)
    check((numpy.isnan(found) == nans).all(), "other NaNs")
    check((found.view("<u4")[~nans] == wanted.view("<u4")[~nans]).all(), "other values")


def test_widened_narrow(program: str, numpy: ModuleType, folder: Path) -> None:
    """numpy: f32 of 8-, 6- and 4-bit floats is what the specifications say"""
    tensors = [every_pattern(dtype, dtype) for dtype in NARROW]
    tensors += [random_tensor(f"{dtype}_3d", dtype, (3, 5, 4)) for dtype in NARROW]
    tensors += [random_tensor(f"{dtype}_large", dtype, (100, 4096)) for dtype in NARROW]
    with Mount(program, write_shard(folder / "m.safetensors", tensors)) as mount:
        for tensor in tensors:
            values = {code: floats.VALUE[tensor.dtype](code) for code in range(1 << BITS[tensor.dtype])}
            wanted = [values[code] for code in unpacked(tensor)]
            for mode in (None, "r"):
                found = numpy.load(mount.f32 / f"{tensor.name}.npy", mmap_mode=mode)
                check_widened(found.ravel(), numpy.array(wanted, "<f4"))
                check_equal(found.shape, tensor.shape, f"{tensor.name}: shape")


def unpacked(tensor: Tensor) -> list[int]:
    bits = BITS[tensor.dtype]
    group = 3 if bits == 6 else 1  # the fewest whole bytes: large integers are slow
    return [
        code
        for at in range(0, len(tensor.data), group)
        for code in floats.unpack(bits, tensor.data[at : at + group])
    ]


def test_widened_parts(program: str, numpy: ModuleType, folder: Path) -> None:
    """numpy: any part of f32 is what it is as a part of the whole"""
    random_places = random.Random(7)
    tensors = [random_tensor(dtype, dtype, (1 << 18,)) for dtype in ("F16", "BF16", "F8_E4M3", "F6_E3M2", "F4")]
    with Mount(program, write_shard(folder / "m.safetensors", tensors), "-o", "cache=direct") as mount:
        for tensor in tensors:
            path = mount.f32 / f"{tensor.name}.npy"
            whole = path.read_bytes()
            with path.open("rb", buffering=0) as file:
                for _ in range(300):
                    at = random_places.randrange(len(whole))
                    nbytes = random_places.choice((1, 2, 3, 7, 4096, 100_003))
                    found = os.pread(file.fileno(), nbytes, at)
                    check(found == whole[at : at + nbytes], f"{tensor.name}: {nbytes} bytes from {at} on")
            check_equal(numpy.load(path).shape, tensor.shape, "shape")


@pytest.mark.usefixtures("numpy")
def test_not_widened(program: str, folder: Path) -> None:
    """numpy: f32 of all other types is npy"""
    others = [dtype for dtype in BITS if dtype not in floats.VALUE and dtype != "BF16"]
    check_equal(len(others), 12, "other types")
    tensors = [random_tensor(dtype, dtype, (7, 11)) for dtype in others]
    with Mount(program, write_shard(folder / "m.safetensors", tensors)) as mount:
        for tensor in tensors:
            check_loads(mount.f32 / f"{tensor.name}.npy", tensor)
            check(
                (mount.f32 / f"{tensor.name}.npy").read_bytes() == (mount.npy / f"{tensor.name}.npy").read_bytes(),
                f"{tensor.dtype}: f32 and npy differ",
            )


@pytest.mark.usefixtures("numpy")
def test_odd_names(program: str, folder: Path) -> None:
    """numpy: odd names"""
    names = [
        "it's", 'a "quoted" name', "blank behind ", " blank before", "100%", "%41", "été.größe", "重み.層", "🤗.w",
        "-rf", "*", "a\nb", "tab\there", "back\\slash", "..", ".", "", "a..b", "a.b.", "%s%d", "$HOME", "x.npy",
        "y", "y.npy.w", "z.npy", "z.npy.npy", "long" * 100, ".tensorfs.npy.t", "e\u0301", "\u00e9", "\u202e",
    ]  # fmt: skip
    tensors = [random_tensor(name, "I16", (place + 1,)) for place, name in enumerate(names)]
    with Mount(program, write_shard(folder / "m.safetensors", tensors)) as mount:
        by_name = {tensor.name.encode(): tensor for tensor in tensors}
        for view in (mount.npy, mount.f32):
            seen = set()
            for parent, _, files in os.walk(view):
                for file in files:
                    check(file.endswith(".npy"), f"{file!r} does not end in .npy")
                    path = Path(parent, file)
                    name = os.getxattr(path, "user.tensor.name")
                    check_loads(path, by_name[name])
                    seen.add(name)
            check_equal(seen, set(by_name), "names in the view")
        # And by the path that tensors.json tells, unless a folder has that name.
        for entry in json.loads((mount.hidden / "tensors.json").read_text()):
            path = mount.npy / f"{entry['path']}.npy"
            if len(path.name.encode()) <= 255 and not path.is_dir():
                check_loads(path, by_name[entry["name"].encode()])


def test_part_of_large(program: str, numpy: ModuleType, folder: Path) -> None:
    """numpy: a part of a large array is read alone"""
    rows, columns = 1 << 20, 1 << 14  # 32 GiB, of which almost nothing is on the disk
    shard = folder / "m.safetensors"
    at = write_sparse(shard, [Tensor("w", "BF16", (rows, columns))])["w"]
    row = rows - 3
    write_at(shard, at + row * columns * 2, struct.pack("<3H", 0x3F80, 0xC000, 0x7F80))
    with Mount(program, shard) as mount:
        narrow = numpy.load(mount.npy / "w.npy", mmap_mode="r")
        wide = numpy.load(mount.f32 / "w.npy", mmap_mode="r")
        check_equal(narrow.shape, (rows, columns), "shape")
        check_equal(narrow[row, :4].tolist(), [0x3F80, 0xC000, 0x7F80, 0], "npy")
        check_equal(wide[row, :4].tolist(), [1.0, -2.0, float("inf"), 0.0], "f32")
        check_equal(wide[-1, -1], 0.0, "the last element")
