"""A language model in GGUF: blocks of quantised types, and a vocabulary in the metadata."""

from __future__ import annotations

import argparse
import itertools
import random
from typing import Iterator

from . import gguf
from .arguments import add_command, add_folder, parse_count
from .model import QUANTISED, Model, Part, Tensor, UsageError, split_evenly

HIDDEN, FEED_FORWARD, KEYS = 4096, 14336, 1024
SMALL = 16  # what these are divided by where there is data
# Of each layer: what llama.cpp calls it, and its shape.
LAYER = {
    "attn_norm": ("hidden",),
    "attn_q": ("hidden", "hidden"),
    "attn_k": ("keys", "hidden"),
    "attn_v": ("keys", "hidden"),
    "attn_output": ("hidden", "hidden"),
    "ffn_norm": ("hidden",),
    "ffn_gate": ("feed_forward", "hidden"),
    "ffn_up": ("feed_forward", "hidden"),
    "ffn_down": ("hidden", "feed_forward"),
}
TYPES = list(QUANTISED)


def tensors(count: int, types: list[str], divisor: int) -> Iterator[Tensor]:
    """Exactly `count`: the last layer may be incomplete. Matrices take the types in turns, vectors are F32."""
    sizes = {"hidden": HIDDEN // divisor, "feed_forward": FEED_FORWARD // divisor // 256 * 256, "keys": KEYS // divisor}
    turns = itertools.cycle(types)
    yield Tensor("token_embd.weight", next(turns), (1024, sizes["hidden"]))
    layers = ((layer, name, shape) for layer in itertools.count() for name, shape in LAYER.items())
    for layer, name, shape in itertools.islice(layers, count - 1):
        dtype = "F32" if len(shape) == 1 else next(turns)
        yield Tensor(f"blk.{layer}.{name}.weight", dtype, tuple(sizes[size] for size in shape))


def words(count: int, rng: random.Random) -> list[str]:
    """Texts as tokenizers have them: none twice, most of 3 to 10 letters, some of several bytes a letter."""
    letters = "etaoinshrdlucmfwypvbgk"
    return ["\u2581" * (number % 3 == 0) + "".join(rng.choices(letters, k=2 + number % 7)) + format(number, "x")
            for number in range(count)]


def metadata(tokens: int, merges: int, rng: random.Random) -> dict[str, gguf.Value]:
    keys: dict[str, gguf.Value] = {
        "general.architecture": "llama", "general.name": "Made up", "general.file_type": (gguf.U32, 15),
        "general.quantization_version": (gguf.U32, 2), "llama.context_length": (gguf.U32, 131072),
        "llama.embedding_length": (gguf.U32, HIDDEN), "llama.rope.freq_base": (gguf.F32, 500000.0),
        "tokenizer.ggml.add_bos_token": True, "tokenizer.ggml.model": "gpt2",
    }  # fmt: skip
    if tokens:
        keys["tokenizer.ggml.tokens"] = words(tokens, rng)
        keys["tokenizer.ggml.scores"] = (gguf.F32, [-float(i) for i in range(tokens)])
        keys["tokenizer.ggml.token_type"] = (gguf.I32, [1] * tokens)
    if merges:
        keys["tokenizer.ggml.merges"] = [f"{a} {b}" for a, b in zip(words(merges, rng), words(merges, rng))]
    return keys


def blocks(part: Part, rng: random.Random) -> Iterator[bytes]:
    """Any bytes are blocks, though not all are of numbers that make sense."""
    return (rng.randbytes(tensor.nbytes) for tensor in part)


def plan(args: argparse.Namespace) -> Model:
    if args.parts > args.tensors:
        raise UsageError(f"--parts: more parts than tensors: {args.parts} > {args.tensors}")
    rng = random.Random(0)
    every = list(tensors(args.tensors, args.type or ["Q4_K", "Q6_K"], 1 if args.sparse else SMALL))
    return Model(
        split_evenly(every, args.parts),
        None if args.sparse else lambda part: blocks(part, rng),
        metadata=metadata(args.tokens, args.merges, rng),
    )


def parse_count_or_none(text: str) -> int:
    return 0 if text == "0" else parse_count(text)


def add_to(commands) -> None:
    command = add_command(
        commands, "gguf", plan, "a GGUF file, or a split, of quantised types",
        "Tensors as llama.cpp names them, their matrices in the types in turns. All metadata are\n"
        "in the first part. With data, the dimensions are a sixteenth, and the blocks are random.",
    )
    command.set_defaults(write=gguf.write_model)
    add_folder(command)
    command.add_argument("--tensors", metavar="N", type=parse_count, default=38, help="exact number of tensors")
    command.add_argument("--parts", metavar="N", type=parse_count, default=1, help="number of files")
    command.add_argument("--tokens", metavar="N", type=parse_count_or_none, default=1000, help="size of the vocabulary")
    command.add_argument("--merges", metavar="N", type=parse_count_or_none, default=1000, help="pairs of tokens")
    command.add_argument("--type", metavar="TYPE", action="append", choices=TYPES,
                         help=f"of the matrices, in turns if given again: {', '.join(TYPES)}; Q4_K and Q6_K unless told")
    command.add_argument("--sparse", action="store_true", help="real sizes, and holes instead of data")
