"""Writes GGUF: in each file metadata, the tensors' infos and the tensors at multiples of 32, as llama.cpp's own writer
lays them out; a model of several parts as its split."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Iterable, Sequence, Union

from .model import Model, Part, Tensor, UsageError

ALIGNMENT = 32
LONGEST_NAME = 63  # bytes; llama.cpp takes no longer ones

# ggml's ids.
TYPES = {
    "F32": 0, "F16": 1, "Q4_0": 2, "Q4_1": 3, "Q5_0": 6, "Q5_1": 7, "Q8_0": 8, "Q8_1": 9, "Q2_K": 10, "Q3_K": 11,
    "Q4_K": 12, "Q5_K": 13, "Q6_K": 14, "Q8_K": 15, "IQ2_XXS": 16, "IQ2_XS": 17, "IQ3_XXS": 18, "IQ1_S": 19,
    "IQ4_NL": 20, "IQ3_S": 21, "IQ2_S": 22, "IQ4_XS": 23, "I8": 24, "I16": 25, "I32": 26, "I64": 27, "F64": 28,
    "IQ1_M": 29, "BF16": 30, "TQ1_0": 34, "TQ2_0": 35, "MXFP4": 39, "NVFP4": 40, "Q1_0": 41, "Q2_0": 42,
}  # fmt: skip

# Values of metadata: a text, a true or false, an array of texts, or a number with its type.
U16, U32, I32, F32 = "<H", "<I", "<i", "<f"
NUMBER_IDS = {U16: 2, U32: 4, I32: 5, F32: 6}
BOOL_ID, STRING_ID, ARRAY_ID = 7, 8, 9
Number = tuple[str, Union[int, float]]  # its format, and the number
Numbers = tuple[str, Sequence[Union[int, float]]]
Value = Union[str, bool, list[str], Number, Numbers]


def encode_string(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def encode_value(value: Value) -> bytes:
    if isinstance(value, bool):
        return struct.pack("<IB", BOOL_ID, value)
    if isinstance(value, str):
        return struct.pack("<I", STRING_ID) + encode_string(value)
    if isinstance(value, list):
        return struct.pack("<IIQ", ARRAY_ID, STRING_ID, len(value)) + b"".join(map(encode_string, value))
    kind, number = value
    if isinstance(number, (int, float)):
        return struct.pack("<I", NUMBER_IDS[kind]) + struct.pack(kind, number)
    packed = struct.pack(f"<{len(number)}{kind[1]}", *number)
    return struct.pack("<IIQ", ARRAY_ID, NUMBER_IDS[kind], len(number)) + packed


def padding(size: int) -> bytes:
    return bytes(-size % ALIGNMENT)


def encode_info(tensor: Tensor, offset: int) -> bytes:
    if tensor.dtype not in TYPES:
        raise UsageError(f"GGUF has no {tensor.dtype}: {tensor.name}")
    if len(tensor.name.encode()) > LONGEST_NAME or len(tensor.shape) > 4:
        raise UsageError(f"llama.cpp takes no such name or shape: {tensor.name}")
    dims = struct.pack(f"<I{len(tensor.shape)}Q", len(tensor.shape), *reversed(tensor.shape))
    return encode_string(tensor.name) + dims + struct.pack("<IQ", TYPES[tensor.dtype], offset)


def encode_header(tensors: Part, metadata: dict[str, Value]) -> bytes:
    """Up to the data, padding included."""
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    keys = [encode_string(key) + encode_value(value) for key, value in metadata.items()]
    infos, offset = [], 0
    for tensor in tensors:
        infos.append(encode_info(tensor, offset))
        offset += tensor.nbytes + len(padding(tensor.nbytes))
    header = b"".join([header, *keys, *infos])
    return header + padding(len(header))


def padded(tensors: Part, data: Iterable[Union[bytes, memoryview]]) -> Iterable[Union[bytes, memoryview]]:
    """The bytes of each tensor and what follows them. REQUIRES: `data` has one piece a tensor."""
    for tensor, piece in zip(tensors, data):
        yield piece
        yield padding(tensor.nbytes)


def name_parts(base: str, count: int) -> list[str]:
    return [f"{base}.gguf"] if count == 1 else [f"{base}-{i:05}-of-{count:05}.gguf" for i in range(1, count + 1)]


def split_keys(model: Model, number: int) -> dict[str, Value]:
    if len(model.parts) == 1:
        return {}
    return {"split.no": (U16, number), "split.count": (U16, len(model.parts)),
            "split.tensors.count": (I32, model.tensors)}


def write_model(folder: Path, model: Model) -> None:
    """Fills an empty folder. All metadata stand in the first part, as in llama.cpp's splits."""
    for number, (file, tensors) in enumerate(zip(name_parts("model", len(model.parts)), model.parts)):
        header = encode_header(tensors, {**(model.metadata if number == 0 else {}), **split_keys(model, number)})
        with (folder / file).open("xb") as out:
            out.write(header)
            if model.data is None:  # a hole that reads as zeros
                out.truncate(len(header) + sum(t.nbytes + len(padding(t.nbytes)) for t in tensors))
            else:
                out.writelines(padded(tensors, model.data(tensors)))
