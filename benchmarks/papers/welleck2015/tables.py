"""From the scores of the test rows to the tables and the picture of the study."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from aucmax.metrics import (
    mean_average_precision,
    multiclass_auc_score,
    ndcg_score,
    ordinal_auc_score,
    precision_at_k,
    roc_auc_score,
)
from benchmarks.papers import pictures
from benchmarks.papers.choices import Results
from benchmarks.papers.differences import Difference, average, mean_difference
from benchmarks.papers.markdown import ABSENT, Table, largest_bold
from benchmarks.papers.welleck2015 import data as sets
from benchmarks.papers.welleck2015 import methods
from benchmarks.papers.welleck2015.methods import MAUC, Result, library

DEPTHS = tuple(range(1, 11))
MAUC_MEASURE, ORDINAL, MAP, NDCG = "MAUC", "ordinal AUC", "MAP", "NDCG@10"
MEASURES: dict[str, Callable[..., np.ndarray]] = {
    MAUC_MEASURE: multiclass_auc_score,
    ORDINAL: ordinal_auc_score,
    MAP: mean_average_precision,
    NDCG: partial(ndcg_score, k=10),
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
    precision : ndarray
        Micro precision at 1 to 10.
    """

    by_query: dict[str | int, np.ndarray]
    fold_of: np.ndarray
    pooled: np.ndarray
    shares: np.ndarray
    precision: np.ndarray

    def mean(self, measure: str | int) -> float:
        """Return the mean over the queries that count."""
        return float(np.nanmean(self.by_query[measure]))

    def fold_mean(self, measure: str | int, empty: float = np.nan) -> float:
        """Return the mean of the folds' means; `empty` is for queries without value."""
        values = np.nan_to_num(self.by_query[measure], nan=empty)
        means = [np.nanmean(values[self.fold_of == k]) for k in range(sets.N_PARTS)]
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


@cache
def judged(study: "StudyResults", data: str, method: str) -> Figures:
    """Return the figures of a method, computed once."""
    return judge(study.folds(data, method))


class StudyResults(Results[Result]):
    """All results, judged when asked for."""

    def figures(self, data: str, method: str) -> Figures:
        """Return the figures of a method."""
        return judged(self, data, method)

    @property
    def complete(self) -> list[str]:
        """Names of the methods that were run on all folds of all data sets."""
        return [
            name
            for name in self.methods
            if all(len(self.folds(data, name)) == sets.N_PARTS for data in self.data)
        ]

    def difference(
        self, data: str, other: str, measure: str = MAUC_MEASURE
    ) -> Difference:
        """Return LambdaMART-MAUC less another method, as a mean over queries."""
        ours, theirs = (
            self.figures(data, method).by_query[measure] for method in (MAUC, other)
        )
        apart = ours - theirs
        return mean_difference(apart[~np.isnan(apart)])


def judge(results: Sequence[Result]) -> Figures:
    """Measure the test scores of all folds."""
    tests = [sets.fold_of(one.data, one.fold).test for one in results]
    scores = [np.array(one.scores) for one in results]
    rows, all_scores = sets.join(tests), np.concatenate(scores)
    levels = range(1, int(rows.y.max()) + 1)
    pooled = [
        multiclass_auc_score(test.y, one)
        for test, one in zip(tests, scores, strict=True)
    ]
    precision = [
        precision_at_k(rows.y, all_scores, k=k, qid=rows.qid, average="micro")
        for k in DEPTHS
    ]
    _, first_rows = np.unique(rows.qid, return_index=True)  # in the order of values
    with warnings.catch_warnings(action="ignore"):  # of queries that do not count
        by_query = _by_query(rows, all_scores, levels)
    return Figures(
        by_query,
        np.repeat(range(len(tests)), [test.y.size for test in tests])[first_rows],
        np.array(pooled),
        np.array([_shares(test, levels) for test in tests]),
        np.array(precision),
    )


def _by_query(
    rows: sets.Rows, scores: np.ndarray, levels: range
) -> dict[str | int, np.ndarray]:
    y, by_query = rows.y, {"qid": rows.qid, "average": None}
    values: dict[str | int, np.ndarray] = {
        name: measure(y, scores, **by_query) for name, measure in MEASURES.items()
    }
    for k in DEPTHS:
        values[precision_name(k)] = precision_at_k(y, scores, k=k, **by_query)
    for level in levels:
        values[level] = roc_auc_score(y == level, scores, **by_query)
    return values


def precision_name(k: int) -> str:
    """Return the name of the precision at k among the measures of a query."""
    return f"precision @{k}"


def _shares(rows: sets.Rows, levels: range) -> np.ndarray:
    counts = np.array([np.count_nonzero(rows.y == level) for level in levels])
    return counts / counts.sum()


#: tables 1 and 2 of the paper: LambdaMART-MAUC, SVM-perf
PRINTED = {
    MAUC_MEASURE: {sets.MQ2007: ("0.662", "0.659"), sets.MQ2008: ("0.734", "0.737")},
    MAP: {sets.MQ2007: ("0.466", "0.450"), sets.MQ2008: ("0.474", "0.458")},
}
RIVALS = (methods.SVM, methods.SVM_QUERIES, methods.LAMBDARANK)


