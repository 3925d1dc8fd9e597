"""The results of a comparison: measures, intervals and tests of each model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import chain
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax.inference import MetricDifference
from aucmax.inference.differences import holm
from aucmax.inference.results import p_value_text, to_plain
from aucmax.metrics.metric_names import metric_title
from aucmax.model_selection.goals import Goal
from aucmax.tables import TableEncoder, Target
from aucmax.tables.checks import TableNotice

# columns of a terminal; a wider table is divided in two
_WIDTH = 80


@dataclass(frozen=True, repr=False)
class ModelResult:
    """The cross-validated measures of one model.

    Attributes
    ----------
    name : str
        Name of the model.
    is_baseline : bool
        Whether others are tested against it.
    measures : dict of str to float
        The main measure first: ``auc`` and ``partial_auc``; with more than two levels
        ``mauc``, ``ordinal_auc``, and ``auc`` of all rows above the lowest level; with
        queries also ``ndcg@10`` and ``map``. NaN if there is a problem.
    low, high : float
        95% interval of the main measure; NaN if there is none.
    seconds : float
        Median seconds per fit, without the preparation of the table.
    folds : tuple of float
        The main measure on each test fold; NaN where the scores were constant.
    problem : str or None
        Why there are no measures: constant scores, which rank nothing.
    """

    name: str
    is_baseline: bool
    measures: dict[str, float]
    low: float
    high: float
    seconds: float
    folds: tuple[float, ...]
    problem: str | None = None

    @property
    def main(self) -> float:
        """The main measure, by which models are compared."""
        return next(iter(self.measures.values()))

    @property
    def auc(self) -> float:
        """Cross-validated AUC."""
        return self.measures["auc"]

    def __repr__(self) -> str:
        if self.problem is not None:
            return f"{self.name}: {self.problem}"
        title = metric_title(next(iter(self.measures)))
        interval = f" (95% interval {self.low:.4f} to {self.high:.4f})"
        shown = "" if np.isnan(self.low) else interval
        return f"{self.name}: {title} {self.main:.4f}{shown}"

    def _record(self) -> dict[str, Any]:
        """Return the fields as simple values, each measure under its name."""
        record = to_plain(vars(self))
        folds = {f"fold_{next(iter(self.measures))}s": record.pop("folds")}
        return {**record, **record.pop("measures"), **folds}


def verdict(test: MetricDifference) -> str:
    """Return the outcome: "beats" or "loses" if p < 0.05, else "no difference"."""
    if test.p_value >= 0.05:
        return "no difference"
    return "beats" if test.difference > 0 else "loses"


def adjusted_tests(tests: Sequence[MetricDifference]) -> tuple[MetricDifference, ...]:
    """Adjust p-values by Holm's method; two models have one test in both directions."""
    pairs = [frozenset(test.names or ()) for test in tests]
    p_values = {pair: test.p_value for pair, test in zip(pairs, tests, strict=True)}
    adjusted = dict(zip(p_values, holm([*p_values.values()]), strict=True))
    return tuple(
        replace(test, p_value=adjusted[pair])
        for pair, test in zip(pairs, tests, strict=True)
    )


@dataclass(frozen=True, repr=False)
class FittedFold:
    """The models of one fold by their names, and the rows that they were tested on."""

    models: dict[str, Any]  # a pipeline of encoder and estimator, or an estimator
    encoder: TableEncoder
    table: Any  # polars.DataFrame or csr_array
    target: Target


# the end of a sentence, after "over"
_SCHEMES = {
    "folds": "{folds}",
    "groups": "{folds} of whole groups",
    "times": "{folds}, each later than the training rows of its models",
    "test": "the test rows",
}


