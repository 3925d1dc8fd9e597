"""What a report says, in plain values: no model, no drawing, no markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aucmax._core.validation import BoolArray, FloatArray
from aucmax.inspection import Importances


def as_p_value(value: float) -> str:
    """Write a p-value in a few characters."""
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


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
    """How much worse a model ranks without each column, the most important first."""

    model: str
    found: Importances
    n_columns: int  # of the table, perhaps more than were tried
    note: str = ""


@dataclass(frozen=True)
class ReportContents:
    """Everything that a report says, in plain values; the best models come first."""

    title: str
    verdict: str
    facts: Sequence[str]
    measures: Sequence[str]  # their titles
    baselines: Sequence[str]
    models: Sequence[Any]  # each an aucmax.model_selection.ModelResult
    explanation: Sequence[str]
    labels: BoolArray
    rankings: Sequence[NamedRanking]  # empty for the reason that `no_rankings` states
    tests: Sequence[Any] = ()  # each an aucmax.model_selection.VersusBaseline
    scale: str = "score"  # what the scores of the rankings are
    fpr_range: Sequence[float] | None = None  # the part of the ROC curve that counts
    probabilities: Sequence[Probabilities] = ()
    origin_of_probabilities: str = ""
    importance: Importance | None = None
    notices: Sequence[str] = ()
    certificates: Sequence[tuple[str, str]] = ()
    reproduction: Mapping[str, Any] = field(default_factory=dict)
    no_rankings: str = ""
