"""Rankings as nested top sets: the sizes that a measure weighs, and their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._core.parameters import check_integer
from aucmax._core.validation import FloatArray, IntArray

Bins = int | Sequence[int] | Sequence[float] | NDArray[Any]


@dataclass(frozen=True, eq=False)
class TopSets:
    r"""Set sizes of a ranking of n rows, with weights.

    All sizes give the AUC, the first k AUC@k, the boundaries of bins binned AUC. A
    ranking is worth :math:`\sum_l v_l \, \mathrm{pos}(l)`, where
    :math:`\mathrm{pos}(l)` is the number of positives among its first l rows. A block
    of b rows that tie after s others is shared: a set of size l that ends inside of it
    holds :math:`(l - s) / b` of each, the mean over all orders of the block.

    Attributes
    ----------
    sizes : ndarray of int64 of shape (n_sets,)
        The sizes l, increasing, from 1 to n.
    weights : ndarray of float64 of shape (n_sets,)
        Their weights v, above 0.
    n : int
        Number of rows that are ranked.

    References
    ----------
    .. [1] N. Rosenfeld, O. Meshi, D. Tarlow, A. Globerson. Learning structured models
       with the AUC loss and its generalizations. AISTATS 2014, sections 4 and 5.

    Examples
    --------
    >>> from aucmax.metrics.top_sets import TopSets
    >>> sets = TopSets.binned(10, bins=[2, 5])
    >>> sets.sizes.tolist(), sets.weights.tolist()
    ([2, 5], [2.5, 4.0])
    >>> TopSets.every(5).spread(n_positive=2)
    6.0
    """

    sizes: IntArray
    weights: FloatArray
    n: int

    def __post_init__(self) -> None:
        check_integer("n", self.n)
        n = int(self.n)
        sizes = np.ascontiguousarray(self.sizes, dtype=np.int64)
        weights = np.ascontiguousarray(self.weights, dtype=np.float64)
        if sizes.ndim != 1 or weights.shape != sizes.shape:
            raise ValueError(
                "sizes and weights must be one-dimensional and equally long, got "
                f"shapes {sizes.shape} and {weights.shape}."
            )
        if (np.diff(sizes, prepend=0, append=n + 1) <= 0).any():
            raise ValueError(f"sizes must increase from 1 to {n}, got {sizes}.")
        if not (np.isfinite(weights) & (weights > 0.0)).all():
            raise ValueError(f"weights must be finite and above 0, got {weights}.")
        for name, value in (("sizes", sizes), ("weights", weights), ("n", n)):
            object.__setattr__(self, name, value)

    @classmethod
    def every(cls, n: int) -> TopSets:
        """Return all sizes 1 .. n, each with weight 1: the AUC."""
        check_integer("n", n)
        return cls(np.arange(1, n + 1), np.ones(n), n)

    @classmethod
    def up_to(cls, n: int, k: int) -> TopSets:
        """Return the sizes 1 .. min(k, n), each with weight 1: AUC@k."""
        check_integer("n", n)
        depth = min(check_k(k), n)
        return cls(np.arange(1, depth + 1), np.ones(depth), n)

    @classmethod
    def binned(cls, n: int, bins: Bins) -> TopSets:
        r"""Return the boundaries between bins: binned AUC.

        The boundary between bins of :math:`s_b` and :math:`s_{b+1}` rows weighs
        :math:`(s_b + s_{b+1}) / 2`. Up to a constant, the weighted sum over the sets is
        the number of correctly ordered pairs, where two rows of one bin count one half.
        The set of all n rows is left out, so there may be no boundary.
        `bins` are those of :func:`~aucmax.metrics.binned_auc_score`.
        """
        check_integer("n", n)
        boundaries = bin_boundaries(n, check_bins(bins))
        edges = np.concatenate(([0], boundaries, [n]))
        return cls(boundaries, (edges[2:] - edges[:-2]) / 2, n)

    def best(self, n_positive: int) -> float:
        r"""Return the largest worth, :math:`\sum_l v_l \min(l, P)`: positives first."""
        check_integer("n_positive", n_positive, 0, self.n)
        return float(self.weights @ np.minimum(self.sizes, n_positive))

    def spread(self, n_positive: int) -> float:
        r"""Return the largest worth minus the smallest, where negatives come first.

        .. math:: Z = \sum_l v_l [\min(l, P) - \max(0, l - N)]

        For sets of every size this is PN, the number of pairs. It is 0 if all rankings
        are equally good, as with one class, or without sets.
        """
        check_integer("n_positive", n_positive, 0, self.n)
        worst = np.maximum(self.sizes - (self.n - n_positive), 0)
        return float(self.weights @ (np.minimum(self.sizes, n_positive) - worst))

    def prefix_sums(self) -> tuple[FloatArray, FloatArray]:
        """Return the sums of v and of v l over the sets of at most 0 .. n rows."""
        weights = np.bincount(self.sizes, self.weights, self.n + 1)
        return np.cumsum(weights), np.cumsum(weights * np.arange(self.n + 1))


def membership_counts(
    top_sets: TopSets, starts: ArrayLike, sizes: ArrayLike
) -> FloatArray:
    r"""Sum the membership of one row over the sets, for rows of tied blocks.

    .. math:: c = \sum_l v_l \, \min(\max((l - s) / b, 0), 1)

    for each row of a block of b rows that follows s others; O(n + number of blocks).
    """
    start, size = np.asarray(starts), np.asarray(sizes)
    return counts_by_sums(*top_sets.prefix_sums(), start, size, 0)


def counts_by_sums(
    weights: FloatArray,
    moments: FloatArray,
    starts: NDArray[Any],
    sizes: NDArray[Any],
    first: NDArray[Any] | int,
    last: NDArray[Any] | int = -1,
) -> FloatArray:
    """Return :func:`membership_counts` from prefix sums at places `first` to `last`."""
    start = first + starts
    end = start + sizes
    inside = moments[end] - moments[start] - starts * (weights[end] - weights[start])
    counts: FloatArray = weights[last] - weights[end] + inside / sizes
    return counts


def check_k(k: int) -> int:
    """Return k, if it is a number of rows."""
    check_integer("k", k)
    return int(k)


def check_bins(bins: Bins) -> int | NDArray[Any]:
    """Return the number of bins, or an array of boundaries: integers or shares."""
    if isinstance(bins, int | np.integer) and not isinstance(bins, bool) and bins >= 2:
        return int(bins)
    try:
        boundaries = np.asarray(bins)
    except ValueError:  # sequences of unequal lengths
        boundaries = np.empty(0)
    is_share = boundaries.dtype.kind == "f"
    if boundaries.ndim == 1 and boundaries.size and boundaries.dtype.kind in "iuf":
        boundaries = boundaries.astype(np.float64) if is_share else boundaries
        is_rising = (boundaries[1:] > boundaries[:-1]).all()
        if is_rising and boundaries[0] > 0 and not (is_share and boundaries[-1] >= 1):
            return boundaries
    raise ValueError(
        "bins must be an integer of at least 2, or increasing boundaries: integers "
        "above 0 (rows) or floats between 0 and 1 (shares of the rows), got "
        f"{bins!r}."
    )


def bin_boundaries(n: int, bins: int | NDArray[np.generic]) -> IntArray:
    """Return the cumulative sizes of the bins of n rows, below n."""
    if isinstance(bins, int):
        if bins >= n:
            return np.arange(1, n)
        boundaries = np.rint(n * np.arange(1, bins) / bins)
    else:
        boundaries = np.rint(n * bins) if bins.dtype.kind == "f" else bins
    return np.unique(boundaries[(boundaries > 0) & (boundaries < n)].astype(np.int64))
