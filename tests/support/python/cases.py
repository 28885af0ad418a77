#!/usr/bin/python3 -B
"""Tests in Python as ctest has them: each is a test by itself, that is passed, failed or skipped.

cases.py list FILE   prints a line for each test of the file: its name, a tab, and its title, which is the first line
                     of its docstring
cases.py run TEST    runs FILE::NAME by pytest; exits with 77 if it is skipped, which says why, and with 1 if it fails
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

SKIPPED = 77


def title_of(test: ast.FunctionDef) -> str:
    title = (ast.get_docstring(test) or "").partition("\n")[0]
    if not title or not set(title).isdisjoint(';[]"\\'):  # CMake's lists and strings
        raise ValueError(f"{test.name}: the first line of its docstring is no title for CMake: {title!r}")
    return title


def list_tests(file: Path) -> int:
    tests = [node for node in ast.parse(file.read_text()).body
             if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]  # fmt: skip
    if not tests:
        raise ValueError(f"{file} has no tests")
    for test in tests:
        print(test.name, title_of(test), sep="\t")
    return 0


class Skips:
    """A plugin of pytest that sees whether something was skipped."""

    def __init__(self) -> None:
        self.any = False

    def pytest_runtest_logreport(self, report: object) -> None:
        self.any |= report.skipped

    def pytest_collectreport(self, report: object) -> None:
        self.any |= report.skipped


def run_test(test: str) -> int:
    try:
        import pytest
    except ImportError as error:
        print(f"SKIPPED: {error}")
        return SKIPPED
    skips = Skips()
    code = pytest.main(["-rs", "--capture=no", test], plugins=[skips])
    passed = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED if skips.any else pytest.ExitCode.OK)
    if code in passed:
        return SKIPPED if skips.any else 0
    return 1


def main() -> int:
    if len(sys.argv) == 3 and sys.argv[1] == "list":
        return list_tests(Path(sys.argv[2]))
    if len(sys.argv) == 3 and sys.argv[1] == "run":
        return run_test(sys.argv[2])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
