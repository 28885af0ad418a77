"""What a mount logs, and where to: standard error in the foreground, syslog as a daemon, the journal in a service."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

from booted import Booted, wait_until
from checks import PATIENCE, TemporaryFolder, check, check_equal
from models import Tensor, write_shard
from mounts import Mount

SECRET = b"the bytes of a tensor are nobody's business but its readers'"
ERROR, INFO = 3, 6  # as syslog numbers them
DAEMON = 3 << 3  # and its facility


def make_model(folder: Path) -> Path:
    return write_shard(folder / "model.safetensors", [Tensor("secret", "U8", (len(SECRET),), SECRET)])


class Listener:
    """A socket that takes messages as syslog does, each a datagram."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        self._socket.settimeout(PATIENCE)

    def next(self) -> str:
        return self._socket.recv(1 << 16).decode()


def use(at: Path, model: Path) -> None:
    """Reads, and has something go wrong: a shard is cut short."""
    check_equal((at / "secret").read_bytes(), SECRET, "bytes")
    os.truncate(model, model.stat().st_size - 1)
    try:
        (at / ".tensorfs/flat/secret").read_bytes()
        check(False, "a shard that was cut short is read")
    except OSError:
        pass


def check_events(lines: list[tuple[int, str]], at: Path, model: Path) -> None:
    """From the mount to its end, a line an event."""
    wanted = [
        (INFO, f"{at}: mounted {model}: 1 tensor in 1 shard, {len(SECRET)} bytes"),
        (ERROR, f"{model}: it was changed since it was mounted: reading it gives input/output errors"),
        (INFO, f"{at}: unmounted"),
    ]
    check_equal(lines, wanted, "what is logged")
    check(all(SECRET[:10].decode() not in text for _, text in lines), "a tensor's bytes are logged")


def test_to_syslog(systemd: Booted) -> None:
    """log: a daemon logs to syslog, with levels, a line an event, and no tensor's bytes"""
    listener = Listener(systemd.at("/dev/log"))
    model, at = make_model(systemd.folder), systemd.folder / "at"
    at.mkdir()
    systemd.run("tensorfs", model, at)
    use(systemd.at(at), model)
    systemd.run("umount", at)
    events = []
    while not events or not events[-1][1].endswith("unmounted"):
        message = listener.next()
        found = re.fullmatch(r"<(\d+)>.{15} tensorfs\[\d+\]: (.*)", message)
        check(found is not None, f"a message to syslog is {message!r}")
        check_equal(int(found[1]) & ~7, DAEMON, "facility")
        events.append((int(found[1]) & 7, found[2]))
    check_events(events, at, model)


def test_to_journal(systemd: Booted) -> None:
    """log: where standard error is the journal, lines begin with their levels as it reads them"""
    model, at = make_model(systemd.folder), systemd.folder / "at"
    at.mkdir()
    stream = "exec 2>/run/stderr; export JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2); exec "
    systemd.run("sh", "-c", f'({stream} tensorfs -f "$@") >/dev/null </dev/null &', "sh", model, at)
    log = systemd.at("/run/stderr")
    wait_until(lambda: systemd.mounts_on(at) != [] and "mounted" in log.read_text(), "it is mounted")
    use(systemd.at(at), model)
    systemd.run("umount", at)
    wait_until(lambda: log.read_text().endswith("unmounted\n"), "it is unmounted")
    lines = re.findall(r"^<(\d)>(.*)$", log.read_text(), re.MULTILINE)
    check_events([(int(level), text) for level, text in lines], at, model)
    check_equal(len(lines), log.read_text().count("\n"), "lines with a level")


def levels_in(text: str) -> list[str]:
    return re.findall(r"^tensorfs: (\w+): .+$", text, re.MULTILINE)


def test_levels(program: str) -> None:
    """log: each level leaves out what is less grave, and -d shows requests"""
    for options, wanted in (
        (["-o", "log=error"], {"error"}),
        (["-o", "log=warning"], {"error"}),
        (["-o", "log=info"], {"error", "info"}),
        ([], {"error", "info"}),
        (["-d", "-o", "log=error"], {"error", "info", "debug"}),
    ):
        with TemporaryFolder() as folder:
            model = make_model(folder)
            with Mount(program, model, *options) as mount:
                use(mount.path, model)
                # Who reads may be quicker than who says that it is mounted.
                wait_until(lambda: set(levels_in(mount.log.read_text())) >= wanted, f"{options}: it logs {wanted}")
                text = mount.log.read_text()
        found = levels_in(text)
        check_equal(len(found), len(text.splitlines()), f"{options}: lines with a level in\n{text}")
        check_equal(set(found), wanted, f"{options}: levels in\n{text}")
        check_equal("opcode: READ (" in text, "debug" in wanted, f"{options}: requests")
        check(SECRET[:10].decode() not in text, f"{options}: a tensor's bytes are logged:\n{text}")
