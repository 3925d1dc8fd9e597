r"""The cells: a way to draw tables with known truth, and the intervals of each table.

A sampler is a generator: it works out the true values first, and then yields for every
table, per interval, whether it covers the true value, and its width. For a test of a
true hypothesis it yields whether the p-value is at least .05, and the p-value. Cells
differ in kind: few rows of one class and many of the other, areas near 1, heavy tails,
ties, rare values, models that nearly agree, clusters, folds, censored times.
"""

import tomllib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice, product
from math import sqrt
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from scipy import stats
from scipy.optimize import brentq
from scipy.special import expit, ndtr, ndtri

from aucmax.decisions import compare_groups, net_benefit, operating_point, reliability
from aucmax.inference import (
    auc_interval,
    bootstrap_interval,
    compare_auc,
    compare_concordance,
    compare_metric,
    concordance_interval,
    cumulative_dynamic_auc,
    metric_interval,
)
from aucmax.metrics import concordance_index, roc_auc_score
from aucmax.metrics.metric_names import parse_metric
from benchmarks.quality.coverage.held_out import held_out

Outcome = tuple[bool, float]
Drawn = Iterator[dict[str, Outcome]]
Figures = dict[str, dict[str, float]]
SEED = 20_271
N_TRUE = 400_000  # rows that true values without a formula come from
#: of a bootstrap: fewer than the default of 1,000 or 2,000
DRAWS: dict[str, Any] = {"n_resamples": 100, "random_state": 0}
#: need minutes: only if they are named
BY_NAME = ("AutoRanker", "held-out")


@dataclass(frozen=True)
class Cell:
    """A sampler with its options, and how many tables are drawn."""

    draw: Callable[..., Drawn]
    options: dict[str, Any]
    n_draws: int


def difference(y: Any, a: Any, b: Any, metric: str = "auc", **options: Any) -> Any:
    """Return the difference of two models by any metric."""
    return compare_metric(y, {"a": a, "b": b}, metric, **options).differences[0]


def measure(name: str) -> Figures:
    """Return the coverage and mean width of each interval of a cell."""
    cell: Cell = CELLS[name]
    rng = np.random.default_rng([SEED, crc32(name.encode())])
    outcomes_by_name: dict[str, list[tuple[bool, float]]] = {}
    with warnings.catch_warnings(action="ignore"):
        for drawn in islice(cell.draw(rng, **cell.options), cell.n_draws):
            for interval, outcome in drawn.items():
                outcomes_by_name.setdefault(interval, []).append(outcome)
    figures = {}
    for interval, outcomes in outcomes_by_name.items():
        covers, widths = np.array(outcomes, dtype=float).T
        share, n = float(covers.mean()), covers.size
        figures[f"{name}: {interval}"] = {
            "coverage": round(share, 4),
            "width": float(f"{widths.mean():.4g}"),
            "draws": n,
            "standard_error": round(sqrt(share * (1.0 - share) / n), 4),
        }
    return figures


def covers(interval: Any, truth: float) -> Outcome:
    """Return whether an interval or pair of ends covers the truth, and its width."""
    is_pair = isinstance(interval, tuple)
    low, high = interval if is_pair else (interval.low, interval.high)
    return bool(low - 1e-12 <= truth <= high + 1e-12), high - low


def accepts(test: Any) -> Outcome:
    """Return the outcome of a test of a true hypothesis."""
    return test.p_value >= 0.05, test.p_value


def compared(test: Any, truth: float = 0.0, is_null: bool = True) -> dict[str, Outcome]:
    """Return the outcomes of a comparison; without test, if its null is not true."""
    outcomes = {"difference": covers(test, truth), "test": accepts(test)}
    return outcomes if is_null else {"difference": outcomes["difference"]}


def cover_all(intervals: list[Outcome]) -> Outcome:
    """Return whether all intervals cover at once, and their mean width."""
    each, widths = zip(*intervals, strict=True)
    return all(each), float(np.mean(widths))


def all_compared(comparison: Any) -> dict[str, Outcome]:
    """Return the outcomes of several equal models."""
    each = [covers(one, 0.0) for one in comparison.differences]
    return {"all differences": cover_all(each), "test": accepts(comparison)}


