"""A real systemd as process 1 of namespaces of its own, to try units in: with this machine's programs and kernel, a
/run, /dev, /etc/tensorfs and cgroup of its own, and no unit but those that a test brings. All else is read-only."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, Optional

from checks import PATIENCE, REPOSITORY, Skip, check, need_program

UNITS = REPOSITORY / "systemd"
EXAMPLES = UNITS / "examples"
SYSTEMD = Path("/lib/systemd/systemd")
FSTAB_GENERATOR = Path("/lib/systemd/system-generators/systemd-fstab-generator")
# What units refer to without being asked, and the tests' own goal: targets without anything behind them.
TARGETS = ("basic", "final", "local-fs", "multi-user", "remote-fs", "shutdown", "sysinit", "umount")

# $1 is the folder that becomes overlays and /dev, $2 the path of units. In a container systemd leaves hardware, the
# clock and the kernel's settings alone; it writes to the console, which is nobody's here.
BOOT = r"""
set -e
mount -t proc proc /proc
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs "$1/dev"
for device in null zero full random urandom tty fuse autofs kmsg; do
    numbers=$(stat -L -c '%Hr %Lr' /dev/$device) || continue
    mknod -m 666 "$1/dev/$device" c $numbers
done
ln -s /proc/self/fd "$1/dev/fd"
ln -s null "$1/dev/console"
mount --rbind "$1/dev" /dev
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p -m 1777 /run/lock
for folder in usr/bin etc; do
    mount -t overlay -o ro,lowerdir="$1/$folder:/$folder" overlay /$folder
done
mount --bind "$1/conf" /etc/tensorfs
mount -o remount,bind,ro /
mount --make-rshared /
exec env -i container=tests PATH=/usr/sbin:/usr/bin:/sbin:/bin SYSTEMD_UNIT_PATH="$2" SYSTEMD_LOG_TARGET=null \
    /lib/systemd/systemd --system --unit=multi-user.target --show-status=no --crash-reboot=no
