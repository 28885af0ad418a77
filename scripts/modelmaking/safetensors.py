"""Writes safetensors: in each file a padded JSON header and the tensors back to back, as the reference writer lays
them out, and an index of all. The scripts and the tests have no other writer."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Iterable, Optional, Sequence

from .model import Data, Described, Model, Part, UsageError, total_bytes

MAX_HEADER_BYTES = 100_000_000  # the reference reader refuses more
INDEX_NAME = "model.safetensors.index.json"


def encode_header(
    tensors: Sequence[Described], metadata: Optional[dict[str, str]] = None, odd: bool = False
) -> bytes:
    """The length and the JSON, padded so that the data starts 8-aligned; one byte further where it is to be odd."""
    header: dict = {} if metadata is None else {"__metadata__": metadata}
    begin = 0
    for tensor in tensors:
        end = begin + tensor.nbytes
        header[tensor.name] = {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8 + odd)
    if len(text) > MAX_HEADER_BYTES:
        raise UsageError(f"{len(tensors)} tensors are too many for the header of one shard")
    return struct.pack("<Q", len(text)) + text


def write_full(path: Path, header: bytes, data: Data) -> None:
    with path.open("xb") as file:
        file.write(header)
        file.writelines(data)


def write_sparse(path: Path, header: bytes, nbytes: int) -> None:
    """Only the header takes disk space: the data is a hole that reads as zeros."""
    with path.open("xb") as file:
        file.write(header)
        file.truncate(len(header) + nbytes)


def name_shards(count: int) -> list[str]:
    return [f"model-{i:05}-of-{count:05}.safetensors" for i in range(1, count + 1)]


def encode_index(files: Iterable[str], parts: Iterable[Part]) -> bytes:
    weight_map = {tensor.name: file for file, tensors in zip(files, parts) for tensor in tensors}
    total = sum(map(total_bytes, parts))
    index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(weight_map.items()))}
    return (json.dumps(index, indent=2) + "\n").encode()


def write_model(folder: Path, model: Model) -> None:
    """Fills an empty folder."""
    files = model.index.files if model.index else name_shards(len(model.parts))
    for file, tensors in zip(files, model.parts):
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        header = encode_header(tensors, {"format": "pt"}, model.odd)
        if model.data is None:
            write_sparse(path, header, total_bytes(tensors))
        else:
            write_full(path, header, model.data(tensors))
    index = model.index.raw if model.index else encode_index(files, model.parts)
    (folder / INDEX_NAME).write_bytes(index)
