"""How long a row is measured: until its figures agree, or for as long as a person waits."""

from __future__ import annotations

import statistics
import time
from typing import Iterator, NamedTuple, Optional

from .figures import Line


class Effort(NamedTuple):
    """Rounds of each row: at least `least`, then until the figures agree, `most` were measured or `seconds` are up."""

    least: int
    most: int
    seconds: float
    is_whole: bool  # all systems in all rounds, and all sizes

    def rounds(self, lines: list[Line]) -> Iterator[int]:
        """Numbers of rounds, from 0, for as long as there shall be one more."""
        start = time.monotonic()
        for number in range(self.most):
            if number >= self.least and (time.monotonic() - start > self.seconds or all(map(agree, lines))):
                return
            yield number


WAITING = Effort(3, 9, 15, is_whole=False)
QUICK = Effort(2, 2, 0, is_whole=True)
AGREED = 0.05  # what the middle half of a line's figures may differ by, in relation to their median


def whole(rounds: Optional[int]) -> Effort:
    return Effort(rounds or 5, rounds or 5, 0, is_whole=True)


def exactly(rounds: int) -> Effort:
    return Effort(rounds, rounds, 0, is_whole=False)


def agree(line: Line) -> bool:
    """Whether what a line says of tensorfs would hardly change: the ratio, where there is one."""
    figures = line.ratios(line.reference) or line.figures.get("tensorfs", [])
    if len(figures) < 3:
        return False
    low, _, high = statistics.quantiles(figures, n=4)
    return high - low <= AGREED * abs(statistics.median(figures))
