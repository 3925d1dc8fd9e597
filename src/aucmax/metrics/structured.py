"""Measures of a ranking by its top sets: binned AUC, AUC@k, unnested AUC.

Where rows tie in score, each is the exact mean over every order of the tied rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from aucmax._core.parameters import check_choice
from aucmax._core.row_matrix import check_sparse_structure
from aucmax._core.validation import (
    FloatArray,
    IntArray,
    check_binary_labels,
    reject_unreadable,
)
from aucmax.metrics._steps import Steps, check_two_classes, mean_over_queries
from aucmax.metrics.top_sets import (
    Bins,
    TopSets,
    bin_boundaries,
    check_bins,
    check_k,
    membership_counts,
)

_TOLERANCE = 1e-6  # of memberships of a relaxed program: of 0, 1 and their sum


def binned_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    bins: Bins = 10,
    within: str = "half",
    qid: ArrayLike | None = None,
    pos_label: object = None,
) -> float:
    r"""AUC of rows in ranked bins, filled in the order of the scores.

    With :math:`b_i` the bin of row i, counted from the highest scores down,

    .. math::
        \mathrm{AUC} = \frac{1}{PN} \sum_{i \in \mathrm{pos}}
        \sum_{j \in \mathrm{neg}} [b_i < b_j] + c \, [b_i = b_j]

    where c is one half, or 1 with ``within="correct"``: then only pairs in the wrong
    order between bins are errors, a perfect ranking has 1, and fewer bins give higher
    values. With c one half, a perfect ranking stays below 1 where a bin holds both
    classes. Either way, one bin per row gives :func:`roc_auc_score`.

    Rows of equal score may fall on both sides of a boundary: the value is the mean over
    all their orders. Costs O(m log m).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes: booleans, numbers or strings.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    bins : int or sequence of int or float
        An integer of at least 2: the number of bins, of nearly equal size. Increasing
        integers: the cumulative sizes of the bins, as ``range(20, 1000, 20)`` for bins
        of 20; those not below the number of rows are dropped. Increasing numbers
        between 0 and 1: the same, as shares of the rows, rounded, a half to the even
        number; equal boundaries are merged.
    within : {"half", "correct"}
        Whether a pair of rows in one bin counts one half or one.
    qid : array-like of shape (n_rows,), default=None
        The query of each row; the value is then a mean over queries.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    roc_auc_score : One bin per row.

    References
    ----------
    .. [1] N. Rosenfeld, O. Meshi, D. Tarlow, A. Globerson. Learning structured models
       with the AUC loss and its generalizations. AISTATS 2014, section 5.

    Examples
    --------
    >>> from aucmax.metrics import binned_auc_score
    >>> y, scores = [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1]
    >>> binned_auc_score(y, scores, bins=[2, 4])
    0.5
    >>> binned_auc_score(y, scores, bins=[2, 4], within="correct")
    0.6666666666666666
    """
    check_choice("within", within, ("half", "correct"))
    checked_bins = check_bins(bins)
    rows = check_two_classes(y_true, qid=qid, pos_label=pos_label)
    tied = rows.task(y_score).steps()
    starts, offsets = _bin_starts(rows.queries.offsets, checked_bins)
    pieces = _Pieces.from_steps(tied, starts)
    binned = pieces.bins(offsets)
    values = binned.areas()
    if within == "correct":
        p, n = _class_sizes(tied)
        with np.errstate(invalid="ignore"):  # 0 / 0 where a class is missing
            other_half = 0.5 * pieces.pairs_in_bins(binned) / (p * n)
        values = np.minimum(values + other_half, 1.0)
    return mean_over_queries(values)


def auc_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int = 10,
    qid: ArrayLike | None = None,
    pos_label: object = None,
) -> float:
    r"""Area under the curve of positives found, over the first k rows.

    With :math:`\mathrm{pos}(l)` the number of positives among the first l of
    :math:`m = P + N` rows,

    .. math::
        \mathrm{AUC@}k = \frac{\sum_{l \le k} \mathrm{pos}(l) - \max(0, l - N)}
        {\sum_{l \le k} \min(l, P) - \max(0, l - N)}

    which is 1 if the first k rows hold as many positives as possible, before any
    negative, and 0 if they hold as few as possible, after the negatives. Rows after the
    first k do not matter. For :math:`k \ge m` it is :func:`roc_auc_score`. Rows of
    equal score count by their mean over all orders. Costs O(m log m). From the same
    paper as :func:`binned_auc_score`.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes: booleans, numbers or strings.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    k : int
        Number of top rows, at least 1; all rows of a query that has fewer.
    qid : array-like of shape (n_rows,), default=None
        The query of each row; the value is then a mean over queries.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    precision_at_k : The share of positives among the top k.
    binned_auc_score : The AUC of ranked bins.

    Examples
    --------
    >>> from aucmax.metrics import auc_at_k_score
    >>> y, scores = [1, 0, 1, 0, 0], [5, 4, 3, 2, 1]
    >>> auc_at_k_score(y, scores, k=2)
    0.6666666666666666
    >>> auc_at_k_score(y, scores, k=1)
    1.0
    """
    k = check_k(k)
    rows = check_two_classes(y_true, qid=qid, pos_label=pos_label)
    tied = rows.task(y_score).steps()
    return mean_over_queries(_areas_at_k(tied, k))


def unnested_auc_score(
    y_true: ArrayLike, subsets: object, *, pos_label: object = None
) -> float:
    r"""AUC of one set per size; the sets need not be nested.

    With :math:`z_{li}` the membership of row i in the set of l rows,

    .. math::
        \frac{\sum_{l=1}^m \sum_{i \in \mathrm{pos}} z_{li} - P (P + 1) / 2}{PN}

    which for the top sets of a ranking is its AUC. Costs O(m^2), the size of the input,
    or the number of members stored if it is sparse. From the same paper as
    :func:`binned_auc_score`.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes: booleans, numbers or strings.
    subsets : array-like or sparse matrix of shape (n_rows, n_rows)
        Row l - 1 holds the memberships of the set of l rows: 1 for members, 0 for the
        others, and values in between for relaxed solutions of a linear program. It sums
        to l, up to ``1e-6 * n_rows``.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    roc_auc_score : The AUC of scores.

    Examples
    --------
    >>> from aucmax.metrics import unnested_auc_score
    >>> unnested_auc_score([1, 0, 1], [[1, 0, 0], [0, 1, 1], [1, 1, 1]])
    0.5
    """
    _, is_positive = check_binary_labels(y_true, pos_label=pos_label)
    members = _check_subsets(subsets, is_positive.size)
    p = np.count_nonzero(is_positive)
    n_members = members.sum(axis=0)[is_positive].sum()
    share = (n_members - p * (p + 1) / 2) / (p * (is_positive.size - p))
    return float(np.clip(share, 0.0, 1.0))


@dataclass(frozen=True)
class _Pieces:
    """Ranked rows cut wherever a run of equal scores or a bin starts."""

    length: IntArray  # rows of the piece
    size: IntArray  # rows of its run, of whose classes it has an equal share
    positive: FloatArray
    negative: FloatArray
    first_of_bin: IntArray

    @classmethod
    def from_steps(cls, tied: Steps, bin_starts: IntArray) -> _Pieces:
        """Cut the runs of equal scores at the rows where bins start."""
        sizes = _run_sizes(tied)
        run_starts = np.cumsum(sizes) - sizes
        is_cut = np.zeros(sizes.sum(), dtype=bool)
        is_cut[run_starts] = is_cut[bin_starts] = True
        cuts = np.flatnonzero(is_cut)
        length = np.diff(cuts, append=is_cut.size)
        run = np.searchsorted(run_starts, cuts, side="right") - 1
        return cls(
            length,
            sizes[run],
            tied.positive[run] * length / sizes[run],
            tied.negative[run] * length / sizes[run],
            np.searchsorted(cuts, bin_starts),
        )

    def bins(self, offsets: IntArray) -> Steps:
        """Return the masses of the bins, of which each query starts at its offset."""
        return Steps(
            np.add.reduceat(self.negative, self.first_of_bin),
            np.add.reduceat(self.positive, self.first_of_bin),
            offsets,
        )

    def pairs_in_bins(self, bins: Steps) -> FloatArray:
        """Return per query the mean number of pairs that share a bin.

        Two rows of one run do so less often than their shares of it suggest, as no
        two rows take one place: of t rows, l lie in the piece, so both with
        probability l (l - 1) / (t (t - 1)), which is below (l / t)^2.
        """
        left_out = self.size - self.length
        rarely = left_out / (self.length * np.maximum(self.size - 1, 1))
        excess = self.positive * self.negative * rarely
        pairs = bins.positive * bins.negative
        pairs -= np.add.reduceat(excess, self.first_of_bin)
        sums: FloatArray = np.add.reduceat(pairs, bins.offsets[:-1])
        return sums


def _bin_starts(
    query_offsets: IntArray, bins: int | NDArray[np.generic]
) -> tuple[IntArray, IntArray]:
    """Return the row that each bin starts with, and the first bin of each query."""
    n_rows = np.diff(query_offsets).tolist()
    within = {n: np.append(0, bin_boundaries(n, bins)) for n in set(n_rows)}
    starts = [
        first + within[n] for first, n in zip(query_offsets[:-1], n_rows, strict=True)
    ]
    n_bins = [part.size for part in starts]
    return np.concatenate(starts), np.append(0, np.cumsum(n_bins))


def _run_sizes(tied: Steps) -> IntArray:
    """Return how many rows have each score."""
    return (tied.positive + tied.negative).astype(np.int64)


def _class_sizes(steps: Steps) -> tuple[FloatArray, FloatArray]:
    """Return the numbers of positives and of negatives of each query."""
    first = steps.offsets[:-1]
    positive, negative = steps.positive, steps.negative
    return np.add.reduceat(positive, first), np.add.reduceat(negative, first)


def _areas_at_k(tied: Steps, k: int) -> FloatArray:
    """Return AUC@k of each query, NaN where it has one class only."""
    sizes = _run_sizes(tied)
    p, n = _class_sizes(tied)
    n_rows = (p + n).astype(np.int64)
    # beyond the rows of a query, a set adds as much to the best and worst as to it
    sets = TopSets.up_to(int(n_rows.max()), k)
    n_runs = np.diff(tied.offsets)
    before_query = np.repeat(np.cumsum(n_rows) - n_rows, n_runs)
    starts = np.cumsum(sizes) - sizes - before_query
    counts = membership_counts(sets, starts, sizes)
    counted = np.add.reduceat(tied.positive * counts, tied.offsets[:-1])
    # positives as one block, before all negatives or behind them
    block = np.maximum(p, 1).astype(np.int64)
    best = p * membership_counts(sets, np.zeros_like(block), block)
    worst = p * membership_counts(sets, n_rows - block, block)
    areas = np.full(p.size, np.nan)
    both = (p > 0) & (n > 0)
    shares = (counted - worst)[both] / (best - worst)[both]
    areas[both] = np.clip(shares, 0.0, 1.0)  # which rounding may leave
    return areas


def _check_subsets(subsets: Any, n_rows: int) -> Any:
    """Return the memberships as a sparse array of coordinates."""
    reject_unreadable(subsets, "subsets")
    check_sparse_structure(subsets, "subsets")
    is_sparse = sparse.issparse(subsets)
    try:
        # by rows first, which adds up entries that are given more than once
        matrix = subsets.tocsr() if is_sparse else np.asarray(subsets)
    except ValueError as error:
        raise ValueError(f"subsets is not a square array: {error}") from None
    if matrix.shape != (n_rows, n_rows):
        raise ValueError(
            "subsets must have a row per size and a column per label, so shape "
            f"({n_rows}, {n_rows}), got {matrix.shape}."
        )
    if matrix.dtype.kind not in "biuf":
        raise TypeError(f"subsets must hold numbers, got dtype {matrix.dtype}.")
    members: Any = sparse.coo_array(matrix.astype(np.float64))
    values = members.data
    is_bad = ~((values >= -_TOLERANCE) & (values <= 1.0 + _TOLERANCE))
    if is_bad.any():
        place = int(np.argmax(is_bad))
        raise ValueError(
            "subsets must hold memberships from 0 to 1, but row "
            f"{members.row[place]}, column {members.col[place]} is {values[place]:g}."
        )
    sums = members.sum(axis=1)
    is_bad = np.abs(sums - np.arange(1, n_rows + 1)) > _TOLERANCE * n_rows
    if is_bad.any():
        row = int(np.argmax(is_bad))
        raise ValueError(
            f"Row {row} of subsets must sum to {row + 1}, the size of its set, but "
            f"sums to {sums[row]:g}."
        )
    return members
