"""RankBoost: the exponential loss of all pairs, one hypothesis at a time."""

import math
from dataclasses import KW_ONLY, dataclass

import numpy as np

from aucmax._core.parameters import check_interval
from aucmax._core.validation import BoolArray, FloatArray
from aucmax.boosting.boosted_ranker import BoostedRanker, Reweighting

_MAX_EDGE = 1.0 - 1e-12  # beyond it the step would be infinite
_PERFECT_DISTANCE = 2.0 - 1e-6  # from the worst positive down to the best negative


class ExponentialReweighting(Reweighting):
    """RankBoost's weights: a pair weighs the exponential of minus its margin."""

    # a product of exp(-score / 2) of its positive and exp(score / 2) of its negative
    recorded = ("loss",)

    def __init__(self, labels: BoolArray, weight: FloatArray, rate: float) -> None:
        super().__init__(labels, weight)
        self._learning_rate = rate
        self._reweigh()

    def advance(self, values: FloatArray, edge: float) -> float:
        """Add a hypothesis, by its values on the rows; return its weight."""
        edge = min(edge, _MAX_EDGE)
        step = self._learning_rate * 0.5 * math.log((1.0 + edge) / (1.0 - edge))
        self._scores += step * values
        if edge == _MAX_EDGE:
            worst, best = values[self._labels].min(), values[~self._labels].max()
            if worst - best >= _PERFECT_DISTANCE:
                self.verdict = "perfect hypothesis"
        self._reweigh()
        self._records.append((self.loss,))
        return step

    def _reweigh(self) -> None:
        exponents = np.where(self._labels, -0.5, 0.5) * self._scores
        # without the largest exponent of each class, nothing overflows
        tops = exponents[self._labels].max(), exponents[~self._labels].max()
        sums = self._weigh(exponents - np.where(self._labels, *tops))
        logs = sum(map(math.log, sums)) - sum(map(math.log, self._totals))
        self.loss = math.exp(logs + float(sum(tops)))


@dataclass(eq=False, repr=False)
class RankBoost(BoostedRanker):
    r"""RankBoost: boosting on all pairs of a positive and a negative row.

    Each round adds the hypothesis :math:`h : X \to [-1, 1]` of the largest edge

    .. math:: r = \sum_{i \in P} \sum_{j \in N} D_{ij} \, \frac{h(x_i) - h(x_j)}{2}
              \in [-1, 1], \qquad \alpha = \tfrac12 \ln \frac{1 + r}{1 - r}

    with the weight :math:`\alpha`, to scores :math:`F = \sum_t \alpha_t h_t`. The paper
    adds all of :math:`\alpha`; by default 0.3 of it is added (`learning_rate`). A pair
    weighs :math:`D_{ij} \sim v_i v_j \exp(-(F(x_i) - F(x_j)) / 2)` with row weights
    :math:`v`, so hard pairs count more in the next round. These weights factor into one
    of each row: the pairs are never formed, and a round costs O(n_rows) besides the
    search for the hypothesis, which is one product with the data ("features",
    "signed") or one sweep over sorted columns ("stumps").

    The mean of :math:`\exp(-(F(x_i) - F(x_j)) / 2)` over pairs, an upper bound of
    1 - AUC, falls in every round by a factor of at least :math:`\sqrt{1 - r^2}`.

    Parameters
    ----------
    n_estimators : int, default=500
        Maximum number of rounds.
    hypotheses : str or list of callables, default="stumps"
        "stumps": 1 above a threshold of a column and -1 below, or the reverse, for
        every threshold between two values; "features": the columns, scaled to [-1, 1];
        "signed": these and their negatives; "precomputed": the columns unchanged,
        within [-1, 1]. Or functions that map X to one value in [-1, 1] per row; such a
        model cannot be saved to a file.
    min_edge : float, default=1e-6
        Stop when no hypothesis has an edge above this.
    n_iter_no_change : int, default=None
        Stop after this many rounds without a better AUC on the validation rows: those
        of `eval_set`, or a share of the training rows that is held out.
    validation_fraction : float, default=0.1
        Share of each class that `n_iter_no_change` holds out without an `eval_set`.
    max_time : float, default=None
        Stop after this many seconds, with the best solution so far.
    callback : callable, default=None
        Called after each round with a :class:`~aucmax.boosting.BoostingProgress`; a
        true answer stops the fit. Not stored by :func:`aucmax.save`.
    verbose : int, default=0
        Whether to write one line per iteration or round to standard output.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of held-out rows.
    learning_rate : float, default=0.3
        Factor of each :math:`\alpha`, in (0, 1]; 1 is the algorithm of [1]_. Smaller
        steps generalize better where classes overlap.

    Attributes
    ----------
    columns_ : ndarray of int64 of shape (n_rounds,)
        The column of each hypothesis.
    directions_ : ndarray of shape (n_rounds,)
        1, or -1 for a hypothesis with its sign reversed.
    thresholds_ : ndarray of shape (n_rounds,)
        The threshold of each stump (stumps only), which equals its direction above the
        threshold, and minus that elsewhere.
    weights_ : ndarray of shape (n_rounds,)
        The weights :math:`\alpha`, not negative.
    threshold_ : float
        Score of the best balanced accuracy on the training rows, which
        `decision_function` subtracts. It does not affect ranking.
    coef_, intercept_ : ndarray of shape (1, n_features) and (1,)
        The scores as a linear function of the raw features (not for stumps).
    low_, high_ : ndarray of shape (n_features,)
        The ranges of the columns that were mapped to [-1, 1] (not for stumps).
    n_iter_ : int
        Number of rounds run.
    best_iteration_ : int
        Rounds kept, up to the first of the best AUC on the validation rows, if any.
    stop_reason_ : str
        "max rounds", "max time", "callback", "no change" of the validation AUC, "no
        edge" above `min_edge`, or "perfect hypothesis".
    history_ : dict of str to ndarray of shape (n_iter\_,)
        "edge" of each hypothesis, mean pair "loss" after each round, and
        "validation_auc" if there were validation rows.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the training data had names that are all strings.

    See Also
    --------
    SoftRankBoost : Gives up on the hardest pairs, for noisy labels.

    Notes
    -----
    A hypothesis with r = 1 separates all pairs as far as possible. Its step, infinite
    by the formula, is that of r = 1 - 1e-12, about 14, and boosting stops.

    Ties between edges, up to rounding, go to the lowest column, then to the lowest
    threshold, so a fit is reproducible.

    References
    ----------
    .. [1] Y. Freund, R. Iyer, R. E. Schapire, Y. Singer. An efficient boosting
       algorithm for combining preferences. JMLR 4, 2003 (section 3.3, the bipartite
       case).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from aucmax.boosting import RankBoost
    >>> from aucmax.metrics import roc_auc_score
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RankBoost(n_estimators=100).fit(X[:300], y[:300])
    >>> round(roc_auc_score(y[300:], model.decision_function(X[300:])), 3)
    0.997
    """

    n_estimators: int = 500
    _: KW_ONLY
    learning_rate: float = 0.3

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_interval("learning_rate", self.learning_rate, 1.0)

    def _reweighting(self, labels: BoolArray, weight: FloatArray) -> Reweighting:
        return ExponentialReweighting(labels, weight, self.learning_rate)
