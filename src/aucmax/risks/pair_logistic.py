"""The logistic loss of all pairs, by moments: RankNet, and LambdaMART's gradients."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from aucmax._core import parameters
from aucmax._core.validation import check_levels, check_qid, check_sample_weight
from aucmax.exceptions import IncompatibleError, NotEnoughClassesError
from aucmax.risks._pairs.logistic_table import FINEST
from aucmax.risks.bound_pair_logistic import BoundPairLogistic
from aucmax.risks.contract import no_pairs_error

_MAX_LEVELS = 100  # each row takes part in a sum per level
_MAX_GAIN = 1000  # its gain does not overflow


@dataclass(eq=False, repr=False)
class PairLogistic(BaseEstimator):
    r"""Logistic loss over all pairs of rows of different levels, without the pairs.

    .. math:: R(s) = \sum_{y_i > y_j} v_{ij} \log(1 + e^{-(s_i - s_j)})

    With two levels and ``pair_weights="equal"`` this is the mean over all pairs of a
    positive and a negative, an upper bound of 1 - AUC times log 2. The weight of a pair
    is :math:`v_{ij} = u_{ij}`, or :math:`v_{ij} = u_{ij} |r_i - r_j|` with
    `rank_weighted`, where r are the ranks by descending score, and

    .. math:: u_{ij} = \frac{w_i w_j}{\sum_{y_k > y_l} w_k w_l}
              \quad\text{("equal"),}\qquad
              u_{ij} = w_i w_j \left| \frac{p(a)}{m_a (M - m_a)}
              - \frac{p(b)}{m_b (M - m_b)} \right| \quad\text{("mauc")}

    for rows of the levels a and b, where :math:`m_a` is the weight of the rows of level
    a, M that of all. Rank weights make it the loss of LambdaMART: a pair counts as much
    as swapping its rows would change the AUC ("equal", two levels) or the multi-class
    AUC ("mauc") [2]_. Ranks are held fixed in the derivatives.

    "ndcg" is :math:`v_{ij} = w_i w_j |2^{y_i} - 2^{y_j}| \, |d_i - d_j| / Z`, where
    :math:`d_i = 1 / \log_2(r_i + 1)` with ranks from 1 that count rows whatever their
    weight, Z is the largest DCG, and w are relative to the largest weight of the query:
    the change of the NDCG.

    The loss of a pair is a polynomial of :math:`e^{-|s_i - s_j|}`, up to `accuracy`, so
    its sums over rows can be carried down the sorted scores, and up again: O(K L m)
    after an O(m) sort, for m rows, L levels and K = 4 to 20 powers.

    The rank of a row is the weight of the rows above it and half of its own. Rows with
    equal scores share the middle of their ranks, and are a third of their weight apart,
    the mean over random orders; for "ndcg" they keep the order of the rows. A row of
    weight 2 counts as two equal rows.

    With queries, the mean over those that have rows of two levels.

    Parameters
    ----------
    rank_weighted : bool, default=False
        Whether a pair counts by the distance of its ranks.
    pair_weights : {"equal", "mauc", "ndcg"}, default="equal"
        Weights of the pairs of two levels, of which there are at most 100.
    classes : {"positive", "all"}, default="positive"
        Levels over which p is taken, for "mauc": those above 0, or all.
    truncation : int, default=None
        Number of top ranks that have a discount, for "ndcg": the change of NDCG@k.
    fpr_range : pair of float, default=(0.0, 1.0)
        Range of false positive rates, for two levels. Negatives count if their ranks,
        by descending score, are in the range; ties have equal shares. With
        `rank_weighted` all pairs count, but ranks advance in the range only: about the
        change of the partial AUC by a swap.
    tpr_range : pair of float, default=(0.0, 1.0)
        Range of true positive rates: the same for positives, without `rank_weighted`.
    outside_weight : float, default=0.0
        Weight of a row, or of an advance in rank, outside of its range, compared with
        inside: from 0 to 1, where 1 is the whole range. Models that could rank rows
        without weight above all others, such as trees, need a weight above 0.
    accuracy : float, default=1e-7
        Largest relative error of each pair's loss, slope and curvature, and so of the
        risk and, for two levels, of each derivative. Ties are exact. Rounding adds up
        to 1e-14, and 2e-16 per row. With `rank_weighted`, many rows are counted in bins
        no wider than the root of `accuracy` if that saves a sort: with 2e-5,
        derivatives are within 0.1%.
    n_jobs : int, default=1
        Number of threads; the result does not depend on it.

    See Also
    --------
    PairHinge : The hinge of all pairs.
    aucmax.LambdaMART : Trees that minimise this.

    References
    ----------
    .. [1] C. Burges et al. Learning to rank using gradient descent. ICML 2005.
    .. [2] S. Welleck. Efficient AUC optimization for information ranking applications.
       ECIR 2016. Equations (12), (17) to (19).

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.risks import PairLogistic
    >>> scores, labels = np.array([2.0, 0.0, -1.0]), np.array([1, 0, 0])
    >>> risk = PairLogistic().bind(labels)
    >>> value, gradient, hessian = risk.value_gradient_hessian(scores)
    >>> print(f"{value:.4f}", gradient.round(4), hessian.round(4))
    0.0878 [-0.0833  0.0596  0.0237] [0.0751 0.0525 0.0226]
    >>> risk = PairLogistic(rank_weighted=True).bind(labels)
    >>> print(risk.value_and_gradient(scores)[1].round(4))
    [-0.107   0.0596  0.0474]
    """

    rank_weighted: bool = False
    _: KW_ONLY
    pair_weights: str = "equal"
    classes: str = "positive"
    truncation: int | None = None
    fpr_range: Sequence[float] = (0.0, 1.0)
    tpr_range: Sequence[float] = (0.0, 1.0)
    outside_weight: float = 0.0
    accuracy: float = 1e-7
    n_jobs: int = 1

    def bind(
        self,
        labels: ArrayLike,
        sample_weight: ArrayLike | None = None,
        queries: ArrayLike | None = None,
        *,
        width: float = 1.0,
    ) -> BoundPairLogistic:
        """Return the risk of these rows: see :meth:`Risk.bind`.

        Labels have two or more levels, ordered as numbers or strings are; `width` is
        the unit of distances of scores. Raises NotEnoughClassesError if no query has
        rows of two levels.
        """
        self._check_parameters()
        levels, codes = check_levels(labels, "labels")
        self._check_levels(levels)
        weights = check_sample_weight(sample_weight, codes.size)
        qid = None if queries is None else check_qid(queries, codes.size, "queries")
        bound = BoundPairLogistic(self, levels, codes, qid, weights, width)
        if bound.n_skipped == bound.n_queries:
            raise self._no_pairs_error(None if qid is None else qid.n_queries)
        return bound

    def _check_parameters(self) -> None:
        choices = ("equal", "mauc", "ndcg")
        parameters.check_choice("pair_weights", self.pair_weights, choices)
        if self.pair_weights == "ndcg" and not self.rank_weighted:
            raise IncompatibleError("pair_weights='ndcg' needs rank_weighted=True.")
        if self.truncation is not None:
            parameters.check_integer("truncation", self.truncation)
        parameters.check_choice("classes", self.classes, ("positive", "all"))
        parameters.check_range("fpr_range", self.fpr_range)
        is_part = parameters.check_range("tpr_range", self.tpr_range) != (0.0, 1.0)
        if is_part and self.rank_weighted:
            raise IncompatibleError("tpr_range needs rank_weighted=False.")
        parameters.check_number("outside_weight", self.outside_weight, 0.0, 1.0)
        parameters.check_number("accuracy", self.accuracy, FINEST, 0.1)
        parameters.check_integer("n_jobs", self.n_jobs)

    def _check_levels(self, levels: Any) -> None:
        for name in ("fpr_range", "tpr_range"):
            ends = tuple(getattr(self, name))
            if ends == (0.0, 1.0):
                continue
            if levels.size > 2:
                raise IncompatibleError(
                    f"{name}={ends!r} needs labels of two levels, got {levels.size}."
                )
            if self.pair_weights != "equal":
                raise IncompatibleError(f"{name} needs pair_weights='equal'.")
        if levels.size > _MAX_LEVELS:
            raise ValueError(
                f"labels have {levels.size} levels, but at most {_MAX_LEVELS} are "
                "supported. Merge levels, for example into deciles."
            )
        if self.pair_weights == "ndcg" and (
            levels.dtype.kind not in "iufb" or levels[0] < 0 or levels[-1] > _MAX_GAIN
        ):
            raise ValueError(
                f"pair_weights='ndcg' needs levels from 0 to {_MAX_GAIN}, with gains "
                f"2**level - 1, but labels are from {levels[0]} to {levels[-1]}."
            )

    def _no_pairs_error(self, n_queries: int | None) -> NotEnoughClassesError:
        needed = "rows of two levels"
        if self.pair_weights == "mauc" and self.classes == "positive":
            needed += " (one of them above 0)"
        if n_queries is not None:
            return no_pairs_error(n_queries, needed)
        return NotEnoughClassesError(
            f"There are no {needed} with any weight, so there is nothing to rank."
        )
