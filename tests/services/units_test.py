"""The units and examples are right as systemd reads them, and the service's sandbox is as tight as it may be: it
must not have a mount namespace of its own, or nobody else would see the mount."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Optional

from booted import EXAMPLES, UNITS, Booted, need_systemd, units_of_fstab
from checks import check, check_equal

# The directives that make a mount namespace, and a value with which that can be seen.
MAKES_NAMESPACE: dict[str, Optional[str]] = {
    "BindPaths": "/usr:/mnt", "BindReadOnlyPaths": "/usr:/mnt", "DynamicUser": "yes", "ExecPaths": "/usr",
    "ExtensionDirectories": None, "ExtensionImages": None, "IPCNamespacePath": "/proc/1/ns/ipc",
    "InaccessiblePaths": "/mnt", "LogNamespace": None, "MountFlags": "slave", "MountImages": None,
    "NoExecPaths": "/mnt", "PrivateDevices": None, "PrivateIPC": "yes", "PrivateMounts": "yes", "PrivateTmp": "yes",
    "ProcSubset": "pid", "ProtectControlGroups": "yes", "ProtectHome": "yes", "ProtectKernelLogs": "yes",
    "ProtectKernelModules": "yes", "ProtectKernelTunables": "yes", "ProtectProc": "invisible", "ProtectSystem": "yes",
    "ReadOnlyPaths": "/mnt", "ReadWritePaths": "/mnt", "RootDirectory": None, "RootImage": None,
    "TemporaryFileSystem": "/mnt",
}  # fmt: skip
# Those that would take the right to mount on the host away, or do so in later versions (for /sys).
ALSO_NOT = {"JoinsNamespaceOf", "NetworkNamespacePath", "PrivateNetwork", "PrivateUsers", "User"}
# In a user's manager, what needs a seccomp filter turns NoNewPrivileges= on.
IMPLIES_NO_NEW_PRIVILEGES = {
    "LockPersonality", "MemoryDenyWriteExecute", "ProtectClock", "ProtectHostname", "RestrictAddressFamilies",
    "RestrictFileSystems", "RestrictNamespaces", "RestrictRealtime", "RestrictSUIDSGID", "SystemCallArchitectures",
    "SystemCallFilter", "SystemCallLog",
}  # fmt: skip

# What the service's sandbox lets a process do. Each line of `tries` must succeed without the sandbox.
PROBE = r"""
import ctypes, json, mmap, os, socket

libc = ctypes.CDLL(None, use_errno=True)

def call(name, *arguments):
    if getattr(libc, name)(*arguments) == -1:
        raise OSError(ctypes.get_errno(), name)

tries = {
    "fuse": lambda: os.open("/dev/fuse", os.O_RDWR),
    "kmsg": lambda: os.open("/dev/kmsg", os.O_RDONLY),
    "unix": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM),
    "inet": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "hostname": lambda: socket.sethostname("other"),
    "mount": lambda: call("mount", b"tmpfs", b"/run/probe", b"tmpfs", 0, None),
    "umount": lambda: call("umount2", b"/run/probe", 0),
    "others' files": lambda: os.listdir("/run/private"),
    "chown": lambda: os.chown("/run/probe", 7, 7),
    "setuid bit": lambda: os.chmod("/run/probe", 0o4755),
    "chroot": lambda: os.chroot("/"),
    "namespace": lambda: call("unshare", 0x00020000),
    "writable code": lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC),
    "personality": lambda: call("personality", 0x0040000),
    "realtime": lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
    "setuid": lambda: os.setuid(7),
}
os.makedirs("/run/probe", exist_ok=True)
found = {"namespace of mounts": os.readlink("/proc/self/ns/mnt")}
for name, attempt in tries.items():
    try:
        attempt()
        found[name] = True
    except OSError:
        found[name] = False
