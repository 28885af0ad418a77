"""What the program says of itself, and what its manual and README.md say, as data to be compared."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Iterable

from checks import REPOSITORY, check, run

BUILD = Path(os.environ.get("TENSORFS_PROGRAM") or REPOSITORY / "build" / "tensorfs").resolve().parent
MANUAL = BUILD / "tensorfs.1"
README = REPOSITORY / "README.md"
EXIT_CODES = REPOSITORY / "fs" / "terminal" / "exit_code.hpp"


def check_same(found: Iterable[str], wanted: Iterable[str], where: str) -> None:
    """That a text has what the program has, each once, and nothing else."""
    found, wanted = sorted(found), sorted(wanted)
    lacks = [word for word in wanted if word not in found]
    invents = [word for word in found if word not in wanted]
    check(not lacks, f"{where} lacks {', '.join(lacks)}")
    check(not invents, f"{where} has {', '.join(invents)}, which the program has not")
    check(found == wanted, f"{where} has something twice: {', '.join(found)}")
    check(wanted != [], f"{where}: the program itself has none")


# --- The program -----------------------------------------------------------------------------------


def verbs(program: str) -> list[str]:
    """From the first screen of help."""
    block = re.search(r"^Verbs:\n((?:  .*\n)+)", run(program, "--help"), re.MULTILINE)
    check(block is not None, "--help lists no verbs")
    return re.findall(r"^  (\S+)", block[1], re.MULTILINE)


def usage(program: str, verb: str) -> str:
    """What stands behind the verb in the first lines of its help, on one line."""
    text = run(program, verb, "--help")
    found = re.match(rf"Usage: tensorfs {verb} ((?:.+\n)+)\n", text)
    check(found is not None, f"{verb} --help does not begin with its usage:\n{text}")
    return " ".join(found[1].split())


def flags(program: str, verb: str) -> list[str]:
    """The flags in the lines of a verb's help, such as "-f" and "--foreground"."""
    lines = re.findall(r"^  (-\S.*?)(?:  |$)", run(program, verb, "--help"), re.MULTILINE)
    return [word.rstrip(",") for line in lines for word in line.split() if word.startswith("-")]


def options(program: str, verb: str) -> list[str]:
    """What a verb's help lists for -o, such as "uid=N"."""
    _, found, block = run(program, verb, "--help").partition("\nOptions for -o")
    check(bool(found), f"{verb} --help lists no options for -o")
    return re.findall(r"^  (\S+)", block, re.MULTILINE)


def choices(program: str, *words: str) -> list[str]:
    """The values that something takes, from what is said of one that it does not take."""
    done = subprocess.run([program, *words], capture_output=True, text=True, timeout=60)
    check(done.returncode == 2, f"{' '.join(words)}: exit code {done.returncode}")
    found = re.search(r"is not one of (.+)", done.stderr)
    check(found is not None, f"{' '.join(words)}: no word of what may stand there: {done.stderr}")
    return re.split(r", | and ", found[1])


# --- The manual ------------------------------------------------------------------------------------


def manual_section(title: str) -> str:
    text = re.sub(r"^\.\\\".*\n", "", MANUAL.read_text(), flags=re.MULTILINE)
    found = re.search(rf"^\.Sh {title}\n(.*?)(?=^\.Sh |\Z)", text, re.MULTILINE | re.DOTALL)
    check(found is not None, f"the manual has no section {title}")
    return found[1]


def manual_items(title: str) -> list[tuple[str, str]]:
    """The items of a section's lists: the macros that name one, and what stands below it."""
    items = []
    for item in re.split(r"^\.It ", manual_section(title), flags=re.MULTILINE)[1:]:
        item = re.split(r"^\.El$", item, flags=re.MULTILINE)[0]
        if item.startswith("Xo\n"):
            head, _, body = item.removeprefix("Xo\n").partition("\n.Xc\n")
        else:
            head, _, body = item.partition("\n")
        items.append((head, body))
    return items


def manual_literals(title: str) -> list[str]:
    """The literal blocks of a section, as they are typed."""
    blocks = re.findall(r"^\.Bd -literal[^\n]*\n(.*?)^\.Ed$", manual_section(title), re.MULTILINE | re.DOTALL)
    check(not any("\\" in block for block in blocks), "an escape of roff is not understood here")
    return blocks


# --- README.md -------------------------------------------------------------------------------------


def readme_section(title: str) -> str:
    """Up to the next title of the same rank or a higher one; lines that begin with # in a block are none."""
    lines = README.read_text().splitlines(keepends=True)
    section: list[str] = []
    rank = 0
    in_block = False
    for line in lines:
        in_block ^= line.startswith("```")
        heading = None if in_block else re.match(r"(#+) (.*)\n", line)
        if rank and heading and len(heading[1]) <= rank:
            break
        if rank:
            section.append(line)
        elif heading and heading[2] == title:
            rank = len(heading[1])
    check(section != [], f"README.md has no section {title}")
    return "".join(section)


def readme_blocks(title: str) -> list[str]:
    return re.findall(r"^```\n(.*?)^```$", readme_section(title), re.MULTILINE | re.DOTALL)


def readme_table(title: str, header: str) -> list[list[str]]:
    """The cells below the header of the table that begins so."""
    _, found, rest = readme_section(title).partition(f"\n| {header} |")
    check(bool(found), f"README.md, {title}: no table | {header} |")
    rows = rest.partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


def in_backticks(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)
