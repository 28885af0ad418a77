"""The names of a real model by its index, without its data."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Optional

from .arguments import add_command, add_folder, parse_size
from .guesses import invent_tensors
from .model import Index, Model, Tensor, UsageError, aligned


def check_weight_map(weight_map: object) -> dict[str, str]:
    """Refuse what would be written outside the folder or cannot stand in a header."""
    if not isinstance(weight_map, dict) or not weight_map:
        raise UsageError("the index has no weight_map with tensors")
    for name, shard in weight_map.items():
        if not isinstance(shard, str) or not Path(shard).name or "\0" in shard:
            raise UsageError(f"weight_map: {name!r}: the shard is not a file name: {shard!r}")
        if Path(shard).is_absolute() or ".." in Path(shard).parts:
            raise UsageError(f"weight_map: {name!r}: the shard is outside the folder: {shard!r}")
    if "__metadata__" in weight_map:
        raise UsageError("weight_map: a tensor cannot be named '__metadata__'")
    return weight_map


def check_total(metadata: object) -> Optional[int]:
    """metadata.total_size, which some writers give as a float and some not at all."""
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    if total is None:
        return None
    if not isinstance(total, (int, float)) or not 0 <= total < 1 << 63 or total % 1:
        raise UsageError(f"metadata.total_size is not a number of bytes: {total!r}")
    return int(total)


def read_index(path: Path) -> tuple[bytes, dict]:
    """The index as it stands, to be copied, and as it reads."""
    try:
        raw = path.read_bytes()
        index = json.loads(raw)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path}: not JSON: {error}") from error
    if not isinstance(index, dict):
        raise UsageError(f"{path}: not a JSON object")
    return raw, index


def plan(args: argparse.Namespace) -> Model:
    raw, index = read_index(args.index)
    weight_map = check_weight_map(index.get("weight_map"))
    total = check_total(index.get("metadata"))
    shards: dict[str, list[Tensor]] = {}
    for tensor in invent_tensors(list(weight_map), total, args.tensor_bytes):
        shards.setdefault(weight_map[tensor.name], []).append(tensor)
    return Model([aligned(part) for part in shards.values()], index=Index(list(shards), raw))


def add_to(commands) -> None:
    command = add_command(
        commands, "from-index", plan, "sparse shards for the index of a real model",
        "Names, shards and the total size to the byte are the index's, which is copied as\n"
        "it is. Dtypes and shapes are guessed from the names.",
    )
    command.add_argument("index", metavar="INDEX", type=Path, help="a *.safetensors.index.json")
    add_folder(command)
    command.add_argument(
        "--tensor-bytes", metavar="SIZE", type=parse_size, default="1M",
        help="size of each tensor if the index has no metadata.total_size",
    )
