"""Models on web servers and other machines, through the filesystems of others: rclone, sshfs, httpdirfs. All servers are
the test's own, on the loopback."""

from __future__ import annotations

import contextlib
import itertools
import shutil
from pathlib import Path
from typing import Callable, Iterator

import far
from checks import check, check_equal, run
from far import CACHED, LEAN
from far_models import MIB, Far, check_model, write_model
from models import make_model
from mounts import Mount
from wire import Wire


@contextlib.contextmanager
def through_wire(port: int, folder: Path, mount: Callable[..., contextlib.AbstractContextManager[Path]]) -> Iterator[Far]:
    """`mount` is given the wire's port and a new folder's path."""
    numbers = itertools.count()
    with Wire(port) as wire:
        yield Far(lambda: mount(wire.port, folder / f"at{next(numbers)}"), lambda: wire.nbytes)


def check_rclone_http(program: str, folder: Path, *options: str) -> None:
    tensors = write_model(folder / "model")
    with far.nginx_server(folder, folder / "nginx") as port:
        with through_wire(port, folder, lambda port, at: far.rclone_http(port, at, *options)) as through:
            check_model(program, through, tensors)


def check_rclone_webdav(program: str, folder: Path, *options: str) -> None:
    tensors = write_model(folder / "model")
    with far.webdav_server(folder, folder / "webdav") as port:
        with through_wire(port, folder, lambda port, at: far.rclone_webdav(port, at, *options)) as through:
            check_model(program, through, tensors)


def test_rclone_http(program: str, folder: Path) -> None:
    """far away: nginx, through rclone"""
    check_rclone_http(program, folder, *LEAN)


def test_rclone_http_cached(program: str, folder: Path) -> None:
    """far away: nginx, through rclone with its cache"""
    check_rclone_http(program, folder, *LEAN, *CACHED)


def test_rclone_webdav(program: str, folder: Path) -> None:
    """far away: WebDAV, through rclone"""
    check_rclone_webdav(program, folder, *LEAN)


def test_rclone_webdav_cached(program: str, folder: Path) -> None:
    """far away: WebDAV, through rclone with its cache"""
    check_rclone_webdav(program, folder, *LEAN, *CACHED)


def test_sshfs(program: str, folder: Path) -> None:
    """far away: another machine, through sshfs"""
    tensors = write_model(folder / "model")
    with far.ssh_server(folder / "ssh") as port:
        with through_wire(port, folder, lambda port, at: far.sshfs(port, folder / "ssh", folder, at)) as through:
            check_model(program, through, tensors)


def test_httpdirfs(program: str, folder: Path) -> None:
    """far away: nginx, through httpdirfs"""
    tensors = write_model(folder / "model", big=MIB)  # each READ takes a tenth of a second
    with far.nginx_server(folder, folder / "nginx") as port, through_wire(port, folder, far.httpdirfs) as through:
        check_model(program, through, tensors)


def test_formats(program: str, folder: Path) -> None:
    """far away: a GGUF file and a PyTorch checkpoint on a web server"""
    root = folder / "root"
    root.mkdir()
    make_model("gguf", root / "gguf", "--parts", 1, "--tensors", 20, "--tokens", 1000, "--merges", 1000)
    write_model(folder / "model", big=4 * MIB)
    with Mount(program, folder / "model") as mount:
        shutil.copyfile(mount.checkpoint, root / "pytorch_model.bin")
    with far.nginx_server(root, folder / "nginx") as port:
        with through_wire(port, folder, lambda port, at: far.rclone_http(port, at, *LEAN)) as through:
            for name in ("gguf", "pytorch_model.bin"):
                with through.mount() as at:
                    before = through.fetched()
                    listing = run(program, "ls", at / name)
                    fetched = through.fetched() - before
                    check_equal(listing, run(program, "ls", root / name), f"{name}: listing")
                    check(fetched <= 2.1 * MIB, f"{name}: looking into it fetched {fetched} bytes")
                    check_equal(run(program, "sum", at / name), run(program, "sum", root / name), f"{name}: sums")
