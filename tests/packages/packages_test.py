#!/usr/bin/env python3
"""check-package: makes the Debian packages, installs them on this machine, uses them, and removes them again.

For machines that are there for tests: it must be root, and it does nothing where a tensorfs is installed already,
since that would be removed. Whatever happens, it unmounts and removes what it has mounted and installed. The last
line counts the tests. Exit codes: 0 all passed, 1 some failed, 2 wrong arguments, 77 it can do nothing here.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Callable

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tests" / folder) for folder in ("install", "support/python")]
from checks import Skip, TemporaryFolder, check, check_equal, need_fuse, need_program, run  # noqa: E402: known now
from example import check_example  # noqa: E402
from expected import PACKAGES, Configured, installed  # noqa: E402
from machine import APT, BUILD, Machine, contents, is_known  # noqa: E402

CASES: list[tuple[str, Callable[[Machine], None]]] = []


def case(title: str) -> Callable[[Callable[[Machine], None]], Callable[[Machine], None]]:
    """A test. They are run in this order, each on what those before it have left."""

    def add(function: Callable[[Machine], None]) -> Callable[[Machine], None]:
        CASES.append((title, function))
        return function

    return add


@case("the packages hold what is installed, and each file is in one of them")
def hold(machine: Machine) -> None:
    configured = Configured.of(BUILD)
    found = {package.name.partition("_")[0]: contents(package) for package in machine.packages}
    check_equal(sorted(found), sorted(PACKAGES.values()), "the packages")
    for component, package in PACKAGES.items():
        wanted = installed(component, configured, packaged=True)
        check_equal(sorted(found[package].items() ^ wanted.items()), [], f"{package}: what is other than expected")
    both = found["tensorfs"].keys() & found["libtensorfs-dev"].keys()
    check_equal(sorted(both), ["lib", "share", "share/doc"], "what is in both: folders")


@case("apt installs them, and dpkg finds each file as it was packed")
def installs(machine: Machine) -> None:
    machine.install()
    check_equal(run("dpkg", "--verify", *PACKAGES.values()), "", "what dpkg finds changed")


@case("tensorfs is in the PATH and says the package's version")
def version(_: Machine) -> None:
    check_equal(shutil.which("tensorfs"), "/usr/bin/tensorfs", "the program in the PATH")
    packaged = run("dpkg-query", "-W", "-f", "${Version}", "tensorfs")
    check_equal(run("tensorfs", "--version").splitlines()[0], f"tensorfs {packaged.rpartition('-')[0]}", "the version")


@case("tensorfs mounts a model; it can be read, and unmounted")
def mounts(machine: Machine) -> None:
    need_fuse()
    run("tensorfs", machine.model, machine.mountpoint)
    machine.check_mounted()
    machine.unmount("fusermount3", "-u")


@case("mount -t fuse.tensorfs mounts, and umount unmounts")
def mounts_by_type(machine: Machine) -> None:
    need_fuse()
    run("mount", "-t", "fuse.tensorfs", machine.model, machine.mountpoint)
    machine.check_mounted()
    machine.unmount("umount")


@case("mount mounts what a line of fstab says")
def mounts_by_fstab(machine: Machine) -> None:
    need_fuse()
    fstab = machine.folder / "fstab"
    source, target = (str(path).replace(" ", "\\040") for path in (machine.model, machine.mountpoint))
    fstab.write_text(f"{source} {target} fuse.tensorfs ro,noauto,nofail,x-systemd.idle-timeout=60,umask=0027 0 0\n")
    run("mount", "--fstab", fstab, machine.mountpoint)
    machine.check_mounted()
    check_equal(machine.mountpoint.stat().st_mode & 0o777, 0o550, "permissions with umask=0027")


@case("after its daemon was killed, info tells what to do, and mounting again by fstab does it")
def comes_back(machine: Machine) -> None:
    need_fuse()
    machine.kill_daemon()
    told = subprocess.run(["tensorfs", "info", machine.mountpoint], capture_output=True, text=True)
    check_equal(told.returncode, 6, "exit code of info")
    check("the daemon is gone: mount again" in told.stderr, f"info says: {told.stderr}")
    run("mount", "--fstab", machine.folder / "fstab", machine.mountpoint)
    machine.check_mounted()
    machine.unmount("umount")


@case("man finds the page")
def man(_: Machine) -> None:
    check_equal(run(need_program("man"), "-w", "tensorfs").strip(), "/usr/share/man/man1/tensorfs.1.gz", "the page")


@case("bash has its completions, and systemd its units, whose programs are there")
def others(_: Machine) -> None:
    run("bash", "-n", "/usr/share/bash-completion/completions/tensorfs")
    for kind in ("system", "user"):
        unit = Path("/usr/lib/systemd", kind, "tensorfs@.service").read_text()
        programs = re.findall(r"^Exec\w+=[-@:+!]*(\S+)", unit, re.MULTILINE)
        check(programs != [], f"the {kind} unit starts nothing")
        for program in programs:
            check(shutil.which(program, path="/usr/local/bin:/usr/bin") is not None, f"{kind} unit: no {program}")


@case("the README's C++ program is built with libtensorfs-dev, and runs")
def builds(machine: Machine) -> None:
    (machine.folder / "example").mkdir()
    check_example(machine.folder / "example")


@case("a mount outlives an upgrade, and the removal of the packages")
def outlives(machine: Machine) -> None:
    need_fuse()
    run("tensorfs", machine.model, machine.mountpoint)
    machine.install("--reinstall")
    machine.check_mounted()
    run(*APT, "remove", *PACKAGES.values())
    check(not Path("/usr/bin/tensorfs").exists(), "the program is still there")
    machine.check_mounted()
    machine.unmount("fusermount3", "-u")


@case("nothing is left when they are purged")
def leaves_nothing(machine: Machine) -> None:
    machine.purge()
    machine.check_nothing_left()


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


def stop(number: int, _: object) -> None:
    raise SystemExit(128 + number)  # by way of all that cleans up


def run_case(test: Callable[[Machine], None], machine: Machine) -> tuple[str, str]:
    """The outcome, and what is to be said about it."""
    try:
        test(machine)
    except Skip as reason:
        return "skipped", f": {reason}"
    except Exception as error:
        traceback.print_exc()
        return "failed", f": {error}"
    return "passed", ""


def main() -> int:
    if len(sys.argv) > 1:
        print(__doc__, file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, stop)
    if why := cannot_run():
        print(f"skipped: {why}\n0 passed, 0 failed, 1 skipped")
        return 77
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with TemporaryFolder() as folder:
        machine = Machine(folder)
        try:
            for title, test in CASES:
                outcome, said = run_case(test, machine)
                counts[outcome] += 1
                print(f"{title}: {outcome}{said}", flush=True)
        finally:
            machine.clean_up()
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
