"""From results of folds to the figures of a table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from aucmax.metrics import compare_auc
from benchmarks.papers.suehiro2011_data import Data, load
from benchmarks.papers.suehiro2011_protocol import FoldResult, splits

RANKBOOST, SOFTRANKBOOST = "RankBoost", "SoftRankBoost"


class Best(NamedTuple):
    """The best parameter by the test folds themselves, and its AUC."""

    parameter: float
    auc: float


class Results:
    """Results of folds, by data, method and hypotheses."""

    def __init__(self, folds: Iterable[FoldResult]) -> None:
        self._groups: dict[tuple[Any, ...], list[FoldResult]] = {}
        for fold in folds:
            key = (*fold.data.values(), fold.method, fold.hypotheses)
            self._groups.setdefault(key, []).append(fold)

    def folds(self, data: Data, method: str, hypotheses: str) -> list[FoldResult]:
        """Return the folds of one method; none if it was not run."""
        key = (*vars(data).values(), method, hypotheses)
        return self._groups.get(key, [])


def best(folds: Sequence[FoldResult], among: Sequence[float]) -> Best | None:
    """Return the parameter with the largest mean AUC on the test folds."""
    table = _table(folds, "auc", among)
    if table is None:
        return None
    place = int(np.argmax(table.mean(axis=0)))
    parameter = [value for value in folds[0].parameters if value in among][place]
    return Best(parameter, float(table[:, place].mean()))


def best_loose(folds: Sequence[FoldResult], among: Sequence[float]) -> float | None:
    """Return the largest mean of the AUC that counts ties as correct."""
    table = _table(folds, "loose_auc", among)
    return None if table is None else float(table.mean(axis=0).max())


def not_positive(folds: Sequence[FoldResult], among: Sequence[float]) -> list[float]:
    """Return the parameters whose margin is not above 0 in most folds."""
    table = _table(folds, "margin", among)
    if table is None:
        return []
    mostly = (table <= 0.0).mean(axis=0) > 0.5
    names = [value for value in folds[0].parameters if value in among]
    return [name for name, is_so in zip(names, mostly, strict=True) if is_so]


def at(
    folds: Sequence[FoldResult], parameter: float, name: str = "auc"
) -> float | None:
    """Return the mean AUC for one parameter."""
    table = _table(folds, name, [parameter])
    return None if table is None or table.size == 0 else float(table.mean())


def chosen_inside(folds: Sequence[FoldResult], name: str = "auc") -> float | None:
    """Return the mean AUC with the parameter chosen inside the training rows."""
    if not folds or not folds[0].inner_auc:
        return None
    return float(np.mean([getattr(fold, name)[fold.chosen] for fold in folds]))


def _table(
    folds: Sequence[FoldResult], name: str, among: Sequence[float]
) -> np.ndarray | None:
    """Return one figure for each fold and each of the parameters in `among`."""
    if not folds or not getattr(folds[0], name):
        return None
    keep = [value in among for value in folds[0].parameters]
    return np.array([getattr(fold, name) for fold in folds])[:, keep]


@dataclass
class Comparison:
    """Ours against another method on equal folds, all chosen inside the training rows.

    Attributes
    ----------
    ours, theirs : float
        Mean AUC over the folds.
    low, high : float
        The difference with 95 % confidence: DeLong's paired variances of the folds,
        which share no test row, added up.
    won : int
        Folds in which ours is larger; of equal folds, half.
    formulations : list of str
        Which formulation was chosen in each fold.
    """

    data: dict[str, Any]
    hypotheses: str
    method: str
    ours: float
    theirs: float
    low: float
    high: float
    won: float
    formulations: list[str]


def compare(
    data: Data,
    results: Results,
    formulations: Sequence[str],
    method: str,
    hypotheses: str,
) -> Comparison | None:
    """Compare the formulation that the inner folds like best with another method."""
    theirs = results.folds(data, method, hypotheses)
    candidates = [results.folds(data, name, hypotheses) for name in formulations]
    if not theirs or not all(candidates) or theirs[0].chosen_scores is None:
        return None
    labels, ours, tests = load(data).y, [], []
    for fold, (_, rows) in enumerate(splits(data)):
        mine = max((c[fold] for c in candidates), key=lambda r: max(r.inner_auc))
        ours.append(mine)
        scores = mine.chosen_scores, theirs[fold].chosen_scores
        tests.append(compare_auc(labels[rows], *scores))
    difference = np.array([test.auc_a - test.auc_b for test in tests])
    error = np.linalg.norm([test.standard_error for test in tests]) / len(tests)
    reach = norm.ppf(0.975) * error
    return Comparison(
        vars(data),
        hypotheses,
        method,
        float(np.mean([test.auc_a for test in tests])),
        float(np.mean([test.auc_b for test in tests])),
        float(difference.mean() - reach),
        float(difference.mean() + reach),
        float((difference > 0).sum() + (difference == 0).sum() / 2),
        [result.method for result in ours],
    )
