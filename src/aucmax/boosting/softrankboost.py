"""SoftRankBoost: smooth boosting towards a soft margin over pairs."""

import math
from dataclasses import KW_ONLY, dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from aucmax._core.parameters import check_interval
from aucmax._core.validation import BoolArray, FloatArray
from aucmax.boosting.boosted_ranker import (
    BoostedRanker,
    BoostingRounds,
    Reweighting,
)


class CappedReweighting(Reweighting):
    """SoftRankBoost's weights: no row weighs more than its sample weight."""

    recorded = ("loss", "margin", "nu_pos", "nu_neg")

    def __init__(
        self, labels: BoolArray, weight: FloatArray, nu: float, delta: float
    ) -> None:
        super().__init__(labels, weight)
        self.nu = nu  # the weight of the pairs at which the algorithm is done
        self.margin = math.inf  # its target
        self._delta = delta
        self._sum_of_steps = 0.0
        self._reweigh(0.0)

    def advance(self, values: FloatArray, edge: float) -> float:
        """Add a hypothesis, by its values on the rows; return its weight."""
        self.margin = min(self.margin, (1.0 - self._delta) * edge)
        step = (edge - self.margin) / (2.0 * (1.0 + self.margin**2))
        # half the sum of the means over positives and over negatives
        middle = float(np.einsum("i,i->", np.abs(self.row_weights), values))
        self._scores += step * (values - middle)
        self._sum_of_steps += step
        nu_pos, nu_neg = self._reweigh(self.margin * self._sum_of_steps)
        self._records.append((self.loss, self.margin, nu_pos, nu_neg))
        if nu_pos * nu_neg <= self.nu:
            self.verdict = "converged"
        return step

    def weights(self, steps: FloatArray) -> FloatArray:
        """Return the weights of a convex combination."""
        return steps / steps.sum() if steps.size else steps

    def guarantees(self, n_rounds: int) -> dict[str, float]:
        """Return the margin, and how many pairs have it at least."""
        margin, nu_pos, nu_neg = 0.0, *self._totals
        if n_rounds:
            _, margin, nu_pos, nu_neg = self._records[n_rounds - 1]
        total_pos, total_neg = self._totals
        return {
            "margin_": margin,
            "nu_pos_": nu_pos,
            "nu_neg_": nu_neg,
            "pairs_guaranteed_": (total_pos - nu_pos) * (total_neg - nu_neg),
        }

    def _reweigh(self, lift: float) -> tuple[float, float]:
        exponents = lift - np.where(self._labels, 1.0, -1.0) * self._scores
        nus = self._weigh(np.minimum(exponents, 0.0))
        self.loss = math.prod(nus) / math.prod(self._totals)
        return nus


