"""Groups of people: how well a model ranks within and between them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from aucmax._core.parameters import check_number
from aucmax._core.validation import BoolArray, FloatArray, IntArray, is_missing
from aucmax.exceptions import FewRowsWarning
from aucmax.inference import auc_interval, compare_metric
from aucmax.inference.differences import differences_of, holm, simultaneous_quantile
from aucmax.inference.influence import share_interval, take
from aucmax.inference.intervals import wilson_ends
from aucmax.inference.results import (
    MetricDifference,
    MetricInterval,
    Result,
    check_confidence,
)
from aucmax.metrics._steps import RankingTask, check_task
from aucmax.metrics.metric_names import metric_title

TITLES = {name: metric_title(name) for name in ("auc", "recall", "fpr")}
_MAX_GROUPS = 50
_MIN_ROWS = 2  # of a class, for an interval of an area


@dataclass(frozen=True)
class GroupResult(Result):
    """The rows of a group, and their measures with intervals.

    `auc` is within the group; `recall` and `fpr` are the shares of its positives and
    negatives above the threshold. None where there are too few rows or no threshold.
    """

    group: str
    n_rows: int
    n_positive: int
    auc: MetricInterval | None
    recall: MetricInterval | None
    fpr: MetricInterval | None


@dataclass(frozen=True, repr=False)
class GroupComparison(Result):
    """Groups compared; it prints a table, and one line per difference.

    Attributes
    ----------
    groups : list of GroupResult
        The groups, the largest first.
    differences : list of aucmax.inference.MetricDifference
        Differences of areas, recalls and false positive rates; `names` are the groups.
    between, between_low, between_high : ndarray of shape (n_groups, n_groups)
        Area of the positives of one group (row) over the negatives of another (column),
        with its interval.
    threshold : float or None
        Scores above it are alerts.
    n_missing : int
        Rows without a group, which are left out.
    confidence_level : float
        Probability that intervals are meant to cover.
    """

    groups: list[GroupResult]
    differences: list[MetricDifference]
    between: FloatArray
    between_low: FloatArray
    between_high: FloatArray
    threshold: float | None
    n_missing: int
    confidence_level: float

    def __repr__(self) -> str:
        shown = [name for name in TITLES if name == "auc" or self.threshold is not None]
        width = max(5, *(len(one.group) for one in self.groups))
        titles = "".join(f"  {TITLES[name]:<22}" for name in shown)
        lines = [f"{'group':<{width}}    rows  positive{titles}".rstrip()]
        for one in self.groups:
            line = f"{one.group:<{width}}{one.n_rows:>8,}{one.n_positive:>10,}"
            for name in shown:
                cell, interval = "-", getattr(one, name)
                if interval is not None:
                    ends = f"{interval.low:.3f} to {interval.high:.3f}"
                    cell = f"{interval.value:.3f} ({ends})"
                line += f"  {cell:<22}"
            lines.append(line.rstrip())
        lines += map(repr, self.differences)
        if self.n_missing:
            lines.append(f"{self.n_missing:,} rows without a group are left out.")
        return "\n".join(lines)

    def _records(self) -> Any:
        records = [dict(vars(one)) for one in self.groups]
        for record in records:
            for name in TITLES:
                interval = record.pop(name)
                for title, end in (("", "value"), ("_low", "low"), ("_high", "high")):
                    record[name + title] = getattr(interval, end, None)
        return records


def compare_groups(
    y_true: ArrayLike,
    y_score: ArrayLike,
    by: ArrayLike,
    *,
    threshold: float | None = None,
    reference: object = None,
    all_pairs: bool = False,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    confidence_level: float = 0.95,
) -> GroupComparison:
    r"""Compare how well people of different groups are ranked.

    - **Within a group**: its AUC by :func:`aucmax.inference.auc_interval`, and recall
      and false positive rate at the threshold with Wilson's intervals.
    - **Between groups**: the AUC of the positives of one group over the negatives of
      another. If it is low, positives of that group are overlooked in favour of the
      other's negatives, however well each group is ranked [1]_.
    - **Differences** from the reference, or of all pairs: of areas by
      :func:`aucmax.inference.compare_metric` for different rows; of rates by Newcombe's
      interval, which combines Wilson's [2]_, with p-values of the score test. Their
      intervals cover at once, by the quantile of the largest studentised difference,
      and p-values are adjusted by Holm's method.

    Groups are independent samples. Costs O(k m log m) for k groups of m rows in all.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes: booleans, numbers or strings.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    by : array-like of shape (n_rows,)
        The group of each row, at most 50. Rows without one (None, NaN or an empty
        string) are left out and counted.
    threshold : float, optional
        Scores above it are alerts; without, there are no recalls.
    reference : str, optional
        Group to compare all others with; by default, the largest.
    all_pairs : bool, default=False
        Whether to compare all pairs of groups instead.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.
    confidence_level : float, default=0.95
        Probability that the interval is meant to cover.

    Returns
    -------
    GroupComparison
        Groups, differences, and areas between groups.

    See Also
    --------
    aucmax.inference.compare_metric : Models, not groups of people.

    References
    ----------
    .. [1] N. Kallus, A. Zhou. The fairness of risk scores beyond classification:
       bipartite ranking and the xAUC metric. NeurIPS 2019.
    .. [2] R. G. Newcombe. Interval estimation for the difference between independent
       proportions: comparison of eleven methods. Statistics in Medicine 17(8), 1998.

    Examples
    --------
    >>> from aucmax.decisions import compare_groups
    >>> y, scores = [0, 0, 0, 1, 1, 1] * 9, [1, 2, 5, 4, 6, 7] * 9
    >>> found = compare_groups(y, scores, ["a", "b", None] * 18, threshold=4.5)
    >>> found.n_missing, [(one.group, round(one.auc.value, 3)) for one in found.groups]
    (18, [('a', 1.0), ('b', 1.0)])
    """
    check_confidence(confidence_level)
    task = check_task(y_true, y_score, sample_weight, pos_label=pos_label)
    if threshold is not None:
        check_number("threshold", threshold, -np.inf, np.inf)
    names, codes = _check_groups(by, task.scores.size)
    if reference is not None and str(reference) not in names:
        raise ValueError(
            f"reference is {reference!r}, but the groups are {', '.join(names)}."
        )
    at = 0 if reference is None else names.index(str(reference))
    pairs = [(k, at) for k in range(len(names)) if k != at]
    if all_pairs:
        pairs = list(combinations(range(len(names)), 2))
    members = [codes == k for k in range(len(names))]
    with warnings.catch_warnings():  # the table shows how many rows there are
        warnings.simplefilter("ignore", FewRowsWarning)
        areas = [
            [
                _area(task, np.where(task.is_positive, one, two), confidence_level)
                for two in members
            ]
            for one in members
        ]
        kept = [(g, h) for g, h in pairs if areas[g][g] and areas[h][h]]
        differences = _compare_areas(task, names, members, kept, confidence_level)
    rates: dict[str, list[MetricInterval | None]] = {}
    for name, side in (("recall", task.is_positive), ("fpr", ~task.is_positive)):
        rates[name] = [
            _rate(task, rows & side, threshold, confidence_level, name)
            for rows in members
        ]
        differences += _compare_rates(names, rates[name], pairs)
    groups = []
    for k, name in enumerate(names):
        counts = int((codes == k).sum()), int(((codes == k) & task.is_positive).sum())
        intervals = areas[k][k], rates["recall"][k], rates["fpr"][k]
        groups.append(GroupResult(name, *counts, *intervals))
    value, low, high = (
        np.array([[getattr(one, end, np.nan) for one in row] for row in areas])
        for end in ("value", "low", "high")
    )
    n_missing = int((codes < 0).sum())
    return GroupComparison(
        groups, differences, value, low, high, threshold, n_missing, confidence_level
    )


def _check_groups(by: ArrayLike, n_rows: int) -> tuple[list[str], IntArray]:
    """Return the names of the groups, the largest first, and the group of each row."""
    values = np.asarray(by, dtype=object)
    if values.shape != (n_rows,):
        raise ValueError(
            f"by must have one group per row, {n_rows} in all; its shape is "
            f"{values.shape}."
        )
    names = [
        "" if is_missing(value) else str(value).strip() for value in values.tolist()
    ]
    found, codes, sizes = np.unique(names, return_inverse=True, return_counts=True)
    order = [k for k in np.argsort(-sizes, kind="stable").tolist() if found[k]]
    if not 1 <= len(order) <= _MAX_GROUPS:
        what = "no values" if not order else f"{len(order)} different values"
        raise ValueError(
            f"by has {what}; groups of people are 1 to {_MAX_GROUPS}. Divide numbers "
            "into ranges first."
        )
    place = np.full(found.size, -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    return [str(found[k]) for k in order], place[codes]


def _take(task: RankingTask, rows: BoolArray) -> tuple[Any, Any, Any]:
    return task.is_positive[rows], task.scores[rows], take(task.sample_weight, rows)


def _area(
    task: RankingTask, rows: BoolArray, confidence_level: float
) -> MetricInterval | None:
    """Return the area of rows, if there are two rows with weight of each class."""
    y, scores, weight = _take(task, rows)
    counted = y if weight is None else y[weight > 0.0]
    if not _MIN_ROWS <= counted.sum() <= counted.size - _MIN_ROWS:
        return None
    return auc_interval(
        y, scores, sample_weight=weight, confidence_level=confidence_level
    )


def _compare_areas(
    task: RankingTask,
    names: list[str],
    members: list[BoolArray],
    pairs: Sequence[tuple[int, int]],
    confidence_level: float,
) -> list[MetricDifference]:
    """Compare the areas of pairs of groups."""
    if not pairs:
        return []
    chosen = sorted({k for pair in pairs for k in pair})
    references = {h for _, h in pairs}
    rows = (_take(task, members[k]) for k in chosen)
    labels, scores, weights = zip(*rows, strict=True)
    compared = compare_metric(
        labels,
        {names[k]: one for k, one in zip(chosen, scores, strict=True)},
        reference=names[references.pop()] if len(references) == 1 else None,
        sample_weight=None if weights[0] is None else weights,
        confidence_level=confidence_level,
    )
    return list(compared.differences)


def _rate(
    task: RankingTask,
    rows: BoolArray,
    threshold: float | None,
    confidence_level: float,
    name: str,
) -> MetricInterval | None:
    """Return the share of alerts among rows of one class."""
    if threshold is None:
        return None
    is_alert = task.scores > threshold
    share, n, low, high = share_interval(
        rows, is_alert, confidence_level, task.sample_weight
    )
    if n == 0.0:
        return None
    error = float(np.sqrt(share * (1.0 - share) / n))
    sizes = (n, 0.0) if name == "recall" else (0.0, n)
    return MetricInterval(share, low, high, error, confidence_level, sizes, name)


def _compare_rates(
    names: list[str],
    rates: list[MetricInterval | None],
    pairs: Sequence[tuple[int, int]],
) -> list[MetricDifference]:
    """Return Newcombe's intervals at a common quantile, and score tests."""
    compared = [(rates[g], rates[h]) for g, h in pairs]
    kept = [pair for pair, both in zip(pairs, compared, strict=True) if all(both)]
    if not kept:
        return []
    share, n = np.array(
        [(one.value, sum(one.rows or ())) if one else (0.5, 1.0) for one in rates]
    ).T
    confidence_level, name = next(
        (one.confidence_level, one.metric) for one in rates if one
    )
    first, second = np.array(kept).T
    # shares that are not quite 0 or 1, so that no group is taken as certain
    near = (share * n + 1.0) / (n + 2.0)
    contrasts = differences_of(kept, n.size)
    covariance = contrasts * (near * (1.0 - near) / n) @ contrasts.T
    quantile = simultaneous_quantile(covariance, np.inf, confidence_level)
    low, high = wilson_ends(share, n, 2.0 * float(ndtr(quantile)) - 1.0)
    one, two = share[first], share[second]
    down = np.hypot(one - low[first], high[second] - two)
    up = np.hypot(high[first] - one, two - low[second])
    pooled = (one * n[first] + two * n[second]) / (n[first] + n[second])
    error = np.sqrt(pooled * (1.0 - pooled) * (1.0 / n[first] + 1.0 / n[second]))
    z = (one - two) / np.where(error > 0.0, error, 1.0)
    p_values = (2.0 * ndtr(-np.abs(z))).tolist()
    gap = one - two
    columns = [one, two, gap, gap - down, gap + up, z, holm(p_values), error]
    unadjusted = p_values if len(kept) > 1 else [None]
    records: list[Any] = [
        {"names": (names[g], names[h]), "unadjusted_p_value": p}
        for (g, h), p in zip(kept, unadjusted, strict=True)
    ]
    values: list[Any] = np.array(columns).T.tolist()
    shared: Any = {"confidence_level": confidence_level, "metric": name}
    each = zip(values, records, strict=True)
    return [MetricDifference(*one, **(shared | record)) for one, record in each]
