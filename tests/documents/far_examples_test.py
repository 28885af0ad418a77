"""The commands of systemd/FAR.md, typed as they stand there, with a web server of the test's own."""

from __future__ import annotations

from checks import check, check_equal, need_program
from examples_test import type_in, working_folder
from far import nginx_server
from models import make_model
from texts import blocks_of


def test_web_server(program: str) -> None:
    """examples: systemd/FAR.md's that look into a model on a web server do what they should"""
    for name in ("rclone", "fusermount3"):
        need_program(name)
    (text,) = blocks_of("systemd/FAR.md", "Look into a model on a web server")
    with working_folder("mnt", "web") as folder:
        make_model("demo", folder / "served")
        with nginx_server(folder / "served", folder / "nginx") as port:
            code, output = type_in(program, folder, f"URL=http://127.0.0.1:{port}/\n{text}")
        check_equal(code, 0, f"exit code, after\n{output}")
        check("model.layers.0.self_attn.q_proj.weight" in output, f"ls printed\n{output}")
        check((folder / "weight.npy").read_bytes().startswith(b"\x93NUMPY"), "weight.npy is no array")
        check(not (folder / "web").is_mount() and not (folder / "mnt").is_mount(), "something is still mounted")
