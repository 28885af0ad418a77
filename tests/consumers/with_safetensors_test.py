"""model.safetensors is a safetensors file: to tensorfs itself, and to the format's rules."""

from __future__ import annotations

import json
import os
import random
import struct
from pathlib import Path

from checks import check, check_equal, need_data, run
from models import BITS, Tensor, make_model, random_tensor, write_at, write_shard
from mounts import Mount
from reading import read_at, read_directly
from safetensors_rules import check_rules

MEBIBYTE = 1 << 20


def write_shards(folder: Path, parts: list[list[Tensor]]) -> None:
    for number, part in enumerate(parts, 1):
        path = folder / f"model-{number:05}-of-{len(parts):05}.safetensors"
        write_shard(path, part, {"format": "pt", f"shard {number}": "…\n"}, odd=number % 2 == 1)


def check_same_tree(first: Mount, second: Mount, *folders: str) -> None:
    for folder in folders:
        run("diff", "-r", first.path / folder, second.path / folder)


def mixed_parts() -> list[list[Tensor]]:
    shapes = ((), (3,), (4, 5, 6), (0, 7), (1, 1, 1, 1))
    parts: list[list[Tensor]] = [[], [], [], []]
    for place, (dtype, bits) in enumerate(BITS.items()):
        for number, shape in enumerate(shapes if bits >= 8 else ((8,), (4, 5, 6), (0, 7))):
            parts[(place + number) % 3].append(random_tensor(f"m.{dtype}.{number}.weight", dtype, shape))
    odd = ["it's", 'a "quoted" name', "\\", "a\nb", "\x7f", "重み.層", "🤗", "\u2028", "a..b", "", "x.weight.absmax", "x.weight"]
    parts[3] = [random_tensor(name, "I8", (place + 1,)) for place, name in enumerate(odd)]
    return parts


def test_mount_of_mount(program: str, folder: Path) -> None:
    """safetensors: a mount of a mount has the same tree, byte for byte"""
    write_shards(folder, mixed_parts())
    with Mount(program, folder) as first, Mount(program, first.merged) as second:
        check_same_tree(first, second, "", ".tensorfs/flat", ".tensorfs/npy", ".tensorfs/f32")
        run("cmp", first.merged, second.merged)
        with Mount(program, second.merged) as third:
            check_same_tree(first, third, "")
            run("cmp", first.merged, third.merged)

        def lines(*command: str) -> list[str]:
            return sorted(run(program, "ls", *command).splitlines())

        check_equal(lines(str(second.merged)), lines(str(folder)), "what tensorfs ls lists")


def test_rules(program: str, folder: Path) -> None:
    """safetensors: the merged file keeps the rules, and every tensor"""
    parts = mixed_parts()
    write_shards(folder, parts)
    with Mount(program, folder) as mount:
        check_equal(run(program, "verify", mount.merged), f"{mount.merged}: OK\n", "verify")
        entries, metadata, data = check_rules(mount.merged)
        check_equal(metadata, {"format": "pt", **{f"shard {i}": "…\n" for i in range(1, 5)}}, "metadata")
        tensors = {tensor.name: tensor for part in parts for tensor in part}
        check_equal(set(entries), set(tensors), "names")
        for name, entry in entries.items():
            tensor = tensors[name]
            check_equal((entry["dtype"], tuple(entry["shape"])), (tensor.dtype, tensor.shape), name)
            begin, end = entry["data_offsets"]
            check(read_at(mount.merged, data + begin, end - begin) == tensor.data, f"{name}: its bytes are others")
        copy = folder / "copy.safetensors"
        copy.write_bytes(mount.merged.read_bytes())
        check_equal(run(program, "verify", copy), f"{copy}: OK\n", "verify of a copy")


def test_small_models(program: str, folder: Path) -> None:
    """safetensors: models of one shard, without tensors, and without metadata"""
    shard = folder / "m.safetensors"
    for tensors, metadata in (([], None), ([], {"a": "b"}), ([random_tensor("t", "F32", (3, 3))], None)):
        write_shard(shard, tensors, metadata)
        with Mount(program, shard) as mount, Mount(program, mount.merged) as second:
            entries, found, data = check_rules(mount.merged)
            check_equal(found, metadata or {}, "metadata")
            check_equal(list(entries), [tensor.name for tensor in tensors], "names")
            check_equal(read_at(mount.merged, data, 100), b"".join(tensor.data for tensor in tensors), "data")
            check_same_tree(mount, second, "")


def test_real_model(program: str) -> None:
    """safetensors: a real model"""
    source = need_data("real/safetensors/burn-mnist.safetensors")
    with Mount(program, source) as mount, Mount(program, mount.merged) as second:
        check_rules(mount.merged)
        check_same_tree(mount, second, "", ".tensorfs/npy")
        check_equal(run(program, "verify", mount.merged), f"{mount.merged}: OK\n", "verify")


