"""GGUF models as NumPy, PyTorch, a reader of safetensors, nginx and the program's own verbs have them."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from checks import check, check_equal, need_data, need_fuse, run
from corpora import Case, corpus, row_shape, sha256, write_gguf
from modelmaking.model import QUANTISED
from models import Tensor, make_model, write_at
from mounts import Mount
from nginx import Nginx
from reading import read_at
from safetensors_rules import check_rules

# What NumPy and PyTorch are to take the plain types of the models for. Of quantised ones they get the bytes.
NUMPY_TYPE = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}
TORCH_TYPE = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}


def models() -> list[Case]:
    found = corpus("gguf/models", files="")
    check_equal(len(found), 4, "models")
    return found


def stored_shape(tensor: dict[str, Any]) -> tuple[int, ...]:
    shape = tuple(tensor["shape"])
    return row_shape(tensor["dtype"], shape) if tensor["dtype"] in QUANTISED else shape


def paths(mount: Mount) -> dict[str, str]:
    """Where each tensor is, by its name."""
    return {tensor["name"]: tensor["path"] for tensor in json.loads((mount.hidden / "tensors.json").read_text())}


def test_numpy(program: str, numpy: ModuleType) -> None:
    """gguf: NumPy loads every tensor of the shared models, as blocks and as numbers"""
    for case in models():
        with Mount(program, case.path) as mount:
            places = paths(mount)
            check_equal(set(places), {tensor["name"] for tensor in case.tensors}, f"{case.name}: names")
            for tensor in case.tensors:
                what = f"{case.name}: {tensor['name']} ({tensor['dtype']} {tensor['shape']})"
                place = places[tensor["name"]]
                check_equal(sha256((mount.path / place).read_bytes()), tensor["sha256"], f"{what}: its file")
                for mode in (None, "r"):
                    blocks = numpy.load(mount.npy / f"{place}.npy", mmap_mode=mode, allow_pickle=False)
                    check_equal(blocks.dtype.str, NUMPY_TYPE.get(tensor["dtype"], "|u1"), f"{what}: dtype")
                    check_equal(blocks.shape, stored_shape(tensor), f"{what}: shape of its bytes")
                    check_equal(sha256(blocks.tobytes()), tensor["sha256"], f"{what}: its bytes")
                    values = numpy.load(mount.f32 / f"{place}.npy", mmap_mode=mode, allow_pickle=False)
                    check_equal(values.dtype.str, "<f4", f"{what}: dtype of its numbers")
                    check_equal(values.shape, tuple(tensor["shape"]), f"{what}: shape")
                    check_equal(sha256(values.tobytes()), tensor["f32_sha256"], f"{what}: its numbers")


def test_numbers(program: str, numpy: ModuleType, folder: Path) -> None:
    """gguf: NumPy reads the numbers that the reference gives, of every type and of hostile blocks"""
    data = need_data("conformance/gguf/dequant")
    tensors = []
    for line in map(json.loads, (data / "manifest.jsonl").read_text().splitlines()):
        shape = (4, line["blocks"] // 4 * line["elements"])
        tensors.append(Tensor(line["type"], line["type"], shape, (data / f"{line['type']}.blocks").read_bytes()))
    check_equal({tensor.dtype for tensor in tensors}, set(QUANTISED) - {"Q8_1"}, "types with numbers")
    with Mount(program, write_gguf(folder / "m.gguf", tensors)) as mount:
        for tensor in tensors:
            found = numpy.load(mount.f32 / f"{tensor.name}.npy", mmap_mode="r")
            wanted = numpy.fromfile(data / f"{tensor.name}.f32", "<f4").reshape(tensor.shape)
            check_equal(found.shape, wanted.shape, f"{tensor.name}: shape")
            nans = numpy.isnan(wanted)
            check((numpy.isnan(found) == nans).all(), f"{tensor.name}: other NaNs")
            check((found.view("<u4") == wanted.view("<u4"))[~nans].all(), f"{tensor.name}: other numbers")


def test_every_type(program: str, numpy: ModuleType, folder: Path) -> None:
    """gguf: NumPy loads a model of all 27 quantised types, and its views agree"""
    words = [word for name in QUANTISED for word in ("--type", name)]
    make_model("gguf", folder / "model", *words)
    with Mount(program, folder / "model") as mount:
        widened = mount.hidden / "model-f32.safetensors"
        entries, _, data = check_rules(widened)
        tensors = json.loads((mount.hidden / "tensors.json").read_text())
        check(set(QUANTISED) <= {tensor["dtype"] for tensor in tensors}, "not all types are in the model")
        for tensor in tensors:
            what = f"{tensor['name']} ({tensor['dtype']})"
            raw = (mount.path / tensor["path"]).read_bytes()
            blocks = numpy.load(mount.npy / f"{tensor['path']}.npy", allow_pickle=False)
            check_equal(blocks.shape, stored_shape(tensor), f"{what}: shape of its bytes")
            check(blocks.tobytes() == raw, f"{what}: its bytes")
            values = numpy.load(mount.f32 / f"{tensor['path']}.npy", allow_pickle=False)
            check_equal((values.dtype.str, list(values.shape)), ("<f4", tensor["shape"]), f"{what}: numbers")
            check(numpy.isfinite(values).any(), f"{what}: no number is finite")
            begin, end = entries[tensor["name"]]["data_offsets"]
            check(read_at(widened, data + begin, end - begin) == values.tobytes(), f"{what}: its numbers differ")


def test_torch(program: str, torch: ModuleType, numpy: ModuleType) -> None:
    """gguf: PyTorch loads the shared models, quantised tensors as rows of bytes"""
    for case in models():
        with Mount(program, case.path) as mount:
            loaded = torch.load(mount.checkpoint, weights_only=True)
            check_equal(set(loaded), {tensor["name"] for tensor in case.tensors}, f"{case.name}: names")
            for tensor in case.tensors:
                found, what = loaded[tensor["name"]], f"{case.name}: {tensor['name']} ({tensor['dtype']})"
                check_equal(found.dtype, getattr(torch, TORCH_TYPE.get(tensor["dtype"], "uint8")), f"{what}: dtype")
                check_equal(tuple(found.shape), stored_shape(tensor), f"{what}: shape")
                raw = numpy.asarray(found.flatten().view(torch.uint8)).tobytes()
                check_equal(sha256(raw), tensor["sha256"], f"{what}: its bytes")


def test_safetensors(program: str) -> None:
    """gguf: the merged files keep the rules of safetensors, as they are stored and as numbers"""
    for case in models():
        with Mount(program, case.path) as mount:
            stored, metadata, begin_stored = check_rules(mount.merged)
            widened, _, begin_widened = check_rules(mount.hidden / "model-f32.safetensors")
            names = {tensor["name"] for tensor in case.tensors}
            check_equal((set(stored), set(widened)), (names, names), f"{case.name}: names")
            for tensor in case.tensors:
                name, dtype = tensor["name"], tensor["dtype"]
                what = f"{case.name}: {name} ({dtype})"
                quantised = dtype in QUANTISED
                check_equal(stored[name]["dtype"], "U8" if quantised else dtype, f"{what}: dtype")
                check_equal(tuple(stored[name]["shape"]), stored_shape(tensor), f"{what}: shape")
                if quantised:
                    check(any(dtype in value for value in metadata.values()), f"{what}: no word of its type")
                check_equal((widened[name]["dtype"], widened[name]["shape"]), ("F32", tensor["shape"]), what)
                for path, entry, data, wanted in (
                    (mount.merged, stored[name], begin_stored, tensor["sha256"]),
                    (mount.hidden / "model-f32.safetensors", widened[name], begin_widened, tensor["f32_sha256"]),
                ):
                    begin, end = entry["data_offsets"]
                    found = read_at(path, data + begin, end - begin)
                    check_equal(sha256(found), wanted, f"{what}: its bytes in {path.name}")
            for path in (mount.merged, mount.hidden / "model-f32.safetensors"):
                check_equal(run(program, "verify", path), f"{path}: OK\n", "verify")


def test_verbs(program: str, folder: Path) -> None:
    """gguf: ls and info tell of the shared models, and diff finds what was changed"""
    for case in models():
        listed = {tensor["name"]: tensor for tensor in json.loads(run(program, "ls", "--json", case.path))}
        check_equal(len(listed), len(case.tensors), f"{case.name}: tensors")
        for tensor in case.tensors:
            found = listed[tensor["name"]]
            check_equal((found["dtype"], found["shape"]), (tensor["dtype"], tensor["shape"]), tensor["name"])
            check_equal(found["nbytes"], tensor["end"] - tensor["begin"], f"{tensor['name']}: nbytes")
        told = run(program, "info", case.path)
        for word in {"gguf"} | {tensor["dtype"] for tensor in case.tensors}:
            check(word in told.split(), f"{case.name}: info says nothing of {word}:\n{told}")
        check_equal(run(program, "diff", case.path, case.path), "", f"{case.name}: what differs from itself")
        if case.path.is_file():
            changed = folder / case.name
            shutil.copyfile(case.path, changed)
            changed.chmod(0o644)
            tensor = case.tensors[-1]
            last = tensor["end"] - 1
            write_at(changed, last, bytes([read_at(case.path, last, 1)[0] ^ 1]))
            differences = run(program, "diff", case.path, changed, expect=1).splitlines()
            check_equal(len(differences), 1, "tensors that differ")
            check(differences[0].startswith(f"{tensor['name']}: "), f"diff finds another one: {differences[0]}")


def test_nginx(program: str) -> None:
    """gguf: nginx serves ranges of the numbers"""
    case = models()[0]
    options = ["-o", "allow_other"] if os.geteuid() == 0 else []  # its workers are not root's
    places = random.Random(11)
    with Mount(program, case.path, *options) as mount, Nginx(mount) as nginx:
        url = "/.tensorfs/f32/blk/0/attn_q/weight.npy"
        whole = (mount.path / url[1:]).read_bytes()
        tensor = next(tensor for tensor in case.tensors if tensor["name"] == "blk.0.attn_q.weight")
        check_equal(sha256(whole[-256 * 256 * 4 :]), tensor["f32_sha256"], "its numbers")
        for _ in range(30):
            begin = places.randrange(len(whole))
            end = places.randint(begin + 1, len(whole))
            answer = nginx.ask(url, Range=f"bytes={begin}-{end - 1}")
            check_equal(answer.status, 206, f"{begin} to {end}: status")
            check(answer.body == whole[begin:end], f"{begin} to {end}: bytes")
        nginx.check_quiet()


def test_split(program: str, numpy: ModuleType, folder: Path) -> None:
    """gguf: a folder with a split is one model, by any of its parts, and a part that is missing is told"""
    make_model("gguf", folder / "one", "--tokens", 20, "--merges", 20)
    make_model("gguf", folder / "split", "--parts", 3, "--tokens", 20, "--merges", 20)
    parts = sorted((folder / "split").iterdir())
    check_equal(len(parts), 3, "parts")
    with Mount(program, folder / "one") as one:
        places = paths(one)
        for source in (folder / "split", parts[0]):
            with Mount(program, source) as split:
                check_equal(paths(split), places, f"{source.name}: names")
                for place in places.values():
                    wanted = numpy.load(one.f32 / f"{place}.npy")
                    found = numpy.load(split.f32 / f"{place}.npy")
                    check(found.tobytes() == wanted.tobytes(), f"{source.name}: {place}")
    parts[1].unlink()
    refused = subprocess.run([program, "ls", folder / "split"], capture_output=True, text=True)
    check(refused.returncode != 0 and "MissingShard" in refused.stderr, f"not refused: {refused.stderr}")


@pytest.mark.parametrize("name", ["model.gguf", "sha256-0123abcd"])
def test_as_typed(program: str, numpy: ModuleType, folder: Path, name: str) -> None:
    """gguf: one file mounts by the shortest command, whatever its name, and is unmounted"""
    need_fuse()
    file, mountpoint = folder / name, folder / "mnt"
    shutil.copyfile(models()[0].path, file)
    mountpoint.mkdir()
    run(program, file, mountpoint)
    try:
        check_equal(numpy.load(mountpoint / ".tensorfs/f32/blk/0/attn_q/weight.npy").shape, (256, 256), "shape")
    finally:
        run("fusermount3", "-u", mountpoint)
    check(not mountpoint.is_mount(), "it is still mounted")
