"""A mounted model by HTTP, with the example's configuration of nginx: whole files, ranges, views, and what is wrong."""

from __future__ import annotations

import email
import http.client
import json
import os
import random
import signal
import struct
import threading
import time
from email.utils import formatdate
from pathlib import Path
from typing import Iterator

from checks import PATIENCE, TemporaryFolder, check, check_equal
from models import Tensor, random_tensor, write_shard
from mounts import Mount
from nginx import Answer, Nginx

MEBIBYTE = 1 << 20
BIG = 3 * MEBIBYTE + 17
SENDFILE = ({}, {"sendfile on;": "sendfile off;"})


def options() -> list[str]:
    """nginx's workers are not root's, where this is root."""
    return ["-o", "allow_other"] if os.geteuid() == 0 else []


class Model:
    """Two shards, `a.big` and `a.b` in the first, mounted."""

    def __init__(self, program: str, folder: Path, seed: int = 0) -> None:
        self.folder = folder
        self.write(seed)
        self.mount = Mount(program, folder, *options())

    def write(self, seed: int, age: int = 1000) -> None:
        """By rename, as who publishes a new model does, with other times."""
        self.first = [random_tensor("a.big", "U8", (BIG,), seed), random_tensor("a.b", "BF16", (10, 3), seed)]
        self.second = [random_tensor("c", "F32", (100, 100), seed), Tensor("empty", "F32", (0, 4))]
        for name, tensors in (("first", self.first), ("second", self.second)):
            shard = write_shard(self.folder / f"{name}.new", tensors).rename(self.folder / f"{name}.safetensors")
            os.utime(shard, (time.time() - age,) * 2)

    @property
    def tensors(self) -> list[Tensor]:
        return self.first + self.second

    @property
    def big(self) -> bytes:
        return self.first[0].data


def url(tensor: Tensor) -> str:
    return "/" + tensor.name.replace(".", "/")


def check_whole(answer: Answer, data: bytes, what: str) -> None:
    check_equal(answer.status, 200, f"{what}: status")
    check_equal(answer.headers["content-length"], str(len(data)), f"{what}: length")
    check(answer.body == data, f"{what}: bytes")


def check_part(answer: Answer, data: bytes, begin: int, end: int, what: str) -> None:
    check_equal(answer.status, 206, f"{what}: status")
    check_equal(answer.headers["content-range"], f"bytes {begin}-{end - 1}/{len(data)}", f"{what}: range")
    check(answer.body == data[begin:end], f"{what}: bytes")


def parts_of(answer: Answer) -> Iterator[tuple[str, bytes]]:
    """The parts of multipart/byteranges: their ranges and bytes."""
    message = email.message_from_bytes(
        f"Content-Type: {answer.headers['content-type']}\r\n\r\n".encode() + answer.body,
    )
    for part in message.get_payload():
        yield part["Content-Range"], part.get_payload(decode=True)


def test_whole(program: str, folder: Path) -> None:
    """nginx: whole files, their length, and nothing but reading"""
    model = Model(program, folder)
    with model.mount as mount:
        for changes in SENDFILE:
            with Nginx(mount, changes) as nginx:
                for tensor in model.tensors:
                    answer = nginx.ask(url(tensor))
                    check_whole(answer, tensor.data, tensor.name)
                    check_equal(answer.headers["content-type"], "application/octet-stream", "type")
                    check_equal(answer.headers["cache-control"], "no-cache", "how long it may be kept")
                    check_equal(answer.headers["accept-ranges"], "bytes", "ranges")
                    head = nginx.ask(url(tensor), "HEAD")
                    same = ("content-length", "etag", "last-modified")
                    check_equal(head.body, b"", "what HEAD answers")
                    for name in same:
                        check_equal(head.headers[name], answer.headers[name], f"{name} by HEAD")
                modified = formatdate(int((mount.path / "c").stat().st_mtime), usegmt=True)
                check_equal(nginx.ask("/c").headers["last-modified"], modified, "date")
                nginx.check_quiet()
                for method in ("PUT", "POST", "DELETE", "PATCH", "MKCOL", "MOVE"):
                    status = nginx.ask("/c", method, b"x").status
                    check(status in (403, 405), f"{method}: {status}")
                for path in ("/a/none", "/c/none", "/a/big/"):
                    check_equal(nginx.ask(path).status, 404, path)
                check_equal(nginx.ask("/../etc/passwd").status, 400, "a path out of the mount")
                check_whole(nginx.ask("/c"), model.second[0].data, "afterwards")


