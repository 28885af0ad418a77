"""Models that are written by hand, and those of scripts/make-model."""

from __future__ import annotations

import os
import random
import struct
import sys
from pathlib import Path
from typing import NamedTuple, Optional

from checks import REPOSITORY, check_equal, run

sys.path.append(str(REPOSITORY / "scripts"))
from modelmaking.model import PLAIN, nbytes_of  # noqa: E402: where it is, is only known now
from modelmaking.safetensors import encode_header  # noqa: E402

# Every element type of safetensors, and its bits.
BITS = {dtype: nbytes * 8 // elements for dtype, (elements, nbytes) in PLAIN.items()}


class Tensor(NamedTuple):
    name: str
    dtype: str
    shape: tuple[int, ...]
    data: bytes = b""

    @property
    def nbytes(self) -> int:
        return nbytes_of(self.dtype, self.shape)


def random_tensor(name: str, dtype: str, shape: tuple[int, ...], seed: int = 0) -> Tensor:
    empty = Tensor(name, dtype, shape)
    return empty._replace(data=random.Random(f"{name} {seed}").randbytes(empty.nbytes))


def every_pattern(name: str, dtype: str) -> Tensor:
    """All values of a type of up to 16 bits, in order."""
    bits = BITS[dtype]
    count = 1 << bits
    if bits == 16:
        data = struct.pack(f"<{count}H", *range(count))
    elif bits == 8:
        data = bytes(range(count))
    else:  # packed from the lowest bit up
        packed = sum(code << (bits * place) for place, code in enumerate(range(count)))
        data = packed.to_bytes(count * bits // 8, "little")
    return Tensor(name, dtype, (count,), data)


def write_shard(
    path: Path, tensors: list[Tensor], metadata: Optional[dict[str, str]] = None, odd: bool = True
) -> Path:
    """`odd` lets the data begin at an odd place, where nothing is aligned."""
    for tensor in tensors:
        check_equal(len(tensor.data), tensor.nbytes, f"the test's own tensor {tensor.name}")
    path.write_bytes(encode_header(tensors, metadata, odd) + b"".join(tensor.data for tensor in tensors))
    return path


def write_sparse(path: Path, tensors: list[Tensor]) -> dict[str, int]:
    """A shard that takes no disk space. Gives each tensor's place in it, to write some bytes there."""
    text = encode_header(tensors)
    places = {}
    at = len(text)
    for tensor in tensors:
        places[tensor.name] = at
        at += tensor.nbytes
    path.write_bytes(text)
    os.truncate(path, at)
    return places


def write_at(path: Path, offset: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def make_model(*arguments: object) -> None:
    """scripts/make-model"""
    run(sys.executable, REPOSITORY / "scripts" / "make-model", *arguments)


def stored_shape(tensor: Tensor) -> tuple[int, ...]:
    """The shape of a tensor's bytes in the views that have no type of its own: a row's bytes in the last dimension
    where elements share bytes and a row is whole groups of them; one dimension where it is not."""
    group, nbytes = {4: (2, 1), 6: (4, 3)}.get(BITS[tensor.dtype], (1, 1))
    if group == 1:
        return tensor.shape
    if not tensor.shape or tensor.shape[-1] % group:
        return (tensor.nbytes,)
    return (*tensor.shape[:-1], tensor.shape[-1] // group * nbytes)
