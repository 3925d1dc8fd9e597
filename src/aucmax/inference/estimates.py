"""Values of several models, their joint covariance, and tests of their differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from scipy.special import chdtrc, fdtrc

from aucmax._core.validation import FloatArray
from aucmax.inference.bound_metrics import BoundMetric
from aucmax.inference.influence import (
    Rows,
    effect_products,
    refit_factor,
    unseen_variance,
)
from aucmax.inference.intervals import (
    error_with_unseen,
    t_quantile,
    two_sided_test,
)
from aucmax.inference.results import MetricDifference

_N_DRAWS, _DRAWS_AT_ONCE = 100_000, 10_000
_ROUNDING = 1e-12  # of a variance, by those that it is the difference of
# Squared distance of a moved row, at least, so that models that differ in one row are
# not more certainly equal than models that agree in all; 0.6 as in `error_with_unseen`.
_MIN_DISTANCE = 0.36


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
            unseen = float(self.unseen[a, b])
            if method == "delong":
                areas, unseen, degrees = (), 0.0, self._welch_degrees(a, b)
            gap = float(self.values[a] - self.values[b])
            options |= {"degrees": degrees, "unseen": unseen}
            test = two_sided_test(gap, error, confidence, rows, areas, **options)
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
        rest = max(nu - rank + 1.0, 1.0)
        return statistic, rank, float(fdtrc(rank, rest, statistic * rest / (nu * rank)))


def differences_of(pairs: Sequence[tuple[int, int]], n_models: int) -> FloatArray:
    """Return the contrasts of the first less the second of each pair."""
    first, second = np.array(pairs).T
    return np.asarray(np.eye(n_models)[first] - np.eye(n_models)[second])


def on_same_rows(
    bound: BoundMetric, names: tuple[str, ...], columns: Sequence[Any], target: str
) -> Estimates:
    """Measure all models on the rows of one sample."""
    values, design_effects = np.empty(len(names)), [1.0]
    class_parts = getattr(bound.sample, "class_parts", [])  # of areas alone
    first: FloatArray | None = None

    def effects(model: int) -> FloatArray:
        nonlocal first
        found = bound.measure(columns[model], names[model])
        values[model] = found.value
        design_effects.append(found.design_effect)
        column = found.column if class_parts else found.effects
        if first is None:
            first = column
            return first
        return np.subtract(column, first, out=column)

    parts, degrees = zip(*bound.sample.parts, strict=True)
    units = [units for units, _ in class_parts]
    products, moments = effect_products(effects, len(names), parts, units)
    n_units = [n for _, n in class_parts]
    unseen = unseen_variance(moments[0], moments[1], n_units, _MIN_DISTANCE)
    sizes = [bound.sample.sizes(max(design_effects))] * len(names)
    if target == "procedure":
        products *= refit_factor(bound.n_folds) ** 2
        unseen *= refit_factor(bound.n_folds) ** 2
    measured = products, degrees, True, sizes, bound.has_areas, unseen
    return Estimates(names, values, *measured)


def on_different_rows(
    bound: Sequence[BoundMetric], names: tuple[str, ...], columns: Sequence[Any]
) -> Estimates:
    """Measure each model on the rows of its own sample."""
    values, sizes, degrees, products = np.empty(len(names)), [], [], []
    unseen = np.zeros((len(names), len(names)))
    for k, (one, name, column) in enumerate(zip(bound, names, columns, strict=True)):
        found = one.measure(column, name)
        values[k] = found.value
        sizes.append(one.sample.sizes(found.design_effect))
        for units, part_degrees in one.sample.parts:
            product = np.zeros((len(names), len(names)))
            product[k, k] = found.effects[units] @ found.effects[units]
            products.append(product)
            degrees.append(part_degrees)
        alone = found.unseen(getattr(one.sample, "class_parts", []))
        unseen[k] += alone
        unseen[:, k] += alone
    np.fill_diagonal(unseen, 0.0)
    measured = np.array(products), degrees, False, sizes, bound[0].has_areas, unseen
    return Estimates(names, values, *measured)


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
