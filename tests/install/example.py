"""The program of core/README.md's "Use it from C++" (example/ beside this): built as a user would, and what it prints."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import NamedTuple

from checks import REPOSITORY, check_equal, need_program, run
from models import BITS, Tensor, random_tensor, write_shard

EXAMPLE = REPOSITORY / "tests" / "install" / "example"


class Sample(NamedTuple):
    """A model of two shards, and the lines that the example prints of it."""

    path: Path
    lines: list[str]


def make_sample(folder: Path) -> Sample:
    folder.mkdir()
    shards = [
        [
            random_tensor("model.embed.weight", "BF16", (3, 5)),
            Tensor("none", "F32", (0, 7)),
            random_tensor("scalar", "F64", ()),
        ],
        [random_tensor("a\nb", "I32", (2, 1, 2)), random_tensor("packed", "F4", (4,)), random_tensor("é", "U8", (1,))],
    ]
    names = [f"model-0000{number}-of-00002.safetensors" for number in (1, 2)]
    for name, tensors in zip(names, shards):
        write_shard(folder / name, tensors)
    weight_map = {tensor.name: name for name, tensors in zip(names, shards) for tensor in tensors}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))

    lines = []
    for tensor in sum(shards, []):
        shape = "[" + ",".join(map(str, tensor.shape)) + "]"
        first = tensor.data[: (BITS[tensor.dtype] + 7) // 8]
        lines.append(" ".join([tensor.name.replace("\n", "\\n"), tensor.dtype, shape, *map(str, first)]))
    return Sample(folder, lines)


def build(source: Path, folder: Path, *options: object) -> Path:
    """Configures and builds a project, and gives the folder that it was built in."""
    cmake = need_program("cmake")
    run(cmake, "-S", source, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", *options)
    command = [cmake, "--build", folder, "--target", "show", "--parallel", os.cpu_count()]
    run(*command, patience=900)  # all of core, on a machine that may be busy
    return folder


def check_example(folder: Path, *options: object) -> None:
    """Builds the example in a folder, with a copy of its files as a user has them, and runs it."""
    shutil.copytree(EXAMPLE, folder / "project")
    sample = make_sample(folder / "sample")
    show = build(folder / "project", folder / "build", *options) / "show"
    check_equal(run(show, sample.path).splitlines(), sample.lines, "what the example prints")
    run(show, folder / "nothing", expect=1)
