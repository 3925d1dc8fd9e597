"""Concordance of held-out rows with censored times: estimate, test, and weights.

Rows are compared within their fold, and their stratum if there are strata, and the
pairs of all folds count alike. The variance is that of the influence of each row.
"""

import warnings

import numpy as np

from aucmax._core.validation import FloatArray, IntArray
from aucmax.exceptions import FewRowsWarning, NotEnoughClassesError
from aucmax.inference.concordance_inference import ConcordanceSample
from aucmax.inference.influence import refit_factor
from aucmax.inference.intervals import TwoSidedTest, area_interval, two_sided_test
from aucmax.metrics.concordance import target_concordance
from aucmax.tables import Target

_CONFIDENCE = 0.95
# Penalty of the distance of the weights from their mean, beside the mean log-likelihood
# of an event; chosen on public tables, where a tenth to the threefold are as good.
_SHRINKAGE = 1.0


def strata_of(target: Target, folds: IntArray) -> IntArray:
    """Return the number of the fold and stratum of each row."""
    if target.queries is None:
        return folds
    return np.asarray(folds * (target.queries.max() + 1) + target.queries)


def concordance(target: Target, folds: IntArray, scores: FloatArray) -> float:
    """Return Harrell's C within folds; 1/2 if no rows are comparable."""
    known = {"sample_weight": target.weights, "qid": strata_of(target, folds)}
    try:
        return target_concordance(target.survival, scores, **known)
    except NotEnoughClassesError:
        return 0.5


def estimate_concordance(
    target: Target, folds: IntArray, scores: FloatArray
) -> tuple[float, float, float]:
    """Return Harrell's C within folds and the ends of its 95% interval, if any."""
    try:
        sample = _sample(target, folds)
    except ValueError:  # fewer than two comparable rows on either side
        return concordance(target, folds, scores), np.nan, np.nan
    found = sample.measure(scores)
    error = found.error * refit_factor(np.unique(folds).size)
    rows, degrees = sample.sizes(found.design_effect)
    ends = area_interval(found.value, error, _CONFIDENCE, rows, degrees)
    return found.value, *ends


def concordance_test(
    target: Target, folds: IntArray, scores: FloatArray, baseline: FloatArray
) -> TwoSidedTest:
    """Test on both sides whether two models have the same C within folds."""
    sample = _sample(target, folds)
    one, other = map(sample.measure, (scores, baseline))
    error = float(np.linalg.norm(one.effects - other.effects))
    error *= refit_factor(np.unique(folds).size)
    rows, degrees = sample.sizes(max(one.design_effect, other.design_effect))
    areas = one.value, other.value
    return two_sided_test(
        one.value - other.value, error, _CONFIDENCE, rows, areas, degrees=degrees
    )


def _sample(target: Target, folds: IntArray) -> ConcordanceSample:
    assert target.durations is not None
    with warnings.catch_warnings(action="ignore", category=FewRowsWarning):
        return ConcordanceSample.of(
            target.labels,
            target.durations,
            target.weights,
            strata_of(target, folds),
            target.groups,
            method="harrell",
            horizon=None,
            censoring=None,
        )


def likelihood_weights(
    logits: FloatArray, target: Target, folds: IntArray
) -> FloatArray:
    """Return non-negative weights, of sum 1, by Cox's partial likelihood within folds.

    A penalty of the distance of the weights from their mean shrinks them to equality.
    """
    from scipy.optimize import minimize

    from aucmax.risks import CoxLikelihood  # which loads scikit-learn

    n_models = logits.shape[1]
    risk = CoxLikelihood().bind(
        target.survival, target.weights, strata_of(target, folds)
    )

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        value, slope = risk.value_and_gradient(logits @ weights)
        gaps = weights - weights.mean()
        value += _SHRINKAGE / 2.0 * float(gaps @ gaps)
        return value, logits.T @ slope + _SHRINKAGE * gaps

    start = np.full(n_models, 1.0 / n_models)
    bounds = [(0.0, None)] * n_models
    found = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x
    return np.asarray(found / found.sum()) if found.sum() > 0.0 else start
