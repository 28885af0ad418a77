"""A small transformer with values as trained weights have them."""

from __future__ import annotations

import argparse
import math
import random
import struct

from .arguments import add_command, add_folder
from .model import Model, Tensor, aligned, split_evenly

HIDDEN, VOCABULARY, FEED_FORWARD, LAYERS = 128, 2048, 768, 4

# High bytes of BF16 numbers, in shares that give a deviation of 0.02, as trained
# weights have: 0x3A is about 0.001, 0x3B 0.004, 0x3C 0.015, 0x3D 0.06. The upper
# half of the table sets the sign. The low byte may be anything.
_MAGNITUDES = bytes([0x3A] * 12 + [0x3B] * 32 + [0x3C] * 80 + [0x3D] * 4)
WEIGHT_HIGH_BYTES = _MAGNITUDES + bytes(byte | 0x80 for byte in _MAGNITUDES)
# Low bytes that with a high byte of 0x3F make 0.94 to 1.12, as norms have.
NORM_LOW_BYTES = bytes(0x70 + byte % 32 for byte in range(256))
# F8_E4M3 without the top exponent bit: below 2, and never the NaN 0x7F.
SMALL_F8_BYTES = bytes(byte & 0xBF for byte in range(256))

# What a plain transformer lacks: other dtypes, a scalar, an empty tensor.
EXTRAS = {
    Tensor("model.rotary_emb.sections", "I64", (3,)): struct.pack("<3q", 16, 24, 24),
    Tensor("model.logit_scale", "F32", ()): struct.pack("<f", 0.0625),
    Tensor("model.adapter.lora_A.weight", "F32", (0, 8)): b"",
    Tensor("model.causal_mask", "BOOL", (8, 8)): bytes(
        column <= row for row in range(8) for column in range(8)
    ),
}


def layer_tensors(layer: int) -> list[Tensor]:
    hidden, feed_forward = HIDDEN, FEED_FORWARD
    shapes = {
        "input_layernorm": (hidden,),
        "self_attn.q_proj": (hidden, hidden),
        "self_attn.k_proj": (hidden // 2, hidden),
        "self_attn.v_proj": (hidden // 2, hidden),
        "self_attn.o_proj": (hidden, hidden),
        "post_attention_layernorm": (hidden,),
        "mlp.gate_proj": (feed_forward, hidden),
        "mlp.up_proj": (feed_forward, hidden),
        "mlp.down_proj": (hidden, feed_forward),
    }
    prefix = f"model.layers.{layer}"
    return [Tensor(f"{prefix}.{name}.weight", "BF16", shape) for name, shape in shapes.items()]


def tensors() -> list[Tensor]:
    embedding = (VOCABULARY, HIDDEN)
    return [
        Tensor("model.embed_tokens.weight", "BF16", embedding),
        *(tensor for layer in range(LAYERS) for tensor in layer_tensors(layer)),
        Tensor("model.norm.weight", "BF16", (HIDDEN,)),
        Tensor("lm_head.weight", "BF16", embedding),
        Tensor("model.draft_head.weight", "F8_E4M3", (HIDDEN, HIDDEN)),
        *EXTRAS,
    ]


def values(tensor: Tensor, rng: random.Random) -> bytes:
    """A tensor's bytes. Random bytes bent by a table: drawing each number would take seconds."""
    if tensor in EXTRAS:
        return EXTRAS[tensor]
    count = math.prod(tensor.shape)
    if tensor.dtype == "F8_E4M3":
        return rng.randbytes(count).translate(SMALL_F8_BYTES)
    low, high = rng.randbytes(count), rng.randbytes(count)
    is_norm = tensor.name.endswith("norm.weight")
    data = bytearray(2 * count)
    data[0::2] = low.translate(NORM_LOW_BYTES) if is_norm else low
    data[1::2] = b"\x3f" * count if is_norm else high.translate(WEIGHT_HIGH_BYTES)
    return bytes(data)


def plan(_: argparse.Namespace) -> Model:
    rng = random.Random(0)
    return Model(
        [aligned(part) for part in split_evenly(tensors(), 3)],
        lambda part: (values(tensor, rng) for tensor in part),
    )


def add_to(commands) -> None:
    command = add_command(
        commands, "demo", plan, "a toy transformer of about 4 MB with plausible values",
        "Three shards, four layers in BF16, and a few tensors of other dtypes: a scalar,\n"
        "integers, a mask, 8-bit floats, an empty one.",
    )
    add_folder(command)
