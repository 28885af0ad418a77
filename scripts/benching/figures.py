"""What was measured: the figures of all systems in all rounds, and how they compare."""

from __future__ import annotations

import dataclasses
import statistics
from typing import NamedTuple, Optional


class Target(NamedTuple):
    sense: str
    limit: float
    of: str = "ratio"  # or "figure"

    def is_met(self, value: float) -> bool:
        return value >= self.limit if self.sense == "≥" else value <= self.limit


@dataclasses.dataclass
class Line:
    """A line of the table: figures of all systems, one for each round."""

    row: str
    what: str
    unit: str
    target: Optional[Target] = None
    reference: str = "native"  # what tensorfs is compared with, if it was measured
    figures: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    notes: list[str] = dataclasses.field(default_factory=list)

    def add(self, system: str, figure: float) -> None:
        self.figures.setdefault(system, []).append(figure)

    def forget(self, system: str) -> None:
        """So that no system has figures of some rounds only."""
        self.figures.pop(system, None)

    def median(self, system: str) -> float:
        return statistics.median(self.figures[system])

    def ratios(self, reference: str) -> list[float]:
        """To the reference in each round; to its only figure, if it was measured once."""
        ours, theirs = self.figures.get("tensorfs", []), self.figures.get(reference, [])
        return [our / their for our, their in zip(ours, theirs * len(ours) if len(theirs) == 1 else theirs)]

    def ratio(self, reference: str) -> Optional[float]:
        ratios = self.ratios(reference)
        return statistics.median(ratios) if ratios else None

    def is_met(self) -> Optional[bool]:
        value = self.median("tensorfs") if self.target and self.target.of == "figure" else self.ratio(self.reference)
        return self.target.is_met(value) if self.target and value is not None else None

    def as_json(self) -> dict:
        return {
            "row": self.row,
            "what": self.what,
            "unit": self.unit,
            "figures": self.figures,
            "medians": {system: self.median(system) for system in self.figures},
            "reference": self.reference if self.reference in self.figures else None,
            "ratio": self.ratio(self.reference),
            "ratio_native4k": self.ratio("native4k"),
            "target": self.target._asdict() if self.target else None,
            "met": self.is_met(),
            "notes": self.notes,
        }
