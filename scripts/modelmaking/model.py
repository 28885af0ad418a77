"""What is to be made, in whatever format: tensors, in parts that become files."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Callable, Iterable, NamedTuple, Optional, Protocol

# The elements of a block of each type, and its bytes. A tensor is whole blocks.
PLAIN = {  # the types of safetensors
    "BOOL": (1, 1), "U8": (1, 1), "I8": (1, 1), "F8_E5M2": (1, 1), "F8_E4M3": (1, 1), "F8_E8M0": (1, 1),
    "F8_E4M3FNUZ": (1, 1), "F8_E5M2FNUZ": (1, 1), "F4": (2, 1), "F6_E2M3": (4, 3), "F6_E3M2": (4, 3),
    "I16": (1, 2), "U16": (1, 2), "F16": (1, 2), "BF16": (1, 2), "I32": (1, 4), "U32": (1, 4), "F32": (1, 4),
    "I64": (1, 8), "U64": (1, 8), "F64": (1, 8), "C64": (1, 8),
}  # fmt: skip
QUANTISED = {  # the others of GGUF
    "Q4_0": (32, 18), "Q4_1": (32, 20), "Q5_0": (32, 22), "Q5_1": (32, 24), "Q8_0": (32, 34), "Q8_1": (32, 36),
    "Q2_K": (256, 84), "Q3_K": (256, 110), "Q4_K": (256, 144), "Q5_K": (256, 176), "Q6_K": (256, 210),
    "Q8_K": (256, 292), "IQ2_XXS": (256, 66), "IQ2_XS": (256, 74), "IQ3_XXS": (256, 98), "IQ1_S": (256, 50),
    "IQ4_NL": (32, 18), "IQ3_S": (256, 110), "IQ2_S": (256, 82), "IQ4_XS": (256, 136), "IQ1_M": (256, 56),
    "TQ1_0": (256, 54), "TQ2_0": (256, 66), "MXFP4": (32, 17), "NVFP4": (64, 36), "Q1_0": (128, 18),
    "Q2_0": (64, 18),
}  # fmt: skip
BLOCKS = {**PLAIN, **QUANTISED}


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
    # What a format with typed metadata says besides: gguf.Value by key.
    metadata: dict = field(default_factory=dict)

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
