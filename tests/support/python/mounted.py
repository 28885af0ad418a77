"""What the consumers' tests share: models written by hand, mounts of them, and cases.

A program here is `PROGRAM.py TENSORFS [TITLE...]`: it runs the cases of these titles, or all. It exits
with 0 if all passed, 1 if one failed, and 4 if one was skipped because something is missing, which it
says. CMake makes each line that begins with `@case(` a test of its own.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import math
import mmap
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Callable, Iterable, NamedTuple, Optional

REPOSITORY = Path(__file__).resolve().parents[3]
PATIENCE = 60  # seconds; a machine that is busy with other tests is slow

# Every element type, and its bits.
BITS = {
    "BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32,
    "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64,
}  # fmt: skip


class Skip(Exception):
    """What a case needs is missing; the message says what."""


def check(holds: bool, message: str) -> None:
    """Like assert, but also where Python is told to optimize."""
    if not holds:
        raise AssertionError(message)


def check_equal(found: object, wanted: object, what: str) -> None:
    def short(value: object) -> str:
        text = repr(value)
        return text if len(text) < 200 else text[:200] + "…"

    check(found == wanted, f"{what}: {short(found)}, not {short(wanted)}")


def need(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise Skip(f"no {module} for {sys.executable}: {error}") from error


def need_program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise Skip(f"no {name}")
    return found


def need_data(name: str) -> Path:
    """A file of the test data that is kept outside the project."""
    path = Path(os.environ.get("TENSORFS_TEST_DATA", REPOSITORY.parent / "shared")) / name
    if not path.exists():
        raise Skip(f"no test data: {path}")
    return path


def run(*command: object, expect: int = 0) -> str:
    """What a program prints."""
    done = subprocess.run([str(word) for word in command], capture_output=True, timeout=PATIENCE * 3)
    output = (done.stdout + done.stderr).decode(errors="replace")
    check(done.returncode == expect, f"{' '.join(map(str, command))}: exit code {done.returncode}:\n{output}")
    return done.stdout.decode()


# --- Models ---------------------------------------------------------------------------------------


class Tensor(NamedTuple):
    name: str
    dtype: str
    shape: tuple[int, ...]
    data: bytes = b""

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * BITS[self.dtype] // 8


def random_tensor(name: str, dtype: str, shape: tuple[int, ...], seed: int = 0) -> Tensor:
    empty = Tensor(name, dtype, shape)
    return empty._replace(data=random.Random(f"{name} {seed}").randbytes(empty.nbytes))


def every_pattern(name: str, dtype: str) -> Tensor:
    """All values of a type of up to 16 bits, in order."""
    bits = BITS[dtype]
    count = 1 << bits
    if bits == 16:
        data = struct.pack(f"<{count}H", *range(count))
    elif bits == 8:
        data = bytes(range(count))
    else:  # packed from the lowest bit up
        packed = sum(code << (bits * place) for place, code in enumerate(range(count)))
        data = packed.to_bytes(count * bits // 8, "little")
    return Tensor(name, dtype, (count,), data)


def header(tensors: Iterable[Tensor], metadata: Optional[dict[str, str]] = None, odd: bool = False) -> bytes:
    """The length and the JSON. `odd` lets the data begin at an odd place, where nothing is aligned."""
    entries: dict = {} if metadata is None else {"__metadata__": metadata}
    at = 0
    for tensor in tensors:
        end = at + tensor.nbytes
        entries[tensor.name] = {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8 + odd)
    return struct.pack("<Q", len(text)) + text


def write_shard(
    path: Path, tensors: list[Tensor], metadata: Optional[dict[str, str]] = None, odd: bool = True
) -> Path:
    for tensor in tensors:
        check_equal(len(tensor.data), tensor.nbytes, f"the test's own tensor {tensor.name}")
    path.write_bytes(header(tensors, metadata, odd) + b"".join(tensor.data for tensor in tensors))
    return path


def write_sparse(path: Path, tensors: list[Tensor]) -> dict[str, int]:
    """A shard that takes no disk space. Gives each tensor's place in it, to write some bytes there."""
    text = header(tensors)
    places = {}
    at = len(text)
    for tensor in tensors:
        places[tensor.name] = at
        at += tensor.nbytes
    path.write_bytes(text)
    os.truncate(path, at)
    return places


