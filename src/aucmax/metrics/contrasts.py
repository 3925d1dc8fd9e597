"""Comparisons of any number of models on the same rows, or on different ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import inf
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, fdtrc

from aucmax._core.dask_dispatch import dispatch_to_dask
from aucmax._core.docstrings import documented
from aucmax._core.parameters import check_choice, check_number
from aucmax._core.validation import FloatArray, check_scores
from aucmax.metrics._samples import (
    AreaSample,
    FoldSample,
    Measured,
    OrdinalSample,
    QuerySample,
    Rows,
    check_folds,
    check_groups,
    effect_products,
)
from aucmax.metrics._steps import WHOLE_SQUARE, Box, check_box, check_two_classes
from aucmax.metrics._top_samples import PrecisionSample, ResampledSample, check_rows
from aucmax.metrics.metric_names import NamedMetric, parse_metric
from aucmax.metrics.multiclass import check_level_rows, ordinal_auc_score
from aucmax.metrics.nominal import NominalSample, nominal_auc_score
from aucmax.metrics.results import MetricComparison, MetricDifference, check_confidence
from aucmax.metrics.retrieval import mean_average_precision, ndcg_score
from aucmax.metrics.roc import partial_auc_score, roc_auc_score
from aucmax.metrics.top_of_list import average_precision_score
from aucmax.metrics.uncertainty import (
    TARGETS,
    area_scale,
    check_fold_scores,
    error_with_unseen,
    t_quantile,
    two_sided_test,
    warn_of_few_rows,
)

_N_DRAWS, _DRAWS_AT_ONCE = 100_000, 10_000
_ROUNDING = 1e-12  # of a variance, by those that it is the difference of


@overload
def compare_auc(
    y_true: Any, y_score_a: Any, y_score_b: ArrayLike, **options: Any
) -> MetricDifference: ...
@overload
def compare_auc(y_true: Any, y_score_a: Any, **options: Any) -> MetricComparison: ...
@documented
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
    order a few rows in the same way. Costs O(m log m).

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
        The metric: ``"auc"``, also of the ranges; ``"ordinal_auc"``; ``"nominal_auc"``,
        where scores of a model are a matrix; ``"average_precision"`` by the effects of
        rows, as in :func:`metric_interval`. Metrics such as ``"recall@fpr=0.01"`` and
        ``"precision@100"`` by the covariance of `n_resamples` draws of rows, on which
        all models are measured. With `qid`, the mean over queries of any of these, or
        of ``"ndcg@10"`` and ``"map"``.
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
    standardize : {"mean", "area", "mcclish"}
        Scale of a partial AUC, as in :func:`partial_auc_score`.
    method : {"auto", "delong"}
        ``"auto"`` is the rule above. ``"delong"`` has the normal distribution, and no
        term for few rows; for different rows Student's t with Welch's degrees of
        freedom: the p-values of R's pROC.
    sample_weight, groups : array-like of shape (n_rows,), optional
        As in :func:`auc_interval`.
    qid : array-like of shape (n_rows,), optional
        The query of each row; queries are then the independent units.
    folds : array-like of shape (n_rows,) or (n_rows, n_repetitions), optional
        The test fold of each row, for scores from cross-validation, which are compared
        within folds. Scores of a model may have one column per repetition.
    target : {"models", "procedure"}
        With `folds`, whether the difference is that of the fitted models, or of models
        that the procedures fit to other rows (:func:`cv_auc_interval`).
    **metric_options
        Options of the metric: ``k``, ``gains``, ``multi_class``, ``average``; of draws:
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
    >>> from aucmax.metrics import compare_auc
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
    rows = _Rows(
        y_true, sample_weight, groups, qid, folds, box, pos_label, metric_options
    )
    if paired:
        bound = [rows.bind(metric)]
        found = on_same_rows(bound[0], names, columns, target)
    else:
        bound = [one.bind(metric) for one in rows.of_models(names)]
        found = _on_different_rows(bound, names, columns)
    scale = _common_scale(bound, scale)
    if found.has_areas:
        warn_of_few_rows(min((rows for rows, _ in found.sizes), key=min))
    title = metric if box == WHOLE_SQUARE else "partial_auc"
    options = method, scale, title
    several = compare_estimates(found, pairs, *tests, confidence, *options)
    return several if y_score_b is None else without_names(several)


def without_names(found: MetricComparison) -> MetricDifference:
    """Return the difference of two models that have no names."""
    return replace(found.differences[0], names=None)


def compare_estimates(
    found: _Estimates,
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


@dataclass(frozen=True)
class BoundMetric:
    """A metric bound to rows: the units of its sample, and the value of any scores."""

    sample: Any  # of `_samples`, `_top_samples` or `nominal`
    measure: Callable[[Any, str], Measured]  # of scores with a name for messages
    has_areas: bool = True  # else means over queries
    scale: tuple[float, float] = (1.0, 0.0)  # factor and shift of values up to 1


@dataclass(frozen=True)
class _Estimates:
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
    splits: FloatArray | None = None  # values of test folds, by model
    sample: FoldSample | None = None

    def covariance(self, contrasts: FloatArray) -> FloatArray:
        """Return the covariance of linear combinations of the values."""
        return np.asarray(self._by_part(contrasts).sum(axis=0))

    def _by_part(self, contrasts: FloatArray) -> FloatArray:
        weights = contrasts.copy()
        if self.is_relative:
            weights[:, 0] = contrasts.sum(axis=1)
        found = weights @ self.products @ weights.T
        spread = weights**2 @ self.products.sum(axis=0).diagonal()
        lost = found.sum(axis=0).diagonal() <= _ROUNDING * spread
        found[:, lost], found[:, :, lost] = 0.0, 0.0
        if self.splits is not None and self.sample is not None:
            plain = found.sum(axis=0).diagonal()
            wider = self.sample.with_refits(plain, contrasts @ self.splits)
            factors = np.sqrt(wider / np.where(plain > 0.0, plain, 1.0))
            found = found * np.outer(factors, factors)
        return found

    def differences(
        self,
        pairs: Sequence[tuple[int, int]],
        confidence: float,
        null: float,
        margin: float | None,
        method: str,
        scale: tuple[float, float],
        metric: str,
    ) -> Iterator[MetricDifference]:
        """Yield the difference of each pair, with its interval and test."""
        factor, shift = scale
        covariance = self.covariance(differences_of(pairs, len(self.names)))
        quantile = None
        if len(pairs) > 1:
            degrees = inf if method == "delong" else min(d for _, d in self.sizes)
            quantile = simultaneous_quantile(covariance, degrees, confidence)
        options: Any = {"quantile": quantile, "null": null / factor}
        options["margin"] = None if margin is None else margin / factor
        errors = np.sqrt(covariance.diagonal()).tolist()
        tests = []
        for (a, b), error in zip(pairs, errors, strict=True):
            rows, degrees = self._sizes_of(a, b)
            areas = self.values[[a, b]].tolist() if self.has_areas else ()
            if method == "delong":
                areas, degrees = (), self._welch_degrees(a, b)
            gap = float(self.values[a] - self.values[b])
            test = two_sided_test(
                gap, error, confidence, rows, areas, degrees=degrees, **options
            )
            tests.append(test)
        adjusted = holm([test.p_value for test in tests])
        each = zip(pairs, tests, errors, adjusted, strict=True)
        for (a, b), test, error, p_value in each:
            one, two = (factor * self.values[[a, b]] + shift).tolist()
            ends = factor * test.difference, factor * test.low, factor * test.high
            tested = test.z, p_value, factor * error, confidence
            size = self._sizes_of(a, b)[0] if self.has_areas else None
            names = self.names[a], self.names[b]
            raw = None if len(pairs) == 1 else test.p_value
            yield MetricDifference(
                one, two, *ends, *tested, size, metric, names, null, margin, raw
            )

    def _sizes_of(self, a: int, b: int) -> tuple[Rows, float]:
        """Return the fewer rows and degrees of freedom of two models."""
        (of_a, degrees_a), (of_b, degrees_b) = self.sizes[a], self.sizes[b]
        rows = min(of_a[0], of_b[0]), min(of_a[1], of_b[1])
        return rows, min(degrees_a, degrees_b)

    def _welch_degrees(self, a: int, b: int) -> float:
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
        error = error_with_unseen(1.0, few, areas)
        if method == "auto" and error > 1.0:
            # half of the variance of a difference for each model
            unseen = (error**2 - 1.0) / 2.0 * contrasts @ contrasts.T
            parts, degrees = np.concatenate((parts, unseen[None])), [*degrees, inf]
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
        rest = max(nu - rank + 1.0, 1.0)
        return statistic, rank, float(fdtrc(rank, rest, statistic * rest / (nu * rank)))


def differences_of(pairs: Sequence[tuple[int, int]], n_models: int) -> FloatArray:
    """Return the contrasts of the first less the second of each pair."""
    first, second = np.array(pairs).T
    return np.asarray(np.eye(n_models)[first] - np.eye(n_models)[second])


def on_same_rows(
    bound: BoundMetric, names: tuple[str, ...], columns: Sequence[Any], target: str
) -> _Estimates:
    """Measure all models on the rows of one sample."""
    values, design_effects = np.empty(len(names)), [1.0]
    splits: dict[int, FloatArray] = {}
    first: FloatArray | None = None

    def effects(model: int) -> FloatArray:
        nonlocal first
        found = bound.measure(columns[model], names[model])
        values[model] = found.value
        design_effects.append(found.design_effect)
        if found.splits is not None:
            splits[model] = found.splits
        if first is None:
            first = found.effects
            return first
        return np.subtract(found.effects, first, out=found.effects)

    parts, degrees = zip(*bound.sample.parts, strict=True)
    products = effect_products(effects, len(names), parts)
    sizes = [bound.sample.sizes(max(design_effects))] * len(names)
    found = _Estimates(names, values, products, degrees, True, sizes, bound.has_areas)
    if isinstance(bound.sample, FoldSample) and target == "procedure":
        by_model = np.array([splits[k] for k in range(len(names))])
        found = replace(found, splits=by_model, sample=bound.sample)
    return found


def _on_different_rows(
    bound: Sequence[BoundMetric], names: tuple[str, ...], columns: Sequence[Any]
) -> _Estimates:
    """Measure each model on the rows of its own sample."""
    values, sizes, degrees, products = np.empty(len(names)), [], [], []
    for k, (one, name, column) in enumerate(zip(bound, names, columns, strict=True)):
        found = one.measure(column, name)
        values[k] = found.value
        sizes.append(one.sample.sizes(found.design_effect))
        for units, part_degrees in one.sample.parts:
            product = np.zeros((len(names), len(names)))
            product[k, k] = found.effects[units] @ found.effects[units]
            products.append(product)
            degrees.append(part_degrees)
    return _Estimates(
        names, values, np.array(products), degrees, False, sizes, bound[0].has_areas
    )


def simultaneous_quantile(
    covariance: FloatArray, degrees: float, confidence: float
) -> float:
    """Return the quantile of the largest of several studentised contrasts."""
    spreads = covariance.diagonal()
    kept = spreads > 0.0
    n_contrasts = int(np.count_nonzero(kept))
    single = t_quantile(degrees, confidence)
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
    most = t_quantile(degrees, 1.0 - (1.0 - confidence) / n_contrasts)
    return float(np.clip(np.quantile(largest, confidence), single, most))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted by Holm's method."""
    n, adjusted, largest = len(p_values), list(p_values), 0.0
    for rank, place in enumerate(np.argsort(p_values, kind="stable").tolist()):
        largest = max(largest, min((n - rank) * p_values[place], 1.0))
        adjusted[place] = largest
    return adjusted


