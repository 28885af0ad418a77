#!/usr/bin/python3 -B
"""What PyTorch makes of checkpoints: a process of its own, which a file can crash or hang without the tests.

As a program it reads lines of JSON, each a file's path, and answers each with one: its tensors by their flattened
names, or what went wrong. It is given harmless files only: to load one is to run it."""

from __future__ import annotations

import hashlib
import json
import select
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Iterator, NamedTuple

SECONDS = 20  # that a file may take


class Loaded(NamedTuple):
    """A tensor as PyTorch has it."""

    dtype: str  # as safetensors calls it
    shape: tuple[int, ...]
    sha256: str  # of its elements, row-major


class TorchReader:
    """From `with` to its end. FOLDER is where it runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> TorchReader:
        self._process = subprocess.Popen(
            [sys.executable, "-B", __file__], cwd=self._folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def load(self, path: Path) -> dict[str, Loaded]:
        print(json.dumps(str(path)), file=self._process.stdin, flush=True)
        if not select.select([self._process.stdout], [], [], SECONDS)[0]:
            raise AssertionError(f"{path}: PyTorch does not load it within {SECONDS} s")
        answer = json.loads(self._process.stdout.readline() or '{"error": "PyTorch crashed"}')
        if "error" in answer:
            raise AssertionError(f"{path}: PyTorch does not load it: {answer['error']}")
        return {name: Loaded(dtype, tuple(shape), digest) for name, dtype, shape, digest in answer["tensors"]}


# --- The program: only below is PyTorch imported ---------------------------------------------------


def flattened(torch: ModuleType, value: Any, name: str = "", inside: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Keys and positions joined with dots, as conformance/pytorch/README.md has it."""
    if isinstance(value, torch.Tensor):
        yield name, value
        return
    if isinstance(value, torch.nn.Module):
        value = value.state_dict()
    if isinstance(value, dict):
        items = value.items()
    elif type(value) in (list, tuple):
        items = enumerate(value)
    else:
        return
    for key, item in items if id(value) not in inside else ():
        if isinstance(key, bytes):
            key = key.decode(errors="surrogateescape")
        if isinstance(key, (str, int)):
            word = key if isinstance(key, str) else str(int(key))
            path = f"{name}.{word}" if inside else word
            yield from flattened(torch, item, path, (*inside, id(value)))


def described(torch: ModuleType, tensor: Any) -> tuple[str, list[int], str]:
    names = {
        torch.bool: "BOOL", torch.uint8: "U8", torch.int8: "I8", torch.int16: "I16", torch.int32: "I32",
        torch.int64: "I64", torch.float16: "F16", torch.bfloat16: "BF16", torch.float32: "F32",
        torch.float64: "F64", torch.complex64: "C64",
    }  # fmt: skip
    tensor = tensor.detach()
    if tensor.is_quantized:
        tensor = tensor.int_repr()
    if tensor.is_sparse or tensor.is_meta or tensor.dtype not in names:
        return f"no type of safetensors: {tensor.layout} {tensor.dtype}", list(tensor.shape), ""
    plain = tensor.resolve_conj().resolve_neg().reshape(-1).clone()
    data = bytes(plain.view(torch.uint8).numpy()) if plain.numel() else b""
    return names[tensor.dtype], list(tensor.shape), hashlib.sha256(data).hexdigest()


def main() -> None:
    import torch

    for line in sys.stdin:
        try:
            loaded = torch.load(json.loads(line), map_location="cpu")
            tensors = [(name, *described(torch, tensor)) for name, tensor in flattened(torch, loaded)]
            answer = json.dumps({"tensors": tensors})
        except Exception as error:  # whatever it is, the test is told
            answer = json.dumps({"error": repr(error)})
        print(answer, flush=True)


if __name__ == "__main__":
    main()
