"""The files of the conformance corpora, with what must be made of each, and GGUF files of one's own."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Iterable, NamedTuple

from checks import check_equal, need_data
from models import Tensor
from modelmaking import gguf
from modelmaking.model import BLOCKS

Verdict = dict[str, Any]


class Case(NamedTuple):
    path: Path
    verdict: Verdict  # as the corpus' README.md explains it

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def tensors(self) -> list[Verdict]:
        return self.verdict.get("tensors", []) + [t for part in self.verdict.get("parts", []) for t in part["tensors"]]


def corpus(folder: str, files: str = "cases") -> list[Case]:
    """Of conformance/FOLDER, whose verdicts are of what lies in its folder FILES."""
    base = need_data(f"conformance/{folder}")
    lines = (base / "verdicts.jsonl").read_text().splitlines()
    return [Case(base / files / line.get("file", line.get("folder")), line) for line in map(json.loads, lines)]


def sha256(data: Any) -> str:
    return hashlib.sha256(data).hexdigest()


def row_shape(dtype: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a quantised tensor's bytes: rows of blocks."""
    elements, nbytes = BLOCKS[dtype]
    return (*shape[:-1], shape[-1] // elements * nbytes)


def write_gguf(path: Path, tensors: Iterable[Tensor], architecture: str = "llama") -> Path:
    tensors = list(tensors)
    for tensor in tensors:
        check_equal(len(tensor.data), tensor.nbytes, f"the test's own tensor {tensor.name}")
    header = gguf.encode_header(tensors, {"general.architecture": architecture})
    path.write_bytes(header + b"".join(gguf.padded(tensors, (tensor.data for tensor in tensors))))
    return path
