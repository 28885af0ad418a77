"""The life of tensorfs@.service under a real systemd: start, reload, stop, crash, and what must not be touched."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Iterator

import pytest

from booted import Booted, wait_until
from checks import PATIENCE, check, check_equal
from models import Tensor, random_tensor, write_shard

NOBODY = 65534
STATE = {"ActiveState": "active", "SubState": "running", "Result": "success"}
ENDED = {"ActiveState": "inactive", "SubState": "dead", "Result": "success"}


def make_model(folder: Path, seed: int = 0) -> list[Tensor]:
    """Replaces the model in the folder, as who publishes a new one does."""
    tensors = [random_tensor("a.weight", "F32", (1000, 1000), seed), random_tensor("b", "U8", (10,), seed)]
    folder.mkdir(exist_ok=True)
    write_shard(folder / "new", tensors).rename(folder / "model.safetensors")
    return tensors


class Served:
    """A booted systemd, a model and its service."""

    def __init__(self, program: str) -> None:
        self.systemd = Booted(program)

    def __enter__(self) -> Served:
        self.systemd.__enter__()
        # Names as nobody likes them; the unit's name stays as it was typed.
        self.model = self.systemd.folder / "my  model's"
        self.mountpoint = self.systemd.folder / "a mount"
        self.tensors = make_model(self.model)
        self.unit = self.systemd.configure("my-model", self.model, self.mountpoint)
        return self

    def __exit__(self, *failure: object) -> None:
        self.systemd.__exit__(*failure)

    def start(self) -> None:
        self.systemd.run("systemctl", "start", self.unit)
        self.check_serves(self.tensors)

    def pid(self) -> str:
        return self.systemd.show(self.unit, "MainPID")

    def check_serves(self, tensors: list[Tensor]) -> None:
        for tensor in tensors:
            path = self.systemd.at(self.mountpoint) / tensor.name.replace(".", "/")
            check(path.read_bytes() == tensor.data, f"{path}: bytes")

    def check_is_gone(self) -> None:
        check_equal(self.systemd.mounts_on(self.mountpoint), [], "what is still mounted")
        check_equal(os.listdir(self.systemd.at(self.mountpoint)), [], "what is below the mount point")

    def write_drop_in(self, text: str) -> None:
        self.systemd.drop_in(self.unit, text)
        self.systemd.run("systemctl", "daemon-reload")


@pytest.fixture
def served(program: str) -> Iterator[Served]:
    with Served(program) as it:
        yield it


def test_starts(served: Served) -> None:
    """systemd: started when the mount answers, seen by all, gone when stopped"""
    systemd = served.systemd
    for path in (served.model, served.model / "model.safetensors"):  # another user's, and nobody else's
        os.chown(path, NOBODY, NOBODY)
        path.chmod(0o700 if path.is_dir() else 0o400)
    served.start()
    systemd.wait_for(served.unit, **STATE, NRestarts="0")
    shown = systemd.run("findmnt", "-n", "-o", "FSTYPE,SOURCE", "-M", served.mountpoint).strip()
    check_equal(shown, f"fuse.tensorfs {served.model}", "what findmnt shows")
    # The mount is the host's, and other users' too.
    namespaces = [os.readlink(systemd.at(f"/proc/{pid}/ns/mnt")) for pid in ("1", served.pid())]
    check_equal(namespaces[1], namespaces[0], "the service's mount namespace")
    other = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    check_equal(systemd.run(*other, "stat", "-c", "%s", served.mountpoint / "a/weight"), "4000000\n", "size")
    systemd.run(*other, "cmp", "-n", "10", served.mountpoint / "b", served.mountpoint / ".tensorfs/flat/b")
    systemd.run("systemctl", "stop", served.unit)
    systemd.wait_for(served.unit, **ENDED)
    served.check_is_gone()


def test_options(served: Served) -> None:
    """systemd: options of the file are the mount's"""
    served.systemd.configure("my-model", served.model, served.mountpoint, "'uid=7,fsname=Llama\\, 70B'")
    served.start()
    shown = served.systemd.run("findmnt", "-n", "-o", "SOURCE,OPTIONS", "-M", served.mountpoint)
    check(shown.startswith("Llama, 70B "), f"fsname: {shown}")
    check("allow_other" not in shown, f"the default is there, too: {shown}")
    check_equal(os.stat(served.systemd.at(served.mountpoint) / "b").st_uid, 7, "owner")


def test_reloads(served: Served) -> None:
    """systemd: reload shows the new model, in the same daemon"""
    systemd = served.systemd
    served.start()
    pid = served.pid()
    tensors = make_model(served.model, seed=1)
    systemd.run("systemctl", "reload", served.unit)
    path = systemd.at(served.mountpoint) / "a/weight"
    wait_until(lambda: path.read_bytes() == tensors[0].data, "the new model is there")
    served.check_serves(tensors)
    systemd.wait_for(served.unit, **STATE, NRestarts="0", MainPID=pid)


def test_busy(served: Served) -> None:
    """systemd: stopped while a file is open, it ends well and the mount is gone"""
    served.start()
    with open(served.systemd.at(served.mountpoint) / "a/weight", "rb"):
        served.systemd.run("systemctl", "stop", served.unit)
        served.systemd.wait_for(served.unit, **ENDED)
        check("target is busy" in served.systemd.log(), f"it does not say why: {served.systemd.log()}")
        served.check_is_gone()