@dataclass(frozen=True, repr=False)
class Comparison:
    """The results of all models on the same folds; it prints as a table.

    Attributes
    ----------
    results : tuple of ModelResult
        In the order in which the models were given.
    tests : tuple of MetricDifference
        Every model less every other baseline, in this order in ``names``; several
        p-values are adjusted by Holm's method.
    best : str or None
        The model with the highest main measure, the first of several; None if all have
        constant scores.
    target : Target
        Labels of the test rows, with their queries and weights.
    unit : {"rows", "queries", "folds"}
        The independent units of intervals and tests.
    positions : dict of str to ndarray of shape (rows,)
        For each model the share of negatives of its fold, or query, that a row
        outranks: unlike the scores, comparable between folds. Models with constant
        scores have none.
    scores : dict of str to ndarray of shape (rows,)
        For each model the score of a row by the model of its fold; comparable within
        one fold only.
    fold_numbers : ndarray of int of shape (rows,)
        The test fold of each row.
    n_folds : int
        Number of folds.
    scheme : {"folds", "groups", "times", "test"}
        How rows were split: at random, by groups, by time, or into a training and a
        test table.
    goal : Goal
        The ``metric`` that decides, with its ``fpr_range`` and ``tpr_range``.
    notices : tuple of TableNotice
        Probable leaks and identifiers (:func:`aucmax.tables.check_table`), and
        warnings of the models.
    last_fold : FittedFold or None
        The ``models`` of the last fold, with its ``table`` and ``target``.
    fingerprint : str
        First 16 hexadecimal digits of the SHA-256 of names, types and cells.
    """

    results: tuple[ModelResult, ...]
    tests: tuple[MetricDifference, ...]
    best: str | None
    target: Target
    unit: str
    positions: dict[str, NDArray[np.float64]]
    scores: dict[str, NDArray[np.float64]]
    fold_numbers: NDArray[np.intp]
    n_folds: int
    scheme: str
    goal: Goal
    notices: tuple[TableNotice, ...]
    last_fold: FittedFold | None = None
    fingerprint: str = ""

    @property
    def metric(self) -> str:
        """The measure by which models are compared."""
        return self.goal.metric

    @property
    def ranked(self) -> tuple[ModelResult, ...]:
        """The models that rank: all without a problem."""
        return tuple(result for result in self.results if result.problem is None)

    def __repr__(self) -> str:
        where = "on other rows" if self.scheme == "test" else f"over {self._folds}"
        models = f"Comparison of {len(self.results)} models {where}"
        if self.best is None:
            return f"{models}: all have constant scores"
        best = max(result.main for result in self.ranked)
        return f"{models}: best is {self.best!r}, {self.goal.title} {best:.4f}"

    def __str__(self) -> str:
        lines = (wrap(line, _WIDTH) for line in self.explain())
        return "\n".join([*self._table(), "", *chain.from_iterable(lines)])

    @property
    def measure_titles(self) -> list[str]:
        """The titles of the measures in a table, the main one first."""
        return self.goal.titles(self.results[0].measures)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the rows, as plain values for JSON.

        Returns
        -------
        dict
        """
        return {
            **self.target.to_dict(),
            "folds": self.n_folds,
            "scheme": self.scheme,
            "fpr_range": list(self.goal.fpr_range),
            "tpr_range": list(self.goal.tpr_range),
            "metric": self.metric,
            "unit": self.unit,
            "best": self.best,
            "models": [result._record() for result in self.results],
            "tests": [{**t.to_dict(), "verdict": verdict(t)} for t in self.tests],
            "notices": [notice.to_dict() for notice in self.notices],
        }

    @property
    def _folds(self) -> str:
        return f"{self.n_folds} fold{'s' if self.n_folds > 1 else ''}"

    def _table(self) -> list[str]:
        """Return lines of a table, columns after the first aligned to the right."""
        baselines = [result.name for result in self.results if result.is_baseline]
        against = {test.names: _cell(test) for test in self.tests}
        main, *others = self.measure_titles
        rows = [["model", main, "95% CI", *others, "s/fit"]]
        tests = [["model", *(f"vs {name}" for name in baselines)]]
        for result in self.results:
            main, *others = (_shown(value) for value in result.measures.values())
            interval = f"{result.low:.3f}-{result.high:.3f}"
            if result.problem is not None:
                main, interval = "constant", "scores"
            seconds = f"{result.seconds:.{3 if result.seconds < 1 else 1}f}"
            rows.append([result.name, main, interval, *others, seconds])
            outcomes = (against.get((result.name, other), "-") for other in baselines)
            tests.append([result.name, *outcomes])
        table = _aligned([a + b[1:] for a, b in zip(rows, tests, strict=True)])
        if len(table[0]) <= _WIDTH:
            return table
        return [*_aligned(rows), "", *_aligned(tests)]

    def explain(self) -> list[str]:
        """Return sentences that explain the numbers of the table.

        Returns
        -------
        list of str
        """
        over = _SCHEMES[self.scheme].format(folds=self._folds)
        if self.unit == "queries":
            over = f"{self.target.n_usable_queries} queries in {over}"
        is_survival = self.target.is_survival
        areas = "Harrell's C" if is_survival else "AUC and partial AUC"
        weighted = "" if self.target.weights is None else " of weighted rows"
        lines = [
            f"{areas}{weighted} over {over}; 1 is perfect. Seconds per fit."
            if self.unit == "rows"
            else f"Means over {over}, intervals by Student's t; seconds per fit."
        ]
        is_mean = self.goal.is_area or self.metric == "gini" or is_survival
        is_list = self.unit == "rows" and not is_mean
        if is_list:
            lines.append(
                f"{self.goal.title}: all test rows in one list, by the share of their "
                "fold that they outrank."
            )
        if self.metric == "partial_auc":
            part = self.goal.part_in_words
            lines.append(f"Models are chosen and tested by the mean over {part}.")
        if self.tests:
            method = "influence functions" if is_survival else "DeLong"
            by_rows = "influence" if self.metric == "average_precision" else "bootstrap"
            method = by_rows if is_list else method
            test = f"a paired test of the {self.goal.title} ({method})"
            if self.unit != "rows":
                test = f"Student's t of the paired differences over {self.unit}"
            lines.append(f"p by {test}: beats or loses if p < 0.05, else even.")
            if len({frozenset(test.names or ()) for test in self.tests}) > 1:
                lines.append("p-values are adjusted for all tests (Holm).")
        lines += [f"{r.name}: {r.problem}." for r in self.results if r.problem]
        if self.target.is_graded:
            lines += [
                "MAUC: each level above 0 against all other rows, below 1 at its best;",
                "ordinal AUC: pairs of different levels in order; AUC: rows above the "
                "lowest level.",
            ]
        return lines


def _cell(test: MetricDifference) -> str:
    """Return the outcome of a test for a cell of a table."""
    word = verdict(test).replace("no difference", "even")
    return f"{word} {p_value_text(test.p_value)}".replace(" = ", "=").replace(
        " < ", "<"
    )


def _shown(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.4f}"


def _aligned(rows: list[list[str]]) -> list[str]:
    """Return lines of a table, the first column to the left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = map(str.rjust, others, widths[1:])
        lines.append("  ".join([first.ljust(widths[0]), *cells]))
    return [lines[0], "─" * len(lines[0]), *lines[1:]]
