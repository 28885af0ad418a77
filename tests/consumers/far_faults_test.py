"""Servers that end, stall, answer wrongly or get other files, while a model on them is mounted through rclone or sshfs."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import signal
import threading
import time
from pathlib import Path
from typing import Iterator, Optional

import far
from bad_server import BadServer
from checks import PATIENCE, check, check_equal
from far import CACHED, IMPATIENT, LEAN
from far_models import MIB, check_tensor, file_of, write_model
from models import Tensor
from mounts import Mount
from wire import Wire

STALL = 30  # seconds
BOUND = 45  # seconds in which a reader hears that there is no server


class Reading(threading.Thread):
    """Reads a tensor by its own, and compares it."""

    def __init__(self, mount: Mount, tensor: Tensor) -> None:
        super().__init__(daemon=True)
        self._path, self._tensor = file_of(mount, tensor), tensor
        self.error: Optional[int] = None
        self.is_right = False
        self.seconds = 0.0
        self.start()

    def run(self) -> None:
        begin = time.monotonic()
        try:
            digest = hashlib.sha256(self._path.read_bytes()).digest()
            self.is_right = digest == hashlib.sha256(self._tensor.data).digest()
        except OSError as error:
            self.error = error.errno
        self.seconds = time.monotonic() - begin

    def ended(self, patience: float = PATIENCE) -> Reading:
        self.join(patience)
        check(not self.is_alive(), f"{self._tensor.name}: it is read for more than {patience} s")
        return self


def await_right(mount: Mount, tensor: Tensor) -> None:
    """The server is back: soon all is good, without a remount."""
    deadline = time.monotonic() + PATIENCE
    while True:
        reading = Reading(mount, tensor).ended()
        if reading.is_right:
            return
        check(reading.error is not None, f"{tensor.name}: wrong bytes")
        check(time.monotonic() < deadline, f"{tensor.name}: errno {reading.error} though the server is back")
        time.sleep(0.2)


def check_cut(mount: Mount, wire: Wire, tensors: list[Tensor]) -> None:
    """The server ends in the middle of a read."""
    big, _, small, rest = tensors
    check_tensor(mount, small)
    with file_of(mount, big).open("rb") as file:
        check_equal(file.read(MIB), big.data[:MIB], "the beginning")
        wire.cut()
        begin = time.monotonic()
        try:
            data = file.read()
            check(data == big.data[MIB:], "wrong bytes instead of an error")
        except OSError as error:
            check_equal(error.errno, errno.EIO, "errno")
        check(time.monotonic() - begin < BOUND, f"the error comes after {time.monotonic() - begin:.0f} s")
    others = Reading(mount, rest).ended(BOUND)
    check(others.error == errno.EIO or others.is_right, "another tensor has wrong bytes")
    mount.check_lives()
    wire.mend()


@contextlib.contextmanager
def rclone_mounts(folder: Path, *options: str) -> Iterator[tuple[Wire, Path, list[Tensor]]]:
    tensors = write_model(folder / "model")
    with far.nginx_server(folder, folder / "nginx") as port, Wire(port) as wire:
        with far.rclone_http(wire.port, folder / "at", *LEAN, *IMPATIENT, *options) as at:
            yield wire, at / "model", tensors


@contextlib.contextmanager
def sshfs_mounts(folder: Path, *options: str) -> Iterator[tuple[Wire, Path, list[Tensor]]]:
    tensors = write_model(folder / "model")
    with far.ssh_server(folder / "ssh") as port, Wire(port) as wire:
        with far.sshfs(wire.port, folder / "ssh", folder, folder / "at", *options) as at:
            yield wire, at / "model", tensors


def test_rclone_cut(program: str, folder: Path) -> None:
    """far away: a web server ends in the middle of a read, and comes back"""
    with rclone_mounts(folder) as (wire, source, tensors), Mount(program, source) as mount:
        check_cut(mount, wire, tensors)
        for tensor in tensors:
            await_right(mount, tensor)


def test_rclone_cached_cut(program: str, folder: Path) -> None:
    """far away: a web server ends in the middle of a read, and comes back, with the cache of rclone"""
    with rclone_mounts(folder, *CACHED) as (wire, source, tensors), Mount(program, source) as mount:
        check_cut(mount, wire, tensors)
        for tensor in tensors:
            await_right(mount, tensor)


def test_sshfs_reconnect(program: str, folder: Path) -> None:
    """far away: the connection of sshfs is lost in the middle of a read, and made again"""
    with sshfs_mounts(folder, "reconnect") as (wire, source, tensors), Mount(program, source) as mount:
        check_cut(mount, wire, tensors)
        # Not what was being read: sshfs answers such a read short, and the kernel fills it up with zeros (systemd/FAR.md).
        for tensor in tensors[1:3]:
            await_right(mount, tensor)


def test_sshfs_lost(program: str, folder: Path) -> None:
    """far away: sshfs without reconnect ends when its connection is lost"""
    with sshfs_mounts(folder) as (wire, source, tensors), Mount(program, source) as mount:
        check_cut(mount, wire, tensors)
        gone = Reading(mount, tensors[3]).ended(BOUND)
        check(gone.error in (errno.EIO, None) and gone.is_right == (gone.error is None), f"errno {gone.error}")
        mount.check_lives()


def test_stalled(program: str, folder: Path) -> None:
    """far away: servers that answer nothing for 30 seconds"""
    with contextlib.ExitStack() as stack:
        mounts, wires, endings = [], [], []
        for name, mounting in (("http", rclone_mounts), ("ssh", sshfs_mounts)):
            (folder / name).mkdir()
            patient = ("--timeout", "60s") if name == "http" else ()
            wire, source, tensors = stack.enter_context(mounting(folder / name, *patient))
            mounts.append(stack.enter_context(Mount(program, source)))
            wires.append(wire)
            ending = stack.enter_context(contextlib.closing(Ending(Mount(program, source))))
            check_tensor(mounts[-1], tensors[2])
            check_tensor(ending.mount, tensors[2])
            wire.clog()
            ending.begin(tensors[0])
            endings.append(ending)
        begin = time.monotonic()
        waiting = [Reading(mount, tensors[0]) for mount in mounts]
        # Not by this thread: now and then the kernel drops a page that it had cached, and whoever reads it waits.
        cached = [Reading(mount, tensors[2]) for mount in mounts]
        while time.monotonic() - begin < STALL:
            for mount in mounts:
                mount.check_lives()
                os.listdir(mount.path)
            time.sleep(0.5)
        went_on = [reading.is_right for reading in cached]
        for wire in wires:
            wire.mend()
        for ending in endings:
            ending.end()
        check(any(went_on), "nobody reads what is cached")
        for mount, reading in zip(mounts * 2, waiting + cached):
            reading.ended()
            check(reading.is_right or reading.error == errno.EIO, f"wrong bytes, or errno {reading.error}")
            for tensor in tensors:
                await_right(mount, tensor)


class Ending:
    """A mount that is to end while somebody waits for a server that does not answer."""

    def __init__(self, mount: Mount) -> None:
        self.mount = mount.__enter__()

    def begin(self, tensor: Tensor) -> None:
        reading = Reading(self.mount, tensor)
        time.sleep(0.3)
        self.mount.daemon.send_signal(signal.SIGTERM)
        check(reading.ended(20).error is not None, "who waited has an error")
        check(not self.mount.path.is_mount(), "it is not unmounted")

    def end(self) -> None:
        """To be called once the server answers: until then the kernel lets no process end that waits for a filesystem of
        others."""
        check_equal(self.mount.daemon.wait(20), 0, "exit code")

    def close(self) -> None:
        self.mount.__exit__(AssertionError())  # it has been unmounted


def check_never_wrong(program: str, folder: Path, fault: str) -> None:
    """Whatever the server answers, bytes are right or there is an error; and then it is well again."""
    tensors = write_model(folder / "model", big=4 * MIB)
    with BadServer(folder) as server:
        with far.rclone_http(server.port, folder / "at", *LEAN, *IMPATIENT) as at:
            with Mount(program, at / "model") as mount:
                check_tensor(mount, tensors[2])
                server.fault = fault
                for tensor in (tensors[0], tensors[3]):
                    reading = Reading(mount, tensor).ended(BOUND)
                    check(reading.is_right or reading.error == errno.EIO, f"{tensor.name}: wrong, errno {reading.error}")
                mount.check_lives()
                server.fault = None
                for tensor in tensors:
                    await_right(mount, tensor)


def test_short(program: str, folder: Path) -> None:
    """far away: a web server that sends fewer bytes than it says"""
    check_never_wrong(program, folder, "short")


def test_error(program: str, folder: Path) -> None:
    """far away: a web server that answers with errors"""
    check_never_wrong(program, folder, "error")
