"""The examples of the pages and the manual do what they should, typed as they stand there."""

from __future__ import annotations

import contextlib
import os
import re
import struct
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Iterator

from checks import PATIENCE, Skip, TemporaryFolder, check, check_equal, need_program
from models import Tensor, make_model, write_shard
from shells import environment
from texts import BUILD, PAGES, blocks_of, manual_literals, page_blocks

# What the manual shows and no test here can type, by how its first line begins, and why.
NOT_RUN_OF_MANUAL = {
    "/models/Llama-3-70B /mnt/llama": "lines of the host's /etc/fstab",
    "SOURCE=/models/Llama-3-70B": "a file of the host's /etc/tensorfs",
    "systemctl start": "wants systemd, and the service installed",
}
# The blocks of the pages that are run here: page and section.
RUN = {
    ("README.md", "From the shell"), ("README.md", "From NumPy"), ("README.md", "From PyTorch"), ("README.md", "From C"),
    ("README.md", "Without a mount"), ("core/README.md", "Views"), ("fs/README.md", "Ahead of use"),
    ("fs/README.md", "One SIGHUP, step by step"), ("systemd/README.md", "fstab and mount(8)"),
    ("scripts/README.md", "Build it by hand"), ("systemd/FAR.md", "Look into a model on a web server"),
}  # fmt: skip
# And those that are not, and why.
NOT_RUN = {
    ("README.md", "tensorfs"): "shows a model of 140 GB; the manual's examples do the same with a small one",
    ("README.md", "Try it"): "installs packages and builds: .ci/run does",
    ("README.md", "Install it"): "installs packages and builds: scripts/check-package and tests/install do",
    ("README.md", "Options"): "a line of usage, which drift_test.py compares",
    ("core/README.md", "core: what a model is"): "a picture",
    ("core/README.md", "Use it from C++"): "tests/install builds and runs it",
    ("fs/README.md", "Threads, and who owns what"): "a picture",
    ("scripts/README.md", "Packages"): "installs packages: scripts/check-package does",
    ("scripts/README.md", "Run the tests"): "runs these tests",
    ("systemd/README.md", "As a service"): "wants systemd, and the service installed: tests/services does the same",
    ("systemd/README.md", "In a container"): "wants a container's engine; tests/services runs what the image does",
    ("systemd/README.md", "By HTTP"): "tests/services asks nginx for the same with a configuration of its own",
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
    skipped = [block for block in blocks if any(block.startswith(start) for start in NOT_RUN_OF_MANUAL)]
    check_equal(len(skipped), len(NOT_RUN_OF_MANUAL), "blocks that are not run")
    with working_folder("mnt") as folder:
        make_model("demo", folder / "Llama-3-70B")
        outputs = []
        for block in blocks:
            if block in skipped:
                continue
            code, output = type_in(program, folder, block)
            check_equal(code, 0, f"exit code of\n{block}which printed\n{output}")
            outputs.append(output)
        mounted, once, sums, unmounted, exported = outputs
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
        check_equal(exported, "", "what export prints")
        written = ("llama.safetensors", "llama-f16/model.safetensors", "layers.npz")
        check(all((folder / name).stat().st_size > 1_000_000 for name in written), "an export is missing, or small")


def test_all_blocks() -> None:
    """examples: every block of the pages is run, or it is told why not"""
    found = {(page, block.section) for page in PAGES for block in page_blocks(page)}
    check_equal(found - RUN - NOT_RUN.keys(), set(), "sections with blocks that are not known here")
    check_equal((RUN | NOT_RUN.keys()) - found, set(), "sections that have no blocks")


@contextlib.contextmanager
def demo_mount(program: str) -> Iterator[Path]:
    """A folder with what scripts/run makes: a small model, mounted on build/mnt."""
    with working_folder("build/mnt") as folder:
        make_model("demo", folder / "build" / "demo-model")
        (folder / "build" / "mnt").mkdir()
        check_equal(type_in(program, folder, "tensorfs build/demo-model build/mnt"), (0, ""), "mounting")
        yield folder


def test_from_the_shell(program: str) -> None:
    """examples: README's from the shell do what they should"""
    need_program("getfattr")
    lines = [line for block in blocks_of("README.md", "From the shell") for line in block.splitlines()]
    with demo_mount(program) as folder:
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


def run_python(program: str, folder: Path, text: str) -> str:
    (folder / "example.py").write_text(text)
    code, output = type_in(program, folder, f"{sys.executable} example.py")
    check_equal(code, 0, f"exit code of\n{text}which printed\n{output}")
    return output


def test_from_numpy(program: str, numpy: ModuleType) -> None:
    """examples: those in Python that read NumPy's files do what they should"""
    (first,), (second,) = blocks_of("README.md", "From NumPy", "python"), blocks_of("core/README.md", "Views", "python")
    with demo_mount(program) as folder:
        check(run_python(program, folder, first).startswith("(2048, 128) [["), "README's prints no shape and numbers")
        same = "\nassert (tensor == numpy.load('build/mnt/.tensorfs/npy/model/rotary_emb/sections.npy')).all()\n"
        check_equal(run_python(program, folder, second + same), "", "what core/README.md's prints")


def test_from_pytorch(program: str, torch: ModuleType) -> None:
    """examples: README's in PyTorch does what it should"""
    (text,) = blocks_of("README.md", "From PyTorch", "python")
    with demo_mount(program) as folder:
        check_equal(run_python(program, folder, text), "torch.Size([2048, 128])\n", "what it prints")


def test_from_c(program: str) -> None:
    """examples: README's in C does what it should"""
    need_program("cc")
    (source,), (commands,) = blocks_of("README.md", "From C", "c"), blocks_of("README.md", "From C")
    with demo_mount(program) as folder:
        (folder / "show-i64.c").write_text(source)
        code, output = type_in(program, folder, commands)
        sections = (folder / "build/mnt/model/rotary_emb/sections").read_bytes()
        wanted = [f"{number}" for (number,) in struct.iter_unpack("<q", sections)]
        check_equal((code, output.split()), (0, wanted), "exit code and numbers")


def test_from_octave(program: str) -> None:
    """examples: core/README.md's in Octave does what it should"""
    octave = need_program("octave-cli")
    (text,) = blocks_of("core/README.md", "Views", "octave")
    with demo_mount(program) as folder:
        (folder / "example.m").write_text(text + 'printf("%d %d %.17g", size(weight), weight(2, 3));\n')
        code, output = type_in(program, folder, f"{octave} --no-gui -q example.m 2>errors")
        check_equal(code, 0, f"exit code of Octave, which printed {(folder / 'errors').read_text()}")
        rows, columns, number = output.split()
        check_equal((rows, columns), ("2048", "128"), "the size")
        name = "build/mnt/.tensorfs/f32/lm_head/weight.npy"
        data = (folder / name).read_bytes()[-2048 * 128 * 4 :]
        check_equal(float(number), struct.unpack_from("<f", data, (128 + 2) * 4)[0], "the number in row 2, column 3")


def test_warming(program: str) -> None:
    """examples: fs/README.md's that warm a model do what they should"""
    (text,) = blocks_of("fs/README.md", "Ahead of use")
    with working_folder("mnt") as folder:
        make_model("demo", folder / "Llama-3-70B")
        check_equal(type_in(program, folder, "mkdir mnt && tensorfs Llama-3-70B mnt"), (0, ""), "mounting")
        code, output = type_in(program, folder, text.replace("/mnt/llama", "mnt"))
        check_equal(code, 0, f"exit code, after\n{output}")
        lines = [line.partition(",")[0] for line in output.splitlines() if " in the " in line]
        check_equal(lines, ["44 tensors", "9 tensors", "44 tensors"], "what was warmed")


def test_replacing(program: str) -> None:
    """examples: fs/README.md's that replaces a model does what it should"""
    need_program("pkill")
    (text,) = blocks_of("fs/README.md", "One SIGHUP, step by step")
    with working_folder("mnt") as folder:
        for model, size in (("Llama-3-70B.old", 1), ("Llama-3-70B.new", 2)):
            (folder / model).mkdir()
            write_shard(folder / model / "model.safetensors", [Tensor("a", "U8", (size,), b"x" * size)])
        (folder / "llama").symlink_to("Llama-3-70B.old")
        here = text.replace("/models/", f"{folder}/").replace("/mnt/llama", f"{folder}/mnt")
        mounting = f"mkdir mnt && tensorfs {folder}/llama {folder}/mnt"
        check_equal(type_in(program, folder, mounting), (0, ""), "mounting")
        check_equal((folder / "mnt/a").stat().st_size, 1, "the old model's size")
        check_equal(type_in(program, folder, here), (0, ""), "replacing")
        deadline = time.monotonic() + PATIENCE
        while (folder / "mnt/a").stat().st_size != 2:
            check(time.monotonic() < deadline, "the new model is not shown")
            time.sleep(0.01)


def test_fstab(program: str) -> None:
    """examples: systemd/README.md's line of fstab is one"""
    (text,) = blocks_of("systemd/README.md", "fstab and mount(8)", "fstab")
    source, folder, kind, flags, dump, check_pass = text.split()
    check_equal((source, folder, kind), ("/models/Llama-3-70B", "/mnt/llama", "fuse.tensorfs"), "the first fields")
    check_equal((dump, check_pass), ("0", "0"), "the last fields")
    with working_folder("mnt") as place:
        make_model("demo", place / "model")
        code, output = type_in(program, place, f"mkdir mnt && tensorfs model mnt -o {flags}")
        check_equal((code, output), (0, ""), "mounting with its options")


def test_mounting_by_mount(program: str) -> None:
    """examples: systemd/README.md's with mount(8) does what it should"""
    if os.geteuid() != 0:
        raise Skip("only root mounts so")
    need_program("mount.fuse3")
    (text,) = blocks_of("systemd/README.md", "fstab and mount(8)")
    with working_folder() as folder:
        make_model("demo", folder / "Llama-3-70B")
        (folder / "mnt").mkdir()
        (folder / "bin").mkdir()
        (folder / "bin" / "tensorfs").symlink_to(program)
        here = text.replace("/models/", f"{folder}/").replace("/mnt/llama", f"{folder}/mnt")
        mounting, unmounting = here.splitlines()
        # mount(8) looks for the program where programs are, so a namespace of mounts has it there.
        script = f"""mount --bind bin /usr/local/bin
            {mounting}
            trap 'umount -q -l mnt || true' EXIT
            stat -c %s mnt/lm_head/weight
            {unmounting}
            test ! -e mnt/lm_head"""
        code, output = type_in(program, folder, f"unshare -m bash -e <<'end'\n{script}\nend")
        check_equal((code, output), (0, "524288\n"), "exit code, and the size of a tensor")


def test_build_by_hand() -> None:
    """examples: scripts/README.md names what a build makes"""
    blocks = blocks_of("scripts/README.md", "Build it by hand")
    named = {word for block in blocks for word in re.findall(r"build/([\w./-]*\w)", block)}
    check_equal(named, {"tensorfs.1", "completions/tensorfs.bash", "completions"}, "what is named below build/")
    for name in named:
        check((BUILD / name).exists(), f"the build has no {name}")


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
    lines = [line for block in blocks_of("README.md", "Without a mount") for line in block.splitlines()]
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