def test_ranges(program: str, folder: Path) -> None:
    """nginx: ranges, single and several, and those that cannot be"""
    model = Model(program, folder)
    data = model.big
    spans = {
        "0-0": (0, 1), "0-99": (0, 100), "-1": (BIG - 1, BIG), "-4097": (BIG - 4097, BIG),
        f"{BIG - 1}-": (BIG - 1, BIG), f"{MEBIBYTE - 3}-{MEBIBYTE + 3}": (MEBIBYTE - 3, MEBIBYTE + 4),
        f"{MEBIBYTE - 1}-{3 * MEBIBYTE}": (MEBIBYTE - 1, 3 * MEBIBYTE + 1), f"7-{BIG * 9}": (7, BIG),
        f"-{BIG * 2}": (0, BIG),
    }  # fmt: skip
    for changes in SENDFILE:
        with model.mount as mount, Nginx(mount, changes) as nginx:  # mounted anew: nothing is cached
            for span, (begin, end) in spans.items():
                check_part(nginx.ask("/a/big", Range=f"bytes={span}"), data, begin, end, span)
            several = nginx.ask("/a/big", Range=f"bytes=0-9,{MEBIBYTE - 5}-{2 * MEBIBYTE + 4},-8")
            check_equal(several.status, 206, "several ranges: status")
            wanted = [(f"bytes {begin}-{end - 1}/{BIG}", data[begin:end]) for begin, end in
                      ((0, 10), (MEBIBYTE - 5, 2 * MEBIBYTE + 5), (BIG - 8, BIG))]  # fmt: skip
            check(list(parts_of(several)) == wanted, "several ranges: parts")
            for path, span in (("/a/big", f"{BIG}-"), ("/a/big", f"{BIG}-{BIG + 5}"), ("/a/b", "100-")):
                answer = nginx.ask(path, Range=f"bytes={span}")
                check_equal(answer.status, 416, f"{span}: status")
                size = BIG if path == "/a/big" else len(model.first[1].data)
                check_equal(answer.headers["content-range"], f"bytes */{size}", f"{span}: range")
            nginx.check_quiet()


def test_conditions(program: str, folder: Path) -> None:
    """nginx: conditions by ETag and date"""
    model = Model(program, folder)
    with model.mount as mount, Nginx(mount) as nginx:
        known = nginx.ask("/a/big", "HEAD").headers
        etag, date = known["etag"], known["last-modified"]
        span = {"Range": "bytes=5-9"}
        for right in (etag, date):
            check_part(nginx.ask("/a/big", **span, If_Range=right), model.big, 5, 10, f"If-Range: {right}")
        for wrong in ('"other"', formatdate(0, usegmt=True)):
            check_whole(nginx.ask("/a/big", **span, If_Range=wrong), model.big, f"If-Range: {wrong}")
        check_equal(nginx.ask("/a/big", If_None_Match=etag)[::2], (304, b""), "If-None-Match")
        check_equal(nginx.ask("/a/big", If_Modified_Since=date)[::2], (304, b""), "If-Modified-Since")
        check_whole(nginx.ask("/a/big", If_None_Match='"other"'), model.big, "If-None-Match, other")
        check_equal(nginx.ask("/a/big", If_Match='"other"').status, 412, "If-Match, other")
        nginx.check_quiet()


