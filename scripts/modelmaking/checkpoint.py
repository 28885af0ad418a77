"""Writes PyTorch checkpoints, F32 only, as torch.save lays them out, without PyTorch: a zip archive of a pickle and of
storages, each stored as it is. For the bench."""

from __future__ import annotations

import math
import struct
import zipfile
from pathlib import Path
from typing import Iterable, NamedTuple


class View(NamedTuple):
    """A tensor that is a whole storage. Strides count elements."""

    name: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def _text(value: str) -> bytes:
    raw = value.encode()
    return b"X" + struct.pack("<I", len(raw)) + raw


def _integers(values: Iterable[int]) -> bytes:
    return b"(" + b"".join(b"J" + struct.pack("<i", value) for value in values) + b"t"


def _global(module: str, name: str) -> bytes:
    return f"c{module}\n{name}\n".encode()


def _tensor(view: View, key: str) -> bytes:
    elements = struct.pack("<i", math.prod(view.shape))
    storage = b"(" + _text("storage") + _global("torch", "FloatStorage") + _text(key) + _text("cpu") + b"J" + elements + b"tQ"
    hooks = _global("collections", "OrderedDict") + b")R"
    arguments = b"(" + storage + b"K\0" + _integers(view.shape) + _integers(view.strides) + b"\x89" + hooks + b"t"
    return _text(view.name) + _global("torch._utils", "_rebuild_tensor_v2") + arguments + b"R"


def write(path: Path, views: list[View]) -> None:
    """All elements are zeros."""
    state = b"\x80\2}(" + b"".join(_tensor(view, str(key)) for key, view in enumerate(views)) + b"u."
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", state)
        for key, view in enumerate(views):
            archive.writestr(f"archive/data/{key}", bytes(4 * math.prod(view.shape)))
