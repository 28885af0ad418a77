"""PyTorch loads pytorch_model.bin."""

from __future__ import annotations

import collections
import io
import json
import pickle
import pickletools
import random
import struct
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any, Iterator

import pytest

from checks import TemporaryFolder, check, check_equal, need, need_data
from models import BITS, Tensor, every_pattern, random_tensor, stored_shape, write_shard, write_sparse
from mounts import Mount
from reading import entry_offset, read_at

# What PyTorch is to take each type for: all others are there bit for bit as uint8.
TORCH_TYPE = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "I16": "int16", "U16": "int16", "F16": "float16",
    "BF16": "bfloat16", "I32": "int32", "U32": "int32", "F32": "float32", "C64": "complex64", "F64": "float64",
    "I64": "int64", "U64": "int64",
}  # fmt: skip

# torch/_weights_only_unpickler.py of PyTorch 2, what a dict of tensors may need of it: these globals,
# storages by their classes' names, and these opcodes.
ALLOWED_GLOBALS = {"collections.OrderedDict", "torch._utils._rebuild_tensor_v2"} | {
    f"torch.{name}Storage"
    for name in ("Bool", "Byte", "Char", "Short", "Half", "BFloat16", "Int", "Float", "ComplexFloat", "Double", "Long")
}
ALLOWED_OPCODES = set(
    "GLOBAL NEWOBJ REDUCE BUILD APPEND APPENDS SETITEM SETITEMS MARK TUPLE TUPLE1 TUPLE2 TUPLE3 NONE NEWFALSE NEWTRUE"
    " EMPTY_TUPLE EMPTY_LIST EMPTY_DICT EMPTY_SET BININT BININT1 BININT2 BINFLOAT BINUNICODE SHORT_BINSTRING"
    " BINPERSID BINGET LONG_BINGET BINPUT LONG_BINPUT LONG1 PROTO STOP".split()
)


def expected(tensor: Tensor) -> tuple[str, tuple[int, ...]]:
    if BITS[tensor.dtype] < 8:
        return "uint8", stored_shape(tensor)
    return TORCH_TYPE.get(tensor.dtype, "uint8"), tensor.shape


def bytes_of(tensor: Any) -> bytes:
    torch = need("torch")
    numpy = need("numpy")
    if tensor.numel() == 0:
        return b""
    return numpy.asarray(tensor.flatten().view(torch.uint8)).tobytes()


def check_tensor(found: Any, tensor: Tensor) -> None:
    torch = need("torch")
    dtype, shape = expected(tensor)
    what = f"{tensor.name} ({tensor.dtype} {tensor.shape})"
    check(type(found) is torch.Tensor, f"{what}: it is a {type(found)}")
    check_equal(found.dtype, getattr(torch, dtype), f"{what}: dtype")
    check_equal(tuple(found.shape), shape, f"{what}: shape")
    check_equal(found.stride(), torch.empty(shape, device="meta").stride(), f"{what}: strides")
    check(found.is_contiguous(), f"{what}: it is not contiguous")
    check_equal(found.storage_offset(), 0, f"{what}: offset in its storage")
    check(not found.requires_grad, f"{what}: it requires gradients")
    check_equal(found.device.type, "cpu", f"{what}: device")
    check(bytes_of(found) == tensor.data, f"{what}: its bytes are others")


def check_checkpoint(program: str, tensors: list[Tensor]) -> None:
    torch = need("torch")
    with TemporaryFolder() as folder, Mount(program, write_shard(folder / "m.safetensors", tensors)) as mount:
        for options in ({}, {"weights_only": True}):
            loaded = torch.load(mount.checkpoint, **options)
            check(type(loaded) is dict, f"it is a {type(loaded)}")
            check_equal(set(loaded), {tensor.name for tensor in tensors}, "keys")
            for tensor in tensors:
                check_tensor(loaded[tensor.name], tensor)
        mount.check_lives()


