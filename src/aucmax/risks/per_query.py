"""A risk within each query, averaged over the queries."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._core.validation import BoolArray, FloatArray, IntArray, check_qid
from aucmax.exceptions import NotEnoughClassesError
from aucmax.risks import _partial_kernels
from aucmax.risks._hinge_sums import LARGEST_GAP_AT_A_KINK
from aucmax.risks._query_rows import QueryRows
from aucmax.risks.base import Risk, Support
from aucmax.risks.partial_hinge import PartialHinge

__all__ = ["PerQuery"]

_ROWS_OF_A_QUERY = 30  # of each class, at most, where a sample can have more queries


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

    @property
    def can_be_smoothed(self) -> bool:
        """Whether the risk of one query is a mean of hinges over a choice of rows."""
        return self.risk.can_be_smoothed

    @property
    def line_margin(self) -> float | None:
        """The margin of the pairs that make up a slope, if they have one in common."""
        return self.risk.line_margin

    def value_and_subgradient(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
    ) -> tuple[float, FloatArray]:
        """Return the risk of these scores and one subgradient, from one sort."""
        if self.can_be_smoothed:
            return self._first_rows(scores, labels, sample_weight).support()[:2]
        return self._structural(scores, labels, sample_weight)

    def smoothed(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
        *,
        width: float,
    ) -> Support:
        """Return a line below the risk whose slope is the smoothed risk's gradient.

        The kinks of the hinges are rounded off. The choice of rows is not, unlike that
        of one large query: it is over few rows of each of many queries. Raises
        IncompatibleError where ``can_be_smoothed`` is False.
        """
        self.risk.refuse_if_structural()
        return self._first_rows(scores, labels, sample_weight).support(width)

    def curvature(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
        *,
        width: float,
    ) -> Callable[[FloatArray], FloatArray]:
        """Return the smoothed risk's Hessian L as the map V -> V^T L V."""
        self.risk.refuse_if_structural()
        return self._first_rows(scores, labels, sample_weight).laplacian(width)

    def draw_rows(
        self,
        labels: BoolArray,
        sample_weight: FloatArray | None,
        rows_per_class: int,
        generator: np.random.Generator,
    ) -> IntArray:
        """Draw rows of some queries, about so many of each class.

        Pairs are those of one query, so that few queries say more than few rows of
        each. A large one gives no more rows than it takes to tell its pairs.
        """
        counted = np.arange(labels.size)
        if sample_weight is not None:
            counted = np.flatnonzero(sample_weight > 0.0)
        groups = self._groups(labels)[counted]
        sizes = np.bincount(groups, minlength=2 * self.n_queries).reshape(-1, 2)
        queries = generator.permutation(np.flatnonzero(sizes.min(axis=1) > 0))
        most = max(_ROWS_OF_A_QUERY, rows_per_class // queries.size)
        drawn = np.minimum(sizes[queries], most).cumsum(axis=0).min(axis=1)
        queries = queries[: 1 + int(np.searchsorted(drawn, rows_per_class))]
        is_drawn = np.zeros(self.n_queries, dtype=bool)
        is_drawn[queries] = True
        kept = generator.permutation(np.flatnonzero(is_drawn[groups // 2]))
        kept = kept[np.argsort(groups[kept], kind="stable")]
        # places within each group, of which there are as many as it has rows
        starts = np.flatnonzero(np.diff(groups[kept], prepend=-1))
        lengths = np.diff(starts, append=kept.size)
        places = np.arange(kept.size) - np.repeat(starts, lengths)
        return np.sort(counted[kept[places < most]])

    def of_rows(self, rows: IntArray) -> "PerQuery":
        """Return the same risk for some of the rows."""
        return PerQuery(self.risk, self._first_groups[rows] // 2)

    def _first_rows(
        self, scores: FloatArray, labels: BoolArray, sample_weight: FloatArray | None
    ) -> QueryRows:
        """Return the rows of each query that count; the others weigh nothing."""
        box = self.risk.rank_box()
        rows = self._rows(scores, labels, sample_weight)
        return rows.first(box.negatives, box.positives)

    def _rows(
        self, scores: FloatArray, labels: BoolArray, sample_weight: FloatArray | None
    ) -> QueryRows:
        self._check_some_pairs(labels, sample_weight)
        groups = self._groups(labels)
        return QueryRows.of(scores, groups, 2 * self.n_queries, sample_weight)

    def _structural(
        self, scores: FloatArray, labels: BoolArray, sample_weight: FloatArray | None
    ) -> tuple[float, FloatArray]:
        """Return the risk and a subgradient where the order of the rows matters."""
        box = self.risk.rank_box()
        sign = -1.0 if box.is_mirrored else 1.0
        if box.is_mirrored:
            scores, labels = -scores, ~labels
        rows = self._rows(scores, labels, sample_weight)
        slopes = np.empty_like(scores)
        value = _partial_kernels.mean_over_queries(
            rows.values,
            rows.weights,
            rows.starts,
            np.array(box[:3]),
            self.risk.bound == "loose",
            LARGEST_GAP_AT_A_KINK,
            slopes,
        )
        return float(value), rows.in_order(sign * slopes)

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
