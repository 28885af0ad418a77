"""Bytes of files, by requests of a certain kind."""

from __future__ import annotations

import mmap
import os
import struct
import zipfile
from pathlib import Path

from checks import check_equal


def read_at(path: Path, offset: int, nbytes: int) -> bytes:
    """By as many requests as the kernel likes."""
    with path.open("rb", buffering=0) as file:
        parts = []
        while nbytes > 0 and (part := os.pread(file.fileno(), nbytes, offset)):
            parts.append(part)
            offset += len(part)
            nbytes -= len(part)
        return b"".join(parts)


def read_directly(path: Path, offset: int, nbytes: int) -> bytes:
    """By one call of O_DIRECT: a request of that size, and nothing from the kernel's cache."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        with mmap.mmap(-1, nbytes) as buffer:
            return buffer[: os.preadv(descriptor, [buffer], offset)]
    finally:
        os.close(descriptor)


def entry_offset(archive: Path, entry: zipfile.ZipInfo) -> int:
    """Where the bytes of a stored file begin in a zip archive."""
    fixed = read_at(archive, entry.header_offset, 30)
    check_equal(fixed[:4], b"PK\3\4", f"{entry.filename}: its local header")
    name, extra = struct.unpack("<2H", fixed[26:])
    return entry.header_offset + 30 + name + extra