def test_views(program: str, folder: Path) -> None:
    """nginx: folders are listed, views are there, and loaders by range get one tensor"""
    model = Model(program, folder)
    with model.mount as mount, Nginx(mount) as nginx:
        listing = nginx.ask("/").body.decode()
        for name in ('"a/"', '"c"', '"empty"'):
            check(f"<a href={name}>" in listing, f"{name} is not listed:\n{listing}")
        check(".tensorfs" not in listing, "what is hidden is listed")
        for path in ("/.tensorfs/", "/.tensorfs/index.html"):  # the page is what the folder shows
            page = nginx.ask(path)
            check_equal(page.headers["content-type"], "text/html", f"{path}: type")
            check('id="tensors-data"' in page.body.decode(), f"{path} is not the page")
        tensors = nginx.ask("/.tensorfs/tensors.json")
        check_equal(tensors.headers["content-type"], "application/json", "type of .json")
        check_equal(len(json.loads(tensors.body)), len(model.tensors), "tensors")
        array = nginx.ask("/.tensorfs/npy/c.npy").body
        check_equal(array, (mount.npy / "c.npy").read_bytes(), "c.npy")
        check(array.startswith(b"\x93NUMPY") and array.endswith(model.second[0].data), "c.npy is no array")
        # As a loader over HTTP does: the header's length, the header, and what it says of a tensor.
        path = "/.tensorfs/model.safetensors"
        (length,) = struct.unpack("<Q", nginx.ask(path, Range="bytes=0-7").body)
        header = json.loads(nginx.ask(path, Range=f"bytes=8-{7 + length}").body)
        for tensor in model.tensors:
            check_equal(tuple(header[tensor.name]["shape"]), tensor.shape, f"{tensor.name}: shape")
            begin, end = (8 + length + at for at in header[tensor.name]["data_offsets"])
            if begin < end:
                data = nginx.ask(path, Range=f"bytes={begin}-{end - 1}").body
                check(data == tensor.data, f"{tensor.name}: bytes")
        nginx.check_quiet()


def test_many(program: str, folder: Path) -> None:
    """nginx: many clients at once"""
    clients, requests = 16, 40
    model = Model(program, folder)
    with model.mount as mount, Nginx(mount) as nginx:
        faults: list[str] = []

        def ask(seed: int) -> None:
            places = random.Random(seed)
            connection = nginx.connect()
            try:
                for _ in range(requests):  # by one connection
                    tensor = places.choice([tensor for tensor in model.tensors if tensor.data])
                    begin = places.randrange(len(tensor.data))
                    end = places.randint(begin + 1, len(tensor.data))
                    connection.request("GET", url(tensor), headers={"Range": f"bytes={begin}-{end - 1}"})
                    answer = connection.getresponse()
                    if answer.read() != tensor.data[begin:end] or answer.status != 206:
                        faults.append(f"{tensor.name}, {begin} to {end}: status {answer.status}")
            except (OSError, http.client.HTTPException) as error:
                faults.append(repr(error))
            finally:
                connection.close()

        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE * 3)
        check_equal(faults, [], "faults")
        nginx.check_quiet()
        mount.check_lives()


def test_damaged(program: str) -> None:
    """nginx: a damaged shard gives an error and no other bytes, and all else goes on"""
    for changes in SENDFILE:
        with TemporaryFolder() as folder:
            model = Model(program, folder)
            with model.mount as mount, Nginx(mount, changes) as nginx:
                shard = folder / "first.safetensors"
                os.truncate(shard, shard.stat().st_size // 2)
                for span in ("0-99", f"{BIG - 100}-{BIG - 1}", f"0-{BIG - 1}"):
                    try:
                        answer = nginx.ask("/a/big", Range=f"bytes={span}")
                    except (http.client.HTTPException, ConnectionError) as error:
                        part = error.partial if isinstance(error, http.client.IncompleteRead) else b""
                        check_equal(part, b"", f"{span}: bytes of a damaged shard")
                    else:
                        check(answer.status >= 500, f"{span}: it is answered with {answer.status}")
                check("Input/output error" in nginx.errors("crit", "alert"), f"nginx says:\n{nginx.errors()}")
                check_whole(nginx.ask("/c"), model.second[0].data, "the other shard")
                mount.check_lives()


def test_reloaded(program: str, folder: Path) -> None:
    """nginx: a reloaded model is served at once, and a client that has the old one is told"""
    model = Model(program, folder)
    with model.mount as mount, Nginx(mount) as nginx:
        known = nginx.ask("/a/big").headers
        model.write(seed=1, age=500)
        mount.daemon.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + PATIENCE
        while nginx.ask("/a/big", If_None_Match=known["etag"]).status == 304:
            check(time.monotonic() < deadline, "the old model is served after a reload")
            time.sleep(0.02)
        for tensor in model.tensors:
            check_whole(nginx.ask(url(tensor)), tensor.data, f"{tensor.name}, reloaded")
        continued = nginx.ask("/a/big", Range="bytes=100-", If_Range=known["etag"])
        check_whole(continued, model.big, "what continues a download of the old model")
        nginx.check_quiet()
