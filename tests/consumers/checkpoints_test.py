"""PyTorch checkpoints and NumPy archives: what their own libraries read is what the views hold, and nothing is run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from checks import check, check_equal, need_data, run
from corpora import Case, corpus, sha256
from mounts import Mount
from reading import read_at
from safetensors_rules import check_rules
from torch_reader import TorchReader

# A tensor at the limits of what can be addressed, more levels than are shown, and a buffer that may be shown or not.
NOT_FOR_TORCH = {"bounds-just-fit.pt", "deep-100.pt", "deep-5000.pt", "module-scratch-buffer.pt"}


def loadable() -> list[Case]:
    """What PyTorch was seen to load, so that it is harmless, and whose classes are here."""
    cases = [case for case in corpus("pytorch")
             if case.verdict["expect"] in ("accept", "partial") and case.verdict.get("reference") == "accept"
             and case.name not in NOT_FOR_TORCH and b"models.yolo" not in case.path.read_bytes()]  # fmt: skip
    check(len(cases) > 60, f"only {len(cases)} cases")
    return cases


def check_views(program: str, path: Path, reader: TorchReader) -> None:
    with Mount(program, path) as mount:
        loaded = reader.load(path)
        wanted = {name: t for name, t in loaded.items() if t.sha256 and name.encode(errors="ignore").decode() == name}
        entries, _, data = check_rules(mount.merged)
        found = reader.load(mount.checkpoint)
        check_equal(set(found), set(entries), f"{path.name}: names in both views")
        # What is left out is told of, and is no part of either view.
        left_out = {name for name in wanted if name not in entries}
        check(set(entries) <= set(wanted), f"{path.name}: PyTorch has no {set(entries) - set(wanted)}")
        told = run(program, "verify", path) if left_out else ""
        for name in left_out:
            check(f'"{name}" is left out' in told, f"{path.name}: {name} is missing:\n{told}")
        for name, entry in entries.items():
            what = f"{path.name}: {name!r}"
            check_equal(found[name], wanted[name], f"{what} in the checkpoint")
            begin, end = entry["data_offsets"]
            merged = (entry["dtype"], tuple(entry["shape"]), sha256(read_at(mount.merged, data + begin, end - begin)))
            check_equal(merged, tuple(wanted[name]), f"{what} in model.safetensors")


@pytest.mark.usefixtures("torch")
def test_corpus(program: str, folder: Path) -> None:
    """checkpoints: PyTorch and a reader of safetensors have what PyTorch has of the corpus"""
    with TorchReader(folder) as reader:
        for case in loadable():
            check_views(program, case.path, reader)
    check_equal(list(folder.iterdir()), [], "what was made")


@pytest.mark.usefixtures("torch")
def test_real(program: str, folder: Path) -> None:
    """checkpoints: PyTorch and a reader of safetensors have what PyTorch has of real files"""
    with TorchReader(folder) as reader:
        for path in sorted(need_data("real/pytorch").iterdir()):
            if path.name != "empty.pt":  # no tensors
                run(program, "verify", "--no-code", path)
                check_views(program, path, reader)


def test_canary(program: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """checkpoints: nothing runs that a file would have run"""
    monkeypatch.chdir(folder)
    cases = [case for name in ("pytorch", "numpy") for case in corpus(name)
             if b"canary.tensorfs" in case.path.read_bytes()]  # fmt: skip
    check(len(cases) > 20, f"only {len(cases)} files would touch one")
    # They would: the same bytes do, in a process of its own that loads them as pickles.
    touched = folder.parent / f"{folder.name}-touched"
    touched.mkdir()
    try:
        path = next(case.path for case in cases if case.name == "plain-pickle-hostile.pkl")
        loading = "import pickle, sys; pickle.load(open(sys.argv[1], 'rb'))"
        subprocess.run([sys.executable, "-c", loading, path], cwd=touched, check=True, timeout=20)
        check_equal([path.name for path in touched.iterdir()], ["canary.tensorfs"], "what pickle made")
    finally:
        shutil.rmtree(touched)
    for case in cases:
        for verb in ("verify", "ls", "info"):
            done = subprocess.run([program, verb, case.path], capture_output=True, timeout=20)
            check(done.returncode in (0, 1, 3, 4), f"{verb} {case.name}: {done.returncode}: {done.stderr!r}")
        if case.verdict["expect"] in ("accept", "partial"):
            with Mount(program, case.path) as mount:
                for path in mount.path.rglob("*"):
                    check(path.is_dir() or path.read_bytes() is not None, str(path))
                for path in (mount.merged, mount.checkpoint):
                    check(len(path.read_bytes()) == path.stat().st_size, f"{case.name}: {path.name}")
        check_equal(list(folder.iterdir()), [], f"{case.name}: what was made")


def test_calls(program: str) -> None:
    """checkpoints: verify names what unpickling would call, and with --no-code that is a fault"""
    path = need_data("conformance/pytorch/cases/hostile-reduce.pt")
    check("note: unpickling it would call os.system\n" in run(program, "verify", path), "it is not named")
    faults = run(program, "verify", "--no-code", path, expect=1)
    check("RunsCode: unpickling it would call os.system" in faults, f"other faults: {faults}")
    for name in ("hostile-inst.pt", "hostile-legacy-magic.pth", "plain-pickle-hostile.pkl"):  # refused anyway
        path = need_data(f"conformance/pytorch/cases/{name}")
        for options in ([], ["--no-code"]):
            faults = run(program, "verify", *options, path, expect=1)
            check("RunsCode: unpickling it would call os.system" in faults, f"{name}: other faults: {faults}")
        done = subprocess.run([program, "info", path], capture_output=True, text=True)
        check(done.returncode != 0 and "would call os.system" in done.stderr, f"info {name}: {done.stderr}")


def test_key(program: str) -> None:
    """checkpoints: a key takes a part, and an unknown one is answered with those there are"""
    path = need_data("real/pytorch/checkpoint.pt")
    with Mount(program, path, "-o", "key=model_state_dict") as mount:
        names = {tensor["name"] for tensor in json.loads((mount.hidden / "tensors.json").read_text())}
        check_equal(names, {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}, "names")
    done = subprocess.run([program, "ls", "-o", "key=none", path], capture_output=True, text=True)
    check(done.returncode != 0 and '"model_state_dict"' in done.stderr, f"unknown key: {done.stderr}")


@pytest.mark.parametrize("order", ["C", "F"])
def test_numpy(program: str, numpy: ModuleType, folder: Path, order: str) -> None:
    """checkpoints: arrays that NumPy saves are read back equal through npy"""
    arrays = {}
    for dtype in ("?", "u1", "i1", "<i2", "<u2", "<f2", "<i4", "<u4", "<f4", "<c8", "<f8", "<i8", "<u8"):
        for shape in ((), (0,), (3, 0), (7,), (4, 5), (3, 4, 5)):
            count = int(numpy.prod(shape))
            values = (numpy.arange(count) % 2 if dtype == "?" else numpy.arange(count)).astype(dtype)
            arrays[f"{numpy.dtype(dtype).name}_{len(shape)}_{count}"] = numpy.array(values.reshape(shape), order=order)
    numpy.savez(folder / "m.npz", **arrays)
    numpy.save(folder / "one.npy", arrays["float32_3_60"])
    for path, wanted in ((folder / "m.npz", arrays), (folder / "one.npy", {"one": arrays["float32_3_60"]})):
        with Mount(program, path) as mount:
            for name, array in wanted.items():
                found = numpy.load(mount.npy / f"{name}.npy", mmap_mode="r", allow_pickle=False)
                check_equal((found.dtype, found.shape), (array.dtype, array.shape), name)
                check((numpy.asarray(found) == array).all(), f"{name}: other values")
    # bfloat16, which NumPy has no name for, as MLX and ml_dtypes write it.
    bits = numpy.arange(60, dtype="<u2").reshape(3, 4, 5) * 1000
    halves = numpy.array(bits.view("V2"), order=order)
    numpy.save(folder / "half.npy", halves)
    numpy.savez(folder / "half.npz", half=halves)
    for path in (folder / "half.npy", folder / "half.npz"):
        with Mount(program, path) as mount:
            entries, _, data = check_rules(mount.merged)
            check_equal((entries["half"]["dtype"], entries["half"]["shape"]), ("BF16", [3, 4, 5]), path.name)
            check_equal(numpy.load(mount.npy / "half.npy").tobytes(), bits.tobytes(), f"{path.name}: its bits")
            widened = numpy.load(mount.hidden / "f32" / "half.npy")
            check_equal(widened.tobytes(), (bits.astype("<u4") << 16).tobytes(), f"{path.name}: widened")
    numpy.savez_compressed(folder / "z.npz", **arrays)
    done = subprocess.run([program, "ls", folder / "z.npz"], capture_output=True, text=True)
    check(done.returncode != 0 and "numpy.savez" in done.stderr, f"compressed: {done.stderr}")
