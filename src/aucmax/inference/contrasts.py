"""Comparisons of any number of models on the same rows, or on different ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.dask_dispatch import dispatch_to_dask
from aucmax._core.parameters import check_choice, check_number
from aucmax.inference.bound_metrics import BoundMetric, ComparedRows
from aucmax.inference.estimates import Estimates, on_different_rows, on_same_rows
from aucmax.inference.intervals import (
    TARGETS,
    area_scale,
    warn_of_few_rows,
)
from aucmax.inference.results import (
    MetricComparison,
    MetricDifference,
    check_confidence,
    with_note,
)
from aucmax.metrics._steps import WHOLE_SQUARE, check_box


@overload
def compare_auc(
    y_true: Any, y_score_a: Any, y_score_b: ArrayLike, **options: Any
) -> MetricDifference: ...
@overload
def compare_auc(y_true: Any, y_score_a: Any, **options: Any) -> MetricComparison: ...
@dispatch_to_dask
def compare_auc(
    y_true: Any,
    y_score_a: Any,
    y_score_b: ArrayLike | None = None,
    *,
    metric: str = "auc",
    reference: Any = None,
    paired: bool = True,
    null: float = 0.0,
    margin: float | None = None,
    fpr_range: Sequence[float] = (0.0, 1.0),
    tpr_range: Sequence[float] = (0.0, 1.0),
    standardize: str = "mean",
    method: str = "auto",
    confidence: float = 0.95,
    sample_weight: Any = None,
    groups: Any = None,
    qid: Any = None,
    folds: Any = None,
    target: str = "models",
    pos_label: Any = None,
    **metric_options: Any,
) -> MetricDifference | MetricComparison:
    r"""Test whether models have the same AUC: two models, or any number.

    DeLong's variance :math:`\sigma^2` of the difference :math:`D = A_a - A_b` is that
    of :func:`auc_interval` with the differences :math:`V_i^a - V_i^b`,
    :math:`U_j^a - U_j^b` in place of the shares. The statistic :math:`z = D / \sigma`
    is referred to Student's t with :math:`k - 1` degrees of freedom, k = min(p, n), on
    both sides, and the interval holds the differences that this test does not reject.

    With few rows, or areas near 0 or 1, this variance is too small: where
    :math:`k \min(A, 1 - A) < 5` for either model, or :math:`\sigma` is zero,

    .. math:: z = D \Big/ \sqrt{\sigma^2 + (0.6 / k)^2}

    Without the second term, the test would be certain that two models are equal if they
    order a few rows in the same way. Otherwise, models that differ in few rows have the
    pseudo-rows of :func:`auc_interval`, at a distance D of at least 0.6, so that they
    are not compared more certainly than equal models. Costs O(m log m).

    **Several models** (a mapping, a frame or a matrix of scores) have a test that all
    are equal: with the areas a, their covariance S [1]_ and the differences L a to one
    of them, the statistic :math:`(L a)^\top (L S L^\top)^+ (L a)` is referred to
    Hotelling's distribution, with the degrees of freedom of Krishnamoorthy and Yu [2]_
    and the rank of :math:`L S L^\top`, so that models that rank alike do no harm. All
    pairs, or all models against the `reference`, have intervals that cover at once: in
    place of the quantile of t, that of the largest :math:`|D| / \sigma` of all pairs,
    found by 100,000 draws from the joint distribution with a fixed seed. Their p-values
    are adjusted by Holm's method. Costs O(k m log m + k^2 m) for k models, with memory
    for a few columns beside the scores.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes; levels or classes for other metrics. With
        ``paired=False``, one array per model.
    y_score_a, y_score_b : array-like of shape (n_rows,)
        The scores of two models for the same rows. Or all models in the first: a
        mapping from names to scores, a frame with one column per model, or an array of
        shape (n_rows, n_models).
    metric : str
        The metric: ``"auc"``, also of the ranges; ``"ordinal_auc"``;
        ``"average_precision"`` by the effects of rows, as in :func:`metric_interval`.
        Metrics such as ``"recall@fpr=0.01"`` and ``"precision@100"`` by the covariance
        of `n_resamples` draws of rows, on which all models are measured. With `qid`,
        the mean over queries of any of these, or of ``"ndcg@10"`` and ``"map"``.
    reference : str, optional
        Name of the model that all others are compared with; by default, all pairs.
    paired : bool
        Whether all models have scores for the same rows. If not, `y_true`, the scores,
        `sample_weight` and `groups` are lists with one array per model (or mappings by
        the names of the models), and the samples are independent.
    null : float
        The difference to test for.
    margin : float, optional
        Test for non-inferiority: the p-value is one-sided, of the hypothesis that the
        model is worse than the other (or the reference) by the margin or more.
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        The part of the ROC curve: ``fpr_range=(0, 0.1)`` is the top tenth of the
        negatives, ``tpr_range=(0.9, 1)`` the lowest tenth of the positives.
    standardize : {"mean", "area", "mcclish"}
        Scale of a partial AUC, as in :func:`aucmax.metrics.partial_auc_score`.
    method : {"auto", "delong"}
        ``"auto"`` is the rule above. ``"delong"`` has the normal distribution, and no
        term for few rows; for different rows Student's t with Welch's degrees of
        freedom: the p-values of R's pROC.
    confidence : float, default=0.95
        Probability that the interval is meant to cover.
    sample_weight, groups : array-like of shape (n_rows,), optional
        As in :func:`auc_interval`.
    qid : array-like of shape (n_rows,), optional
        The query of each row; queries are then the independent units.
    folds : array-like of shape (n_rows,) or (n_rows, n_repetitions), optional
        The test fold of each row, for scores from cross-validation, which are compared
        within folds. Scores of a model may have one column per repetition. For metrics
        that are not areas, as in :func:`metric_interval`.
    target : {"models", "procedure"}
        With `folds`, whether the difference is that of the fitted models, or of models
        that the procedures fit to other rows (:func:`cv_auc_interval`).
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.
    **metric_options
        Options of the metric: ``k``, ``gains``; of draws:
        ``n_resamples`` (1000) and ``random_state`` (0).

    Returns
    -------
    MetricDifference or MetricComparison
        Of two arrays, the ``difference`` with its interval, ``z`` and ``p_value``. Of
        several models, the ``p_value`` of the test that all are equal, and all
        ``differences``.

    Warns
    -----
    FewRowsWarning
        As in :func:`auc_interval`.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson. Comparing the areas under
       two or more correlated receiver operating characteristic curves: a nonparametric
       approach. Biometrics 44(3), 1988.
    .. [2] K. Krishnamoorthy, J. Yu. Modified Nel and Van der Merwe test for the
       multivariate Behrens-Fisher problem. Statistics and Probability Letters 66, 2004.
    .. [3] T. Hothorn, F. Bretz, P. Westfall. Simultaneous inference in general
       parametric models. Biometrical Journal 50(3), 2008.

    Examples
    --------
    >>> from aucmax.inference import compare_auc
    >>> y, a, b = [0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6], [1, 4, 5, 2, 6, 3]
    >>> print(compare_auc(y, a, b))  # doctest: +NORMALIZE_WHITESPACE
    AUC 0.8889 against 0.5556: difference 0.3333 (95% interval -1.0000 to 1.0000),
    p = 0.428
    >>> several = compare_auc(y * 9, {"a": a * 9, "b": b * 9, "c": y * 9})
    >>> several.p_value < 0.001
    True
    >>> [(one.names, round(one.p_value, 4)) for one in several.differences]
    [(('a', 'b'), 0.0005), (('a', 'c'), 0.0316), (('b', 'c'), 0.0001)]
    """
    check_confidence(confidence)
    check_choice("method", method, ("auto", "delong"))
    tests = reference, null, margin
    names, columns, pairs = check_models(y_score_a, y_score_b, *tests)
    box = check_box(fpr_range, tpr_range)
    scale = area_scale(box, standardize)
    check_choice("target", target, TARGETS)
    if target == "procedure" and (folds is None or not paired):
        raise ValueError("target='procedure' needs folds, and models on the same rows.")
    rows = ComparedRows(
        y_true, sample_weight, groups, qid, folds, box, pos_label, metric_options
    )
    if paired:
        bound = [rows.bind(metric)]
        found = on_same_rows(bound[0], names, columns, target)
    else:
        bound = [one.bind(metric) for one in rows.of_models(names)]
        found = on_different_rows(bound, names, columns)
    scale = _common_scale(bound, scale)
    if found.has_areas:
        warn_of_few_rows(min((rows for rows, _ in found.sizes), key=min))
    title = metric if box == WHOLE_SQUARE else "partial_auc"
    options = method, scale, title
    several = compare_estimates(found, pairs, *tests, confidence, *options)
    compared = several if y_score_b is None else without_names(several)
    return with_note(compared, y_true, pos_label) if paired else compared


def without_names(found: MetricComparison) -> MetricDifference:
    """Return the difference of two models that have no names."""
    return replace(found.differences[0], names=None)


def compare_estimates(
    found: Estimates,
    pairs: Sequence[tuple[int, int]],
    reference: Any,
    null: float,
    margin: float | None,
    confidence: float,
    method: str,
    scale: tuple[float, float],
    title: str,
) -> MetricComparison:
    """Return the differences of pairs of models, and the test that all are equal."""
    options = method, scale, title
    differences = tuple(found.differences(pairs, confidence, null, margin, *options))
    if len(differences) > 1:
        start = pairs[0][1] if reference is not None else 0
        test = found.test_equality(start, null / scale[0], method)
    else:
        # a margin has a test of its own
        (one,) = found.differences(pairs, confidence, null, None, *options)
        test = one.z**2, 1, one.p_value
    values = tuple((scale[0] * found.values + scale[1]).tolist())
    covariance = scale[0] ** 2 * found.covariance(np.eye(len(found.names)))
    return MetricComparison(
        found.names, values, covariance, *test, differences, confidence, title
    )


def check_models(
    first: Any,
    second: Any,
    reference: Any,
    null: float,
    margin: float | None,
    argument: str = "y_score",
) -> tuple[tuple[str, ...], list[Any], list[tuple[int, int]]]:
    """Return the names and the scores of all models, and which are compared."""
    check_number("null", null, -1.0, 1.0)
    if margin is not None:
        check_number("margin", margin, 0.0, 1.0)
        if null:
            raise ValueError("give null or margin: non-inferiority has its own null.")
    names, columns = _models(first, second, argument)
    if second is not None and reference is not None:
        raise ValueError("reference needs models by name; give them as a mapping.")
    return names, columns, _pairs(names, reference, null, margin)


def _models(
    first: Any, second: Any, argument: str
) -> tuple[tuple[str, ...], list[Any]]:
    """Return the names and the scores of all models."""
    if second is not None:
        return (f"{argument}_a", f"{argument}_b"), [first, second]
    if isinstance(first, Mapping):
        names, columns = list(first), list(first.values())
    elif hasattr(first, "columns"):
        names, columns = list(first.columns), [first[one] for one in first.columns]
    elif isinstance(first, list | tuple) and np.ndim(first[0] if first else 0) > 0:
        names, columns = [f"model {k}" for k in range(len(first))], list(first)
    else:
        matrix = np.asarray(first)
        if matrix.ndim != 2:
            raise ValueError(
                f"{argument}_a must hold a column of scores per model if {argument}_b "
                f"is not given, got shape {matrix.shape}; use auc_interval or "
                "concordance_interval for one model."
            )
        names, columns = [f"model {k}" for k in range(matrix.shape[1])], [*matrix.T]
    shown = tuple(map(str, names))
    if len(set(shown)) < len(shown) or len(shown) < 2:
        raise ValueError(
            f"{argument}_a must hold two or more models with different names, got "
            f"{shown}."
        )
    return shown, columns


def _pairs(
    names: Sequence[str], reference: Any, null: float, margin: float | None
) -> list[tuple[int, int]]:
    """Return which models are compared."""
    if reference is not None:
        if str(reference) not in names:
            raise ValueError(f"reference must be one of {names}, got {reference!r}.")
        start = names.index(str(reference))
        return [(a, start) for a in range(len(names)) if a != start]
    if len(names) > 2 and (null or margin is not None):
        option = "null" if null else "margin"
        raise ValueError(
            f"{option} has a direction, but all pairs of {len(names)} models are "
            "compared; name the reference model."
        )
    return list(combinations(range(len(names)), 2))


def _common_scale(
    bound: Sequence[BoundMetric], of_areas: tuple[float, float]
) -> tuple[float, float]:
    """Return the scale of all models; that of an area unless the metric has its own."""
    scales = {one.scale for one in bound}
    if len(scales) > 1:
        raise ValueError(
            "lift depends on the share of positives, which differs between these "
            "samples; compare the precision."
        )
    (scale,) = scales
    return of_areas if scale == (1.0, 0.0) else scale
