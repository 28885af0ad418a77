"""Shards that are replaced on the server while they are mounted: as soon as the filesystem tells of it, who reads gets EIO
and the log has a line; a reload brings the new ones, or mounting again where the filesystem has a cache. What a
filesystem fetches before it tells, nobody can notice."""

from __future__ import annotations

import errno
import os
import signal
import time
from pathlib import Path
from typing import Callable, Optional

import far
from checks import PATIENCE, check, check_equal
from far import CACHED, LEAN
from far_models import file_of, write_model
from models import Tensor
from mounts import Mount
from wire import Wire

TOLD = ("--dir-cache-time", "1s")  # when rclone tells of it; 5 minutes by default
OLD = 1_600_000_000  # seconds since 1970


def read(mount: Mount, tensor: Tensor) -> Optional[bytes]:
    """None if it cannot be read."""
    try:
        return file_of(mount, tensor).read_bytes()
    except OSError as error:
        check_equal(error.errno, errno.EIO, f"{tensor.name}: the error")
        return None


def wait_until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        check(time.monotonic() < deadline, f"{what}: not within {PATIENCE} s")
        time.sleep(0.1)


def check_all(mount: Mount, tensors: list[Tensor]) -> None:
    for tensor in tensors:
        check(read(mount, tensor) == tensor.data, f"{tensor.name} is not the new one")


def check_replaced(program: str, served: Path, at: Path, reloads: bool = True) -> None:
    """`served` is seen at `at`. rclone's cache keeps the parts that it has of a file for as long as anybody has that
    open, and fetches others of the new file: there, a reload would be a mix of both."""
    old = write_model(served / "model", 0)
    for shard in (served / "model").iterdir():
        os.utime(shard, (OLD, OLD))
    with Mount(program, at / "model") as mount:
        check(read(mount, old[2]) == old[2].data, "small, before")
        new = write_model(served / "model", 1)
        wait_until(lambda: all(shard.stat().st_mtime > OLD for shard in (at / "model").iterdir()), "it is told of")
        for tensor in (old[0], old[1], old[3]):
            found = read(mount, tensor)
            check(found is None, f"{tensor.name} is not EIO; it is the old one: {found == tensor.data}")
        check(read(mount, old[2]) in (None, old[2].data), "small, which is cached, is not the old one")
        check("it was changed since it was mounted" in mount.log.read_text(), "the log does not tell of it")
        mount.check_lives()
        if reloads:
            mount.daemon.send_signal(signal.SIGHUP)
            wait_until(lambda: read(mount, new[0]) == new[0].data, "a reload brings the new model")
            check_all(mount, new)
    with Mount(program, at / "model") as mount:
        check_all(mount, new)


def test_replaced_http(program: str, folder: Path) -> None:
    """far away: shards are replaced on a web server"""
    (folder / "served").mkdir()
    with far.nginx_server(folder / "served", folder / "nginx") as port:
        with far.rclone_http(port, folder / "at", *LEAN, *TOLD) as at:
            check_replaced(program, folder / "served", at)


def test_replaced_http_cached(program: str, folder: Path) -> None:
    """far away: shards are replaced on a web server, with the cache of rclone"""
    (folder / "served").mkdir()
    with far.nginx_server(folder / "served", folder / "nginx") as port:
        with far.rclone_http(port, folder / "at", *LEAN, *CACHED, *TOLD) as at:
            check_replaced(program, folder / "served", at, reloads=False)


def test_replaced_sshfs(program: str, folder: Path) -> None:
    """far away: shards are replaced on another machine"""
    (folder / "served").mkdir()
    with far.ssh_server(folder / "ssh") as port:
        with far.sshfs(port, folder / "ssh", folder / "served", folder / "at", "dcache_timeout=1") as at:
            check_replaced(program, folder / "served", at)


def test_opened_anew(program: str, folder: Path) -> None:
    """far away: a reload opens shards anew that could not be read since the connection of sshfs ended"""
    old = write_model(folder / "model")
    with far.ssh_server(folder / "ssh") as port, Wire(port) as wire:
        with far.sshfs(wire.port, folder / "ssh", folder, folder / "at", "reconnect") as at:
            with Mount(program, at / "model") as mount:
                check(read(mount, old[2]) == old[2].data, "small, before")
                wire.cut()
                check(read(mount, old[0]) is None, "big is read without a server")
                wire.mend()

                def is_back() -> bool:
                    try:
                        return any((at / "model").iterdir())
                    except OSError:
                        return False

                wait_until(is_back, "sshfs connects again")
                mount.daemon.send_signal(signal.SIGHUP)
                for tensor in old:
                    wait_until(lambda: read(mount, tensor) == tensor.data, f"{tensor.name} is there again")
