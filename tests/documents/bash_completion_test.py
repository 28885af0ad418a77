"""Completion in bash: it offers what the program has, and what it puts into the line is what is meant."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from checks import Skip, check, check_equal, need_program
from models import Tensor, make_model, write_shard
from mounts import Mount
from shells import COMPLETIONS, bash, check_odd_names, check_quick, environment, write_hub
from texts import check_same, choices, flags, list_flag, options, verbs

# What is offered, a line each. Without COMP_WORDBREAKS it is the whole words.
BY_LINE = '. "$1"; COMP_WORDBREAKS=; COMP_LINE=$2; COMP_POINT=${#2}; _tensorfs; printf "%s\\n" ${COMPREPLY+"${COMPREPLY[@]}"}'
BY_WORDS = '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tensorfs; printf "%s\\n" "${COMPREPLY[@]}"'


def ask(program: str, folder: Path, script: str, *words: str, **variables: str) -> list[str]:
    need_program("bash")
    done = subprocess.run(
        ["bash", "--norc", "-u", "-c", script, "bash", f"{COMPLETIONS}/tensorfs.bash", *words], cwd=folder, timeout=60,
        capture_output=True, text=True, env=environment(program, folder) | variables,
    )  # fmt: skip
    check_equal(done.stderr, "", f"what is printed into the prompt for {words}")
    return [line for line in done.stdout.split("\n") if line]


def test_offers(program: str, folder: Path) -> None:
    """bash: TAB offers every verb, flag, option and value, and no others"""
    def offered(line: str) -> list[str]:
        return ask(program, folder, BY_LINE, f"tensorfs {line}")

    check_same(offered(""), verbs(program), "the completion in bash")
    mount = [*flags(program, "mount"), "-V", "--version"]
    check_same(offered("-"), mount, "the completion in bash without a verb")
    for verb in verbs(program):
        check_same(offered(f"{verb} -"), flags(program, verb), f"the completion in bash of {verb}")
        wanted = [option.partition("=")[0] + "=" * ("=" in option) for option in options(program, verb)]
        for before in ("", "partial,", "variant=a,", r"index=a\\,b,"):
            words = f"{verb} x {list_flag(program, verb)} {before}"
            check_same(offered(words), [before + name for name in wanted], f"the completion in bash of {words}")
    for name in ("cache", "log"):
        wanted = choices(program, "mount", "/none", "/none", "-o", f"{name}=?")
        check_same(offered(f"-o x,{name}="), [f"x,{name}={value}" for value in wanted], f"-o {name}= in bash")
    wanted = choices(program, "cat", "/none", "x", "--format", "?")
    check_same(offered("cat --format "), wanted, "--format in bash")
    check_same(offered("cat x y --format="), [f"--format={value}" for value in wanted], "--format= in bash")
    for line in ("cat --slice ", "-o uid=", "ls x ", "info x --json ", "mount a b "):
        check_equal(offered(line), [], f"offered for {line}")


def test_sources(program: str, folder: Path) -> None:
    """bash: TAB offers models, folders, and ids in the Hub's cache where no path was begun"""
    (folder / "sub").mkdir()
    (folder / "a model").mkdir()
    for name in ("m.safetensors", "m.safetensors.index.json", "m.txt", "README.md"):
        (folder / name).touch()
    ids = write_hub(folder)

    def offered(line: str, **variables: str) -> list[str]:
        return sorted(ask(program, folder, BY_LINE, f"tensorfs {line}", **variables))

    models = ["a model", "m.safetensors", "m.safetensors.index.json", "sub"]
    ours = {id.partition("/")[0] + "/" * ("/" in id) for id in ids}
    for verb in ("ls", "info", "cat", "diff", "sum", "warm", "verify", "mount", "diff x", "verify x y"):
        check_equal(offered(f"{verb} "), sorted({*models, *ours, ".cache"} - {".cache"}), f"offered for {verb}")
    check_equal(offered(""), sorted({*models, *ours, *verbs(program)}), "offered at first")
    check_equal(offered("ls ./"), [f"./{name}" for name in models], "offered for ./")
    check_equal(offered("ls org/"), sorted(id for id in ids if id.startswith("org/")), "offered for org/")
    check_equal(offered("m.safetensors "), ["a model", "sub"], "mount points")
    check_equal(offered("ls org/one -o revision="), ["revision=0123abcd", "revision=main"], "revisions")
    check_equal(offered("ls . -o index="), ["index=m.safetensors.index.json"], "indexes")
    for variables in (
        {"HF_HUB_CACHE": f"{folder}/.cache/huggingface/hub", "HF_HOME": "/none"},
        {"HF_HUB_CACHE": "~/.cache/huggingface/hub"},
        {"HF_HOME": f"{folder}/.cache/huggingface", "XDG_CACHE_HOME": "/none"},
        {"XDG_CACHE_HOME": f"{folder}/.cache"},
    ):
        check_equal(offered("ls org/", HOME="/none" if "~" not in str(variables) else str(folder), **variables),
                    sorted(id for id in ids if id.startswith("org/")), f"offered with {variables}")  # fmt: skip


