"""What is compared: the same tensor and the same tree through tensorfs, its peers, a tmpfs and the disk."""

from __future__ import annotations

import contextlib
import functools
import shutil
import tempfile
from pathlib import Path
from typing import Iterator, NamedTuple, Optional

from .commands import Failed, Skipped, run
from .data import Data
from .files import Range, whole
from .machine import IS_ROOT, PEERS, drop_system_caches, filesystem_of, installed_peers
from .mounts import Mounted, new_folder, serving, unmount

NATIVE = ("native", "native4k")
OURS = ("tensorfs", "baseline")


class View(NamedTuple):
    """big.weight as a system shows it, and the mount that does; native has none."""

    range: Range
    mounted: Optional[Mounted] = None
    is_tensorfs: bool = False

    def reads(self) -> int:
        """READ requests so far, if it is tensorfs that counts them."""
        return self.mounted.stats()["requests"]["read"] if self.is_tensorfs else 0


class Systems:
    """Mounts one system or another over the data, in `scratch`. A tmpfs stays until `stack` ends."""

    def __init__(self, scratch: Path, data: Data, stack: contextlib.ExitStack):
        self.scratch, self._data, self._stack = scratch, data, stack
        self.filesystem = filesystem_of(data.folder) or "disk"
        self.peers = installed_peers()

    def new_folder(self) -> Path:
        return new_folder(self.scratch)

    def serving(self, command: list) -> contextlib.AbstractContextManager[Mounted]:
        return serving(command, self.scratch)

    @functools.cached_property
    def tmpfs(self) -> Path:
        """Of 4 KiB pages: one of our own as root, or the one that all users have."""
        if not IS_ROOT:
            if filesystem_of(Path("/dev/shm")) != "tmpfs":
                raise Skipped("there is no tmpfs to compare with")
            folder = Path(tempfile.mkdtemp(prefix="tensorfs-bench-", dir="/dev/shm"))
            self._stack.callback(shutil.rmtree, folder, ignore_errors=True)
            return folder
        at = self.new_folder()
        self._stack.callback(unmount, at)
        size = self._data.big.nbytes + (1 << 30)
        for huge in ("huge=never,", ""):  # a kernel without huge pages does not know the option
            with contextlib.suppress(Failed):
                run(["mount", "-t", "tmpfs", "-o", f"{huge}size={size},nr_inodes=0", "tensorfs-bench", at])
                return at
        raise Skipped("a tmpfs cannot be mounted")

    def tensorfs(self, source: Path, *options: str) -> contextlib.AbstractContextManager[Mounted]:
        listed = ["-o", ",".join(options)] if options else []
        return self.serving([self.scratch / "tensorfs", "-f", *listed, source])

    def system(self, name: str, source: Path) -> contextlib.AbstractContextManager[Mounted]:
        """tensorfs or the baseline."""
        return self.tensorfs(source, *(["baseline"] if name == "baseline" else []))

    def source_of(self, name: str) -> Path:
        """The file that a system reads big.weight from."""
        data = self._data
        sources = {"bindfs": lambda: data.plain / "big/weight", "squashfuse": lambda: data.squashfs,
                   "fuse-zip": lambda: data.zip, "native4k": lambda: data.big_in_small_pages.file}
        return sources.get(name, lambda: data.big.file)()

    @contextlib.contextmanager
    def big_through(self, name: str) -> Iterator[View]:
        """big.weight through a system, freshly mounted."""
        source = self.source_of(name)
        if name in NATIVE:
            yield View(self._data.big._replace(file=source))
            return
        commands = {"bindfs": ["bindfs", "-f", "-r", source.parent.parent], "squashfuse": ["squashfuse", "-f", source],
                    "fuse-zip": ["fuse-zip", "-f", "-r", source]}
        with self.serving(commands[name]) if name in PEERS else self.system(name, self._data.model) as mounted:
            yield View(whole(mounted.at / "big/weight"), mounted, name == "tensorfs")

    @contextlib.contextmanager
    def tree_through(self, name: str) -> Iterator[Path]:
        """The tree of the model of many tensors as a system shows it, freshly mounted or dropped."""
        if name == "tmpfs":
            yield self._data.tmpfs_tree
        elif name == self.filesystem:
            tree = self._data.tree
            drop_system_caches(2)
            yield tree
        elif name == "squashfuse":
            with self.serving(["squashfuse", "-f", self._data.squashed_tree]) as mounted:
                yield mounted.at
        else:
            with self.system(name, self._data.moe) as mounted:
                yield mounted.at
