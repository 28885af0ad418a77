"""The machine that packages are tried on: what they bring, what they leave, and how it is taken away again."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import tarfile
from pathlib import Path

from checks import REPOSITORY, check, check_equal, run
from models import make_model

BUILD = REPOSITORY / "build-package"
APT = ("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-y", "-o", "DPkg::Lock::Timeout=120")
# Small images of Debian tell dpkg to leave out manuals and documents.
ALL_FILES = ("-o", "DPkg::Options::=--path-include=/usr/share/*")


class Machine:
    """This machine, the packages, a model, and a folder to mount it on."""

    def __init__(self, folder: Path) -> None:
        build = os.environ | {"TENSORFS_BUILD": str(BUILD)}
        subprocess.run([REPOSITORY / "scripts" / "package"], check=True, env=build)
        self.packages = sorted(BUILD.glob("*.deb"))
        self.folder = folder
        self.model = folder / "a model"
        self.mountpoint = folder / "a mount"
        self.mountpoint.mkdir()
        make_model("demo", self.model)
        simulated = run(*APT, "--simulate", "--no-install-recommends", "install", *self.packages)
        self._new = re.findall(r"^Inst (\S+)", simulated, re.MULTILINE)  # they, and what they bring along
        self._traces = _traces()

    def install(self, *options: str) -> None:
        run(*APT, *ALL_FILES, "--no-install-recommends", *options, "install", *self.packages)

    def check_mounted(self) -> None:
        """A tensor that is read through the mount is the slice of its shard."""
        check(self.mountpoint.is_mount(), "nothing is mounted")
        tensor = self.mountpoint / "model" / "norm" / "weight"
        shard, offset, nbytes = (os.getxattr(tensor, f"user.tensor.{name}") for name in ("shard", "offset", "nbytes"))
        with open(shard, "rb") as file:
            file.seek(int(offset))
            check_equal(tensor.read_bytes(), file.read(int(nbytes)), "a tensor")

    def kill_daemon(self) -> None:
        """As a crash would end it, and nothing clears the mount."""
        pids = run("pgrep", "-f", f"^tensorfs .*{re.escape(str(self.mountpoint))}").split()
        check_equal(len(pids), 1, "daemons of the mount")
        os.kill(int(pids[0]), signal.SIGKILL)
        check(self.mountpoint.is_mount(), "the mount went by itself")

    def unmount(self, *command: str) -> None:
        run(*command, self.mountpoint)
        check(not self.mountpoint.is_mount(), "it is still mounted")

    def purge(self) -> None:
        """Takes away what install() has brought."""
        if left := [package for package in self._new if is_known(package)]:
            run(*APT, "purge", *left)

    def check_nothing_left(self) -> None:
        check_equal([package for package in self._new if is_known(package)], [], "packages that dpkg knows")
        check_equal(sorted(_traces() - self._traces), [], "files that are left")

    def clean_up(self) -> None:
        if self.mountpoint.is_mount():
            subprocess.run(["umount", "--lazy", self.mountpoint], check=False)
        self.purge()


def is_known(package: str) -> bool:
    """Whether dpkg knows of it: it is installed, in part, or its configuration is left."""
    query = ["dpkg-query", "-W", "-f", "${db:Status-Status}", package]
    return subprocess.run(query, capture_output=True, text=True).stdout not in ("", "not-installed")


def _traces() -> set[str]:
    """Files outside the repository that belong to a tensorfs, by their names."""
    places = [place for place in ("/etc", "/usr", "/var/lib", "/run/systemd") if os.path.isdir(place)]
    found = run("find", *places, "-xdev", "-path", REPOSITORY, "-prune", "-o", "-name", "*tensorfs*", "-print")
    return set(found.splitlines())


def contents(package: Path) -> dict[str, int]:
    """The paths below /usr in a package, of files and folders, and their permissions."""
    archive = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True, capture_output=True).stdout
    modes = {}
    for entry in tarfile.open(fileobj=io.BytesIO(archive)):
        check(entry.isdir() or entry.isfile(), f"{entry.name} is neither a file nor a folder")
        check_equal((entry.uid, entry.gid), (0, 0), f"owner of {entry.name}")
        modes["/" + entry.name.removeprefix("./")] = entry.mode
    check_equal(modes.pop("/usr"), 0o755, "permissions of /usr")
    check(all(path.startswith("/usr/") for path in modes), f"something is not below /usr: {sorted(modes)}")
    return {path.removeprefix("/usr/"): mode for path, mode in modes.items()}