def test_names(program: str, folder: Path) -> None:
    """bash: TAB offers names from one separator to the next"""
    tensors = ["a.0.x", "a.0.y", "a.1.x", "a.one", "b", "b.c", "b/d", "-o"]
    write_shard(folder / "m.safetensors", [Tensor(name, "U8", (1,), b"x") for name in tensors])

    def offered(line: str) -> list[str]:
        return sorted(ask(program, folder, BY_LINE, f"tensorfs {line}"))

    check_equal(offered("cat m.safetensors "), ["a.", "b", "b.c", "b/d"], "names")
    check_equal(offered("cat m.safetensors -- "), ["-o", "a.", "b", "b.c", "b/d"], "names behind --")
    check_equal(offered("cat m.safetensors a"), ["a.0.", "a.1.x", "a.one"], "names that begin with a")
    check_equal(offered("cat m.safetensors a.0"), ["a.0.x", "a.0.y"], "names that begin with a.0")
    check_equal(offered("cat --format raw m.safetensors --slice 0 a.o"), ["a.one"], "a name between flags")
    check_equal(offered("cat -o partial m.safetensors a.o"), ["a.one"], "a name behind -o")
    check_equal(offered("cat m.safetensors b "), [], "a second name")
    check_equal(offered("warm m.safetensors a."), ["a.0.", "a.1.x", r"a.\*", "a.one"], "patterns")
    check_equal(offered("warm m.safetensors b a.o"), ["a.one"], "a second pattern")
    for bad in ("none", "/dev/null", "/", "$(touch", "'"):
        check_equal(offered(f"cat {bad} a"), [], f"names of {bad}")
    check(not (folder / "made").exists(), "what was typed has been run")
    with Mount(program, folder / "m.safetensors") as mount:
        check_equal(offered(f"warm {mount.path} a.0."), [r"a.0.\*", "a.0.x", "a.0.y"], "patterns in a mount")


def test_words_alone(program: str, folder: Path) -> None:
    """bash: COMP_WORDS alone will do"""
    write_shard(folder / "m.safetensors", [Tensor("a:b c", "U8", (1,), b"x")])
    for words, wanted in (
        (["tensorfs", "ve"], ["verify"]),
        (["tensorfs", "cat", "m.safetensors", ""], [r"a:b\ c"]),
        (["tensorfs", "x", "y", "-o", "cache", "=", "o"], ["once"]),
    ):
        check_equal(ask(program, folder, BY_WORDS, *words), wanted, f"offered for {words}")


def test_odd_names(program: str, folder: Path) -> None:
    """bash: a name that TAB has put into the line is read back by the shell, whatever is in it"""
    with bash(program, folder) as shell:
        check_odd_names(shell, folder)


def test_half_typed(program: str, folder: Path) -> None:
    """bash: a name is completed on from where TAB has left off"""
    with bash(program, folder) as shell:
        tensors = ["pre a1", "pre a2", "pre$b", "pre'c", "co:a1", "co:a2", "eq=a1", "eq=a2", "x!a1", "x!a2"]
        write_shard(folder / "m.safetensors", [Tensor(name, "U8", (1,), b"x") for name in tensors])
        front = "tensorfs cat m.safetensors "
        for typed, wanted in (
            (r"pre\ ", r"pre\ a"), (r"pre\ a1", r"pre\ a1 "), ("pr", "pre\\"), ("pre\\", "pre\\"), (r"pre\$", r"pre\$b "),
            ("'pre ", "'pre a"), ("'pre a1", "'pre a1' "), ("\"pre '", "\"pre '"), ('"pre$', r'"pre\$b" '),
            ("co:", "co:a"), ("co:a1", "co:a1 "), (r"co\:", r"co:a"), ("'co:a1", "'co:a1' "), ("eq", "eq=a"),
            ("eq=a1", "eq=a1 "), ("'e'q=a2", "'e'q=a2 "), (r"x\!", r"x\!a"), ('"x', '"x"\'!\'"a'),
        ):  # fmt: skip
            check_equal(shell.line(front + typed), front + wanted, f"{typed} and TAB")


