"""The Debian packages: what is in them, and what they are like to install, use, upgrade and remove. scripts/check-package
runs this; nothing else does, since it changes the machine that it runs on.

The tests stand in the order in which they are run, each on what those before it have left.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Iterator

import pytest

from checks import TemporaryFolder, check, check_equal, need_fuse, need_program, run
from example import check_example
from expected import PACKAGES, Configured, installed
from machine import APT, BUILD, Machine, contents, is_known


def cannot_run() -> str:
    """Why it can do nothing here, or nothing."""
    if os.geteuid() != 0:
        return "only root can install packages"
    if shutil.which("apt-get") is None:
        return "there is no apt-get"
    there = [package for package in PACKAGES.values() if is_known(package)]
    if program := shutil.which("tensorfs"):
        there.append(program)
    return f"there is a tensorfs already: {', '.join(there)}" if there else ""


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    if why := cannot_run():
        pytest.skip(why)
    with TemporaryFolder() as folder:
        found = Machine(folder)
        try:
            yield found
        finally:
            found.clean_up()


def test_hold(machine: Machine) -> None:
    """the packages hold what is installed, and each file is in one of them"""
    configured = Configured.of(BUILD)
    found = {package.name.partition("_")[0]: contents(package) for package in machine.packages}
    check_equal(sorted(found), sorted(PACKAGES.values()), "the packages")
    for component, package in PACKAGES.items():
        wanted = installed(component, configured, packaged=True)
        check_equal(sorted(found[package].items() ^ wanted.items()), [], f"{package}: what is other than expected")
    both = found["tensorfs"].keys() & found["libtensorfs-dev"].keys()
    check_equal(sorted(both), ["lib", "share", "share/doc"], "what is in both: folders")


def test_installs(machine: Machine) -> None:
    """apt installs them, and dpkg finds each file as it was packed"""
    machine.install()
    check_equal(run("dpkg", "--verify", *PACKAGES.values()), "", "what dpkg finds changed")


@pytest.mark.usefixtures("machine")
def test_version() -> None:
    """tensorfs is in the PATH and says the package's version"""
    check_equal(shutil.which("tensorfs"), "/usr/bin/tensorfs", "the program in the PATH")
    packaged = run("dpkg-query", "-W", "-f", "${Version}", "tensorfs")
    check_equal(run("tensorfs", "--version").splitlines()[0], f"tensorfs {packaged.rpartition('-')[0]}", "the version")


def test_mounts(machine: Machine) -> None:
    """tensorfs mounts a model; it can be read, and unmounted"""
    need_fuse()
    run("tensorfs", machine.model, machine.mountpoint)
    machine.check_mounted()
    machine.unmount("fusermount3", "-u")


def test_mounts_by_type(machine: Machine) -> None:
    """mount -t fuse.tensorfs mounts, and umount unmounts"""
    need_fuse()
    run("mount", "-t", "fuse.tensorfs", machine.model, machine.mountpoint)
    machine.check_mounted()
    machine.unmount("umount")


def test_mounts_by_fstab(machine: Machine) -> None:
    """mount mounts what a line of fstab says"""
    need_fuse()
    fstab = machine.folder / "fstab"
    source, target = (str(path).replace(" ", "\\040") for path in (machine.model, machine.mountpoint))
    fstab.write_text(f"{source} {target} fuse.tensorfs ro,noauto,nofail,x-systemd.idle-timeout=60,umask=0027 0 0\n")
    run("mount", "--fstab", fstab, machine.mountpoint)
    machine.check_mounted()
    check_equal(machine.mountpoint.stat().st_mode & 0o777, 0o550, "permissions with umask=0027")


def test_comes_back(machine: Machine) -> None:
    """after its daemon was killed, info tells what to do, and mounting again by fstab does it"""
    need_fuse()
    machine.kill_daemon()
    told = subprocess.run(["tensorfs", "info", machine.mountpoint], capture_output=True, text=True)
    check_equal(told.returncode, 6, "exit code of info")
    check("the daemon is gone: mount again" in told.stderr, f"info says: {told.stderr}")
    run("mount", "--fstab", machine.folder / "fstab", machine.mountpoint)
    machine.check_mounted()
    machine.unmount("umount")


@pytest.mark.usefixtures("machine")
def test_man() -> None:
    """man finds the page"""
    check_equal(run(need_program("man"), "-w", "tensorfs").strip(), "/usr/share/man/man1/tensorfs.1.gz", "the page")


@pytest.mark.usefixtures("machine")
def test_others() -> None:
    """bash has its completions, and systemd its units, whose programs are there"""
    run("bash", "-n", "/usr/share/bash-completion/completions/tensorfs")
    for kind in ("system", "user"):
        unit = Path("/usr/lib/systemd", kind, "tensorfs@.service").read_text()
        programs = re.findall(r"^Exec\w+=[-@:+!]*(\S+)", unit, re.MULTILINE)
        check(programs != [], f"the {kind} unit starts nothing")
        for program in programs:
            check(shutil.which(program, path="/usr/local/bin:/usr/bin") is not None, f"{kind} unit: no {program}")


def test_builds(machine: Machine) -> None:
    """core/README.md's C++ program is built with libtensorfs-dev, and runs"""
    (machine.folder / "example").mkdir()
    check_example(machine.folder / "example")


def test_outlives(machine: Machine) -> None:
    """a mount outlives an upgrade, and the removal of the packages"""
    need_fuse()
    run("tensorfs", machine.model, machine.mountpoint)
    machine.install("--reinstall")
    machine.check_mounted()
    run(*APT, "remove", *PACKAGES.values())
    check(not Path("/usr/bin/tensorfs").exists(), "the program is still there")
    machine.check_mounted()
    machine.unmount("fusermount3", "-u")


def test_leaves_nothing(machine: Machine) -> None:
    """nothing is left when they are purged"""
    machine.purge()
    machine.check_nothing_left()