@dataclass(frozen=True)
class _Rows:
    """Arguments of a comparison that describe the rows and their metric."""

    y_true: Any
    sample_weight: Any
    groups: Any
    qid: Any
    folds: Any
    box: Box
    pos_label: Any
    options: Mapping[str, Any]

    def bind(self, metric: str) -> BoundMetric:
        """Check what the metric supports, and bind it."""
        units = [k for k in ("qid", "groups", "folds") if getattr(self, k) is not None]
        ranges = ["fpr_range or tpr_range"] if self.box != WHOLE_SQUARE else []
        named = _parse(metric)
        function, supported = _METRICS.get(metric) or _supported(named)
        for name in (*units, *ranges, *self.options):
            if name not in supported:
                raise ValueError(f"{name} is not supported for metric={metric!r}.")
        needs_queries = metric in ("ndcg", "map") or supported <= {"qid", "gains"}
        if self.qid is None and needs_queries:
            raise ValueError(f"metric={metric!r} is a mean over queries; give qid.")
        if len(units) > 1:
            raise ValueError(f"{units[1]} cannot be given with {units[0]}.")
        if metric == "gini":
            return replace(self.bind("auc"), scale=(2.0, -1.0))
        if self.qid is not None:
            unit = float(len(self.y_true)) if metric.startswith("lift") else 1.0
            return self.mean_over_queries(function, unit)
        if metric == "average_precision" or named is not None:
            return self.top_of_list(named)
        if metric == "nominal_auc":
            return self.nominal_auc()
        return self.ordinal_auc() if metric == "ordinal_auc" else self.auc()

    def of_models(self, names: Sequence[str]) -> list[_Rows]:
        """Return the rows of each model, from lists with one array per model."""
        split: dict[str, Any] = {}
        n_models = len(names)
        for name in ("y_true", "sample_weight", "groups", "qid", "folds"):
            arrays = getattr(self, name)
            if isinstance(arrays, Mapping):
                by_name = {str(key): array for key, array in arrays.items()}
                if set(by_name) != set(names):
                    raise ValueError(
                        f"{name} must have the models as its keys, {names}, got "
                        f"{tuple(by_name)}."
                    )
                arrays = [by_name[key] for key in names]
            elif arrays is None:
                arrays = [None] * n_models
            if not isinstance(arrays, list | tuple) or len(arrays) != n_models:
                raise ValueError(
                    f"paired=False needs {name} as a list of {n_models} arrays, one "
                    "per model."
                )
            split[name] = arrays
        return [
            replace(self, **{name: arrays[k] for name, arrays in split.items()})
            for k in range(n_models)
        ]

    def auc(self) -> BoundMetric:
        rows = check_two_classes(self.y_true, self.sample_weight, None, self.pos_label)
        n_rows, weights = rows.is_positive.size, rows.sample_weight
        codes = check_groups(self.groups, n_rows)
        sample = AreaSample(rows.is_positive, weights, self.box, codes).check()
        if self.folds is None:
            return _of_scores(sample, n_rows)
        folded = FoldSample(sample, check_folds(self.folds, n_rows))
        check = partial(check_fold_scores, folds=folded.folds)
        return BoundMetric(
            folded, lambda one, name: folded.measure(check(one, name=name))
        )

    def ordinal_auc(self) -> BoundMetric:
        rows = check_level_rows(self.y_true, self.sample_weight, None)
        if rows.names.size == 2:
            return self.auc()
        codes = check_groups(self.groups, rows.levels.size)
        sample = OrdinalSample(rows.levels, rows.sample_weight, codes)
        return _of_scores(sample, rows.levels.size)

    def nominal_auc(self) -> BoundMetric:
        rows = self.y_true, self.sample_weight, self.groups
        sample = NominalSample.of(*rows, **self.options)
        return BoundMetric(
            sample, lambda scores, _: sample.measure(sample.check(scores))
        )

    def top_of_list(self, named: NamedMetric | None) -> BoundMetric:
        """Return average precision by influence, or a metric by resampling."""
        rows = check_rows(self.y_true, self.sample_weight, self.groups, self.pos_label)
        sample: Any = PrecisionSample(rows)
        unit = 1.0
        if named is not None:
            sample = ResampledSample.of(named, rows, **self.options)
            unit = sample.unit
        return replace(_of_scores(sample, rows.is_positive.size), scale=(unit, 0.0))

    def mean_over_queries(
        self, metric: Callable[..., Any], unit: float = 1.0
    ) -> BoundMetric:
        """Return the mean of a metric over the queries that have a value."""
        options = {"sample_weight": self.sample_weight, "qid": self.qid, **self.options}
        if self.pos_label is not None:
            options["pos_label"] = self.pos_label
        if self.box != WHOLE_SQUARE:
            options |= {"fpr_range": self.box[:2], "tpr_range": self.box[2:]}

        def values(scores: Any) -> FloatArray:
            found: FloatArray = metric(self.y_true, scores, average=None, **options)
            return found[~np.isnan(found)] / unit

        n_queries = values(np.zeros(len(self.y_true))).size
        if n_queries < 2:
            raise ValueError(
                f"qid has {n_queries} queries with a value of the metric; a variance "
                "needs at least two."
            )
        sample = QuerySample(n_queries)
        return BoundMetric(
            sample, lambda scores, _: sample.measure(values(scores)), False, (unit, 0.0)
        )


