"""Dtypes and shapes for the names of a real model, of which no more than the size in all is known."""

from __future__ import annotations

import math
import re
from typing import NamedTuple, Optional

from .model import BLOCKS, Tensor


class Guess(NamedTuple):
    """What a tensor's name says about it. Matrices have no length but a weight."""

    dtype: str
    length: int = 0  # elements of a vector; 0: as many as a matrix has columns
    weight: int = 0  # of a matrix: its rows in proportion to other matrices; 0: a vector


# The first pattern that is found in the name counts.
GUESSES = [
    (re.compile(pattern), guess)
    for pattern, guess in (
        (r"\.quant_map$", Guess("F32", length=16)),
        (r"\.bitsandbytes__\w+$", Guess("U8", length=80)),
        (r"\.absmax$|scale_inv$", Guess("F32")),
        (r"(^|\.)(A_log|dt_bias)$", Guess("F32", length=32)),
        (r"bias$|norm\d?\.weight$|(^|\.)ln_\w+\.weight$", Guess("BF16")),
        (r"embed|(^|\.)wte\.|lm_head", Guess("BF16", weight=16)),
        (r"\.(k_proj|v_proj|gate)\.weight$", Guess("BF16", weight=1)),
        (r"", Guess("BF16", weight=4)),
    )
]
MATRIX_ITEM_BYTES = BLOCKS["BF16"][1]


def guess_from(name: str) -> Guess:
    return next(guess for pattern, guess in GUESSES if pattern.search(name))


def vector_bytes(guesses: list[Guess], columns: int) -> list[int]:
    """What each vector takes in a model this wide; 0 for the matrices."""
    return [
        0 if guess.weight else (guess.length or columns) * BLOCKS[guess.dtype][1]
        for guess in guesses
    ]


def choose_columns(guesses: list[Guess], total: int) -> int:
    """The widest power of two that leaves the usual matrix about square; 0 if none fits."""
    weights = sum(guess.weight for guess in guesses)
    for columns in (1 << bit for bit in range(13, -1, -1)):
        rows = (total - sum(vector_bytes(guesses, columns))) // (MATRIX_ITEM_BYTES * columns)
        if rows >= weights * max(1, columns // 4):
            return columns
    return 0


def share_out(guesses: list[Guess], total: int, columns: int) -> list[int]:
    """A size for each tensor, `total` in sum to the byte.

    Matrices get whole rows, by weight. What is left of a row goes to the last
    matrix; a total too small for any shape goes to it alone.
    """
    sizes = vector_bytes(guesses, columns) if columns else [0] * len(guesses)
    matrices = [i for i, guess in enumerate(guesses) if guess.weight]
    row_bytes = MATRIX_ITEM_BYTES * columns
    rows = (total - sum(sizes)) // row_bytes if columns else 0
    weights = sum(guess.weight for guess in guesses)
    before = 0
    for i in matrices:
        after = before + guesses[i].weight
        sizes[i] = (rows * after // weights - rows * before // weights) * row_bytes
        before = after
    sizes[matrices[-1] if matrices else -1] += total - sum(sizes)
    return sizes


def shape_to_fit(name: str, guess: Guess, nbytes: int, columns: int) -> Tensor:
    """A tensor of exactly `nbytes`: plain U8 where the guessed dtype does not divide them."""
    elements, rest = divmod(nbytes, BLOCKS[guess.dtype][1])
    if rest:
        return Tensor(name, "U8", (nbytes,))
    if not guess.weight:
        return Tensor(name, guess.dtype, (elements,))
    columns = math.gcd(elements, columns) or 1
    return Tensor(name, guess.dtype, (elements // columns, columns))


def invent_tensors(names: list[str], total: Optional[int], each: int) -> list[Tensor]:
    """Tensors of `total` bytes in sum, or of `each` bytes where no total is known."""
    guesses = [guess_from(name) for name in names]
    if total is None:
        columns, sizes = 1024, [each] * len(names)
    else:
        columns = choose_columns(guesses, total)
        sizes = share_out(guesses, total, columns)
    return [shape_to_fit(*fields, columns) for fields in zip(names, guesses, sizes)]
