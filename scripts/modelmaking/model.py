"""What is to be made, in whatever format: tensors, in parts that become files."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable, Iterable, NamedTuple, Optional, Protocol

# The elements of a block of each type, and its bytes. A tensor is whole blocks.
BLOCKS = {
    "BOOL": (1, 1), "U8": (1, 1), "I8": (1, 1), "F8_E5M2": (1, 1), "F8_E4M3": (1, 1), "F8_E8M0": (1, 1),
    "F8_E4M3FNUZ": (1, 1), "F8_E5M2FNUZ": (1, 1), "F4": (2, 1), "F6_E2M3": (4, 3), "F6_E3M2": (4, 3),
    "I16": (1, 2), "U16": (1, 2), "F16": (1, 2), "BF16": (1, 2), "I32": (1, 4), "U32": (1, 4), "F32": (1, 4),
    "I64": (1, 8), "U64": (1, 8), "F64": (1, 8), "C64": (1, 8),
}  # fmt: skip


class UsageError(Exception):
    """What was asked for cannot be made; the message is for the user."""


class Described(Protocol):
    """What a format's header says of a tensor."""

    @property
    def name(self) -> str: ...
    @property
    def dtype(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def nbytes(self) -> int: ...


def nbytes_of(dtype: str, shape: tuple[int, ...]) -> int:
    elements, nbytes = BLOCKS[dtype]
    return math.prod(shape) // elements * nbytes


class Tensor(NamedTuple):
    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        return nbytes_of(self.dtype, self.shape)


Part = list[Tensor]  # the tensors of a file, in its order
Data = Iterable["bytes | memoryview"]


class Index(NamedTuple):
    """An index that exists already: the files' names, one a part, and its own bytes."""

    files: list[str]
    raw: bytes


@dataclass(frozen=True)
class Model:
    parts: list[Part]
    # The bytes of a part's tensors, asked for part after part. Without it the model is sparse: it has real headers
    # and sizes, and holes where the data would be.
    data: Optional[Callable[[Part], Data]] = None
    # Data begins at an odd offset: no page and no element is where a reader that assumes alignment would look.
    odd: bool = False
    index: Optional[Index] = None

    @property
    def tensors(self) -> int:
        return sum(map(len, self.parts))

    @property
    def nbytes(self) -> int:
        return sum(map(total_bytes, self.parts))


def total_bytes(tensors: Iterable[Described]) -> int:
    return sum(tensor.nbytes for tensor in tensors)


def aligned(tensors: Iterable[Tensor]) -> Part:
    """Wide elements first: the reference writer's way to align every tensor without gaps."""
    return sorted(tensors, key=lambda tensor: -BLOCKS[tensor.dtype][1])


def split_evenly(tensors: list[Tensor], parts: int) -> list[Part]:
    """Consecutive runs that differ in length by one at most, so order survives."""
    bounds = [len(tensors) * i // parts for i in range(parts + 1)]
    return [tensors[begin:end] for begin, end in zip(bounds, bounds[1:])]
