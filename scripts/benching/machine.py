"""What is known of the machine, of what is installed and of who measures, and what only root may do to the kernel."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from .commands import Skipped, output_of

IS_ROOT = os.geteuid() == 0
# With the programs that each of them takes.
PEERS = {"bindfs": ("bindfs",), "squashfuse": ("squashfuse", "mksquashfs"), "fuse-zip": ("fuse-zip",)}


def need_root() -> None:
    if not IS_ROOT:
        raise Skipped("only root can")


def can_mount() -> bool:
    return os.access("/dev/fuse", os.R_OK | os.W_OK)


def installed_peers() -> list[str]:
    return [peer for peer, programs in PEERS.items() if all(map(shutil.which, programs))]


def filesystem_of(folder: Path) -> str:
    """What kind of filesystem a folder is in; empty if that cannot be told."""
    return output_of("findmnt", "-no", "FSTYPE", "-T", str(folder))


def drop_system_caches(what: int) -> None:
    """1: pages, 2: inodes, 3: both. Of the whole system, so only root may."""
    Path("/proc/sys/vm/drop_caches").write_text(f"{what}\n")


def set_read_ahead(mount: Path, kib: int) -> None:
    """How far the kernel reads ahead in a mount. Only root may."""
    device = os.stat(mount).st_dev
    Path(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb").write_text(f"{kib}\n")


def processor() -> str:
    """Its name; some kernels tell none, and then what kind it is."""
    models = [line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
              if line.startswith("model name")]
    return models[0] if models else os.uname().machine


def machine(filesystem: str) -> dict:
    """What the figures depend on; the filesystem is that of the data."""
    return {
        "cpu": processor(),
        "cores": os.cpu_count(),
        "kernel": os.uname().release,
        "libfuse": output_of("pkg-config", "--modversion", "fuse3"),
        "filesystem": filesystem,
        "is_root": IS_ROOT,
    }
