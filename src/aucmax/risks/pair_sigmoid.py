"""The sigmoid of all pairs: bounded, and the AUC itself as its width falls."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from aucmax._core.parameters import check_positive
from aucmax._core.validation import FloatArray, check_binary_labels
from aucmax.risks.pair_logistic import PairLogistic

__all__ = ["PairSigmoid", "PreparedSigmoid"]


_SMALLEST_TAU = 1e-300  # slopes grow with 1 / tau and must stay finite


class PairSigmoid(BaseEstimator):
    r"""Mean sigmoid of the margins of all pairs, without the pairs; not convex.

    .. math:: R(s) = \frac{1}{W_+ W_-} \sum_{i \in P} \sum_{j \in N}
              w_i w_j \, \sigma\Big(-\frac{s_i - s_j}{\tau}\Big),
              \qquad \sigma(x) = \frac{1}{1 + e^{-x}}

    A pair costs at most 1, however far ahead the negative is, and as :math:`\tau` falls
    the risk tends to 1 - AUC. Over ranges of the false and the true positive rate the
    mean is over the pairs of the negatives with ranks in `fpr_range` and the positives
    with ranks in `tpr_range`, by descending score, rows at the ends in part; then it
    tends to 1 - partial AUC. With queries it is the mean over those with rows of both
    classes.

    The derivative of the logistic loss is a sigmoid, so this is what the gradient of
    :class:`PairLogistic` adds up to over the positives, and its gradient is the second
    derivative there, in O(m) for m rows: over a grid where there are many rows within
    few widths, else after a sort. The ranks at the ends of a range are held fixed in
    the gradient.

    Parameters
    ----------
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        Lower and upper end, ``0 <= low < high <= 1``.
    tau : float, default=1.0
        The width: margins within a few times tau of 0 have a slope.
    accuracy : float, default=1e-7
        That of :class:`PairLogistic`, for each pair's share and its slope.
    n_jobs : int, default=1
        Number of threads; the result does not depend on it.

    See Also
    --------
    PairLogistic : A convex loss of the same pairs.
    aucmax.metrics.partial_auc_score : What it tends to.

    References
    ----------
    .. [1] L. Yan, R. Dodier, M. Mozer, R. Wolniewicz. Optimizing classifier performance
       via an approximation to the Wilcoxon-Mann-Whitney statistic. ICML 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.risks import PairSigmoid
    >>> scores, labels = np.array([2.0, 0.0, 3.0]), np.array([1, 0, 0])
    >>> value, gradient = PairSigmoid().value_and_gradient(scores, labels)
    >>> print(f"{value:.4f}", gradient.round(4))
    0.4251 [-0.1508  0.0525  0.0983]
    >>> round(PairSigmoid(tau=0.01).value(scores, labels), 6)  # 1 - AUC
    0.5
    """

    def __init__(
        self,
        fpr_range: Sequence[float] = (0.0, 1.0),
        *,
        tpr_range: Sequence[float] = (0.0, 1.0),
        tau: float = 1.0,
        accuracy: float = 1e-7,
        n_jobs: int = 1,
    ) -> None:
        self.fpr_range = fpr_range
        self.tpr_range = tpr_range
        self.tau = tau
        self.accuracy = accuracy
        self.n_jobs = n_jobs

    def value(
        self,
        scores: ArrayLike,
        labels: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
    ) -> float:
        """Return the risk of these scores."""
        return self.value_and_gradient(scores, labels, sample_weight, qid=qid)[0]

    def value_and_gradient(
        self,
        scores: ArrayLike,
        labels: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
    ) -> tuple[float, FloatArray]:
        """Return the risk and its gradient.

        Parameters
        ----------
        scores : array-like of shape (n_rows,)
            Finite numbers.
        labels : array-like of shape (n_rows,)
            Two values; the second in sorted order is the positive class.
        sample_weight : array-like of shape (n_rows,), default=None
            Row weights.
        qid : array-like of shape (n_rows,), default=None
            The query of each row.

        Returns
        -------
        value : float
            The risk, from 0 to 1.
        gradient : ndarray of shape (n_rows,)
            Its derivative by each score.
        """
        pairs = self.prepare(labels, qid, sample_weight)
        return pairs.value_and_gradient(scores)

    def prepare(
        self,
        labels: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> "PreparedSigmoid":
        """Check and count labels once, for the risk of many scores.

        Parameters
        ----------
        labels, qid, sample_weight : array-like of shape (n_rows,)
            As in :meth:`value_and_gradient`.

        Returns
        -------
        PreparedSigmoid
            The risk as a function of the scores alone.

        Raises
        ------
        NotEnoughClassesError
            If there is no query with rows of both classes.
        """
        return PreparedSigmoid(self, labels, qid, sample_weight)


class PreparedSigmoid:
    """The risk :class:`PairSigmoid` of given labels, queries and weights."""

    def __init__(
        self,
        risk: PairSigmoid,
        labels: ArrayLike,
        qid: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> None:
        check_positive("tau", risk.tau)
        if risk.tau < _SMALLEST_TAU:
            raise ValueError(f"tau must be at least 1e-300, got {risk.tau!r}.")
        self.accuracy = float(risk.accuracy)
        is_positive = check_binary_labels(labels, "labels")[1]
        self._signs = np.where(is_positive, -1.0, 1.0) / float(risk.tau)
        # its slopes are our heights, its curvatures our slopes
        logistic = PairLogistic(
            fpr_range=risk.fpr_range,
            tpr_range=risk.tpr_range,
            accuracy=risk.accuracy,
            n_jobs=risk.n_jobs,
        )
        self._pairs = logistic.prepare(
            is_positive, qid, sample_weight, width=float(risk.tau)
        )

    def value_and_gradient(self, scores: ArrayLike) -> tuple[float, FloatArray]:
        """Return the risk and its gradient.

        Parameters
        ----------
        scores : array-like of shape (n_rows,)
            Finite numbers.

        Returns
        -------
        value : float
            The risk, from 0 to 1.
        gradient : ndarray of shape (n_rows,)
            Its derivative by each score.
        """
        value, slopes = self._pairs.slope_and_hessian(scores)
        return value, np.multiply(slopes, self._signs, out=slopes)
