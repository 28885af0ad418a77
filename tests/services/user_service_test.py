"""The user's tensorfs@.service under the manager of a user without any rights."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from booted import UNITS, Booted, wait_until
from checks import Skip, check, check_equal, need_program
from models import random_tensor, write_shard

USER = 65534
UNIT = "tensorfs@llama.service"


class User:
    """A booted systemd, in which a user's manager runs as a service."""

    def __init__(self, program: str) -> None:
        self.systemd = Booted(program)

    def __enter__(self) -> User:
        if not os.stat(need_program("fusermount3")).st_mode & stat.S_ISUID:
            raise Skip("fusermount3 does not have root's rights")
        self.systemd.__enter__()
        try:
            self._begin()
        except BaseException as failure:
            self.systemd.__exit__(failure)
            raise
        return self

    def _begin(self) -> None:
        systemd = self.systemd
        self.home = Path("/run/home")
        self.runtime = f"/run/user/{USER}"
        for folder in (self.home, self.home / ".config", self.home / ".config/tensorfs", self.runtime):
            systemd.run("install", "-d", "-m", "700", "-o", USER, folder)
        self.units = systemd.folder / "user-units"
        self.units.mkdir()
        for name in ("basic", "default", "shutdown"):
            (self.units / f"{name}.target").write_text("[Unit]\nDefaultDependencies=no\n")
        (self.units / "tensorfs@.service").write_bytes((UNITS / "user/tensorfs@.service").read_bytes())
        self.drop_in("log", "[Service]\nStandardOutput=append:%t/log\nStandardError=append:%t/log\n")
        environment = (f"HOME={self.home}", f"XDG_RUNTIME_DIR={self.runtime}", "SYSTEMD_LOG_TARGET=null",
                       f"SYSTEMD_UNIT_PATH={self.units}")  # fmt: skip
        (systemd.units / "manager.service").write_text(
            f"[Service]\nType=notify\nDelegate=yes\nUser={USER}\nExecStart=/lib/systemd/systemd --user\n"
            f"Environment={' '.join(environment)}\n"
        )
        systemd.run("systemctl", "daemon-reload")
        systemd.run("systemctl", "start", "manager.service")
        self.model = systemd.folder / "my model"
        self.model.mkdir()
        self.tensor = random_tensor("a.weight", "F32", (100, 1000))
        write_shard(self.model / "model.safetensors", [self.tensor])
        self.mountpoint = self.home / "a mount"
        systemd.run("install", "-d", "-o", USER, self.mountpoint)
        config = systemd.at(self.home / ".config/tensorfs/llama.conf")
        config.write_text(f'SOURCE="{self.model}"\nMOUNTPOINT="{self.mountpoint}"\nASAN_OPTIONS=detect_leaks=0\n')

    def __exit__(self, failure: object = None, *rest: object) -> None:
        if failure is not None:
            log = self.systemd.at(f"{self.runtime}/log")
            print("The log of the user's services:", log.read_text() if log.exists() else "", file=sys.stderr)
        self.systemd.__exit__(failure, *rest)

    def drop_in(self, name: str, text: str) -> None:
        folder = self.units / "tensorfs@.service.d"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.conf").write_text(text)

    def run(self, *command: object) -> str:
        user = ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups")
        return self.systemd.run(*user, "env", f"XDG_RUNTIME_DIR={self.runtime}", *command)

    def show(self, name: str) -> str:
        return self.run("systemctl", "--user", "show", "--value", "-p", name, UNIT).strip()

    def check_state(self, **wanted: str) -> None:
        check_equal({name: self.show(name) for name in wanted}, wanted, "state")

    def check_serves(self) -> None:
        found = self.run("od", "-A", "n", "-v", "-t", "x1", self.mountpoint / "a/weight")
        check(bytes.fromhex(found) == self.tensor.data, "bytes")


def test_life(program: str) -> None:
    """systemd user: an ordinary user's service mounts, reloads, comes back and stops"""
    with User(program) as user:
        user.run("systemctl", "--user", "start", UNIT)
        user.check_serves()
        user.check_state(ActiveState="active", SubState="running", NRestarts="0")
        check(user.systemd.try_run("ls", user.mountpoint).returncode != 0, "root sees a user's mount, too")
        user.run("systemctl", "--user", "reload", UNIT)
        user.check_serves()
        user.drop_in("test", "[Service]\nRestartSec=100ms\n")
        user.run("systemctl", "--user", "daemon-reload")
        user.run("kill", "-KILL", user.show("MainPID"))
        wait_until(lambda: (user.show("NRestarts"), user.show("SubState")) == ("1", "running"), "it comes back")
        user.check_serves()
        user.run("systemctl", "--user", "stop", UNIT)
        user.check_state(ActiveState="inactive", SubState="dead", Result="success")
        check_equal(user.systemd.mounts_on(user.mountpoint), [], "what is still mounted")


def test_gives_up(program: str) -> None:
    """systemd user: a dead mount is cleared where the service is not started again"""
    with User(program) as user:
        user.drop_in("test", "[Service]\nRestart=no\n")
        user.run("systemctl", "--user", "start", UNIT)
        user.run("kill", "-KILL", user.show("MainPID"))
        wait_until(lambda: user.show("ActiveState") == "failed", "it has failed")
        check_equal(user.systemd.mounts_on(user.mountpoint), [], "what is still mounted")
        check_equal(user.run("ls", "-A", user.mountpoint), "", "what is below the mount point")
