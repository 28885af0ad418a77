"""Other programs read what `tensorfs export` writes; and it leaves nothing where it cannot end its work."""

from __future__ import annotations

import json
import os
import random
import signal
import struct
import subprocess
import time
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from checks import PATIENCE, Skip, check, check_equal, need_data, need_program, run
from models import BITS, Tensor, every_pattern, random_tensor, stored_shape, write_shard, write_sparse
from reading import read_at
from safetensors_rules import check_rules

TYPES = sorted(BITS)


def a_model() -> list[Tensor]:
    tensors = [random_tensor(f"layer.{dtype}", dtype, (4, 12)) for dtype in TYPES]
    return [*tensors, Tensor("empty", "F32", (0, 3)), random_tensor("scalar", "F64", ()),
            random_tensor("é/large", "BF16", (300, 1000))]  # fmt: skip


def export(program: str, source: Path, target: Path, *words: object, expect: int = 0) -> Path:
    run(program, "export", source, "-o", target, *words, expect=expect)
    check_equal(list(target.parent.glob(".tensorfs*")), [], "litter")
    return target


def test_safetensors(program: str, folder: Path) -> None:
    """a file for safetensors keeps the rules of its writer, and holds the same tensors"""
    tensors = a_model()
    source = write_shard(folder / "m.safetensors", tensors, {"format": "pt"})
    path = export(program, source, folder / "out.safetensors")
    entries, metadata, data = check_rules(path)
    check_equal(metadata, {"format": "pt"}, "metadata")
    check_equal(set(entries), {tensor.name for tensor in tensors}, "names")
    for tensor in tensors:
        entry = entries[tensor.name]
        begin, end = entry["data_offsets"]
        check_equal((entry["dtype"], tuple(entry["shape"])), (tensor.dtype, tensor.shape), tensor.name)
        check(read_at(path, data + begin, end - begin) == tensor.data, f"{tensor.name}: its bytes are others")
        check(BITS[tensor.dtype] < 8 or begin % (BITS[tensor.dtype] // 8) == 0, f"{tensor.name}: it is not aligned")


def test_pytorch(program: str, folder: Path, torch: ModuleType, numpy: ModuleType) -> None:
    """PyTorch loads an exported checkpoint, whole and in shards, and zipfile finds its checksums right"""
    tensors = a_model()
    source = write_shard(folder / "m.safetensors", tensors)
    whole = export(program, source, folder / "whole.bin", "--format", "pytorch")
    shards = export(program, source, folder / "shards", "--format", "pytorch", "--max-shard-size", "1KB")
    index = json.loads((shards / "pytorch_model.bin.index.json").read_text())
    check_equal(index["metadata"]["total_size"], sum(tensor.nbytes for tensor in tensors), "total_size")
    loaded = [torch.load(whole, weights_only=True), {}]
    for name in sorted(set(index["weight_map"].values())):
        part = torch.load(shards / name, weights_only=True)
        check_equal(set(part), {key for key, file in index["weight_map"].items() if file == name}, f"names in {name}")
        loaded[1].update(part)
        check_equal(zipfile.ZipFile(shards / name).testzip(), None, "a bad member")
    check_equal(zipfile.ZipFile(whole).testzip(), None, "a bad member")
    for found in loaded:
        check_equal(list(found), [tensor.name for tensor in tensors] if found is loaded[0] else list(found), "names")
        for tensor in tensors:
            check_equal(tuple(found[tensor.name].shape), stored_shape(tensor), f"{tensor.name}: shape")
            flat = found[tensor.name].flatten()
            data = numpy.asarray(flat.view(torch.uint8)).tobytes() if flat.numel() else b""
            check(data == tensor.data, f"{tensor.name}: its bytes are others")


def test_numpy(program: str, folder: Path, numpy: ModuleType) -> None:
    """numpy.load gives the tensors of an exported archive by their names"""
    tensors = a_model()
    source = write_shard(folder / "m.safetensors", tensors)
    path = export(program, source, folder / "out.npz", "--format", "npz")
    check_equal(zipfile.ZipFile(path).testzip(), None, "a bad member")
    with numpy.load(path) as loaded:
        check_equal(loaded.files, [tensor.name for tensor in tensors], "names")
        for tensor in tensors:
            array = loaded[tensor.name]
            check_equal(array.shape, stored_shape(tensor), f"{tensor.name}: shape")
            check(array.tobytes() == tensor.data, f"{tensor.name}: its bytes are others")


def test_conversion(program: str, folder: Path, numpy: ModuleType) -> None:
    """floats are rounded to F16 as NumPy rounds them, overflows and NaNs too"""
    # All upper halves of a float32, with the lower ones at which rounding to 10 bits could go wrong.
    low = numpy.array([0, 1, 0xFFF, 0x1000, 0x1001, 0x1FFF, 0x2000, 0x3000, 0x7FFF, 0x8000, 0xFFFF], numpy.uint32)
    bits = (numpy.arange(1 << 16, dtype=numpy.uint32)[:, None] << 16 | low).ravel()
    wide = numpy.random.default_rng(1).integers(0, 1 << 64, 1 << 18, numpy.uint64, endpoint=False)
    with numpy.errstate(all="ignore"):
        near = bits.view(numpy.float32)[::7].astype(numpy.float64) * (1 + 2.0**-40)
    sources = {"f32": bits.view(numpy.float32), "f64": wide.view(numpy.float64), "near": near}
    shard = write_shard(folder / "m.safetensors", [
        *(Tensor(name, f"F{array.itemsize * 8}", array.shape, array.tobytes()) for name, array in sources.items()),
        every_pattern("bf16", "BF16"), every_pattern("whole", "I16"),
    ])  # fmt: skip
    sources["bf16"] = (numpy.arange(1 << 16, dtype=numpy.uint32) << 16).view(numpy.float32)
    path = export(program, shard, folder / "out.npz", "--format", "npz", "--dtype", "F16", expect=1)
    with numpy.load(path) as loaded, numpy.errstate(all="ignore"):
        check_equal(loaded["whole"].dtype.str, "<i2", "a type that is no float")
        for name, array in sources.items():
            wanted, found = array.astype(numpy.float16), loaded[name]
            check_equal(found.dtype.str, "<f2", f"{name}: dtype")
            nan = numpy.isnan(array)
            check(bool(numpy.isnan(found[nan]).all()), f"{name}: a NaN became a number")
            same = found[~nan].view(numpy.uint16) == wanted[~nan].view(numpy.uint16)
            check(bool(same.all()), f"{name}: {array[~nan][~same][:5]} became {found[~nan][~same][:5]}")


def test_to_bfloat16(program: str, folder: Path, torch: ModuleType) -> None:
    """floats are rounded to BF16 as PyTorch rounds them"""
    chosen = random.Random(1)
    data = b"".join(struct.pack("<2H", chosen.choice((0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF)), high)
                    for high in range((1 << 16) - 1)) + struct.pack("<L", 0x7F7F8000)  # fmt: skip
    shard = write_shard(folder / "m.safetensors", [Tensor("x", "F32", (1 << 16,), data)])
    path = export(program, shard, folder / "out.bin", "--format", "pytorch", "--dtype", "BF16", expect=1)
    found = torch.load(path)["x"]
    wanted = torch.frombuffer(bytearray(data), dtype=torch.float32).to(torch.bfloat16)
    check(bool(torch.equal(torch.isnan(found), torch.isnan(wanted))), "NaNs are others")
    check(bool(torch.equal(found.nan_to_num(), wanted.nan_to_num())), "numbers are others")


def test_from_gguf(program: str, folder: Path) -> None:
    """quantised models are exported as the mount shows them, and as numbers"""
    sources = sorted((need_data("conformance") / "gguf").rglob("*.gguf"))
    tried = 0
    for source in sources:
        if subprocess.run([program, "verify", source], capture_output=True).returncode:
            continue
        tried += 1
        out = export(program, source, folder / f"{tried}.safetensors")
        again = export(program, out, folder / f"{tried}-again.safetensors")
        check(out.read_bytes() == again.read_bytes(), f"{source}: exported again, it is another")
        run(program, "verify", out, again)
        if tried == 20:
            return
    check(tried > 3, f"only {tried} good files")


def test_full_disk(program: str, folder: Path) -> None:
    """a disk that is full, or becomes so, is left as it was"""
    source = write_shard(folder / "m.safetensors", [random_tensor("a", "U8", (600_000,)), random_tensor("b", "F16", (9,))])
    (folder / "disk").mkdir()
    script = """
        mount -t tmpfs -o size=1m none "$1" || exit 77
        export TENSORFS="$2" SOURCE="$3"; cd "$1"
        $TENSORFS export "$SOURCE" -o first; echo $?
        $TENSORFS export "$SOURCE" -o second; echo $?
        $TENSORFS export "$SOURCE" -o npz --format npz --dtype F32; echo $?
        head -c 300000 /dev/zero > filler
        $TENSORFS export "$SOURCE" -o shards --max-shard-size 100KB; echo $?
        ls -A
    """
    unshare = [need_program("unshare"), "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    done = subprocess.run([*unshare, "sh", "-c", script, "sh", folder / "disk", program, source],
                          capture_output=True, text=True, timeout=PATIENCE)  # fmt: skip
    if done.returncode == 77 or "unshare" in done.stderr:
        raise Skip(f"no tmpfs can be mounted: {done.stderr}")
    check_equal(done.stdout.split(), ["0", "10", "10", "10", "filler", "first"], "exit codes and what is left")
    check("bytes are to be written" in done.stderr, f"it is not told why: {done.stderr}")


def test_file_size_limit(program: str, folder: Path) -> None:
    """a limit of file sizes is an error like a full disk, not a signal"""
    source = write_shard(folder / "m.safetensors", [random_tensor("a", "U8", (600_000,))])
    done = subprocess.run(["sh", "-c", 'ulimit -f 100; exec "$0" export "$1" -o "$2"', program, source, folder / "out"],
                          capture_output=True, text=True, timeout=PATIENCE)  # fmt: skip
    check_equal(done.returncode, 10, f"exit code, with {done.stderr!r}")
    check_equal(sorted(os.listdir(folder)), ["m.safetensors"], "what is left")


@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGTERM))
def test_interrupted(program: str, folder: Path, number: signal.Signals) -> None:
    """what is interrupted leaves nothing, and ends as the signal has it"""
    source = folder / "m.safetensors"
    write_sparse(source, [Tensor("a", "F32", (512 << 20,))])  # 2 GiB, of which 1 would be written
    at = os.statvfs(folder)
    if at.f_bavail * at.f_frsize < 2 << 30:
        raise Skip("less than 2 GiB are free")
    process = subprocess.Popen([program, "export", source, "-o", folder / "out", "--dtype", "F16"], stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + PATIENCE
        while not list(folder.glob(".tensorfs-export-*/*")) and time.monotonic() < deadline:
            time.sleep(0.01)
        check(process.poll() is None, "it was not at work any more")
        process.send_signal(number)
        check_equal(process.wait(PATIENCE), -number, "how it ended")
    finally:
        process.kill()
        process.communicate()
    check_equal(sorted(os.listdir(folder)), ["m.safetensors"], "what is left")
