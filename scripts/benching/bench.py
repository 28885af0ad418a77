"""The bench: what all rows share, how they measure systems in turns, and what they found."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Callable, Collection, Iterable

from .building import copy_programs
from .client import Client
from .commands import Failed, Skipped
from .data import Data, Sizes
from .effort import Effort
from .figures import Line
from .files import whole
from .machine import PEERS
from .systems import OURS, Systems, View


class Progress:
    """Tells on the standard error what is being done: each row is a line, which its rounds' numbers make longer."""

    def __init__(self):
        self._is_in_line = False

    def say(self, text: str, end_: str = "\n") -> None:
        print("\n" * self._is_in_line + "==> " + text, end=end_, file=sys.stderr, flush=True)
        self._is_in_line = end_ != "\n"

    def tick(self, number: int) -> None:
        print(f" {number}", end="", file=sys.stderr, flush=True)
        self._is_in_line = True


class Bench:
    """Measures one row after the other. Everything it mounts or starts ends with `stack`."""

    def __init__(self, folder: Path, sizes: Sizes, effort: Effort, stack: contextlib.ExitStack):
        self.sizes, self.effort = sizes, effort
        self.scratch = Path(tempfile.mkdtemp(prefix="run-", dir=folder))
        stack.callback(shutil.rmtree, self.scratch, ignore_errors=True)
        copy_programs(self.scratch)
        self.client = Client(self.scratch)
        self.progress = Progress()
        self.data = Data(folder, sizes, lambda: self.systems.tmpfs, self.progress.say)
        self.systems = Systems(self.scratch, self.data, stack)
        self.notes: list[str] = []
        self.lines: list[Line] = []

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def measure_rows(self, rows: Iterable[tuple[str, Callable[[Bench], None]]],
                     with_targets: bool) -> tuple[dict[str, str], bool]:
        """What was not measured and why, and whether anything failed."""
        not_measured, has_failed = {}, False
        for name, measure in rows:
            self.progress.say(name, end_="")
            before = len(self.lines)
            try:
                measure(self)
            except Skipped as reason:
                not_measured[name] = str(reason)
            except (Failed, OSError, subprocess.SubprocessError) as error:
                not_measured[name], has_failed = str(error), True
                del self.lines[before:]
                self.progress.say(f"{name} failed: {error}")
            if not with_targets:
                for line in self.lines:
                    line.target = None
        self.progress.say("done")
        return not_measured, has_failed

    def alternate(self, lines: list[Line], names: list[str], measure: Callable[[str], tuple],
                  slow: Collection[str] = ()) -> None:
        """Measures all systems in each round; `measure` gives a figure for each of the lines. Those that are known to
        be `slow` are measured in the first round only, unless the effort is whole."""
        names = list(names)
        self.lines += lines
        for number in self.effort.rounds(lines):
            self.progress.tick(number + 1)
            if number == 1 and not self.effort.is_whole:
                names = [name for name in names if name not in slow]
            for name in names[:: -1 if number % 2 else 1]:
                try:
                    figures = measure(name)
                except (Failed, OSError) as error:
                    if name not in PEERS:
                        raise
                    self.note(f"{lines[0].row}: {name}: {error}")
                    names.remove(name)
                    for line in lines:
                        line.forget(name)
                    continue
                for line, figure in zip(lines, figures):
                    line.add(name, figure)

    def alternate_first(self, lines: list[Line], names: list[str], measure: Callable[[View], tuple]) -> None:
        """As alternate(), with big.weight through a fresh mount each time."""
        def measure_fresh(name: str) -> tuple:
            with self.systems.big_through(name) as view:
                return measure(view)
        self.alternate(lines, self.ready(names), measure_fresh)

    def alternate_again(self, lines: list[Line], names: list[str], warm_up: Callable[[View], object],
                        measure: Callable[[View], tuple]) -> None:
        """The same through mounts that stay, once `warm_up` has been done with each."""
        with contextlib.ExitStack() as stack:
            views: dict[str, View] = {}

            def measure_again(name: str) -> tuple:
                if name not in views:
                    views[name] = stack.enter_context(self.systems.big_through(name))
                    warm_up(views[name])
                return measure(views[name])
            self.alternate(lines, self.ready(names), measure_again)

    def ready(self, names: list[str]) -> list[str]:
        """Those of the systems that have something to read from, with that in the page cache."""
        able = []
        for name in names:
            try:
                source = self.systems.source_of(name)
            except Skipped as reason:
                self.note(f"{name}: {reason}")
            except (Failed, OSError) as error:
                if name not in PEERS:
                    raise
                self.note(f"{name}: {error}")
            else:
                if name not in OURS and name != "native4k":  # the shard, once; a tmpfs has no other place
                    self.client.warm(self.data.big if name == "native" else whole(source))
                able.append(name)
        return able
