"""pytorch_model.bin is a zip archive to Python's zipfile."""

from __future__ import annotations

import os
import random
import struct
import zipfile
import zlib
from pathlib import Path

from checks import TemporaryFolder, check, check_equal
from models import BITS, Tensor, random_tensor, write_at, write_shard, write_sparse
from mounts import Mount
from reading import entry_offset, read_at, read_directly

PREFIX = "pytorch_model/"


def names_of(tensors: list[Tensor]) -> list[str]:
    files = ["data.pkl", "byteorder", *(f"data/{number}" for number in range(len(tensors))), "version"]
    return [PREFIX + name for name in files]


def check_layout(path: Path, archive: zipfile.ZipFile) -> None:
    """Entries follow each other without gaps, and local headers say what the directory says."""
    at = 0
    for entry in archive.infolist():
        check_equal(entry.header_offset, at, f"{entry.filename}: where its header begins")
        check_equal(entry.compress_type, zipfile.ZIP_STORED, f"{entry.filename}: method")
        check_equal(entry.compress_size, entry.file_size, f"{entry.filename}: sizes")
        begin = entry_offset(path, entry)
        check_equal(begin % 64, 0, f"{entry.filename}: alignment")
        check_local_header(read_at(path, at, begin - at), entry)
        at = begin + entry.file_size
    check_equal(archive.start_dir, at, "where the directory begins")


def check_local_header(text: bytes, entry: zipfile.ZipInfo) -> None:
    crc, packed, size, name_size, extra_size = struct.unpack("<3L2H", text[14:30])
    check_equal(text[30 : 30 + name_size].decode(), entry.filename, "name in the local header")
    check_equal(crc, entry.CRC, f"{entry.filename}: checksum in the local header")
    extra = text[30 + name_size :]
    check_equal(len(extra), extra_size, f"{entry.filename}: extra fields")
    fields = {}
    while extra:
        kind, length = struct.unpack("<2H", extra[:4])
        fields[kind] = extra[4 : 4 + length]
        check_equal(len(fields[kind]), length, f"{entry.filename}: extra field {kind:#x}")
        extra = extra[4 + length :]
    if 0xFFFFFFFF in (packed, size):
        packed, size = struct.unpack("<2Q", fields[1])
    check_equal((packed, size), (entry.file_size, entry.file_size), f"{entry.filename}: sizes in the local header")


def test_structure(program: str, folder: Path) -> None:
    """zipfile: names, order, alignment and bytes of all files"""
    tensors = [random_tensor(f"{dtype}{shape}", dtype, shape) for dtype in BITS for shape in ((8, 3), (0,), (100, 33, 4))]
    with Mount(program, write_shard(folder / "m.safetensors", tensors)) as mount:
        check(zipfile.is_zipfile(mount.checkpoint), "zipfile does not take it for a zip archive")
        with zipfile.ZipFile(mount.checkpoint) as archive:
            check_equal(archive.namelist(), names_of(tensors), "names")
            check_layout(mount.checkpoint, archive)
            for number, tensor in enumerate(tensors):
                entry = archive.getinfo(f"{PREFIX}data/{number}")
                begin = entry_offset(mount.checkpoint, entry)
                check_equal(entry.file_size, tensor.nbytes, f"{tensor.name}: size")
                check(read_at(mount.checkpoint, begin, tensor.nbytes) == tensor.data, f"{tensor.name}: bytes")
                if tensor.nbytes > 5000:  # zipfile takes 4096 bytes ahead, and checks what it takes to the end
                    with archive.open(entry) as file:
                        check(file.read(7) == tensor.data[:7], f"{tensor.name}: first bytes")
            check_equal(archive.read(PREFIX + "version"), b"3\n", "version")
            check_equal(archive.read(PREFIX + "byteorder"), b"little", "byteorder")
        size = mount.checkpoint.stat().st_size
        check_equal(len(mount.checkpoint.read_bytes()), size, "size")


def test_checksums(program: str, folder: Path) -> None:
    """zipfile: the pickle and small tensors have their checksums, large tensors have none"""
    tensors = [random_tensor("large", "F32", (10, 2000)), Tensor("none", "F32", (0,)), random_tensor("t", "F32", (10, 10))]
    with Mount(program, write_shard(folder / "m.safetensors", tensors)) as mount:
        with zipfile.ZipFile(mount.checkpoint) as archive:
            for name in ("data.pkl", "byteorder", "version"):
                entry = archive.getinfo(PREFIX + name)
                check_equal(zlib.crc32(archive.read(entry)), entry.CRC, f"{name}: checksum")
            check(archive.getinfo(PREFIX + "data.pkl").CRC != 0, "the pickle has no checksum")
            check_equal(archive.read(f"{PREFIX}data/1"), b"", "a tensor without elements")
            check_equal(archive.read(f"{PREFIX}data/2"), tensors[2].data, "a small tensor, with its checksum")
            check(archive.getinfo(f"{PREFIX}data/2").CRC != 0, "the small tensor has no checksum")
            try:
                archive.read(f"{PREFIX}data/0")
            except zipfile.BadZipFile as error:
                check("Bad CRC-32" in str(error), f"zipfile says: {error}")
            else:
                check(False, "zipfile found a large tensor's checksum right, though it is not known")
            check_equal(archive.testzip(), f"{PREFIX}data/0", "what testzip() finds")


