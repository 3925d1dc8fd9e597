"""Groups of people: how well a model ranks within and between them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, product
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from aucmax._core.docstrings import documented
from aucmax._core.parameters import check_number
from aucmax._core.plain import PlainRecord
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.decisions.intervals import wilson_ends
from aucmax.exceptions import FewRowsWarning
from aucmax.metrics import auc_interval, compare_auc
from aucmax.metrics._steps import RankingTask, check_task
from aucmax.metrics.contrasts import holm, simultaneous_quantile
from aucmax.metrics.results import check_confidence, p_value_text

if TYPE_CHECKING:
    import polars as pl

TITLES = {"auc": "AUC", "recall": "recall", "fpr": "false positive rate"}
_MAX_GROUPS = 50
_MIN_ROWS = 2  # of a class, for an interval of an area


@dataclass(frozen=True)
class GroupResult(PlainRecord):
    """The rows of a group, and how well they are ranked; NaN where rows are too few.

    Attributes
    ----------
    group : str
        Value that the rows share.
    n_rows, n_positive : int
        Rows, and positive ones.
    auc, auc_low, auc_high : float
        Area within the group, with its interval.
    recall, recall_low, recall_high : float
        Share of positives above the threshold, with Wilson's interval.
    fpr, fpr_low, fpr_high : float
        Share of negatives above the threshold, with Wilson's interval.
    """

    group: str
    n_rows: int
    n_positive: int
    auc: float
    auc_low: float
    auc_high: float
    recall: float
    recall_low: float
    recall_high: float
    fpr: float
    fpr_low: float
    fpr_high: float

    def ends(self, measure: str) -> tuple[float, float, float]:
        """Return a measure with the ends of its interval.

        Parameters
        ----------
        measure : {"auc", "recall", "fpr"}
            Which one.

        Returns
        -------
        value, low, high : float
            NaN where rows are too few.
        """
        names = measure, f"{measure}_low", f"{measure}_high"
        value, low, high = (getattr(self, name) for name in names)
        return value, low, high


@dataclass(frozen=True)
class GroupDifference(PlainRecord):
    """A difference between two groups.

    Attributes
    ----------
    measure : {"auc", "recall", "fpr"}
        What is compared.
    group, other : str
        The groups.
    difference, low, high : float
        The measure of the first group less that of the other. The intervals of all
        differences of a measure are meant to cover at once.
    p_value : float
        Of the hypothesis that there is no difference, adjusted by Holm's method.
    """

    measure: str
    group: str
    other: str
    difference: float
    low: float
    high: float
    p_value: float

    def __str__(self) -> str:
        return (
            f"{TITLES[self.measure]} of {self.group} less that of {self.other}: "
            f"{self.difference:+.3f} ({self.low:+.3f} to {self.high:+.3f}), "
            f"{p_value_text(self.p_value)}"
        )


@dataclass(frozen=True, repr=False)
class GroupComparison(PlainRecord):
    """Groups compared; it prints a table, and one line per difference.

    Attributes
    ----------
    groups : list of GroupResult
        The groups, the largest first.
    differences : list of GroupDifference
        Differences of areas, recalls and false positive rates.
    between, between_low, between_high : ndarray of shape (n_groups, n_groups)
        Area of the positives of one group (row) over the negatives of another (column),
        with its interval.
    threshold : float or None
        Scores above it are alerts.
    n_missing : int
        Rows without a group, which are left out.
    confidence : float
        Probability that intervals are meant to cover.
    """

    groups: list[GroupResult]
    differences: list[GroupDifference]
    between: FloatArray
    between_low: FloatArray
    between_high: FloatArray
    threshold: float | None
    n_missing: int
    confidence: float

    def __repr__(self) -> str:
        shown = [name for name in TITLES if name == "auc" or self.threshold is not None]
        width = max(5, *(len(one.group) for one in self.groups))
        titles = "".join(f"  {TITLES[name]:<22}" for name in shown)
        lines = [f"{'group':<{width}}    rows  positive{titles}".rstrip()]
        for one in self.groups:
            cells = []
            for name in shown:
                value, low, high = one.ends(name)
                text = f"{value:.3f} ({low:.3f} to {high:.3f})"
                cells.append(f"  {text if value == value else '-':<22}")
            counts = f"{one.n_rows:>8,}{one.n_positive:>10,}"
            lines.append(f"{one.group:<{width}}{counts}{''.join(cells)}".rstrip())
        lines += [str(one) for one in self.differences]
        if self.n_missing:
            lines.append(f"{self.n_missing:,} rows without a group are left out.")
        return "\n".join(lines)

    def to_frame(self) -> pl.DataFrame:
        """Return the groups as a table.

        Returns
        -------
        polars.DataFrame
            One row per group.
        """
        import polars as pl

        return pl.DataFrame([asdict(one) for one in self.groups])


@documented
def compare_groups(
    y_true: ArrayLike,
    y_score: ArrayLike,
    by: ArrayLike,
    *,
    threshold: float | None = None,
    reference: Any = None,
    all_pairs: bool = False,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    confidence: float = 0.95,
) -> GroupComparison:
    r"""Compare how well people of different groups are ranked.

    - **Within a group**: its AUC by :func:`aucmax.metrics.auc_interval`, and recall and
      false positive rate at the threshold with Wilson's intervals.
    - **Between groups**: the AUC of the positives of one group over the negatives of
      another. If it is low, positives of that group are overlooked in favour of the
      other's negatives, however well each group is ranked [1]_.
    - **Differences** from the reference, or of all pairs: of areas by
      :func:`aucmax.metrics.compare_auc` for different rows; of rates by Newcombe's
      interval, which combines Wilson's [2]_, with p-values of the score test. Their
      intervals cover at once, by the quantile of the largest studentised difference,
      and p-values are adjusted by Holm's method.

    Groups are independent samples. Costs O(k m log m) for k groups of m rows in all.

    Parameters
    ----------
    by : array-like of shape (n_rows,)
        The group of each row, at most 50. Rows without one (None, NaN or an empty
        string) are left out and counted.
    threshold : float, optional
        Scores above it are alerts; without, there are no recalls.
    reference : str, optional
        Group to compare all others with; by default, the largest.
    all_pairs : bool, default=False
        Whether to compare all pairs of groups instead.

    Returns
    -------
    GroupComparison
        Groups, differences, and areas between groups.

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
    >>> found.n_missing, [(one.group, round(one.auc, 3)) for one in found.groups]
    (18, [('a', 1.0), ('b', 1.0)])
    """
    check_confidence(confidence)
    task = check_task(y_true, y_score, sample_weight, pos_label=pos_label)
    if threshold is not None:
        check_number("threshold", threshold, -np.inf, np.inf)
    names, codes = _check_groups(by, task.scores.size)
    if reference is not None and str(reference) not in names:
        raise ValueError(
            f"reference is {reference!r}, but the groups are {', '.join(names)}."
        )
    found = _Groups(task, names, codes, threshold, confidence)
    at = 0 if reference is None else names.index(str(reference))
    pairs = [(k, at) for k in range(len(names)) if k != at]
    if all_pairs:
        pairs = list(combinations(range(len(names)), 2))
    with warnings.catch_warnings():  # the table shows how many rows there are
        warnings.simplefilter("ignore", FewRowsWarning)
        between = np.array(
            [found.area(g, h) for g, h in product(range(len(names)), repeat=2)]
        ).reshape(len(names), len(names), 3)
        differences = list(found.differences_of_areas(pairs))
    rates = {name: found.rates(name == "recall") for name in ("recall", "fpr")}
    for name, values in rates.items():
        if threshold is not None:
            differences += found.differences_of_rates(name, values, pairs)
    groups = []
    for k, name in enumerate(names):
        own = codes == k
        counts = int(own.sum()), int((own & task.is_positive).sum())
        ends = [end[k] for values in rates.values() for end in values[:3]]
        groups.append(GroupResult(name, *counts, *between[k, k].tolist(), *ends))
    return GroupComparison(
        groups,
        differences,
        between[:, :, 0],
        between[:, :, 1],
        between[:, :, 2],
        threshold,
        int((codes < 0).sum()),
        confidence,
    )


def _check_groups(by: ArrayLike, n_rows: int) -> tuple[list[str], IntArray]:
    """Return the names of the groups, the largest first, and the group of each row."""
    values = np.asarray(by, dtype=object)
    if values.shape != (n_rows,):
        raise ValueError(
            f"by must have one group per row, {n_rows} in all; its shape is "
            f"{values.shape}."
        )
    seen: dict[str, int] = {}
    codes = np.empty(n_rows, dtype=np.int64)
    for row, value in enumerate(values.tolist()):
        is_missing = value is None or value != value or str(value).strip() == ""
        codes[row] = -1 if is_missing else seen.setdefault(str(value), len(seen))
    if not 1 <= len(seen) <= _MAX_GROUPS:
        what = "no values" if not seen else f"{len(seen)} different values"
        raise ValueError(
            f"by has {what}; groups of people are 1 to {_MAX_GROUPS}. Divide numbers "
            "into ranges first."
        )
    sizes = np.bincount(codes[codes >= 0], minlength=len(seen))
    order = np.argsort(-sizes, kind="stable")
    place = np.empty(len(seen) + 1, dtype=np.int64)
    place[order], place[-1] = np.arange(len(seen)), -1
    names = list(seen)
    return [names[k] for k in order.tolist()], place[codes]


@dataclass(frozen=True)
class _Groups:
    """Rows with their groups."""

    task: RankingTask
    names: list[str]
    codes: IntArray
    threshold: float | None
    confidence: float

    def _take(self, rows: BoolArray) -> tuple[Any, Any, Any]:
        weight = self.task.sample_weight
        own = None if weight is None else weight[rows]
        return self.task.is_positive[rows], self.task.scores[rows], own

    def area(self, group: int, other: int) -> tuple[float, float, float]:
        """Return the area of positives of a group over negatives of another."""
        positive = self.task.is_positive
        y, scores, weight = self._take(
            (positive & (self.codes == group)) | (~positive & (self.codes == other))
        )
        if min(y.sum(), (~y).sum()) < _MIN_ROWS:
            return nan, nan, nan
        options: Any = {"sample_weight": weight, "confidence": self.confidence}
        found = auc_interval(y, scores, **options)
        return found.auc, found.low, found.high

    def differences_of_areas(
        self, pairs: Sequence[tuple[int, int]]
    ) -> Iterator[GroupDifference]:
        """Compare the areas of groups that have two rows of each class."""
        rows = [self._take(self.codes == k) for k in range(len(self.names))]
        usable = [min(y.sum(), (~y).sum()) >= _MIN_ROWS for y, _, _ in rows]
        kept = [(g, h) for g, h in pairs if usable[g] and usable[h]]
        chosen = sorted({k for pair in kept for k in pair})
        if not kept:
            return
        weights = [rows[k][2] for k in chosen]
        target = {h for _, h in kept}
        is_against_one = len(kept) < len(chosen) * (len(chosen) - 1) // 2
        found = compare_auc(
            [rows[k][0] for k in chosen],
            {str(k): rows[k][1] for k in chosen},
            paired=False,
            reference=str(target.pop()) if is_against_one else None,
            sample_weight=None if weights[0] is None else weights,
            confidence=self.confidence,
        )
        for one in found.differences:
            group, other = (self.names[int(k)] for k in one.names or ())
            ends = one.difference, one.low, one.high, one.p_value
            yield GroupDifference("auc", group, other, *ends)

    def rates(self, of_positives: bool) -> tuple[FloatArray, ...]:
        """Return the share of alerts per group with its ends, and the rows behind."""
        k = len(self.names)
        if self.threshold is None:
            return (np.full(k, nan),) * 3 + (np.zeros(k),)
        weight = self.task.sample_weight
        weight = np.ones(self.codes.size) if weight is None else weight
        own = (self.codes >= 0) & (self.task.is_positive == of_positives)
        codes, w = self.codes[own], weight[own]
        alerts = w * (self.task.scores[own] > self.threshold)
        mass, squares = (np.bincount(codes, v, k) for v in (w, w * w))
        with np.errstate(invalid="ignore", divide="ignore"):
            share, n = np.bincount(codes, alerts, k) / mass, mass**2 / squares
            low, high = wilson_ends(share, n, self.confidence)
        return share, low, high, np.nan_to_num(n)

    def differences_of_rates(
        self, name: str, found: tuple[FloatArray, ...], pairs: Sequence[tuple[int, int]]
    ) -> list[GroupDifference]:
        """Return Newcombe's intervals at a common quantile, and score tests."""
        share, _, _, n = found
        kept = [(g, h) for g, h in pairs if n[g] > 0 and n[h] > 0]
        if not kept:
            return []
        first, second = np.array(kept).T
        # shares that are not quite 0 or 1, so that no group is taken as certain
        near = (share * n + 1.0) / (n + 2.0)
        variances = np.where(n > 0, near * (1.0 - near) / np.maximum(n, 1.0), 0.0)
        contrasts = np.eye(len(n))[first] - np.eye(len(n))[second]
        covariance = contrasts * np.nan_to_num(variances) @ contrasts.T
        quantile = simultaneous_quantile(covariance, np.inf, self.confidence)
        level = 2.0 * float(ndtr(quantile)) - 1.0
        low, high = wilson_ends(share, np.maximum(n, 1e-9), level)
        one, two = share[first], share[second]
        down = np.hypot(one - low[first], high[second] - two)
        up = np.hypot(high[first] - one, two - low[second])
        pooled = (one * n[first] + two * n[second]) / (n[first] + n[second])
        error = np.sqrt(pooled * (1.0 - pooled) * (1.0 / n[first] + 1.0 / n[second]))
        z = np.abs(one - two) / np.where(error > 0.0, error, 1.0)
        p_values = holm((2.0 * ndtr(-z)).tolist())
        ends = (one - two, one - two - down, one - two + up, np.array(p_values))
        return [
            GroupDifference(name, self.names[g], self.names[h], *values)
            for (g, h), *values in zip(kept, *map(np.ndarray.tolist, ends), strict=True)
        ]
