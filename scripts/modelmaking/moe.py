"""A large mixture of experts: very many tensors, without data."""

from __future__ import annotations

import argparse
import itertools
from typing import Iterator

from .arguments import add_command, add_folder, parse_count
from .model import Model, Tensor, UsageError, aligned, split_evenly

# DeepSeek-V3's dimensions: expert weights in 8 bits, with a scale for each block of 128 x 128.
HIDDEN, VOCABULARY, EXPERT_ROWS, BLOCK = 7168, 129280, 2048, 128
ATTENTION = {
    "input_layernorm": (7168,),
    "self_attn.q_a_proj": (1536, 7168),
    "self_attn.q_a_layernorm": (1536,),
    "self_attn.q_b_proj": (24576, 1536),
    "self_attn.kv_a_proj_with_mqa": (576, 7168),
    "self_attn.kv_a_layernorm": (512,),
    "self_attn.kv_b_proj": (32768, 512),
    "self_attn.o_proj": (7168, 16384),
    "post_attention_layernorm": (7168,),
}
PER_MODEL = 3  # embedding, last norm, head
PER_LAYER = len(ATTENTION) + 2  # and the router's weight and bias
PER_EXPERT = 6  # three projections, a weight and its scale each


def expert_tensors(experts: str) -> Iterator[Tensor]:
    """Expert after expert without end; two tensors in each folder `E.gate_proj`."""
    wide = (EXPERT_ROWS, HIDDEN)
    shapes = {"gate_proj": wide, "up_proj": wide, "down_proj": wide[::-1]}
    for expert in itertools.count():
        for projection, shape in shapes.items():
            prefix = f"{experts}.{expert}.{projection}"
            yield Tensor(f"{prefix}.weight", "F8_E4M3", shape)
            scales = tuple(size // BLOCK for size in shape)
            yield Tensor(f"{prefix}.weight_scale_inv", "F32", scales)


def layer_tensors(layer: int, in_experts: int) -> Iterator[Tensor]:
    """One layer, with so many tensors in its experts."""
    prefix = f"model.layers.{layer}"
    for name, shape in ATTENTION.items():
        yield Tensor(f"{prefix}.{name}.weight", "BF16", shape)
    experts = -(-in_experts // PER_EXPERT)
    yield Tensor(f"{prefix}.mlp.gate.weight", "BF16", (experts, HIDDEN))
    yield Tensor(f"{prefix}.mlp.gate.e_score_correction_bias", "F32", (experts,))
    yield from itertools.islice(expert_tensors(f"{prefix}.mlp.experts"), in_experts)


def tensors(count: int, layers: int) -> Iterator[Tensor]:
    """Exactly `count` tensors: only the last layer's last expert may be incomplete."""
    in_experts = count - PER_MODEL - layers * PER_LAYER
    embedding = (VOCABULARY, HIDDEN)
    yield Tensor("model.embed_tokens.weight", "BF16", embedding)
    done = 0
    for layer in range(layers):
        share = in_experts * (layer + 1) // layers
        end = share if layer + 1 == layers else share - share % PER_EXPERT
        yield from layer_tensors(layer, end - done)
        done = end
    yield Tensor("model.norm.weight", "BF16", (HIDDEN,))
    yield Tensor("lm_head.weight", "BF16", embedding)


def plan(args: argparse.Namespace) -> Model:
    least = PER_MODEL + args.layers * PER_LAYER
    if args.tensors < least:
        raise UsageError(f"{args.layers} layers have at least {least} tensors: raise --tensors or lower --layers")
    if args.shards > args.tensors:
        raise UsageError(f"--shards: more shards than tensors: {args.shards} > {args.tensors}")
    every = list(tensors(args.tensors, args.layers))
    return Model([aligned(part) for part in split_evenly(every, args.shards)])


def add_to(commands) -> None:
    command = add_command(
        commands, "moe", plan, "sparse shards of a large mixture-of-experts model",
        "The number of experts follows from --tensors. With the defaults, the names cut at\n"
        "each '.' make about 70,000 folders, and the index has about 10 MB.",
    )
    add_folder(command)
    for option, default, what in (
        ("--tensors", 104806, "exact number of tensors"),
        ("--shards", 160, "exact number of shards"),
        ("--layers", 61, "number of transformer layers"),
    ):
        command.add_argument(option, metavar="N", type=parse_count, default=default, help=what)
