"""A reader of safetensors files that is not the program's own."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from checks import check, check_equal
from models import BITS
from reading import read_at


def no_duplicates(pairs: list[tuple[str, object]]) -> dict:
    check_equal(len(dict(pairs)), len(pairs), "different keys of an object")
    return dict(pairs)


def check_rules(path: Path) -> tuple[dict[str, dict], dict[str, str], int]:
    """By hand, what the format asks of a file. Gives the tensors' entries, the metadata, and where the
    data begins."""
    (length,) = struct.unpack("<Q", read_at(path, 0, 8))
    check(length <= 100_000_000, f"the header has {length} bytes")
    check_equal((8 + length) % 8, 0, "alignment of the data")
    text = read_at(path, 8, length)
    check_equal(text[:1], b"{", "the header's first byte")
    check_equal(text.rstrip(b" ")[-1:], b"}", "its last but spaces")
    entries = json.loads(text.decode("utf-8", "strict"), object_pairs_hook=no_duplicates)
    metadata = entries.pop("__metadata__", {})
    for key, value in metadata.items():
        check(isinstance(value, str), f"metadata {key} is no text")
    at = 0
    for name, entry in sorted(entries.items(), key=lambda item: item[1]["data_offsets"]):
        check_equal(set(entry), {"dtype", "shape", "data_offsets"}, f"{name}: keys")
        begin, end = entry["data_offsets"]
        check_equal(begin, at, f"{name}: begins where the one before ends")
        bits = BITS[entry["dtype"]]
        for size in entry["shape"]:
            check(isinstance(size, int) and 0 <= size < 1 << 64, f"{name}: dimension {size}")
            bits *= size
        check_equal((end - begin) * 8, bits, f"{name}: bits")
        at = end
    check_equal(path.stat().st_size, 8 + length + at, "size of the file")
    return entries, metadata, 8 + length