def normal_shift(auc: float) -> Any:
    """Return the shift of normal scores of the positives with this AUC."""
    return np.sqrt(2.0) * ndtri(auc)


class TwoNormals:
    """A share of it wide, the rest narrow, both around 0."""

    def __init__(self, share: float, narrow: float, wide: float) -> None:
        self.share, self.narrow, self.wide = share, narrow, wide
        self._at = np.linspace(-6.0 * wide, 6.0 * wide, 60_001)

    def cdf(self, x: Any) -> Any:
        """Return the share below x."""
        wide, narrow = (ndtr(np.divide(x, s)) for s in (self.wide, self.narrow))
        return self.share * wide + (1.0 - self.share) * narrow

    def sf(self, x: Any) -> Any:
        """Return the share above x."""
        return self.cdf(-np.asarray(x))

    def ppf(self, u: Any) -> Any:
        """Return quantiles."""
        return np.interp(u, self.cdf(self._at), self._at)

    def isf(self, u: Any) -> Any:
        """Return upper quantiles."""
        return -self.ppf(u)


_NORMAL = stats.norm()
_LEVELS = np.array([-1.0, 0.0, 1.0, 2.0, 3.0])
#: negatives, and positives before their shift
KINDS: dict[str, tuple[Any, Any]] = {
    "normal": (_NORMAL, _NORMAL),
    "log-normal": (stats.lognorm(1.0), stats.lognorm(1.0)),
    "t3": (stats.t(3), stats.t(3)),
    "two normals": (_NORMAL, TwoNormals(0.2, 0.5, 3.0)),
    "levels": (_NORMAL, TwoNormals(0.2, 0.5, 3.0)),  # cut into six
    "Pareto": (stats.pareto(3.0), stats.pareto(3.0)),
    "outliers": (TwoNormals(0.03, 1.0, 8.0), _NORMAL),
}
_GRID = (np.arange(20_000) + 0.5) / 20_000


@cache
def shift_of(kind: str, auc: float) -> float:
    """Return the shift of the positives with this AUC, ties one half."""
    negative, positive = KINDS[kind]

    def area(shift: float) -> float:
        if kind != "levels":
            return float(positive.sf(negative.ppf(_GRID) - shift).mean())
        ends = negative.cdf(_LEVELS), positive.cdf(_LEVELS - shift)
        below, own = (np.diff(end, prepend=0.0, append=1.0) for end in ends)
        return float(own @ (np.cumsum(below) - below / 2.0))

    return float(brentq(lambda shift: area(shift) - auc, -100.0, 100.0))


def place(kind: str, u: Any, is_positive: bool, shift: float) -> Any:
    """Turn uniform numbers into scores."""
    scores = KINDS[kind][is_positive].ppf(u) + shift * is_positive
    return np.digitize(scores, _LEVELS) * 1.0 if kind == "levels" else scores


def tables(rng: Any, kind: str, auc: float, p: int, n: int) -> Iterator[Any]:
    """Yield scores, positives first; 100 tables at a time."""
    shift = shift_of(kind, auc)
    while True:
        positive = place(kind, rng.random((100, p)), True, shift)
        yield from np.hstack((positive, place(kind, rng.random((100, n)), False, 0.0)))


def areas(rng: Any, kind: str, auc: float, p: int, n: int, **ranges: Any) -> Drawn:
    y, truth = np.arange(p + n) < p, auc
    if ranges:
        (low, high), (negative, positive) = ranges["fpr_range"], KINDS[kind]
        cuts = negative.isf(low + (high - low) * _GRID)
        truth = float(positive.sf(cuts - shift_of(kind, auc)).mean())
    for scores in tables(rng, kind, auc, p, n):
        yield {"AUC": covers(auc_interval(y, scores, **ranges), truth)}