def test_large(program: str, folder: Path) -> None:
    """zipfile: ZIP64 for a tensor of 5 GiB and what is behind it"""
    size = 5 << 30
    before, behind = random_tensor("before", "I8", (5,)), random_tensor("behind", "F64", (77,))
    tensors = [before, Tensor("large", "BF16", (size // 2,)), behind, Tensor("limit", "U8", (0xFFFFFFFF,)),
               Tensor("below", "U8", (0xFFFFFFFE,))]  # fmt: skip
    marks = {0: b"begin", size // 2 - 3: b"middle", size - 3: b"end"}
    shard = folder / "m.safetensors"
    places = write_sparse(shard, tensors)
    write_at(shard, places["before"], before.data)
    write_at(shard, places["behind"], behind.data)
    write_at(shard, places["below"] + 0xFFFFFFFE - 4, b"last")
    for at, mark in marks.items():
        write_at(shard, places["large"] + at, mark)
    with Mount(program, shard) as mount, zipfile.ZipFile(mount.checkpoint) as archive:
        check_equal(archive.namelist(), names_of(tensors), "names")
        check_layout(mount.checkpoint, archive)
        begin = [entry_offset(mount.checkpoint, archive.getinfo(f"{PREFIX}data/{i}")) for i in range(len(tensors))]
        for number, tensor in enumerate(tensors):
            check_equal(archive.infolist()[2 + number].file_size, tensor.nbytes, f"{tensor.name}: size")
        check_equal(read_at(mount.checkpoint, begin[0], 5), before.data, "before")
        check_equal(read_at(mount.checkpoint, begin[2], 77 * 8), behind.data, "behind")
        check_equal(read_at(mount.checkpoint, begin[4] + 0xFFFFFFFE - 6, 6), b"\0\0last", "the last bytes")
        for at, mark in marks.items():
            check_equal(read_at(mount.checkpoint, begin[1] + at, len(mark)), mark, f"large, from {at} on")
        with archive.open(f"{PREFIX}data/1") as file:
            check_equal(file.read(6), b"begin\0", "large, by zipfile")
        check_equal(archive.read(PREFIX + "version"), b"3\n", "version, behind all that")


def test_many(program: str, folder: Path) -> None:
    """zipfile: 70,000 tensors, and reads of 1 MiB that span thousands of them"""
    places = random.Random(1)
    tensors = [random_tensor(f"t.{i}", "U8", (places.randrange(60),)) for i in range(70_000)]
    with Mount(program, write_shard(folder / "m.safetensors", tensors)) as mount:
        path = mount.checkpoint
        whole = path.read_bytes()
        check_equal(len(whole), path.stat().st_size, "size")
        with zipfile.ZipFile(path) as archive:
            check_equal(archive.namelist(), names_of(tensors), "names")
            for number, entry in enumerate(archive.infolist()[2:-1]):
                name, extra = struct.unpack("<2H", whole[entry.header_offset + 26 : entry.header_offset + 30])
                begin = entry.header_offset + 30 + name + extra
                data = tensors[number].data
                check(begin % 64 == 0, f"{entry.filename}: alignment")
                check(entry.file_size == len(data), f"{entry.filename}: size")
                check(whole[begin : begin + len(data)] == data, f"{entry.filename}: bytes")
            check_equal(archive.read(PREFIX + "version"), b"3\n", "version, the last file")
            check_equal(zlib.crc32(archive.read(PREFIX + "data.pkl")), archive.infolist()[0].CRC, "checksum")
        mebibyte = 1 << 20
        for at in range(0, len(whole), mebibyte):
            check(read_directly(path, at, mebibyte) == whole[at : at + mebibyte], f"1 MiB from {at} on, O_DIRECT")
        for _ in range(20):
            at = places.randrange(len(whole))
            check(read_at(path, at, mebibyte) == whole[at : at + mebibyte], f"1 MiB from {at} on")
        mount.check_lives()


def test_files_counted_by_16_bits(program: str) -> None:
    """zipfile: 65,534 files need no ZIP64, and more do"""
    for files in (65533, 65534, 65535, 65536):
        tensors = [Tensor(f"{i}", "U8", (1,), b"x") for i in range(files - 3)]
        with TemporaryFolder() as folder, Mount(program, write_shard(folder / "m.safetensors", tensors)) as mount:
            with zipfile.ZipFile(mount.checkpoint) as archive:
                check_equal(len(archive.namelist()), files, "files")
            size = os.stat(mount.checkpoint).st_size
            end = read_at(mount.checkpoint, size - 42, 42)
            check_equal(end[20:24], b"PK\5\6", "the last record")
            check_equal(end[:4] == b"PK\6\7", files >= 65535, f"{files} files: whether there is a ZIP64 record")