"""


def need_systemd(major: int = 252) -> None:
    """What is verified is what Debian 12 has."""
    need_program("systemd-analyze")
    version = subprocess.run(["systemd-analyze", "--version"], capture_output=True, text=True, check=False).stdout
    words = version.split()
    if len(words) < 2 or not words[1].isdigit() or int(words[1]) < major:
        raise Skip(f"no systemd {major}: {version!r}")


def units_of_fstab(table: Path, folder: Path) -> list[Path]:
    """What systemd makes of an fstab when it starts."""
    if not FSTAB_GENERATOR.exists():
        raise Skip(f"no {FSTAB_GENERATOR}")
    folder.mkdir()
    environment = {**os.environ, "SYSTEMD_FSTAB": str(table)}
    done = subprocess.run([FSTAB_GENERATOR, *[folder] * 3], env=environment, capture_output=True, check=False)
    said = (done.stdout + done.stderr).decode(errors="replace")
    check(done.returncode == 0, f"the generator's exit code is {done.returncode}: {said}")
    return sorted(unit for unit in folder.iterdir() if unit.suffix in (".mount", ".automount"))


def wait_until(holds: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
    deadline = time.monotonic() + patience
    while not holds():
        check(time.monotonic() < deadline, f"{what}: not within {patience} s")
        time.sleep(0.02)


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _cgroup_root() -> Path:
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        words = line.split()
        if words[words.index("-") + 1] == "cgroup2" and "rw" in words[5].split(","):
            return Path(words[4])
    raise Skip("no cgroup2 that can be written is mounted")


class Booted:
    """From `with` to its end. `folder` is the same path inside and outside."""

    def __init__(self, program: str) -> None:
        self._program = program

    def __enter__(self) -> Booted:
        need_systemd()
        for name in ("unshare", "nsenter", "pgrep", "systemctl"):
            need_program(name)
        if not SYSTEMD.exists():
            raise Skip(f"no {SYSTEMD}")
        if os.geteuid() != 0:
            raise Skip("only root can boot a systemd in namespaces")
        if not os.access("/dev/fuse", os.F_OK):
            raise Skip("no /dev/fuse")
        cgroups = _cgroup_root()
        self._temporary = tempfile.mkdtemp(prefix="tensorfs-systemd-")
        self.folder = Path(self._temporary).resolve()
        self._cgroup = cgroups / self.folder.name
        self._host: Optional[subprocess.Popen] = None
        try:
            self._make_folders()
            self._boot()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _make_folders(self) -> None:
        self.folder.chmod(0o755)
        for name in ("units", "dev", "usr/bin", "etc/tensorfs", "conf"):
            (self.folder / name).mkdir(parents=True)
        shutil.copy(self._program, self.folder / "usr/bin/tensorfs")
        self.units = self.folder / "units"
        for target in TARGETS:
            (self.units / f"{target}.target").write_text("[Unit]\nDefaultDependencies=no\n")
        self.install(UNITS / "tensorfs@.service")
        log = "append:/run/log"
        self.drop_in("tensorfs@.service", f"[Service]\nStandardOutput={log}\nStandardError={log}\n", "log")

    def _boot(self) -> None:
        try:
            self._cgroup.mkdir()
        except OSError as error:
            raise Skip(f"{self._cgroup}: {error.strerror}") from error
        # It joins the cgroup before it makes it the root of a namespace.
        join = 'echo $$ >"$0/cgroup.procs" && exec "$@"'
        namespaces = ["--mount", "--pid", "--fork", "--kill-child", "--uts", "--ipc", "--net", "--cgroup"]
        refused = subprocess.run(["unshare", *namespaces, "true"], capture_output=True, text=True, check=False)
        if refused.returncode != 0:
            raise Skip(f"no namespaces to boot a systemd in: {refused.stderr.strip()}")
        with (self.folder / "boot.log").open("wb") as log:
            self._host = subprocess.Popen(
                ["sh", "-c", join, str(self._cgroup), "unshare", *namespaces, "--propagation", "private",
                 "sh", "-c", BOOT, "boot", str(self.folder), str(self.units)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=_end_with_parent,
            )  # fmt: skip
        try:
            wait_until(self._is_booted, "systemd boots", PATIENCE / 2)
        except AssertionError as error:
            said = (self.folder / "boot.log").read_text(errors="replace")
            raise AssertionError(f"systemd does not boot: {error}\n{said}") from error

    def _is_booted(self) -> bool:
        check(self._host.poll() is None, "it has ended")
        children = subprocess.run(["pgrep", "-P", str(self._host.pid)], capture_output=True, text=True, check=False)
        if not children.stdout.strip():
            return False
        self.pid = int(children.stdout.split()[0])
        if os.readlink(f"/proc/{self.pid}/exe") != str(SYSTEMD.resolve()):
            return False
        return self.try_run("systemctl", "is-active", "-q", "multi-user.target").returncode == 0

    def __exit__(self, failure: object = None, *_: object) -> None:
        if self._host is not None:
            if failure is not None and self._host.poll() is None:
                self._tell()
            self._host.kill()  # the kernel kills what it has started, and then all of the namespace
            self._host.wait()
        deadline = time.monotonic() + PATIENCE
        while self._cgroup.exists():
            try:
                for folder, _, _ in os.walk(self._cgroup, topdown=False):
                    os.rmdir(folder)
            except OSError:  # somebody in it is still ending
                check(time.monotonic() < deadline, f"{self._cgroup} cannot be removed")
                time.sleep(0.02)
        shutil.rmtree(self._temporary, ignore_errors=True)

    def _tell(self) -> None:
        print("The log of the services:", self.log(), sep="\n", file=sys.stderr)
        status = self.try_run("systemctl", "status", "--no-pager", "-l", "tensorfs@*")
        print(status.stdout.decode(errors="replace"), file=sys.stderr)

    # --- What is inside ------------------------------------------------------------------------------

    def try_run(self, *command: object) -> subprocess.CompletedProcess:
        inside = ["nsenter", "-t", str(self.pid), "-m", "-p", "-n", "-u", "-i", "-C", "--"]
        return subprocess.run(inside + [str(word) for word in command], capture_output=True, timeout=PATIENCE * 3)

    def run(self, *command: object) -> str:
        done = self.try_run(*command)
        output = (done.stdout + done.stderr).decode(errors="replace")
        check(done.returncode == 0, f"{' '.join(map(str, command))}: exit code {done.returncode}:\n{output}")
        return done.stdout.decode()

    def at(self, path: object) -> Path:
        """A path inside, as it is seen from outside."""
        return Path(f"/proc/{self.pid}/root{path}")

    def log(self) -> str:
        file = self.at("/run/log")
        return file.read_text(errors="replace") if file.exists() else ""

    def show(self, unit: str, name: str) -> str:
        return self.run("systemctl", "show", "--value", "-p", name, unit).strip()

    def wait_for(self, unit: str, **wanted: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while (found := {name: self.show(unit, name) for name in wanted}) != wanted:
            check(time.monotonic() < deadline, f"{unit} is {found}, not {wanted}")
            time.sleep(0.02)

    def mounts_on(self, path: object) -> list[str]:
        """The types of what is mounted there, from the bottom up. Nobody looks at the path itself."""
        found = []
        for line in Path(f"/proc/{self.pid}/mountinfo").read_text().splitlines():
            words = line.split()
            if words[4].replace("\\040", " ") == str(path):
                found.append(words[words.index("-") + 1])
        return found

    # --- Units ---------------------------------------------------------------------------------------

    def install(self, unit: Path) -> None:
        shutil.copy(unit, self.units)

    def drop_in(self, unit: str, text: str, name: str = "test") -> None:
        folder = self.units / f"{unit}.d"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.conf").write_text(text)

    def configure(self, name: str, source: Path, mountpoint: Path, options: Optional[str] = None) -> str:
        """Writes /etc/tensorfs/NAME.conf, and gives the name of the unit."""
        mountpoint.mkdir(exist_ok=True)
        lines = [f'SOURCE="{source}"', f'MOUNTPOINT="{mountpoint}"']
        if options is not None:
            lines.append(f"OPTIONS={options}")
        # Where it is built with a sanitizer: to look for leaks takes ptrace, which the service may not.
        lines.append("ASAN_OPTIONS=detect_leaks=0")
        (self.folder / f"conf/{name}.conf").write_text("\n".join(lines) + "\n")
        return f"tensorfs@{name}.service"
