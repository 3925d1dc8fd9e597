"""What a comparison of models says."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Comparison", "ModelResult", "VersusBaseline"]


@dataclass(frozen=True)
class ModelResult:
    """How well one model ranks.

    Attributes
    ----------
    name : str
        Name in :data:`aucmax.tabular.MODELS`.
    is_baseline : bool
        Whether others are tested against it.
    auc, low, high : float
        Cross-validated AUC with its 95% interval.
    partial_auc : float
        The same mean of the partial AUC; a perfect ranking has 1.
    seconds : float
        Median seconds of a fit, the preparation of the table not counted.
    fold_aucs : tuple of float
        The AUC on each test fold.
    """

    name: str
    is_baseline: bool
    auc: float
    low: float
    high: float
    partial_auc: float
    seconds: float
    fold_aucs: tuple[float, ...]


@dataclass(frozen=True)
class VersusBaseline:
    """DeLong's test of a model against a baseline.

    Attributes
    ----------
    model, baseline : str
        Their names.
    difference, low, high : float
        AUC of the model minus that of the baseline, with its 95% interval.
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
        The model with the highest AUC; the first of several.
    labels : ndarray of int64 of shape (rows,)
        1 for positive rows.
    positions : dict of str to ndarray of shape (rows,)
        For each model the share of negatives of its fold that a row outranks: unlike
        the scores, comparable between folds.
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
    labels: NDArray[np.int64]
    positions: dict[str, NDArray[np.float64]]
    n_folds: int
    fpr_range: tuple[float, float]
    notices: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything but the rows, in simple values for JSON."""
        return {
            "rows": int(self.labels.size),
            "positive_rows": int(self.labels.sum()),
            "folds": self.n_folds,
            "fpr_range": list(self.fpr_range),
            "best": self.best,
            "models": [asdict(result) for result in self.results],
            "tests": [asdict(test) for test in self.tests],
        }
