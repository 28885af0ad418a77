"""The models that are measured on, and what the peers serve instead of them: made when first asked for."""

from __future__ import annotations

import functools
import os
import shutil
import zipfile
from pathlib import Path
from typing import Callable, NamedTuple, Optional

from modelmaking import checkpoint

from .building import make_model
from .commands import run
from .files import MIB, Range, copy, make_tree, tensors_in

UNCOMPRESSED = ("-noI", "-noD", "-noF", "-noX", "-no-progress", "-quiet")  # for mksquashfs


class Sizes(NamedTuple):
    model: str
    big: str
    tensors: int
    random_reads: int
    slow_stretch: int
    many_tensors: Optional[int]
    kernel_milliseconds: int
    storages: int
    matrix: int  # rows and columns


FULL = Sizes("2G", "512M", 104_806, 20_000, 64 * MIB, 1_000_000, 50, 20_000, 8192)
QUICK = Sizes("128M", "64M", 5_000, 2_000, 8 * MIB, None, 2, 1000, 1024)


class Data:
    """Models, trees and images in a folder, made when first asked for and named by their sizes."""

    def __init__(self, folder: Path, sizes: Sizes, tmpfs: Callable[[], Path], say: Callable[[str], None]):
        self.folder, self.sizes, self._tmpfs, self._say = folder, sizes, tmpfs, say

    def _made(self, name: str, what: str, make: Callable[[Path], object], folder: Optional[Path] = None) -> Path:
        """A file or folder that is whole if it is there: it gets its name when it is done."""
        path = (folder or self.folder) / name
        if not path.exists():
            self._say(f"making {what}")
            new = path.with_name(path.name + ".new")
            if new.is_dir():
                shutil.rmtree(new)
            new.unlink(missing_ok=True)
            make(new)
            os.sync()  # only clean pages can be dropped
            new.rename(path)
        return path

    def _moe(self, tensors: int) -> Path:
        return self._made(f"moe-{tensors}", f"a model of {tensors:,} tensors",
                          lambda new: make_model("moe", new, "--tensors", tensors))

    @functools.cached_property
    def model(self) -> Path:
        sizes = self.sizes
        options = ["--size", sizes.model, "--shards", 4, "--big", sizes.big]
        return self._made(f"bytes-{sizes.model}-{sizes.big}", f"a model of {sizes.model}",
                          lambda new: make_model("bytes", new, *options))

    @functools.cached_property
    def moe(self) -> Path:
        return self._moe(self.sizes.tensors)

    @functools.cached_property
    def many(self) -> Path:
        return self._moe(self.sizes.many_tensors)

    @functools.cached_property
    def gguf(self) -> Path:
        options = ["--parts", 10, "--tensors", 2000, "--tokens", 260_000, "--merges", 280_000, "--sparse"]
        return self._made("gguf", "a GGUF split with a vocabulary", lambda new: make_model("gguf", new, *options))

    @functools.cached_property
    def checkpoint(self) -> Path:
        views = [checkpoint.View(f"layers.{i}.weight", (8, 8), (8, 1)) for i in range(self.sizes.storages)]
        return self._made(f"checkpoint-{self.sizes.storages}.pt", "a checkpoint of many storages",
                          lambda new: checkpoint.write(new, views))

    @functools.cached_property
    def transposed(self) -> Path:
        size = self.sizes.matrix
        return self._made(f"transposed-{size}.pt", "a checkpoint of a transposed matrix",
                          lambda new: checkpoint.write(new, [checkpoint.View("turned", (size, size), (1, size))]))

    @functools.cached_property
    def tensors(self) -> dict[str, Range]:
        return tensors_in(self.model)

    @functools.cached_property
    def moe_sizes(self) -> dict[str, int]:
        return {path: tensor.nbytes for path, tensor in tensors_in(self.moe).items()}

    @property
    def big(self) -> Range:
        return self.tensors["big/weight"]

    @functools.cached_property
    def big_in_small_pages(self) -> Range:
        """big.weight at its place in a copy of the shard; what stands behind it is not copied."""
        shard = self._made("shard", "a copy of a shard on a tmpfs",
                           lambda new: copy(self.big, new, self.big.offset), self._tmpfs())
        return self.big._replace(file=shard)

    @functools.cached_property
    def plain(self) -> Path:
        """A folder with big.weight as a plain file."""
        def make(new: Path) -> None:
            (new / "big").mkdir(parents=True)
            copy(self.big, new / "big/weight", 0)
        return self._made(f"plain-{self.sizes.big}", "a plain file of a tensor", make)

    @functools.cached_property
    def squashfs(self) -> Path:
        return self._made(f"plain-{self.sizes.big}.squashfs", "a squashfs image",
                          lambda new: run(["mksquashfs", self.plain, new, *UNCOMPRESSED]))

    @functools.cached_property
    def zip(self) -> Path:
        def make(new: Path) -> None:
            with zipfile.ZipFile(new, "w", zipfile.ZIP_STORED, allowZip64=True) as file:
                file.write(self.plain / "big/weight", "big/weight")
        return self._made(f"plain-{self.sizes.big}.zip", "a zip file", make)

    @functools.cached_property
    def tree(self) -> Path:
        return self._made(f"tree-{self.sizes.tensors}", "a tree of empty files in the data folder",
                          lambda new: make_tree(new, self.moe_sizes))

    @functools.cached_property
    def tmpfs_tree(self) -> Path:
        return self._made(f"tree-{self.sizes.tensors}", "a tree of empty files on a tmpfs",
                          lambda new: make_tree(new, self.moe_sizes), self._tmpfs())

    @functools.cached_property
    def squashed_tree(self) -> Path:
        """Of small files: all tensors' zeros would take minutes to read, and a listing does not see them."""
        def make(new: Path) -> None:
            small = new.with_suffix(".small")
            try:
                make_tree(small, dict.fromkeys(self.moe_sizes, 1))
                run(["mksquashfs", small, new, *UNCOMPRESSED])
            finally:
                shutil.rmtree(small, ignore_errors=True)
        return self._made(f"tree-{self.sizes.tensors}.squashfs", "a squashfs image of the tree", make)
