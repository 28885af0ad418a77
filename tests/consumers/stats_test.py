"""What `tensorfs stats` says of a tensor's numbers is what NumPy says of them in float64."""

from __future__ import annotations

import io
import json
import math
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any, Optional

from checks import check, check_equal, need_data
from corpora import corpus, write_gguf
from models import BITS, Tensor, every_pattern, random_tensor, write_shard
from modelmaking.model import QUANTISED, nbytes_of

PLAIN_TYPES = {
    "BOOL": "|b1", "U8": "|u1", "I8": "|i1", "U16": "<u2", "I16": "<i2", "U32": "<u4", "I32": "<i4", "U64": "<u8",
    "I64": "<i8", "F16": "<f2", "F32": "<f4", "F64": "<f8", "C64": "<c8",
}  # fmt: skip


def stats(program: str, source: Path, *words: str, code: int = 0) -> Any:
    done = subprocess.run([program, "stats", str(source), "--json", *words], capture_output=True, timeout=60)
    check_equal(done.returncode, code, f"stats {source.name} {words}: {done.stderr!r}")
    return json.loads(done.stdout)


def cat(program: str, source: Path, name: str) -> bytes:
    command = [program, "cat", str(source), name, "--format", "f32"]
    return subprocess.run(command, capture_output=True, timeout=60, check=True).stdout


def load(numpy: Any, data: bytes) -> Any:
    return numpy.load(io.BytesIO(data), allow_pickle=False)


def check_near(found: Optional[float], wanted: float, scale: float, what: str) -> None:
    """Within 1e-6 of it; null where it is not finite."""
    if not math.isfinite(wanted):
        check(found is None, f"{what}: {found}, not null")
        return
    check(found is not None and abs(found - wanted) <= 1e-6 * max(abs(wanted), scale), f"{what}: {found} for {wanted}")


def check_statistics(numpy: Any, found: dict[str, Any], array: Any, what: str) -> None:
    is_complex = array.dtype.kind == "c"
    if is_complex:
        array = numpy.abs(array.astype(numpy.complex128))
    finite = array[numpy.isfinite(array)] if array.dtype.kind == "f" else array.reshape(-1)
    check_equal(found["elements"], array.size, f"{what}: elements")
    check_equal(found["zeros"], int((array == 0).sum()), f"{what}: zeros")
    check_equal(found["nan"], int(numpy.isnan(array).sum()), f"{what}: NaN")
    check_equal(found["inf"], int(numpy.isinf(array).sum()), f"{what}: infinities")
    check_equal(found["negative_inf"], int((array == -numpy.inf).sum()), f"{what}: negative infinities")
    if finite.size == 0:
        check_equal([found[key] for key in ("min", "max", "mean", "std")], [None] * 4, f"{what}: of no numbers")
        return
    if is_complex:  # whose magnitudes are rounded
        check_near(found["min"], finite.min().item(), 0.0, f"{what}: minimum")
        check_near(found["max"], finite.max().item(), 0.0, f"{what}: maximum")
    else:
        check_equal(found["min"], finite.min().item(), f"{what}: minimum")
        check_equal(found["max"], finite.max().item(), f"{what}: maximum")
    with numpy.errstate(all="ignore"):
        wide = finite.astype(numpy.float64)
        mean, std = wide.mean(), wide.std()
        scale = float(numpy.abs(wide).mean())
    check_near(found["mean"], float(mean), scale, f"{what}: mean")
    check_near(found["std"], float(std), 0.0, f"{what}: deviation")


