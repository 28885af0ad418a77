"""The examples of README.md and the manual do what they should, typed as they stand there."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from pathlib import Path
from typing import Iterator

from checks import Skip, TemporaryFolder, check, check_equal, need_program
from models import Tensor, make_model, write_shard
from shells import environment
from texts import manual_literals, readme_blocks

# What the manual shows and no test can type, by how its first line begins, and why.
NOT_RUN = {
    "/models/Llama-3-70B /mnt/llama": "lines of the host's /etc/fstab",
    "SOURCE=/models/Llama-3-70B": "a file of the host's /etc/tensorfs",
    "systemctl start": "wants systemd, and the service installed",
}
DIFFERS = 1  # exit code of cmp and diff where there is a difference


@contextlib.contextmanager
def working_folder(*mount_points: str) -> Iterator[Path]:
    """A folder to type the examples in. What is mounted there in the end is unmounted."""
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError as error:
        raise Skip(f"/dev/fuse cannot be opened: {error.strerror}") from error
    with TemporaryFolder() as folder:
        try:
            yield folder
        finally:
            for path in mount_points:
                if (folder / path).is_mount():
                    subprocess.run(["fusermount3", "-u", "-z", folder / path], check=False)


def type_in(program: str, folder: Path, text: str) -> tuple[int, str]:
    """The exit code and the output of a script in a shell that stops at the first failure."""
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", text], cwd=folder, env=environment(program, folder), timeout=120,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip
    return done.returncode, done.stdout


def test_manual(program: str) -> None:
    """examples: the manual's do what they should"""
    for name in ("getfattr", "sha256sum", "fusermount3"):
        need_program(name)
    blocks = manual_literals("EXAMPLES")
    skipped = [block for block in blocks if any(block.startswith(start) for start in NOT_RUN)]
    check_equal(len(skipped), len(NOT_RUN), "blocks that are not run")
    with working_folder("mnt") as folder:
        make_model("demo", folder / "Llama-3-70B")
        outputs = []
        for block in blocks:
            if block in skipped:
                continue
            code, output = type_in(program, folder, block)
            check_equal(code, 0, f"exit code of\n{block}which printed\n{output}")
            outputs.append(output)
        mounted, once, sums, unmounted = outputs
        check(mounted.startswith("weight\n"), f"ls printed {mounted}")
        check('user.tensor.name="model.layers.0.self_attn.q_proj.weight"' in mounted, f"getfattr printed {mounted}")
        check("36 tensors" in mounted, f"warm printed {mounted}")
        check_equal(len(once.splitlines()), 4, "lines of du")
        check_equal(sums, "", "what sha256sum --quiet prints")
        check_equal(len((folder / "SHA256SUMS").read_text().splitlines()), 44, "checksums")
        check((folder / "norm.npy").read_bytes().startswith(b"\x93NUMPY"), "norm.npy is no array")
        check("[[" in unmounted, f"cat printed no corner: {unmounted}")
        sizes = [int(line) for line in unmounted.splitlines() if line.isdigit()]
        check_equal((len(sizes), sum(sizes)), (44, 3_819_868), "tensors and bytes that cat wrote")


def test_from_the_shell(program: str) -> None:
    """examples: README's from the shell do what they should"""
    need_program("getfattr")
    lines = [line for block in readme_blocks("From the shell") for line in block.splitlines()]
    with working_folder("build/mnt") as folder:
        make_model("demo", folder / "build" / "demo-model")
        (folder / "build" / "mnt").mkdir()
        check_equal(type_in(program, folder, "tensorfs build/demo-model build/mnt"), (0, ""), "mounting")
        outputs = {}
        for line in lines:
            word = line.split()[0]
            code, outputs[word] = type_in(program, folder, line)
            check_equal(code, DIFFERS if word == "cmp" else 0, f"exit code of {line}, which printed {outputs[word]}")
    check_equal(sorted(outputs), ["cat", "cmp", "find", "getfattr"], "the commands")
    check("build/mnt/lm_head/weight\n" in outputs["find"], f"find printed {outputs['find']}")
    check(" 3f" in outputs["cat"], f"od printed {outputs['cat']}")  # the norm's numbers are about 1
    check("input_layernorm/weight differ" in outputs["cmp"], f"cmp printed {outputs['cmp']}")
    check_equal(outputs["getfattr"], "[2048,128]", "what getfattr prints")


def spellings(line: str) -> list[str]:
    """A line that shows what may be left out, as "[--json|--names]", with and without each."""
    code = line.partition(" # ")[0].strip()
    found = re.search(r" \[([^\]]+)\]", code)
    if found is None:
        return [code]
    return [
        spelling
        for choice in ["", *(" " + word for word in found[1].split("|"))]
        for spelling in spellings(code[: found.start()] + choice + code[found.end() :])
    ]


def test_without_a_mount(program: str, folder: Path) -> None:
    """examples: README's without a mount do what they should"""
    lines = [line for block in readme_blocks("Without a mount") for line in block.splitlines()]
    commands = [command for line in lines for command in spellings(line)]
    # The words that stand for something are paths and names here, so that the lines can be typed as they are.
    names = ("NAME", "PATTERN...", "lm_head.weight")
    tensors = [Tensor(name, "F32", (8, 2), bytes(range(64))) for name in names]
    for model in ("SOURCE", "SOURCE...", "OTHER"):
        (folder / model).mkdir()
        write_shard(folder / model / "model.safetensors", tensors[: 2 if model == "OTHER" else 3])
    outputs = {}
    for command in commands:
        is_diff = command.startswith("tensorfs diff")
        code, outputs[command] = type_in(program, folder, command)
        check_equal(code, DIFFERS if is_diff else 0, f"exit code of {command}, which printed\n{outputs[command]}")
    check_equal(len((folder / "SHA256SUMS").read_text().splitlines()), 3, "checksums")
    check_equal(outputs["tensorfs ls SOURCE --names"], "\n".join(names) + "\n", "names")
    check_equal(outputs["tensorfs verify SOURCE..."], "SOURCE...: OK\n", "verify")
    check_equal(outputs["tensorfs diff SOURCE OTHER"], "only in SOURCE: lm_head.weight\n", "diff")
    check(outputs["tensorfs warm SOURCE PATTERN..."].startswith("1 tensor, 64 bytes"), "warm by a pattern")
    check(outputs["tensorfs cat SOURCE lm_head.weight --slice 0:4,: --format text"].count("\n") == 4, "rows of a slice")
    check_equal(outputs[next(command for command in commands if "while" in command)], "64\n" * 3, "bytes of each")