def all_tables(study: StudyResults) -> dict[str, Table]:
    """Return the tables by their names."""
    tables = {measure: measure_rows(study, measure) for measure in MEASURES}
    for measure in (MAUC_MEASURE, MAP):
        tables[f"{measure}, differences"] = difference_rows(study, measure)
    tables["the figures of the paper"] = printed_rows(study)
    tables["levels"] = class_rows(study)
    return tables


def measure_rows(study: StudyResults, measure: str) -> Table:
    """Show the mean of a measure over the test queries; bold: the largest."""
    columns = [
        largest_bold(
            [study.figures(data, method).mean(measure) for method in study.complete]
        )
        for data in study.data
    ]
    names = map(library, study.complete)
    return Table(["method", *study.data], list(zip(names, *columns, strict=True)))


def difference_rows(study: StudyResults, measure: str) -> Table:
    """Show LambdaMART-MAUC less each other method, in points."""
    rows = []
    for method in study.complete:
        if method != MAUC:
            differences = [
                study.difference(data, method, measure) for data in study.data
            ]
            cells = (one.in_points(2) for one in [*differences, average(differences)])
            rows.append([library(method), *cells])
    return Table([f"{MAUC} less", *study.data, "mean of the sets"], rows)


def printed_rows(study: StudyResults) -> Table:
    """Show the paper's figures beside ours, read in several ways."""
    shown = [data for data in (sets.MQ2008, sets.MQ2007) if data in study.data]
    readings = {
        "MAUC by query": lambda one: one.fold_mean(MAUC_MEASURE),
        "MAUC by query, levels averaged first": Figures.class_mean,
        "MAUC, all rows of a fold": lambda one: float(one.pooled.mean()),
        "MAP, queries with a relevant row": lambda one: one.fold_mean(MAP),
        "MAP, the other queries count 0": lambda one: one.fold_mean(MAP, 0.0),
    }
    rows = []
    for measure, printed in PRINTED.items():
        cells = [cell for data in shown for cell in (*printed[data], ABSENT)]
        rows.append([f"paper: {measure}", *cells])
        for name, read in readings.items():
            if name.startswith(measure):
                figures = [
                    f"{read(study.figures(data, method)):.3f}"
                    for data in shown
                    for method in (MAUC, methods.SVM, methods.SVM_QUERIES)
                ]
                rows.append([f"ours: {name}", *figures])
    head = [
        f"{data}: {method}"
        for data in shown
        for method in (MAUC, methods.SVM, methods.SVM_QUERIES)
    ]
    return Table(["figure, mean of five folds", *head], rows)


def class_rows(study: StudyResults) -> Table:
    """Show the AUC of each level against the rest, mean over queries that have it."""
    rows = []
    for data in study.data:
        figures = {method: study.figures(data, method) for method in (MAUC, *RIVALS)}
        for level in (name for name in figures[MAUC].by_query if isinstance(name, int)):
            cells = largest_bold([one.mean(level) for one in figures.values()])
            share = figures[MAUC].shares[:, level - 1].mean()
            n_queries = np.count_nonzero(~np.isnan(figures[MAUC].by_query[level]))
            rows.append([data, str(level), f"{share:.0%}", f"{n_queries:,}", *cells])
    head = ["data", "level", "share of relevant rows", "queries", MAUC]
    return Table([*head, *map(library, RIVALS)], rows)


LINES: dict[str, tuple[str, str]] = {
    MAUC: (pictures.BLUE, "o"),
    methods.SVM: (pictures.ORANGE, "s"),
    methods.SVM_QUERIES: (pictures.PINK, "v"),
    methods.LAMBDARANK: (pictures.GREEN, "^"),
}


def draw_precision(study: StudyResults) -> Any:
    """Draw precision at 1 to 10 and its differences, a column for each data set."""
    figure, grid = pictures.panels(2, len(study.data), 11.0, 5.6, sharex=True)
    for (above, below), data in zip(grid.T, study.data, strict=True):
        for place, (method, style) in enumerate(LINES.items()):
            values = study.figures(data, method).precision
            label = library(method)
            above.plot(
                DEPTHS, values, label=label, **pictures.line(*style, linewidth=1.4)
            )
            if method != MAUC:
                differences = [
                    study.difference(data, method, precision_name(k)) for k in DEPTHS
                ]
                below.errorbar(
                    np.array(DEPTHS) + 0.22 * (place - 2),  # bars side by side
                    [100.0 * one.mean for one in differences],
                    yerr=[100.0 * one.reach for one in differences],
                    linestyle="none",
                    **pictures.line(*style, linewidth=1.0),
                )
        below.axhline(0.0, color="black", linewidth=1)
        below.set_xlabel("k")
        below.set_xticks([1, 2, 4, 6, 8, 10])
        above.set_title(data, fontsize="medium")
    grid[0, 0].set_ylabel("micro precision @k")
    grid[1, 0].set_ylabel(f"{MAUC} less the others,\nmacro precision, points")
    pictures.legend_below(figure, len(LINES))
    return figure