def check_far_end(program: str, folder: Path, tensors: int, nbytes: int) -> None:
    """Of a sparse model: that its merged file is opened, listed and read, up to its end."""
    shards = sorted(folder.glob("*.safetensors"))
    for number, shard in enumerate(shards):
        write_at(shard, shard.stat().st_size - 8, struct.pack("<Q", number + 1))
    with Mount(program, folder) as mount:
        entries, _, data = check_rules(mount.merged)
        check_equal(len(entries), tensors, "tensors")
        size = mount.merged.stat().st_size
        check_equal(size, data + nbytes, "size")
        check_equal(read_at(mount.merged, size - 8, 100), struct.pack("<Q", len(shards)), "the last bytes")
        check_equal(read_at(mount.merged, size - MEBIBYTE, MEBIBYTE)[:-8], bytes(MEBIBYTE - 8), "the last MiB")
        check_equal(read_at(mount.merged, size, 1), b"", "behind the end")
        end = data
        for number, shard in enumerate(shards):  # each one's last bytes stand where the next one begins
            end += sum(entry["nbytes"] for entry in entries_of(shard))
            check_equal(read_at(mount.merged, end - 8, 8), struct.pack("<Q", number + 1), f"the end of {shard.name}")
        with Mount(program, mount.merged) as second:
            listed = run("find", second.path, "-type", "f", "-printf", "%P %s\\n")
            check_equal(sorted(listed.splitlines()), sorted(
                run("find", mount.path, "-type", "f", "-printf", "%P %s\\n").splitlines()), "files and sizes")  # fmt: skip
            check_equal(len(listed.splitlines()), tensors, "files")
            check_equal(os.statvfs(second.path).f_blocks, os.statvfs(mount.path).f_blocks, "blocks")
        check(mount.checkpoint.stat().st_size > nbytes, "the checkpoint's size")
        mount.check_lives()


def entries_of(shard: Path) -> list[dict]:
    (length,) = struct.unpack("<Q", read_at(shard, 0, 8))
    entries = json.loads(read_at(shard, 8, length))
    entries.pop("__metadata__", None)
    return [{"nbytes": entry["data_offsets"][1] - entry["data_offsets"][0]} for entry in entries.values()]


def test_llama(program: str, folder: Path) -> None:
    """safetensors: a model of 282 GB as one file"""
    index = need_data("real/index/llama-70b-162-shards.index.json")
    total = int(json.loads(index.read_text())["metadata"]["total_size"])
    make_model("from-index", index, folder / "model")
    check(total > 280e9, f"the model has {total} bytes")
    check_far_end(program, folder / "model", len(json.loads(index.read_text())["weight_map"]), total)


def test_experts(program: str, folder: Path) -> None:
    """safetensors: a model of 40,000 tensors as one file"""
    make_model("moe", folder / "model", "--tensors", 40_000, "--shards", 20, "--layers", 8)
    total = sum(entry["nbytes"] for shard in (folder / "model").glob("*.safetensors") for entry in entries_of(shard))
    check_far_end(program, folder / "model", 40_000, total)


def test_many_pieces(program: str, folder: Path) -> None:
    """safetensors: reads of 1 MiB that span thousands of shards

    The slices of one shard are one piece; what the kernel takes at once is 1024 (IOV_MAX)."""
    places = random.Random(5)
    parts = [[random_tensor(f"t.{i}.{j}", "U8", (places.randrange(120),)) for j in range(3)] for i in range(3000)]
    write_shards(folder, parts)
    with Mount(program, folder) as mount:
        _, _, data = check_rules(mount.merged)
        wanted = b"".join(tensor.data for part in parts for tensor in part)
        check(len(wanted) < MEBIBYTE, "the test's model is larger than one request")
        whole = mount.merged.read_bytes()
        check(whole[data:] == wanted, "its bytes are others")
        for at in (0, data // 4096 * 4096, data // 4096 * 4096 + 4096):
            check(read_directly(mount.merged, at, MEBIBYTE) == whole[at : at + MEBIBYTE], f"O_DIRECT from {at} on")
        checkpoint = mount.checkpoint.read_bytes()
        for at in range(0, len(checkpoint), MEBIBYTE):
            found = read_directly(mount.checkpoint, at, MEBIBYTE)
            check(found == checkpoint[at : at + MEBIBYTE], f"checkpoint, O_DIRECT from {at} on")
        mount.check_lives()


def test_too_large(program: str, folder: Path) -> None:
    """safetensors: a header too large for the format is not made"""
    # Two shards, each with a header of more than 50 MB, made of a few very long names.
    tensors = [Tensor(f"{number}" + "n" * 5_500_000, "U8", (1,), b"x") for number in range(20)]
    write_shards(folder, [tensors[:10], tensors[10:]])
    with Mount(program, folder) as mount:
        check_equal("model.safetensors" in os.listdir(mount.hidden), False, "whether it is listed")
        check(not mount.merged.exists(), "it is there")
        check(mount.checkpoint.stat().st_size > 110_000_000, "the checkpoint is not there")
        mount.check_lives()
