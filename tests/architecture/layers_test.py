"""The sources stand in layers, and a folder's listing reads like a table of contents. A part is a .hpp, a .cpp or both."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

# A folder includes itself and those before it in its line; fs includes all of core, and core nothing of fs.
LAYERS = {
    "core": ["base", "tensors", "formats", "sources", "model", "numbers", "views", "exporting"],
    "fs": ["terminal", "options", "volume", "statistics", "paging", "serving", "daemon", "printing", "showing",
           "comparing", "command_line", "completions", "man", "commands"],
}  # fmt: skip
MOST_PARTS = 16


@cache
def parts() -> dict[str, set[str]]:
    """Each part, as a path without its suffix, and the parts that it includes."""
    found: dict[str, set[str]] = {}
    for top in LAYERS:
        for file in sorted((REPOSITORY / top).rglob("*.?pp")):
            part = str(file.relative_to(REPOSITORY).with_suffix(""))
            includes = re.findall(r'^#include "(.+)\.\w+"', file.read_text(), re.MULTILINE)
            found.setdefault(part, set()).update(set(includes) - {part})
    assert len(found) > 80, f"only {len(found)} parts in {REPOSITORY}"
    return found


def layer(part: str) -> tuple[int, int]:
    """A part's layer, from the ground up. What stands in fs itself is a program, above all."""
    top, *folders = part.split("/")
    names = LAYERS[top]
    if len(folders) == 1:
        assert top == "fs", f"{part} is in no folder of {top}"
        return 1, len(names)
    assert folders[0] in names, f"{top}/{folders[0]} is in no layer: say which in {Path(__file__).name}"
    return list(LAYERS).index(top), names.index(folders[0])


def test_every_include_names_a_part() -> None:
    """every include in quotes is a path from the repository's top to a source"""
    lost = [f"{part} includes {other}" for part, others in parts().items() for other in others - parts().keys()]
    assert not lost, "\n".join(lost)


def test_includes_point_down() -> None:
    """a folder includes itself and lower ones only, and core nothing of fs"""
    wrong = [f"{part} includes {other}" for part, others in parts().items() for other in others
             if other in parts() and layer(other) > layer(part)]  # fmt: skip
    assert not wrong, "\n".join(wrong)


def test_no_circles() -> None:
    """no part includes itself by way of others"""
    circles: list[str] = []
    done: set[str] = set()

    def visit(part: str, above: list[str]) -> None:
        if part in above:
            circles.append(" -> ".join([*above[above.index(part) :], part]))
        elif part not in done:
            for other in sorted(parts().get(part, ())):
                visit(other, [*above, part])
            done.add(part)

    for part in parts():
        visit(part, [])
    assert not circles, "\n".join(circles)


def test_listings_are_short() -> None:
    """no folder of sources or tests has more than 16 parts and folders"""
    listings: dict[str, set[str]] = {}
    tests = {str(file.relative_to(REPOSITORY).with_suffix("")) for file in (REPOSITORY / "tests").rglob("*.?pp")}
    for part in parts().keys() | tests:
        folders = part.split("/")
        for depth in range(1, len(folders)):
            listings.setdefault("/".join(folders[:depth]), set()).add(folders[depth])
    long = [f"{folder} has {len(names)}: {', '.join(sorted(names))}" for folder, names in listings.items()
            if len(names) > MOST_PARTS]  # fmt: skip
    assert not long, "\n".join(long)
