"""The values of narrow floats, calculated from their specifications with no more than Python's own
numbers: the OCP's "8-bit Floating Point" and "Microscaling Formats", IEEE 754, and arXiv 2206.02915."""

from __future__ import annotations

import math
import struct
from typing import Callable

NAN = math.nan


def _sign_and_rest(code: int, bits: int) -> tuple[float, int]:
    top = 1 << (bits - 1)
    return (-1.0 if code & top else 1.0), code & (top - 1)


def _number(rest: int, mantissa_bits: int, bias: int) -> float:
    exponent, mantissa = divmod(rest, 1 << mantissa_bits)
    fraction = mantissa / (1 << mantissa_bits)
    if exponent == 0:
        return 2.0 ** (1 - bias) * fraction
    return 2.0 ** (exponent - bias) * (1.0 + fraction)


def _ieee(bits: int, mantissa_bits: int, bias: int) -> Callable[[int], float]:
    def value(code: int) -> float:
        sign, rest = _sign_and_rest(code, bits)
        infinity = (1 << (bits - 1)) - (1 << mantissa_bits)
        if rest > infinity:
            return NAN
        return sign * (math.inf if rest == infinity else _number(rest, mantissa_bits, bias))

    return value


def _finite(bits: int, mantissa_bits: int, bias: int, nans: tuple[int, ...] = ()) -> Callable[[int], float]:
    def value(code: int) -> float:
        sign, rest = _sign_and_rest(code, bits)
        return NAN if code in nans else sign * _number(rest, mantissa_bits, bias)

    return value


VALUE: dict[str, Callable[[int], float]] = {
    "F16": _ieee(16, 10, 15),
    "F8_E5M2": _ieee(8, 2, 15),
    "F8_E4M3": _finite(8, 3, 7, nans=(0x7F, 0xFF)),
    "F8_E4M3FNUZ": _finite(8, 3, 8, nans=(0x80,)),
    "F8_E5M2FNUZ": _finite(8, 2, 16, nans=(0x80,)),
    "F8_E8M0": lambda code: NAN if code == 0xFF else 2.0 ** (code - 127),
    "F6_E2M3": _finite(6, 3, 1),
    "F6_E3M2": _finite(6, 2, 3),
    "F4": _finite(4, 1, 1),
}


def unpack(dtype_bits: int, data: bytes) -> list[int]:
    """The codes in `data`, packed from the lowest bit up."""
    packed = int.from_bytes(data, "little")
    mask = (1 << dtype_bits) - 1
    return [packed >> at & mask for at in range(0, len(data) * 8, dtype_bits)]


def same(found: float, wanted: float) -> bool:
    """Whether they are the same float32 to the bit, or both NaN."""
    if math.isnan(wanted):
        return math.isnan(found)
    return struct.pack("<f", found) == struct.pack("<f", wanted)
