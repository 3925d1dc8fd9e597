"""Comparisons of any number of models on the same rows, or on different ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf
from typing import Any

import numpy as np
from scipy.special import chdtrc, fdtrc

from aucmax._core.parameters import check_choice, check_number
from aucmax._core.validation import FloatArray
from aucmax.inference.influence import Influence, refit_factor
from aucmax.inference.intervals import (
    Rows,
    inflate_for_few_errors,
    t_quantile,
    two_sided_test,
    unseen_variance,
    warn_of_few_rows,
)
from aucmax.inference.metric_rows import (
    MetricRows,
    area_scale,
    check_estimand,
    drop_missing,
)
from aucmax.inference.results import (
    MetricComparison,
    MetricDifference,
    check_confidence,
    with_note,
)
from aucmax.metrics._steps import WHOLE_SQUARE, check_box

_N_DRAWS, _DRAWS_AT_ONCE = 100_000, 10_000
_ROUNDING = 1e-12  # of a variance, by those that it is the difference of
# Squared distance of a moved row, at least, so that models that differ in one row are
# not more certainly equal than models that agree in all: `inflate_for_few_errors`.
_MIN_DISTANCE = 0.36


def compare_auc(
    y_true: object,
    y_score_1: object,
    y_score_2: object,
    *,
    fpr_range: Sequence[float] = (0.0, 1.0),
    tpr_range: Sequence[float] = (0.0, 1.0),
    standardize: str = "mean",
    null: float = 0.0,
    margin: float | None = None,
    method: str = "auto",
    confidence_level: float = 0.95,
    sample_weight: object = None,
    groups: object = None,
    pos_label: object = None,
    na: str = "raise",
) -> MetricDifference:
    r"""Test whether two models have the same AUC.

    DeLong's variance :math:`\sigma^2` of the difference :math:`D = A_1 - A_2` is that
    of :func:`auc_interval` with the differences :math:`V_i^1 - V_i^2`,
    :math:`U_j^1 - U_j^2` in place of the shares. The statistic :math:`z = D / \sigma`
    is referred to Student's t with :math:`k - 1` degrees of freedom, k = min(p, n), on
    both sides, and the interval holds the differences that this test does not reject.

    With few rows, or areas near 0 or 1, this variance is too small: where
    :math:`k \min(A, 1 - A) < 5` for either model, or :math:`\sigma` is zero,

    .. math:: z = D \Big/ \sqrt{\sigma^2 + (0.6 / k)^2}

    Without the second term, the test would be certain that two models are equal if they
    order a few rows in the same way. Otherwise, models that differ in few rows have the
    pseudo-rows of :func:`auc_interval`, at a distance D of at least 0.6, so that they
    are not compared more certainly than equal models. Costs O(m log m).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes. Of models on different, independent rows, a pair of
        arrays, as are then `sample_weight` and `groups`.
    y_score_1, y_score_2 : array-like of shape (n_rows,)
        The scores of two models; high for positive rows.
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        The part of the ROC curve: ``fpr_range=(0, 0.1)`` is the top tenth of the
        negatives, ``tpr_range=(0.9, 1)`` the lowest tenth of the positives.
    standardize : {"mean", "area", "mcclish"}
        Scale of a partial AUC, as in :func:`aucmax.metrics.partial_auc_score`.
    null, margin, method, confidence_level, sample_weight, groups, pos_label
        As in :func:`compare_metric`.
    na : {"raise", "drop"}
        Whether missing values are an error, or their rows are left out for
        both models, with a note.

    Returns
    -------
    MetricDifference
        The ``difference`` with its interval, ``z`` and ``p_value``.

    Warns
    -----
    FewRowsWarning
        As in :func:`auc_interval`.

    See Also
    --------
    compare_metric : Any number of models, by any metric, also of cross-validation.

    Examples
    --------
    >>> from aucmax.inference import compare_auc
    >>> y, a, b = [0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6], [1, 4, 5, 2, 6, 3]
    >>> print(compare_auc(y, a, b))  # doctest: +NORMALIZE_WHITESPACE
    AUC 0.8889 against 0.5556: difference 0.3333 (95% interval -1.0000 to 1.0000),
    p = 0.428
    """
    if na == "drop" and _is_per_model(y_true):
        raise ValueError("na='drop' is not supported for models on different rows.")
    columns = y_true, y_score_1, y_score_2, sample_weight, groups
    (y_true, y_score_1, y_score_2, sample_weight, groups), dropped = drop_missing(
        na, *columns
    )
    comparison = compare_metric(
        y_true,
        {"y_score_1": y_score_1, "y_score_2": y_score_2},
        fpr_range=fpr_range,
        tpr_range=tpr_range,
        standardize=standardize,
        null=null,
        margin=margin,
        method=method,
        confidence_level=confidence_level,
        sample_weight=sample_weight,
        groups=groups,
        pos_label=pos_label,
    )
    note = "; ".join(filter(None, [dropped, comparison.note])) or None
    return replace(comparison.differences[0], names=None, note=note)


def compare_metric(
    y_true: object,
    y_score: object,
    metric: str = "auc",
    *,
    reference: object = None,
    null: float = 0.0,
    margin: float | None = None,
    method: str = "auto",
    confidence_level: float = 0.95,
    sample_weight: object = None,
    groups: object = None,
    qid: object = None,
    folds: object = None,
    estimand: str = "models",
    pos_label: object = None,
    **metric_options: Any,
) -> MetricComparison:
    r"""Test whether two or more models have the same value of a metric.

    The test that all are equal: with the values a, their covariance S [1]_ and the
    differences L a to one of them, the statistic
    :math:`(L a)^\top (L S L^\top)^+ (L a)` is referred to Hotelling's distribution,
    with the degrees of freedom of Krishnamoorthy and Yu [2]_ and the rank of
    :math:`L S L^\top`, so that models that rank alike do no harm. All pairs, or all
    models against the `reference`, are compared as in :func:`compare_auc`, with
    intervals that cover at once: in place of the quantile of t, that of the largest
    :math:`|D| / \sigma` of all pairs [3]_, by 100,000 draws from the joint distribution
    with a fixed seed. Their p-values are adjusted by Holm's method. Costs
    O(k m log m + k^2 m) time and O(k m) memory for k models.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes; levels for other metrics. Of models on different rows, a
        list of arrays, or a mapping from the names of the models; the samples are then
        independent, and the scores, `sample_weight` and `groups` are such lists, too.
    y_score : mapping, frame, or array-like of shape (n_rows, n_models)
        The scores of all models: a mapping from names to arrays, a frame with one
        column per model, a list of arrays, or a matrix.
    metric : str
        The metric: ``"auc"``, also of the ranges; ``"ordinal_auc"``;
        ``"average_precision"`` by the effects of rows, as in :func:`metric_interval`.
        Metrics such as ``"recall@fpr=0.01"`` and ``"precision@100"`` by the covariance
        of `n_resamples` draws of rows, on which all models are measured. With `qid`,
        the mean over queries of any of these, or of ``"ndcg@10"`` and ``"map"``.
    reference : str, optional
        Name of the model that all others are compared with; by default, all pairs.
    null : float
        The difference to test for.
    margin : float, optional
        Test for non-inferiority: the p-value is one-sided, of the hypothesis that the
        model is worse than the other (or the reference) by the margin or more.
    method : {"auto", "delong"}
        ``"auto"`` is the rule of :func:`compare_auc`. ``"delong"`` has the normal
        distribution, and no term for few rows; for different rows Student's t with
        Welch's degrees of freedom: the p-values of R's pROC.
    confidence_level : float, default=0.95
        Probability that the interval is meant to cover.
    sample_weight, groups : array-like of shape (n_rows,), optional
        As in :func:`auc_interval`.
    qid : array-like of shape (n_rows,), optional
        The query of each row; queries are then the independent units.
    folds : array-like of shape (n_rows,) or (n_rows, n_repetitions), optional
        The test fold of each row, for scores from cross-validation, which are compared
        within folds. Scores of a model may have one column per repetition. For metrics
        that are not areas, as in :func:`metric_interval`.
    estimand : {"models", "procedure"}
        With `folds`, whether the difference is that of the fitted models, or of models
        that the procedures fit to other rows, as in :func:`auc_interval`.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.
    **metric_options
        Options of the metric: ``fpr_range``, ``tpr_range`` and ``standardize`` of
        areas, ``k``, ``gains``; of draws: ``n_resamples`` (1000) and ``random_state``
        (0).

    Returns
    -------
    MetricComparison
        The ``p_value`` of the test that all are equal, and all ``differences``.

    Warns
    -----
    FewRowsWarning
        As in :func:`auc_interval`.

    See Also
    --------
    compare_auc : The short form for two models.
    compare_concordance : The same of censored times.

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
    >>> from aucmax.inference import compare_metric
    >>> y, a, b = [0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6], [1, 4, 5, 2, 6, 3]
    >>> found = compare_metric(y * 9, {"a": a * 9, "b": b * 9, "c": y * 9})
    >>> found.p_value < 0.001
    True
    >>> [(one.names, round(one.p_value, 4)) for one in found.differences]
    [(('a', 'b'), 0.0005), (('a', 'c'), 0.0316), (('b', 'c'), 0.0001)]
    """
    check_confidence(confidence_level)
    check_choice("method", method, ("auto", "delong"))
    tests = DifferenceTests(reference, null, margin, confidence_level, method)
    names, columns, pairs = tests.check_models(y_score)
    square = (0.0, 1.0)
    ranges = (metric_options.pop(name, square) for name in ("fpr_range", "tpr_range"))
    box = check_box(*ranges)
    scale = area_scale(box, metric_options.pop("standardize", "mean"))
    paired = not _is_per_model(y_true)
    check_estimand(estimand, folds if paired else None)
    rows = MetricRows(
        y_true, sample_weight, groups, qid, folds, box, pos_label, metric_options
    )
    by_model = [rows] * len(names) if paired else rows.per_model(names)
    measures = [one.bind(metric) for one in (by_model[:1] if paired else by_model)]
    measures = measures * (len(names) if paired else 1)
    each = zip(measures, columns, names, strict=True)
    models = [measure(column, name) for measure, column, name in each]
    refit = refit_factor(models[0].n_folds) if estimand == "procedure" else 1.0
    estimates = Estimates.from_models(names, models, paired, refit)
    if estimates.has_areas:
        warn_of_few_rows(min((rows for rows, _ in estimates.sizes), key=min))
    scales = {one.scale for one in models}
    if len(scales) > 1:
        raise ValueError(
            "lift depends on the share of positives, which differs between these "
            "samples; compare the precision."
        )
    if scales != {(1.0, 0.0)}:  # the scale of the metric
        (scale,) = scales
    title = metric if box == WHOLE_SQUARE else "partial_auc"
    compared = tests.compare(estimates, pairs, scale, title)
    return with_note(compared, y_true, pos_label) if paired else compared


def _is_per_model(y_true: Any) -> bool:
    """Return whether these are labels of each model, for different rows."""
    if isinstance(y_true, Mapping):
        return True
    is_list = isinstance(y_true, list | tuple) and len(y_true) > 0
    return is_list and np.ndim(y_true[0]) > 0


@dataclass(frozen=True)
class DifferenceTests:
    """The null hypothesis, and the method of its test."""

    reference: object = None
    null: float = 0.0
    margin: float | None = None
    confidence_level: float = 0.95
    method: str = "auto"

    def check_models(
        self, y_score: object
    ) -> tuple[tuple[str, ...], list[Any], list[tuple[int, int]]]:
        """Return the names and the scores of all models, and which are compared."""
        check_number("null", self.null, -1.0, 1.0)
        if self.margin is not None:
            check_number("margin", self.margin, 0.0, 1.0)
            if self.null:
                raise ValueError(
                    "give null or margin: non-inferiority has its own null."
                )
        names, columns = _models(y_score)
        if self.reference is None:
            if len(names) > 2 and (self.null or self.margin is not None):
                option = "null" if self.null else "margin"
                raise ValueError(
                    f"{option} has a direction, but all pairs of {len(names)} models "
                    "are compared; name the reference model."
                )
            return names, columns, list(combinations(range(len(names)), 2))
        check_choice("reference", str(self.reference), names)
        start = names.index(str(self.reference))
        return names, columns, [(a, start) for a in range(len(names)) if a != start]

    def compare(
        self,
        estimates: Estimates,
        pairs: Sequence[tuple[int, int]],
        scale: tuple[float, float],
        metric: str,
    ) -> MetricComparison:
        """Return the differences of pairs, and the test that all models are equal."""
        differences = self.differences(estimates, pairs, scale, metric)
        test: tuple[float, int, float]
        if len(pairs) > 1:
            start = pairs[0][1] if self.reference is not None else 0
            test = estimates.test_equality(start, self.null / scale[0], self.method)
        else:  # a margin has a test of its own
            two_sided = replace(self, margin=None)
            (one,) = two_sided.differences(estimates, pairs, scale, metric)
            test = one.z**2, 1, one.p_value
        values = tuple((scale[0] * estimates.values + scale[1]).tolist())
        covariance = scale[0] ** 2 * estimates.covariance(np.eye(len(estimates.names)))
        return MetricComparison(
            estimates.names,
            values,
            covariance,
            *test,
            tuple(differences),
            self.confidence_level,
            metric,
        )

    def differences(
        self,
        estimates: Estimates,
        pairs: Sequence[tuple[int, int]],
        scale: tuple[float, float],
        metric: str,
    ) -> list[MetricDifference]:
        """Return the difference of each pair, with its interval and test."""
        factor, shift = scale
        covariance = estimates.covariance(differences_of(pairs, len(estimates.names)))
        quantile = None
        if len(pairs) > 1:
            degrees = inf
            if self.method != "delong":
                degrees = min(degrees for _, degrees in estimates.sizes)
            quantile = simultaneous_quantile(covariance, degrees, self.confidence_level)
        errors = np.sqrt(covariance.diagonal()).tolist()
        differences = []
        for (a, b), error in zip(pairs, errors, strict=True):
            rows, degrees = estimates.sizes_of(a, b)
            areas = estimates.values[[a, b]].tolist() if estimates.has_areas else ()
            unseen = float(estimates.unseen[a, b])
            if self.method == "delong":
                areas, unseen, degrees = (), 0.0, estimates.welch_degrees(a, b)
            gap = float(estimates.values[a] - estimates.values[b])
            low, high, z, p_value = two_sided_test(
                gap,
                error,
                self.confidence_level,
                rows,
                areas,
                degrees=degrees,
                quantile=quantile,
                null=self.null / factor,
                margin=None if self.margin is None else self.margin / factor,
                unseen=unseen,
            )
            value_1, value_2 = (factor * estimates.values[[a, b]] + shift).tolist()
            difference = MetricDifference(
                value_1,
                value_2,
                factor * gap,
                factor * low,
                factor * high,
                z,
                p_value,
                factor * error,
                self.confidence_level,
                rows if estimates.has_areas else None,
                metric,
                (estimates.names[a], estimates.names[b]),
                self.null,
                self.margin,
            )
            differences.append(difference)
        if len(pairs) == 1:
            return differences
        p_values = [one.p_value for one in differences]
        return [
            replace(one, p_value=adjusted, unadjusted_p_value=one.p_value)
            for one, adjusted in zip(differences, holm(p_values), strict=True)
        ]


def _models(y_score: Any) -> tuple[tuple[str, ...], list[Any]]:
    """Return the names and the scores of all models."""
    if isinstance(y_score, Mapping):
        names, columns = list(y_score), list(y_score.values())
    elif hasattr(y_score, "columns"):
        names = list(y_score.columns)
        columns = [y_score[name] for name in names]
    elif isinstance(y_score, list | tuple) and np.ndim(y_score[0] if y_score else 0):
        names, columns = [f"model {k}" for k in range(len(y_score))], list(y_score)
    else:
        matrix = np.asarray(y_score)
        if matrix.ndim != 2:
            raise ValueError(
                "y_score must hold a column of scores per model, got shape "
                f"{matrix.shape}; use metric_interval or concordance_interval for one "
                "model."
            )
        names, columns = [f"model {k}" for k in range(matrix.shape[1])], [*matrix.T]
    shown = tuple(map(str, names))
    if len(set(shown)) < len(shown) or len(shown) < 2:
        raise ValueError(
            f"y_score must hold two or more models with different names, got {shown}."
        )
    return shown, columns


@dataclass(frozen=True)
class Estimates:
    """Values of several models, with what their contrasts need."""

    names: tuple[str, ...]
    values: FloatArray
    # covariances by independent part; if `is_relative`, of the differences of all
    # models to the first and of that one: models that rank alike differ by exactly 0
    products: FloatArray
    part_degrees: Sequence[float]
    is_relative: bool
    sizes: Sequence[tuple[Rows, float]]  # rows and degrees of freedom of each model
    has_areas: bool
    unseen: FloatArray  # variance of each difference that rows have not shown

    @classmethod
    def from_models(
        cls,
        names: tuple[str, ...],
        models: Sequence[Influence],
        is_paired: bool = True,
        refit: float = 1.0,
    ) -> Estimates:
        """Gather models measured on the same rows, or each on its own."""
        n_models = len(names)
        sizes = [(one.rows, one.degrees) for one in models]
        products, degrees = [], []
        unseen = np.zeros((n_models, n_models))
        if is_paired:
            fewest = np.min([one.rows for one in models], axis=0).tolist()
            rows = fewest[0], fewest[1]
            sizes = [(rows, min(one.degrees for one in models))] * n_models
            for parts in zip(*(one.parts for one in models), strict=True):
                effects = _relative_to_first([effects for effects, _ in parts])
                products.append(effects @ effects.T)
                degrees.append(parts[0][1])
            if models[0].classes:
                unseen = _unseen_of_differences(models)
        else:
            for k, one in enumerate(models):
                for effects, part_degrees in one.parts:
                    products.append(np.zeros((n_models, n_models)))
                    products[-1][k, k] = effects @ effects
                    degrees.append(part_degrees)
            alone = np.array([one.unseen for one in models])
            unseen = (alone + alone[:, None]) * (1.0 - np.eye(n_models))
        values = np.array([one.value for one in models])
        covariances, unseen = refit**2 * np.array(products), refit**2 * unseen
        sample = is_paired, sizes, models[0].has_areas
        return cls(names, values, covariances, degrees, *sample, unseen)

    def covariance(self, contrasts: FloatArray) -> FloatArray:
        """Return the covariance of linear combinations of the values."""
        return np.asarray(self._by_part(contrasts).sum(axis=0))

    def _by_part(self, contrasts: FloatArray) -> FloatArray:
        """Return the covariances that each part of the variance adds; exact zeros."""
        weights = contrasts.copy()
        if self.is_relative:
            weights[:, 0] = contrasts.sum(axis=1)
        covariances = weights @ self.products @ weights.T
        spread = weights**2 @ self.products.sum(axis=0).diagonal()
        is_zero = covariances.sum(axis=0).diagonal() <= _ROUNDING * spread
        covariances[:, is_zero], covariances[:, :, is_zero] = 0.0, 0.0
        return covariances

    def sizes_of(self, a: int, b: int) -> tuple[Rows, float]:
        """Return the fewer rows and degrees of freedom of two models."""
        (rows_a, degrees_a), (rows_b, degrees_b) = self.sizes[a], self.sizes[b]
        rows = min(rows_a[0], rows_b[0]), min(rows_a[1], rows_b[1])
        return rows, min(degrees_a, degrees_b)

    def welch_degrees(self, a: int, b: int) -> float:
        """Return infinity for the same rows, else degrees by all rows of each model."""
        if self.is_relative:
            return inf
        variances = self.covariance(np.eye(len(self.names))).diagonal()[[a, b]]
        n_rows = np.array([sum(self.sizes[k][0]) for k in (a, b)])
        spread = (variances**2 / (n_rows - 1.0)).sum()
        return float(variances.sum() ** 2 / spread) if spread else inf

    def test_equality(
        self, start: int, null: float, method: str
    ) -> tuple[float, int, float]:
        """Return statistic, rank and p-value of the test that all models are equal."""
        others = [k for k in range(len(self.names)) if k != start]
        contrasts = differences_of([(k, start) for k in others], len(self.names))
        gaps = contrasts @ self.values - null
        parts = self._by_part(contrasts)
        few, degrees = min(min(rows) for rows, _ in self.sizes), self.part_degrees
        areas = self.values.tolist() if self.has_areas else ()
        error = inflate_for_few_errors(1.0, few, areas)
        unseen = self.unseen
        if error > 1.0:
            unseen = (error**2 - 1.0) * (1.0 - np.eye(len(self.names)))
        if method == "auto" and unseen.any():
            # the covariance of contrasts whose differences have these variances
            added = -0.5 * contrasts @ unseen @ contrasts.T
            parts, degrees = np.concatenate((parts, added[None])), [*degrees, inf]
        total = parts.sum(axis=0)
        spreads, axes = np.linalg.eigh(total)
        kept = spreads > _ROUNDING * spreads.max(initial=0.0)
        rank = int(np.count_nonzero(kept))
        if rank == 0:
            return 0.0, 0, 1.0 if not gaps.any() else 0.0
        roots = axes[:, kept] / np.sqrt(spreads[kept])
        statistic = float(((gaps @ roots) ** 2).sum())
        if method == "delong":
            return statistic, rank, float(chdtrc(rank, statistic))
        shares = roots.T @ parts @ roots
        traces = np.einsum("pij,pji->p", shares, shares)
        traces += np.einsum("pii->p", shares) ** 2
        spread = float((traces / np.array(degrees)).sum())
        if spread == 0.0:  # all of the variance is that of unseen errors
            return statistic, rank, float(chdtrc(rank, statistic))
        nu = (rank + rank**2) / spread
        denominator_degrees = max(nu - rank + 1.0, 1.0)
        f = statistic * denominator_degrees / (nu * rank)
        return statistic, rank, float(fdtrc(rank, denominator_degrees, f))


def compare_two(one: Influence, other: Influence, refit: float) -> MetricDifference:
    """Return the difference of two models on the same rows, and its two-sided test."""
    estimates = Estimates.from_models(("a", "b"), [one, other], refit=refit)
    (difference,) = DifferenceTests().differences(estimates, [(0, 1)], (1.0, 0.0), "")
    return difference


def differences_of(pairs: Sequence[tuple[int, int]], n_models: int) -> FloatArray:
    """Return the contrasts of the first less the second of each pair."""
    first, second = np.array(pairs).T
    return np.asarray(np.eye(n_models)[first] - np.eye(n_models)[second])


def _unseen_of_differences(models: Sequence[Influence]) -> FloatArray:
    """Return the variance that rows have not shown, of the difference of each pair."""
    n_models, n_classes = len(models), len(models[0].classes)
    moments = np.zeros((2, n_classes, n_models, n_models))
    for a, b in combinations(range(n_models), 2):
        for k in range(n_classes):
            squares = np.square(models[b].classes[k][0] - models[a].classes[k][0])
            moments[:, k, [a, b], [b, a]] = [[squares.sum()], [squares @ squares]]
    n_units = [n for _, n in models[0].classes]
    return np.asarray(unseen_variance(moments[0], moments[1], n_units, _MIN_DISTANCE))


def _relative_to_first(effects: Sequence[FloatArray]) -> FloatArray:
    matrix = np.array(effects)
    matrix[1:] -= matrix[0]
    return matrix


def simultaneous_quantile(
    covariance: FloatArray, degrees: float, confidence_level: float
) -> float:
    """Return the quantile of the largest of several studentised contrasts."""
    spreads = covariance.diagonal()
    kept = spreads > _ROUNDING * spreads.max(initial=0.0)
    n_contrasts = int(np.count_nonzero(kept))
    single = t_quantile(degrees, confidence_level)
    if n_contrasts < 2:
        return single
    scales = np.sqrt(spreads[kept])
    values, axes = np.linalg.eigh(
        covariance[np.ix_(kept, kept)] / np.outer(scales, scales)
    )
    positive = values > _ROUNDING * values[-1]
    roots = (axes[:, positive] * np.sqrt(values[positive])).T
    rng = np.random.default_rng(0)
    largest = np.empty(_N_DRAWS)
    for start in range(0, _N_DRAWS, _DRAWS_AT_ONCE):
        draws = rng.standard_normal((_DRAWS_AT_ONCE, len(roots))) @ roots
        largest[start : start + _DRAWS_AT_ONCE] = np.abs(draws, out=draws).max(axis=1)
    if degrees != inf:
        largest /= np.sqrt(rng.chisquare(degrees, _N_DRAWS) / degrees)
    # within the bounds of a single contrast and of Bonferroni, whatever the draws
    most = t_quantile(degrees, 1.0 - (1.0 - confidence_level) / n_contrasts)
    return float(np.clip(np.quantile(largest, confidence_level), single, most))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted by Holm's method."""
    n, adjusted, largest = len(p_values), list(p_values), 0.0
    for rank, place in enumerate(np.argsort(p_values, kind="stable").tolist()):
        largest = max(largest, min((n - rank) * p_values[place], 1.0))
        adjusted[place] = largest
    return adjusted