def write_at(path: Path, offset: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def make_model(*arguments: object) -> None:
    """scripts/make-model"""
    run(sys.executable, REPOSITORY / "scripts" / "make-model", *arguments)


# --- Reading --------------------------------------------------------------------------------------


def read_at(path: Path, offset: int, nbytes: int) -> bytes:
    """By as many requests as the kernel likes."""
    with path.open("rb", buffering=0) as file:
        parts = []
        while nbytes > 0 and (part := os.pread(file.fileno(), nbytes, offset)):
            parts.append(part)
            offset += len(part)
            nbytes -= len(part)
        return b"".join(parts)


def read_directly(path: Path, offset: int, nbytes: int) -> bytes:
    """By one call of O_DIRECT: a request of that size, and nothing from the kernel's cache."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        with mmap.mmap(-1, nbytes) as buffer:
            return buffer[: os.preadv(descriptor, [buffer], offset)]
    finally:
        os.close(descriptor)


def entry_offset(archive: Path, entry: zipfile.ZipInfo) -> int:
    """Where the bytes of a stored file begin in a zip archive."""
    fixed = read_at(archive, entry.header_offset, 30)
    check_equal(fixed[:4], b"PK\3\4", f"{entry.filename}: its local header")
    name, extra = struct.unpack("<2H", fixed[26:])
    return entry.header_offset + 30 + name + extra


# --- Mounts ---------------------------------------------------------------------------------------


class TemporaryFolder(tempfile.TemporaryDirectory):
    def __init__(self) -> None:
        super().__init__(prefix="tensorfs-consumers-")

    def __enter__(self) -> Path:
        return Path(super().__enter__()).resolve()


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


class Mount:
    """A mount of SOURCE, by a daemon that is this process's child, from `with` to its end."""

    def __init__(self, program: str, source: Path, *options: str) -> None:
        self._command = [program, "-f", str(source)]
        self._options = list(options)

    def __enter__(self) -> Mount:
        try:
            os.close(os.open("/dev/fuse", os.O_RDWR))
        except OSError as error:
            raise Skip(f"/dev/fuse cannot be opened: {error.strerror}") from error
        self._folder = tempfile.mkdtemp(prefix="tensorfs-consumers-")
        self.path = Path(self._folder).resolve() / "mnt"
        self.path.mkdir()
        self.log = Path(self._folder) / "log"
        with self.log.open("wb") as log:
            self.daemon = subprocess.Popen(
                [*self._command, str(self.path), *self._options], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=_end_with_parent,
            )  # fmt: skip
        try:
            deadline = time.monotonic() + PATIENCE
            while not self._answers():
                ended = self.daemon.poll() is not None
                check(not ended, f"it does not mount: {self.log.read_text(errors='replace')}")
                check(time.monotonic() < deadline, "the mount does not answer")
                time.sleep(0.002)
        except BaseException as failure:
            self.__exit__(failure)
            raise
        return self

    def __exit__(self, failure: object = None, *_: object) -> None:
        lived = self.daemon.poll() is None
        if lived:
            self.daemon.terminate()  # the program unmounts by itself
        try:
            self.daemon.wait(PATIENCE / 2)
        except subprocess.TimeoutExpired:
            pass
        if self.path.is_mount():
            subprocess.run(["fusermount3", "-u", "-z", str(self.path)], check=False)
        if self.daemon.poll() is None:
            self.daemon.kill()
            self.daemon.wait()
        log = self.log.read_text(errors="replace")
        shutil.rmtree(self._folder, ignore_errors=True)
        if failure is None:  # else that is what is told of
            check(lived and self.daemon.returncode == 0, f"the daemon ended with {self.daemon.returncode}:\n{log}")

    def _answers(self) -> bool:
        try:
            return self.path.is_mount() and self.hidden.is_dir()
        except OSError:
            return False

    @property
    def hidden(self) -> Path:
        return self.path / ".tensorfs"

    @property
    def npy(self) -> Path:
        return self.hidden / "npy"

    @property
    def f32(self) -> Path:
        return self.hidden / "f32"

    @property
    def merged(self) -> Path:
        return self.hidden / "model.safetensors"

    @property
    def checkpoint(self) -> Path:
        return self.hidden / "pytorch_model.bin"

    def check_lives(self) -> None:
        check(self.daemon.poll() is None, f"the daemon has ended: {self.log.read_text(errors='replace')}")
        json.loads(os.getxattr(self.path, "user.tensorfs.stats"))

    def cpu_seconds(self) -> tuple[float, float]:
        """Of the daemon: in user space, and in the kernel."""
        fields = Path(f"/proc/{self.daemon.pid}/stat").read_text().rpartition(")")[2].split()
        ticks = os.sysconf("SC_CLK_TCK")
        return int(fields[11]) / ticks, int(fields[12]) / ticks


# --- Cases ----------------------------------------------------------------------------------------

_cases: dict[str, Callable[[str], None]] = {}


def case(title: str) -> Callable[[Callable[[str], None]], Callable[[str], None]]:
    """A test: a function of the path of the program tensorfs."""

    def add(function: Callable[[str], None]) -> Callable[[str], None]:
        _cases[title] = function
        return function

    return add


def _stop(number: int, _: object) -> None:
    raise SystemExit(128 + number)  # by way of all that cleans up


def main() -> int:
    signal.signal(signal.SIGTERM, _stop)
    if len(sys.argv) < 2 or not all(title in _cases for title in sys.argv[2:]):
        print(f"usage: {sys.argv[0]} TENSORFS [TITLE...]", *_cases, sep="\n  ", file=sys.stderr)
        return 1
    program = os.path.abspath(sys.argv[1])
    codes = set()
    for title in sys.argv[2:] or _cases:
        try:
            _cases[title](program)
            print(f"{title}: passed")
        except Skip as reason:
            print(f"{title}: skipped: {reason}")
            codes.add(4)
        except Exception as error:
            traceback.print_exc()
            print(f"{title}: failed: {error}")
            codes.add(1)
    return min(codes, default=0)