def test_paths(program: str, folder: Path) -> None:
    """bash: folders, redirections, variables and ~ are completed as ever"""
    with bash(program, folder, SOMEWHERE=str(folder)) as shell:
        make_model("demo", folder / "the model")
        write_hub(folder)
        for typed, wanted in (
            ("tensorfs ls the", r"tensorfs ls the\ model/"), (r"tensorfs ls the\ model/*i", r"tensorfs ls the\ model/*i"),
            ("tensorfs the", r"tensorfs the\ model/"), ("tensorfs x the", r"tensorfs x the\ model/"),
            ("tensorfs ls ~/the", r"tensorfs ls ~/the\ model/"), ("tensorfs ls $SOMEWHERE/the", None),
            (r"tensorfs ls the\ model > the", r"tensorfs ls the\ model > the\ model/"),
            (r"tensorfs cat the\ model model.n", r"tensorfs cat the\ model model.norm.weight "),
            ("tensorfs cat ~/the\\ model model.n", "tensorfs cat ~/the\\ model model.norm.weight "),
            ("true && X=1 tensorfs ver", "true && X=1 tensorfs verify "), ("tensorfs ls only", "tensorfs ls only/"),
            ("tensorfs ls only/", "tensorfs ls only/one "), ("tensorfs -o ca", "tensorfs -o cache="),
            ("tensorfs -o partial,cache=o", "tensorfs -o partial,cache=once "),
            ("tensorfs cat x y --format=n", "tensorfs cat x y --format=npy "),
        ):  # fmt: skip
            line = shell.line(typed)
            if wanted is None:  # bash may put in what the variable stands for
                check("/the\\ model/" in line, f"{typed} and TAB: {line}")
            else:
                check_equal(line, wanted, f"{typed} and TAB")


def test_bad_source(program: str, folder: Path) -> None:
    """bash: a source that is bad prints nothing into the prompt"""
    with bash(program, folder) as shell:
        (folder / "bad.safetensors").write_bytes(b"no model")
        for source in ("bad.safetensors", "none", "/dev/null", "/root/x"):
            line, shown = shell.complete(f"tensorfs cat {source} a")
            check_equal(line, f"tensorfs cat {source} a", "the line")
            check("tensorfs:" not in shown, f"shown for {source}: {shown}")
            shell.press(shell.CLEAR)


def test_many_names(program: str, folder: Path) -> None:
    """bash: TAB among a hundred thousand names is quick"""
    make_model("moe", folder / "moe")
    begin = time.monotonic()
    found = ask(program, folder, BY_LINE, "tensorfs cat moe model.layers.30.mlp.experts.")
    took = time.monotonic() - begin
    check(len(found) > 100 and "model.layers.30.mlp.experts.7." in found, f"offered: {found[:5]}")
    check_quick(program, folder / "moe", took)


def test_by_package(program: str, folder: Path) -> None:
    """bash: the package bash-completion finds it"""
    package = Path("/usr/share/bash-completion/bash_completion")
    if not package.exists():
        raise Skip("no bash-completion")
    place = folder / ".local/share/bash-completion/completions"
    place.mkdir(parents=True)
    (place / "tensorfs").symlink_to(COMPLETIONS / "tensorfs.bash")
    write_shard(folder / "m.safetensors", [Tensor("a:b c", "U8", (1,), b"x")])
    with bash(program, folder, (f". {package}",)) as shell:
        # The first TAB loads it, and bash then completes anew.
        check_equal(shell.line("tensorfs veri"), "tensorfs verify ", "the line")
        check_equal(shell.line("tensorfs cat m.safetensors a"), r"tensorfs cat m.safetensors a:b\ c ", "the line")
        check_equal(shell.line("tensorfs cat m.safetensors a:"), r"tensorfs cat m.safetensors a:b\ c ", "the line")
