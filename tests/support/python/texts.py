"""What the program says of itself, and what its manual and pages say, as data to be compared."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Iterable, NamedTuple

from checks import REPOSITORY, check, run

BUILD = Path(os.environ.get("TENSORFS_PROGRAM") or REPOSITORY / "build" / "tensorfs").resolve().parent
MANUAL = BUILD / "tensorfs.1"
# The pages by their paths in the repository.
PAGES = ["README.md", "core/README.md", "fs/README.md", "scripts/README.md", "systemd/README.md",
         "systemd/FAR.md"]  # fmt: skip
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
    """What a verb's help lists for -o, or what it has instead, such as "uid=N"."""
    _, found, block = run(program, verb, "--help").partition("\nOptions for -")
    check(bool(found), f"{verb} --help lists no options")
    return re.findall(r"^  (\S+)", block, re.MULTILINE)


def list_flag(program: str, verb: str) -> str:
    """What gives these options: -o, but for a verb that needs it for something else."""
    found = re.search(r"^Options for (-\w),", run(program, verb, "--help"), re.MULTILINE)
    check(found is not None, f"{verb} --help lists no options")
    return found[1]


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


# --- Pages -----------------------------------------------------------------------------------------


class Block(NamedTuple):
    """A fenced block of a page."""

    section: str  # the title above it
    language: str  # what stands behind the fence, mostly nothing
    text: str


def page_blocks(page: str) -> list[Block]:
    """All fenced blocks of a page. In them, lines that begin with # are no titles."""
    blocks: list[Block] = []
    section = ""
    lines: list[str] | None = None
    language = ""
    for line in (REPOSITORY / page).read_text().splitlines(keepends=True):
        if line.startswith("```"):
            if lines is None:
                lines, language = [], line[3:].strip()
            else:
                blocks.append(Block(section, language, "".join(lines)))
                lines = None
        elif lines is not None:
            lines.append(line)
        elif line.startswith("#"):
            section = line.lstrip("#").strip()
    check(lines is None, f"{page}: a block of {section} has no end")
    return blocks


def blocks_of(page: str, section: str, language: str = "") -> list[str]:
    """The blocks of a section that are in a language; there is at least one."""
    found = [block.text for block in page_blocks(page) if (block.section, block.language) == (section, language)]
    check(found != [], f"{page} has no block of {language or 'text'} in {section}")
    return found


def page_table(page: str, header: str) -> list[list[str]]:
    """The cells below the header of the first table that begins so."""
    _, found, rest = (REPOSITORY / page).read_text().partition(f"\n| {header} |")
    check(bool(found), f"{page}: no table | {header} |")
    rows = rest.partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


def in_backticks(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)
