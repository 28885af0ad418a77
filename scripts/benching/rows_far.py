"""The rows that read over filesystems mounted from a server on the loopback, next to reading the shard there directly."""

from __future__ import annotations

import contextlib
import functools
import itertools
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Iterator

from .bench import Bench
from .commands import PATIENCE, Failed, Skipped, end
from .figures import Line, Target
from .files import Range, whole

RCLONE = ["--read-only", "--buffer-size", "0", "--vfs-read-chunk-size", "1M", "--config", ""]
SFTP_SERVER = Path("/usr/lib/openssh/sftp-server")


def need(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise Skipped(f"there is no {name}")
    return found


@contextlib.contextmanager
def served(kind: str, folder: Path) -> Iterator[str]:
    """The URL of a folder, by rclone's own server of a kind."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen([need("rclone"), "serve", kind, folder, "--addr", f"127.0.0.1:{port}", "--config", ""],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            if process.poll() is not None or time.monotonic() > deadline:
                raise Failed(f"rclone does not serve {kind}")
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        end(process)


def mounting_by_rclone(bench: Bench, kind: str, cache: str, url: str) -> list:
    """The command, but for where to mount."""
    kind_options = ["--http-url", url] if kind == "http" else ["--webdav-url", url, "--webdav-vendor", "other"]
    folder = bench.systems.new_folder()  # nothing is there from the time before
    return ["rclone", "mount", *kind_options, *RCLONE, "--vfs-cache-mode", cache, "--cache-dir", folder, f":{kind}:"]


@contextlib.contextmanager
def far(bench: Bench, name: str) -> Iterator[Path]:
    """The folder of the model on a filesystem, freshly mounted."""
    model = bench.data.model
    if name == "sshfs":
        if not SFTP_SERVER.exists():
            raise Skipped(f"there is no {SFTP_SERVER}")
        ssh = bench.systems.new_folder() / "ssh"  # no ssh in between: what is measured is SFTP
        ssh.write_text(f"#!/bin/sh\nexec {SFTP_SERVER}\n")
        ssh.chmod(0o755)
        with bench.systems.serving(["sshfs", "-f", "-o", f"ro,ssh_command={ssh}", f"localhost:{model}"]) as disk:
            yield disk.at
        return
    kind, _, cache = name.partition(" ")
    with served(kind, model) as url:
        with bench.systems.serving(mounting_by_rclone(bench, kind, cache, url)) as disk:
            yield disk.at


def row_far(bench: Bench) -> None:
    """first read over rclone and sshfs from a server on the loopback"""
    for program in ("rclone", "sshfs"):
        need(program)
    big, stretch = bench.data.big, bench.sizes.slow_stretch
    begins = itertools.cycle(range(0, big.nbytes - stretch + 1, stretch))

    def read(filesystem: str, name: str) -> tuple:
        begin = next(begins)
        with contextlib.ExitStack() as stack:
            at = stack.enter_context(far(bench, filesystem))
            range_: Range = big._replace(file=at / big.file.name)
            if name != "native":
                range_ = whole(stack.enter_context(bench.systems.system(name, at)).at / "big/weight")
            return (1e3 * bench.client.read_speed(range_.part(begin, stretch)),)

    bench.client.warm(big)
    is_quick = bench.sizes.many_tensors is None
    for filesystem in ("http off", "sshfs") if is_quick else ("http off", "http full", "webdav off", "webdav full", "sshfs"):
        line = Line("far", f"first read over {filesystem}", "MB/s", Target("≥", 1.0))
        bench.alternate([line], ["native", "tensorfs"], functools.partial(read, filesystem))


ROWS = (row_far,)