#: the metric of each query, and the options that are supported
_METRICS: dict[str, tuple[Callable[..., Any], set[str]]] = {
    "auc": (partial_auc_score, {"qid", "groups", "folds", "fpr_range or tpr_range"}),
    "partial_auc": (
        partial_auc_score,
        {"qid", "groups", "folds", "fpr_range or tpr_range"},
    ),
    "ordinal_auc": (ordinal_auc_score, {"qid", "groups"}),
    "nominal_auc": (nominal_auc_score, {"groups", "multi_class", "average", "labels"}),
    "ndcg": (ndcg_score, {"qid", "k", "gains"}),
    "map": (mean_average_precision, {"qid"}),
    "average_precision": (average_precision_score, {"qid", "groups"}),
    "gini": (roc_auc_score, {"qid", "groups", "folds"}),
}


def _parse(metric: Any) -> NamedMetric | None:
    """Return a metric that only has a name; None for one of the table above."""
    return None if metric in _METRICS else parse_metric(metric, others="'nominal_auc'")


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


def _supported(named: Any) -> tuple[Callable[..., Any], set[str]]:
    """Return the metric of queries, and the options of one by resampling."""
    if named.kind.uses_levels or named.kind.takes_range:
        return named.function, {"qid", "gains"}
    return named.function, {"qid", "groups", "n_resamples", "random_state"}


def _of_scores(sample: Any, n_rows: int) -> BoundMetric:
    return BoundMetric(
        sample, lambda scores, name: sample.measure(check_scores(scores, n_rows, name))
    )
