"""Pseudo-random bytes, to read and compare."""

from __future__ import annotations

import argparse
import itertools
import random
from typing import Iterator

from .arguments import add_command, add_folder, parse_count, parse_size
from .model import BLOCKS, Model, Tensor, UsageError, total_bytes

RANDOM_BYTES = 64 << 20
# Odd, so that its odd multiples modulo the even block size are odd and all different.
ROTATION_STEP = 7_368_787
SMALLEST_SPLIT = 4096


def rotated(block: memoryview, nbytes: int, numbers: Iterator[int]) -> Iterator[memoryview]:
    """`nbytes` of the block again and again, each time rotated by another odd amount.

    Fresh random bytes would be slower than the disk. Rotated by odd amounts,
    pages far apart differ too, so a read from a wrong offset shows.
    """
    while nbytes:
        cut = (2 * next(numbers) + 1) * ROTATION_STEP % len(block)
        for piece in (block[cut:], block[:cut]):
            piece = piece[:nbytes]
            nbytes -= len(piece)
            yield piece


def mixed_tensors(prefix: str, nbytes: int) -> Iterator[Tensor]:
    """`nbytes` in tensors of many sizes: each about half of what is left, the last a small U8."""
    for number, dtype in enumerate(itertools.cycle(("BF16", "F32", "U8", "F16"))):
        name = f"{prefix}.{number}.weight"
        if nbytes <= SMALLEST_SPLIT:
            yield Tensor(name, "U8", (nbytes,))
            return
        tensor = Tensor(name, dtype, (nbytes // 2 // BLOCKS[dtype][1] | 1,))
        nbytes -= tensor.nbytes
        yield tensor


def split(size: int, big: int, shards: int) -> list[list[Tensor]]:
    """One large tensor in front, what is left of `size` evenly over all shards."""
    rest = size - big
    shares = [rest * (i + 1) // shards - rest * i // shards for i in range(shards)]
    parts = [list(mixed_tensors(f"blocks.{i}", share)) for i, share in enumerate(shares)]
    parts[0].insert(0, Tensor("big.weight", "U8", (big,)))
    return parts


def plan(args: argparse.Namespace) -> Model:
    if args.big > args.size:
        raise UsageError(f"--big is more than --size: {args.big} > {args.size} bytes")
    block = memoryview(random.Random(args.seed).randbytes(RANDOM_BYTES))
    numbers = itertools.count()
    return Model(
        split(args.size, args.big, args.shards),
        lambda part: rotated(block, total_bytes(part), numbers),
        odd=True,
    )


def add_to(commands) -> None:
    command = add_command(
        commands, "bytes", plan, "shards of pseudo-random bytes, at odd offsets",
        "Shard 1 begins with the tensor big.weight (U8, 1-D); tensors of many sizes follow,\n"
        "half as large each time. A SIZE is in bytes or ends in K, M, G or T (powers of 1024).",
    )
    add_folder(command)
    command.add_argument(
        "--size", metavar="SIZE", type=parse_size, default="2G", help="all tensors together"
    )
    command.add_argument(
        "--shards", metavar="N", type=parse_count, default=4, help="number of shards"
    )
    command.add_argument(
        "--big", metavar="SIZE", type=parse_size, default="512M", help="the tensor big.weight"
    )
    command.add_argument(
        "--seed", metavar="N", type=int, default=0, help="another seed gives other bytes"
    )
