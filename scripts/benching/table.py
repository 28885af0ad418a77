"""The table of what was measured, as plain text, as Markdown and as JSON."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Optional

from .bench import Bench
from .building import revision
from .figures import Line
from .machine import machine

HEADINGS = ("row", "measured", "compared with", "tensorfs", "ratio", "to 4 KiB pages", "target", "", "others")


def text_of(value: Optional[float]) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def target_text(line: Line) -> str:
    if not line.target:
        return "–"
    of = f" {line.unit}" if line.target.of == "figure" else ""
    return f"{line.target.sense} {line.target.limit:.4g}{of}"


def rounds_of(lines: list[Line]) -> str:
    counts = [len(line.figures["tensorfs"]) for line in lines] or [0]
    return f"{min(counts)} to {max(counts)}" if min(counts) != max(counts) else str(counts[0])


def cells(line: Line) -> list[str]:
    reference = f"{text_of(line.median(line.reference))} {line.reference}" if line.reference in line.figures else "–"
    shown = ("tensorfs", line.reference)
    others = [f"{name} {text_of(line.median(name))}" for name in line.figures if name not in shown]
    return [line.row, f"{line.what}, {line.unit}", reference, text_of(line.median("tensorfs")),
            text_of(line.ratio(line.reference)), text_of(line.ratio("native4k")), target_text(line),
            {True: "met", False: "missed", None: ""}[line.is_met()], ", ".join(others + line.notes)]


def plain_table(rows: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(HEADINGS, *rows)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in [HEADINGS, *rows])
    return "\n".join(lines)


def markdown_table(rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in [HEADINGS, ["---"] * len(HEADINGS), *rows])


def print_report(bench: Bench, here: dict, now: datetime.datetime, lines: list[Line], not_measured: dict[str, str],
                 in_markdown: bool) -> None:
    rows = [cells(line) for line in lines]
    print(f"{here['cpu']}, {here['cores']} cores, Linux {here['kernel']}, libfuse {here['libfuse']}, "
          f"{here['filesystem']}, {now:%Y-%m-%d}: medians of {rounds_of(lines)} rounds\n")
    print(markdown_table(rows) if in_markdown else plain_table(rows), end="\n\n")
    bullet = "- " if in_markdown else ""
    for text in [*bench.notes, *(f"{row} was not measured: {why}" for row, why in not_measured.items())]:
        print(bullet + text)
    if any(line.is_met() is False for line in lines):
        print(bullet + "scripts/README.md says why the rows that missed their target did.")


def report(bench: Bench, not_measured: dict[str, str], *, in_markdown: bool, is_quick: bool,
           json_file: Optional[Path]) -> None:
    """Prints the table, and writes every figure to a file if there is one to write to."""
    here, lines = machine(bench.systems.filesystem), [line for line in bench.lines if "tensorfs" in line.figures]
    now = datetime.datetime.now().astimezone()
    print_report(bench, here, now, lines, not_measured, in_markdown)
    if json_file:
        json_file.write_text(json.dumps({
            "machine": here,
            "date": now.isoformat(timespec="seconds"),
            "revision": revision(),
            "quick": is_quick,
            "rounds": rounds_of(lines),
            "rows": [line.as_json() for line in lines],
            "not_measured": not_measured,
            "notes": bench.notes,
        }, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
