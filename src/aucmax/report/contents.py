"""What a report says, in plain values: no model, no drawing, no markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aucmax._core.validation import BoolArray, FloatArray
from aucmax.inspection import Importances

__all__ = [
    "BaselineTest",
    "Importance",
    "ModelRow",
    "NamedRanking",
    "Probabilities",
    "ReportContents",
    "as_p_value",
]


def as_p_value(value: float) -> str:
    """Write a p-value in a few characters."""
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


@dataclass(frozen=True)
class BaselineTest:
    """The test of a model against a baseline; `word` is "beats", "loses" or "even"."""

    word: str
    p_value: float
    difference: float
    low: float
    high: float

    @property
    def chance(self) -> str:
        """The p-value in a few characters."""
        return as_p_value(self.p_value)


@dataclass(frozen=True)
class ModelRow:
    """One model in the table: measures, the main one first with its interval.

    All are NaN where `problem` says why. `seconds` are those of a fit, `folds` the main
    measure on each fold, and `tests` those against baselines, by their names.
    """

    name: str
    is_baseline: bool
    measures: Sequence[float]
    low: float
    high: float
    seconds: float | None = None
    folds: Sequence[float] = ()
    tests: Mapping[str, BaselineTest] = field(default_factory=dict)
    problem: str | None = None

    @property
    def main(self) -> float:
        """The main measure."""
        return self.measures[0]


@dataclass(frozen=True)
class NamedRanking:
    """Scores of a model with which all rows can be compared; higher ranks higher."""

    name: str
    scores: FloatArray


@dataclass(frozen=True)
class Probabilities:
    """Probabilities of a model that rows are positive which it was not fitted to."""

    name: str
    labels: BoolArray
    values: FloatArray


@dataclass(frozen=True)
class Importance:
    """How much worse a model ranks without each column, the most important first.

    The table has `n_columns`, perhaps more than were tried.
    """

    model: str
    found: Importances
    n_columns: int
    note: str = ""


@dataclass(frozen=True)
class ReportContents:
    """Everything that a report says, in plain values.

    Models and rankings have the best first. `rankings` is empty where rows of different
    queries cannot be compared, which `no_rankings` then says; `scale` is what their
    scores are, `fpr_range` the part of the ROC curve that counts, and `certificates`
    how close to their optimum models are.
    """

    title: str
    verdict: str
    facts: Sequence[str]
    measures: Sequence[str]
    baselines: Sequence[str]
    models: Sequence[ModelRow]
    explanation: Sequence[str]
    labels: BoolArray
    rankings: Sequence[NamedRanking]
    scale: str = "score"
    fpr_range: Sequence[float] | None = None
    probabilities: Sequence[Probabilities] = ()
    origin_of_probabilities: str = ""
    importance: Importance | None = None
    notices: Sequence[str] = ()
    certificates: Sequence[tuple[str, str]] = ()
    reproduction: Mapping[str, Any] = field(default_factory=dict)
    no_rankings: str = ""
