"""A mount behind Debian's nginx, with systemd/examples/nginx.conf, from `with` to its end."""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple, Optional

from checks import PATIENCE, REPOSITORY, Skip, check
from mounts import Mount

EXAMPLE = REPOSITORY / "systemd/examples/nginx.conf"

# What Debian's nginx.conf says around it, with all that is written below the prefix.
MAIN = """
daemon off;
{user}
worker_processes 2;
pid {prefix}/pid;
error_log {prefix}/error.log info;
events {{ worker_connections 512; }}
http {{
    access_log off;
    client_body_temp_path {prefix}/body;
    proxy_temp_path {prefix}/proxy;
    fastcgi_temp_path {prefix}/fastcgi;
    uwsgi_temp_path {prefix}/uwsgi;
    scgi_temp_path {prefix}/scgi;
    include {prefix}/example.conf;
}}
"""


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]  # by names in lower case
    body: bytes


def need_nginx() -> str:
    found = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if found is None:
        raise Skip("no nginx")
    return found


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


class Nginx:
    """`changes` to the example are from what must be in it to something else."""

    def __init__(self, mount: Mount, changes: Optional[dict[str, str]] = None) -> None:
        self._nginx = need_nginx()
        self._mount = mount
        self._changes = changes or {}

    def __enter__(self) -> Nginx:
        self._prefix = Path(tempfile.mkdtemp(prefix="tensorfs-nginx-")).resolve()
        # A worker of another user must get to the mount, as it would in /mnt.
        for folder in (self._prefix, self._mount.path.parent):
            folder.chmod(0o755)
        self._errors = self._prefix / "error.log"
        try:
            for _ in range(5):  # somebody else may take the port in between
                self.port = free_port()
                self._configure()
                if self._start():
                    return self
            check(False, f"nginx does not start:\n{self.errors()}")
        except BaseException as failure:
            self.__exit__(failure)
            raise
        return self

    def _configure(self) -> None:
        text = EXAMPLE.read_text()
        changes = {"listen 8080;": f"listen 127.0.0.1:{self.port};", "root /mnt/llama;": f"root {self._mount.path};"}
        for old, new in (changes | self._changes).items():
            check(old in text, f"{EXAMPLE.name} does not say {old}")
            text = text.replace(old, new)
        (self._prefix / "example.conf").write_text(text)
        # As Debian has it, the workers are not root's.
        user = "user nobody nogroup;" if os.geteuid() == 0 else ""
        (self._prefix / "nginx.conf").write_text(MAIN.format(prefix=self._prefix, user=user))

    def _start(self) -> bool:
        config = self._prefix / "nginx.conf"
        command = [self._nginx, "-p", str(self._prefix), "-c", str(config), "-e", str(self._errors)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + PATIENCE
        while self._process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return True
            except OSError:
                check(time.monotonic() < deadline, "nginx does not listen")
                time.sleep(0.01)
        check("Address already in use" in self.errors(), f"nginx does not start:\n{self.errors()}")
        return False

    def __exit__(self, failure: object = None, *_: object) -> None:
        process = getattr(self, "_process", None)
        if process is not None:
            if process.poll() is None:
                process.send_signal(signal.SIGQUIT if failure is None else signal.SIGTERM)
            try:
                process.wait(PATIENCE / 2)
            except subprocess.TimeoutExpired:
                process.terminate()  # its workers go with it
                process.wait()
        errors = self.errors()
        shutil.rmtree(self._prefix, ignore_errors=True)
        if failure is None:
            check(process is not None and process.returncode == 0, f"nginx ended with {process.returncode}:\n{errors}")

    def errors(self, *levels: str) -> str:
        """The lines of its log of these levels, or all."""
        text = self._errors.read_text(errors="replace") if self._errors.exists() else ""
        marks = [f"[{level}]" for level in levels]
        return "".join(line for line in text.splitlines(True) if not marks or any(mark in line for mark in marks))

    def check_quiet(self) -> None:
        found = self.errors("warn", "error", "crit", "alert", "emerg")
        check(not found, f"nginx complains:\n{found}")

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def ask(self, path: str, method: str = "GET", body: Optional[bytes] = None, **headers: str) -> Answer:
        """Names of headers have _ for -."""
        connection = self.connect()
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read())
        finally:
            connection.close()