def differences(
    rng: Any, kind: str, auc: float, gap: float, r: float, p: int, n: int
) -> Drawn:
    """Draw two models, correlated within the class as normal scores would be."""
    y = np.arange(p + n) < p
    shifts = [shift_of(kind, auc + half) for half in (gap / 2, -gap / 2)]
    while True:
        first, other = rng.normal(size=(2, p + n))
        u = ndtr(first), ndtr(r * first + np.sqrt(1.0 - r**2) * other)
        a, b = (
            np.concatenate((place(kind, w[:p], True, s), place(kind, w[p:], False, 0)))
            for w, s in zip(u, shifts, strict=True)
        )
        yield compared(compare_auc(y, a, b), gap, is_null=not gap)


def unpaired(rng: Any, kind: str, auc: float, gap: float, sizes: Any) -> Drawn:
    labels = [np.arange(p + n) < p for p, n in sizes]
    samples = [
        tables(rng, kind, auc + half, *size)
        for half, size in zip((gap / 2, -gap / 2), sizes, strict=True)
    ]
    for scores in zip(*samples, strict=True):
        (test,) = compare_metric(labels, list(scores)).differences
        yield compared(test, gap, is_null=not gap)


FEW_LEVELS = (0.95, 0.02, 0.01, 0.01, 0.01)
#: shares of the levels among positives and negatives, lowest first; "+" is a
#: continuous score above the first level, shifted by 1 among positives
RARE: dict[str, tuple[Any, Any]] = {
    "flag on 2%": ((0.98, 0.02), (0.98, 0.02)),
    "flag on 2%, 0.4%": ((0.98, 0.02), (0.996, 0.004)),
    "flag on 10%, 2%": ((0.9, 0.1), (0.98, 0.02)),
    "flag on 30%, 5%": ((0.7, 0.3), (0.95, 0.05)),
    "two values, 98% right": ((0.02, 0.98), (0.98, 0.02)),
    "two values, 80% right": ((0.2, 0.8), (0.8, 0.2)),
    "zeros and 3%": ((0.97, "+"), (0.97, "+")),
    "zeros and 15%, 5%": ((0.85, "+"), (0.95, "+")),
    "five levels": (FEW_LEVELS, FEW_LEVELS),
    "five levels, better": ((0.8, 0.08, 0.06, 0.03, 0.03), FEW_LEVELS),
}


def draw_rare(rng: Any, kind: str, p: int, n: int) -> Any:
    """Return scores of few values, positives first."""

    def draw(shares: Any, is_positive: bool, n: int) -> Any:
        if shares[1] != "+":
            return rng.choice(len(shares), n, p=shares) * 1.0
        scores = rng.exponential(size=n) + 1.0 * is_positive
        return np.where(rng.random(n) < shares[0], 0.0, scores)

    positive, negative = RARE[kind]
    return np.concatenate((draw(positive, True, p), draw(negative, False, n)))


def area_of_rare(kind: str) -> float:
    positive, negative = RARE[kind]
    if positive[1] != "+":
        below = np.array(negative)
        return float(np.array(positive) @ (np.cumsum(below) - below / 2.0))
    # of two exponential scores, one shifted by 1
    (a, b), area = (positive[0], negative[0]), 1.0 - np.exp(-1.0) / 2.0
    return a * b / 2.0 + (1.0 - a) * b + (1.0 - a) * (1.0 - b) * area


def rare_values(rng: Any, kind: str, p: int, n: int, size: int = 1) -> Drawn:
    """Draw scores of few values; with a size, rows come in clusters of equal scores."""
    y, truth = np.repeat(np.arange(p + n) < p, size), area_of_rare(kind)
    groups = None if size == 1 else np.arange(y.size) // size
    while True:
        scores = np.repeat(draw_rare(rng, kind, p, n), size)
        interval = auc_interval(y, scores, groups=groups, null=truth)
        yield {"AUC": covers(interval, truth), "test": accepts(interval)}


def near_pairs(
    rng: Any, how: str, auc: float, share: float, p: int, n: int, size: int = 1
) -> Drawn:
    """Compare a model and itself, changed in few rows.

    "redrawn": other scores of the same class, so that areas are equal; "lost": scores
    of negatives; "raised": to the top, in both classes.
    """
    y, shift = np.repeat(np.arange(p + n) < p, size), normal_shift(auc)
    groups = None if size == 1 else np.arange(y.size) // size
    truth = {
        "redrawn": 0.0,
        "lost": share * (auc - 0.5),
        "raised": auc - (1 - share) ** 2 * auc - share * (1 - share) - share**2 * auc,
    }[how]
    while True:
        a = rng.normal(size=y.size) + shift * y
        changed = np.repeat(rng.random(p + n) < share, size)
        fresh = rng.normal(size=y.size) + shift * y * (how == "redrawn")
        b = np.where(changed, a + 100.0 if how == "raised" else fresh, a)
        yield compared(compare_auc(y, a, b, null=truth, groups=groups), truth)