status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines())
found["status"] = {name: status[name].strip() for name in ("NoNewPrivs", "CapBnd", "Seccomp", "Umask")}
print(json.dumps(found))
"""
ALLOWED = {"fuse", "unix", "mount", "umount", "others' files"}
CAPABILITIES = 1 << 21 | 1 << 2  # CAP_SYS_ADMIN, CAP_DAC_READ_SEARCH


def directives(unit: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in unit.read_text().replace("\\\n", " ").splitlines():
        if match := re.match(r"(\w+)=(.*)", line):
            found.setdefault(match[1], []).append(match[2].strip())
    return found


def verify(folder: Path, program: str, *units: Path, manager: str = "--system") -> None:
    """`folder` is for copies that run a program which is there."""
    names = []
    for unit in units:
        text = unit.read_text().replace("/usr/bin/tensorfs", program)
        check(unit.suffix != ".service" or program in text, f"{unit}: it does not run /usr/bin/tensorfs")
        copy = folder / unit.name.replace("@.", "@some-model.")
        copy.write_text(text)
        names.append(str(copy))
    done = subprocess.run(
        ["systemd-analyze", "verify", manager, "--man=no", "--recursive-errors=yes", *names], capture_output=True,
        text=True, env={**os.environ, "XDG_RUNTIME_DIR": str(folder), "SYSTEMD_LOG_LEVEL": "warning"}, check=False,
    )  # fmt: skip
    output = done.stdout + done.stderr
    check(done.returncode == 0 and not output.strip(), f"systemd-analyze verify: {done.returncode}\n{output}")


def test_verified(program: str, folder: Path) -> None:
    """units: systemd-analyze verifies the services and the examples"""
    need_systemd()
    services = (UNITS / "tensorfs@.service", UNITS / "user/tensorfs@.service")
    examples = sorted([*EXAMPLES.glob("*.mount"), *EXAMPLES.glob("*.automount")])
    check_equal(len(examples), 2, "examples of units")
    for manager, names in (("--system", [services[0], *examples]), ("--user", [services[1]])):
        (folder / manager).mkdir()
        verify(folder / manager, program, *names, manager=manager)
    for unit in (*services, *examples):
        for page in directives(unit).get("Documentation", []):
            check_equal(page, "man:tensorfs(1)", f"{unit.name}: what it names")
    # what is wrong is said
    unit = folder / "tensorfs@.service"
    unit.write_text(services[0].read_text().replace("TasksMax=", "TaskMax="))
    (folder / "copy").mkdir()
    try:
        verify(folder / "copy", program, unit)
    except AssertionError as error:
        check("TaskMax" in str(error), f"it says: {error}")
    else:
        check(False, "a directive that does not exist is not noticed")


def test_fstab(program: str, folder: Path) -> None:
    """units: systemd makes the mounts of fstab.example"""
    need_systemd()
    units = units_of_fstab(EXAMPLES / "fstab.example", folder / "made")
    names = [unit.name for unit in units]
    wanted = ["mnt-draft.mount", "mnt-llama.mount", "mnt-mixtral.automount", "mnt-mixtral.mount"]
    check_equal(names, wanted, "units")
    found = {unit.name: directives(unit) for unit in units}
    check_equal(found["mnt-draft.mount"]["What"], ["/models/draft model"], "a source with a space")
    check_equal(found["mnt-llama.mount"]["RequiresMountsFor"], ["/models"], "what it waits for")
    check_equal(found["mnt-mixtral.mount"]["RequiresMountsFor"], ["/cluster"], "what it waits for")
    check_equal(found["mnt-mixtral.automount"]["TimeoutIdleSec"], ["1h"], "idle")
    verify(folder, program, *units)


def test_no_namespace() -> None:
    """units: no directive of the service makes a mount namespace"""
    system, user = (directives(UNITS / name) for name in ("tensorfs@.service", "user/tensorfs@.service"))
    for unit, forbidden in (
        (system, MAKES_NAMESPACE.keys() | ALSO_NOT),
        (user, MAKES_NAMESPACE.keys() | ALSO_NOT | IMPLIES_NO_NEW_PRIVILEGES),
    ):
        check_equal(sorted(unit.keys() & forbidden), [], "directives that must not be there")
    check_equal(user["NoNewPrivileges"], ["no"], "the user's NoNewPrivileges=")
    for name in (
        "Type", "NotifyAccess", "ExecStart", "ExecReload", "WatchdogSec", "Restart", "RestartPreventExitStatus",
        "StartLimitBurst", "TimeoutStartSec", "TimeoutStopSec", "KillMode", "LimitNOFILE",
    ):  # fmt: skip
        check_equal(user[name], system[name], f"the user's {name}=")


def test_namespaces(systemd: Booted) -> None:
    """units: the directives that are said to make a mount namespace do"""
    tried = {name: value for name, value in MAKES_NAMESPACE.items() if value is not None}
    for name, value in tried.items():
        (systemd.units / f"probe-{name}.service").write_text(
            f"[Service]\nType=oneshot\nStandardOutput=file:/run/probe-{name}\n"
            f"ExecStart=/bin/readlink /proc/self/ns/mnt\n{name}={value}\n"
        )
    systemd.run("systemctl", "daemon-reload")
    host = os.readlink(systemd.at("/proc/1/ns/mnt"))
    for name in tried:
        systemd.run("systemctl", "start", f"probe-{name}.service")
        found = systemd.at(f"/run/probe-{name}").read_text().strip()
        check(found.startswith("mnt:"), f"{name}=: {found!r}")
        check(found != host, f"{name}= makes no mount namespace")


def test_sandbox(program: str, systemd: Booted) -> None:
    """units: the service's sandbox takes away what mounting does not need"""
    probe = systemd.folder / "probe.py"
    probe.write_text(PROBE)
    systemd.run("install", "-d", "-m", "700", "-o", "7", "/run/private")
    # The same program in the service's sandbox and in none.
    command = f"ExecStart={shutil.which('python3', path='/usr/bin') or sys.executable} -B {probe}\n"
    common = "Type=oneshot\nStandardError=append:/run/log\n"
    (systemd.units / "free.service").write_text(
        f"[Service]\n{common}{command}StandardOutput=file:/run/free\n"
    )
    systemd.drop_in(
        "tensorfs@probe.service",
        f"[Service]\n{common}ExecStart=\n{command}ExecReload=\nExecStop=\nExecStopPost=\n"
        "Restart=no\nWatchdogSec=0\nStandardOutput=file:/run/sandboxed\n",
    )
    systemd.configure("probe", systemd.folder, systemd.folder / "at")
    systemd.run("systemctl", "daemon-reload")
    for unit in ("free.service", "tensorfs@probe.service"):
        systemd.run("systemctl", "start", unit)
    free, found = (json.loads(systemd.at(path).read_text()) for path in ("/run/free", "/run/sandboxed"))
    tries = {name for name, value in free.items() if isinstance(value, bool)}
    check_equal({name for name in tries if not free[name]}, set(), "what cannot be done even without the sandbox")
    check_equal({name for name in tries if found[name]}, ALLOWED, "what the sandbox allows")
    check_equal(found["namespace of mounts"], free["namespace of mounts"], "the mount namespace")
    check_equal(int(found["status"]["CapBnd"], 16), CAPABILITIES, "capabilities")
    status = [found["status"][name] for name in ("NoNewPrivs", "Seccomp", "Umask")]
    check_equal(status, ["1", "2", "0077"], "no new privileges, a filter of system calls, umask")
