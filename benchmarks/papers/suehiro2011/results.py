"""From results of folds to the figures of a table."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aucmax.inference import MetricDifference, compare_auc
from benchmarks.papers.choices import Results
from benchmarks.papers.suehiro2011 import printed
from benchmarks.papers.suehiro2011.data import (
    TOPICS,
    UCI,
    Data,
    NewsData,
    RuleData,
    TableData,
    load,
    splits,
)
from benchmarks.papers.suehiro2011.printed import Printed
from benchmarks.papers.suehiro2011.protocol import FoldResult

OURS = ("pairs", "instances")  # may be chosen inside the training rows


def rows_of(part: str) -> list[tuple[Data, Printed]]:
    """Return the data of a table with what was printed for them."""
    if part == "1":
        found = printed.TABLE_1.items()
        return [(RuleData(r, noise), row) for (r, noise), row in found]
    if part == "2":
        found = printed.TABLE_2.items()
        return [(RuleData(r, 5, share), row) for (share, r), row in found]
    if part == "3":
        return [(TableData(name), printed.TABLE_3[name]) for name in UCI]
    return [(NewsData(topic), printed.TABLE_4[topic]) for topic in TOPICS]


class FoldResults(Results[FoldResult]):
    """Results of folds, by data, method and hypotheses."""

    def of(
        self, data: Data, method: str, hypotheses: str = "features"
    ) -> list[FoldResult]:
        """Return the folds of one method; none if it was not run."""
        return self.folds(str(data), (method, hypotheses))

    def has_part(self, part: str) -> bool:
        """Tell whether any data of a table were run."""
        return any(str(data) in self.data for data, _ in rows_of(part))


class Best(NamedTuple):
    """The best parameter by the test folds themselves, and its AUC."""

    parameter: float
    auc: float


def best(folds: Sequence[FoldResult], among: Sequence[float]) -> Best | None:
    """Return the parameter with the largest mean AUC on the test folds."""
    table = _table(folds, "auc", among)
    if table is None:
        return None
    place = int(np.argmax(table.mean(axis=0)))
    parameter = [value for value in folds[0].candidates if value in among][place]
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
    names = [value for value in folds[0].candidates if value in among]
    return [name for name, is_so in zip(names, mostly, strict=True) if is_so]


def at(
    folds: Sequence[FoldResult], parameter: float, name: str = "auc"
) -> float | None:
    """Return the mean AUC for one parameter."""
    table = _table(folds, name, [parameter])
    return None if table is None or table.size == 0 else float(table.mean())


def chosen_inside(folds: Sequence[FoldResult], name: str = "auc") -> float | None:
    """Return the mean AUC with the parameter chosen inside the training rows."""
    if not folds or not folds[0].valid:
        return None
    return float(np.mean([getattr(fold, name)[fold.chosen] for fold in folds]))


def _table(
    folds: Sequence[FoldResult], name: str, among: Sequence[float]
) -> np.ndarray | None:
    """Return one figure for each fold and each of the parameters in `among`."""
    if not folds or not getattr(folds[0], name):
        return None
    keep = [value in among for value in folds[0].candidates]
    return np.array([getattr(fold, name) for fold in folds])[:, keep]


def compare(
    results: FoldResults, data: NewsData, method: str, hypotheses: str
) -> tuple[str, MetricDifference] | None:
    """Compare the formulation that the inner folds like best with another method.

    On one test set, by DeLong's test; all was chosen inside the training rows.
    """
    theirs = results.of(data, method, hypotheses)
    candidates = [one for name in OURS for one in results.of(data, name, hypotheses)]
    if not theirs or not candidates or not theirs[0].valid:
        return None
    mine = max(candidates, key=lambda one: max(one.valid))
    _, rows = splits(data)[0]
    scores = (np.array(one.chosen_scores) for one in (mine, theirs[0]))
    return mine.method, compare_auc(load(data).y[rows], *scores)