def rare_pairs(rng: Any, kinds: Any, p: int, n: int, is_paired: bool) -> Drawn:
    """Compare independent scores of few values."""
    y = np.arange(p + n) < p
    truth = area_of_rare(kinds[0]) - area_of_rare(kinds[1])
    while True:
        a, b = (draw_rare(rng, kind, p, n) for kind in kinds)
        yield compared(compare_auc(y if is_paired else [y, y], a, b, null=truth), truth)


def near_models(rng: Any, p: int, n: int, share: float) -> Drawn:
    """Compare four models at once: three that differ in few rows, and another one."""
    y, shift = np.arange(p + n) < p, normal_shift(0.7)
    while True:
        a, last, *fresh = rng.normal(size=(4, y.size)) + shift * y
        near = [np.where(rng.random(y.size) < share, one, a) for one in fresh]
        yield all_compared(compare_metric(y, np.column_stack([a, *near, last])))


def models(rng: Any, k: int, n: int, r: float) -> Drawn:
    y, shift = np.arange(2 * n) < n, normal_shift(0.7)
    while True:
        separate, shared = rng.normal(size=(k, 2 * n)), rng.normal(size=2 * n)
        scores = np.sqrt(r) * shared + np.sqrt(1.0 - r) * separate + shift * y
        yield all_compared(compare_metric(y, scores.T))


def clusters(rng: Any, k: int, size: int, icc: float, mixed: bool, auc: float) -> Drawn:
    """Draw clusters with an effect on all of their scores."""
    groups = np.repeat(np.arange(k), size)
    y = (np.arange(groups.size) if mixed else groups) % 2 == 0
    counts = np.array([np.bincount(groups, y == c, k) for c in (0, 1)])
    within = (counts[0] @ counts[1]) / (y.sum() * (~y).sum())
    shift = normal_shift(auc)
    # rows of one cluster share an effect, so that pairs within it differ less
    truth = (1.0 - within) * auc + within * ndtr(shift / np.sqrt(2.0 * (1.0 - icc)))
    while True:
        shared, own = rng.normal(size=(2, k))[:, groups], rng.normal(size=(2, y.size))
        a, b = np.sqrt(icc) * shared + np.sqrt(1.0 - icc) * own + shift * y
        test = compare_auc(y, a, b, groups=groups)
        interval = auc_interval(y, a, groups=groups)
        yield {"AUC": covers(interval, truth)} | compared(test)


_MEANS = np.array([0.6, 0.4, 0.3, 0.2, 0.1, 0.3, 0.2, 0.1, 0.0, 0.0])


def table_of_means(rng: Any, n: int) -> Any:
    y = np.arange(n) % 2 == 0
    return rng.normal(size=(n, 10)) + y[:, None] * _MEANS, y


def fit_discriminant(X: Any, y: Any, used: int) -> Callable[[Any], Any]:
    spread = np.cov(X[:, :used].T) + 1e-3 * np.eye(used)
    w = np.linalg.solve(spread, X[y, :used].mean(axis=0) - X[~y, :used].mean(axis=0))
    return lambda X: X[:, :used] @ w


def fit_tree(X: Any, y: Any, used: int) -> Callable[[Any], Any]:
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(
        max_depth=used // 2, min_samples_leaf=5, random_state=0
    )
    tree.fit(X, y)
    return lambda X: tree.predict_proba(X)[:, 1]


FITS = {"linear": fit_discriminant, "trees": fit_tree}


