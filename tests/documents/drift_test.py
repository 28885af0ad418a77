"""Help, the manual and the pages tell of all that the program has, and of nothing else. What the manual and the
completions have of verbs and options is made from the program's own tables; here it is seen that it arrives."""

from __future__ import annotations

import os
import re
import subprocess

from checks import REPOSITORY, check, check_equal, need_program, run
from models import make_model
from mounts import Mount
from texts import (
    EXIT_CODES, MANUAL, PAGES, blocks_of, check_same, choices, flags, in_backticks, manual_items, manual_section, options,
    page_blocks, page_table, usage, verbs,
)  # fmt: skip

COMMON = ["-h", "--help"]  # of all verbs


# --- Verbs, flags and options ----------------------------------------------------------------------


def flags_in(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--?[a-zA-Z]+(?:-[a-z]+)*\b", text))


def test_help_fits(program: str) -> None:
    """help fits a terminal of 24 lines and 80 columns"""
    first = run(program, "--help").splitlines()
    check(len(first) <= 24, f"--help has {len(first)} lines")
    mount = run(program, "mount", "--help").splitlines()
    check(len(mount) <= 40, f"mount --help has {len(mount)} lines")
    texts = {"--help": first} | {verb: run(program, verb, "--help").splitlines() for verb in verbs(program)}
    for verb, lines in texts.items():
        for line in lines:
            check(len(line) <= 80, f"{verb}: a line of help has {len(line)} columns: {line}")


def test_usages(program: str) -> None:
    """a verb's usage names the flags that it takes"""
    for verb in verbs(program):
        taken = set(flags(program, verb)) - set(COMMON)
        named = flags_in(usage(program, verb))
        # Of "-f, --foreground", one is enough.
        pairs = re.findall(r"^  (-\w), (--\w+)", run(program, verb, "--help"), re.MULTILINE)
        taken -= {long for short, long in pairs if short in named}
        check_same(named, taken, f"the usage of {verb}")


def test_manual_verbs(program: str) -> None:
    """the manual has every verb, with its flags, and no others"""
    def flags_of(text: str) -> set[str]:
        return {"-" + name for name in re.findall(r"\bFl (-?\w+(?:-\w+)*)", text)}

    items = {re.match(r"\.Cm (\w+)", head)[1]: (head, body) for head, body in manual_items("VERBS")}
    check_same(items, verbs(program), "the manual's VERBS")
    for verb, (head, body) in items.items():
        check_same(flags_of(head), flags_in(usage(program, verb)), f"the manual's usage of {verb}")
        check_same(flags_of(head + body), set(flags(program, verb)) - set(COMMON), f"the manual on {verb}")
    about_all = flags_of(manual_section("VERBS").rpartition("\n.El\n")[2])
    check_same(about_all, [*COMMON, "-V", "--version"], "the manual, below the verbs,")
    for flag in about_all:
        check(run(program, flag) != "", f"{flag} prints nothing")


def test_manual_options(program: str) -> None:
    """the manual has every mount option in the order of help, and no others"""
    found = [re.sub(r"^Cm |Ns | Ns|Ar |\s", "", head) for head, _ in manual_items("MOUNT OPTIONS")]
    wanted = options(program, "mount")
    check_same(found, wanted, "the manual's MOUNT OPTIONS")
    check_equal(found, wanted, "the order of the manual's MOUNT OPTIONS")


def test_readme_options(program: str) -> None:
    """README's options are the program's"""
    known = {option.partition("=")[0] for option in options(program, "mount")}
    for row in page_table("README.md", "option"):
        for name in in_backticks(row[0]):
            check(name.partition("=")[0] in known, f"README has the option {name}, which the program has not")
            if not name.isupper() and "=" in name and name.partition("=")[2].islower():
                taken = choices(program, "mount", "/none", "/none", "-o", f"{name.partition('=')[0]}=?")
                check(name.partition("=")[2] in taken, f"README has {name}, which the program does not take")


def test_readme_verbs(program: str) -> None:
    """README has every verb, and no flags that the program has not"""
    (block,) = blocks_of("README.md", "Without a mount")
    listed = dict(re.findall(r"^tensorfs (\w+) (.*) #", block, re.MULTILINE))
    check_same(listed, set(verbs(program)) - {"mount"}, "README's section on verbs")
    for verb, words in listed.items():
        if "--" in words:
            check_same(flags_in(words), flags_in(usage(program, verb)) - {"-o"}, f"README's line on {verb}")
    (mounting,) = blocks_of("README.md", "Options")
    check_same(flags_in(mounting), flags_in(usage(program, "mount")), "README's line on mounting")


def test_values(program: str) -> None:
    """the values that an option takes are told where it is told of"""
    help_lines = {line.split("=")[0].strip(): line for line in run(program, "mount", "--help").splitlines() if "=" in line}
    manual = {head.split()[1]: body for head, body in manual_items("MOUNT OPTIONS")}
    for name in ("cache", "log"):
        for value in choices(program, "mount", "/none", "/none", "-o", f"{name}=?"):
            check(value in help_lines[name], f"mount --help does not tell of {name}={value}")
            check(re.search(rf"^\.Cm .*\b{value}\b", manual[name], re.MULTILINE) is not None,
                  f"the manual does not tell of {name}={value}")  # fmt: skip
    cat = dict((re.match(r"\.Cm (\w+)", head)[1], body) for head, body in manual_items("VERBS"))["cat"]
    for value in choices(program, "cat", "/none", "x", "--format", "?"):
        check(value in run(program, "cat", "--help"), f"cat --help does not tell of --format {value}")
        check(re.search(rf"^\.Cm {value}\b", cat, re.MULTILINE) is not None, f"the manual does not tell of {value}")


# --- What scripts rely on --------------------------------------------------------------------------


def test_exit_codes() -> None:
    """the manual has every exit code, and no others"""
    wanted = re.findall(r"^    \w+ = (\d+),", EXIT_CODES.read_text(), re.MULTILINE)
    check_same([head for head, _ in manual_items("EXIT STATUS")], wanted, "the manual's EXIT STATUS")


def test_attributes(program: str, folder: Path) -> None:
    """the manual has every extended attribute, it and README every file of .tensorfs, and no others"""
    make_model("demo", folder / "model")
    with Mount(program, folder / "model") as mount:
        wanted = {
            "tensor": set(os.listxattr(mount.path / "lm_head" / "weight")),
            "folder": set(os.listxattr(mount.path / "lm_head")),
            "root": set(os.listxattr(mount.path)) - set(os.listxattr(mount.path / "lm_head")),
        }
        hidden = set(os.listdir(mount.hidden))
    metadata = {name for name in wanted["root"] if name.startswith("user.model.metadata.")}
    check(metadata != set(), "the demo model has no metadata")
    wanted["root"] = wanted["root"] - metadata | {"user.model.metadata.KEY"}

    # It can be read, but is not listed, since it changes with each look.
    wanted["root"].add("user.tensorfs.stats")

    manual: dict[str, list[str]] = {}
    kind = ""
    for head, _ in manual_items("THE MOUNTED TREE"):
        if head.startswith("Em of"):
            kind = next(kind for kind in wanted if kind in head)
            manual[kind] = []
        elif head.startswith("Va "):
            manual[kind].append(head.split()[1])
    for kind, names in wanted.items():
        check_same(manual.get(kind, []), names, f"the manual's attributes of a {kind}")

    in_manual = [head.split()[1].rstrip("/") for head, _ in manual_items("THE MOUNTED TREE") if head.startswith("Pa ")]
    check_same(in_manual, hidden, "the manual's .tensorfs")
    rows = page_table("README.md", "path")
    check_same([in_backticks(row[0])[0].split("/")[1] for row in rows], hidden, "README's .tensorfs")


def test_environment() -> None:
    """the manual has the environment variables that the program reads"""
    told = {head.split()[1] for head, _ in manual_items("ENVIRONMENT")}
    sources = [path.read_text() for folder in ("core", "fs") for path in (REPOSITORY / folder).rglob("*.[ch]pp")]
    read = {name for text in sources if "getenv" in text
            for name in re.findall(r'"(HOME|[A-Z]+(?:_[A-Z]+)+)"', text)}  # fmt: skip
    check("HF_HUB_CACHE" in read, "where the program reads its environment is not known here")
    check(read <= told, f"the manual lacks {', '.join(sorted(read - told))}")


def test_paths() -> None:
    """the pages link to files that are there, and name scripts that can be run"""
    for page in PAGES:
        text = (REPOSITORY / page).read_text()
        folder = (REPOSITORY / page).parent
        for link in re.findall(r"\]\(([^)]+)\)", text):
            path, _, title = link.partition("#")
            target = folder / path if path else REPOSITORY / page
            check(target.exists(), f"{page} links to {link}, which is not there")
            titles = [re.sub(r"[^\w -]", "", line.lstrip("# ")).strip().lower().replace(" ", "-")
                      for line in target.read_text().splitlines() if line.startswith("#")] if title else []  # fmt: skip
            check(not title or title in titles, f"{page} links to {link}: there is no such title")
        for script in re.findall(r"(?<![\w/.-])(?:\./)?(scripts/[a-z][\w-]*|\.ci/run)(?![\w/.-])", text):
            path = REPOSITORY / script
            check(path.is_dir() or os.access(path, os.X_OK), f"{page} names {script}, which cannot be run")


def test_folders() -> None:
    """core/README.md and fs/README.md list the folders that are there, and the files they name are there"""
    for name in ("core", "fs"):
        rows = page_table(f"{name}/README.md", "folder")
        listed = [folder for row in rows for folder in in_backticks(row[0])]
        check_same(listed, [path.name for path in (REPOSITORY / name).iterdir() if path.is_dir()], f"{name}/README.md")
        text = (REPOSITORY / name / "README.md").read_text()
        for path in re.findall(r"`((?:[a-z_]+/)+[\w.]+\.(?:cpp|hpp))`", text):
            found = (REPOSITORY / path).exists() or (REPOSITORY / name / path).exists()
            check(found, f"{name}/README.md names {path}, which is not there")


# --- The manual's form -----------------------------------------------------------------------------


def test_manual_in_groff() -> None:
    """the manual has no warning of man and groff"""
    need_program("groff")
    need_program("man")
    for command in (["man", "--warnings", "-l", MANUAL], ["groff", "-ww", "-mandoc", "-Tutf8", MANUAL]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=os.environ | {"LC_ALL": "C.UTF-8"})
        check_equal((done.returncode, done.stderr), (0, ""), f"{command[0]}: exit code and warnings")
        check("tensorfs" in done.stdout, f"{command[0]} prints no manual")


def test_manual_in_mandoc() -> None:
    """the manual has no warning of mandoc"""
    need_program("mandoc")
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", MANUAL], capture_output=True, text=True, timeout=60)
    check_equal((done.returncode, done.stdout), (0, ""), "mandoc: exit code and warnings")