def arrays(numpy: Any) -> dict[str, Any]:
    """Arrays of every type that NumPy has, of many kinds."""
    rng = numpy.random.default_rng(1)
    found: dict[str, Any] = {}
    for dtype, numpy_type in PLAIN_TYPES.items():
        for shape in ((), (1,), (0,), (3, 0, 2), (5,), (30, 70), (3, 4, 5, 6), (100_003,)):
            count = math.prod(shape)
            if dtype in ("F16", "F32", "F64"):
                values = rng.standard_normal(count) * 0.02
                values[: count // 3] += 1000
            elif dtype == "C64":
                values = rng.standard_normal(count) + 1j * rng.standard_normal(count)
            elif dtype == "BOOL":
                values = rng.integers(0, 2, count)
            else:
                limits = numpy.iinfo(numpy_type)
                values = rng.integers(limits.min, limits.max, count, numpy_type, endpoint=True)
            array = values.astype(numpy_type).reshape(shape)
            found[f"{dtype}.{'x'.join(map(str, shape))}"] = array
            if array.dtype.kind == "f" and count > 4:
                odd = array.copy().reshape(-1)
                odd[[0, -1]] = numpy.nan
                odd[[1, count // 2]] = numpy.inf
                odd[2] = -numpy.inf
                odd[3] = 0
                found[f"{dtype}.odd.{count}"] = odd
    found["F32.nan"] = numpy.full(5000, numpy.nan, "<f4")
    found["F32.inf"] = numpy.full(5000, -numpy.inf, "<f4")
    found["F32.mean"] = (rng.standard_normal(300_000) + 1e6).astype("<f4")
    found["F64.mean"] = rng.standard_normal(300_000) + 1e9
    found["F64.tiny"] = rng.standard_normal(1000) * 1e-200
    found["F32.tiny"] = (rng.standard_normal(1000) * 1e-42).astype("<f4")
    return found


def test_plain_types(program: str, numpy: ModuleType, folder: Path) -> None:
    """stats: every type that NumPy has, with NaN, infinities, large means, empty and scalar tensors"""
    all_arrays = arrays(numpy)
    tensors = [Tensor(name, name.split(".")[0], array.shape, array.tobytes()) for name, array in all_arrays.items()]
    found = stats(program, write_shard(folder / "m.safetensors", tensors))["tensors"]
    check_equal({tensor["name"] for tensor in found}, set(all_arrays), "names")
    for tensor in found:
        check_statistics(numpy, tensor, all_arrays[tensor["name"]], tensor["name"])


def test_narrow_types(program: str, numpy: ModuleType, folder: Path) -> None:
    """stats: every narrow type is what its widened numbers are"""
    narrow = [dtype for dtype, bits in BITS.items() if dtype not in PLAIN_TYPES and bits <= 16]
    check_equal(len(narrow), 9, "narrow types")
    tensors = [every_pattern(f"{dtype}.all", dtype) for dtype in narrow]
    tensors += [random_tensor(f"{dtype}.random", dtype, (12, 1000)) for dtype in narrow]
    source = write_shard(folder / "m.safetensors", tensors)
    for tensor in stats(program, source)["tensors"]:
        array = load(numpy, cat(program, source, tensor["name"]))
        check_equal(array.dtype.str, "<f4", f"{tensor['name']}: widened")
        check_statistics(numpy, tensor, array, tensor["name"])


def test_quantised_types(program: str, numpy: ModuleType, folder: Path) -> None:
    """stats: every quantised type is what the reference's numbers are"""
    data = need_data("conformance/gguf/dequant")
    tensors = []
    for line in map(json.loads, (data / "manifest.jsonl").read_text().splitlines()):
        shape = (4, line["blocks"] // 4 * line["elements"])
        tensors.append(Tensor(line["type"], line["type"], shape, (data / f"{line['type']}.blocks").read_bytes()))
    check_equal({tensor.dtype for tensor in tensors}, set(QUANTISED) - {"Q8_1"}, "types with numbers")
    for tensor in stats(program, write_gguf(folder / "m.gguf", tensors))["tensors"]:
        array = numpy.fromfile(data / f"{tensor['name']}.f32", "<f4")
        check_statistics(numpy, tensor, array, tensor["name"])


def test_models(program: str, numpy: ModuleType) -> None:
    """stats: the shared GGUF models"""
    for case in corpus("gguf/models", files=""):
        for tensor in stats(program, case.path)["tensors"]:
            array = load(numpy, cat(program, case.path, tensor["name"]))
            check_statistics(numpy, tensor, array, f"{case.name}: {tensor['name']}")


def test_strided(program: str, numpy: ModuleType, folder: Path) -> None:
    """stats: arrays in column-major order, and larger than what is read at a time"""
    rng = numpy.random.default_rng(2)
    all_arrays = {
        "rows": rng.standard_normal((700, 3000)).astype("<f4"),
        "columns": numpy.asfortranarray(rng.standard_normal((700, 3000)).astype("<f4")),
        "cube": numpy.asfortranarray(rng.integers(0, 100, (30, 40, 50)).astype("<i8")),
    }
    numpy.savez(folder / "m.npz", **all_arrays)
    found = stats(program, folder / "m.npz")["tensors"]
    check_equal({tensor["name"] for tensor in found}, set(all_arrays), "names")
    for tensor in found:
        check_statistics(numpy, tensor, all_arrays[tensor["name"]], tensor["name"])


def test_many_parts(program: str, numpy: ModuleType, folder: Path) -> None:
    """stats: a tensor that several threads share, the same in every run"""
    array = numpy.random.default_rng(3).standard_normal((9, 1_000_003)).astype("<f4")
    source = write_shard(folder / "m.safetensors", [Tensor("x", "F32", array.shape, array.tobytes())])
    found = stats(program, source)
    check_statistics(numpy, found["tensors"][0], array, "x")
    for _ in range(3):
        check_equal(stats(program, source), found, "another run")
