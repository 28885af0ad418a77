"""Files and ranges of them: tensors in their shards, copies of these, and trees of files that are holes."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from typing import NamedTuple

KIB, MIB = 1 << 10, 1 << 20


class Range(NamedTuple):
    """Bytes of a file, as bench_client takes them."""

    file: Path
    offset: int
    nbytes: int

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}:{self.nbytes}"

    def part(self, begin: int, nbytes: int) -> Range:
        return Range(self.file, self.offset + begin, min(nbytes, self.nbytes - begin))


def whole(file: Path) -> Range:
    return Range(file, 0, file.stat().st_size)


def copy(range_: Range, to: Path, offset: int) -> None:
    with range_.file.open("rb") as source, to.open("wb") as target:
        source.seek(range_.offset)
        target.seek(offset)
        for begin in range(0, range_.nbytes, MIB):
            target.write(source.read(min(MIB, range_.nbytes - begin)))


def tensors_in(folder: Path) -> dict[str, Range]:
    """All tensors of a model's shards by their paths in a mount."""
    tensors = {}
    for shard in sorted(folder.glob("*.safetensors")):
        with shard.open("rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(size))
        header.pop("__metadata__", None)
        for name, info in header.items():
            begin, end_ = info["data_offsets"]
            tensors[name.replace(".", "/")] = Range(shard, 8 + size + begin, end_ - begin)
    return tensors


def make_tree(at: Path, sizes: dict[str, int]) -> None:
    """Files that are holes: a listing of them is a listing of the model, and they take no space."""
    folders = set()
    for path, size in sizes.items():
        file = at / path
        if file.parent not in folders:
            file.parent.mkdir(parents=True, exist_ok=True)
            folders.add(file.parent)
        fd = os.open(file, os.O_CREAT | os.O_WRONLY, 0o444)
        os.ftruncate(fd, size)
        os.close(fd)