@dataclass(eq=False, repr=False)
class SoftRankBoost(BoostedRanker):
    r"""SoftRankBoost: smooth boosting towards a soft margin over pairs.

    Scores are a convex combination of hypotheses :math:`h : X \to [-1, 1]`. Round t
    adds the hypothesis of the largest edge under distributions :math:`d^+` over the
    positive and :math:`d^-` over the negative rows,

    .. math::
        g_t = \tfrac12 \Bigl( \sum_i d^+_i h_t(x_i) - \sum_j d^-_j h_t(x_j) \Bigr),
        \quad
        \hat g_t = \min(\hat g_{t-1}, (1 - \delta) g_t), \quad
        a_t = \frac{g_t - \hat g_t}{2 (1 + \hat g_t^2)}

    to :math:`F = \sum_t a_t (h_t + b_t)`, where
    :math:`b_t = -\frac12 (\sum_i d^+_i h_t(x_i) + \sum_j d^-_j h_t(x_j))` centres it.
    With :math:`A = \sum_t a_t` and :math:`\ell(z) = \min(1, e^z)`, rows then weigh

    .. math::
        \ell^+_i = v_i \, \ell(-F(x_i) + \hat g_t A), \qquad
        \ell^-_j = v_j \, \ell(F(x_j) + \hat g_t A), \qquad d^\pm \sim \ell^\pm

    so that none can weigh more than its sample weight v, however often it is missed:
    the share `epsilon` of the hardest pairs is given up. The algorithm is done when
    :math:`\sum_i \ell^+_i \sum_j \ell^-_j \le \nu = \epsilon W_+ W_-` with the class
    totals :math:`W_\pm`. The pairs are never formed: a round costs as much as one of
    :class:`RankBoost`.

    Parameters
    ----------
    epsilon : float, default=0.03
        Share of pairs that may be given up, in (0, 1].
    n_estimators : int, default=3000
        Maximum number of rounds; a fit that needs more issues a warning.
    hypotheses, n_iter_no_change, validation_fraction, random_state : object
        As in :class:`RankBoost`.
    min_edge : float, default=1e-6
        Stop when no hypothesis has an edge, and so no combination a margin, above this.
    max_time : float, default=None
        Stop after this many seconds, with the best solution so far.
    callback : callable, default=None
        Called after each round with a :class:`~aucmax.boosting.BoostingProgress`, whose
        loss is :math:`\sum \ell^+ \sum \ell^- / (W_+ W_-)`; a true answer stops the
        fit. Not stored by :func:`aucmax.save`.
    verbose : int, default=0
        Whether to write one line per iteration or round to standard output.
    delta : float, default=0.1
        Relative distance of the target margin below the edges, in (0, 1]. The margin is
        at least :math:`1 - \delta` times the largest; the number of rounds grows as
        :math:`1 / \delta^2`.

    Attributes
    ----------
    margin_ : float
        The target margin :math:`\hat g` of the last round that is kept.
    pairs_guaranteed_ : float
        The least weight of training pairs that have a margin
        :math:`(s_i - t_j) / 2` of at least `margin_`:
        :math:`(W_+ - \sum \ell^+)(W_- - \sum \ell^-)`.
    nu_pos_, nu_neg_ : float
        The sums :math:`\sum \ell^+` and :math:`\sum \ell^-`.
    weights_ : ndarray of shape (n_rounds,)
        The weights :math:`a_t / A`: not negative, with the sum 1.
    stop_reason_ : str
        "converged" (the algorithm's own rule), "max rounds", "max time", "callback",
        "no change" of the validation AUC, or "no edge" above `min_edge`.
    history_ : dict of str to ndarray of shape (n_iter\_,)
        "edge" of each hypothesis; after each round "loss", "margin", "nu_pos",
        "nu_neg", and "validation_auc" if there were validation rows.
    columns_, directions_, thresholds_, threshold_, coef_, intercept_ : object
        As in :class:`RankBoost`, like `low_`, `high_`, `n_iter_`, `best_iteration_`.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the training data had names that are all strings.

    See Also
    --------
    RankBoost : Gives up no pair.

    Notes
    -----
    The distributions of a round put at most 1/nu on any pair. So every edge is at least
    the largest mean of the nu smallest pair margins that any combination can have,
    gamma*, and `margin_` is at least :math:`(1 - \delta)` gamma*.

    References
    ----------
    .. [1] J. Moribe, K. Hatano, E. Takimoto, M. Takeda. Smooth boosting for
       margin-based ranking. ALT 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from aucmax.boosting import SoftRankBoost
    >>> from aucmax.metrics import roc_auc_score
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SoftRankBoost(epsilon=0.1).fit(X[:300], y[:300])
    >>> round(roc_auc_score(y[300:], model.decision_function(X[300:])), 3)
    0.992
    """

    epsilon: float = 0.03
    _: KW_ONLY
    delta: float = 0.1
    n_estimators: int = 3000

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_interval("epsilon", self.epsilon, 1.0)
        check_interval("delta", self.delta, 1.0)

    def _reweighting(self, labels: BoolArray, weight: FloatArray) -> Reweighting:
        n_pairs = float(weight[labels].sum()) * float(weight[~labels].sum())
        return CappedReweighting(labels, weight, self.epsilon * n_pairs, self.delta)

    def _convergence_warning(
        self, rounds: BoostingRounds
    ) -> tuple[str, type[Warning]] | None:
        if rounds.steps and rounds.reason == "no edge":
            return (
                f"stopped after {len(rounds.steps)} rounds: no ranking by these "
                f"hypotheses beats chance by a margin above min_edge={self.min_edge:g} "
                f"when only the share epsilon={self.epsilon:g} of the pairs is given "
                "up. The scores so far are kept; a larger epsilon gives up more."
            ), ConvergenceWarning
        if rounds.reason in ("max rounds", "max time"):
            return (
                f"stopped by {rounds.reason} after {len(rounds.steps)} rounds, before "
                f"the share of pairs given up fell to epsilon={self.epsilon:g}. Allow "
                "more n_estimators or max_time, or take a larger delta or epsilon."
            ), ConvergenceWarning
        return super()._convergence_warning(rounds)
