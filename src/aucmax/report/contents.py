"""The content of a report as plain values: no model, no drawing, no markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from aucmax._core.validation import BoolArray, FloatArray
from aucmax.decisions.subgroups import GroupComparison
from aucmax.inference import MetricDifference
from aucmax.inspection import Importances
from aucmax.model_selection.comparison import ModelResult
from aucmax.tables import Target


@dataclass(frozen=True)
class Importance:
    """Drop of the metric per shuffled column, the most important column first."""

    result: Importances
    n_columns: int  # of the table, perhaps more than were shuffled
    note: str = ""


@dataclass(frozen=True)
class SurvivalScores:
    """Events and times of held-out rows, with the scores of models, the best first."""

    target: Target
    scores: Mapping[str, FloatArray]  # on one scale for all rows
    horizon: float
    probability: FloatArray | None = None  # of an event by the horizon


@dataclass(frozen=True)
class ReportContents:
    """Everything that a report states; the best model comes first."""

    title: str
    verdict: str
    facts: Sequence[str]
    measures: Sequence[str]  # their titles
    models: Sequence[ModelResult]
    explanation: Sequence[str]
    labels: BoolArray
    rankings: Mapping[str, FloatArray]  # scores per model; empty: see `no_rankings`
    glossary: Mapping[str, str] = field(default_factory=dict)
    tests: Sequence[MetricDifference] = ()
    score_unit: str = "score"  # of the thresholds
    start_depth: int | None = None  # cases reviewed when the page opens
    fpr_range: Sequence[float] | None = None  # to shade in the ROC curves
    probabilities: tuple[BoolArray, FloatArray] | None = None  # with their labels
    origin_of_probabilities: str = ""
    importance: Importance | None = None  # of the best model
    parts: Mapping[str, float] = field(default_factory=dict)  # weights of the best one
    n_candidates: int = 0  # models tried for the combination
    origin_of_parts: str = ""
    notices: Sequence[str] = ()
    certificates: Sequence[tuple[str, str]] = ()
    reproduction: Mapping[str, Any] = field(default_factory=dict)
    no_rankings: str = ""
    groups: tuple[str | None, GroupComparison] | None = None  # by this column
    survival: SurvivalScores | None = None  # instead of rankings
    date: str = field(default_factory=lambda: date.today().isoformat())

    @property
    def baselines(self) -> list[str]:
        """The models that others are tested against."""
        return [row.name for row in self.models if row.is_baseline]
