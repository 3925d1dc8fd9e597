"""A risk within each query, averaged over the queries."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._sorting import deal_out, sort_with_order
from aucmax._validation import BoolArray, FloatArray, IntArray, check_qid
from aucmax.exceptions import NotEnoughClassesError
from aucmax.risks import _partial_kernels
from aucmax.risks._hinge_sums import LARGEST_GAP_AT_A_KINK
from aucmax.risks.base import Risk
from aucmax.risks.partial_hinge import PartialHinge

__all__ = ["PerQuery"]


class PerQuery(Risk):
    r"""The mean over queries of a risk that compares rows of one query alone.

    .. math:: R(s) = \frac{1}{|Q|} \sum_{q \in Q} R_q(s_q)

    where :math:`Q` are the queries with positives and negatives, each of which counts
    alike; row weights act within a query. A query with one class alone has no pairs and
    contributes nothing. A range that covers less than one row of a query takes that
    part of its first row.

    Costs one sort of all scores, and a sweep over each query.

    Parameters
    ----------
    risk : PartialHinge
        The risk of one query.
    qid : array-like of shape (n_rows,)
        The query of each row, of any hashable kind. Rows of one query need not be
        neighbours.

    Attributes
    ----------
    n_queries : int
        Number of queries, with one class or both.

    References
    ----------
    .. [1] T. Joachims. Optimizing search engines using clickthrough data. KDD 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.risks import PartialHinge, PerQuery
    >>> scores = np.array([1.0, 0.0, 5.0, 5.5, 9.0])
    >>> labels = np.array([True, False, True, False, True])
    >>> risk = PerQuery(PartialHinge(), qid=[1, 1, 2, 2, 3])
    >>> risk.value_and_subgradient(scores, labels)
    (0.75, array([ 0. ,  0. , -0.5,  0.5,  0. ]))
    >>> risk.n_queries, risk.n_skipped(labels)
    (3, 1)
    """

    least_value = 0.0

    def __init__(self, risk: PartialHinge, qid: Sequence[Any] | NDArray[Any]) -> None:
        self.risk = risk
        queries = check_qid(qid, len(qid))
        self.n_queries = queries.n_queries
        self._first_groups = 2 * queries.codes

    def n_skipped(
        self, labels: BoolArray, sample_weight: FloatArray | None = None
    ) -> int:
        """Return the number of queries that contribute nothing."""
        groups = self._groups(labels)
        if sample_weight is not None:
            groups = groups[sample_weight > 0.0]
        counts = np.bincount(groups, minlength=2 * self.n_queries).reshape(-1, 2)
        return int(np.count_nonzero(counts.min(axis=1) == 0))

    def value_and_subgradient(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
    ) -> tuple[float, FloatArray]:
        """Return the risk of these scores and one subgradient, from one sort."""
        self._check_some_pairs(labels, sample_weight)
        box = self.risk.rank_box()
        sign = -1.0 if box.is_mirrored else 1.0
        if box.is_mirrored:
            scores, labels = -scores, ~labels
        groups = self._groups(labels)
        sizes = np.bincount(groups, minlength=2 * self.n_queries)
        starts = np.concatenate(([0], np.cumsum(sizes)))
        order, _ = sort_with_order(scores)
        grouped = deal_out(order, groups, starts)
        weights = np.ones(scores.size)
        if sample_weight is not None:
            weights = sample_weight[grouped] / sample_weight.max()
        slopes = np.empty_like(scores)
        rows = scores[grouped], weights, starts
        if tuple(box[:3]) == (0.0, 1.0, 1.0):
            value = _partial_kernels.mean_pair_hinge(
                *rows, LARGEST_GAP_AT_A_KINK, slopes
            )
        else:
            value = _partial_kernels.mean_over_queries(
                *rows,
                np.array(box[:3]),
                self.risk.bound == "loose",
                LARGEST_GAP_AT_A_KINK,
                slopes,
            )
        subgradient = np.empty_like(scores)
        subgradient[grouped] = sign * slopes
        return float(value), subgradient

    def _groups(self, labels: BoolArray) -> IntArray:
        """Return a number for the query and class of each row."""
        if labels.size != self._first_groups.size:
            raise ValueError(
                f"qid has {self._first_groups.size} rows, scores have {labels.size}."
            )
        return self._first_groups + labels

    def _check_some_pairs(
        self, labels: BoolArray, sample_weight: FloatArray | None
    ) -> None:
        if self.n_skipped(labels, sample_weight) == self.n_queries:
            raise NotEnoughClassesError(
                f"None of the {self.n_queries} queries has rows of both classes, so "
                "there is nothing to rank. Check that qid numbers queries, not rows."
            )