def folds(rng: Any, fit: str, n_rows: int, repetitions: int) -> Drawn:
    """Cross-validate two models; estimands are the fitted ones, and the procedures."""
    new_X, new_y = table_of_means(rng, 4000)

    def scored(X: Any, y: Any) -> tuple[list[Any], list[float]]:
        both = [FITS[fit](X, y, used) for used in (10, 5)]
        return both, [roc_auc_score(new_y, one(new_X)) for one in both]

    n_train = n_rows - n_rows // 5
    procedure = np.mean(
        [scored(*table_of_means(rng, n_train))[1] for _ in range(500)], axis=0
    )
    while True:
        X, y = table_of_means(rng, n_rows)
        numbers = np.empty((n_rows, repetitions), dtype=int)
        scores, truths = np.empty((2, n_rows, repetitions)), []
        for repetition in range(repetitions):
            for label in (False, True):
                rows = rng.permutation(np.flatnonzero(y == label))
                numbers[rows, repetition] = np.arange(rows.size) % 5
            for fold in range(5):
                test = numbers[:, repetition] == fold
                both, truth = scored(X[~test], y[~test])
                truths.append(truth)
                scores[:, test, repetition] = [one(X[test]) for one in both]
        held = {}
        goals = {"models": np.mean(truths, axis=0), "procedure": procedure}
        for estimand, truth in goals.items():
            interval = auc_interval(y, scores[0], folds=numbers, estimand=estimand)
            options = {"folds": numbers, "estimand": estimand}
            test = difference(y, *scores, **options)
            held[f"{estimand}, AUC"] = covers(interval, truth[0])
            held[f"{estimand}, difference"] = covers(test, truth[0] - truth[1])
        yield held


def draw_rows(rng: Any, kind: str, shift: float, share: float, m: int) -> Any:
    """Return random labels, so that the share of positives varies, and scores."""
    while True:
        y = rng.random(m) < share
        if 2 <= np.count_nonzero(y) <= m - 2:
            break
    scores = np.empty(m)
    for is_positive in (True, False):
        rows = y == is_positive
        scores[rows] = place(
            kind, rng.random(np.count_nonzero(rows)), is_positive, shift
        )
    return y, scores


def precision(
    rng: Any, kind: str, value: float, share: float, n_positive: int
) -> Drawn:
    """Draw rows with this average precision."""
    negative, positive = KINDS[kind]
    tpr = (np.arange(50_000) + 0.5) / 50_000

    def true_value(shift: float) -> float:
        fpr = negative.sf(positive.isf(tpr) + shift)
        return float((share * tpr / (share * tpr + (1.0 - share) * fpr)).mean())

    shift = float(brentq(lambda shift: true_value(shift) - value, -10.0, 60.0))
    while True:
        y, scores = draw_rows(rng, kind, shift, share, round(n_positive / share))
        yield {"average precision": covers(metric_interval(y, scores), value)}


def equal_models(
    rng: Any, metric: str, shift: float, r: float, n_positive: int, is_drawn: bool
) -> Drawn:
    while True:
        y, a = draw_rows(rng, "normal", shift, 0.1, 10 * n_positive)
        noise = np.sqrt(1.0 - r**2) * rng.normal(size=y.size)
        b = r * (a - shift * y) + noise + shift * y
        options = DRAWS if is_drawn else {}
        yield {"test": accepts(difference(y, a, b, metric, **options))}


def metrics_of_rows(
    rows: Callable[[int], Any], n_true: int, n: int, names: Any, unit: str
) -> Drawn:
    """Draw labels, scores and units; truths are the metrics of many rows."""
    y, scores, units = rows(n_true)
    options = {"qid": units} if unit == "qid" else {}
    truth = {}
    for name in names:
        metric = parse_metric(name).of_share(n_true / n)
        truth[name] = float(metric.function(y, scores, **options))
    while True:
        y, scores, units = rows(n)
        options = {unit: units} if unit else {}
        yield {
            name: covers(metric_interval(y, scores, name, **DRAWS, **options), value)
            for name, value in truth.items()
        }


def top(rng: Any, kind: str, shift: float, share: float, m: int, names: Any) -> Drawn:
    def rows(n: int) -> Any:
        return *draw_rows(rng, kind, shift, share, n), None

    return metrics_of_rows(rows, N_TRUE * 5, m, names, "")


