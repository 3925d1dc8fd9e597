"""Second derivatives of the logistic loss of all pairs, times a vector."""

import numpy as np

from aucmax._validation import BoolArray, FloatArray
from aucmax.risks import PairLogistic
from aucmax.torch._batch import Column

__all__ = ["logistic_curvature_times"]


def logistic_curvature_times(
    risk: PairLogistic, column: Column, vector: FloatArray
) -> FloatArray:
    r"""Return H v, where H has the second derivatives of the risk.

    .. math:: (H v)_i = v_i h_i - \sum_j h_{ij} v_j

    with the diagonal :math:`h_i` that the risk has. The sum is the diagonal of other
    weights: with the rows of one class weighted by v, those of the other class find it
    in theirs. Weights are positive, so v is taken in two parts: four sums in all.
    """
    pairs = risk.prepare(column.labels, column.qid, column.sample_weight)
    product: FloatArray = pairs.gradient_hessian(column.scores)[1] * vector
    for is_positive in (True, False):
        weighted = (column.labels == 1) == is_positive
        for sign in (1.0, -1.0):
            part = np.where(weighted, np.maximum(sign * vector, 0.0), 0.0)
            product -= sign * _sums_over(risk, column, weighted, part)
    return product


def _sums_over(
    risk: PairLogistic, column: Column, weighted: BoolArray, part: FloatArray
) -> FloatArray:
    """Return the sums of h_ij times `part` over rows of one class, for the others.

    The diagonal is a mean over the pairs of a query, each by the product of its
    weights, where row i's own weight is w_i: see :class:`PairLogistic`. The mean with
    the weights w and the mean with the weights w times `part` differ by the ratio of
    the weights of their pairs.
    """
    own = np.ones(part.size) if column.sample_weight is None else column.sample_weight
    queries = np.zeros(part.size, dtype=np.int64)
    if column.qid is not None:
        queries = np.unique(column.qid, return_inverse=True)[1]
    totals = np.bincount(queries, own * weighted)
    shares = np.bincount(queries, own * part)
    others = np.bincount(queries, own * ~weighted)
    has_pairs = (shares > 0.0) & (others > 0.0)
    if not has_pairs.any():
        return np.zeros_like(part)
    pairs = risk.prepare(column.labels, column.qid, np.where(weighted, own * part, own))
    diagonal = pairs.gradient_hessian(column.scores)[1]
    n_used = np.count_nonzero((totals > 0.0) & (others > 0.0))
    ratio = np.divide(shares, totals, out=np.zeros_like(shares), where=totals > 0.0)
    factor = ratio * np.count_nonzero(has_pairs) / n_used
    return np.where(weighted, 0.0, diagonal * factor[queries])
