"""From the scores of the test rows to the figures of the study."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from aucmax.metrics import (
    mean_average_precision,
    multiclass_auc_score,
    ndcg_score,
    ordinal_auc_score,
    precision_at_k,
    roc_auc_score,
)
from benchmarks.papers.choices import Results
from benchmarks.papers.differences import Difference, mean_difference
from benchmarks.papers.welleck2015 import methods
from benchmarks.papers.welleck2015.data import N_PARTS, Rows, fold_of, join
from benchmarks.papers.welleck2015.protocol import Result

DEPTHS = tuple(range(1, 11))
AVERAGES = ("micro", "macro")
MAUC, ORDINAL, MAP, NDCG = "MAUC", "ordinal AUC", "MAP", "NDCG@10"
MEASURES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    MAUC: multiclass_auc_score,
    ORDINAL: ordinal_auc_score,
    MAP: mean_average_precision,
    NDCG: lambda y, scores: ndcg_score(y, scores, k=10),
}


@dataclass(frozen=True)
class Figures:
    """Figures of one method on the test queries of all folds.

    Attributes
    ----------
    by_query : dict
        By measure or level, a value for each query; NaN where a query does not count:
        it needs a row above level 0 and, for an AUC, two levels. For a precision all
        queries count.
    fold_of : ndarray
        The fold of each query.
    pooled : ndarray
        MAUC of all test rows of a fold together, for each fold.
    shares : ndarray
        The share of each level above 0 among the test rows above 0, by fold.
    precision : dict
        By the way of averaging, precision at 1 to 10.
    """

    by_query: dict[str | int, np.ndarray]
    fold_of: np.ndarray
    pooled: np.ndarray
    shares: np.ndarray
    precision: dict[str, np.ndarray]

    def mean(self, measure: str | int) -> float:
        """Return the mean over the queries that count."""
        return float(np.nanmean(self.by_query[measure]))

    def fold_mean(self, measure: str | int, empty: float = np.nan) -> float:
        """Return the mean of the folds' means; `empty` is for queries without value."""
        values = np.nan_to_num(self.by_query[measure], nan=empty)
        means = [np.nanmean(values[self.fold_of == k]) for k in range(N_PARTS)]
        return float(np.mean(means))

    def class_mean(self) -> float:
        """Return the levels' mean AUC over queries, weighted by the folds' shares."""
        means = []
        for k, shares in enumerate(self.shares):
            at = self.fold_of == k
            aucs = [
                np.nanmean(self.by_query[level + 1][at]) if share > 0 else 0.0
                for level, share in enumerate(shares)
            ]
            means.append(shares @ np.array(aucs))
        return float(np.mean(means))


class StudyResults(Results[Result]):
    """All results, judged when asked for."""

    def __init__(self, results: Iterable[Result]) -> None:
        super().__init__(results)
        self._figures: dict[tuple[str, str], Figures] = {}

    @property
    def complete(self) -> list[str]:
        """Names of the methods that were run on all folds of all data sets."""
        return [
            name
            for name in self.methods
            if all(len(self.folds(data, name)) == N_PARTS for data in self.data)
        ]

    def figures(self, data: str, method: str) -> Figures:
        """Return the figures of a method, computed once."""
        key = (data, method)
        if key not in self._figures:
            self._figures[key] = judge(self.folds(data, method))
        return self._figures[key]

    def difference(self, data: str, other: str, measure: str = MAUC) -> Difference:
        """Return LambdaMART-MAUC less another method, as a mean over queries."""
        ours, theirs = (
            self.figures(data, method).by_query[measure]
            for method in (methods.MAUC, other)
        )
        apart = ours - theirs
        return mean_difference(apart[~np.isnan(apart)])


def judge(results: Sequence[Result]) -> Figures:
    """Measure the test scores of all folds."""
    tests = [fold_of(one.data, one.fold).test for one in results]
    scores = [np.array(one.scores) for one in results]
    levels = range(1, int(max(test.y.max() for test in tests)) + 1)
    return Figures(
        _by_query(join(tests), np.concatenate(scores), levels),
        np.repeat(range(len(tests)), [test.query_sizes().size for test in tests]),
        np.array(
            [
                multiclass_auc_score(test.y, one)
                for test, one in zip(tests, scores, strict=True)
            ]
        ),
        np.array([_shares(test, levels) for test in tests]),
        _precision(join(tests), np.concatenate(scores)),
    )


def _by_query(
    rows: Rows, scores: np.ndarray, levels: range
) -> dict[str | int, np.ndarray]:
    sizes = rows.query_sizes()
    ends = np.cumsum(sizes)
    depths = {precision_name(k): k for k in DEPTHS}
    names: list[str | int] = [*MEASURES, *depths, *levels]
    values = {name: np.full(sizes.size, np.nan) for name in names}
    for place, (start, end) in enumerate(zip(ends - sizes, ends, strict=True)):
        y, of_query = rows.y[start:end], scores[start:end]
        has_two = y.min() < y.max()
        for name, measure in MEASURES.items():
            if has_two or (y.max() > 0 and name in (MAP, NDCG)):
                values[name][place] = measure(y, of_query)
        for name, k in depths.items():
            values[name][place] = precision_at_k(y, of_query, k=k)
        for level in levels:
            if has_two and (y == level).any():
                values[level][place] = roc_auc_score(y == level, of_query)
    return values


def precision_name(k: int) -> str:
    """Return the name of the precision at k among the measures of a query."""
    return f"precision @{k}"


def _shares(rows: Rows, levels: range) -> np.ndarray:
    counts = np.array([np.count_nonzero(rows.y == level) for level in levels])
    return counts / counts.sum()


def _precision(rows: Rows, scores: np.ndarray) -> dict[str, np.ndarray]:
    return {
        average: np.array(
            [
                precision_at_k(rows.y, scores, k=k, qid=rows.qid, average=average)
                for k in DEPTHS
            ]
        )
        for average in AVERAGES
    }