def clustered_top(rng: Any, k: int, size: int) -> Drawn:
    """Draw clusters whose rows share an effect, for metrics other than areas."""

    def rows(n: int) -> Any:
        groups = np.repeat(np.arange(n // size), size)
        y = rng.random(groups.size) < expit(rng.normal(size=n // size) - 1.5)[groups]
        noise = 0.7 * rng.normal(size=n // size)[groups]
        noise = noise + 0.7 * rng.normal(size=y.size)
        return y, noise + 1.5 * y, groups

    names = "average_precision", "recall@fpr=0.1"
    return metrics_of_rows(rows, N_TRUE, k * size, names, "groups")


def queries(rng: Any, k: int) -> Drawn:
    """Draw queries of 12 rows and three levels; some are easier than others."""

    def rows(n: int) -> Any:
        qid = np.repeat(np.arange(n // 12), 12)
        ease, quality = rng.normal(size=n // 12)[qid], rng.normal(size=qid.size)
        noise = rng.normal(size=qid.size) * np.exp(ease / 2.0)
        return np.digitize(quality + ease, [1.0, 2.5]), quality + noise, qid

    for outcome in metrics_of_rows(rows, N_TRUE, k * 12, ("ndcg@10",), "qid"):
        yield {"NDCG@10": outcome["ndcg@10"]}


def sensitivities(rng: Any, kind: str, p: int, n: int, auc: float) -> Drawn:
    """Draw rows for the sensitivity at a false positive rate, by all calls of it."""
    y, (negative, positive) = np.arange(p + n) < p, KINDS[kind]
    rates = 0.05, 0.1, 0.2
    shift = shift_of(kind, auc)
    truth = {rate: float(positive.sf(negative.isf(rate) - shift)) for rate in rates}
    for scores in tables(rng, kind, auc, p, n):
        held = {}
        for rate, value in truth.items():
            name = f"recall@fpr={rate:g}"
            held[name] = covers(metric_interval(y, scores, name), value)
        point = operating_point(y, scores, fpr=0.1)
        ends = point.intervals["recall"]
        # of the threshold that was chosen
        real = float(positive.sf(point.threshold - shift))
        held["operating_point, recall at its threshold"] = covers(ends, real)
        held["operating_point, recall at FPR 0.1"] = covers(ends, truth[0.1])
        drawn = bootstrap_interval(
            parse_metric("recall@fpr=0.1").function, y, scores, **DRAWS
        )
        held["bootstrap"] = covers(drawn, truth[0.1])
        yield held


def decided(rng: Any, p: int, n: int) -> Drawn:
    """Draw rows for the outcome at a threshold that is known before."""
    y, cut = np.arange(p + n) < p, 1.2
    recall, fpr = ndtr(1.5 - cut), ndtr(-cut)
    truth = {"recall": recall, "fpr": fpr}
    truth["precision"] = p * recall / (p * recall + n * fpr)
    for scores in tables(rng, "normal", ndtr(1.5 / np.sqrt(2.0)), p, n):
        intervals = operating_point(y, scores, threshold=cut).intervals
        yield {name: covers(intervals[name], one) for name, one in truth.items()}


CUTS = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.65, 0.8])


def net_benefits(
    rng: Any, n: int, base: float, spread: float, slope: float, shift: float
) -> Drawn:
    """Draw outcomes of normal log-odds: as predicted, or by another slope and shift."""
    z = ndtri((np.arange(40_000) + 0.5) / 40_000)
    centre = brentq(
        lambda c: expit(shift + slope * (c + spread * z)).mean() - base, -30, 30
    )
    x = centre + spread * z
    predicted, real = expit(x), expit(shift + slope * x)
    above, odds = predicted[:, None] > CUTS, CUTS / (1.0 - CUTS)
    benefit = (real @ above - odds * ((1.0 - real) @ above)) / x.size
    large = brentq(lambda a: expit(a + x).mean() - real.mean(), -10, 10)
    truth = {"slope": slope, "intercept": shift, "in_the_large": large}
    counted = np.flatnonzero(n * above.mean(axis=0) >= 5.0)
    while True:
        x = centre + spread * rng.normal(size=n)
        y = rng.random(n) < expit(shift + slope * x)
        if not 2 <= y.sum() <= n - 2:
            continue
        benefits = net_benefit(y, expit(x), thresholds=CUTS)
        held = {
            f"net benefit at {CUTS[k]:g}": covers(
                (benefits.low[k], benefits.high[k]), benefit[k]
            )
            for k in counted
        }
        fitted = reliability(y, expit(x))
        for name, value in truth.items():
            held[name] = covers(tuple(getattr(fitted, f"{name}_interval")), value)
        yield held


def groups_of_people(rng: Any, sizes: Any, positive: Any, negative: Any) -> Drawn:
    """Draw three groups of people; intervals of differences cover at once."""
    cut, gaps = 0.8, np.subtract(positive, negative)
    truth = {
        "auc": ndtr(gaps / np.sqrt(2.0)),
        "recall": ndtr(np.array(positive) - cut),
        "fpr": ndtr(np.array(negative) - cut),
    }
    codes = np.repeat([0, 1, 2, 0, 1, 2], [*sizes, *sizes])
    y = np.repeat([True, False], sum(sizes))
    means = np.where(y, np.array(positive)[codes], np.array(negative)[codes])
    while True:
        scores = means + rng.normal(size=y.size)
        comparison = compare_groups(y, scores, codes, threshold=cut, all_pairs=True)
        held = {}
        for name, values in truth.items():
            one = comparison.groups[-1]
            held[f"{name} of a group"] = covers(
                getattr(one, name), values[int(one.group)]
            )
            pairs = [one for one in comparison.differences if one.metric == name]
            each = [
                covers(one, values[int(one.names[0])] - values[int(one.names[1])])
                for one in pairs
            ]
            held[f"differences of {name}"] = cover_all(each)
            if np.ptp(values) < 1e-12:
                least = min(one.p_value for one in pairs)
                held[f"test of {name}"] = least >= 0.05, least
        yield held


def levels(rng: Any, sizes: Any, share: float) -> Drawn:
    """Compare two models of several levels, which differ in a share of the rows."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    while True:
        shared, separate = rng.normal(size=y.size), rng.normal(size=(2, y.size))
        a, b = 0.7 * shared + 0.7 * separate + 0.8 * y
        if share < 1.0:
            b = np.where(rng.random(y.size) < share, b, a)
        yield compared(difference(y, a, b, metric="ordinal_auc"))


FEW, MANY = (30, 30, 30), (200, 40, 10)


def draw_times(rng: Any, x: Any, strength: float, rate: float) -> Any:
    """Return times of events and of censoring."""
    return rng.exponential(np.exp(-strength * x)), rng.exponential(1.0 / rate, x.size)


def censoring_rate(rng: Any, draw: Any, strength: float, censored: float) -> float:
    """Return the rate with this share of censored rows."""
    death, left = draw_times(rng, draw(100_000), strength, 1.0)
    low, high = 1e-6, 1e6
    for _ in range(60):
        middle = np.sqrt(low * high)
        is_few = np.mean(death > left / middle) < censored
        low, high = (middle, high) if is_few else (low, middle)
    return float(low)


def concordance(
    rng: Any, strength: float, censored: float, n_rows: int, marker: float = 0.0
) -> Drawn:
    """Draw censored times; with a marker, the score is 1 in that share of the rows."""

    def draw(size: int) -> Any:
        return (rng.random(size) < marker) * 1.0 if marker else rng.normal(size=size)

    rate = censoring_rate(rng, draw, strength, censored)
    x = draw(N_TRUE)
    death, left = draw_times(rng, x, strength, rate)
    seen = np.minimum(death, left)
    times = np.quantile(seen, (0.2, 0.5, 0.9))
    truth = {"Harrell": concordance_index(death <= left, seen, x)}
    truth["Uno"] = concordance_index(np.ones(x.size), death, x, horizon=times[-1])
    at = [concordance_index(death <= t, np.minimum(death, t) >= t, x) for t in times]
    shares = np.diff([np.mean(death <= t) for t in times], prepend=0.0)
    truth |= {"AUC at the median": at[1], "mean AUC": at @ shares / shares.sum()}
    while True:
        x = draw(n_rows)
        death, left = draw_times(rng, x, strength, rate)
        rows = death <= left, np.minimum(death, left), x
        held = {"Harrell": concordance_interval(*rows)}
        held["Uno"] = concordance_interval(*rows, method="uno", horizon=times[-1])
        events, seen = np.sort(rows[1][rows[0]]), np.sort(rows[1])
        if events[1] <= times[0] and seen[-2] > times[-1]:
            dynamic = cumulative_dynamic_auc(*rows, times)
            held |= {"AUC at the median": dynamic.areas[1], "mean AUC": dynamic.mean}
        yield {name: covers(one, truth[name]) for name, one in held.items()}


def equal_concordance(rng: Any, n_rows: int, share: float) -> Drawn:
    """Compare two equal models; with a share, they differ in these rows only."""
    rate = censoring_rate(rng, lambda size: rng.normal(size=size), 1.0, 0.4)
    while True:
        x, (first, other) = rng.normal(size=n_rows), rng.normal(size=(2, n_rows))
        if share < 1.0:
            other = np.where(rng.random(n_rows) < share, other, first)
        death, left = draw_times(rng, x, 1.0, rate)
        rows = death <= left, np.minimum(death, left)
        models = [x + first, x + other]
        (test,) = compare_concordance(*rows, models).differences
        held = {"Harrell": covers(test, 0.0), "test of Harrell": accepts(test)}
        options: Any = {"method": "uno", "horizon": np.quantile(rows[1], 0.9)}
        (test,) = compare_concordance(*rows, models, **options).differences
        yield held | {"test of Uno": accepts(test)}


def auto_ranker(rng: Any, n_rows: int) -> Drawn:
    """Fit AutoRanker to tables of five kinds, from a line to noise."""
    from aucmax import AutoRanker

    rules: Any = (
        lambda X: X[:, 0] + 0.5 * X[:, 1],
        lambda X: X[:, 0] * X[:, 1] + 0.5 * X[:, 2],
        lambda X: np.abs(X[:, 0]) + 0.5 * X[:, 1] - 0.8,
        lambda X: 0.3 * X[:, 0],
        lambda X: 0.0 * X[:, 0],
    )

    def table(n: int, k: int) -> Any:
        X = rng.normal(size=(n, 8))
        return X, (rules[k % 5](X) + rng.normal(size=n) > 0.7).astype(int)

    k = 0
    while True:
        model = AutoRanker(models=["logistic", "additive"]).fit(*table(n_rows, k))
        X, y = table(20_000, k)
        truth, estimate = roc_auc_score(y, model.decision_function(X)), model.estimate_
        yield {"AUC": covers((estimate["auc_low"], estimate["auc_high"]), truth)}
        k += 1


def tuples(value: Any) -> Any:
    """Return lists of lists as tuples of tuples."""
    return tuple(map(tuples, value)) if isinstance(value, list) else value


def read_cells() -> dict[str, Cell]:
    """Read the cells: all combinations of the options of each table of the file."""
    cells = {}
    path = Path(__file__).with_name("cells.toml")
    for axes in tomllib.loads(path.read_text(encoding="utf-8"))["cells"]:
        name, draw = axes.pop("name"), SAMPLERS[axes.pop("draw")]
        n_draws = axes.pop("n_draws", 500)
        for values in product(*axes.values()):
            options: dict[str, Any] = {}
            for keys, value in zip(axes, values, strict=True):
                each = value if " " in keys else [value]
                options |= zip(keys.split(), map(tuples, each), strict=True)
            kept = {key: one for key, one in options.items() if key[0] != "_"}
            cells[name.format(**options)] = Cell(draw, kept, n_draws)
    return cells


SAMPLERS: dict[str, Callable[..., Drawn]] = {
    one.__name__: one
    for one in (
        *(areas, differences, unpaired, rare_values, near_pairs, rare_pairs, models),
        *(near_models, clusters, folds, precision, equal_models, top, clustered_top),
        *(queries, sensitivities, decided, net_benefits, groups_of_people, levels),
        *(concordance, equal_concordance, auto_ranker, held_out),
    )
}
CELLS = read_cells()