def test_unmounted(served: Served) -> None:
    """systemd: unmounted by hand, it ends well and is not started again"""
    served.start()
    served.systemd.run("umount", served.mountpoint)
    served.systemd.wait_for(served.unit, **ENDED, NRestarts="0")
    served.check_is_gone()


def test_crashes(served: Served) -> None:
    """systemd: a killed daemon comes back, and clears its dead mount"""
    served.start()
    pid = served.pid()
    with open(served.systemd.at(served.mountpoint) / "b", "rb"):  # which keeps the dead mount busy
        served.systemd.run("kill", "-KILL", pid)
        served.systemd.wait_for(served.unit, **STATE, NRestarts="1")
    check(served.pid() != pid, "it is the same process")
    served.check_serves(served.tensors)
    check_equal(served.systemd.mounts_on(served.mountpoint), ["fuse.tensorfs"], "what is mounted")


def test_gives_up(served: Served) -> None:
    """systemd: where it is not started again, a dead mount is cleared all the same"""
    served.write_drop_in("[Service]\nRestart=no\n")
    served.start()
    with open(served.systemd.at(served.mountpoint) / "b", "rb"):
        served.systemd.run("kill", "-KILL", served.pid())
        served.systemd.wait_for(served.unit, ActiveState="failed", Result="signal")
        served.check_is_gone()


def test_others(served: Served) -> None:
    """systemd: a mount of somebody else stays"""
    systemd = served.systemd
    at = served.mountpoint
    # Another's model: the service cannot have the place, and leaves it alone in failing.
    systemd.run("tensorfs", served.model, at)
    check(systemd.try_run("systemctl", "start", served.unit).returncode != 0, "it started on a mount")
    systemd.wait_for(served.unit, ActiveState="failed", ExecMainStatus="6", NRestarts="0")
    served.check_serves(served.tensors)
    systemd.run("umount", at)
    # What is mounted below the model is there when that goes.
    systemd.run("mount", "-t", "tmpfs", "below", at)
    served.start()
    systemd.run("systemctl", "stop", served.unit)
    systemd.wait_for(served.unit, **ENDED)
    check_equal(systemd.run("findmnt", "-n", "-o", "SOURCE", "-M", at).strip(), "below", "what is mounted")
    # The model is unmounted by hand and another filesystem takes its place: it stays, too.
    served.start()
    systemd.run("kill", "-STOP", served.pid())  # so that the daemon does not notice before it is stopped
    systemd.run("umount", "-l", at)
    systemd.run("mount", "-t", "tmpfs", "instead", at)
    systemd.run("systemctl", "stop", served.unit)
    systemd.wait_for(served.unit, **ENDED)
    shown = systemd.run("findmnt", "-n", "-o", "SOURCE", "-M", at).split()
    check_equal(shown, ["below", "instead"], "what is mounted")


def test_hopeless(served: Served) -> None:
    """systemd: what only a person can put right is not tried again"""
    shard = served.model / "model.safetensors"
    os.truncate(shard, shard.stat().st_size // 2)
    check(served.systemd.try_run("systemctl", "start", served.unit).returncode != 0, "it started, damaged")
    served.systemd.wait_for(served.unit, ActiveState="failed", ExecMainStatus="4", NRestarts="0")
    check("MetadataIncompleteBuffer" in served.systemd.log(), f"it does not say why: {served.systemd.log()}")


def test_late(served: Served) -> None:
    """systemd: a model that comes late is waited for"""
    away = served.systemd.folder / "away"
    served.model.rename(away)
    served.systemd.run("systemctl", "start", "--no-block", served.unit)
    served.systemd.wait_for(served.unit, SubState="auto-restart")
    away.rename(served.model)
    served.systemd.wait_for(served.unit, **STATE)
    served.check_serves(served.tensors)


def test_watchdog(served: Served) -> None:
    """systemd: a disk that hangs does not get the daemon killed, a daemon that hangs does"""
    systemd = served.systemd
    served.write_drop_in("[Service]\nWatchdogSec=2\nTimeoutAbortSec=1\nRestartSec=100ms\n")
    # The disk: a model's file in another mount, whose daemon can be stopped.
    disk = systemd.folder / "disk"
    disk.mkdir()
    systemd.run("tensorfs", served.model, disk)
    daemon = systemd.run("pgrep", "-x", "tensorfs").strip()
    systemd.configure("my-model", disk / ".tensorfs/model.safetensors", served.mountpoint)
    systemd.run("systemctl", "start", served.unit)
    found: list[bytes] = []
    path = systemd.at(served.mountpoint) / "a/weight"
    systemd.run("kill", "-STOP", daemon)
    readers = [threading.Thread(target=lambda: found.append(path.read_bytes())) for _ in range(4)]
    for reader in readers:
        reader.start()
    time.sleep(6)
    systemd.wait_for(served.unit, **STATE, NRestarts="0")
    check_equal(found, [], "what was read of a disk that hangs")
    systemd.run("kill", "-CONT", daemon)
    for reader in readers:
        reader.join(PATIENCE)
    check(found == [served.tensors[0].data] * 4, "what the disk gave when it was back is wrong")
    systemd.run("kill", "-STOP", served.pid())
    systemd.wait_for(served.unit, **STATE, NRestarts="1")
    served.check_serves(served.tensors)
