"""Average precision with smooth ranks, over all rows."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from aucmax._core.parameters import check_number, check_positive
from aucmax._core.sorting import sort_in_groups
from aucmax._core.validation import FloatArray
from aucmax.risks._pairs.logistic_table import FINEST, coefficients
from aucmax.risks._pairs.precision_sweeps import PrecisionRows, sum_ranks, sum_slopes
from aucmax.risks.contract import BoundTreeRisk, no_pairs_error

_MIN_WIDTH = 1e-150  # curvatures grow with its square and must stay finite


class SmoothAveragePrecision(BaseEstimator):
    r"""One minus the average precision of smooth ranks, over all rows; not convex.

    The average precision is the mean, over positives, of the precision at their rank.
    A sigmoid in place of the step makes both ranks of a positive smooth:

    .. math:: R(s) = 1 - \frac{1}{W_+} \sum_{i \in P} w_i \frac{A_i}{N_i}, \qquad
              N_i = w_i + \sum_{j \ne i} w_j \,
              \sigma\Big(\frac{s_j - s_i}{\tau}\Big)

    where :math:`\tau` is the `width` and :math:`A_i` is the same sum over positives. As
    the width falls, the risk tends to 1 - average precision if no positive is tied with
    another row. With queries it is the mean over those with rows of both classes.

    Value and gradient cost O(m log m) for m rows: the sums are carried down the sorted
    scores and up again. The error of a rank is relative to the rank, so that of the top
    positives is small as well. The risk is not convex: start from a model fitted by
    likelihood, with scores of standard deviation 1.

    Parameters
    ----------
    width : float, default=0.3
        Rows within a few widths of a positive move its rank.
    accuracy : float, default=1e-7
        Relative error of each pair's share and slope.

    See Also
    --------
    PairSigmoid : The same for the AUC.
    aucmax.metrics.mean_average_precision : The metric of queries.

    References
    ----------
    .. [1] A. Brown, W. Xie, V. Kalogeiton, A. Zisserman. Smooth-AP: smoothing the path
       towards large-scale image retrieval. ECCV 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.risks import SmoothAveragePrecision
    >>> scores, labels = np.array([2.0, 0.0, 3.0]), np.array([1, 0, 0])
    >>> risk = SmoothAveragePrecision(width=1.0).bind(labels)
    >>> value, gradient = risk.value_and_gradient(scores)
    >>> print(f"{value:.4f}", gradient.round(4))
    0.4595 [-0.0881  0.0307  0.0574]
    >>> sharp = SmoothAveragePrecision(width=0.01).bind(labels)
    >>> round(sharp.value(scores), 6)  # 1 - average precision
    0.5
    """

    def __init__(self, width: float = 0.3, *, accuracy: float = 1e-7) -> None:
        self.width = width
        self.accuracy = accuracy

    def bind(
        self,
        labels: ArrayLike,
        sample_weight: ArrayLike | None = None,
        queries: ArrayLike | None = None,
    ) -> "BoundSmoothAveragePrecision":
        """Return the risk of these rows: see :meth:`Risk.bind`."""
        return BoundSmoothAveragePrecision(self, labels, sample_weight, queries)


class BoundSmoothAveragePrecision(BoundTreeRisk):
    """The smooth average precision of given rows."""

    risk: SmoothAveragePrecision
    is_convex, least_value = False, 0.0
    is_smooth = True

    def __init__(
        self,
        risk: SmoothAveragePrecision,
        labels: ArrayLike,
        sample_weight: ArrayLike | None,
        queries: ArrayLike | None,
    ) -> None:
        check_positive("width", risk.width)
        if risk.width < _MIN_WIDTH:
            raise ValueError(f"width must be at least 1e-150, got {risk.width!r}.")
        check_number("accuracy", risk.accuracy, FINEST, 0.1)
        super().__init__(risk, labels, sample_weight, queries)
        self.relative_error = 4.0 * float(risk.accuracy)
        self._table = coefficients(float(risk.accuracy))
        self.n_rows = n_rows = self.labels.size
        self._codes = (
            np.zeros(n_rows, dtype=np.int64)
            if self.queries is None
            else self.queries.codes
        )
        n_rows_of_query = np.bincount(self._codes)
        self._starts = np.concatenate([[0], np.cumsum(n_rows_of_query)])
        weights = self.sample_weight
        if weights is None:
            weights = np.ones(n_rows)
        query_weights = np.bincount(self._codes, weights).astype(np.float64)
        largest = np.zeros(n_rows_of_query.size)
        np.maximum.at(largest, self._codes, weights)
        # so that sums neither overflow nor vanish: ratios of weights alone matter
        unit = np.where(largest > 0.0, largest, 1.0)
        self._weights = weights / unit[self._codes]
        positive_weights = np.bincount(self._codes, self._weights * self.labels)
        negative_weights = np.bincount(self._codes, self._weights * ~self.labels)
        is_used = (positive_weights > 0.0) & (negative_weights > 0.0)
        self.n_queries, n_used = is_used.size, int(np.count_nonzero(is_used))
        self.n_skipped = self.n_queries - n_used
        if n_used == 0:
            raise no_pairs_error(self.n_queries)
        shares = np.zeros(is_used.size)
        shares[is_used] = 1.0 / (n_used * positive_weights[is_used])
        self._shares = np.where(self.labels, shares[self._codes] * self._weights, 0.0)
        # as that of pairs: about one per row, and a query counts as much as its rows
        query_weights *= n_used * n_rows / 2.0 / query_weights.sum()
        self.row_scale = query_weights[self._codes]

    def _derivatives(
        self, scores: FloatArray, with_value: bool = True
    ) -> tuple[float, FloatArray, FloatArray]:
        # The curvature is half the sum of the absolute slopes of the row's pairs, per
        # width: the risk is not convex, so its second derivatives may be negative.
        order = sort_in_groups(-scores, self._codes, self._starts)
        ordered, width = scores[order], float(self.risk.width)
        with np.errstate(over="ignore"):
            # the next score is higher between queries only, where it does not matter
            gaps = np.maximum((ordered[:-1] - ordered[1:]) / width, 0.0)
        rows = PrecisionRows(
            self._starts,
            np.exp(-gaps),
            self.labels[order].view(np.uint8),
            self._weights[order],
        )
        ranks, slopes = np.zeros((2, order.size)), np.zeros((2, order.size))
        for down in (True, False):
            sum_ranks(rows, self._table, down, ranks, slopes)
        # smooth counts: the weights of the rows above, each class by itself
        shares, positives_above, negatives_above = self._shares[order], *ranks
        positives_above = positives_above + rows.weights
        total = positives_above + negatives_above
        np.divide(shares, total, out=shares, where=shares > 0.0)
        value = float((shares * negatives_above).sum())
        # change of the value by the ranks among positives and among negatives
        np.divide(shares, total, out=shares, where=shares > 0.0)
        rank_gains = np.stack([shares * negatives_above, shares * positives_above])
        passed = np.zeros(order.size)
        for down in (True, False):
            sum_slopes(rows, self._table, down, rank_gains, passed)
        passed *= rows.weights
        signed = np.where(rows.positive, -passed, passed)
        signed += rank_gains[0] * slopes[0] - rank_gains[1] * slopes[1]
        curved = passed + rank_gains[0] * slopes[0] + rank_gains[1] * slopes[1]
        gradient, hessian = np.empty(order.size), np.empty(order.size)
        gradient[order] = signed / width
        hessian[order] = curved / width / (2.0 * width)
        return value, gradient, hessian