@pytest.mark.usefixtures("torch")
def test_every_dtype(program: str) -> None:
    """torch: every dtype, with every value of the 8- and 16-bit ones"""
    tensors = []
    for dtype, bits in BITS.items():
        # Whoever loads a byte other than 0 and 1 as a bool gets what that is in C++: undefined.
        if bits <= 16 and dtype != "BOOL":
            tensors.append(every_pattern(f"all_{dtype}", dtype))
        for shape in ((5, 3, 4), (501, 500)):
            tensor = random_tensor(f"{dtype}_{len(shape)}", dtype, shape)
            if dtype == "BOOL":
                tensor = tensor._replace(data=bytes(byte & 1 for byte in tensor.data))
            tensors.append(tensor)
    check_checkpoint(program, tensors)


def test_viewed(program: str, torch: ModuleType, folder: Path) -> None:
    """torch: types that it lacks, as view undoes it"""
    tensors = [random_tensor(dtype, dtype, (6,)) for dtype in ("U16", "U32", "U64", "F8_E4M3", "F8_E5M2")]
    names = {"U16": "uint16", "U32": "uint32", "U64": "uint64", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2"}
    with Mount(program, write_shard(folder / "m.safetensors", tensors)) as mount:
        loaded = torch.load(mount.checkpoint, weights_only=True)
        for tensor in tensors:
            name = names[tensor.dtype]
            if hasattr(torch, name):
                check_equal(loaded[tensor.dtype].view(getattr(torch, name)).dtype, getattr(torch, name), tensor.dtype)
            else:
                print(f"PyTorch {torch.__version__} has no {name}")
                check(bytes_of(loaded[tensor.dtype]) == tensor.data, tensor.dtype)


@pytest.mark.usefixtures("torch")
def test_sizes(program: str) -> None:
    """torch: scalars, tensors without elements, and sizes of every width"""
    tensors = []
    for dtype in BITS:
        whole_bytes = BITS[dtype] >= 8
        for shape in ((), (1,)) if whole_bytes else ((8,),):
            tensor = random_tensor(f"{dtype}{shape}", dtype, shape)
            tensors.append(tensor._replace(data=b"\1") if dtype == "BOOL" else tensor)
        for shape in ((0,), (3, 0, 2), (0, 5), (5, 0)):
            tensors.append(Tensor(f"{dtype}{shape}", dtype, shape))
    for count in (127, 128, 255, 256, 257, 65535, 65536, 65537, 100_000):
        tensors.append(random_tensor(f"U8_{count}", "U8", (count,)))
        tensors.append(random_tensor(f"I16_{count}", "I16", (2, count)))
    tensors.append(random_tensor("deep", "F32", (2, 1, 3, 1, 2, 1, 2, 1, 1, 1, 2)))
    check_checkpoint(program, tensors)


@pytest.mark.usefixtures("torch")
def test_odd_names(program: str) -> None:
    """torch: odd names"""
    names = ["", " ", "a.b", "it's", 'a "quoted" name', "a\nb", "\0", "重み", "🤗", "../../x", "x" * 5000, "storage", "cpu"]
    check_checkpoint(program, [random_tensor(name, "I32", (place,)) for place, name in enumerate(names)])


def test_several_shards(program: str, torch: ModuleType, folder: Path) -> None:
    """torch: several shards"""
    parts = [[random_tensor(f"layer.{i}.{j}", "BF16", (i + 1, j + 1)) for j in range(3)] for i in range(5)]
    for number, part in enumerate(parts, 1):
        write_shard(folder / f"model-{number:05}-of-{len(parts):05}.safetensors", part)
    with Mount(program, folder) as mount:
        loaded = torch.load(mount.checkpoint)
        check_equal(set(loaded), {tensor.name for part in parts for tensor in part}, "keys")
        for tensor in (tensor for part in parts for tensor in part):
            check_tensor(loaded[tensor.name], tensor)


def test_mapped(program: str, torch: ModuleType, folder: Path) -> None:
    """torch: a mapping of the checkpoint, as a newer PyTorch makes it of mmap=True"""
    tensors = [random_tensor(f"t{i}", "F32", (i, 3)) for i in range(40)]
    with Mount(program, write_shard(folder / "m.safetensors", tensors)) as mount:
        size = mount.checkpoint.stat().st_size
        whole = torch.UntypedStorage.from_file(str(mount.checkpoint), False, size)
        with zipfile.ZipFile(mount.checkpoint) as archive:
            for number, tensor in enumerate(tensors):
                begin = entry_offset(mount.checkpoint, archive.getinfo(f"pytorch_model/data/{number}"))
                found = bytes(whole[begin : begin + tensor.nbytes].tolist())
                check(found == tensor.data, f"{tensor.name}: its bytes are others")


def test_saved(program: str, torch: ModuleType, folder: Path) -> None:
    """torch: a checkpoint loaded, saved and loaded is the same"""
    tensors = [random_tensor(dtype, dtype, (4, 6)) for dtype in ("F32", "BF16", "F16", "I64", "F8_E4M3")]
    with Mount(program, write_shard(folder / "m.safetensors", tensors)) as mount:
        torch.save(torch.load(mount.checkpoint), folder / "saved.pt")
        for tensor in tensors:
            check_tensor(torch.load(folder / "saved.pt")[tensor.name], tensor)


def test_module(program: str, torch: ModuleType, folder: Path) -> None:
    """torch: a module takes it as its state"""
    weight = Tensor("weight", "F32", (2, 3), struct.pack("<6f", 1, 2, 3, 4, 5, 6))
    bias = Tensor("bias", "F32", (2,), struct.pack("<2f", 10, 20))
    with Mount(program, write_shard(folder / "m.safetensors", [weight, bias])) as mount:
        linear = torch.nn.Linear(3, 2)
        linear.load_state_dict(torch.load(mount.checkpoint, weights_only=True))
        check_equal(linear(torch.tensor([1.0, 1.0, 2.0])).tolist(), [19.0, 41.0], "what the module calculates")


def test_real_model(program: str, torch: ModuleType) -> None:
    """torch: a real model has the names, types and shapes of the same model as PyTorch saved it

    The two files are of one model, but of two states of its training (one has seen 3,752 batches,
    the other 7,504), so that their values differ. Those are compared with the safetensors file's own."""
    source = need_data("real/safetensors/burn-mnist.safetensors")
    saved_by_torch = torch.load(need_data("real/pytorch/burn-mnist.pt"), map_location="cpu")
    with Mount(program, source) as mount:
        loaded = torch.load(mount.checkpoint, weights_only=True)

        def traits(state: dict[str, Any]) -> dict[str, tuple]:
            return {name: (t.dtype, t.shape, t.stride(), t.is_contiguous()) for name, t in state.items()}

        check_equal(traits(loaded), traits(saved_by_torch), "names, types, shapes and strides")
        raw = source.read_bytes()
        (length,) = struct.unpack("<Q", raw[:8])
        for name, entry in json.loads(raw[8 : 8 + length]).items():
            if name != "__metadata__":
                begin, end = (8 + length + at for at in entry["data_offsets"])
                check(bytes_of(loaded[name]) == raw[begin:end], f"{name}: its bytes are others")


# --- Without PyTorch -------------------------------------------------------------------------------


class Storage:
    """What a persistent id stands for."""

    def __init__(self, identity: tuple) -> None:
        kind, self.type, self.key, self.location, self.elements = identity
        check_equal(kind, "storage", "persistent id")


class RestrictedUnpickler(pickle.Unpickler):
    """Allows what weights_only=True of a newer PyTorch allows."""

    def find_class(self, module: str, name: str) -> Any:
        check(f"{module}.{name}" in ALLOWED_GLOBALS, f"{module}.{name} is not allowed")
        if name == "OrderedDict":
            return collections.OrderedDict
        return (lambda *arguments: arguments) if name.startswith("_rebuild") else name

    def persistent_load(self, identity: tuple) -> Storage:
        return Storage(identity)


def unpickled(checkpoint: Path) -> dict[str, tuple]:
    with zipfile.ZipFile(checkpoint) as archive:
        text = archive.read("pytorch_model/data.pkl")
    opcodes = {opcode.name for opcode, _, _ in pickletools.genops(text)}
    check(opcodes <= ALLOWED_OPCODES, f"opcodes that are not allowed: {opcodes - ALLOWED_OPCODES}")
    return RestrictedUnpickler(io.BytesIO(text)).load()


def checked(state: dict[str, tuple], tensors: list[Tensor]) -> Iterator[tuple[Tensor, Storage]]:
    check_equal(list(state), [tensor.name for tensor in tensors], "keys")
    for tensor in tensors:
        storage, offset, shape, strides, requires_grad, hooks = state[tensor.name]
        check_equal((offset, requires_grad, hooks), (0, False, collections.OrderedDict()), tensor.name)
        check_equal(shape, expected(tensor)[1], f"{tensor.name}: shape")
        wanted, step = [], 1
        for size in reversed(shape):
            wanted.insert(0, step)
            step *= max(size, 1)
        check_equal(list(strides), wanted, f"{tensor.name}: strides")
        check_equal(storage.location, "cpu", f"{tensor.name}: location")
        yield tensor, storage


def test_weights_only(program: str, folder: Path) -> None:
    """checkpoint: the rules of weights_only of a newer PyTorch allow it"""
    tensors = [random_tensor(f"{dtype}{shape}", dtype, shape) for dtype in BITS for shape in ((4, 6), (0, 2), (40, 50))]
    with Mount(program, write_shard(folder / "m.safetensors", tensors)) as mount:
        seen = set()
        with zipfile.ZipFile(mount.checkpoint) as archive:
            for tensor, storage in checked(unpickled(mount.checkpoint), tensors):
                check(storage.key not in seen, f"storage {storage.key} stands twice")
                seen.add(storage.key)
                entry = archive.getinfo(f"pytorch_model/data/{storage.key}")
                check_equal(entry.file_size, tensor.nbytes, f"{tensor.name}: size of its file")
            check_equal(len(seen), len(tensors), "storages")


def test_many_elements(program: str, folder: Path) -> None:
    """checkpoint: tensors of more elements than 31 and 32 bits count"""
    counts = [2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40 + 3]
    tensors = [Tensor(f"t{count}", "U8", (count,)) for count in counts] + [Tensor("end", "I64", (2**31, 2**8))]
    shard = folder / "m.safetensors"
    write_sparse(shard, tensors)
    with Mount(program, shard) as mount:
        for tensor, storage in checked(unpickled(mount.checkpoint), tensors):
            check_equal(storage.elements, tensor.nbytes * 8 // BITS[tensor.dtype], f"{tensor.name}: elements")


def test_parts(program: str, folder: Path) -> None:
    """checkpoint: any part of it is what it is as a part of the whole"""
    places = random.Random(3)
    tensors = [random_tensor(f"t{i}", "U8", (places.randrange(300),)) for i in range(5000)]
    with Mount(
        program, write_shard(folder / "m.safetensors", tensors), "-o", "cache=direct"
    ) as mount:
        whole = mount.checkpoint.read_bytes()
        check_equal(len(whole), mount.checkpoint.stat().st_size, "size")
        for _ in range(500):
            at, nbytes = places.randrange(len(whole)), places.choice((1, 100, 4096, 70_001))
            check(read_at(mount.checkpoint, at, nbytes) == whole[at : at + nbytes], f"{nbytes} bytes from {at} on")
