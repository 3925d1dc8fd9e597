"""What a comparison of models says."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax.tables.target import Target

__all__ = ["Comparison", "ModelResult", "VersusBaseline"]


@dataclass(frozen=True)
class ModelResult:
    """How well one model ranks.

    Attributes
    ----------
    name : str
        Name in :data:`aucmax.comparison.MODELS`.
    is_baseline : bool
        Whether others are tested against it.
    measures : dict of str to float
        Cross-validated, the main measure first: ``auc`` and ``partial_auc``; with more
        than two levels ``mauc``, ``ordinal_auc``, and ``auc`` of all rows above the
        lowest level.
    low, high : float
        95% interval of the main measure.
    seconds : float
        Median seconds of a fit, the preparation of the table not counted.
    folds : tuple of float
        The main measure on each test fold.
    """

    name: str
    is_baseline: bool
    measures: dict[str, float]
    low: float
    high: float
    seconds: float
    folds: tuple[float, ...]

    @property
    def main(self) -> float:
        """The main measure, by which models are compared."""
        return next(iter(self.measures.values()))

    @property
    def auc(self) -> float:
        """Cross-validated AUC."""
        return self.measures["auc"]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as simple values, each measure under its name."""
        record = asdict(self)
        measures = record.pop("measures")
        folds = record.pop("folds")
        return {**record, **measures, f"fold_{next(iter(measures))}s": list(folds)}


@dataclass(frozen=True)
class VersusBaseline:
    """The test of a model against a baseline, of DeLong or over queries.

    Attributes
    ----------
    model, baseline : str
        Their names.
    difference, low, high : float
        Main measure of the model minus that of the baseline, with its 95% interval.
    p_value : float
        Two-sided.
    verdict : {"beats", "loses", "no difference"}
        At the level 0.05.
    """

    model: str
    baseline: str
    difference: float
    low: float
    high: float
    p_value: float
    verdict: str


@dataclass(frozen=True)
class Comparison:
    """Models side by side on the same folds.

    Attributes
    ----------
    results : tuple of ModelResult
        In the order in which the models were given.
    tests : tuple of VersusBaseline
        Every model against every other baseline.
    best : str
        The model with the highest main measure; the first of several.
    target : Target
        What was ranked.
    unit : {"rows", "queries", "folds"}
        What intervals and tests take for independent.
    positions : dict of str to ndarray of shape (rows,)
        For each model the share of negatives of its fold, or query, that a row
        outranks: unlike the scores, comparable between folds.
    n_folds : int
        Number of folds.
    fpr_range : tuple of float
        Range of the partial AUC.
    notices : tuple of str
        Warnings of the models.
    """

    results: tuple[ModelResult, ...]
    tests: tuple[VersusBaseline, ...]
    best: str
    target: Target
    unit: str
    positions: dict[str, NDArray[np.float64]]
    n_folds: int
    fpr_range: tuple[float, float]
    notices: tuple[str, ...]

    @property
    def metric(self) -> str:
        """The measure by which models are compared."""
        return next(iter(self.results[0].measures))

    def to_dict(self) -> dict[str, Any]:
        """Everything but the rows, in simple values for JSON."""
        return {
            "rows": int(self.target.labels.size),
            "positive_rows": self.target.n_positive,
            "queries": self.target.n_queries,
            "usable_queries": self.target.n_usable_queries,
            "folds": self.n_folds,
            "fpr_range": list(self.fpr_range),
            "metric": self.metric,
            "unit": self.unit,
            "best": self.best,
            "models": [result.to_dict() for result in self.results],
            "tests": [asdict(test) for test in self.tests],
        }
