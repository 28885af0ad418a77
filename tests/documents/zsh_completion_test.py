"""Completion in zsh: it offers what the program has, and what it puts into the line is what is meant."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

from checks import check, check_equal, need_program
from models import Tensor, make_model, write_shard
from mounts import Mount
from shells import COMPLETIONS, check_odd_names, check_quick, environment, write_hub, zsh
from texts import check_same, choices, flags, options, verbs

# Prints what is handed to zsh's own functions, instead of calling them. The words follow.
STUBS = """
    fpath=($1 $fpath); shift; autoload -U _tensorfs
    _arguments() { print -rl -- "$@"; print -rl -- "verb "$^verbs; _tensorfs_options }
    _values() { shift 3; print -rl -- "option "$^@ }
    words=("$@"); CURRENT=$#
    _tensorfs
"""


def handed_over(program: str, folder: Path, *words: str) -> list[str]:
    need_program("zsh")
    done = subprocess.run(["zsh", "-f", "-c", STUBS, "zsh", str(COMPLETIONS), *words], cwd=folder, timeout=60,
                          capture_output=True, text=True, env=environment(program, folder))  # fmt: skip
    check_equal(done.stderr, "", f"what is printed into the prompt for {words}")
    return done.stdout.splitlines()


def flags_in(lines: list[str]) -> list[str]:
    """Of specifications such as "(-h --help)-h[this text]", "*-o+[options]" and "--format=[...]:format:(raw npy)"."""
    found = [re.match(r"(?:\([^)]*\)|\*)*(--?[\w-]+)[+=]*\[", line) for line in lines]
    return [match[1] for match in found if match]


def test_offers(program: str, folder: Path) -> None:
    """zsh: TAB offers every verb, flag, option and value, and no others"""
    first = handed_over(program, folder, "tensorfs", "")
    check_same([line.split()[1].partition(":")[0] for line in first if line.startswith("verb ")], verbs(program),
               "the completion in zsh")  # fmt: skip
    check_same(flags_in(first), [*flags(program, "mount"), "-V", "--version"], "the completion in zsh without a verb")
    for verb in verbs(program):
        lines = handed_over(program, folder, "tensorfs", verb, "")
        check_same(flags_in(lines), flags(program, verb), f"the completion in zsh of {verb}")
        named = [line.removeprefix("option ") for line in lines if line.startswith("option ")]
        found = [name.partition("[")[0] + "=" * ("]:" in name) for name in named]
        wanted = [option.partition("=")[0] + "=" * ("=" in option) for option in options(program, verb)]
        check_same(found, wanted, f"the completion in zsh of {verb} -o")
    for name in ("cache", "log"):
        line = next(line for line in first if line.startswith(f"option {name}["))
        wanted = choices(program, "mount", "/none", "/none", "-o", f"{name}=?")
        check_same(line.rpartition(":(")[2].rstrip(")").split(), wanted, f"-o {name}= in zsh")
    line = next(line for line in handed_over(program, folder, "tensorfs", "cat", "") if line.startswith("--format="))
    wanted = choices(program, "cat", "/none", "x", "--format", "?")
    check_same(line.rpartition(":(")[2].rstrip(")").split(), wanted, "--format in zsh")


def test_words(program: str, folder: Path) -> None:
    """zsh: words, options, sources and names are completed"""
    (folder / "sub").mkdir()
    write_hub(folder)
    tensors = ["a.0.x", "a.0.y", "a.1.x", "a.one", "b", "-o"]
    write_shard(folder / "m m.safetensors", [Tensor(name, "U8", (1,), b"x") for name in tensors])
    make_model("demo", folder / "sub" / "demo")
    with zsh(program, folder) as shell:
        for typed, wanted in (
            ("ver", "verify "), ("m", r"m"), ("mo", "mount "), ("ls m", r"ls m\ m.safetensors "),
            ("ls 'm", "ls 'm m.safetensors' "), ("ls ~/su", "ls ~/sub/"), ("ls onl", "ls only/"),
            ("ls only/", "ls only/one "), ("info alo", "info alone "), ("x su", "x sub/"), ("ls --na", "ls --names "),
            ("-o ca", "-o cache="), ("-o cache=o", "-o cache=once,"), ("-o partial,log=w", "-o partial,log=warning,"),
            ("ls org/one -o revision=0", "ls org/one -o revision=0123abcd,"), ("cat --fo", "cat --format="),
            ("cat x y --format=n", "cat x y --format=npy "), ("cat x y --format n", "cat x y --format npy "),
            ("ls sub/demo -o index=", "ls sub/demo -o index=model.safetensors.index.json,"),
            (r"cat m\ m.safetensors a.o", r"cat m\ m.safetensors a.one "),
            (r"cat m\ m.safetensors b", r"cat m\ m.safetensors b "),
            (r"cat 'm m.safetensors' a.1", r"cat 'm m.safetensors' a.1.x "),
            (r"cat m\ m.safetensors -- -", r"cat m\ m.safetensors -- -o "),
            (r"cat ~/m\ m.safetensors --format raw a.o", r"cat ~/m\ m.safetensors --format raw a.one "),
            (r"cat -o partial m\ m.safetensors a.o", r"cat -o partial m\ m.safetensors a.one "),
            (r"warm m\ m.safetensors b a.o", r"warm m\ m.safetensors b a.one "),
            (r"diff m\ m.safetensors su", r"diff m\ m.safetensors sub/"),
            (r"verify m\ m.safetensors su", r"verify m\ m.safetensors sub/"),
        ):  # fmt: skip
            check_equal(shell.line(f"tensorfs {typed}"), f"tensorfs {wanted}", f"tensorfs {typed} and TAB")
        _, shown = shell.complete("tensorfs warm sub/demo model.")
        for name in (r"model.\*", "model.layers.", "model.norm.weight"):
            check(name in shown, f"{name} is not offered: {shown}")
        check("model.layers.0" not in shown, f"all names are offered: {shown}")
        shell.press(shell.CLEAR)
        with Mount(program, folder / "m m.safetensors") as mount:
            check_equal(shell.line(f"tensorfs warm {mount.path} b"), f"tensorfs warm {mount.path} b ", "in a mount")


def test_odd_names(program: str, folder: Path) -> None:
    """zsh: a name that TAB has put into the line is read back by the shell, whatever is in it"""
    with zsh(program, folder) as shell:
        check_odd_names(shell, folder)


def test_bad_source(program: str, folder: Path) -> None:
    """zsh: a source that is bad prints nothing into the prompt"""
    with zsh(program, folder) as shell:
        (folder / "bad.safetensors").write_bytes(b"no model")
        for source in ("bad.safetensors", "none", "/dev/null", "/root/x"):
            line, shown = shell.complete(f"tensorfs cat {source} a")
            check_equal(line, f"tensorfs cat {source} a", "the line")
            check("tensorfs:" not in shown and "_tensorfs" not in shown, f"shown for {source}: {shown}")
            shell.press(shell.CLEAR)


def test_many_names(program: str, folder: Path) -> None:
    """zsh: TAB among a hundred thousand names is quick"""
    with zsh(program, folder) as shell:
        make_model("moe", folder / "moe")
        shell.line("tensorfs verif")  # loads all that completion needs
        begin = time.monotonic()
        line = shell.line("tensorfs cat moe model.layers.30.mlp.experts.7.u")
        took = time.monotonic() - begin
        check_equal(line, "tensorfs cat moe model.layers.30.mlp.experts.7.up_proj.", "the line")
        check_quick(program, folder / "moe", took)
