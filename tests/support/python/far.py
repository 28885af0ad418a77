"""Models that are far away: file servers on the loopback, and the filesystems of others that make folders of them. Each
is a process from `with` to its end, found by its id."""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Callable, Iterator

from checks import PATIENCE, check, need_fuse, need_program
from mounts import end_with_parent
from nginx import free_port, need_nginx

# A read brings what it asks for and little more. By itself, rclone reads 16 MiB ahead of whoever opens a file, and asks
# for 128 MiB at a time, of which the network brings some even if nobody reads on.
LEAN = ("--buffer-size", "0", "--vfs-read-chunk-size", "1M", "--vfs-read-chunk-size-limit", "8M")
CACHED = ("--vfs-cache-mode", "full")
# What ends soon if the server does not answer.
IMPATIENT = ("--low-level-retries", "2", "--contimeout", "3s", "--timeout", "5s", "--retries", "1")

NGINX = """
daemon off;
{user}
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log info;
events {{ worker_connections 512; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        root {root};
        autoindex on;
    }}
}}
"""

SSHD = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
PidFile none
AuthorizedKeysFile {folder}/key.pub
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
Subsystem sftp internal-sftp
"""


@contextlib.contextmanager
def running(command: list[object], log: Path, is_ready: Callable[[], bool]) -> Iterator[subprocess.Popen]:
    """A program that stays, once it is ready."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.DEVNULL, stdout=output, stderr=output, preexec_fn=end_with_parent
        )  # fmt: skip
    try:
        deadline = time.monotonic() + PATIENCE
        while not is_ready():
            said = log.read_text(errors="replace")
            check(process.poll() is None, f"{command[0]} ended with {process.returncode}: {said}")
            check(time.monotonic() < deadline, f"{command[0]} is not ready: {said}")
            time.sleep(0.02)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def listens(port: int) -> Callable[[], bool]:
    def is_ready() -> bool:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        return False

    return is_ready


@contextlib.contextmanager
def mounted(command: list[object], at: Path, log: Path) -> Iterator[Path]:
    """A filesystem that a program in the foreground mounts on `at`, which is made."""
    need_fuse()
    at.mkdir()
    try:
        with running(command, log, at.is_mount):
            yield at
    finally:
        # Not asked first whether it is one: of a mount whose program has ended, that is an error.
        subprocess.run(["fusermount3", "-u", "-z", str(at)], check=False, capture_output=True)


@contextlib.contextmanager
def nginx_server(root: Path, folder: Path) -> Iterator[int]:
    """Gives its port."""
    nginx = need_nginx()
    folder.mkdir()
    folder.chmod(0o755)
    for parent in (root, *root.parents[:-2]):
        parent.chmod(parent.stat().st_mode | 0o055)  # for a worker that is not root's
    port = free_port()
    config = folder / "nginx.conf"
    user = "user nobody nogroup;" if os.geteuid() == 0 else ""
    config.write_text(NGINX.format(folder=folder, port=port, root=root, user=user))
    command = [nginx, "-p", folder, "-c", config, "-e", folder / "error.log"]
    with running(command, folder / "log", listens(port)):
        yield port


@contextlib.contextmanager
def webdav_server(root: Path, folder: Path) -> Iterator[int]:
    rclone = need_program("rclone")
    folder.mkdir()
    port = free_port()
    command = [rclone, "serve", "webdav", root, "--addr", f"127.0.0.1:{port}", "--read-only", "--config", folder / "none"]
    with running(command, folder / "log", listens(port)):
        yield port


@contextlib.contextmanager
def ssh_server(folder: Path) -> Iterator[int]:
    """Takes the key `folder`/key for the user whose test this is."""
    sshd = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin")
    keygen = need_program("ssh-keygen")
    need_program(sshd or "sshd")
    folder.mkdir(mode=0o700)
    for key in ("host", "key"):
        subprocess.run([keygen, "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True)
    if os.geteuid() == 0:
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
    port = free_port()
    (folder / "config").write_text(SSHD.format(folder=folder, port=port))
    with running([sshd, "-D", "-e", "-f", folder / "config"], folder / "log", listens(port)):
        yield port


def rclone_http(port: int, at: Path, *options: str) -> contextlib.AbstractContextManager[Path]:
    return _rclone(":http:", ["--http-url", f"http://127.0.0.1:{port}/"], at, options)


def rclone_webdav(port: int, at: Path, *options: str) -> contextlib.AbstractContextManager[Path]:
    remote = ["--webdav-url", f"http://127.0.0.1:{port}/", "--webdav-vendor", "other"]
    return _rclone(":webdav:", remote, at, options)


def _rclone(name: str, remote: list[str], at: Path, options: tuple[str, ...]) -> contextlib.AbstractContextManager[Path]:
    rclone = need_program("rclone")
    apart = ["--config", at.with_suffix(".none"), "--cache-dir", at.with_suffix(".cache")]
    return mounted([rclone, "mount", name, at, "--read-only", *remote, *apart, *options], at, at.with_suffix(".log"))


def sshfs(port: int, keys: Path, root: Path, at: Path, *options: str) -> contextlib.AbstractContextManager[Path]:
    program = need_program("sshfs")
    known = f"IdentityFile={keys / 'key'},IdentitiesOnly=yes,UserKnownHostsFile=/dev/null,StrictHostKeyChecking=no"
    command = [program, "-f", "-p", port, f"{getpass.getuser()}@127.0.0.1:{root}", at, "-o", f"ro,{known}"]
    for option in options:
        command += ["-o", option]
    return mounted(command, at, at.with_suffix(".log"))


def httpdirfs(port: int, at: Path) -> contextlib.AbstractContextManager[Path]:
    """Without its cache, which gave wrong bytes once. Version 1.2.5 takes nginx for a server without ranges, and ends; so
    it is told not to look."""
    program = need_program("httpdirfs")
    return mounted([program, "-f", "--no-range-check", f"http://127.0.0.1:{port}/", at], at, at.with_suffix(".log"))
